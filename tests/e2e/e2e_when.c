// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Batch mode that waits for pressure (--when): silent and asleep before it, samples while it
 * lasts, asleep again; groups that go; and what is said where the kernel does not watch.
 */
#include "tests/lib/box.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW 2.0
#define THRESHOLD_US 500000
#define LINGER 4.0
#define INTERVAL 0.5

/* So often in a window the test itself looks. */
#define STEPS 100

/* What never comes on a machine that lives: all of it stalled by all of the time. */
#define NEVER "memory full 2s/2s"

/* Starts batch mode with triggers, whose texts have blanks in them; NULL: there is no second. */
static void start(struct e2e_proc *p, const struct e2e_how *how, const char *options,
		  const char *when, const char *other)
{
	const char *argv[32] = { e2e_stalltop(), "-b", "--when", when };
	char *rest = e2e_format("%s", options);
	size_t n = 4;

	while (rest && *rest && n < 28)
		argv[n++] = strsep(&rest, " ");
	if (other) {
		argv[n++] = "--when";
		argv[n++] = other;
	}
	e2e_start(p, how, argv);
}

/* Asserts that nothing comes for so long. */
static void check_silent(struct e2e_proc *p, double seconds)
{
	const char *line = e2e_line(p, seconds);

	if (line)
		fail_msg("a sample without pressure: %.200s", line);
	if (p->out < 0)
		fail_msg("it has ended: %.300s", p->err_text.data);
}

/* The next sample. */
static json_t *sample(struct e2e_proc *p, double timeout)
{
	const char *line = e2e_line(p, timeout);

	if (!line)
		fail_msg("no sample within %.1f s: %.300s", timeout, p->err_text.data);
	return parse_json_line(line);
}

/* A trigger as a sample tells of it. */
static json_t *trigger_of(json_t *sample, size_t i)
{
	json_t *trigger = json_array_get(json_object_get(sample, "triggers"), i);

	assert_non_null(trigger);
	return trigger;
}

/* How often the program has gone to sleep or was put off its CPU. */
static unsigned long switches(pid_t pid)
{
	unsigned long n, sum = 0;
	char line[256];
	FILE *f = fopen(e2e_format("/proc/%d/status", (int)pid), "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %lu", &n) == 1)
			sum += n;
	fclose(f);
	return sum;
}

/* How many sockets the program has open: one to ask by, and those that listen for exits. */
static int sockets(pid_t pid)
{
	const char *path = e2e_format("/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	struct dirent *entry;
	char to[64];
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, to, sizeof(to));

		n += len > 7 && !memcmp(to, "socket:", 7);
	}
	closedir(dir);
	return n;
}

/* us that tasks have stalled for memory since boot. */
static unsigned long long stalled(void)
{
	unsigned long long total = 0;
	char line[256];
	FILE *f = fopen("/proc/pressure/memory", "re");

	if (f && fgets(line, sizeof(line), f) && strstr(line, "total="))
		total = strtoull(strstr(line, "total=") + 6, NULL, 10);
	if (f)
		fclose(f);
	return total;
}

/*
 * A load that waits for memory; the wall clock's time at which that is as much as was asked for.
 * While its file is written there may be less.
 */
static double start_pressure(const char *cgroup, struct e2e_proc *load)
{
	struct e2e_how how = { .cgroup = cgroup };
	const char *argv[] = { e2e_load_path("load_kind"), "-d", e2e_folder(), "thrash", NULL };
	unsigned long long total[STEPS], now = stalled();
	int step;

	for (step = 0; step < STEPS; step++)
		total[step] = now;
	e2e_start(load, &how, argv);
	for (step = 0; now < total[step % STEPS] + THRESHOLD_US; step++) {
		if (step * WINDOW / STEPS > 30)
			fail_msg("the load does not wait: %.300s", load->err_text.data);
		total[step % STEPS] = now;
		e2e_sleep(WINDOW / STEPS);
		now = stalled();
	}
	return e2e_wall();
}

/* The onset: a baseline at once and a sample an interval later, within two windows. */
static void check_onset(struct e2e_proc *p, double onset)
{
	json_t *first = sample(p, 20);
	double time = member_real(first, "time"), interval = member_real(first, "interval");

	if (time > onset + 2 * WINDOW)
		fail_msg("the first sample came %.2f s after the onset", time - onset);
	/* No interval spans the silence before; the kernel's window is not just that of the test.
	 */
	assert_true(time - interval > onset - WINDOW);
	assert_true(interval < 2 * INTERVAL + 0.5);
	assert_true(json_is_true(json_object_get(trigger_of(first, 0), "fired")));
	assert_string_equal(member_text(trigger_of(first, 0), "when"), "memory some 500ms/2s");
	printf("# first sample %.2f s after the onset\n", time - onset);
}

/*
 * Samples go on while there is pressure, which ended at that time by the wall clock, and for as
 * long as they shall beyond. The last is the one after which none comes for so many seconds.
 */
