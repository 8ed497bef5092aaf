// SPDX-License-Identifier: GPL-2.0-or-later
/* What is found in made-up frames: each pattern where it holds, and nothing where it does not. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "tests/lib/findings.h"

/* Nobody waits; somebody does, a little; all are about to; and nothing is known. */
FINDINGS_TEST(test_nothing)
{
	struct state *s = *state;

	assert_null(findings_first(&s->findings));
	build(s);
	check_none(s, "no waits");
	/* As a build does: a third of the time for a CPU, for a disk, and to start programs. */
	runs(s, 0, 1300);
	waits(s, 0, DELAY_CPU, 660);
	waits(s, 1, DELAY_BLKIO, 399);
	waits(s, 2, DELAY_RECLAIM, 99);
	waits(s, 3, DELAY_WPCOPY, 90);
	build(s);
	check_none(s, "no long waits; alpha 1 waited most, 660 ms");
	scene_build(&s->scene, 1, true, 0);
	s->scene.info.prev = &s->scene.samples[0];
	findings_take(&s->findings, &s->view, &s->scene.frame, s->query);
	assert_null(findings_first(&s->findings));
	s->scene.info.since_start = false;
	s->scene.info.prev = NULL;
	findings_take(&s->findings, &s->view, &s->scene.frame, s->query);
	assert_null(findings_first(&s->findings));
}

/* Who is not shown is found to suffer from nothing, but others may from it. */
FINDINGS_TEST(test_filtered)
{
	uid_t users[] = { 7 };
	const struct query query = { .over_ms = -1, .users = users, .nusers = 1 };
	struct state *s = *state;

	waits(s, 0, DELAY_CPU, 1000);
	runs(s, 0, 1000);
	waits(s, 2, DELAY_CPU, 1200);
	runs(s, 2, 800);
	runs(s, 1, 1020);
	s->now[0]->task->uid = 7;
	s->query = &query;
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 50 % of the time for a CPU; beta 2 runs most, 51 %");
	users[0] = 8;
	build(s);
	check_none(s, "no waits");
}

/* Beside pressure it is not said that nothing waits. */
FINDINGS_TEST(test_pressure)
{
	const struct query query = { .over_ms = 1 };
	struct state *s = *state;
	struct system_sample *systems = s->scene.systems;

	for (unsigned i = 0; i < 2; i++) {
		systems[i].pressure.read_ns = SEC(100) + SEC(2) * i;
		systems[i].pressure.psi[PSI_IO].some.valid =
			systems[i].pressure.psi[PSI_CPU].some.valid = true;
		systems[i].pressure.psi[PSI_IO].some.total_us = 5000 + 680000 * i;
		systems[i].pressure.psi[PSI_CPU].some.total_us = 5000 + 198000 * i;
	}
	build(s);
	check_none(s, "io pressure 34 %, but no task is seen waiting for it: cause unknown");
	/* Who waits for something else is not named beside it. */
	waits(s, 1, DELAY_CPU, 340);
	build(s);
	check_none(s, "io pressure 34 %, but no task is seen waiting for it: cause unknown");
	waits(s, 0, DELAY_BLKIO, 350);
	build(s);
	check_none(s, "io pressure 34 %; alpha 1 waited most, 350 ms");
	build(s);
	check_none(s, "io pressure 34 %; alpha 1 waited most, 350 ms");
	/* It is not that of the tasks that are shown. */
	s->query = &query;
	build(s);
	check_none(s, "no long waits; alpha 1 waited most, 350 ms");
	s->query = NULL;
	systems[1].pressure.psi[PSI_IO].some.total_us = 5000 + 199000;
	build(s);
	check_none(s, "no long waits; alpha 1 waited most, 350 ms");
	systems[1].pressure.psi[PSI_IO].some.total_us = 5000 + 2000100;
	build(s);
	check_none(s, "io pressure 100 %; alpha 1 waited most, 350 ms");
}

