/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/column_words.h"

#include <string.h>

#include "base/util.h"

/*
 * Means against waiting, for each resource. The kernel's own account of them: delay-accounting.rst
 * (a task's CPU priority, its I/O priority, its limit of memory), cgroup-v2.rst, and vm.rst of
 * admin-guide/sysctl.
 */
static const struct remedy for_cpu[] = {
	{ "nice", "a lower nice value gives it more of a CPU that others want too (F7, or r); a "
		  "higher one (F8) for those that can wait does the same for all others" },
	{ "cpu.weight", "control groups share CPUs by weight first (so do sessions, with "
			"kernel.sched_autogroup_enabled): nice counts within one of them" },
	{ "cpu.max",
	  "a group that has used up its quota waits while CPUs are idle: THROT in rows of "
	  "cgroups and the detail say so; then a larger quota helps, and nice does not" },
	{ "taskset", "CPUs that it is confined to, by affinity or cpuset.cpus, may be busy while "
		     "others are idle" },
	{ NULL, NULL }
};

static const struct remedy for_quota[] = {
	{ "cpu.max", "a larger quota, or fewer threads that run at the same time; a longer period "
		     "makes the pauses rarer and longer" },
	{ "cpu.max.burst", "lets unused quota be used later, for work that comes in bursts" },
	{ NULL, NULL }
};

static const struct remedy for_io[] = {
	{ "w", "shows which files are waited for, and in which call: fsync wants fewer or larger "
	       "writes, or a faster disk" },
	{ "ionice",
	  "a higher I/O priority (ionice -c 2 -n 0) where the disk's scheduler heeds it, as "
	  "bfq does; ionice -c 3 for those that can wait: sort by read and write" },
	{ "io.weight",
	  "the same between control groups; io.max limits the group that takes the disk's "
	  "time, io.latency protects one" },
	{ "memory", "reads of the same data again and again want more page cache: see thrash" },
	{ NULL, NULL }
};

static const struct remedy for_memory[] = {
	{ "memory.high",
	  "where MHIGH or MMAX count in its group (rows of cgroups), it waits for its own "
	  "group's limit: raise memory.high, or memory.max, or let it use less" },
	{ "memory.low",
	  "protects what its group uses from the needs of others, where the whole machine "
	  "is short: mem and swap at the top say so" },
	{ "the others",
	  "memory.high on groups that matter less makes them wait in its place; or end "
	  "them: sort by hiwater_rss" },
	{ "vm.swappiness", "less of it takes memory of programs later, and page cache sooner; "
			   "memory.swap.max keeps one group out of swap" },
	{ NULL, NULL }
};

static const struct remedy for_reclaim[] = {
	{ "memory.high",
	  "an allocation beyond its group's memory.high frees memory first: MHIGH in rows "
	  "of cgroups counts that; raise it, or memory.max" },
	{ "memory.low",
	  "protects what its group uses from the needs of others, where the whole machine "
	  "is short" },
	{ "watermarks",
	  "a larger vm.watermark_scale_factor has the kernel free memory earlier, in the "
	  "background (kswapd), not in the task that allocates" },
	{ "the others", "memory.high on groups that matter less makes them wait in its place" },
	{ NULL, NULL }
};

static const struct remedy for_compact[] = {
	{ "huge pages",
	  "\"defer\" or \"madvise\" in /sys/kernel/mm/transparent_hugepage/defrag: an "
	  "allocation does not wait for huge pages then" },
	{ "compaction", "a larger vm.compaction_proactiveness has memory compacted in the "
			"background" },
	{ "memory", "compacting wants free memory: see reclaim" },
	{ NULL, NULL }
};

static const struct remedy for_wpcopy[] = {
	{ "fork",
	  "pages shared since a fork are copied when either side writes: a large process starts "
	  "programs cheaper by posix_spawn or vfork, and writes less while a snapshot of it "
	  "by fork is alive" },
	{ "memory",
	  "first writes to memory that was only read are copies, too: write to it once, or "
	  "use larger pages" },
	{ NULL, NULL }
};

