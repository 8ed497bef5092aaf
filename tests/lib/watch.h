/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program looked at sample by sample while tasks end or wait, and the loads that do.
 * Included behind "parse.h".
 */
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WATCH_MAX 1000

/* A run of the program, and the samples that it has put out. */
struct watch {
	struct e2e_proc p;
	json_t *v[WATCH_MAX];
	size_t n;
};

/* A load under way. */
struct load {
	struct e2e_proc p;
	uint64_t ends; /* of tasks, that it made */
	uint64_t took_ns; /* CPU time of the children that it waited for, or its waits */
};

/* A member that is true. */
static inline bool flag(json_t *task, const char *name)
{
	json_t *v = json_object_get(task, name);

	assert_true(json_is_boolean(v));
	return json_is_true(v);
}

/* Whether a member is there and null. */
static inline bool is_null(json_t *object, const char *name)
{
	json_t *v = json_object_get(object, name);

	assert_non_null(v);
	return json_is_null(v);
}

/* Whether the row has that pid. */
static inline bool has_pid(json_t *task, pid_t pid)
{
	return member_u64(task, "pid") == (uint64_t)pid;
}

/* The only row of a pid that ended, or did not; NULL if there is none. */
static inline json_t *row_of(json_t *sample, pid_t pid, bool exited)
{
	json_t *task, *found = NULL;
	size_t i;

	json_array_foreach(json_object_get(sample, "tasks"), i, task)
	{
		if (!has_pid(task, pid) || flag(task, "exited") != exited)
			continue;
		if (found)
			fail_msg("two rows of %d", (int)pid);
		found = task;
	}
	return found;
}

/* The only row of a name in all samples; *at is the sample. */
static inline json_t *row_named(const struct watch *watch, const char *comm, bool exited,
				size_t *at)
{
	json_t *task, *found = NULL;
	size_t i, k;

	for (i = 0; i < watch->n; i++) {
		json_array_foreach(json_object_get(watch->v[i], "tasks"), k, task)
		{
			if (strcmp(member_text(task, "comm"), comm) != 0 ||
			    flag(task, "exited") != exited)
				continue;
			if (found)
				fail_msg("two rows of %s", comm);
			found = task;
			*at = i;
		}
	}
	if (!found)
		fail_msg("no row of %s in %zu samples", comm, watch->n);
	return found;
}

/* Takes a sample if one comes in that time. */
static inline bool watch_next(struct watch *watch, double timeout)
{
	const char *line = e2e_line(&watch->p, timeout);

	if (!line)
		return false;
	assert_true(watch->n < WATCH_MAX);
	watch->v[watch->n++] = parse_json_line(line);
	return true;
}

/* Takes so many samples, which must come. */
static inline void watch_some(struct watch *watch, size_t n)
{
	while (n--)
		if (!watch_next(watch, 60))
			fail_msg("no sample within 60 s: %.300s",
				 watch->p.err_text.data ? watch->p.err_text.data : "");
}

/* Starts the program; what happens from now on is in the second sample or later ones. */
static inline void watch_start(struct watch *watch, const struct e2e_how *how, const char *options)
{
	watch->n = 0;
	e2e_start_stalltop(&watch->p, how, e2e_format("-b -o json %s", options));
	watch_some(watch, 1);
}

/* Ends the program. */
static inline void watch_end(struct watch *watch)
{
	struct e2e_result r;

	kill(watch->p.pid, SIGTERM);
	e2e_finish(&watch->p, 20, &r);
	check_silent_success(&r);
}

/* Takes samples until one began after now. */
static inline void watch_past(struct watch *watch)
{
	double now = e2e_wall();

	do
		watch_some(watch, 1);
	while (member_real(watch->v[watch->n - 1], "time") < now);
}

/* Starts a load with three arguments; gives what it said behind "ready", NULL if it cannot be. */
static inline const char *load_start_program(struct load *load, const char *program,
					     const char *kind, unsigned int n, unsigned int ms)
{
	const char *argv[] = { e2e_load_path(program), kind, e2e_format("%u", n),
			       e2e_format("%u", ms), NULL };
	const char *line;

	memset(load, 0, sizeof(*load));
	e2e_start(&load->p, NULL, argv);
	line = e2e_line(&load->p, 20);
	assert_true(!line || !strncmp(line, "ready", 5));
	return line ? line + 5 : NULL;
}

/* The one that ends tasks. */
static inline const char *load_start(struct load *load, const char *kind, unsigned int n,
				     unsigned int ms)
{
	return load_start_program(load, "load_storm", kind, n, ms);
}

/* Lets the load begin. */
static inline void load_begin(struct load *load)
{
	assert_int_equal(kill(load->p.pid, SIGUSR1), 0);
}

/* Waits for the load's end, while the program is read from. */
static inline void load_await(struct load *load, struct watch *watch)
{
	double until = e2e_now() + 300;
	const char *line;
	char *end;

	while (!(line = e2e_line(&load->p, 0.05)) && e2e_now() < until)
		watch_next(watch, 0.05);
	if (!line || strncmp(line, "done ", 5) != 0)
		fail_msg("the storm does not end");
	load->ends = strtoull(line + 5, &end, 10);
	load->took_ns = strtoull(end, NULL, 10) * 1000;
}

/* Both. */
static inline void load_go(struct load *load, struct watch *watch)
{
	load_begin(load);
	load_await(load, watch);
}

/* Ends the load. */
static inline void load_end(struct load *load)
{
	e2e_kill(load->p.pid);
	close(load->p.out);
	close(load->p.err);
	free(load->p.out_text.data);
	free(load->p.err_text.data);
}