/* Threads wait, and not their process: none for longer than the time. */
FINDINGS_TEST(test_threads)
{
	struct state *s = *state;

	for (unsigned i = 0; i < 2; i++) {
		s->now[i]->now.threads = s->scene.samples[0].raw[i]->now.threads = i ? 2 : 8;
		s->now[i]->single = s->scene.samples[0].raw[i]->single = false;
	}
	/* Of eight each a little; of two a fifth each. */
	waits(s, 0, DELAY_BLKIO, 900);
	waits(s, 1, DELAY_BLKIO, 700);
	waits(s, 1, DELAY_RECLAIM, 140);
	build(s);
	check_none(s, "no long waits; alpha 1 waited most, 900 ms");
	/* As one of them half of the time. */
	assert_int_equal(findings_worst(&s->findings), 0);
	waits(s, 0, DELAY_BLKIO, 100);
	build(s);
	assert_int_equal(findings_worst(&s->findings), FINDING_WARNING + 1);
	check(s, 0, "io", "io: alpha 1: ~0.5 of 8 threads wait");
	waits(s, 0, DELAY_BLKIO, 5400);
	build(s);
	check(s, 0, "io", "io: alpha 1: ~3.2 of 8 threads wait");
	waits(s, 0, DELAY_BLKIO, 9590);
	waits(s, 1, DELAY_RECLAIM, 1060);
	build(s);
	check(s, 0, "io", "io: alpha 1: 8 of 8 threads wait");
	check(s, 1, "reclaim",
	      "memory: beta 2 spends 60 % of one thread's time reclaiming memory, with 13 % "
	      "of all memory in use");
}

/* What a sleeper was booked in few waits is no wait for a CPU, on a busy machine neither. */
FINDINGS_TEST(test_sleeper)
{
	struct state *s = *state;
	struct delay_sum *cpu = &s->now[0]->counters.delay[DELAY_CPU];

	s->now[0]->single = true;
	s->scene.samples[0].raw[0]->single = true;
	waits(s, 0, DELAY_CPU, 1980);
	runs(s, 0, 10);
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 99 % of the time for a CPU");
	cpu->count = 2;
	build(s);
	assert_int_equal(s->findings.n, 0);
	s->now[0]->now.state = 'R';
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 99 % of the time for a CPU");
}

/* For a CPU, with and without others in the way, with some of the machine idle and none. */
FINDINGS_TEST(test_cpu)
{
	struct state *s = *state;
	struct task_raw *born;
	struct site *site;

	waits(s, 0, DELAY_CPU, 1000);
	runs(s, 0, 1000);
	runs(s, 1, 1020);
	build(s);
	check(s, 0, "cpu", "cpu: alpha 1 waits 50 % of the time for a CPU; beta 2 runs most, 51 %");
	assert_true(s->findings.all[0].share == 50);
	assert_int_equal(s->findings.all[0].severity, FINDING_WARNING);
	assert_string_equal(s->findings.all[0].kind, "cpu");
	set_idle(s, 45);
	waits(s, 1, DELAY_CPU, 980);
	build(s);
	check(s, 0, "cpu-idle",
	      "cpu: alpha 1 waits 50 % of the time for a CPU (and 1 other), while CPUs are "
	      "45 % idle");
	assert_int_equal(s->findings.n, 1);
	assert_int_equal(s->findings.all[0].n, 2);
	/* Who runs most has what others want only where there is no room for both. */
	set_idle(s, 0);
	/* Who came meanwhile, and ran most, is no more than others like it. */
	born = add_newcomer(s);
	born->counters.run_ns = MS(990);
	build(s);
	assert_non_null(strstr(finding_text(&s->findings, &s->findings.all[0]), "runs most"));
	born->counters.run_ns = MS(1030);
	build(s);
	assert_null(strstr(finding_text(&s->findings, &s->findings.all[0]), "runs most"));
	born->counters.run_ns = 0;
	/* Of who was not read it is not known how much they run. */
	s->scene.info.selected_only = true;
	set_idle(s, 45);
	build(s);
	check(s, 0, "cpu-idle",
	      "cpu: alpha 1 waits 50 % of the time for a CPU (and 1 other), while CPUs are "
	      "45 % idle");
	s->scene.info.selected_only = false;
	site = traces(s, 0, STATE_CPU, 900);
	site->on = "2 beta";
	set_idle(s, 0);
	build(s);
	check(s, 0, "cpu",
	      "cpu: alpha 1 waits 50 % of the time for a CPU (and 1 other), 90 % behind 2 "
	      "beta");
	assert_ptr_equal(s->findings.all[0].site, site);
}

