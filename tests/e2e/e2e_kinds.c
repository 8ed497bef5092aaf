// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each kind of delay, provoked: the task that waits leads its column, and what is
 * printed lies between two readings that have nothing in common with the program.
 */
#include "tests/lib/box.h"
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64

/* The same readings for a process's row or for all of its threads' rows. */
struct readings {
	size_t n;
	pid_t id[MAX_THREADS];
	struct reader_record rec[MAX_THREADS];
};

/* By TGID for the process, by PID for each thread. */
static void read_all(pid_t pid, bool threads, struct readings *r)
{
	size_t i;

	r->n = threads ? e2e_threads(pid, r->id, MAX_THREADS) : 1;
	if (!threads)
		r->id[0] = pid;
	assert_true(r->n > 0);
	for (i = 0; i < r->n; i++) {
		int err = threads ? reader_pid(r->id[i], &r->rec[i])
				  : reader_tgid(r->id[i], &r->rec[i]);

		assert_int_equal(err, 0);
	}
}

/* before <= first sample <= second sample <= after, for every kind of the row. */
static void check_between(struct samples *s, const struct reader_record *before,
			  const struct reader_record *after, pid_t id)
{
	json_t *first = task_must(s->v[0], id), *second = task_must(s->v[1], id);
	size_t i;

	for (i = 0; i < READER_KINDS; i++) {
		const char *kind = reader_kind_names[i];
		uint64_t v[4], n[4];
		int j;

		if (kind_unset(first, "cumulative", kind, "ns"))
			continue;
		v[0] = before->kind[i].ns;
		v[1] = kind_value(first, "cumulative", kind, "ns");
		v[2] = kind_value(second, "cumulative", kind, "ns");
		v[3] = after->kind[i].ns;
		n[0] = before->kind[i].count;
		n[1] = kind_value(first, "cumulative", kind, "count");
		n[2] = kind_value(second, "cumulative", kind, "count");
		n[3] = after->kind[i].count;
		for (j = 0; j < 3; j++)
			if (v[j] > v[j + 1] || n[j] > n[j + 1])
				fail_msg("%s of %d: %ju <= %ju <= %ju <= %ju ns, %ju <= %ju <= %ju "
					 "<= %ju waits does not hold",
					 kind, (int)id, v[0], v[1], v[2], v[3], n[0], n[1], n[2],
					 n[3]);
	}
}

/* One delta against the difference of two printed totals. */
static void check_delta(json_t *older, json_t *task, const char *kind, const char *what)
{
	uint64_t a = 0, b, delta;

	if (kind_unset(task, "delta", kind, what))
		return;
	if (older)
		a = kind_value(older, "cumulative", kind, what);
	b = kind_value(task, "cumulative", kind, what);
	delta = kind_value(task, "delta", kind, what);
	/* the total of a healthy process may fall a little while a thread exits */
	if (delta != (b >= a ? b - a : 0))
		fail_msg("%s %s of %ju (%s): total %ju, then %ju, but delta %ju", kind, what,
			 member_u64(task, "pid"), member_text(task, "comm"), a, b, delta);
}

/* Every task of a sample against the sample before: deltas are exact differences. */
static size_t check_deltas(json_t *previous, json_t *sample)
{
	size_t i, k, checked = 0;
	struct task_index index;
	json_t *task;

	index_tasks(previous, &index);
	json_array_foreach(json_object_get(sample, "tasks"), i, task)
	{
		json_t *older = indexed_task(&index, member_u64(task, "pid"));
		bool born = json_is_true(json_object_get(task, "new"));

		if (born)
			older = NULL;
		else if (!older || json_is_true(json_object_get(task, "exited")))
			continue;
		for (k = 0; k < READER_KINDS; k++) {
			const char *kind = reader_kind_names[k];

			if (older && kind_unset(older, "cumulative", kind, "ns"))
				continue;
			check_delta(older, task, kind, "ns");
			check_delta(older, task, kind, "count");
		}
		checked++;
	}
	return checked;
}

/*
 * What a row has waited. 0 where it is unset: the kernel may take the time since
 * boot for a wait for a disk of a task that shares its CPU.
 */
static uint64_t waited(json_t *task, const char *kind)
{
	return kind_unset(task, "delta", kind, "ns") ? 0 : kind_value(task, "delta", kind, "ns");
}

/* Whether the first row belongs to the load, which has waited. */
static bool leads(json_t *sample, pid_t pid, const char *kind, bool threads, bool workers)
{
	json_t *top = json_array_get(json_object_get(sample, "tasks"), 0);

	assert_non_null(top);
	if (member_u64(top, "tgid") != (uint64_t)pid || !waited(top, kind)) {
		printf("# %s: %s (%ju) leads with %ju ns, the load has %ju ns\n", kind,
		       member_text(top, "comm"), member_u64(top, "pid"), waited(top, kind),
		       waited(task_must(sample, pid), kind));
		return false;
	}
	assert_true(kind_value(top, "delta", kind, "count") > 0);
	if (!threads)
		assert_int_equal(member_u64(top, "pid"), pid);
	else if (workers)
		assert_int_not_equal(member_u64(top, "pid"), pid);
	return true;
}

