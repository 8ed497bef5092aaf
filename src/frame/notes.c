/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frame/notes.h"

#include <errno.h>
#include <string.h>

#include "bpf/refusal.h"

const struct note_row note_table[NOTE_IDS] = {
	[NOTE_DELAYACCT_OFF] = {
		"delayacct-off", "delay accounting is off and waits are not measured%e: only CPU delays are known", NOTE_LASTING,
	},
	[NOTE_DELAYACCT_OLDER] = {
		"delayacct-older", "%v {task|tasks} started before delay accounting was on, and waits are not measured%e: "
		"only {its|their} CPU delay is known", NOTE_ON_REQUEST,
	},
	[NOTE_DELAYACCT_UNSURE] = {
		"delayacct-unsure", "%v {task has|tasks have} no blkio and may predate delay accounting: {its|their} blkio "
		"is unknown", NOTE_LASTING,
	},
	[NOTE_DELAYACCT_TOGGLED] = {
		"delayacct-toggled", "delay accounting was switched on or off: only CPU delay is known for this interval", NOTE_EVENT,
	},
	[NOTE_DELAYACCT_LEFT] = {
		"delayacct-left", "a killed stalltop left delay accounting on (--enable-delayacct)", NOTE_EVENT,
	},
	[NOTE_NO_CAP] = {
		"no-cap", "no CAP_NET_ADMIN: procfs source, cpu and blkio only", NOTE_LASTING,
	},
	[NOTE_NO_TASKSTATS] = {
		"no-taskstats", "this kernel has no taskstats: procfs source, cpu and blkio only", NOTE_LASTING,
	},
	[NOTE_TASKSTATS_VERSION] = {
		"taskstats-version", "this kernel's taskstats is older than version 8: procfs source, cpu and blkio only", NOTE_ON_REQUEST,
	},
	[NOTE_TASKSTATS_ERROR] = {
		"taskstats-error", "taskstats cannot be used (%v): procfs source, cpu and blkio only", NOTE_ON_REQUEST,
	},
	[NOTE_NO_BPF] = {
		"no-bpf", "the bpf source is unavailable (%v): it would sample this many tasks at lower cost", NOTE_LASTING,
	},
	[NOTE_UNMEASURED] = {
		"unmeasured", "waits are the kernel's figures, not measured%e", NOTE_LASTING,
	},
	[NOTE_NO_PSI] = {
		"no-psi", "no pressure files: pressure is unknown", NOTE_LASTING,
	},
	[NOTE_GROUP_GONE] = {
		"group-gone", "the cgroup named by --cgroup does not exist", NOTE_EVENT,
	},
	[NOTE_GROUP_PSI] = {
		"group-psi", "the cgroup's pressure is unavailable (%v)", NOTE_LASTING,
	},
	[NOTE_GROUP_THREADED] = {
		"group-threaded", "threads of a process may be in different cgroups here: a process is counted in its "
		"main thread's", NOTE_LASTING,
	},
	[NOTE_GROUP_UNKNOWN] = {
		"group-unknown", "%v {task|tasks} that started and exited within the interval {is|are} not shown: cgroup "
		"unknown", NOTE_MINOR,
	},
	[NOTE_PSI_MISSING] = {
		"psi-missing", "/proc/pressure/%v cannot be read%e: its pressure is unknown", NOTE_EVENT,
	},
	[NOTE_SYSTEM_MISSING] = {
		"system-missing", "/proc/%v cannot be read%e: its figures are unknown", NOTE_EVENT,
	},
	[NOTE_STALE_STAMP] = {
		"stale-stamp", "for %v {task|tasks} the kernel accounted more waiting than time passed: the excess is "
		"dropped", NOTE_MINOR,
	},
	[NOTE_UNREAD] = {
		"unread", "%v {task|tasks} could not be read%e and {is|are} not shown", NOTE_EVENT,
	},
	[NOTE_HIDDEN] = {
		"hidden", "tasks of other users are hidden (/proc is mounted with hidepid): neither shown nor "
		"counted", NOTE_LASTING,
	},
	[NOTE_EXITS_REFUSED] = {
		"exits-refused", "exit records are unavailable (%v): waits between a task's last sample and its exit are "
		"not counted", NOTE_LASTING,
	},
	[NOTE_EXITS_LOST] = {
		"exits-lost", "%v exit {record was|records were} lost: "
		"the last waits of {that task|those tasks} are not counted", NOTE_EVENT,
	},
	[NOTE_EXITS_FOLDED] = {
		"exits-folded", "%v exited {task has|tasks have} no row of {its|their} own: too many names, so the least "
		"active share one row per user", NOTE_EVENT,
	},
	[NOTE_EXITS_INEXACT] = {
		"exits-inexact", "this kernel does not count dropped exit records: more may be lost than shown", NOTE_LASTING,
	},
	[NOTE_RUN_REAPED] = {
		"run-reaped", "delays of %v reaped {process|processes} only: without exit records other descendants "
		"are unknown (from /proc: all threads but the main one, too)", NOTE_EVENT,
	},
	[NOTE_LATE] = {
		"late", "%v {interval was|intervals were} skipped: a sample took too long, or the program "
		"was stopped", NOTE_EVENT,
	},
	[NOTE_WAITING_HIDDEN] = {
		"waiting-hidden", "wait targets are hidden: these tasks belong to other users, or the kernel forbids access", NOTE_LASTING,
	},
	[NOTE_TRIGGER_GONE] = {
		"trigger-gone", "%v {cgroup|cgroups} named by --when no longer {exists|exist} and {is|are} no longer "
		"watched", NOTE_EVENT,
	},
	[NOTE_TRACE_CAP] = {
		"trace-cap", "waits are not traced: that needs CAP_BPF and CAP_PERFMON", NOTE_LASTING,
	},
	[NOTE_TRACE_BTF] = {
		"trace-btf", "waits are not traced: the kernel provides no BTF (/sys/kernel/btf)", NOTE_LASTING,
	},
	[NOTE_TRACE_ABSENT] = {
		"trace-absent", "waits are not traced: this stalltop was built without BPF", NOTE_ON_REQUEST,
	},
	[NOTE_TRACE_KERNEL] = {
		"trace-kernel", "waits are not traced: %v", NOTE_LASTING,
	},
	[NOTE_TRACE_ERROR] = {
		"trace-error", "waits are not traced (%v)", NOTE_ON_REQUEST,
	},
	[NOTE_TRACE_UNRECORDED] = {
		"trace-unrecorded", "waits were not traced when this was recorded", NOTE_LASTING,
	},
	[NOTE_TRACE_LOST] = {
		"trace-lost", "%v {wait is|waits are} not attributed to a site: table full, or its slot busy", NOTE_EVENT,
	},
	[NOTE_TRACE_CALLS] = {
		"trace-calls", "system calls cannot be decoded on this architecture: waits ended by other tasks are in "
		"state other", NOTE_ON_REQUEST,
	},
	[NOTE_STACKS_LOST] = {
		"stacks-lost", "%v {wait has|waits have} no user stack: no room", NOTE_EVENT,
	},
	[NOTE_STACKS_MACHINE] = {
		"stacks-machine", "user stacks are not taken: only on x86-64, since Linux 5.15", NOTE_ON_REQUEST,
	},
	[NOTE_STACKS_LIBRARY] = {
		"stacks-library", "user stacks end in the first library and have no functions: " LIBDW_MISSING,
		NOTE_ON_REQUEST,
	},
	[NOTE_TRACE_STATES] = {
		"trace-states", "only states are traced (--trace-sites 0): no sites, no wakers", NOTE_ON_REQUEST,
	},
	[NOTE_TRACE_SOURCE] = {
		"trace-source", "task times by state are unknown: only the bpf source has them", NOTE_LASTING,
	},
	[NOTE_TRACE_SYMBOLS] = {
		"trace-symbols", "the kernel hides its function names (/proc/kallsyms): sites have no function and no "
		"stack, and the class of some waits is unknown", NOTE_LASTING,
	},
	[NOTE_READS_HANG] = {
		"reads-hang", "%v /proc {file|files} cannot be read because {its task is|their tasks are} hung: shown "
		"as -", NOTE_EVENT,
	},
	[NOTE_PROC_SUBSET] = {
		"proc-subset", "this /proc shows only tasks (mount option subset=pid): pressure, CPU time, memory and "
		"load are unknown", NOTE_LASTING,
	},
	[NOTE_CLOCK_BACK] = {
		"clock-back", "the clock was set back: this time of day occurs twice", NOTE_EVENT,
	},
	[NOTE_LEAPT] = {
		"leapt", "/proc/%v went backwards or grew faster than time: its figures are unknown for this "
		"interval", NOTE_EVENT,
	},
	[NOTE_RECORD_DROPPED] = {
		"record-dropped", "%v {sample is|samples are} missing in the recording: the disk was too slow", NOTE_EVENT,
	},
	[NOTE_RECORD_ENDED] = {
		"record-ended", "the recording has ended (%v): samples are no longer recorded", NOTE_EVENT,
	},
};