/* A quota, as traced: it is not taken for a lack of CPUs. */
FINDINGS_TEST(test_throttled)
{
	struct state *s = *state;
	struct site *site;

	waits(s, 0, DELAY_CPU, 1600);
	runs(s, 0, 400);
	site = traces(s, 0, STATE_CPU, 1580);
	site->on = SITE_THROTTLED "its cgroup's quota";
	set_idle(s, 68);
	build(s);
	check(s, 0, "throttled-idle",
	      "cpu: alpha 1 throttled 79 % of the time by its cgroup's quota, while CPUs are "
	      "68 % idle");
	assert_int_equal(s->findings.n, 1);
	set_idle(s, 3);
	build(s);
	check(s, 0, "throttled", "cpu: alpha 1 throttled 79 % of the time by its cgroup's quota");
	assert_int_equal(s->findings.n, 1);
	/* A little of it explains nothing. */
	site->ns = MS(100);
	build(s);
	assert_string_equal(s->findings.all[0].id, "cpu");
	assert_int_equal(s->findings.n, 1);
}

/* What is read of a group that may be throttled, and reach its limit of memory. */
static const struct cgroup_sample of_group = { .have = CGROUP_BIT(CGROUP_THROTTLE) |
						       CGROUP_BIT(CGROUP_EVENTS),
					       .read_ns = { [CGROUP_THROTTLE] = SEC(1) },
					       .event_valid = 1u << CGROUP_EVENT_MAX };

/* What was read of it two seconds later, when it had been throttled for so long. */
static struct cgroup_sample throttled_for(uint64_t ns)
{
	struct cgroup_sample now = of_group;

	now.read_ns[CGROUP_THROTTLE] = SEC(3);
	now.throttled_ns = ns;
	return now;
}

/* Groups, of which one has these figures, and what is found. */
static void find_in_groups(struct state *s, const char *name, struct group_figures figures)
{
	const struct grouping_options options = { .by = GROUP_CGROUP, .readable = true };

	s->view.frame = group_fold(&s->grouping, &s->scene.frame, &options);
	for (size_t i = 0; i < s->view.frame->n; i++)
		if (!strcmp(s->view.frame->rows[i].group->name, name))
			*s->view.frame->rows[i].group->figures = figures;
	findings_take(&s->findings, &s->view, &s->scene.frame, s->query);
}

/* A group in which one waits for a CPU while the machine idles. */
static void set_shop(struct state *s)
{
	for (unsigned i = 0; i < TASKS; i++) {
		task_set_cgroup(s->now[i]->task, shared_text(i ? "/shop" : "/other"));
		s->now[i]->task->info = NEED_CGROUP;
	}
	waits(s, 2, DELAY_CPU, 1400);
	runs(s, 2, 100);
	set_idle(s, 68);
	build(s);
}

/* By its figures a group is throttled; it was read how large its quota is, or is not known. */
FINDINGS_TEST(test_throttled_group)
{
	static const struct {
		double cpus;
		const char *group;
		const char *quota;
	} quotas[] = { { 0.2, "/shop", " of 0.2 CPUs" },
		       { 0.25, "/", " of 0.25 CPUs" },
		       { 0.25, "/shop/deeper", "" } };
	const struct cgroup_sample now = throttled_for(MS(1260));
	struct state *s = *state;
	char text[160];

	set_shop(s);
	check(s, 0, "cpu-idle",
	      "cpu: gamma 3 waits 70 % of the time for a CPU, while CPUs are 68 % idle");
	find_in_groups(s, "/shop", (struct group_figures){ &now, &of_group, NULL });
	check(s, 0, "throttled-idle",
	      "cpu: /shop throttled 63 % of the time by a quota, while CPUs are 68 % idle");
	assert_string_equal(s->findings.all[0].row->group->name, "/shop");
	assert_int_equal(s->findings.n, 1);
	assert_true(s->findings.all[0].limit == LIMIT_CPU);
	for (size_t i = 0; i < ARRAY_SIZE(quotas); i++) {
		struct task_extra *extra = sample_add_extra(&s->scene.samples[1], 1);

		evidence_free(extra->evidence);
		extra->evidence = xcalloc(1, sizeof(*extra->evidence));
		extra->evidence->throttled = -1;
		extra->evidence->quota = quotas[i].cpus;
		extra->evidence->cpu_group.name = xstrdup(quotas[i].group);
		findings_take(&s->findings, &s->view, &s->scene.frame, s->query);
		snprintf(text, sizeof(text),
			 "cpu: /shop throttled 63 %% of the time by a quota%s, while CPUs are "
			 "68 %% idle",
			 quotas[i].quota);
		check(s, 0, "throttled-idle", text);
	}
}