static const struct remedy for_irq[] = {
	{ "irqbalance",
	  "or /proc/irq/N/smp_affinity: other CPUs for the interrupts that hit its own; "
	  "/proc/interrupts and /proc/softirqs count them" },
	{ "taskset", "or cpuset.cpus: CPUs without such interrupts for the task" },
	{ NULL, NULL }
};

static const struct remedy for_dwait[] = {
	{ "w",
	  "shows what it hangs in: the file, the kernel's function, and for locks the task that "
	  "ended such waits" },
	{ "fsfreeze -u",
	  "where the file system is frozen; with a network or FUSE file system, look at "
	  "the server, as signals may not reach the task" },
	{ "fewer writers",
	  "many writers of one file or folder wait for its lock one after another, "
	  "whatever their priority" },
	{ NULL, NULL }
};

static const struct remedy for_all[] = {
	{ "the kinds",
	  "the largest of its kinds says which resource is short: sort by that (1 to 8), "
	  "and press ? again" },
	{ "w", "shows what the selected row waits on" },
	{ NULL, NULL }
};

static const struct remedy for_lock[] = {
	{ "w", "shows which lock it is, and who held it. It is the program's own lock; priorities "
	       "help where its holder waits for a CPU" },
	{ NULL, NULL }
};

static const struct remedy for_peer[] = {
	{ "w", "shows the other end, which does the work that it waits for" },
	{ NULL, NULL }
};

static const struct remedy for_run[] = { { "nice", "running is not waiting. Where it keeps others "
						   "from a CPU, a higher nice value (F8) makes "
						   "it yield to them" },
					 { "cpu.max", "limits its group, also when CPUs are idle" },
					 { NULL, NULL } };

static const struct remedy for_storage[] = {
	{ "ionice",
	  "the task that reads or writes most may make others wait (blkio): a lower I/O priority "
	  "(ionice -c 3) where the disk's scheduler heeds it, as bfq does" },
	{ "io.max", "limits its group's bytes and operations on a disk" },
	{ NULL, NULL }
};

static const struct remedy for_state[] = {
	{ "D",
	  "uninterruptible: no signal ends it before its wait is over, except KILL in some calls. "
	  "w shows what it waits on" },
	{ "Z", "not yet reaped by its parent (ppid): only that, or the parent's end, removes it" },
	{ "T", "stopped by a signal or a debugger: signal CONT (k) continues it" },
	{ NULL, NULL }
};

