// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/recording.h"
#include "tests/lib/story.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "frame/group.h"

#define MS(n) (UINT64_C(1000000) * (uint64_t)(n))
#define SEC(n) (UINT64_C(1000000000) * (uint64_t)(n))

#define INTERVAL_S 2
#define WORKERS 40
#define VALID (DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK)

/* How much of what the roles say happens in each interval, in percent. */
static const unsigned acts[] = { 0, 20, 20, 40, 10, 60, 100, 90, 70, 30, 100 };

/* A process: what it is, and what it does in 2 s. */
struct role {
	pid_t pid, ppid;
	uid_t uid;
	const char *user, *comm, *command, *cgroup;
	char state;
	unsigned threads;
	unsigned run, waits[DELAY_KINDS]; /* ms */
};

#define WAITS(kind, ms) .waits[DELAY_##kind] = (ms)

static const struct role roles[] = {
	{ 1, 0, 0, "root", "systemd", "/usr/lib/systemd/systemd", "/init.scope", 'S', 1, .run = 2 },
	{ 212, 1, 0, "root", "sshd", "/usr/sbin/sshd -D", "/system.slice/ssh.service", 'S', 1,
	  .run = 0 },
	{ 304, 1, 104, "postfix", "mailserver", "/usr/sbin/mailserver --queue /var/spool/mail",
	  "/system.slice/mail.service", 'D', 3, .run = 60, WAITS(CPU, 8), WAITS(BLKIO, 1730) },
	{ 305, 304, 104, "postfix", "bulk-export", "bulk-export --all /var/backups/mail",
	  "/system.slice/mail.service", 'D', 1, .run = 410, WAITS(CPU, 12), WAITS(BLKIO, 940) },
	{ 420, 1, 33, "www-data", "shop", "/opt/shop/bin/shop --workers 4",
	  "/system.slice/shop.service", 'R', 4, .run = 400, WAITS(CPU, 2400) },
	{ 521, 1, 110, "search", "search", "/opt/search/bin/search -m 512",
	  "/system.slice/search.service", 'D', 2, .run = 220, WAITS(CPU, 30), WAITS(BLKIO, 120),
	  WAITS(SWAPIN, 310), WAITS(RECLAIM, 260), WAITS(THRASH, 480), WAITS(COMPACT, 25) },
	{ 640, 1, 112, "postgres", "postgres", "/usr/lib/postgresql/bin/postgres -D /data",
	  "/system.slice/db.service", 'S', 1, .run = 140, WAITS(CPU, 6), WAITS(BLKIO, 42),
	  WAITS(WPCOPY, 3) },
	{ 2001, 1, 1000, "jos\u00e9", "\u7de8\u8f2f", "\u7de8\u8f2f \u00fcbersicht.txt",
	  "/user.slice/user-1000.slice/session-3.scope", 'S', 1, .run = 5, WAITS(CPU, 1) },
	{ 2002, 2001, 1000, "jos\u00e9", "evil\x1b[2J", "evil \x1b[2J\nsecond",
	  "/user.slice/user-1000.slice/session-3.scope", 'T', 1, .run = 0 },
	{ 90210, 2001, 1000, "jos\u00e9", "a-long-name-of-15", "build --jobs 8",
	  "/user.slice/user-1000.slice/session-3.scope", 'R', 8, .run = 1620, WAITS(CPU, 310) },
};

/* Where the waits of a process are, in ms of 2 s. */
static const struct scene_site {
	pid_t pid;
	const char *comm;
	enum wait_state state;
	enum wait_class class;
	int kind;
	const char *syscall, *on, *where;
	unsigned ms, count, waiting;
	pid_t waker;
	const char *waker_name;
} sites[] = {
	{ 304, "mailserver", STATE_IO, CLASS_REMOTE, DELAY_BLKIO, "fsync", "/var/spool/mail/q",
	  "jbd2_log_wait_commit", 1730, 34, 1, 305, "bulk-export" },
	{ 305, "bulk-export", STATE_IO, CLASS_REMOTE, DELAY_BLKIO, "write", "/var/backups/mail/x",
	  "balance_dirty_pages", 940, 120, 0, 0, "nvme0q1" },
	{ 420, "shop", STATE_CPU, CLASS_LIMITED, DELAY_CPU, NULL,
	  SITE_THROTTLED "its cgroup's quota", NULL, 2400, 80, 3, 0, "timer" },
	{ 420, "shop", STATE_NET, CLASS_REMOTE, -1, "recvfrom", "tcp 10.0.0.7:5432", "sk_wait_data",
	  1100, 410, 1, 640, "postgres" },
	{ 420, "shop", STATE_PARK, CLASS_IDLE, -1, "futex", "futex of shop", "futex_wait_queue",
	  4100, 12, 2, 420, "shop" },
	{ 521, "search", STATE_IO, CLASS_REMOTE, DELAY_BLKIO, "page fault", "/data/search/index",
	  "folio_wait_bit_common", 120, 61, 1, 0, "nvme0q1" },
	{ 521, "search", STATE_LOCK, CLASS_CONTENDED, -1, "futex", "held by search 521",
	  "futex_wait_queue", 640, 18, 1, 521, "search" },
	{ 640, "postgres", STATE_POLL, CLASS_IDLE, -1, "epoll_wait", "12 sockets", "ep_poll", 1790,
	  410, 1, 420, "shop" },
};