static enum note_rank rank_of(const struct note *note)
{
	return note_table[note->id].rank;
}

void notes_sort(struct frame_info *info)
{
	for (size_t i = 1; i < info->head.nnotes; i++) {
		const struct note note = info->head.notes[i];
		enum note_rank rank = rank_of(&note);
		size_t at = i;

		for (; at && rank_of(&info->head.notes[at - 1]) > rank; at--)
			info->head.notes[at] = info->head.notes[at - 1];
		info->head.notes[at] = note;
	}
}

size_t notes_default_count(const struct frame_info *info)
{
	size_t n = info->head.nnotes;

	while (n && rank_of(&info->head.notes[n - 1]) >= NOTE_ON_REQUEST)
		n--;
	return n;
}

const char *record_failure(int err)
{
	switch (err) {
	case -ENOENT:
		return "no such directory, or the file was removed";
	case -EBUSY:
		return "another stalltop is recording to that directory";
	case -ECHILD:
		return "the process that writes it was killed";
	case -ETIMEDOUT:
		return "the disk does not answer";
	case -ENOSPC:
		return "there is too little free space";
	default:
		return strerror(-err);
	}
}

/* Appends the value of a note (%v). */
static void append_note_value(struct buf *out, const struct note *note)
{
	if (note->id == NOTE_LEAPT && note->value < PSI_RESOURCES)
		buf_printf(out, "pressure/%s", psi_names[note->value]);
	else if (note->id == NOTE_LEAPT)
		buf_puts(out, system_file_names[SYSTEM_STAT]);
	else if (note->id == NOTE_PSI_MISSING && note->value < PSI_RESOURCES)
		buf_puts(out, psi_names[note->value]);
	else if (note->id == NOTE_SYSTEM_MISSING && note->value < SYSTEM_FILES)
		buf_puts(out, system_file_names[note->value]);
	else if (note->id == NOTE_NO_BPF || note->id == NOTE_TRACE_KERNEL)
		buf_puts(out, refusal_summary(note->value ? -(int)note->value : -EOPNOTSUPP));
	else if (note->id == NOTE_TASKSTATS_ERROR || note->id == NOTE_EXITS_REFUSED ||
		 note->id == NOTE_GROUP_PSI || note->id == NOTE_TRACE_ERROR)
		buf_puts(out, strerror((int)note->value));
	else if (note->id == NOTE_RECORD_ENDED)
		buf_puts(out, record_failure(-(int)note->value));
	else
		buf_uint(out, note->value);
}

