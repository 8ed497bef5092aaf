/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to unwind one stack frame of a program, by an address in it: read from the program's unwind
 * tables, applied by a BPF program. x86-64 only. Includes nothing but the kernel's types.
 */
#pragma once

#include <linux/types.h>

/* The register that the frame is relative to; RULE_LAST: it has no caller. */
enum frame_rule_base { RULE_SP, RULE_BP, RULE_LAST };

struct frame_rule {
	__s32 cfa; /* the caller's stack pointer, relative to that register; its return address is
		    * below it */
	__s16 bp; /* offset of the saved frame pointer of the caller; 0: in its register */
	__u16 base; /* enum frame_rule_base */
};

/* Maximum addresses per stack: as many as all verifiers accept. */
#define USER_FRAMES 48