static void check_end(struct e2e_proc *p, double ended, double patience)
{
	double time = 0, since = 0;
	const char *line;
	int n = 0;

	while ((line = e2e_line(p, patience))) {
		json_t *s = parse_json_line(line), *lost = json_object_get(s, "exits_lost");

		time = member_real(s, "time");
		since = member_real(trigger_of(s, 0), "since");
		assert_true(json_is_null(lost) || json_integer_value(lost) == 0);
		n++;
	}
	printf("# %d samples, the last %.2f s after the last report, %.2f s after the load\n", n,
	       since, time - ended);
	assert_true(n >= (int)(LINGER / INTERVAL) - 2);
	assert_true(since >= LINGER - 0.5);
	/* In the window after its end there is the pressure of before. */
	assert_true(time - ended >= LINGER - 0.5);
	assert_true(time - ended <= WINDOW + LINGER + INTERVAL + 0.5);
	if (p->out < 0)
		fail_msg("it has ended: %.300s", p->err_text.data);
}

/* A memory load that comes later, ends, and comes again: as root, and as nobody. */
E2E_TEST(test_memory)
{
	struct e2e_how how = { .uid = NOBODY };
	struct e2e_proc p[2], load;
	struct e2e_result r;
	char cgroup[300];
	const char *args = "-o json -r 1 -d 0.5 --linger 4";
	unsigned long before[2];
	double onset, ended;
	int i, turn, asleep;

	e2e_require();
	if (access("/proc/pressure/memory", W_OK))
		e2e_skip("no pressure files");
	e2e_need(box_cgroup(32, cgroup, sizeof(cgroup)), "no memory cgroup");
	for (i = 0; i < 2; i++)
		start(&p[i], i ? &how : NULL, args, "memory some 500ms/2s", i ? NULL : NEVER);
	for (turn = 0; turn < 2; turn++) {
		/* The program opens what it needs before it waits. */
		for (i = 0; i < 2; i++)
			e2e_await_sleep(p[i].pid);
		for (i = 0; i < 2; i++)
			before[i] = switches(p[i].pid);
		check_silent(&p[0], 3);
		check_silent(&p[1], 0.1);
		/* Asleep: not woken once. Whoever looks does not wake it. */
		for (i = 0; i < 2; i++)
			assert_int_equal(switches(p[i].pid), before[i]);
		/* Nor is anything sent that it does not take. */
		asleep = sockets(p[0].pid);
		onset = start_pressure(cgroup, &load);
		for (i = 0; i < 2; i++)
			check_onset(&p[i], onset);
		assert_true(sockets(p[0].pid) > asleep);
		e2e_sleep(3);
		e2e_kill(load.pid);
		ended = e2e_wall();
		/* Both end at the same time: the second's silence is over when the first's is. */
		check_end(&p[0], ended, 4);
		check_end(&p[1], ended, 1);
	}
	for (i = 0; i < 2; i++) {
		kill(p[i].pid, SIGTERM);
		e2e_finish(&p[i], 5, &r);
		assert_int_equal(r.status, 0);
		assert_int_equal(r.err.len, 0);
	}
}

/* Ended with status 1 and that in its one line. */
static void check_failed(struct e2e_result *r, int status, const char *said)
{
	const char *eol = strchr(r->err.data, '\n');

	if (r->status != status || !eol || eol[1] || !strstr(r->err.data, said))
		fail_msg("status %d, not %d with \"%s\": %.500s", r->status, status, said,
			 r->err.data);
}

/* Asserts that the text has a line that tells so of the trigger. */
static void check_tells(const struct e2e_result *r, const char *when, const char *what)
{
	if (!strstr(r->out.data, e2e_format("\nwhen: %s, %s", when, what)))
		fail_msg("not \"%s, %s\": %s", when, what, r->out.data);
}

/* The interval in the title line of a sample of text. */
static double title_interval(const struct text_sample *s)
{
	const char *at = strstr(s->header[0], "load ");
	double load, seconds;

	if (!at || sscanf(at, "load %lf %lf %lf %lf s", &load, &load, &load, &seconds) != 4)
		fail_msg("no interval: %s", s->header[0]);
	return seconds;
}

