/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's functions by address (/proc/kallsyms), and which of a stack a person wants to see.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

/* Reads them, once: some 200,000. NULL where they are hidden (kptr_restrict) or not there. */
struct symbols *symbols_read(int procfd);

/* The function that has the address, and how far in; NULL: none. Static until freed. */
const char *symbol_at(const struct symbols *symbols, uint64_t address, uint64_t *offset);

/*
 * The length of a function's name, without what a compiler (".isra.0") or a stack ("+0x1a/0x20")
 * writes behind it.
 */
size_t symbol_length(const char *function);

/* Whether the function is the scheduler's or waits for its caller: it says nothing of why. */
bool symbol_is_generic(const char *function);

/*
 * Whether who sleeps in that function was frozen: by cgroup v1 or a suspend (kernel/freezer.c), by
 * cgroup v2 (kernel/signal.c).
 */
bool symbol_freezes(const char *function);

/*
 * The same for a thread in state D. Since 6.1 a sleep that may be frozen stays where it is, and
 * then reads as D (kernel/freezer.c:__set_task_frozen()), though nothing sleeps uninterruptibly in
 * there.
 */
bool symbol_freezes_in_d(const char *function);

/* The name of a page fault in place of a system call's. */
#define PAGE_FAULT "page fault"

/* Whether a stack of one that is in no system call is of a page fault. */
bool symbols_fault(const char *const *functions, size_t n);

/*
 * The function of a stack (innermost first) that says most of why it waits: the first that is
 * neither generic nor a lock's slow path nor the way into the kernel; else the first lock. Names
 * may have "+0x1a/0x20" behind them. n: none says anything.
 */
size_t symbols_telling(const char *const *functions, size_t n);

void symbols_free(struct symbols *symbols);