/* Appends the cause. */
static void append_note_error(struct buf *out, const struct note *note)
{
	bool refusal = note->id == NOTE_DELAYACCT_OFF || note->id == NOTE_DELAYACCT_OLDER ||
		       note->id == NOTE_UNMEASURED;

	if (note->error)
		buf_printf(out, " (%s)",
			   refusal ? refusal_summary(note->error) : strerror(-note->error));
}

void note_append_text(struct buf *out, const char *text, const struct note *note)
{
	while (*text) {
		size_t plain = strcspn(text, "%{"), first, second;

		buf_add(out, text, plain);
		text += plain;
		if (*text == '%') {
			if (text[1] != 'e')
				append_note_value(out, note);
			else
				append_note_error(out, note);
			text += 2;
		} else if (*text) {
			first = strcspn(++text, "|");
			second = strcspn(text + first, "}");
			if (note->value == 1)
				buf_add(out, text, first);
			else
				buf_add(out, text + first + 1, second - 1);
			text += first + second + 1;
		}
	}
}

void note_append(struct buf *out, const struct note *note)
{
	note_append_text(out, note_table[note->id].text, note);
}

struct note note_of_refusal(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return (struct note){ .id = NOTE_NO_CAP };
	case -ENOENT:
		return (struct note){ .id = NOTE_NO_TASKSTATS };
	case -EPROTONOSUPPORT:
		return (struct note){ .id = NOTE_TASKSTATS_VERSION };
	default:
		return (struct note){ .id = NOTE_TASKSTATS_ERROR, .value = (uint64_t)-error };
	}
}

