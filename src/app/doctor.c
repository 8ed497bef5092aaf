/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "app/errors.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/util.h"
#include "bpf/measure.h"
#include "bpf/refusal.h"
#include "cgroup/hierarchy.h"
#include "frame/notes.h"
#include "kernel/delayacct.h"
#include "kernel/proc.h"
#include "out/json.h"
#include "read/source.h"
#include "sampler/sampler.h"
#include "trace/tracing.h"
#include "view/remedies.h"

/* The inodes of the initial namespaces (include/linux/proc_ns.h). */
#define FIRST_USERS 0xeffffffdUL
#define FIRST_PIDS 0xeffffffcUL

/* Time between the two samples: long enough for an exit listener to be refused. */
#define INTERVAL_NS (200 * NSEC_PER_MSEC)

/* Reads the first line of a kernel file; "" if unreadable. */
static void read_word(char *word, const char *path)
{
	int len = file_read(AT_FDCWD, path, word, DOCTOR_WORD - 1);

	word[len > 0 ? len : 0] = '\0';
	word[strcspn(word, "\n")] = '\0';
}

/* Extracts the word in brackets from "a [b] c", as in files of choices. */
static void keep_chosen(char *word)
{
	const char *begin = strchr(word, '['), *end = begin ? strchr(begin, ']') : NULL;
	size_t len;

	if (!end)
		return;
	len = (size_t)(end - begin) - 1;
	memmove(word, begin + 1, len);
	word[len] = '\0';
}

/* True if a namespace of this process is not the initial one. */
static bool is_guest(int procfd, const char *name, unsigned long first)
{
	struct stat stat_of;

	return !fstatat(procfd, name, &stat_of, 0) && (unsigned long)stat_of.st_ino != first;
}

/* Takes two samples with all possible needs, and keeps their notes. */
static void sample(struct doctor_facts *facts, struct proc *proc)
{
	const struct sampler_config config = { .privileges = PRIVILEGE_ALL,
					       .proc = proc,
					       .exits = true,
					       .delayacct_file = DELAYACCT_FILE,
					       .trace = true,
					       .trace_sites = TRACING_SITES };
	const struct timespec interval = { 0, INTERVAL_NS };
	struct sampler *sampler = NULL;
	const struct frame *frame = NULL;

	facts->error = sampler_open(&sampler, &config);
	if (!facts->error)
		facts->error = sampler_tick(sampler, 0, &frame);
	if (!facts->error) {
		nanosleep(&interval, NULL);
		facts->error = sampler_tick(sampler, 0, &frame);
	}
	if (!facts->error) {
		const struct frame_head *head = &frame->info->head;

		snprintf(facts->source, sizeof(facts->source), "%s", head->source);
		facts->taskstats_version = head->taskstats_version;
		facts->measured = head->measured;
		facts->counted = head->delayacct == DELAYACCT_ON;
		memcpy(facts->notes, head->notes, head->nnotes * sizeof(*head->notes));
		facts->nnotes = head->nnotes;
	}
	if (sampler)
		sampler_close(sampler);
}

/* Tries what a sample uses only at times. */
static void try_programs(struct doctor_facts *facts, struct proc *proc)
{
	const struct source_env env = { .proc = proc };
	struct source source;
	struct measure *measure = NULL;

	facts->bpf = source_open(&source, "bpf", &env);
	source_close(&source);
	facts->measure = measure_open(&measure);
	measure_close(measure);
}

/* Looks at the groups. */
static void check_hierarchy(struct doctor_facts *facts, int procfd)
{
	struct hierarchy hierarchy = { .fd = -1 };

	if (hierarchy_open(&hierarchy, procfd, NULL))
		return;
	facts->hierarchy = hierarchy.fd >= 0 ? hierarchy.version : 0;
	/* The root has none before 6.1. */
	facts->group_pressure = !access("/proc/pressure/cpu", R_OK);
	hierarchy_close(&hierarchy);
}

/*
 * Tries to read the system calls of other users' tasks: of the first two processes, which are
 * root's (some machines protect the first). 0 or -errno.
 */
