// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Incidents whose cause is known, traced: the wait is found with its state, its system call, what
 * it is on, and who ends it; and it is said in words, traced and not.
 */
#include "tests/lib/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/box.h"
#include "tests/lib/finding.h"
#include "tests/lib/frozen.h"
#include "tests/lib/guard.h"

/* What is to be found of an incident. A text that is NULL is not looked at. */
struct cause {
	pid_t pid;
	const char *state, *syscall;
	const char *on; /* what the target's name has in it */
	const char *where; /* the function, likewise */
	const char *waker; /* the process that ends most of the waiting */
	double share; /* of the interval, at least */
};

/* Who ended most of the site's waiting. */
static const char *waker_of(json_t *site)
{
	json_t *waker = json_array_get(json_object_get(site, "wakers"), 0);
	const char *name = json_string_value(json_object_get(waker, "name"));

	return name ? name : "nobody";
}

/* The sites of a process, for who reads why a test failed. */
static void print_sites(json_t *sites, pid_t pid)
{
	json_t *site;
	size_t i;

	json_array_foreach(sites, i, site)
	{
		if (json_integer_value(json_object_get(site, "pid")) != pid ||
		    !json_is_string(json_object_get(site, "on")))
			continue;
		fprintf(stderr, "# %s %s on %s where %s by %s: %.1f ms\n",
			text_or_none(site, "state"), text_or_none(site, "syscall"),
			text_or_none(site, "on"), text_or_none(site, "where"), waker_of(site),
			(double)json_integer_value(json_object_get(site, "ns")) / 1e6);
	}
}

/* Whether a member is there and has the text in it. */
static bool has(json_t *site, const char *member, const char *text)
{
	const char *value = json_string_value(json_object_get(site, member));

	return !text || (value && strstr(value, text));
}

/* Whether a site is the cause. */
static bool is_cause(json_t *site, const struct cause *cause, double least)
{
	return json_integer_value(json_object_get(site, "pid")) == cause->pid &&
	       has(site, "state", cause->state) && has(site, "syscall", cause->syscall) &&
	       has(site, "on", cause->on) && has(site, "where", cause->where) &&
	       (!cause->waker || !strcmp(waker_of(site), cause->waker)) &&
	       (double)json_integer_value(json_object_get(site, "ns")) >= least;
}

/* The site that is the cause; NULL: none. */
static json_t *find_site(json_t *sample, const struct cause *cause)
{
	double least = member_real(sample, "interval") * 1e9 * cause->share;
	json_t *site;
	size_t i;

	json_array_foreach(json_object_get(sample, "sites"), i, site)
	{
		if (is_cause(site, cause, least))
			return site;
	}
	return NULL;
}

/* Traces intervals, and looks for the cause in all but the first; NULL: in none. */
static json_t *find_cause(const struct cause *cause, unsigned int n, struct samples *samples)
{
	struct e2e_result r;
	json_t *site = NULL;

	e2e_run(&r, NULL, "-b --trace -n %u -d 0.5 -o json -p %d", n, (int)cause->pid);
	check_silent_success(&r);
	parse_json(&r, samples);
	assert_int_equal(samples->n, n);
	for (size_t i = 1; i < samples->n && !site; i++)
		site = find_site(samples->v[i], cause);
	return site;
}

/*
 * The second of two intervals has the incident's cause. Beside many that wait for pipes and sockets
 * whose other ends are searched for it may take some more.
 */
static json_t *check_cause(const struct cause *cause)
{
	struct samples s;
	json_t *site = find_cause(cause, 2, &s);

	if (!site)
		site = find_cause(cause, 12, &s);
	if (!site) {
		print_sites(json_object_get(s.v[s.n - 1], "sites"), cause->pid);
		fail_msg("no %s of %d in %s on %s", cause->state, (int)cause->pid,
			 cause->syscall ? cause->syscall : "any call",
			 cause->on ? cause->on : "anything");
	}
	return site;
}

/* Starts a load; what it said behind "ready". */
static const char *start(const char *mode, pid_t *pid)
{
	*pid = e2e_load(NULL, "load_wait %s", mode);
	assert_true(*pid > 0);
	return e2e_load_line();
}

/* In a folder of the test. */
static const char *start_in_folder(const char *mode, pid_t *pid)
{
	return start(e2e_format("%s %s", mode, e2e_folder()), pid);
}

