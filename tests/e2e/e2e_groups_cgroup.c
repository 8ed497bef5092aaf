// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups of cgroups: their own pressure and limits beside what their members wait for, --cgroup. */
#include "tests/lib/box.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"
#include "tests/lib/reader.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A group at the top of a hierarchy; skips the test where there is none. */
static const char *make_group(const char *test, const char *hierarchy, const char *name)
{
	char path[300];

	e2e_need_test(test, box_group(hierarchy, name, path, sizeof(path)),
		      e2e_format("no cgroups of %s", hierarchy));
	return e2e_format("%s", path);
}

/* A child in a group, that sleeps, or spins on the first CPU. */
static pid_t add_child(const char *path, bool spins)
{
	const char *procs = e2e_format("%s/cgroup.procs", path);
	int told[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(told), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		cpu_set_t first;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&first);
		CPU_SET(0, &first);
		if (write_text(procs, "0") || sched_setaffinity(0, sizeof(first), &first) ||
		    write(told[1], "", 1) != 1)
			_exit(1);
		while (spins)
			;
		for (;;)
			pause();
	}
	guard_push_child(pid);
	close(told[1]);
	assert_int_equal(read(told[0], &byte, 1), 1);
	close(told[0]);
	return pid;
}

/* Ends a child. */
static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	guard_forget_child(pid);
}

/* A figure of the `some` line of a pressure file. */
static double read_pressure(const char *path, const char *file, const char *what)
{
	FILE *f = fopen(e2e_format("%s/%s.pressure", path, file), "re");
	char line[256], *at;

	if (!f)
		e2e_skip("no pressure of groups");
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	assert_memory_equal(line, "some ", 5);
	at = strstr(line, what);
	assert_non_null(at);
	return atof(at + strlen(what));
}

/* The group of that name, which must be there. */
static json_t *group_must(json_t *sample, const char *name)
{
	json_t *group = group_of(sample, e2e_format("/%s", name));

	if (!group)
		fail_msg("no row of /%s", name);
	return group;
}

/* A named field of a row. */
static json_t *field_of(json_t *row, const char *id)
{
	json_t *field = json_object_get(json_object_get(row, "fields"), id);

	assert_non_null(field);
	return field;
}

/* psi columns are what the groups' files say; the group that has the load shows it. */
E2E_TEST(test_pressure)
{
	const char *busy = e2e_group_name("busy"), *idle = e2e_group_name("idle");
	const char *busy_path, *idle_path;
	struct e2e_result r;
	struct e2e_proc p;
	double low;

	e2e_require();
	busy_path = make_group(__func__, "v2", busy);
	idle_path = make_group(__func__, "v2", idle);
	for (unsigned i = 0; i < 3; i++)
		add_child(busy_path, true);
	add_child(idle_path, false);
	e2e_start_stalltop(&p, NULL,
			   "-b -n 6 -d 1 -g cgroup --cgroup-hierarchy v2 -o json "
			   "-s psi-cpu -F psi-cpu,psi-mem,psi-io,throttled");
	low = read_pressure(busy_path, "cpu", "avg10=");
	for (unsigned i = 0; i < 6; i++) {
		const char *line = e2e_line(&p, 20);
		double shown, high = read_pressure(busy_path, "cpu", "avg10=");
		json_t *sample, *group;

		assert_non_null(line);
		sample = parse_json_line(line);
		group = group_must(sample, busy);
		assert_int_equal(member_u64(group, "members"), 3);
		shown = json_number_value(field_of(group, "psi-cpu"));
		print_message("# cpu of the busy group: %.2f <= %.2f <= %.2f\n", low, shown, high);
		/* It rises as long as somebody waits all the time, but for rounding. */
		assert_true(low <= shown + 1 && shown <= high + 1);
		low = high;
		group = group_must(sample, idle);
		assert_true(json_is_real(field_of(group, "psi-cpu")));
		assert_true(json_number_value(field_of(group, "psi-cpu")) < shown / 2 || !i);
		assert_true(json_is_real(field_of(group, "psi-mem")));
		assert_true(json_is_real(field_of(group, "psi-io")));
		/* The first that is sorted by it has more than those behind. */
		group = json_array_get(json_object_get(sample, "tasks"), 0);
		assert_true(json_number_value(field_of(group, "psi-cpu")) >= shown);
	}
	assert_true(low > 10);
	e2e_finish(&p, 30, &r);
	check_silent_success(&r);
	/* In text the columns are there by themselves. */
	e2e_run(&r, NULL, "-b -n 1 -d 0.2 -g cgroup --cgroup-hierarchy v2");
	assert_non_null(strstr(r.out.data, " PCPU "));
	e2e_run(&r, NULL, "-b -n 1 -d 0.2 -g user --cgroup-hierarchy v2");
	assert_null(strstr(r.out.data, " PCPU "));
}