static int check_call(int procfd)
{
	static const char *const files[] = { "2/syscall", "1/syscall" };
	char word[DOCTOR_WORD];
	int got = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		got = file_read(procfd, files[i], word, sizeof(word));
		if (got != -EACCES && got != -EPERM)
			return 0;
	}
	return got;
}

void doctor_look(struct doctor_facts *facts, struct proc *proc, bool utf8)
{
	struct utsname kernel;

	*facts = (struct doctor_facts){ .uid = (unsigned)geteuid(),
					.utf8 = utf8,
					.terminal = getenv("TERM") };
	if (!uname(&kernel)) {
		snprintf(facts->release, sizeof(facts->release), "%s", kernel.release);
		snprintf(facts->machine, sizeof(facts->machine), "%s", kernel.machine);
	}
	sample(facts, proc);
	try_programs(facts, proc);
	check_hierarchy(facts, proc->fd);
	facts->waiting = check_call(proc->fd);
	facts->guest_pids = is_guest(proc->fd, "self/ns/pid", FIRST_PIDS);
	facts->guest_users = is_guest(proc->fd, "self/ns/user", FIRST_USERS);
	read_word(facts->lockdown, "/sys/kernel/security/lockdown");
	keep_chosen(facts->lockdown);
	read_word(facts->clock, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

/* A result of the doctor's: what is missing and why, and the remedy. Empty: no problem. */
struct check_result {
	struct buf what, remedy;
	bool aside; /* worth knowing, but nothing is missing */
};

/* Checks a subject: true and the problem in `what`, or false and what works. */
typedef bool look_fn(const struct doctor_facts *facts, struct check_result *out);

/* ---- Words ----------------------------------------------------------------------------------- */

/* Takes the first of some notes that the sample has. False: it has none of them. */
static bool take_note(const struct doctor_facts *facts, struct check_result *out,
		      const enum note_id *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < facts->nnotes; k++) {
			const struct note *note = &facts->notes[k];

			if (note->id != ids[i])
				continue;
			note_append(&out->what, note);
			if (remedy_of_note(note->id))
				note_append_text(&out->remedy, remedy_of_note(note->id), note);
			return true;
		}
	return false;
}

#define TAKE_NOTE(facts, out, ...) \
	take_note(facts, out, (const enum note_id[]){ __VA_ARGS__ }, \
		  ARRAY_SIZE(((const enum note_id[]){ __VA_ARGS__ })))

/* The release as a number that can be compared: 6.12 is 6012; 0: not known. */
static unsigned release_of(const struct doctor_facts *facts)
{
	unsigned major, minor;

	return sscanf(facts->release, "%3u.%3u", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

/* ---- The subjects ---------------------------------------------------------------------------- */

static bool check_sample(const struct doctor_facts *facts, struct check_result *out)
{
	if (!facts->error) {
		buf_printf(&out->what, "per-task statistics (source %s)", facts->source);
		return false;
	}
	buf_puts(&out->what, "no sample can be taken: ");
	error_of_source(&out->what, "auto", facts->error);
	buf_puts(&out->remedy, remedy_of_setting(SETTING_PROC));
	return true;
}

static bool check_taskstats(const struct doctor_facts *facts, struct check_result *out)
{
	if (TAKE_NOTE(facts, out, NOTE_NO_TASKSTATS, NOTE_TASKSTATS_VERSION, NOTE_NO_CAP,
		      NOTE_TASKSTATS_ERROR))
		return true;
	buf_puts(&out->what, "the kernel's counters of each task");
	if (facts->taskstats_version)
		buf_printf(&out->what, " (taskstats version %d)", facts->taskstats_version);
	return false;
}

static bool check_accounting(const struct doctor_facts *facts, struct check_result *out)
{
	if (TAKE_NOTE(facts, out, NOTE_DELAYACCT_OFF))
		return true;
	/* Older tasks have their delays from the next boot on. */
	if (TAKE_NOTE(facts, out, NOTE_DELAYACCT_OLDER, NOTE_DELAYACCT_UNSURE))
		return true;
	if (!facts->measured || facts->counted) {
		buf_puts(&out->what, facts->measured ? "disk and memory waits, measured"
						     : "disk and memory waits, as counted");
		return false;
	}
	buf_puts(&out->what,
		 "disk and memory waits are measured, but only the kernel could count swap-ins "
		 "from memory (zram), copies on write and interrupts, and delay accounting is off");
	buf_puts(&out->remedy, remedy_of_note(NOTE_DELAYACCT_OFF));
	out->aside = true;
	return true;
}

static bool check_tracing(const struct doctor_facts *facts, struct check_result *out)
{
	bool locked = !strcmp(facts->lockdown, "confidentiality");

	if (!TAKE_NOTE(facts, out, NOTE_TRACE_CAP, NOTE_TRACE_BTF, NOTE_TRACE_ABSENT,
		       NOTE_TRACE_KERNEL, NOTE_TRACE_ERROR, NOTE_TRACE_CALLS, NOTE_TRACE_SYMBOLS)) {
		buf_puts(&out->what, "wait tracing");
		return false;
	}
	if (locked) {
		out->remedy.len = 0;
		buf_puts(&out->remedy, remedy_of_setting(SETTING_LOCKDOWN));
	}
	return true;
}

static bool check_waiting(const struct doctor_facts *facts, struct check_result *out)
{
	if (!facts->waiting) {
		buf_puts(&out->what, "current waits of other users' tasks");
		return false;
	}
	buf_puts(&out->what, note_table[NOTE_WAITING_HIDDEN].text);
	buf_puts(&out->remedy, remedy_of_note(NOTE_WAITING_HIDDEN));
	return true;
}

static bool check_exits(const struct doctor_facts *facts, struct check_result *out)
{
	struct check_result without = { 0 };
	bool none = check_taskstats(facts, &without);

	buf_free(&without.what);
	buf_free(&without.remedy);
	if (TAKE_NOTE(facts, out, NOTE_EXITS_REFUSED, NOTE_EXITS_INEXACT))
		return true;
	buf_puts(&out->what, none ? "tasks that exit between samples are not counted: needs "
				    "taskstats"
				  : "tasks that exit between samples");
	return none;
}

static bool check_others(const struct doctor_facts *facts, struct check_result *out)
{
	if (TAKE_NOTE(facts, out, NOTE_HIDDEN))
		return true;
	buf_puts(&out->what, "tasks of all users");
	return false;
}

static bool check_namespaces(const struct doctor_facts *facts, struct check_result *out)
{
	if (!facts->guest_pids && !facts->guest_users) {
		buf_puts(&out->what, "all tasks of the machine");
		return false;
	}
	buf_puts(&out->what,
		 facts->guest_pids ? "only this container's tasks are visible: it has its own PID "
				     "namespace"
				   : "privileges apply in this container only: it has its own user "
				     "namespace");
	buf_puts(&out->remedy, remedy_of_setting(facts->guest_pids ? SETTING_PIDS : SETTING_USERS));
	return true;
}

static bool check_pressure(const struct doctor_facts *facts, struct check_result *out)
{
	if (TAKE_NOTE(facts, out, NOTE_PROC_SUBSET, NOTE_NO_PSI, NOTE_PSI_MISSING))
		return true;
	buf_puts(&out->what, "pressure");
	return false;
}

static bool check_groups(const struct doctor_facts *facts, struct check_result *out)
{
	if (facts->hierarchy == 2 && facts->group_pressure) {
		buf_puts(&out->what, "cgroups (version 2) with their pressure");
		return false;
	}
	if (!facts->hierarchy) {
		buf_puts(&out->what, "no cgroup hierarchy is mounted");
		buf_puts(&out->remedy, remedy_of_setting(SETTING_CGROUPS));
		return true;
	}
	buf_puts(&out->what, facts->hierarchy == 1 ? "cgroup v1 only: no pressure per group"
						   : "cgroups have no pressure");
	buf_puts(&out->remedy, facts->hierarchy == 1 ? remedy_of_setting(SETTING_UNIFIED)
						     : remedy_of_note(NOTE_NO_PSI));
	return true;
}

static bool check_io(const struct doctor_facts *facts, struct check_result *out)
{
	if (release_of(facts) < 6012 || !facts->measure) {
		buf_puts(&out->what, "accurate block I/O waits");
		return false;
	}
	buf_puts(
		&out->what,
		"kernels since 6.12 account I/O waits from stale timestamps: impossible values are "
		"dropped, but nothing is measured (");
	buf_puts(&out->what, refusal_summary(facts->measure));
	buf_putc(&out->what, ')');
	buf_puts(&out->remedy, remedy_of_note(NOTE_NO_BPF));
	return true;
}

/* io_uring sleeps count as I/O from 6.5 until IORING_ENTER_NO_IOWAIT (6.15) where that is used. */
static bool check_uring(const struct doctor_facts *facts, struct check_result *out)
{
	if (release_of(facts) < 6005) {
		buf_puts(&out->what, "waits of io_uring");
		return false;
	}
	buf_puts(&out->what,
		 "io_uring waits count as I/O whatever they wait for, the network included: "
		 "tracing distinguishes them");
	out->aside = true;
	return true;
}

static bool check_cost(const struct doctor_facts *facts, struct check_result *out)
{
	if (!facts->bpf) {
		buf_puts(&out->what, "low-overhead sampling (bpf)");
		return false;
	}
	buf_puts(&out->what, "sampling many tasks costs more than it could: the bpf source is "
			     "unavailable (");
	buf_puts(&out->what, refusal_summary(facts->bpf));
	buf_putc(&out->what, ')');
	buf_puts(&out->remedy, remedy_of_note(NOTE_NO_BPF));
	return true;
}

static bool check_clock(const struct doctor_facts *facts, struct check_result *out)
{
	static const char *const slow[] = { "hpet", "acpi_pm", "jiffies", "refined-jiffies" };

	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		if (!strcmp(facts->clock, slow[i])) {
			buf_printf(&out->what,
				   "the kernel's clock is %s, which is slow to read: tracing slows "
				   "down programs that switch often",
				   slow[i]);
			buf_puts(&out->remedy, remedy_of_setting(SETTING_CLOCK));
			return true;
		}
	buf_puts(&out->what, "a fast clock source");
	return false;
}

static bool check_terminal(const struct doctor_facts *facts, struct check_result *out)
{
	if (!facts->terminal || !*facts->terminal || !facts->terminal_known) {
		buf_puts(&out->what, "the screen cannot be shown: ");
		if (facts->terminal && *facts->terminal) {
			buf_puts(&out->what, "the terminal type '");
			text_escape(&out->what, facts->terminal, strlen(facts->terminal),
				    TEXT_ASCII);
			buf_puts(&out->what, "' is unknown");
		} else {
			buf_puts(&out->what, "TERM is not set");
		}
		buf_puts(&out->remedy, remedy_of_setting(SETTING_TERM));
		return true;
	}
	if (!facts->utf8) {
		buf_puts(&out->what,
			 "names are shown in ASCII, as the locale's character set is not "
			 "UTF-8");
		buf_puts(&out->remedy, remedy_of_setting(SETTING_LOCALE));
		out->aside = true;
		return true;
	}
	buf_puts(&out->what, "the screen");
	return false;
}

/*
 * ROW(id, look). Ordered by the cost of a lack for users. The matrix in the README has the tested
 * kernels.
 */
#define SUBJECTS(ROW) \
	ROW("sample", check_sample) \
	ROW("taskstats", check_taskstats) \
	ROW("delayacct", check_accounting) \
	ROW("namespaces", check_namespaces) \
	ROW("users", check_others) \
	ROW("trace", check_tracing) \
	ROW("waiting", check_waiting) \
	ROW("exits", check_exits) \
	ROW("storage", check_io) \
	ROW("pressure", check_pressure) \
	ROW("cgroups", check_groups) \
	ROW("terminal", check_terminal) \
	ROW("bpf", check_cost) \
	ROW("clock", check_clock) \
	ROW("io_uring", check_uring)

#define SUBJECT_ROW(id, look) { id, look },
static const struct {
	const char *id;
	look_fn *look;
} subjects[] = { SUBJECTS(SUBJECT_ROW) };
#undef SUBJECT_ROW

/* ---- The page -------------------------------------------------------------------------------- */

/* The oldest and the newest tested kernel (tests/kernels/kernels.txt), as release_of(). */
#define TRIED_FIRST 5010
#define TRIED_LAST 7002

/* Appends the user, and the machine. */
static void append_machine(struct buf *out, const struct doctor_facts *facts)
{
	unsigned release = release_of(facts);

	buf_printf(out, "stalltop %s on Linux %s (%s), as %s", PACKAGE_VERSION, facts->release,
		   facts->machine, facts->uid ? "an unprivileged user" : "root");
	if (release && (release < TRIED_FIRST || release > TRIED_LAST))
		buf_printf(out, "; tested on Linux %d.%d to %d.%d only", TRIED_FIRST / 1000,
			   TRIED_FIRST % 1000, TRIED_LAST / 1000, TRIED_LAST % 1000);
}

/* Appends problems, or facts worth knowing. Returns how many there are. */
static size_t put_complaints(struct buf *out, const struct doctor_facts *facts, bool aside,
			     const char *title)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		struct check_result check_result = { 0 };

		if (subjects[i].look(facts, &check_result) && check_result.aside == aside) {
			if (!n++)
				buf_printf(out, "\n%s\n", title);
			buf_puts(out, "  - ");
			text_wrap(out, buf_cstr(&check_result.what), 4, 4, TEXT_PRINTED);
			if (check_result.remedy.len) {
				buf_puts(out, "    ");
				buf_puts(out, "-> ");
				text_wrap(out, buf_cstr(&check_result.remedy), 7, 7, TEXT_PRINTED);
			}
		}
		buf_free(&check_result.what);
		buf_free(&check_result.remedy);
	}
	return n;
}

/* Appends what is shown, in a paragraph. */
static void put_fine(struct buf *out, const struct doctor_facts *facts)
{
	struct buf all = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		struct check_result fine = { 0 };

		if (!subjects[i].look(facts, &fine))
			buf_printf(&all, "%s%s", all.len ? ", " : "", buf_cstr(&fine.what));
		buf_free(&fine.what);
		buf_free(&fine.remedy);
	}
	if (all.len) {
		buf_puts(out, "\nAvailable:\n  ");
		text_wrap(out, buf_cstr(&all), 2, 2, TEXT_PRINTED);
	}
	buf_free(&all);
}

