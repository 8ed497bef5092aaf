/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/column_words.h"

#include <string.h>

#include "base/util.h"

/* clang-format off */
const struct column_words column_words_table[] = {
	{ "pid", "process id", NULL, REMEDY_NONE },
	{ "tgid", "thread group id", "The kernel's word for a process is thread group.", REMEDY_NONE },
	{ "ppid", "parent's process id", NULL, REMEDY_NONE },
	{ "user", "user", NULL, REMEDY_NONE },
	{ "uid", "user id", NULL, REMEDY_NONE },
	{ "state", "state", NULL, REMEDY_STATE },
	{ "exit", "exit status", NULL, REMEDY_NONE },
	{ "run", "running", "A task either runs or waits.", REMEDY_RUN },
	{ "usr", "user time", NULL, REMEDY_RUN },
	{ "sys", "system time", NULL, REMEDY_RUN },
	{ "total", "total wait",
	  "Time it was delayed though it had work; voluntary waits, as for input or a timer, are "
	  "not counted.", REMEDY_ALL },
	{ "lost", "time lost",
	  "Traced: all time but running and idle waits (no work, a timer) or waits for children, "
	  "which have rows of their own. Not traced: the same as total.",
	  REMEDY_ALL },
	{ "mem", "memory delay", NULL, REMEDY_MEMORY },
	{ "cpu", "CPU delay",
	  "Run queue latency: runnable but not running, throttling by a CPU quota included. A "
	  "share near that of RUN means two runnable tasks per CPU.", REMEDY_CPU },
	{ "blkio", "block I/O delay",
	  "Reads and synchronous writes (fsync, O_DIRECT), swap-in from disk included; buffered "
	  "writes do not block.", REMEDY_IO },
	{ "swapin", "swap-in delay",
	  "Pages it used were swapped out, and must be read back.", REMEDY_MEMORY },
	{ "reclaim", "memory reclaim",
	  "Direct reclaim: it must free memory before it can allocate, as the machine is short or "
	  "its cgroup at a limit. Mostly CPU time of the task itself.", REMEDY_RECLAIM },
	{ "thrash", "thrashing",
	  "Refaults: recently evicted pages are read back, as the working set does not fit. Also "
	  "counted in blkio or swapin.", REMEDY_MEMORY },
	{ "compact", "memory compaction",
	  "Moves pages to make a contiguous block, as for a huge page.", REMEDY_COMPACT },
	{ "wpcopy", "write-protect copy",
	  "Copy on write: a page shared since fork(), or the zero page, is copied on the first "
	  "write.", REMEDY_WPCOPY },
	{ "irq", "interrupts",
	  "Interrupts ran on its CPU while it was runnable. Needs a kernel with "
	  "CONFIG_IRQ_TIME_ACCOUNTING.", REMEDY_IRQ },
	{ "dwait", "blocked, not for I/O",
	  "Not accounted by the kernel, nor part of PSI: seen here as state D without I/O wait.", REMEDY_BLOCKED },
	{ "trend", "trend of total", NULL, REMEDY_ALL },
	{ "states", "states over time", NULL, REMEDY_NONE },
	{ "bar", "time as a bar", NULL, REMEDY_NONE },
	{ "s-run", "share running", NULL, REMEDY_RUN },
	{ "s-cpu", "share runnable", NULL, REMEDY_CPU },
	{ "s-io", "share in block I/O", NULL, REMEDY_IO },
	{ "s-dwait", "share blocked", NULL, REMEDY_BLOCKED },
	{ "s-lock", "share on locks", NULL, REMEDY_LOCK },
	{ "s-net", "share on sockets", NULL, REMEDY_PEER },
	{ "s-pipe", "share on pipes", NULL, REMEDY_PEER },
	{ "s-poll", "share polling", "Usually idle, waiting for work.", REMEDY_NONE },
	{ "s-timer", "share asleep", "It asked to sleep: nothing is wrong.", REMEDY_NONE },
	{ "s-child", "share waiting for children", "What its children wait for is in their rows.", REMEDY_NONE },
	{ "s-stop", "share stopped", NULL, REMEDY_STATE },
	{ "s-other", "share otherwise", NULL, REMEDY_NONE },
	{ "s-park", "share parked", "It has nothing to do: no task holds what it waits for.", REMEDY_NONE },
	{ "waker", "woken by",
	  "The waker of most of its wait time. Check next what the waker waits for.", REMEDY_NONE },
	{ "elap", "elapsed time", NULL, REMEDY_NONE },
	{ "wait", "wait in progress",
	  "Still in progress. Preset hangs (Tab) lists the longest.", REMEDY_BLOCKED },
	{ "syscall", "system call", NULL, REMEDY_NONE },
	{ "on", "waiting on", NULL, REMEDY_NONE },
	{ "where", "where in the kernel", NULL, REMEDY_NONE },
	{ "cpu-nr", "CPU number", NULL, REMEDY_NONE },
	{ "time", "CPU time", NULL, REMEDY_RUN },
	{ "cuser", "children's user time", NULL, REMEDY_NONE },
	{ "csys", "children's system time", NULL, REMEDY_NONE },
	{ "read", "read from storage", NULL, REMEDY_STORAGE },
	{ "write", "written to storage",
	  "A write counts when the program dirties a page; the disk gets it later.", REMEDY_STORAGE },
	{ "cancel", "cancelled writes", NULL, REMEDY_NONE },
	{ "running", "running or queued", NULL, REMEDY_NONE },
	{ "sleeping", "sleeping", NULL, REMEDY_NONE },
	{ "stopped", "stopped", NULL, REMEDY_NONE },
	{ "uninterruptible", "uninterruptible", NULL, REMEDY_BLOCKED },
	{ "iowait", "waiting for I/O", NULL, REMEDY_IO },
	{ "members", "number of tasks", NULL, REMEDY_NONE },
	{ "psi-cpu", "pressure: CPU",
	  "Share of the last 10 s in which some of its tasks waited for a CPU.", REMEDY_CPU },
	{ "psi-mem", "pressure: memory",
	  "Share of the last 10 s in which some of its tasks waited for memory.", REMEDY_MEMORY },
	{ "psi-io", "pressure: I/O",
	  "Share of the last 10 s in which some of its tasks waited for I/O.", REMEDY_IO },
	{ "throttled", "throttled by quota",
	  "Runnable, but its quota for the period (cpu.max) was used up; CPUs may have been idle.",
	  REMEDY_QUOTA },
	{ "mem-high", "memory.high events", NULL, REMEDY_RECLAIM },
	{ "mem-max", "memory.max events", NULL, REMEDY_RECLAIM },
	{ "mem-oom", "out of memory events",
	  "Next the OOM killer kills a task of the group.", REMEDY_RECLAIM },
	{ "worst", "worst member", "v opens the detail of the group, Enter its members.", REMEDY_NONE },
	{ "cgroup", "cgroup", NULL, REMEDY_NONE },
	{ "pod", "Kubernetes pod", NULL, REMEDY_NONE },
	{ "container", "container", NULL, REMEDY_NONE },
	{ "group", "group", NULL, REMEDY_NONE },
	{ "comm", "command name", NULL, REMEDY_NONE },
	{ "command", "command line", NULL, REMEDY_NONE },
};