/* Reads of one of four open files. */
E2E_TEST(test_files)
{
	struct cause cause = { .state = "io", .syscall = "pread64", .share = 0.05 };

	e2e_require_bpf();
	cause.on = start_in_folder("files", &cause.pid);
	check_cause(&cause);
	finding_await("--trace",
		      &(struct finding_meant){ "io", cause.pid, { "in pread64 on", cause.on } });
	finding_await("", &(struct finding_meant){ "io", cause.pid, { "% of the time" } });
}

/* A writer behind another's writes: the lock of the file. */
E2E_TEST(test_fsync)
{
	struct cause cause = {
		.state = "dwait", .syscall = "pwrite64", .share = 0.04, .waker = "wait_writer"
	};
	char *path;

	e2e_require_bpf();
	cause.pid = (pid_t)strtol(start_in_folder("fsync", &cause.pid), &path, 10);
	cause.on = path + 1;
	check_cause(&cause);
	finding_await("--trace",
		      &(struct finding_meant){ "io", cause.pid, { cause.on, "wait_writer" } });
}

/* A frozen file system and its writer. */
E2E_TEST(test_frozen)
{
	struct cause cause = { .state = "dwait", .syscall = "pwrite64", .share = 0.97 };
	char mounted[512];

	e2e_require_bpf();
	e2e_need(frozen_mount(e2e_folder(), mounted, sizeof(mounted)), "no loop devices");
	cause.on = start(e2e_format("write %s", mounted), &cause.pid);
	assert_int_equal(frozen_freeze(mounted), 0);
	e2e_await_hang(cause.pid);
	check_cause(&cause);
	finding_await("",
		      &(struct finding_meant){ "hang", cause.pid, { "1 task hung: load_wait" } });
	finding_await("--source procfs", &(struct finding_meant){ "hang", cause.pid, { "hung" } });
	finding_await("-F +on",
		      &(struct finding_meant){ "hang", cause.pid, { mounted, "frozen" } });
	finding_await("--trace", &(struct finding_meant){ "hang",
							  cause.pid,
							  { mounted, "in pwrite64", "(frozen)" } });
	assert_int_equal(frozen_thaw(mounted), 0);
	e2e_kill(cause.pid);
}

/* A file system in user space that does not answer; its mount is not ours. */
E2E_TEST(test_fuse)
{
	struct cause cause = {
		.state = "other", .syscall = "read", .share = 0.97, .where = "request_wait_answer"
	};
	char *path;
	pid_t server;

	e2e_require_bpf();
	cause.pid = (pid_t)strtol(start_in_folder("fuse", &server), &path, 10);
	cause.on = path + 1;
	e2e_await_sleep(cause.pid);
	check_cause(&cause);
	finding_await("--trace", &(struct finding_meant){
					 "file-server", cause.pid, { "in read on", cause.on } });
	/* Whose file system it is stands beside its file. */
	cause.on = e2e_format("%s (fuse.silent silent", cause.on);
	check_cause(&cause);
}

/* Eight threads that want one lock. */
E2E_TEST(test_futex)
{
	struct cause cause = {
		.state = "lock", .syscall = "futex", .on = "futex", .share = 6, .waker = "load_wait"
	};

	e2e_require_bpf();
	start("futex", &cause.pid);
	check_cause(&cause);
	finding_await("--trace",
		      &(struct finding_meant){ "lock", cause.pid, { "in futex on", "held by" } });
}

/* A client and its slow server. */
E2E_TEST(test_net)
{
	struct cause cause = {
		.state = "net", .syscall = "recvfrom", .share = 0.9, .waker = "wait_server"
	};
	const char *line;
	int port, server;
	pid_t pid;

	e2e_require_bpf();
	line = start("net", &pid);
	assert_int_equal(sscanf(line, "%d %d %d", &cause.pid, &server, &port), 3);
	cause.on = e2e_format("tcp 127.0.0.1:%d", port);
	check_cause(&cause);
	finding_await("--trace", &(struct finding_meant){
					 "net", cause.pid, { cause.on, "woken by wait_server" } });
}

/* Pipes, of which one is written to now and then, and one never. */
E2E_TEST(test_pipes)
{
	struct cause cause = { .state = "pipe", .syscall = "read", .share = 0.97 };
	int writer;
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(sscanf(start("pipe", &pid), "%d %d", &cause.pid, &writer), 2);
	cause.on = e2e_format("%d wait_writer", writer);
	check_cause(&cause);
	finding_await("--trace",
		      &(struct finding_meant){ "pipe", cause.pid, { "in read on", cause.on } });
	assert_int_equal(sscanf(start("talk", &pid), "%d %d", &cause.pid, &writer), 2);
	cause.on = "pipe";
	cause.waker = "wait_writer";
	cause.share = 0.9;
	check_cause(&cause);
	finding_await("--trace",
		      &(struct finding_meant){ "pipe", cause.pid, { "woken by wait_writer" } });
}