/* Appends the page for people. */
static bool append_checks(struct buf *out, const struct doctor_facts *facts)
{
	struct buf head = { 0 };
	size_t n;

	append_machine(&head, facts);
	text_wrap(out, buf_cstr(&head), 0, 2, TEXT_PRINTED);
	buf_free(&head);
	n = put_complaints(out, facts, false, "Missing, most important first:");
	if (!n)
		buf_puts(out, "\nNothing is missing.\n");
	put_complaints(out, facts, true, "Limitations:");
	put_fine(out, facts);
	return !n;
}

/* Appends the same as JSON. */
static bool append_checks_json(struct buf *out, const struct doctor_facts *facts)
{
	struct json json = { .out = out };
	bool well = true;

	json_open_object(&json, NULL);
	json_put_text(&json, "stalltop", PACKAGE_VERSION);
	json_put_text(&json, "kernel", facts->release);
	json_put_text(&json, "machine", facts->machine);
	json_put_bool(&json, "root", !facts->uid);
	json_open_array(&json, "checks");
	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		struct check_result check_result = { 0 };
		bool bad = subjects[i].look(facts, &check_result) && !check_result.aside;

		well &= !bad;
		json_open_object(&json, NULL);
		json_put_text(&json, "id", subjects[i].id);
		json_put_bool(&json, "shown", !bad);
		json_put_text(&json, "text", buf_cstr(&check_result.what));
		json_put_text(&json, "remedy",
			      check_result.remedy.len ? buf_cstr(&check_result.remedy) : NULL);
		json_close(&json);
		buf_free(&check_result.what);
		buf_free(&check_result.remedy);
	}
	json_close(&json);
	json_close(&json);
	return well;
}

bool doctor_write(struct buf *out, const struct doctor_facts *facts, bool json)
{
	return json ? append_checks_json(out, facts) : append_checks(out, facts);
}
