// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows folded into groups: what a group shows is what its members show, each counted once. What
 * different runs print can be compared to the digit where counters stand still.
 */
#include "tests/lib/box.h"
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CSV_HEAD \
	"time,interval,group,members," \
	"cpu_count,cpu_ns,blkio_count,blkio_ns,swapin_count,swapin_ns," \
	"reclaim_count,reclaim_ns,thrash_count,thrash_ns," \
	"compact_count,compact_ns,wpcopy_count,wpcopy_ns,irq_count,irq_ns,run_ns," \
	"cpu_waited_ns,blkio_waited_ns,swapin_waited_ns,reclaim_waited_ns,thrash_waited_ns," \
	"compact_waited_ns,wpcopy_waited_ns,irq_waited_ns,dwait_waited_ns,wait_ns"

/* Names that do harm where they are not escaped or quoted, and as they are to be shown. */
#define NAME_CSV "612c6222632c" /* a,b"c, */
#define NAME_CONTROL "1b5b33316d0a0d01"
#define NAME_INVALID "fffe80c3"
#define SHOWN_CSV "a,b\"c,"
#define SHOWN_CONTROL "\\x1b[31m\\x0a\\x0d\\x01"
#define SHOWN_INVALID "\\xff\\xfe\\x80\\xc3"

/* How rows are grouped, and the member of a task's row that says which group it is in. */
static const struct grouping {
	const char *by, *key, *plural;
} groupings[] = {
	{ "user", "user", "users" },
	{ "command", "comm", "commands" },
	{ "cgroup", "cgroup", "cgroups" },
};

#define GROUPINGS (sizeof(groupings) / sizeof(groupings[0]))

/* Tasks of several users, names and cgroups, that have waited and now stand still. */
struct still {
	const char *pids;
	const char *hierarchy;
	const char *group;
};

