// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chains of waits that were planted: what the first process waits for is found at the end of the
 * chain, by whatever the processes between wait for each other, and with the shares that it has.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/box.h"
#include "tests/lib/parse.h"

/* A chain, and what its last process does. */
struct planted {
	const char *kind;
	unsigned depth, sleep_ms, run_ms, writes, hogs;
	bool quota; /* all in a group that has half a CPU */
	const char *class; /* of the wait; NULL: any that has a chain */
};

/* Work that was done, as load_chain counts it. */
enum { SLEPT, WROTE, RAN, QUEUED, WORKED, WORKS };

/* Times that a chain is looked at again where others keep its processes from their CPUs. */
#define ATTEMPTS 8

/* The most by which a share may differ, and the most that may be unexplained. */
#define DIFFERS 0.05
#define UNEXPLAINED 0.1

/* Starts a chain; the first process and the last are told. Returns whose end is theirs. */
static pid_t plant(const struct planted *planted, pid_t *first, pid_t *last)
{
	struct e2e_how how = { 0 };
	char group[4096];
	char *end;
	pid_t pid;

	if (planted->quota) {
		e2e_need(box_quota(e2e_format("chain-%s", planted->kind), "50000", group,
				   sizeof(group)),
			 "no quota of CPU time");
		how.cgroup = group;
	}
	pid = e2e_load(&how, "load_chain %s %u %u %u %s %u %u", planted->kind, planted->depth,
		       planted->sleep_ms, planted->run_ms, e2e_folder(), planted->writes,
		       planted->hogs);
	assert_true(pid > 0);
	*first = (pid_t)strtol(e2e_load_line(), &end, 10);
	*last = (pid_t)strtol(end, NULL, 10);
	assert_true(*first > 0 && *last > 0);
	return pid;
}

/* Reads what the work was so far. */
static void read_work(uint64_t worked[WORKS])
{
	FILE *file = fopen(e2e_path("work"), "re");

	assert_non_null(file);
	assert_int_equal(fread(worked, sizeof(*worked), WORKS, file), WORKS);
	fclose(file);
}

/* The site with a chain where a process waited most, in the last of some intervals; NULL: none. */
static json_t *read_site(pid_t pid, struct samples *samples)
{
	struct e2e_result r;
	json_t *site, *most = NULL;
	size_t i;

	e2e_run(&r, NULL, "-b --trace -n 2 -d 1 -o json -p %d", (int)pid);
	check_silent_success(&r);
	parse_json(&r, samples);
	assert_int_equal(samples->n, 2);
	json_array_foreach(json_object_get(samples->v[1], "sites"), i, site)
	{
		if (json_integer_value(json_object_get(site, "pid")) == pid &&
		    strcmp(text_or_none(site, "state"), "cpu") != 0 &&
		    json_is_object(json_object_get(site, "chain")) &&
		    (!most || json_integer_value(json_object_get(site, "ns")) >
				      json_integer_value(json_object_get(most, "ns"))))
			most = site;
	}
	return most;
}

/* The share of a root of a process (0: of any) in a chain; with kind NULL the sum of all. */
static double share_of(json_t *chain, const char *kind, pid_t pid)
{
	double share = 0;
	json_t *root;
	size_t i;

	json_array_foreach(json_object_get(chain, "roots"), i, root)
	{
		if ((!kind || !strcmp(text_or_none(root, "root"), kind)) &&
		    (!pid || json_integer_value(json_object_get(root, "pid")) == pid))
			share += json_number_value(json_object_get(root, "share"));
	}
	return share;
}

/*
 * Whether a chain says what the work was meanwhile. On a busy machine others of its processes wait
 * for CPUs, too, which the chain then tells: the rest must have the shares that it had.
 */
