// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No figure that cannot be: while kernels book waits from stale stamps, nothing is shown that is
 * longer than the interval for each thread, and what can be is not lost.
 */
#include "tests/lib/parse.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/reader.h"

/* Threads of load_io's processes: the one that stays, and the short ones. */
#define STAYS 9
#define SHORT 3

static const char *const kinds[] = { "cpu",    "blkio",	  "swapin", "reclaim",
				     "thrash", "compact", "wpcopy", "irq" };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* What was met. */
struct met {
	unsigned rows, known;
	bool noted;
	uint64_t waited;
};

/* So many threads the row stands for; 0: not one of the load's. */
static double threads_of(json_t *task)
{
	const char *comm = member_text(task, "comm");
	json_t *members = json_object_get(task, "members");
	double tasks = members ? (double)json_integer_value(members) : 1;

	if (!strcmp(comm, "load_io"))
		return STAYS * tasks;
	return strcmp(comm, "load_short") ? 0 : SHORT * tasks;
}

/* Asserts that a figure is unknown or can be. */
static void check_ns(json_t *value, double most, const char *what, json_t *task)
{
	if (json_is_integer(value) && (double)json_integer_value(value) > most * 1.01 + 2e6)
		fail_msg("%s %s: %.0f ms where %.0f have passed", member_text(task, "comm"), what,
			 (double)json_integer_value(value) / 1e6, most / 1e6);
}

/* One row: in the interval, booked and waited, and in its life. */
static void check_task(json_t *sample, json_t *task, struct met *met)
{
	double threads = threads_of(task), interval = member_real(sample, "interval") * 1e9;
	double age = (member_real(sample, "time") - member_real(task, "start")) * 1e9 + interval;

	if (threads <= 0)
		return;
	for (unsigned k = 0; k < KINDS; k++) {
		json_t *delta = json_object_get(json_object_get(task, "delta"), kinds[k]);
		json_t *life = json_object_get(json_object_get(task, "cumulative"), kinds[k]);

		check_ns(json_object_get(delta, "ns"), interval * threads, kinds[k], task);
		check_ns(json_object_get(json_object_get(task, "waited"), kinds[k]),
			 interval * threads, kinds[k], task);
		check_ns(json_object_get(life, "ns"), age * threads, kinds[k], task);
		check_ns(json_object_get(life, "max_ns"), age, kinds[k], task);
	}
	if (strcmp(member_text(task, "comm"), "load_io") != 0)
		return;
	met->rows++;
	if (kind_unset(task, "delta", "blkio", "ns"))
		return;
	met->known++;
	met->waited += kind_value(task, "delta", "blkio", "ns");
}

/* The sum rows of text samples, against all that can be. */
static void check_text(struct e2e_proc *p)
{
	struct e2e_result r;
	struct text text;

	e2e_finish(p, 60, &r);
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, &text);
	for (size_t i = 0; i < text.n; i++) {
		const char *cell = text.v[i].sum.cell[2];

		assert_true(!strcmp(cell, "-") ||
			    (!strpbrk(cell, "k>") && atof(cell) <= 600.0 * STAYS));
	}
}

/* The tasks of all samples of a source; false: it cannot be had. */
static bool check_json(struct e2e_proc *p, struct met *met)
{
	struct e2e_result r;
	struct samples s;
	json_t *task;
	size_t at;

	e2e_finish(p, 60, &r);
	if (r.status)
		return false;
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 6);
	for (size_t n = 0; n < s.n; n++) {
		met->noted |= note_of(s.v[n], "stale-stamp") != NULL;
		json_array_foreach(json_object_get(s.v[n], "tasks"), at, task)
			check_task(s.v[n], task, met);
	}
	return true;
}

/* By all sources, processes and threads; the kernel is known to get some wrong. */
E2E_TEST(test_possible)
{
	static const char *const sources[] = { "taskstats", "procfs", "bpf", "bpf -H" };
	struct e2e_proc json[ARRAY_SIZE(sources)], text[ARRAY_SIZE(sources)];
	bool is_there[ARRAY_SIZE(sources)];
	struct met met = { 0 };

	e2e_require();
	assert_true(e2e_load(NULL, "load_io %s", e2e_folder()) > 0);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		e2e_start_stalltop(
			&json[i], NULL,
			e2e_format("-b -n 6 -d 0.5 -o json -m ^load_ --source %s", sources[i]));
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		is_there[i] = check_json(&json[i], &met) && !strchr(sources[i], ' ');
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (is_there[i])
			e2e_start_stalltop(&text[i], NULL,
					   e2e_format("-b -n 3 -d 0.5 -U ms --source %s "
						      "-m ^load_io$ -F pid,total,blkio,comm",
						      sources[i]));
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (is_there[i])
			check_text(&text[i]);
	/* Bookings that cannot be are few: the kind is not lost for good. */
	assert_true(met.rows > 0 && met.known * 4 >= met.rows * 3 && met.waited);
	printf("# %u of %u rows known, bookings left out: %s\n", met.known, met.rows,
	       met.noted ? "yes" : "no");
}

/* Intervals that the independent reader watches, and how often it reads meanwhile. */
#define WATCHED 8
#define INTERVAL 0.5
#define POLL 0.02
#define POLLS 400