/* clang-format off */
const struct column_words column_words_table[] = {
	{ "pid", "process id", NULL, NULL },
	{ "tgid", "thread group id", "The kernel's word for a process is thread group.", NULL },
	{ "ppid", "parent's process id", NULL, NULL },
	{ "user", "user", NULL, NULL },
	{ "uid", "user id", NULL, NULL },
	{ "state", "state", NULL, for_state },
	{ "exit", "exit status", NULL, NULL },
	{ "run", "running", "A task either runs or waits.", for_run },
	{ "usr", "user time", NULL, for_run },
	{ "sys", "system time", NULL, for_run },
	{ "total", "total delay",
	  "Time in which it could have run, had the machine been free: waits of its own choice, "
	  "as for input or a timer, are not counted.", for_all },
	{ "lost", "time lost",
	  "Traced: all time but running and waits that are idle (no work, a timer) or for children, "
	  "which have rows of their own. Not traced: the same as total.",
	  for_all },
	{ "mem", "memory delay", NULL, for_memory },
	{ "cpu", "CPU delay",
	  "Time on the run queue, and pauses by a quota of its control group. A share near that "
	  "of RUN says that two tasks want each CPU.", for_cpu },
	{ "blkio", "block I/O delay",
	  "Reads, and writes that are waited for (fsync, O_DIRECT); other writes go through memory and "
	  "delay no task. Swapping in from a disk is included.", for_io },
	{ "swapin", "swap-in delay",
	  "Memory that it used was written to swap, and must be read back.", for_memory },
	{ "reclaim", "memory reclaim",
	  "It has to free memory itself before it gets any: the machine is short, or its control group "
	  "is at a limit. Most of it is the task's own work on a CPU.", for_reclaim },
	{ "thrash", "thrashing",
	  "Pages that were evicted a moment ago are read back: its working set does not fit into "
	  "the memory that it may use. These waits are in blkio or swapin, too.", for_memory },
	{ "compact", "memory compaction",
	  "It moves pages together until one large piece is free, as for a huge page.", for_compact },
	{ "wpcopy", "write-protect copy",
	  "Copy on write: a page that is shared, after a fork or as the page of zeros, is copied when it "
	  "is written to.", for_wpcopy },
	{ "irq", "interrupts",
	  "Interrupts were handled on its CPU while it could have run. Only kernels that account for "
	  "the time of interrupts have it.", for_irq },
	{ "dwait", "blocked, not for I/O",
	  "The kernel books such waits nowhere, nor are they in the pressure above: here they are "
	  "found by state D without I/O wait.", for_dwait },
	{ "trend", "trend of total", NULL, for_all },
	{ "states", "states over time", NULL, NULL },
	{ "s-run", "share running", NULL, for_run },
	{ "s-cpu", "share ready to run", NULL, for_cpu },
	{ "s-io", "share in block I/O", NULL, for_io },
	{ "s-dwait", "share blocked", NULL, for_dwait },
	{ "s-lock", "share at locks", NULL, for_lock },
	{ "s-net", "share at sockets", NULL, for_peer },
	{ "s-pipe", "share at pipes", NULL, for_peer },
	{ "s-poll", "share polling", "Mostly it has nothing to do, and waits for work.", NULL },
	{ "s-timer", "share asleep", "It asked to sleep: nothing is wrong.", NULL },
	{ "s-child", "share waiting for children", "What its children wait for is in their rows.", NULL },
	{ "s-stop", "share stopped", NULL, for_state },
	{ "s-other", "share otherwise", NULL, NULL },
	{ "s-park", "share parked", "It has nothing to do: no task holds what it waits for.", NULL },
	{ "waker", "woken by",
	  "The task that ended most of its waits. Look next at what the waker itself waits for.", NULL },
	{ "elap", "elapsed time", NULL, NULL },
	{ "wait", "wait in progress",
	  "It has not ended yet. Preset hangs (Tab) shows the tasks that are kept waiting for long.", for_dwait },
	{ "syscall", "system call", NULL, NULL },
	{ "on", "waiting on", NULL, NULL },
	{ "where", "where in the kernel", NULL, NULL },
	{ "cpu-nr", "CPU number", NULL, NULL },
	{ "time", "CPU time", NULL, for_run },
	{ "cuser", "children's user time", NULL, NULL },
	{ "csys", "children's system time", NULL, NULL },
	{ "read", "read from storage", NULL, for_storage },
	{ "write", "written to storage",
	  "A write counts when the program makes a page dirty; the disk gets it later.", for_storage },
	{ "cancel", "cancelled writes", NULL, NULL },
	{ "running", "running or queued", NULL, NULL },
	{ "sleeping", "sleeping", NULL, NULL },
	{ "stopped", "stopped", NULL, NULL },
	{ "uninterruptible", "uninterruptible", NULL, for_dwait },
	{ "iowait", "waiting for I/O", NULL, for_io },
	{ "members", "number of tasks", NULL, NULL },
	{ "psi-cpu", "pressure: CPU",
	  "Share of the last 10 s in which some of its tasks waited for a CPU.", for_cpu },
	{ "psi-mem", "pressure: memory",
	  "Share of the last 10 s in which some of its tasks waited for memory.", for_memory },
	{ "psi-io", "pressure: I/O",
	  "Share of the last 10 s in which some of its tasks waited for I/O.", for_io },
	{ "throttled", "throttled by quota",
	  "It had work, and its quota of the period (cpu.max) was used up: CPUs may have been idle.",
	  for_quota },
	{ "mem-high", "memory.high events", NULL, for_reclaim },
	{ "mem-max", "memory.max events", NULL, for_reclaim },
	{ "mem-oom", "out of memory events",
	  "The next step is that a task of the group is killed.", for_reclaim },
	{ "worst", "worst member", "v opens the detail of the group, Enter its members.", NULL },
	{ "cgroup", "control group", NULL, NULL },
	{ "pod", "Kubernetes pod", NULL, NULL },
	{ "container", "container", NULL, NULL },
	{ "group", "group", NULL, NULL },
	{ "comm", "command name", NULL, NULL },
	{ "command", "command line", NULL, NULL },
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