/* clang-format on */
const size_t column_words_n = ARRAY_SIZE(column_words_table);

const struct column_words *column_words(const struct column *column)
{
	for (size_t i = 0; !column->name && i < column_words_n; i++)
		if (!strcmp(column_words_table[i].id, column->id))
			return &column_words_table[i];
	return NULL;
}

const char *column_name(const struct column *column)
{
	const struct column_words *words = column_words(column);

	if (column->name)
		return column->name;
	return words ? words->name : column->id;
}

void column_append_words(const struct column *column, struct buf *out)
{
	const char *name = column_name(column);

	if (strncmp(column->help, name, strlen(name)) != 0)
		buf_printf(out, "%s: ", name);
	buf_puts(out, column->help);
}

struct column_cost column_cost(const struct column *column)
{
	static const struct {
		unsigned needs;
		struct column_cost cost;
	} costs[] = {
		{ NEED_RECORD,
		  { "record",
		    "the whole record of each thread: one request per thread and sample" } },
		{ NEED_HANGS,
		  { "1 read",
		    "one read of /proc/PID/syscall per sleeping thread, once per wait; none where "
		    "the screen shows the column for its width alone" } },
		{ NEED_WAITING,
		  { "some reads",
		    "some reads of /proc per displayed row that waits and sample; per row of all "
		    "to sort by it" } },
		{ NEED_STAT,
		  { "1 read",
		    "one read of /proc/PID/stat per displayed row and sample; per task to sort by "
		    "it or sum it" } },
		{ NEED_IO,
		  { "1 read",
		    "one read of /proc/PID/io per displayed row and sample; per task to sort by "
		    "it or sum it" } },
		{ NEED_CPU,
		  { "1 read", "one read of /proc/PID/stat per displayed row that ran; per task to "
			      "sort by it" } },
		{ NEED_COMMAND,
		  { "1 read",
		    "one read of /proc/PID/cmdline per displayed row that ran; per task to sort "
		    "or filter by it" } },
		{ NEED_CGROUP,
		  { "1 read",
		    "one read of /proc/PID/cgroup per displayed row that ran; per task to sort by "
		    "it" } },
		{ NEED_GROUP_PARTS,
		  { "1 read",
		    "one read per displayed cgroup and sample; per group of all to sort by it" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(costs); i++)
		if (column->needs & costs[i].needs)
			return costs[i].cost;
	if (column->traced)
		return (struct column_cost){
			"trace",
			"all waits are traced, at a cost per context switch: with --trace, in "
			"preset states, or while w is open"
		};
	if (column->past)
		return (struct column_cost){ "-", "none: it comes from the history" };
	return (struct column_cost){ "-", "none: every sample has it" };
}