/* A hook: into another hierarchy's group, too. */
static int join(const char *path)
{
	char file[400];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	return write_text(file, "0");
}

/* One load in two groups of one path in the hierarchies of memory and of cpu. */
struct limited {
	const char *name;
	struct e2e_how how;
	pid_t pid;
	struct reader_record before;
	uint64_t mem, cpu; /* what it waited for in the interval, ns */
	double throttled; /* percent; -1: null */
};

/* Makes the groups; whoever calls limits them. */
static void make_limited(const char *test, struct limited *l, const char *name)
{
	l->name = e2e_group_name(name);
	l->how.cgroup = make_group(test, "memory", l->name);
	l->how.hook = join;
	l->how.hook_arg = make_group(test, "cpu", l->name);
}

/* Starts the load, in a folder of its own. */
static void load_limited(struct limited *l)
{
	const char *dir = e2e_format("%s/%s", e2e_folder(), l->name);

	assert_int_equal(mkdir(dir, 0755), 0);
	l->pid = e2e_load(&l->how, "load_kind -d %s thrash", dir);
	assert_true(l->pid > 0);
	assert_int_equal(reader_tgid(l->pid, &l->before), 0);
}

/* Takes what the second sample says of it, and checks that against the kernel. */
static void take_limited(struct limited *l, json_t *sample)
{
	static const char *const mem[] = { "swapin", "reclaim", "thrash", "compact" };
	json_t *group = group_must(sample, l->name), *throttled = field_of(group, "throttled");
	struct reader_record after;

	assert_int_equal(member_u64(group, "members"), 1);
	assert_int_equal(reader_tgid(l->pid, &after), 0);
	for (unsigned k = 0; k < READER_KINDS; k++) {
		const char *kind = reader_kind_names[k];

		if (!kind_unset(group, "cumulative", kind, "ns"))
			assert_in_range(kind_value(group, "cumulative", kind, "ns"),
					l->before.kind[k].ns, after.kind[k].ns);
	}
	for (unsigned i = 0; i < 4; i++)
		if (!kind_unset(group, "delta", mem[i], "ns"))
			l->mem += kind_value(group, "delta", mem[i], "ns");
	l->cpu = kind_value(group, "delta", "cpu", "ns");
	l->throttled = json_is_null(throttled) ? -1 : json_number_value(throttled);
	print_message("# %s: %.1f ms for memory, %.1f ms for a CPU, throttled %.1f %%\n", l->name,
		      (double)l->mem / 1e6, (double)l->cpu / 1e6, l->throttled);
}

/* Two groups with one load: one waits for memory, the other for a CPU, by its limit. */
E2E_TEST(test_limits)
{
	struct limited mem = { 0 }, cpu = { 0 };
	struct e2e_result r;
	struct samples s;

	e2e_require();
	make_limited(__func__, &mem, "mem");
	make_limited(__func__, &cpu, "cpu");
	assert_int_equal(
		write_text(e2e_format("%s/memory.limit_in_bytes", mem.how.cgroup), "33554432"), 0);
	if (write_text(e2e_format("%s/cpu.cfs_quota_us", cpu.how.hook_arg), "20000"))
		e2e_skip("no cgroups of cpu");
	load_limited(&mem);
	load_limited(&cpu);
	e2e_run(&r, NULL,
		"-b -n 1 -d 3 -o json -g cgroup --cgroup-hierarchy memory "
		"-F throttled");
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 1);
	take_limited(&mem, s.v[0]);
	take_limited(&cpu, s.v[0]);
	/* A task that needs all of a CPU and gets a fifth is throttled for most of the time. */
	assert_true(cpu.throttled > 30);
	assert_true(mem.throttled <= 0);
	assert_true(mem.mem > 10000000);
	assert_true(mem.mem > 10 * cpu.mem);
}

/* The share of the last sample for which a group was throttled. */
static double throttled_in(const struct e2e_result *r, const char *group)
{
	struct samples s;
	json_t *share;

	check_silent_success(r);
	parse_json(r, &s);
	assert_true(s.n > 0);
	share = field_of(group_must(s.v[s.n - 1], group), "throttled");
	assert_true(json_is_number(share));
	return json_number_value(share);
}