/* Starts and stops them. */
static void start_still(const char *test, struct still *still)
{
	static const char *const loads[] = { "load_kind -d %s mix", "load_kind -d %s -w 3 wpcopy",
					     "load_kind -d %s -w 2 cpu" };
	/* cpu, blkio and wpcopy */
	static const uint32_t waits[] = { 1U << 0 | 1U << 1 | 1U << 6, 1U << 6, 1U << 0 };
	const char *path, *names, *space;
	struct e2e_how how = { 0 };
	struct reader_record record;
	pid_t pid[3];

	still->group = e2e_group_name("still");
	path = e2e_quiet_group(test, still->group, &still->hierarchy);
	still->pids = "";
	for (unsigned i = 0; i < 3; i++) {
		how = (struct e2e_how){ .cgroup = i ? path : NULL, .uid = i == 2 ? NOBODY : 0 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		pid[i] = e2e_load(&how, loads[i], e2e_folder());
#pragma GCC diagnostic pop
		assert_true(pid[i] > 0);
		still->pids = e2e_format("%s%d,", still->pids, (int)pid[i]);
	}
	for (unsigned i = 0; i < 3; i++) {
		e2e_await_waits(pid[i], waits[i], &record);
		e2e_stop(pid[i]);
	}
	assert_true(e2e_load(NULL, "load_names %s %s %s", NAME_CSV, NAME_CONTROL, NAME_INVALID) >
		    0);
	names = e2e_load_line();
	for (; *names; names = space + strspn(space, " ")) {
		space = names + strcspn(names, " ");
		still->pids = e2e_format("%s%.*s%s", still->pids, (int)(space - names), names,
					 *space ? "," : "");
	}
}

/* What members add up to. */
struct sum {
	uint64_t members, run, user, system;
	struct {
		bool set;
		uint64_t count, ns;
	} kind[2][READER_KINDS];
	double total, mem, worst;
};

static const char *const sides[] = { "delta", "cumulative" };

/* A figure that may be unknown. */
static uint64_t known(json_t *row, const char *name)
{
	return json_is_null(json_object_get(row, name)) ? 0 : member_u64(row, name);
}

/* Adds up the tasks that the grouping puts into a group. */
static void add_up(json_t *tasks, const char *key, const char *name, struct sum *sum)
{
	json_t *task;
	size_t i;

	*sum = (struct sum){ 0 };
	json_array_foreach(tasks, i, task)
	{
		json_t *fields = json_object_get(task, "fields");

		if (strcmp(text_or_none(task, key), name) != 0)
			continue;
		sum->members++;
		sum->run += known(task, "run_ns");
		sum->user += known(task, "user_ns");
		sum->system += known(task, "system_ns");
		sum->total += member_real(fields, "total");
		sum->mem += json_number_value(json_object_get(fields, "mem"));
		if (member_real(fields, "total") > sum->worst)
			sum->worst = member_real(fields, "total");
		for (unsigned k = 0; k < 2 * READER_KINDS; k++) {
			const char *side = sides[k / READER_KINDS];
			const char *kind = reader_kind_names[k % READER_KINDS];

			/* What cannot have been waited is unknown, and left out. */
			if (kind_unset(task, side, kind, "ns"))
				continue;
			sum->kind[k / READER_KINDS][k % READER_KINDS].set = true;
			sum->kind[k / READER_KINDS][k % READER_KINDS].ns +=
				kind_value(task, side, kind, "ns");
			if (!kind_unset(task, side, kind, "count"))
				sum->kind[k / READER_KINDS][k % READER_KINDS].count +=
					kind_value(task, side, kind, "count");
		}
	}
}

/* The member that a group names as its worst is one that has waited as long as any. */
static void check_worst(json_t *tasks, const char *key, const char *name, json_t *group,
			const struct sum *sum)
{
	json_t *worst = json_object_get(json_object_get(group, "fields"), "worst"), *task;
	size_t i;

	if (sum->worst <= 0) {
		assert_true(json_is_null(worst));
		return;
	}
	json_array_foreach(
		tasks, i, task) if (!strcmp(text_or_none(task, key), name) &&
				    !strcmp(text_or_none(task, "comm"), json_string_value(worst)) &&
				    member_real(json_object_get(task, "fields"), "total") >=
					    sum->worst) return;
	fail_msg("%s is not the worst of %s", json_string_value(worst), name);
}

/* A group against what its members add up to. */
static void check_group(json_t *tasks, const struct grouping *grouping, json_t *group)
{
	const char *name = text_or_none(group, "group");
	json_t *fields = json_object_get(group, "fields");
	struct sum sum;

	add_up(tasks, grouping->key, name, &sum);
	assert_int_equal(member_u64(group, "members"), sum.members);
	assert_int_equal(known(group, "run_ns"), sum.run);
	assert_int_equal(known(group, "user_ns"), sum.user);
	assert_int_equal(known(group, "system_ns"), sum.system);
	assert_float_equal(member_real(fields, "total"), sum.total, 1e-6);
	assert_float_equal(json_number_value(json_object_get(fields, "mem")), sum.mem, 1e-6);
	check_worst(tasks, grouping->key, name, group, &sum);
	for (unsigned k = 0; k < 2 * READER_KINDS; k++) {
		const char *side = sides[k / READER_KINDS];
		const char *kind = reader_kind_names[k % READER_KINDS];
		uint64_t ns = sum.kind[k / READER_KINDS][k % READER_KINDS].ns;
		uint64_t count = sum.kind[k / READER_KINDS][k % READER_KINDS].count;

		assert_int_equal(kind_unset(group, side, kind, "ns"),
				 !sum.kind[k / READER_KINDS][k % READER_KINDS].set);
		if (kind_unset(group, side, kind, "ns"))
			continue;
		if (kind_value(group, side, kind, "ns") != ns ||
		    (!kind_unset(group, side, kind, "count") &&
		     kind_value(group, side, kind, "count") != count))
			fail_msg("%s of %s %s: %ju ns, the members have %ju", kind, grouping->by,
				 name, kind_value(group, side, kind, "ns"), ns);
	}
}

/* All groupings of the same tasks, by one source, since their starts or of an interval. */
static void check_sums(const struct still *still, const char *options)
{
	const char *all = e2e_format("%s --cgroup-hierarchy %s -U ms -p %s", options,
				     still->hierarchy, still->pids);
	json_t *tasks =
		json_object_get(parse_one(e2e_format("-F total,mem,cgroup %s", all)), "tasks");

	/* The three that work, and load_names' three. */
	assert_int_equal(json_array_size(tasks), 6);
	for (unsigned g = 0; g < GROUPINGS; g++) {
		json_t *sample = parse_one(
			       e2e_format("-g %s -F total,mem,worst %s", groupings[g].by, all)),
		       *group;
		uint64_t members = 0;
		size_t i;

		assert_string_equal(member_text(sample, "group_by"), groupings[g].by);
		json_array_foreach(json_object_get(sample, "tasks"), i, group)
		{
			assert_null(json_object_get(group, "pid"));
			assert_null(json_object_get(group, "comm"));
			check_group(tasks, &groupings[g], group);
			members += member_u64(group, "members");
		}
		assert_int_equal(members, 6);
		assert_true(i > 1);
	}
}

/* A group's figures are its members' added up, whatever they come from. */
E2E_TEST(test_sums)
{
	static const char *const sources[] = { "taskstats", "procfs", "bpf" };
	struct still still;

	e2e_require();
	start_still(__func__, &still);
	for (unsigned i = 0; i < 3; i++) {
		struct e2e_result r;

		e2e_run(&r, NULL, "-b -n 1 -d 0.1 --source %s", sources[i]);
		if (r.status)
			continue;
		check_sums(&still, e2e_format("--source %s", sources[i]));
		check_sums(&still, e2e_format("--source %s --since-start", sources[i]));
	}
}

/* A group of one process: its totals lie between two readings, its deltas are differences. */
E2E_TEST(test_deltas)
{
	struct reader_record before, after;
	const char *hierarchy, *name = e2e_group_name("load"), *path;
	struct e2e_how how = { 0 };
	struct e2e_result r;
	struct samples s;
	pid_t pid;

	e2e_require();
	path = e2e_quiet_group(__func__, name, &hierarchy);
	how.cgroup = path;
	pid = e2e_load(&how, "load_kind -d %s mix", e2e_folder());
	assert_true(pid > 0);
	assert_int_equal(reader_tgid(pid, &before), 0);
	e2e_run(&r, NULL, "-b -n 2 -d 1 -o json -g cgroup --cgroup-hierarchy %s", hierarchy);
	assert_int_equal(reader_tgid(pid, &after), 0);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 2);
	for (unsigned k = 0; k < READER_KINDS; k++) {
		const char *kind = reader_kind_names[k];
		json_t *first = group_of(s.v[0], e2e_format("/%s", name));
		json_t *second = group_of(s.v[1], e2e_format("/%s", name));
		uint64_t a, b;

		assert_non_null(first);
		assert_non_null(second);
		assert_int_equal(member_u64(second, "members"), 1);
		if (kind_unset(first, "delta", kind, "ns") ||
		    kind_unset(second, "delta", kind, "ns"))
			continue;
		/* a wait that the kernel booked from a stale stamp is left out of the sum */
		if (kind_unset(first, "cumulative", kind, "ns") ||
		    kind_unset(second, "cumulative", kind, "ns")) {
			assert_string_equal(kind, "blkio");
			continue;
		}
		a = kind_value(first, "cumulative", kind, "ns");
		b = kind_value(second, "cumulative", kind, "ns");
		assert_true(before.kind[k].ns <= a && a <= b && b <= after.kind[k].ns);
		assert_int_equal(kind_value(second, "delta", kind, "ns"), b - a);
		/* It waits for a CPU, for the disk and for pages that are copied. */
		if (k == 0 || k == 6)
			assert_true(b > a);
	}
}