/* The made-up machine between two samples. */
struct machine {
	struct sample samples[3];
	struct system_sample systems[3];
	struct frame frame;
	struct frame_info infos[2];
	struct clocks clocks;
	struct grouping grouping;
	struct trace_frame trace;
	struct site sites[ARRAY_SIZE(sites)];
	struct traced traced[ARRAY_SIZE(roles) + WORKERS];
	struct cgroup_sample groups[2][16];
	unsigned turn, act;
	uint64_t now_ns;
};

/* One of the workers, who make the table longer than any screen. */
static struct role worker(unsigned i)
{
	static char comms[WORKERS][TASK_COMM_MAX];

	snprintf(comms[i], sizeof(comms[i]), "worker/%u", i);
	return (struct role){ .pid = (pid_t)(3000 + 7 * i),
			      .ppid = 1,
			      .uid = 200,
			      .user = "batch",
			      .comm = comms[i],
			      .command = comms[i],
			      .cgroup = "/system.slice/batch.service",
			      .state = 'S',
			      .threads = 1,
			      .run = i < 30 ? 31 - i : 0,
			      WAITS(CPU, i < 25 ? 75 - 3 * i : 0),
			      WAITS(WPCOPY, i % 5 == 2 ? 9 : 0) };
}

/* The role at a place in the order of pids. */
static struct role role_at(unsigned i)
{
	unsigned last = ARRAY_SIZE(roles) - 1;

	if (i < last)
		return roles[i];
	return i == last + WORKERS ? roles[last] : worker(i - last);
}

/* What a part of an interval's ms is in this one, in ns. */
static uint64_t share(const struct machine *m, unsigned ms)
{
	return MS(ms) * m->act / 100;
}

/* Adds the process, with what it did since the sample before. */
static void add_task(const struct machine *m, struct sample *cur, const struct task_raw *was,
		     const struct role *role)
{
	struct task_raw *raw = sample_add(cur, role->pid, role->pid);
	uint64_t start_ns = SEC(10 + role->pid % 700);

	if (was) {
		*raw = *was;
		task_ref(raw->task);
	} else {
		raw->task = task_new((struct task_key){ role->pid, start_ns }, role->pid);
		raw->task->ppid = role->ppid;
		raw->task->uid = role->uid;
		task_set_user(raw->task, shared_text(role->user));
		raw->task->command = strdup(role->command);
		task_set_cgroup(raw->task, shared_text(role->cgroup));
		task_set_comm(raw->task, role->comm, strlen(role->comm));
		raw->counters.valid = VALID;
	}
	raw->single = role->threads == 1;
	raw->read_ns = m->now_ns;
	raw->now =
		(struct task_now){ .state = role->state, .exact = true, .threads = role->threads };
	raw->counters.life_ns = role->threads * (m->now_ns - start_ns);
	raw->counters.run_ns += share(m, role->run);
	raw->counters.user_ns += share(m, role->run) / 4 * 3;
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (role->waits[kind]) {
			raw->counters.delay[kind].ns += share(m, role->waits[kind]);
			raw->counters.delay[kind].count += 1 + role->waits[kind] / 9;
		}
}

/* The pressure of a resource: percent of the last interval, more or less. */
static struct psi pressure(const struct machine *m, const struct psi *was, unsigned percent)
{
	uint32_t some = percent * m->act, full = some / 3;

	return (struct psi){ .some = { true, some, some / 2, some / 5,
				       was->some.total_us + share(m, percent * 20) / 1000 },
			     .full = { true, full, full / 2, full / 5,
				       was->full.total_us + share(m, percent * 6) / 1000 } };
}