/* A quota is mostly of a slice, while the tasks are in its services: these are throttled by it. */
E2E_TEST(test_limit_above)
{
	const char *name = e2e_group_name("slice"), *inner = e2e_format("%s/inner", name);
	const char *path = e2e_path("above.db");
	const char *slice, *args = "-o json -g cgroup --cgroup-hierarchy cpu -F throttled";
	struct e2e_result live, replay;
	double share;

	e2e_require();
	slice = make_group(__func__, "cpu", name);
	if (write_text(e2e_format("%s/cpu.cfs_quota_us", slice), "20000"))
		e2e_skip("no cgroups of cpu");
	add_child(make_group(__func__, "cpu", inner), true);
	e2e_run(&live, NULL, "-b -n 2 -d 1 %s -w %s", args, path);
	share = throttled_in(&live, inner);
	assert_true(share > 30 && share <= 100);
	e2e_run(&replay, NULL, "-b %s -R %s", args, path);
	assert_true(throttled_in(&replay, inner) == share);
}

/* What --cgroup leaves of the tasks; the sample. */
static json_t *sample_below(const char *group, const char *args)
{
	struct e2e_result r;
	struct samples s;

	e2e_run(&r, NULL, "-b -n 1 -d 0.3 -o json --cgroup %s --cgroup-hierarchy v2 %s", group,
		args);
	check_silent_success(&r);
	parse_json(&r, &s);
	assert_int_equal(s.n, 1);
	assert_string_equal(member_text(s.v[0], "cgroup"), group);
	return s.v[0];
}

