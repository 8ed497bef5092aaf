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
	{ "total", "total delay",
	  "Time in which it could have run, had the machine been free: waits of its own choice, "
	  "as for input or a timer, are not counted.", REMEDY_ALL },
	{ "lost", "time lost",
	  "Traced: all time but running and waits that are idle (no work, a timer) or for children, "
	  "which have rows of their own. Not traced: the same as total.",
	  REMEDY_ALL },
	{ "mem", "memory delay", NULL, REMEDY_MEMORY },
	{ "cpu", "CPU delay",
	  "Time on the run queue, and pauses by a quota of its control group. A share near that "
	  "of RUN says that two tasks want each CPU.", REMEDY_CPU },
	{ "blkio", "block I/O delay",
	  "Reads, and writes that are waited for (fsync, O_DIRECT); other writes go through memory and "
	  "delay no task. Swapping in from a disk is included.", REMEDY_IO },
	{ "swapin", "swap-in delay",
	  "Memory that it used was written to swap, and must be read back.", REMEDY_MEMORY },
	{ "reclaim", "memory reclaim",
	  "It has to free memory itself before it gets any: the machine is short, or its control group "
	  "is at a limit. Most of it is the task's own work on a CPU.", REMEDY_RECLAIM },
	{ "thrash", "thrashing",
	  "Pages that were evicted a moment ago are read back: its working set does not fit into "
	  "the memory that it may use. These waits are in blkio or swapin, too.", REMEDY_MEMORY },
	{ "compact", "memory compaction",
	  "It moves pages together until one large piece is free, as for a huge page.", REMEDY_COMPACT },
	{ "wpcopy", "write-protect copy",
	  "Copy on write: a page that is shared, after a fork or as the page of zeros, is copied when it "
	  "is written to.", REMEDY_WPCOPY },
	{ "irq", "interrupts",
	  "Interrupts were handled on its CPU while it could have run. Only kernels that account for "
	  "the time of interrupts have it.", REMEDY_IRQ },
	{ "dwait", "blocked, not for I/O",
	  "The kernel books such waits nowhere, nor are they in the pressure above: here they are "
	  "found by state D without I/O wait.", REMEDY_BLOCKED },
	{ "trend", "trend of total", NULL, REMEDY_ALL },
	{ "states", "states over time", NULL, REMEDY_NONE },
	{ "s-run", "share running", NULL, REMEDY_RUN },
	{ "s-cpu", "share ready to run", NULL, REMEDY_CPU },
	{ "s-io", "share in block I/O", NULL, REMEDY_IO },
	{ "s-dwait", "share blocked", NULL, REMEDY_BLOCKED },
	{ "s-lock", "share at locks", NULL, REMEDY_LOCK },
	{ "s-net", "share at sockets", NULL, REMEDY_PEER },
	{ "s-pipe", "share at pipes", NULL, REMEDY_PEER },
	{ "s-poll", "share polling", "Mostly it has nothing to do, and waits for work.", REMEDY_NONE },
	{ "s-timer", "share asleep", "It asked to sleep: nothing is wrong.", REMEDY_NONE },
	{ "s-child", "share waiting for children", "What its children wait for is in their rows.", REMEDY_NONE },
	{ "s-stop", "share stopped", NULL, REMEDY_STATE },
	{ "s-other", "share otherwise", NULL, REMEDY_NONE },
	{ "s-park", "share parked", "It has nothing to do: no task holds what it waits for.", REMEDY_NONE },
	{ "waker", "woken by",
	  "The task that ended most of its waits. Look next at what the waker itself waits for.", REMEDY_NONE },
	{ "elap", "elapsed time", NULL, REMEDY_NONE },
	{ "wait", "wait in progress",
	  "It has not ended yet. Preset hangs (Tab) lists the tasks that have waited for long.", REMEDY_BLOCKED },
	{ "syscall", "system call", NULL, REMEDY_NONE },
	{ "on", "waiting on", NULL, REMEDY_NONE },
	{ "where", "where in the kernel", NULL, REMEDY_NONE },
	{ "cpu-nr", "CPU number", NULL, REMEDY_NONE },
	{ "time", "CPU time", NULL, REMEDY_RUN },
	{ "cuser", "children's user time", NULL, REMEDY_NONE },
	{ "csys", "children's system time", NULL, REMEDY_NONE },
	{ "read", "read from storage", NULL, REMEDY_STORAGE },
	{ "write", "written to storage",
	  "A write counts when the program makes a page dirty; the disk gets it later.", REMEDY_STORAGE },
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
	  "It had work, and its quota of the period (cpu.max) was used up: CPUs may have been idle.",
	  REMEDY_QUOTA },
	{ "mem-high", "memory.high events", NULL, REMEDY_RECLAIM },
	{ "mem-max", "memory.max events", NULL, REMEDY_RECLAIM },
	{ "mem-oom", "out of memory events",
	  "The next step is that a task of the group is killed.", REMEDY_RECLAIM },
	{ "worst", "worst member", "v opens the detail of the group, Enter its members.", REMEDY_NONE },
	{ "cgroup", "control group", NULL, REMEDY_NONE },
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
		    "the whole record of each thread: a request for each, with each sample" } },
		{ NEED_HANGS,
		  { "1 file",
		    "one file of /proc (syscall) for each thread that sleeps, once for each of its "
		    "waits; nothing more where the screen shows it by its width alone" } },
		{ NEED_WAITING,
		  { "some files",
		    "some files of /proc for each row shown that waits, with each sample; "
		    "for all rows to sort by it" } },
		{ NEED_STAT,
		  { "1 file",
		    "one file of /proc (stat) for each row shown, with each sample; for all "
		    "tasks to sort by it or to add it up" } },
		{ NEED_IO,
		  { "1 file",
		    "one file of /proc (io) for each row shown, with each sample; for all tasks "
		    "to sort by it or to add it up" } },
		{ NEED_CPU,
		  { "1 file",
		    "one file of /proc (stat) for each row shown that ran; for all tasks to "
		    "sort by it" } },
		{ NEED_COMMAND,
		  { "1 file",
		    "one file of /proc (cmdline) for each row shown that ran; for all tasks to "
		    "sort or filter by it" } },
		{ NEED_CGROUP,
		  { "1 file",
		    "one file of /proc (cgroup) for each row shown that ran; for all tasks to "
		    "sort by it" } },
		{ NEED_GROUP_PARTS,
		  { "1 file",
		    "one file of each control group shown, with each sample; of all groups to "
		    "sort by it" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(costs); i++)
		if (column->needs & costs[i].needs)
			return costs[i].cost;
	if (column->traced)
		return (struct column_cost){
			"trace",
			"all waits are traced, at some cost for every switch of tasks: with "
			"--trace, in preset states, or while w is open"
		};
	if (column->past)
		return (struct column_cost){
			"-", "nothing is read: it shows what is kept to look back at"
		};
	return (struct column_cost){ "-", "nothing: every sample has it" };
}