/* By the quota of a group above. */
FINDINGS_TEST(test_throttled_above)
{
	const struct cgroup_sample now = throttled_for(MS(1260));
	const struct group_above slice = { "/slice", { &now, &of_group, NULL } };
	struct state *s = *state;

	set_shop(s);
	find_in_groups(s, "/shop", (struct group_figures){ &of_group, &of_group, &slice });
	check(s, 0, "throttled-idle",
	      "cpu: /shop throttled 63 % of the time by a quota, while CPUs are 68 % idle");
}

/* Who reached its limit of memory did not wait for it before it waits for memory. */
FINDINGS_TEST(test_memory_limit)
{
	struct cgroup_sample now = throttled_for(0);
	struct state *s = *state;

	set_shop(s);
	now.events[CGROUP_EVENT_MAX] = 37;
	find_in_groups(s, "/shop", (struct group_figures){ &now, &of_group, NULL });
	assert_string_equal(s->findings.all[0].id, "cpu-idle");
	assert_int_equal(s->findings.n, 1);
	waits(s, 3, DELAY_RECLAIM, 500);
	scene_build(&s->scene, 1, false, 0);
	find_in_groups(s, "/shop", (struct group_figures){ &now, &of_group, NULL });
	check(s, 1, "memory-limit",
	      "memory: /shop waits 25 % of the time for memory, at its limit 37 times");
}

/* For a disk: who, in which call, of which file, and behind whom. */
FINDINGS_TEST(test_io)
{
	struct state *s = *state;
	struct site *site, *held;

	waits(s, 3, DELAY_BLKIO, 1020);
	build(s);
	check(s, 0, "io", "io: delta 4 waits 51 % of the time");
	assert_string_equal(s->findings.all[0].kind, "blkio");
	waits(s, 0, DELAY_BLKIO, 400);
	build(s);
	check(s, 0, "io", "io: delta 4 waits 51 % of the time (and 1 other)");
	site = traces(s, 3, STATE_IO, 1000);
	site->syscall = "fsync";
	site->on = "/var/mail/q";
	build(s);
	check(s, 0, "io",
	      "io: delta 4 waits 51 % of the time (and 1 other), in fsync on /var/mail/q");
	held = traces(s, 3, STATE_DWAIT, 200);
	held->syscall = "pwrite64";
	held->on = "/var/mail/q";
	held->wakers[0] = (struct site_waker){ .tgid = 2, .name = "beta", .ns = MS(180) };
	build(s);
	check(s, 0, "io",
	      "io: delta 4 waits 51 % of the time (and 1 other), in fsync on /var/mail/q; 9.0 % "
	      "behind beta 2");
	/* Of another file it has nothing to do with this. */
	held->on = "/var/mail/r";
	build(s);
	check(s, 0, "io",
	      "io: delta 4 waits 51 % of the time (and 1 other), in fsync on /var/mail/q");
	/* What is little of it is not named. */
	site->ns = MS(100);
	build(s);
	check(s, 0, "io", "io: delta 4 waits 51 % of the time (and 1 other)");
	assert_null(s->findings.all[0].site);
}