/* CSV: one head, a record a group, hostile names kept in their cells. */
E2E_TEST(test_csv)
{
	static const char *const shown[] = { SHOWN_CSV, SHOWN_CONTROL, SHOWN_INVALID };
	struct e2e_result r;
	struct still still;
	struct csv csv;

	e2e_require();
	start_still(__func__, &still);
	e2e_run(&r, NULL, "-b -n 2 -d 0.2 -o csv -g command -p %s", still.pids);
	check_silent_success(&r);
	assert_memory_equal(r.out.data, CSV_HEAD "\r\n", strlen(CSV_HEAD "\r\n"));
	parse_csv(r.out.data, r.out.len, &csv);
	assert_int_equal(csv.rows, 1 + 2 * 4);
	for (unsigned i = 0; i < 3; i++) {
		unsigned n = 0;

		for (size_t row = 1; row < csv.rows; row++) {
			if (strcmp(csv_cell(&csv, row, "group"), shown[i]) != 0)
				continue;
			n++;
			assert_string_equal(csv_cell(&csv, row, "members"), "1");
			assert_string_equal(csv_cell(&csv, row, "cpu_ns"), "0");
		}
		assert_int_equal(n, 2);
	}
	for (size_t i = 0; i < r.out.len; i++)
		assert_true((unsigned char)r.out.data[i] >= ' ' || strchr("\r\n", r.out.data[i]));
	/* Fields that are named follow. */
	e2e_run(&r, NULL, "-b -n 1 -d 0.2 -o csv -g user -F members,total,worst,run -p %s",
		still.pids);
	check_silent_success(&r);
	assert_memory_equal(r.out.data, CSV_HEAD ",total,worst\r\n",
			    strlen(CSV_HEAD ",total,worst\r\n"));
}

