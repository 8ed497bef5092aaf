// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chains of waits that were planted: what the first process waits for is found at the end of the
 * chain, by whatever the processes between wait for each other, and with the shares that it has.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/parse.h"

/* A chain, and what its last process does. */
struct planted {
	const char *kind;
	unsigned depth, sleep_ms, run_ms;
};

/* Times that a chain is looked at again where others keep its processes from their CPUs. */
#define ATTEMPTS 8

/* Starts a chain; the first process and the last are told. Returns whose end is theirs. */
static pid_t plant(const struct planted *planted, pid_t *first, pid_t *last)
{
	bool files = !strcmp(planted->kind, "flock") || !strcmp(planted->kind, "deadlock");
	char *end;
	pid_t pid = e2e_load(NULL, "load_chain %s %u %u %u%s%s", planted->kind, planted->depth,
			     planted->sleep_ms, planted->run_ms, files ? " " : "",
			     files ? e2e_folder() : "");

	assert_true(pid > 0);
	*first = (pid_t)strtol(e2e_load_line(), &end, 10);
	*last = (pid_t)strtol(end, NULL, 10);
	assert_true(*first > 0 && *last > 0);
	return pid;
}

/* The chain of the site where a process waited most, in the last of some intervals. */
static json_t *read_chain(pid_t pid, struct samples *samples)
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
	return most ? json_object_get(most, "chain") : NULL;
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
 * Whether a chain says what was planted. On a busy machine its processes wait for CPUs, too, which
 * the chain then tells: the rest must have the shares that were planted.
 */
static bool is_found(json_t *chain, const struct planted *planted, pid_t last)
{
	double all = planted->sleep_ms + planted->run_ms;
	double timer = share_of(chain, "timer", last), run = share_of(chain, "run", last);
	double queue = share_of(chain, "queue", 0);

	if (!chain)
		return false;
	assert_true(fabs(share_of(chain, NULL, 0) - 1) <= 0.01);
	printf("# %s %u: timer %.3f and run %.3f of %.3f and %.3f, queue %.3f\n", planted->kind,
	       planted->depth, timer, run, planted->sleep_ms / all, planted->run_ms / all, queue);
	return timer + run >= 0.2 && timer + run + queue >= 0.95 &&
	       fabs(timer / (timer + run) - planted->sleep_ms / all) <= 0.05;
}

/* Plants a chain, and finds its root. */
static void check(const struct planted *planted)
{
	struct samples samples;
	bool found = false;
	pid_t pid, first, last;

	e2e_require_bpf();
	pid = plant(planted, &first, &last);
	for (unsigned i = 0; i < ATTEMPTS && !found; i++)
		found = is_found(read_chain(first, &samples), planted, last);
	if (!found)
		fail_msg("a chain of %u by %s was not found", planted->depth, planted->kind);
	e2e_kill(pid);
}

E2E_TEST(test_pipe)
{
	check(&(struct planted){ "pipe", 1, 30, 10 });
	check(&(struct planted){ "pipe", 3, 40, 0 });
}

E2E_TEST(test_socket)
{
	check(&(struct planted){ "socket", 2, 20, 20 });
	check(&(struct planted){ "socket", 5, 45, 5 });
}

E2E_TEST(test_flock)
{
	check(&(struct planted){ "flock", 1, 50, 0 });
	check(&(struct planted){ "flock", 3, 60, 20 });
}

E2E_TEST(test_mutex)
{
	check(&(struct planted){ "mutex", 1, 60, 20 });
	check(&(struct planted){ "mutex", 4, 80, 0 });
}

/* Two that hold what each other waits for are told as such. */
E2E_TEST(test_deadlock)
{
	const struct planted planted = { "deadlock", 2, 0, 0 };
	struct samples samples;
	pid_t first, last;

	e2e_require_bpf();
	plant(&planted, &first, &last);
	for (unsigned i = 0; i < ATTEMPTS; i++)
		if (share_of(read_chain(first, &samples), "deadlock", 0) >= 0.99)
			return;
	fail_msg("a deadlock was not found");
}

/* One answer: a lock that is waited for, by its root, live and of a recording. */
E2E_TEST(test_why)
{
	const struct planted planted = { "flock", 1, 60, 20 };
	const char *path = e2e_path("recorded");
	struct e2e_result r;
	json_t *answer, *waits;
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
		waits = json_object_get(answer, "waits");
		found = r.status == 3 && json_is_true(json_object_get(answer, "suffers")) &&
			json_integer_value(json_object_get(waits, "pid")) == first &&
			share_of(waits, "timer", last) > 0;
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