/* True if a pressure file cannot be read because the kernel has none: see read_pressure(). */
static bool has_no_file(int error)
{
	return error == -ENOENT || error == -EOPNOTSUPP;
}

/* Notes missing pressure files. irq has one only with CONFIG_IRQ_TIME_ACCOUNTING. */
static void note_pressure(struct frame_info *info)
{
	const int *error = info->system->pressure.error;

	/* The pressure of a group has its own note already. */
	if (info->head.cgroup)
		return;
	if (has_no_file(error[PSI_CPU]) && has_no_file(error[PSI_MEMORY]) &&
	    has_no_file(error[PSI_IO])) {
		frame_note(info, NOTE_NO_PSI, 0);
		return;
	}
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		if (error[r] && !(r == PSI_IRQ && error[r] == -ENOENT))
			frame_note_error(info, NOTE_PSI_MISSING, r, error[r]);
}

/* True if both readings have a line, but its growth is unknown. */
static bool has_leapt(const struct psi_line *before, const struct psi_line *now, uint64_t passed_ns)
{
	uint64_t us;

	return before->valid && now->valid && passed_ns && !psi_grown(before, now, passed_ns, &us);
}

/* Notes counters that changed in an impossible way. */
static void note_leaps(struct frame_info *info)
{
	const struct system_sample *now = info->system, *before = info->system_before;
	const struct psi_reading *pressure = frame_pressure(info);
	const struct psi_reading *was = frame_pressure_before(info);
	uint64_t ns[CPU_STATES];

	if (before && before->cpu_valid && now->cpu_valid && !system_cpu_grown(before, now, ns))
		frame_note(info, NOTE_LEAPT, PSI_RESOURCES);
	for (unsigned r = 0; was && r < PSI_RESOURCES; r++)
		if (has_leapt(&was->psi[r].some, &pressure->psi[r].some, info->interval_ns) ||
		    has_leapt(&was->psi[r].full, &pressure->psi[r].full, info->interval_ns))
			frame_note(info, NOTE_LEAPT, r);
}

/* True if none of the system's files is there. */
static bool is_subset(const struct system_sample *system)
{
	for (unsigned f = 0; f < SYSTEM_FILES; f++)
		if (system->file_error[f] != -ENOENT)
			return false;
	return has_no_file(system->pressure.error[PSI_CPU]);
}

void note_system(struct frame_info *info)
{
	if (is_subset(info->system)) {
		frame_note(info, NOTE_PROC_SUBSET, 0);
		return;
	}
	note_pressure(info);
	note_leaps(info);
	for (unsigned f = 0; f < SYSTEM_FILES; f++)
		if (info->system->file_error[f])
			frame_note_error(info, NOTE_SYSTEM_MISSING, f, info->system->file_error[f]);
}
