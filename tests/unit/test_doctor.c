// SPDX-License-Identifier: GPL-2.0-or-later
/* What --doctor says of made-up machines. */
#include "tests/lib/test.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "app/doctor.h"
#include "base/util.h"

/* A machine on which all is well. */
static const struct doctor_facts well = { .release = "6.1.0-40-amd64",
					  .machine = "x86_64",
					  .source = "taskstats",
					  .taskstats_version = 13,
					  .hierarchy = 2,
					  .group_pressure = true,
					  .lockdown = "none",
					  .clock = "tsc",
					  .utf8 = true,
					  .terminal = "xterm-256color",
					  .terminal_known = true };

/* Has the sample note something. */
static void note(struct doctor_facts *facts, enum note_id id, uint64_t value)
{
	facts->notes[facts->nnotes++] = (struct note){ .id = id, .value = value };
}

static void be_well(UNUSED struct doctor_facts *facts)
{
}

static void switch_off(struct doctor_facts *facts)
{
	note(facts, NOTE_DELAYACCT_OFF, 0);
}

static void have_older(struct doctor_facts *facts)
{
	note(facts, NOTE_DELAYACCT_OLDER, 1);
}

static void be_nobody(struct doctor_facts *facts)
{
	facts->uid = 1000;
	facts->waiting = -EACCES;
	facts->bpf = facts->measure = -EPERM;
	note(facts, NOTE_NO_CAP, 0);
	note(facts, NOTE_TRACE_CAP, 0);
}

static void lack_taskstats(struct doctor_facts *facts)
{
	note(facts, NOTE_NO_TASKSTATS, 0);
}

static void lack_types(struct doctor_facts *facts)
{
	facts->bpf = -ENOENT;
	note(facts, NOTE_TRACE_BTF, 0);
}

static void lock_down(struct doctor_facts *facts)
{
	strcpy(facts->lockdown, "confidentiality");
	note(facts, NOTE_TRACE_CAP, 0);
}

static void be_contained(struct doctor_facts *facts)
{
	facts->guest_pids = true;
	facts->hierarchy = 1;
	facts->group_pressure = false;
	note(facts, NOTE_EXITS_REFUSED, EPERM);
	note(facts, NOTE_HIDDEN, 0);
}

static void be_newer(struct doctor_facts *facts)
{
	strcpy(facts->release, "6.12.30");
	strcpy(facts->clock, "hpet");
	facts->measure = -EINVAL;
	note(facts, NOTE_NO_PSI, 0);
}

static void be_older(struct doctor_facts *facts)
{
	strcpy(facts->release, "4.19.0");
	facts->terminal = "a\033[2Jb";
	facts->terminal_known = false;
}

static void read_nothing(struct doctor_facts *facts)
{
	facts->error = -ENOENT;
}

/* Made-up machines: which subjects are not shown, and a text and a remedy that the page has. */
static const struct machine {
	const char *name;
	void (*change)(struct doctor_facts *facts);
	const char *missing; /* ids */
	const char *text, *remedy; /* remedy NULL: none is looked for */
} machines[] = {
	{ "healthy", be_well, "", "Nothing is missing.", NULL },
	{ "delay accounting off", switch_off, "delayacct ", "delay accounting is off",
	  "sysctl kernel.task_delayacct=1" },
	{ "tasks older than delay accounting", have_older, "delayacct ",
	  "1 task started before delay accounting was on", "restart it, or boot" },
	{ "without privileges", be_nobody, "taskstats trace waiting exits bpf ",
	  "as an unprivileged user", "setcap cap_net_admin+ep" },
	{ "no taskstats", lack_taskstats, "taskstats exits ", "this kernel has no taskstats",
	  "CONFIG_TASKSTATS" },
	{ "no BTF", lack_types, "trace bpf ", "provides no BTF", "CONFIG_DEBUG_INFO_BTF" },
	{ "locked down", lock_down, "trace ", "waits are not traced", "lockdown=confidentiality" },
	{ "a container, with cgroups of version 1", be_contained, "namespaces users exits cgroups ",
	  "only this container's tasks are visible", "--pid=host" },
	{ "6.12, waits for storage not measured, no pressure, a slow clock", be_newer,
	  "storage pressure clock ", "stale timestamps", "psi=1" },
	{ "an old kernel, a terminal that is not known", be_older, "terminal ",
	  "tested on Linux 5.10", "set TERM" },
	{ "no sample", read_nothing, "sample ", "no sample can be taken", "run as root" },
};

/* The facts of a machine. */
static struct doctor_facts facts_of(const struct machine *machine)
{
	struct doctor_facts facts = well;

	machine->change(&facts);
	return facts;
}

/* The page in one line, as words may be parted by any line. */
static char *flatten(const struct buf *page)
{
	char *text = xstrdup(page->data), *to = text;

	for (const char *from = text; *from; from++)
		if (*from > ' ' || (to > text && to[-1] != ' '))
			*to++ = *from > ' ' ? *from : ' ';
	*to = '\0';
	return text;
}

static void check_page(const struct machine *machine)
{
	const struct doctor_facts facts = facts_of(machine);
	struct buf out = { 0 };
	bool all = doctor_write(&out, &facts, false);
	char *text;

	assert_int_equal(all, !*machine->missing);
	for (const char *line = buf_cstr(&out), *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_in_range(end - line, 0, 79);
	}
	assert_null(strchr(out.data, '\033'));
	text = flatten(&out);
	if (!strstr(text, machine->text) || (machine->remedy && !strstr(text, machine->remedy)))
		fail_msg("%s: %s", machine->name, out.data);
	free(text);
	buf_free(&out);
}

/* The subjects that JSON says are not shown. */
static void check_json(const struct machine *machine)
{
	const struct doctor_facts facts = facts_of(machine);
	struct buf out = { 0 }, missing = { 0 };
	bool all = doctor_write(&out, &facts, true);
	json_t *root = json_loads(buf_cstr(&out), 0, NULL), *check;
	size_t i;

	assert_non_null(root);
	assert_int_equal(all, !*machine->missing);
	json_array_foreach(json_object_get(root, "checks"), i, check)
	{
		assert_true(json_is_string(json_object_get(check, "text")));
		if (json_is_false(json_object_get(check, "shown")))
			buf_printf(&missing, "%s ",
				   json_string_value(json_object_get(check, "id")));
	}
	assert_string_equal(buf_cstr(&missing), machine->missing);
	json_decref(root);
	buf_free(&missing);
	buf_free(&out);
}

TEST(test_pages)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		check_page(&machines[i]);
}

TEST(test_json)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		check_json(&machines[i]);
}