/* What is read of the machine. */
static void fill_system(const struct machine *m, const struct system_sample *was,
			struct system_sample *now)
{
	static const unsigned busy[CPU_STATES] = { [CPU_USER] = 2100,
						   [CPU_SYSTEM] = 700,
						   [CPU_IDLE] = 3200,
						   [CPU_IOWAIT] = 1900,
						   [CPU_SOFTIRQ] = 100 };
	static const unsigned percents[PSI_RESOURCES] = {
		[PSI_CPU] = 31, [PSI_MEMORY] = 14, [PSI_IO] = 68
	};

	*now = (struct system_sample){ .cpu_valid = true,
				       .load_valid = true,
				       .uptime_valid = true,
				       .memory_valid = true,
				       .cpus = 4,
				       .forks = 50000 + 12 * m->turn,
				       .load = { 4.25, 3.5, 1.75 },
				       .uptime = (double)(m->now_ns / SEC(1)),
				       .memory_total = 16000000,
				       .memory_used = 14300000,
				       .swap_total = 4000000,
				       .swap_used = 600000 };
	for (unsigned i = 0; i < CPU_STATES; i++)
		now->cpu_ns[i] = was->cpu_ns[i] + MS(busy[i]);
	now->pressure.read_ns = m->now_ns;
	now->pressure.error[PSI_IRQ] = -ENOENT;
	for (unsigned i = 0; i < PSI_IRQ; i++)
		now->pressure.psi[i] = pressure(m, &was->pressure.psi[i], percents[i]);
}

/* Says where the processes waited, and how their threads spent the interval. */
static void trace(struct machine *m, struct frame *frame, struct frame_info *info)
{
	static const char *const functions[] = { "io_schedule+0x46", "folio_wait_bit_common+0x13a",
						 "filemap_fault+0x4f1" };
	static const struct site_stack stacks[] = { { NULL, 0 }, { functions, 3 } };
	size_t n = 0;

	memset(m->traced, 0, sizeof(m->traced));
	for (size_t i = 0; i < ARRAY_SIZE(sites); i++) {
		const struct scene_site *of = &sites[i];
		struct site *site = &m->sites[n++];
		uint64_t max_ns = site->max_ns;

		*site = (struct site){ .id = i + 1,
				       .tgid = of->pid,
				       .start_ns = SEC(10 + of->pid % 700),
				       .comm = of->comm,
				       .state = of->state,
				       .class = of->class,
				       .kind = of->kind,
				       .syscall = of->syscall,
				       .on = of->on,
				       .where = of->where,
				       .stack = of->state == STATE_IO,
				       .count = of->count,
				       .ns = share(m, of->ms),
				       .kind_ns = of->kind < 0 ? 0 : share(m, of->ms),
				       .waiting = of->waiting,
				       .waiting_ns = of->waiting * MS(40) };
		site->max_ns =
			site->ns / of->count * 4 > max_ns ? site->ns / of->count * 4 : max_ns;
		site->log2_us[10] = of->count / 2;
		site->log2_us[12] = of->count - of->count / 2 - of->count / 6;
		site->log2_us[15] = of->count / 6;
		site->wakers[0] =
			(struct site_waker){ of->waker, of->waker_name, site->ns, of->count };
	}
	for (size_t i = 0; i < frame->n; i++) {
		struct row *row = &frame->rows[i];
		struct traced *traced = &m->traced[i];
		uint64_t left = row->raw->now.threads * info->interval_ns;

		traced->tgid = row->task->tgid;
		traced->start_ns = row->task->key.start_ns;
		traced->states.ns[STATE_RUN] = row->deltas->grown.run_ns;
		for (size_t s = 0; s < n; s++)
			if (m->sites[s].tgid == traced->tgid) {
				traced->states.ns[m->sites[s].state] += m->sites[s].ns;
				traced->waker = m->sites[s].tgid == 304 ? "305 bulk-export" : NULL;
			}
		for (unsigned s = 0; s < WAIT_STATES; s++)
			left -= left < traced->states.ns[s] ? left : traced->states.ns[s];
		traced->states.ns[STATE_TIMER] += left;
		row->traced = traced;
		frame_resolve(frame, row);
	}
	qsort(m->sites, n, sizeof(*m->sites),
	      (int (*)(const void *, const void *))(void (*)(void))site_compare);
	m->trace = (struct trace_frame){ .sites = SITES_OF(m->sites, n),
					 .n = n,
					 .stacks = stacks,
					 .nstacks = ARRAY_SIZE(stacks),
					 .interval_ns = info->interval_ns,
					 .switches = 8123,
					 .cost = 0.4 };
	info->trace = &m->trace;
}