/* A cgroup's name may hold any bytes but a newline and a slash. */
E2E_TEST(test_hostile_cgroup)
{
	const char *hierarchy, *suffix = "x,\"\x1b[31m\xff\xc2\x9b", *path, *shown;
	struct e2e_how how = { 0 };
	struct e2e_result r;
	struct csv csv;
	bool found = false;
	json_t *group;
	pid_t pid;

	e2e_require();
	path = e2e_quiet_group(__func__, e2e_group_name(suffix), &hierarchy);
	shown = e2e_format("/%s", e2e_group_name("x,\"\\x1b[31m\\xff\\u{009b}"));
	how.cgroup = path;
	pid = e2e_load(&how, "load_sleepers 2");
	assert_true(pid > 0);
	group = group_of(parse_one(e2e_format("-g cgroup --cgroup-hierarchy %s", hierarchy)),
			 shown);
	assert_non_null(group);
	assert_int_equal(member_u64(group, "members"), 3);
	e2e_run(&r, NULL, "-b -n 1 -d 0.2 -o csv -g cgroup --cgroup-hierarchy %s", hierarchy);
	check_silent_success(&r);
	parse_csv(r.out.data, r.out.len, &csv);
	for (size_t row = 1; row < csv.rows; row++)
		found |= !strcmp(csv_cell(&csv, row, "group"), shown);
	assert_true(found);
	e2e_run(&r, NULL, "-b -n 1 -d 0.2 -g cgroup --cgroup-hierarchy %s", hierarchy);
	check_silent_success(&r);
	assert_non_null(strstr(r.out.data, shown));
	for (size_t i = 0; i < r.out.len; i++)
		assert_true((unsigned char)r.out.data[i] >= ' ' || r.out.data[i] == '\n');
}

/* A group that is renamed has its new name within seconds, also where its tasks only sleep. */
E2E_TEST(test_renamed)
{
	static const char *const sources[] = { "bpf", "taskstats" };
	const char *hierarchy, *name = e2e_group_name("old"), *path, *moved, *shown;
	struct e2e_how how = { 0 };
	pid_t pid;

	e2e_require_bpf();
	path = e2e_quiet_group(__func__, name, &hierarchy);
	moved = e2e_format("%.*s/%s", (int)(strrchr(path, '/') - path), path,
			   e2e_group_name("new"));
	shown = e2e_format("/%s", e2e_group_name("new"));
	how.cgroup = path;
	pid = e2e_load(&how, "load_sleepers 1");
	assert_true(pid > 0);
	for (size_t i = 0; i < 2; i++) {
		struct e2e_result r;
		struct e2e_proc p;
		const char *line;
		double until;

		e2e_start_stalltop(&p, NULL,
				   e2e_format("-b -d 0.2 -o csv -F +cgroup --cgroup-hierarchy %s "
					      "--source %s -p %d",
					      hierarchy, sources[i], (int)pid));
		assert_true(e2e_skip_line(&p, 20) && e2e_skip_line(&p, 20));
		assert_int_equal(rename(path, moved), 0);
		for (until = e2e_now() + 10; (line = e2e_line(&p, 20)) && e2e_now() < until;)
			if (strstr(line, shown))
				break;
		rename(moved, path);
		kill(p.pid, SIGTERM);
		e2e_finish(&p, 20, &r);
		assert_true(e2e_now() < until);
	}
}