/* --cgroup: the tasks of one subtree and the pressure of that group, in all views. */
E2E_TEST(test_below)
{
	const char *name = e2e_group_name("below"), *top, *path, *all;
	struct e2e_result r;
	json_t *sample, *some;
	pid_t pid[3], other;
	double low, high, until = e2e_now() + 20;

	e2e_require();
	top = make_group(__func__, "v2", name);
	path = make_group(__func__, "v2", e2e_format("%s/deeper", name));
	/* Its name begins so, too. */
	other = add_child(make_group(__func__, "v2", e2e_format("%sother", name)), false);
	pid[0] = add_child(top, true);
	pid[1] = add_child(path, true);
	pid[2] = add_child(path, false);
	while ((low = read_pressure(top, "cpu", "total=")) <= 0 && e2e_now() < until)
		e2e_sleep(0.02);
	sample = sample_below(e2e_format("/%s", name), "");
	high = read_pressure(top, "cpu", "total=");
	assert_int_equal(json_array_size(json_object_get(sample, "tasks")), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_non_null(task_of(sample, pid[i]));
	assert_null(task_of(sample, other));
	assert_null(note_of(sample, "group-gone"));
	some = json_object_get(json_object_get(json_object_get(sample, "psi"), "cpu"), "some");
	print_message("# cpu of the group: %.0f <= %.0f <= %.0f us\n", low,
		      (double)member_u64(some, "total_us"), high);
	assert_true(low <= (double)member_u64(some, "total_us"));
	assert_true((double)member_u64(some, "total_us") <= high);
	/* The two spin on one CPU: somebody waits all the time. */
	assert_in_range(member_u64(some, "delta_us"), 100000, 10000000);
	sample = sample_below(e2e_format("/%s", name), "-g cgroup");
	assert_int_equal(json_array_size(json_object_get(sample, "tasks")), 2);
	assert_int_equal(member_u64(group_must(sample, name), "members"), 1);
	assert_int_equal(member_u64(group_must(sample, e2e_format("%s/deeper", name)), "members"),
			 2);
	sample = sample_below(e2e_format("/%s/deeper", name), "-g user");
	assert_int_equal(json_array_size(json_object_get(sample, "tasks")), 1);
	all = e2e_format("-b -n 1 -d 0.2 --cgroup /%s --cgroup-hierarchy v2", name);
	e2e_run(&r, NULL, "%s", all);
	check_silent_success(&r);
	assert_non_null(strstr(r.out.data, "3 tasks"));
}

/* A group that is not there, or a path that is none: a line that says so, and nothing else. */
E2E_TEST(test_absent)
{
	static const char *const bad[] = { "system.slice", "" };
	struct e2e_result r;

	e2e_require();
	e2e_run(&r, NULL, "-b -n 1 --cgroup /no-such-group/at-all --cgroup-hierarchy v2");
	assert_int_equal(r.status, 1);
	assert_int_equal(r.out.len, 0);
	assert_string_equal(r.err.data,
			    "stalltop: --cgroup: no such cgroup: '/no-such-group/at-all' in "
			    "the hierarchy v2 (--cgroup-hierarchy chooses another)\n");
	/* Only a path from the root is one. */
	for (unsigned i = 0; i < 2; i++) {
		const char *argv[] = { e2e_stalltop(), "-b", "-n", "1", "--cgroup", bad[i], NULL };
		struct e2e_proc p;

		e2e_start(&p, &(struct e2e_how){ 0 }, argv);
		e2e_finish(&p, 20, &r);
		assert_int_equal(r.status, 2);
		assert_int_equal(r.out.len, 0);
		assert_non_null(strstr(r.err.data, "--cgroup"));
		assert_ptr_equal(strchr(r.err.data, '\n'), r.err.data + r.err.len - 1);
	}
}

/* A group that is removed meanwhile: it goes on without rows, and says so; it may come back. */
E2E_TEST(test_removed)
{
	const char *name = e2e_group_name("goes"), *path, *line;
	struct e2e_result r;
	struct e2e_proc p;
	bool noted = false, back = false;
	pid_t pid;

	e2e_require();
	path = make_group(__func__, "v2", name);
	pid = add_child(path, false);
	e2e_start_stalltop(&p, NULL,
			   e2e_format("-b -n 40 -d 0.25 -o json --cgroup /%s "
				      "--cgroup-hierarchy v2",
				      name));
	line = e2e_line(&p, 20);
	assert_non_null(line);
	assert_non_null(task_of(parse_json_line(line), pid));
	end_child(pid);
	while (rmdir(path))
		e2e_sleep(0.01);
	for (unsigned i = 0; i < 10 && !noted; i++) {
		json_t *sample;

		line = e2e_line(&p, 20);
		assert_non_null(line);
		sample = parse_json_line(line);
		noted = note_of(sample, "group-gone");
		if (noted)
			assert_true(json_is_null(
				json_object_get(json_object_get(sample, "psi"), "cpu")));
	}
	assert_true(noted);
	assert_int_equal(mkdir(path, 0755), 0);
	pid = add_child(path, false);
	while (!back && (line = e2e_line(&p, 20))) {
		json_t *sample = parse_json_line(line);

		back = task_of(sample, pid) && !note_of(sample, "group-gone");
	}
	assert_true(back);
	e2e_finish(&p, 30, &r);
	assert_int_equal(r.status, 0);
}

/* Asserts that a task's container has that name, by options that give one sample or more. */
static void check_container(const char *script, pid_t pid, const char *name)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	struct e2e_result r;
	struct e2e_proc p;
	struct samples s;
	json_t *task;

	e2e_start(&p, NULL, argv);
	e2e_finish(&p, 60, &r);
	if (r.status && strstr(r.err.data, "unshare"))
		e2e_skip("no namespaces");
	if (r.status && strstr(r.err.data, "mount"))
		e2e_skip("nothing may be mounted");
	assert_int_equal(r.status, 0);
	parse_json(&r, &s);
	assert_true(s.n > 0);
	task = task_must(s.v[s.n - 1], pid);
	assert_string_equal(text_or_none(task, "container"), name);
	assert_true(json_is_null(json_object_get(task, "pod")));
}

/* A container of Docker by its name, here and in a recording that is shown elsewhere. */
E2E_TEST(test_container)
{
	const char *id = e2e_format("%064x", (unsigned)getpid());
	const char *path, *program = e2e_stalltop();
	const char *folder = e2e_format("/var/lib/docker/containers/%s", id);
	pid_t pid;

	e2e_require();
	path = make_group(__func__, "v2", e2e_format("docker-%s.scope", id));
	pid = add_child(path, false);
	check_container(e2e_format("exec unshare -m sh -c 'mount -t tmpfs none /var/lib && "
				   "mkdir -p %s && "
				   "echo \"{\\\"Name\\\":\\\"/web-1\\\"}\" >%s/config.v2.json && "
				   "exec %s -b -n 2 -d 0.3 -p %d -o json -F pid,container "
				   "--cgroup-hierarchy v2 -w %s'",
				   folder, folder, program, (int)pid, e2e_path("names.db")),
			pid, "web-1");
	check_container(e2e_format("exec %s -R %s -b -o json -F pid,container", program,
				   e2e_path("names.db")),
			pid, "web-1");
}