/* Who writes most is said where that is known of all who did anything. */
FINDINGS_TEST(test_writer)
{
	struct state *s = *state;
	struct site *site;

	waits(s, 3, DELAY_BLKIO, 1020);
	runs(s, 0, 10);
	for (unsigned i = 0; i < 2; i++)
		sample_extend(&s->scene.samples[i], NEED_IO);
	for (unsigned i = 0; i < TASKS; i++)
		s->scene.samples[0].procs[i].io_valid = s->scene.samples[1].procs[i].io_valid =
			true;
	s->scene.samples[1].procs[0].io.written = 2048 << 10;
	s->scene.samples[1].procs[3].io.written = 1024 << 10;
	build(s);
	check(s, 0, "io", "io: delta 4 waits 51 % of the time; alpha 1 writes most, 1024 kB/s");
	/* Where there is little room the culprit says more than the place. */
	site = traces(s, 3, STATE_IO, 1020);
	site->syscall = "fsync";
	site->on = "/var/mail/queue/4711";
	build(s);
	s->text.len = 0;
	finding_append(&s->text, &s->findings, &s->findings.all[0], 78, TEXT_UTF8);
	assert_string_equal(
		buf_cstr(&s->text),
		"io: delta waits 51 %, in fsync on +/queue/4711; alpha 1 writes most, 1024 kB/s");
	s->text.len = 0;
	finding_append(&s->text, &s->findings, &s->findings.all[0], 70, TEXT_UTF8);
	assert_string_equal(buf_cstr(&s->text),
			    "io: delta waits 51 %; alpha 1 writes most, 1024 kB/s");
	s->trace.n = 0;
	memset(s->traced, 0, sizeof(s->traced));
	/* Who did nothing wrote nothing. */
	s->scene.samples[1].procs[2].io_valid = false;
	build(s);
	check(s, 0, "io", "io: delta 4 waits 51 % of the time; alpha 1 writes most, 1024 kB/s");
	runs(s, 2, 10);
	build(s);
	check(s, 0, "io", "io: delta 4 waits 51 % of the time");
}

/* In state D without I/O; not of who only starts programs. */
FINDINGS_TEST(test_dwait)
{
	struct state *s = *state;
	struct site *site = traces(s, 1, STATE_DWAIT, 600);

	site->syscall = "rename";
	site->on = "/srv/a";
	site->wakers[0] = (struct site_waker){ .tgid = 1, .name = "alpha", .ns = MS(400) };
	sleeps(s, 1, SEEN_DWAIT, 600);
	build(s);
	check(s, 0, "dwait",
	      "dwait: beta 2 waits 30 % of the time, in rename on /srv/a, mostly woken by "
	      "alpha 1");
	assert_int_equal(s->findings.n, 1);
	site->wakers[0].ns = MS(200);
	build(s);
	check(s, 0, "dwait", "dwait: beta 2 waits 30 % of the time, in rename on /srv/a");
	site->syscall = "clone3";
	site->on = NULL;
	build(s);
	assert_int_equal(s->findings.n, 0);
}

/* The kinds of memory, and interrupts. */
FINDINGS_TEST(test_losses)
{
	static const struct {
		enum delay_kind kind;
		const char *id, *text;
	} losses[] = {
		{ DELAY_SWAPIN, "swapin",
		  "memory: beta 2 spends 20 % of the time waiting on swap-in, with 13 % of all "
		  "memory in use" },
		{ DELAY_RECLAIM, "reclaim",
		  "memory: beta 2 spends 20 % of the time reclaiming memory, with 13 % of all "
		  "memory in use" },
		{ DELAY_THRASH, "thrash",
		  "memory: beta 2 spends 20 % of the time re-reading just-evicted pages, with 13 "
		  "% of all memory in use" },
		{ DELAY_COMPACT, "compact",
		  "memory: beta 2 spends 20 % of the time compacting memory, with 13 % of all "
		  "memory in use" },
		{ DELAY_IRQ, "irq", "irq: beta 2 spends 20 % of the time delayed by interrupts" },
	};
	struct state *s = *state;

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		memset(s->now[1]->counters.delay, 0, sizeof(s->now[1]->counters.delay));
		waits(s, 1, losses[i].kind, 99);
		build(s);
		assert_int_equal(s->findings.n, 0);
		waits(s, 1, losses[i].kind, 301);
		build(s);
		check(s, 0, losses[i].id, losses[i].text);
		assert_string_equal(s->findings.all[0].kind, losses[i].id);
		assert_int_equal(s->findings.n, 1);
	}
	s->scene.systems[1].memory_valid = false;
	memset(s->now[1]->counters.delay, 0, sizeof(s->now[1]->counters.delay));
	waits(s, 1, DELAY_RECLAIM, 400);
	build(s);
	check(s, 0, "reclaim", "memory: beta 2 spends 20 % of the time reclaiming memory");
}