/* Text: the group last in its row, and a sum row that counts them. */
E2E_TEST(test_text)
{
	struct e2e_result r;
	struct still still;

	e2e_require();
	start_still(__func__, &still);
	for (unsigned g = 0; g < GROUPINGS; g++) {
		const struct text_sample *sample;
		struct text text;
		double members = 0;

		e2e_run(&r, NULL, "-b -n 1 -d 0.2 -g %s --cgroup-hierarchy %s -p %s -s members",
			groupings[g].by, still.hierarchy, still.pids);
		check_silent_success(&r);
		parse_text(r.out.data, r.out.len, &text);
		assert_int_equal(text.n, 1);
		sample = &text.v[0];
		assert_string_equal(sample->heads.cell[0], "N");
		assert_string_equal(sample->heads.cell[sample->heads.n - 1], "GROUP");
		for (size_t i = 0; i < sample->rows; i++) {
			double n = atof(sample->row[i].cell[0]);

			assert_int_equal(sample->row[i].n, sample->heads.n);
			/* sorted by it, the largest first */
			assert_true(!i || n <= atof(sample->row[i - 1].cell[0]));
			members += n;
		}
		assert_int_equal(members, 6);
		assert_string_equal(sample->sum.cell[0], "=");
		assert_string_equal(sample->sum.cell[1], "6");
		assert_non_null(strstr(
			sample->sum.line,
			e2e_format(" %zu %s", sample->rows,
				   sample->rows == 1 ? groupings[g].by : groupings[g].plural)));
	}
}

/* The number of rows, and of tasks in them. */
static void check_rows(json_t *sample, size_t rows, uint64_t members)
{
	json_t *group;
	size_t i;

	assert_int_equal(json_array_size(json_object_get(sample, "tasks")), rows);
	json_array_foreach(json_object_get(sample, "tasks"), i, group) members -=
		member_u64(group, "members");
	assert_int_equal(members, 0);
}

/* Users and expressions choose members; what asks for figures chooses groups. */
E2E_TEST(test_filters)
{
	const char *all, *by;
	json_t *tasks, *task;
	double most = 0, sum = 0;
	struct still still;
	size_t i;

	e2e_require();
	start_still(__func__, &still);
	all = e2e_format("-p %s --cgroup-hierarchy %s", still.pids, still.hierarchy);
	check_rows(parse_one(e2e_format("-g command %s -u nobody", all)), 1, 1);
	check_rows(parse_one(e2e_format("-g user %s -m ^load_kind$", all)), 2, 3);
	check_rows(parse_one(e2e_format("-g cgroup %s -u root -m ^load_kind$", all)), 2, 2);
	check_rows(parse_one(e2e_format("-g cgroup %s --cgroup /%s", all, still.group)), 1, 2);
	/* Nothing happens to who stands still. */
	check_rows(parse_one(e2e_format("-g command %s -i", all)), 0, 0);
	check_rows(parse_one(e2e_format("-g command %s -i --since-start", all)), 4, 6);
	assert_int_equal(
		json_array_size(json_object_get(
			parse_one(e2e_format("-g command %s -r 1 -s members", all)), "tasks")),
		1);
	/* More than any of the three has waited, and less than they have together. */
	by = e2e_format("%s --since-start -U ms -F total", all);
	tasks = json_object_get(parse_one(e2e_format("-m ^load_kind$ %s", by)), "tasks");
	assert_int_equal(json_array_size(tasks), 3);
	json_array_foreach(tasks, i, task)
	{
		double total = member_real(json_object_get(task, "fields"), "total");

		most = total > most ? total : most;
		sum += total;
	}
	assert_true(most * 1.001 < sum);
	by = e2e_format("%s --over %f", by, (most + sum) / 2);
	assert_int_equal(json_array_size(json_object_get(parse_one(by), "tasks")), 0);
	check_rows(parse_one(e2e_format("-g command %s", by)), 1, 3);
}