/* The longest wait: of a thread as the kernel says it, of a process only when asked for. */
static void check_max(json_t *task, const struct reader_record *before,
		      const struct reader_record *after, bool threads)
{
	size_t i;

	for (i = 0; i < READER_KINDS; i++) {
		const char *kind = reader_kind_names[i];
		uint64_t max;

		if (!threads)
			assert_true(kind_unset(task, "cumulative", kind, "max_ns"));
		if (!threads || after->version < 15 || kind_unset(task, "cumulative", kind, "ns"))
			continue;
		max = kind_value(task, "cumulative", kind, "max_ns");
		assert_in_range(max, before->kind[i].max_ns, after->kind[i].max_ns);
	}
}

/* A run in one way of grouping, and what was read before it. */
struct run {
	bool threads;
	struct readings before;
	struct e2e_proc p;
};

/* Begins it. */
static void begin(struct run *run, pid_t pid, const char *kind)
{
	read_all(pid, run->threads, &run->before);
	e2e_start_stalltop(&run->p, NULL,
			   e2e_format("--measure no -b -n 2 -d 1 -o json -s %s -g %s", kind,
				      run->threads ? "thread" : "process"));
}

/* Ends it; whether the load led in both samples. */
static bool check_run(struct run *run, pid_t pid, const char *kind, bool workers)
{
	struct readings *before = &run->before, after;
	bool threads = run->threads;
	struct e2e_result r;
	struct samples s;

	e2e_finish(&run->p, 60, &r);
	read_all(pid, threads, &after);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 2);
	for (size_t i = 0; i < before->n; i++) {
		pid_t id = before->id[i];

		assert_int_equal(id, after.id[i]);
		check_between(&s, &before->rec[i], &after.rec[i], id);
		check_max(task_must(s.v[1], id), &before->rec[i], &after.rec[i], threads);
	}
	assert_true(check_deltas(s.v[0], s.v[1]) >= before->n);
	return leads(s.v[0], pid, kind, threads, workers) &&
	       leads(s.v[1], pid, kind, threads, workers);
}

/*
 * Both groupings side by side. Something else may wait for longer once, or the kernel book what
 * cannot be, but not every time.
 */
static void check_modes(pid_t pid, const char *kind, bool workers)
{
	struct run runs[] = { { .threads = false }, { .threads = true } };
	bool led[2] = { false };

	for (int i = 0; i < 10 && !(led[0] && led[1]); i++) {
		for (int k = 0; k < 2; k++)
			begin(&runs[k], pid, kind);
		for (int k = 0; k < 2; k++)
			led[k] |= check_run(&runs[k], pid, kind, workers);
	}
	if (!led[0] || !led[1])
		fail_msg("the load never leads the column of %s", kind);
}

/* A load in a memory cgroup of its own, or in none. */
static void check_kind(const char *test, const char *kind, unsigned int mib, const char *options,
		       bool workers)
{
	char cgroup[300];
	struct e2e_how how = { 0 };
	pid_t pid;

	if (mib) {
		e2e_need_test(test, box_cgroup(mib, cgroup, sizeof(cgroup)), "no memory cgroup");
		how.cgroup = cgroup;
	}
	pid = e2e_load(&how, "load_kind -d %s %s%s", e2e_folder(), options, kind);
	if (!pid)
		e2e_skip_test(test, "the load cannot be made");
	check_modes(pid, kind, workers);
}

/* Twelve threads spin on one CPU. */
E2E_TEST(test_cpu)
{
	e2e_require();
	check_kind(__func__, "cpu", 0, "", false);
}

/* Direct reads. */
E2E_TEST(test_blkio)
{
	e2e_require();
	check_kind(__func__, "blkio", 0, "", false);
}

/* Memory that is swapped out and in, with swap in memory. */
E2E_TEST(test_swapin)
{
	e2e_require();
	e2e_need(box_zram_swap(256), "no zram");
	check_kind(__func__, "swapin", 64, "", false);
}

/* The page cache grows inside a cgroup. */
E2E_TEST(test_reclaim)
{
	e2e_require();
	check_kind(__func__, "reclaim", 32, "", false);
}

/* A file that is read again and again does not fit. */
E2E_TEST(test_thrash)
{
	e2e_require();
	check_kind(__func__, "thrash", 32, "", false);
}

/* Huge pages are wanted when none is left. */
E2E_TEST(test_compact)
{
	e2e_require();
	e2e_need(box_no_background_compaction(), "no background compaction");
	check_kind(__func__, "compact", 256, "", false);
}

/* Writes to pages of a file that are the task's own. */
E2E_TEST(test_wpcopy)
{
	e2e_require();
	check_kind(__func__, "wpcopy", 0, "", false);
}

/* The leader sleeps; only its workers wait for a CPU. */
E2E_TEST(test_cpu_workers)
{
	e2e_require();
	check_kind(__func__, "cpu", 0, "-w 12 ", true);
}

/*
 * The leader sleeps; only its worker waits for the disk. Of several that want the same CPU the
 * kernel (6.12 on) books more than there was.
 */
E2E_TEST(test_blkio_workers)
{
	e2e_require();
	check_kind(__func__, "blkio", 0, "-w 1 ", true);
}