/* CPU pressure in a group; another group goes while it is watched, then the last one. */
E2E_TEST(test_group)
{
	struct e2e_how how = { 0 };
	struct e2e_proc p, counted;
	struct e2e_result r;
	struct text text;
	const char *name, *other, *when, *none;
	char path[300], other_path[300];
	json_t *s;
	pid_t load;
	int i;

	e2e_require();
	e2e_need(box_unified_group(path, sizeof(path), &name), "no cgroup v2");
	e2e_need(box_unified_group(other_path, sizeof(other_path), &other), "no cgroup v2");
	when = e2e_format("cgroup:%s cpu some 500ms/2s", name);
	none = e2e_format("cgroup:%s cpu some 500ms/2s", other + 1);
	start(&p, NULL, "-o json -r 1 -d 0.5 --linger 0", none, when);
	start(&counted, NULL, "-n 2 -r 1 -d 2", when, NEVER);
	check_silent(&p, 3);
	how.cgroup = path;
	load = e2e_load(&how, "load_kind cpu");
	s = sample(&p, 3 * WINDOW);
	assert_true(json_is_false(json_object_get(trigger_of(s, 0), "fired")));
	assert_true(json_is_null(json_object_get(trigger_of(s, 0), "since")));
	assert_true(json_is_true(json_object_get(trigger_of(s, 1), "fired")));
	assert_string_equal(member_text(trigger_of(s, 1), "when"), when);
	assert_null(note_of(s, "trigger-gone"));
	/* -n counts samples, and ends it. */
	e2e_finish(&counted, 5 * WINDOW, &r);
	assert_int_equal(r.status, 0);
	parse_text(r.out.data, r.out.len, &text);
	assert_int_equal(text.n, 2);
	/* The first interval is short, the second as was asked for. */
	assert_true(title_interval(&text.v[0]) < 1.5);
	assert_true(title_interval(&text.v[1]) > 1.5);
	check_tells(&r, when, "reported ");
	check_tells(&r, NEVER, "not reported");
	/* While pressure lasts there is no pause. */
	assert_int_equal(rmdir(other_path), 0);
	for (i = 0; i < 20; i++)
		s = sample(&p, 2);
	assert_true(json_is_true(json_object_get(trigger_of(s, 0), "gone")));
	assert_true(json_is_false(json_object_get(trigger_of(s, 1), "gone")));
	assert_non_null(note_of(s, "trigger-gone"));
	e2e_kill(load);
	while (e2e_skip_line(&p, 3))
		;
	assert_int_equal(rmdir(path), 0);
	e2e_finish(&p, 3, &r);
	check_failed(&r, 1, "nothing is left to wait for");
}

/* In the child: root, but without that capability. */
static int drop_resource(const char *arg)
{
	(void)arg;
	return prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0);
}

/* The window that is asked for is tried; where it takes a capability, what goes without. */
E2E_TEST(test_window)
{
	struct e2e_how hows[] = { { .uid = NOBODY }, { .hook = drop_resource } };
	struct e2e_proc p;
	struct e2e_result r;
	size_t i;

	e2e_require();
	if (access("/proc/pressure/memory", W_OK))
		e2e_skip("no pressure files");
	for (i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
		start(&p, &hows[i], "-n 1", "memory some 300ms/1s", NULL);
		e2e_finish(&p, 5, &r);
		check_failed(&r, 1, "CAP_SYS_RESOURCE");
		check_failed(&r, 1, "use 2s");
		start(&p, &hows[i], "-n 1", "io full 300ms/4.5s", NULL);
		e2e_finish(&p, 5, &r);
		check_failed(&r, 1, "use 6s");
		assert_int_equal(r.out.len, 0);
		/* This one goes, and ends by a signal while it waits. */
		start(&p, &hows[i], "", NEVER, NULL);
		check_silent(&p, 1);
		kill(p.pid, SIGINT);
		e2e_finish(&p, 5, &r);
		assert_int_equal(r.status, 0);
		assert_int_equal(r.out.len + r.err.len, 0);
	}
}

/* What cannot be watched, each with its own line. */
E2E_TEST(test_refused)
{
	struct e2e_how nobody = { .uid = NOBODY };
	struct e2e_proc p;
	struct e2e_result r;
	const char *name, *when;
	char path[300];

	e2e_require();
	e2e_need(box_unified_group(path, sizeof(path), &name), "no cgroup v2");
	when = e2e_format("cgroup:%s memory full 1s/2s", name);
	start(&p, &nobody, "", when, NULL);
	e2e_finish(&p, 5, &r);
	check_failed(&r, 1, "memory.pressure cannot be opened for writing (Permission denied)");
	if (!write_text(e2e_format("%s/cgroup.pressure", path), "0")) {
		start(&p, NULL, "", when, NULL);
		e2e_finish(&p, 5, &r);
		check_failed(&r, 1, "cgroup.pressure");
	}
	assert_int_equal(rmdir(path), 0);
	start(&p, NULL, "", when, NULL);
	e2e_finish(&p, 5, &r);
	check_failed(&r, 1, "no such group");
	if (access("/proc/pressure/irq", F_OK)) {
		start(&p, NULL, "", "irq full 1s/2s", NULL);
		e2e_finish(&p, 5, &r);
		check_failed(&r, 1, "CONFIG_IRQ_TIME_ACCOUNTING");
	}
	start(&p, NULL, "", "memory some 3s/2s", NULL);
	e2e_finish(&p, 5, &r);
	check_failed(&r, 2, "a threshold above 0 and at most the window");
	start(&p, NULL, "", "cgroup:/../x\x1b[2J memory some 1s/2s", NULL);
	e2e_finish(&p, 5, &r);
	check_failed(&r, 2, "\\x1b[2J");
	start(&p, NULL, "-- true", NEVER, NULL);
	e2e_finish(&p, 5, &r);
	check_failed(&r, 2, " cannot be used with a command, which is measured alone");
}