static bool is_found(json_t *chain, const struct planted *planted, const uint64_t worked[WORKS])
{
	static const char *const kinds[WORKS] = { [SLEPT] = "timer", [RAN] = "run" };
	double all = (double)worked[WORKED], queue = (double)worked[QUEUED] / all;
	double said_queue, unexplained, scale, rest, said_rest;
	bool found;

	if (!chain || !worked[WORKED])
		return false;
	assert_true(fabs(share_of(chain, NULL, 0) - 1) <= 0.01);
	unexplained = share_of(chain, "unexplained", 0);
	said_queue = share_of(chain, "queue", 0) + share_of(chain, "quota", 0);
	scale = (1 - queue) / (1 - said_queue);
	rest = 1 - queue;
	said_rest = (1 - said_queue - unexplained) * scale;
	found = said_queue >= queue - DIFFERS && unexplained <= UNEXPLAINED;
	printf("# %s %u %u %u %u %u: unexplained %.3f, queue %.3f of %.3f", planted->kind,
	       planted->depth, planted->sleep_ms, planted->run_ms, planted->writes, planted->hogs,
	       unexplained, said_queue, queue);
	for (unsigned i = 0; i < WORKS; i++) {
		double share = (double)worked[i] / all, said;

		if (!kinds[i])
			continue;
		said = share_of(chain, kinds[i], 0) * scale;
		printf(", %s %.3f of %.3f", kinds[i], said, share);
		found &= fabs(said - share) <= DIFFERS;
		rest -= share;
		said_rest -= said;
	}
	printf(", rest %.3f of %.3f\n", said_rest, rest);
	return found && fabs(said_rest - rest) <= DIFFERS;
}

/* Plants a chain, and finds its root. */
static void check(const struct planted *planted)
{
	struct samples samples;
	bool found = false;
	pid_t pid, first, last;

	e2e_require_bpf();
	pid = plant(planted, &first, &last);
	for (unsigned i = 0; i < ATTEMPTS && !found; i++) {
		uint64_t before[WORKS], worked[WORKS];
		json_t *site;

		read_work(before);
		site = read_site(first, &samples);
		read_work(worked);
		for (unsigned at = 0; at < WORKS; at++)
			worked[at] -= before[at];
		found = is_found(json_object_get(site, "chain"), planted, worked) &&
			(!planted->class || !strcmp(text_or_none(site, "class"), planted->class));
	}
	if (!found)
		fail_msg("a chain of %u by %s was not found", planted->depth, planted->kind);
	e2e_kill(pid);
}

static void check_all(const struct planted *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(&all[i]);
}

/* Each way to wait for another. */
E2E_TEST(test_ways)
{
	static const struct planted all[] = {
		{ "pipe", 1, 30, 10, 0, 0, false, NULL },
		{ "socket", 1, 30, 10, 0, 0, false, NULL },
		{ "tcp", 1, 30, 10, 0, 0, false, NULL },
		{ "eventfd", 1, 30, 10, 0, 0, false, "unknown" },
		{ "futex", 1, 30, 10, 0, 0, false, "unknown" },
		{ "semaphore", 3, 10, 5, 0, 0, false, "contended" },
		{ "flock", 1, 30, 10, 0, 0, false, "contended" },
		{ "fcntl", 1, 30, 10, 0, 0, false, NULL },
		{ "mutex", 1, 30, 10, 0, 0, false, NULL },
		{ "child", 1, 30, 10, 0, 0, false, "served" },
		{ "udp", 1, 30, 10, 0, 0, false, NULL },
		{ "condition", 1, 30, 10, 0, 0, false, NULL },
		{ "rwlock", 1, 30, 10, 0, 0, false, NULL },
		{ "signal", 1, 30, 10, 0, 0, false, NULL },
		{ "uring", 1, 30, 10, 0, 0, false, NULL },
		{ "pidfd", 1, 30, 10, 0, 0, false, NULL },
	};

	check_all(all, ARRAY_SIZE(all));
}

E2E_TEST(test_depth)
{
	static const struct planted all[] = {
		{ "pipe", 2, 20, 10, 0, 0, false, NULL },
		{ "pipe", 3, 40, 0, 0, 0, false, NULL },
		{ "pipe", 4, 20, 10, 0, 0, false, NULL },
		{ "socket", 5, 45, 5, 0, 0, false, NULL },
		{ "flock", 3, 60, 20, 0, 0, false, NULL },
		{ "futex", 3, 30, 10, 0, 0, false, "unknown" },
		{ "mutex", 4, 80, 0, 0, 0, false, NULL },
		{ "child", 3, 30, 10, 0, 0, false, NULL },
	};

	check_all(all, ARRAY_SIZE(all));
}