/* What the reader saw of one thread: the possible bookings so far, by wall clock. */
struct watched {
	pid_t tid;
	uint64_t last_ns;
	size_t n;
	double at[POLLS];
	uint64_t sum_ns[POLLS];
};

/* Finds the threads of a process. */
static size_t find_threads(pid_t pid, struct watched *threads, size_t room)
{
	DIR *dir = opendir(e2e_format("/proc/%d/task", (int)pid));
	struct dirent *entry;
	size_t n = 0;

	assert_non_null(dir);
	while (n < room && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			threads[n++] = (struct watched){ .tid = atoi(entry->d_name) };
	closedir(dir);
	return n;
}

/* Reads the threads' blkio; what was booked between two readings and is above the interval is out.
 */
static void poll_threads(struct watched *threads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct watched *t = &threads[i];
		struct reader_record rec;
		uint64_t grown;

		assert_int_equal(reader_pid(t->tid, &rec), 0);
		grown = rec.kind[1].ns - t->last_ns;
		t->last_ns = rec.kind[1].ns;
		if (t->n == POLLS)
			continue;
		t->at[t->n] = e2e_wall();
		t->sum_ns[t->n] = t->n ? t->sum_ns[t->n - 1] : 0;
		if (t->n && (double)grown <= INTERVAL * 1e9)
			t->sum_ns[t->n] += grown;
		t->n++;
	}
}

/* What the reader saw of the thread by its last reading before then, or the first one after. */
static double seen_before(const struct watched *t, double at)
{
	size_t i = 0;

	while (i + 1 < t->n && t->at[i + 1] <= at)
		i++;
	return (double)t->sum_ns[i];
}

static double seen_after(const struct watched *t, double at)
{
	size_t i = 0;

	while (i + 1 < t->n && t->at[i] < at)
		i++;
	return (double)t->sum_ns[i];
}

/*
 * Compares the rows of one thread with what the reader saw in their intervals. When between its
 * readings something was booked the reader does not know, nor when within a sample the thread was
 * read.
 */
static void check_thread(const struct samples *s, const struct watched *t, double *seen_ns,
			 double *shown_ns)
{
	double slack = 2 * POLL;

	for (size_t n = 0; n < s->n; n++) {
		double end = member_real(s->v[n], "time");
		double start = end - member_real(s->v[n], "interval");
		json_t *task = task_of(s->v[n], t->tid);
		double all_ns = (end - start) * 1e9,
		       seen = seen_before(t, end) - seen_before(t, start);
		double least = seen_before(t, end - slack) - seen_after(t, start + slack);
		double most = seen_after(t, end + slack) - seen_before(t, start - slack), shown;

		if (!task || kind_unset(task, "delta", "blkio", "ns"))
			continue;
		shown = (double)kind_value(task, "delta", "blkio", "ns");
		/* Several bookings may be possible one by one, but not together. */
		least = least > all_ns ? all_ns : least;
		if (shown < least - slack * 1e9 || shown > most + slack * 1e9)
			fail_msg("thread %d shows %.1f ms of %.1f to %.1f", (int)t->tid,
				 shown / 1e6, least / 1e6, most / 1e6);
		*seen_ns += seen > all_ns ? all_ns : seen;
		*shown_ns += shown;
	}
}

/* Watches the threads of a load while the program runs, and compares. */
static void compare(const char *source, pid_t pid)
{
	struct watched threads[2 * STAYS] = { 0 };
	double seen = 0, shown = 0, until;
	size_t n = find_threads(pid, threads, ARRAY_SIZE(threads));
	struct e2e_proc p;
	struct e2e_result r;
	struct samples s;

	assert_int_equal(n, STAYS);
	poll_threads(threads, n);
	e2e_start_stalltop(&p, NULL,
			   e2e_format("--measure no -b -H -n %d -d %.1f -o json -p %d --source %s",
				      WATCHED, INTERVAL, (int)pid, source));
	until = e2e_now() + WATCHED * INTERVAL + 1;
	while (e2e_now() < until) {
		poll_threads(threads, n);
		e2e_sleep(POLL);
	}
	e2e_finish(&p, 30, &r);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, WATCHED);
	for (size_t i = 0; i < n; i++)
		check_thread(&s, &threads[i], &seen, &shown);
	/* The edges of intervals cancel out over many. */
	assert_true(shown > 0.9 * seen && shown < 1.1 * seen && seen > 0);
	printf("# %s: %.0f ms shown, %.0f seen by the reader\n", source, shown / 1e6, seen / 1e6);
}

/* What the program shows is what an independent reader sees that drops what cannot be. */
static void compare_sources(const char *const *sources)
{
	pid_t pid;

	assert_int_equal(reader_open(), 0);
	pid = e2e_load(NULL, "load_io %s", e2e_folder());
	assert_true(pid > 0);
	for (; *sources; sources++)
		compare(*sources, pid);
	reader_close();
}

E2E_TEST(test_none_lost)
{
	e2e_require();
	compare_sources((const char *const[]){ "taskstats", "procfs", NULL });
}

E2E_TEST(test_none_lost_bpf)
{
	e2e_require_bpf();
	compare_sources((const char *const[]){ "bpf", NULL });
}
