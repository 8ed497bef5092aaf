/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a frame of a program is left, by an address in it: found in the program's unwind tables, and
 * followed by a program in the kernel. x86-64 alone. Includes nothing but the kernel's types.
 */
#pragma once

#include <linux/types.h>

/* The register that finds a frame; RULE_LAST: it has no caller. */
enum frame_rule_base { RULE_SP, RULE_BP, RULE_LAST };

struct frame_rule {
	__s32 cfa; /* the caller's stack pointer, from that register on; below it is its address */
	__s16 bp; /* from there on: where the caller's frame pointer is; 0: in its register */
	__u16 base; /* enum frame_rule_base */
};

/* The most addresses of a stack that are taken: as many as all verifiers follow. */
#define USER_FRAMES 48
