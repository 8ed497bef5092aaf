/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's functions by address (/proc/kallsyms), and the most telling function of a stack. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

/* Reads them, once: some 200,000. NULL if they are hidden (kptr_restrict) or missing. */
struct symbols *symbols_read(int procfd);

/* The function that contains the address, and the offset in it; NULL: none. Valid until freed. */
const char *symbol_at(const struct symbols *symbols, uint64_t address, uint64_t *offset);

/*
 * The length of a function's name, without a compiler's suffix (".isra.0") or a stack's
 * ("+0x1a/0x20").
 */
size_t symbol_length(const char *function);

/* True if the function is the scheduler's or waits for its caller: it does not say why. */
bool symbol_is_generic(const char *function);

/*
 * True if a task sleeping in that function was frozen: by cgroup v1 or a suspend
 * (kernel/freezer.c), by cgroup v2 (kernel/signal.c).
 */
bool symbol_freezes(const char *function);

/*
 * The same for a thread in state D. Since 6.1 a freezable sleep stays where it is, and then reads
 * as D (kernel/freezer.c:__set_task_frozen()), though nothing sleeps uninterruptibly in there.
 */
bool symbol_freezes_in_d(const char *function);

/* Shown for a page fault in place of a system call. */
#define PAGE_FAULT "page fault"

/* True if a stack without a system call is that of a page fault. */
bool symbols_fault(const char *const *functions, size_t n);

/*
 * The function of a stack (innermost first) that says most about the wait: the first that is
 * neither generic nor a lock's slow path nor the way into the kernel; else the first lock. Names
 * may be followed by "+0x1a/0x20". n: none.
 */
size_t symbols_telling(const char *const *functions, size_t n);

void symbols_free(struct symbols *symbols);