/* A request of many short waits, behind who asks. */
E2E_TEST(test_writes)
{
	static const struct planted all[] = {
		{ "pipe", 1, 0, 5, 1, 0, false, NULL },
		{ "pipe", 1, 0, 5, 2, 0, false, NULL },
		{ "pipe", 1, 0, 5, 4, 0, false, NULL },
		{ "pipe", 1, 0, 5, 8, 0, false, NULL },
	};

	check_all(all, ARRAY_SIZE(all));
}

/* A waker that does not sleep, and others that work while it does not. */
E2E_TEST(test_wakers)
{
	static const struct planted all[] = {
		{ "free", 1, 0, 10, 0, 0, false, NULL },  { "turns", 2, 0, 10, 0, 0, false, NULL },
		{ "turns", 2, 5, 5, 3, 0, false, NULL },  { "turns", 3, 20, 10, 0, 0, false, NULL },
		{ "pool", 8, 20, 10, 0, 0, false, NULL }, { "pool", 8, 0, 5, 4, 0, false, NULL },
	};

	check_all(all, ARRAY_SIZE(all));
}

/* The same where there is no CPU of its own. */
E2E_TEST(test_hog)
{
	static const struct planted all[] = {
		{ "free", 1, 0, 10, 0, 1, false, NULL },
		{ "pipe", 1, 0, 5, 8, 1, false, NULL },
		{ "child", 1, 30, 10, 0, 1, false, NULL },
		{ "turns", 3, 20, 10, 0, 1, false, NULL },
		{ "pool", 8, 20, 10, 0, 1, false, NULL },
	};

	check_all(all, ARRAY_SIZE(all));
}

E2E_TEST(test_quota)
{
	static const struct planted all[] = {
		{ "free", 1, 0, 20, 0, 0, true, NULL },
		{ "pipe", 1, 10, 20, 0, 0, true, NULL },
	};

	check_all(all, ARRAY_SIZE(all));
}

/* Whether tasks that hold what the next waits for are told as such. */
static bool finds_deadlock(const struct planted *planted)
{
	struct samples samples;
	pid_t first, last;

	plant(planted, &first, &last);
	for (unsigned i = 0; i < ATTEMPTS; i++)
		if (share_of(json_object_get(read_site(first, &samples), "chain"), "deadlock", 0) >=
		    0.99)
			return true;
	return false;
}

/* Circles of two, three and four. */
E2E_TEST(test_deadlock)
{
	e2e_require_bpf();
	for (unsigned n = 2; n <= 4; n++)
		if (!finds_deadlock(&(struct planted){ "deadlock", n, 0, 0, 0, 0, false, NULL }))
			fail_msg("a deadlock of %u was not found", n);
}

/* One answer: a lock that is waited for, by its root, live and of a recording. */
E2E_TEST(test_why)
{
	const struct planted planted = { "flock", 1, 60, 20, 0, 0, false, NULL };
	const char *path = e2e_path("recorded");
	struct e2e_result r;
	json_t *answer, *told;
	pid_t first, last;
	size_t lines = 0;
	bool found = false;

	e2e_require_bpf();
	plant(&planted, &first, &last);
	for (unsigned i = 0; i < ATTEMPTS && !found; i++) {
		e2e_run(&r, NULL, "--why -d 1 -o json -p %d", (int)first);
		assert_in_range(r.out.len, 1, 4095);
		answer = e2e_keep_json(json_loads(r.out.data, 0, NULL));
		assert_non_null(answer);
		told = json_array_get(json_object_get(answer, "findings"), 0);
		found = r.status == 3 && json_is_true(json_object_get(answer, "suffers")) &&
			json_integer_value(json_object_get(told, "pid")) == first &&
			share_of(told, "timer", last) > 0;
	}
	if (!found)
		fail_msg("%s", r.out.data);
	e2e_run(&r, NULL, "-b -n 2 -d 0.7 -r 0 --trace -w %s", path);
	assert_int_equal(r.status, 0);
	e2e_run(&r, NULL, "--why -R %s -m ^nobody$", path);
	assert_int_equal(r.status, 0);
	assert_null(strstr(r.out.data, "because: "));
	e2e_run(&r, NULL, "--why -R %s", path);
	assert_int_equal(r.status, 3);
	assert_non_null(strstr(r.out.data, "because: "));
	for (size_t i = 0; i < r.out.len; i++)
		lines += r.out.data[i] == '\n';
	assert_in_range(lines, 2, 25);
}