/* For peers, but only of who was asked about. */
FINDINGS_TEST(test_peers)
{
	static const struct {
		enum wait_state state;
		const char *syscall, *on, *id, *text;
	} peers[] = {
		{ STATE_NET, "recvfrom", "tcp 10.0.0.1:5432", "net",
		  "net: gamma 3 waits 98 % of the time, in recvfrom on tcp 10.0.0.1:5432, mostly "
		  "woken by beta 2" },
		{ STATE_PIPE, "read", "pipe of 2 beta", "pipe",
		  "pipe: gamma 3 waits 98 % of the time, in read on pipe of 2 beta, mostly woken "
		  "by beta 2" },
		{ STATE_CHILD, "wait4", "child 2", "child",
		  "child: gamma 3 waits 98 % of the time, in wait4 on child 2, mostly woken by "
		  "beta 2" },
	};
	struct state *s = *state;

	for (size_t i = 0; i < ARRAY_SIZE(peers); i++) {
		struct site *site;

		s->trace.n = 0;
		memset(s->traced, 0, sizeof(s->traced));
		site = traces(s, 2, peers[i].state, 1960);
		site->syscall = peers[i].syscall;
		site->on = peers[i].on;
		site->wakers[0] = (struct site_waker){ .tgid = 2, .name = "beta", .ns = SEC(1) };
		s->scene.info.selected_only = true;
		build(s);
		check(s, 0, peers[i].id, peers[i].text);
		assert_int_equal(s->findings.n, 1);
		assert_int_equal(s->findings.all[0].severity, FINDING_INFO);
		s->scene.info.selected_only = false;
		build(s);
		check_none(s, "no waits");
	}
	/* Who has nothing to do is never told of. */
	s->trace.n = 0;
	memset(s->traced, 0, sizeof(s->traced));
	traces(s, 2, STATE_POLL, 2000);
	s->scene.info.selected_only = true;
	build(s);
	check_none(s, "no waits");
}

/* For a lock, whoever was asked about: held, or taken in turn. */
FINDINGS_TEST(test_lock)
{
	static const enum wait_state states[] = { STATE_LOCK, STATE_PARK };
	struct state *s = *state;

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		struct site *site;

		s->trace.n = 0;
		memset(s->traced, 0, sizeof(s->traced));
		site = traces(s, 2, states[i], 1960);
		site->class = CLASS_CONTENDED;
		site->syscall = "futex";
		site->on = "futex 0x10 held by 2 beta (1 wait)";
		build(s);
		check(s, 0, "lock",
		      "lock: gamma 3 waits 98 % of the time, in futex on futex 0x10 held by 2 beta "
		      "(1 wait)");
		assert_int_equal(s->findings.n, 1);
		assert_int_equal(s->findings.all[0].severity, FINDING_WARNING);
		/* All that wait so are counted. */
		for (unsigned n = 0; n < 2; n++) {
			site = traces(s, n, states[i], 1900 - 10 * n);
			site->class = CLASS_CONTENDED;
		}
		build(s);
		assert_int_equal(s->findings.all[0].n, 3);
		check(s, 0, "lock",
		      "lock: gamma 3 waits 98 % of the time, in futex on futex 0x10 held by 2 beta "
		      "(1 wait) (and 2 others)");
		s->trace.n = 0;
		memset(s->traced, 0, sizeof(s->traced));
		site = traces(s, 2, states[i], 1960);
		site->class = CLASS_CONTENDED;
		/* Half of the time is enough, and it must be a lock. */
		site->ns = SEC(2) * 49 / 100;
		build(s);
		check_none(s, "no waits");
		site->ns = SEC(2);
		site->class = CLASS_UNKNOWN;
		build(s);
		check_none(s, "no waits");
	}
}