/* Who polls one descriptor waits on what that is, by whichever call. */
E2E_TEST(test_polled)
{
	struct cause cause = { .state = "poll", .syscall = "poll", .share = 0.5 };
	int writer;
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(sscanf(start("polled", &pid), "%d %d", &cause.pid, &writer), 2);
	cause.on = e2e_format("pipe of %d wait_writer", writer);
	cause.waker = "wait_writer";
	check_cause(&cause);
	assert_int_equal(sscanf(start("epolled", &pid), "%d %d", &cause.pid, &writer), 2);
	cause.on = e2e_format("eventpoll: pipe of %d wait_writer", writer);
	cause.syscall = "epoll_wait";
	check_cause(&cause);
}

/* A parent that waits for its child. */
E2E_TEST(test_child)
{
	struct cause cause = { .state = "child", .syscall = "wait4", .share = 0.97 };

	e2e_require_bpf();
	cause.on = e2e_format("child %s", start("child", &cause.pid));
	check_cause(&cause);
	finding_await("--trace", &(struct finding_meant){ "child", cause.pid, { cause.on } });
}

/* Two that want one CPU: each waits for the other. */
E2E_TEST(test_cpu)
{
	struct cause cause = { .state = "cpu", .on = "wait_culprit", .share = 0.3 };
	int culprit;
	pid_t pid;

	e2e_require_bpf();
	assert_int_equal(sscanf(start("cpu", &pid), "%d %d", &cause.pid, &culprit), 2);
	check_cause(&cause);
	finding_await("", &(struct finding_meant){ "cpu", cause.pid, { "for a CPU" } });
	finding_await("--trace",
		      &(struct finding_meant){ "cpu", cause.pid, { "behind", "wait_culprit" } });
}

/* A group whose quota is used up. */
E2E_TEST(test_throttled)
{
	struct cause cause = { .state = "cpu", .on = "throttled", .share = 0.5 };
	struct e2e_how how = { 0 };
	char path[512];

	e2e_require_bpf();
	e2e_need(box_quota(e2e_group_name("wait"), "20000", path, sizeof(path)), "no CPU quota");
	how.cgroup = path;
	cause.pid = e2e_load(&how, "load_wait cpu");
	assert_true(cause.pid > 0);
	check_cause(&cause);
	finding_await("--trace",
		      &(struct finding_meant){ "throttled", cause.pid, { "its cgroup's quota" } });
	finding_await("-g cgroup --cgroup-hierarchy cpu -F +throttled",
		      &(struct finding_meant){
			      "throttled", cause.pid, { strrchr(path, '/'), "by a quota" } });
}

/* Whether a sample has a site of a process that lies within others and is of that kind. */
static bool has_kind(json_t *sample, pid_t pid, const char *kind)
{
	json_t *site;
	size_t i;

	json_array_foreach(json_object_get(sample, "sites"), i, site)
	{
		if (json_integer_value(json_object_get(site, "pid")) == pid &&
		    has(site, "kind", kind) && !has(site, "state", "overlapping") &&
		    json_is_true(json_object_get(site, "overlaps")) &&
		    json_integer_value(json_object_get(site, "ns")) > 0)
			return true;
	}
	return false;
}

/* Reclaim in a group of little memory: it lies within running and other waits. */
E2E_TEST(test_reclaim)
{
	struct e2e_how how = { 0 };
	struct e2e_result r;
	struct samples s;
	char path[512];
	pid_t pid;

	e2e_require_bpf();
	e2e_need(box_cgroup(32, path, sizeof(path)), "no memory cgroup");
	how.cgroup = path;
	pid = e2e_load(&how, "load_kind -w 4 -d %s reclaim", e2e_folder());
	if (!pid)
		e2e_skip("no reclaim here");
	e2e_run(&r, NULL, "-b --trace -n 2 -d 0.5 -o json -p %d", (int)pid);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_true(has_kind(s.v[1], pid, "reclaim"));
	finding_await("", &(struct finding_meant){ "memory-limited",
						   pid,
						   { "at its cgroup\'s limit", "of 32.0 MiB" } });
}

/* Idle: all of it is poll. */
E2E_TEST(test_poll)
{
	struct cause cause = { .state = "poll", .syscall = "poll", .share = 0.99 };

	e2e_require_bpf();
	start("poll", &cause.pid);
	check_cause(&cause);
	finding_await_none(e2e_format("--trace -p %d", (int)cause.pid));
}