/* Any task belongs to a group. */
static bool all_pass(const void *arg, const struct row *row)
{
	(void)arg;
	(void)row;
	return true;
}

/* The groups of a frame with what their files say. */
static const struct frame *fold(struct machine *m, const struct frame *frame)
{
	const struct grouping_options options = { .by = GROUP_CGROUP, .passes = all_pass };
	const struct frame *folded = group_fold(&m->grouping, frame, &options);
	struct cgroup_sample *now = m->groups[m->turn % 2], *was = m->groups[(m->turn + 1) % 2];

	for (size_t i = 0; i < folded->n && i < ARRAY_SIZE(m->groups[0]); i++) {
		const struct group *group = folded->rows[i].group;
		unsigned throttled = strstr(group->name, "shop") ? 2400 : 0;

		now[i] = (struct cgroup_sample){ .have = CGROUP_ALL & ~CGROUP_BIT(CGROUP_STATES) &
							 ~CGROUP_BIT(PSI_IRQ),
						 .event_valid = (1u << CGROUP_EVENT_KINDS) - 1 };
		for (unsigned part = 0; part < CGROUP_PARTS; part++)
			now[i].read_ns[part] = m->now_ns;
		for (unsigned r = 0; r < PSI_IRQ; r++)
			now[i].psi[r] = pressure(m, &was[i].psi[r], (unsigned)i * 5 + r);
		now[i].throttled_ns = was[i].throttled_ns + share(m, throttled);
		now[i].throttled = was[i].throttled + throttled / 100;
		now[i].events[CGROUP_EVENT_HIGH] = m->turn * (unsigned)i;
		group->figures->now = &now[i];
		group->figures->before = m->turn ? &was[i] : NULL;
	}
	return folded;
}

/* The next frame, which lasts 2 s. */
static struct frame *next_frame(struct machine *m)
{
	struct sample *prev = m->turn ? &m->samples[(m->turn + 2) % 3] : NULL;
	struct sample *cur = &m->samples[m->turn % 3];
	struct system_sample *system = &m->systems[m->turn % 3];
	struct frame *frame = &m->frame;
	struct frame_info *info = &m->infos[m->turn % 2];
	const struct frame_options options = { .machine.cpus = 4 };

	m->act = acts[m->turn];
	m->now_ns = SEC(86400 + INTERVAL_S * m->turn);
	/* 2026-03-01 10:00:00 UTC and on */
	clocks_read(&m->clocks, &(struct clock_times){ m->now_ns, m->now_ns,
						       SEC(1772359200 + INTERVAL_S * m->turn) });
	sample_reset(cur);
	cur->begin_ns = m->now_ns;
	cur->end_ns = m->now_ns + MS(2);
	cur->real_ns = SEC(1772359200 + INTERVAL_S * m->turn);
	for (unsigned i = 0; i < ARRAY_SIZE(roles) + WORKERS; i++) {
		struct role role = role_at(i);

		add_task(m, cur, prev ? prev->raw[i] : NULL, &role);
	}
	frame_build(frame, info, prev, cur, &options);
	fill_system(m, &m->systems[(m->turn + 2) % 3], system);
	info->clocks = &m->clocks;
	info->system = system;
	info->system_before = prev ? &m->systems[(m->turn + 2) % 3] : NULL;
	info->head.source = "bpf";
	info->head.hierarchy = "v2";
	info->head.hierarchy_version = 2;
	info->head.delayacct = DELAYACCT_ON;
	info->head.exits = 3;
	info->head.self = 0.3;
	if (prev)
		trace(m, frame, info);
	return frame;
}

static void free_machine(struct machine *m)
{
	for (unsigned i = 0; i < ARRAY_SIZE(m->samples); i++)
		sample_free(&m->samples[i]);
	frame_free(&m->frame);
	grouping_free(&m->grouping);
	clocks_free(&m->clocks);
	free(m);
}

int story_record(const char *path)
{
	struct machine *m = xcalloc(1, sizeof(*m));
	struct play_writer writer = { 0 };
	int err = play_begin_file(&writer, path);

	for (; m->turn < ARRAY_SIZE(acts) && !err; m->turn++) {
		const struct frame *frame = next_frame(m);

		err = play_write(&writer, frame, fold(m, frame), 0);
	}
	play_end_file(&writer);
	free_machine(m);
	return err;
}