/* A peer that is polled has its answer to give; completions of requests have nobody. */
FINDINGS_TEST(test_answer)
{
	struct state *s = *state;
	struct site *site = traces(s, 2, STATE_POLL, 1960);

	site->class = CLASS_REMOTE;
	site->syscall = "epoll_wait";
	site->on = "unix of 2 beta";
	s->scene.info.selected_only = true;
	build(s);
	check(s, 0, "answer",
	      "net: gamma 3 waits 98 % of the time, in epoll_wait on unix of 2 beta");
	site->syscall = "io_uring_enter";
	site->on = "io_uring";
	build(s);
	check_none(s, "no waits");
}

/* What is not counted is said. */
FINDINGS_TEST(test_uncounted)
{
	struct state *s = *state;

	build(s);
	s->scene.info.head.delayacct = DELAYACCT_OFF;
	findings_take(&s->findings, &s->view, &s->scene.frame, s->query);
	check(s, 0, "uncounted", "disk and memory waits are unknown");
	assert_int_equal(s->findings.all[0].severity, FINDING_INFO);
	assert_null(s->findings.all[0].row);
	s->scene.info.head.delayacct = DELAYACCT_UNKNOWN;
	s->scene.info.kinds = DELAY_BIT(DELAY_CPU);
	findings_take(&s->findings, &s->view, &s->scene.frame, s->query);
	check(s, 0, "uncounted", "disk and memory waits are unknown");
}

/* Hangs first, then by share, all of the time being as much as there is. */
FINDINGS_TEST(test_order)
{
	static const char *const ids[] = { "hang", "reclaim", "cpu", "io", "uncounted" };
	struct state *s = *state;

	waits(s, 0, DELAY_BLKIO, 500);
	waits(s, 1, DELAY_CPU, 1000);
	waits(s, 2, DELAY_RECLAIM, 1200);
	sleeps(s, 3, SEEN_DWAIT, 3000);
	build(s);
	s->scene.info.head.delayacct = DELAYACCT_OFF;
	findings_take(&s->findings, &s->view, &s->scene.frame, s->query);
	assert_int_equal(s->findings.n, ARRAY_SIZE(ids));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_string_equal(s->findings.all[i].id, ids[i]);
	assert_ptr_equal(findings_first(&s->findings), &s->findings.all[0]);
}

/* Those that came or went are no finding, and short intervals make none. */
FINDINGS_TEST(test_transient)
{
	struct state *s = *state;
	struct task_raw *born = add_newcomer(s);

	born->counters.delay[DELAY_CPU].ns = MS(900);
	build(s);
	check_none(s, "no long waits; cc1 9 waited most, 900 ms");
	s->scene.samples[1].begin_ns = s->scene.samples[0].begin_ns + MS(60);
	for (unsigned i = 0; i < TASKS; i++)
		s->now[i]->read_ns = s->scene.samples[1].begin_ns;
	waits(s, 0, DELAY_CPU, 40);
	build(s);
	assert_int_equal(s->findings.n, 0);
	waits(s, 0, DELAY_CPU, 15);
	build(s);
	assert_int_equal(s->findings.n, 1);
}

/* Names are hostile, and a target gives way to what says more. */
FINDINGS_TEST(test_cells)
{
	struct state *s = *state;
	const struct finding *finding = &s->findings.all[0];
	struct site *site;

	task_set_comm(s->now[0]->task, "a\nb", 3);
	waits(s, 0, DELAY_BLKIO, 2000);
	site = traces(s, 0, STATE_IO, 2000);
	site->syscall = "fsync";
	site->on = "/a/very/long/way/to/the/file";
	build(s);
	check(s, 0, "io",
	      "io: a\\x0ab 1 waits 100 % of the time, in fsync on /a/very/long/way/to/the/file");
	s->text.len = 0;
	finding_append(&s->text, &s->findings, finding, 63, TEXT_UTF8);
	assert_string_equal(buf_cstr(&s->text),
			    "io: a\\x0ab waits 100 %, in fsync on +/very/long/way/to/the/file");
	s->text.len = 0;
	finding_append(&s->text, &s->findings, finding, 40, TEXT_UTF8);
	assert_string_equal(buf_cstr(&s->text), "io: a\\x0ab waits 100 %, in fsync on /a/+");
}
