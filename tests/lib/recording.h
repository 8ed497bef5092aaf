/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "frame/playback.h"
#include "history/record.h"
#include "history/record_file.h"
#include "history/replay.h"
#include "tests/lib/sites.h"
#include "view/findings.h"

#define PLAY_SITES 12

/* A made-up machine whose samples are recorded: tasks that come, go, run, wait and end. */
struct play_machine {
	unsigned seed;
	struct sample samples[3];
	struct system_sample systems[3];
	struct frame frame;
	struct frame_info infos[2];
	struct clocks clocks;
	unsigned turn;
	bool marks; /* the source tells who did nothing */
	bool exact; /* it knows of all waits when they began */
	bool unbounded; /* no group limits what was booked */
	bool unlinked; /* what wakers did is not known */
	bool unnamed; /* nobody knows names of containers */
	unsigned bounds; /* rows that were limited so far */
	unsigned extras; /* rows of which more was read than counters */
	unsigned states; /* of threads, the first so many; 0: all */
	uint64_t now_ns;
	uint64_t asleep_ns; /* for how long it was suspended */
	pid_t next;
	struct trace_frame trace;
	struct site sites[PLAY_SITES];
	struct site_user_stack user_stacks[PLAY_SITES][3];
	struct traced *traced; /* of the frame's rows */
	unsigned waited[PLAY_SITES]; /* samples for which somebody has waited there */
};

static inline unsigned play_random(struct play_machine *machine, unsigned below)
{
	machine->seed = machine->seed * 1103515245 + 12345;
	return (machine->seed >> 8) % below;
}

/* What a task does in an interval. */
static inline void play_task(struct play_machine *machine, struct task_raw *raw)
{
	unsigned kind = play_random(machine, DELAY_KINDS);

	raw->counters.run_ns += play_random(machine, 5000000);
	raw->counters.user_ns += play_random(machine, 2) * 4000000;
	raw->counters.delay[kind].ns += play_random(machine, 20000000);
	raw->counters.delay[kind].count += play_random(machine, 4);
	/* A wait that was longer than the interval, of which no more than the life counts. */
	if (!raw->now.exact && play_random(machine, 2))
		raw->counters.delay[DELAY_CPU].ns += 600000000;
	/* Much more than its group's tasks waited, as some kernels book it. */
	if (!play_random(machine, 6))
		raw->counters.delay[DELAY_BLKIO].ns += 300000000;
	raw->now.state = "RSDT"[play_random(machine, 4)];
	raw->now.waits = (struct task_waits){ 0 };
	if (raw->now.state == 'D')
		waits_add(&raw->now.waits, play_random(machine, 2) ? SEEN_BLKIO : SEEN_DWAIT,
			  raw->read_ns - play_random(machine, 1000000000), raw->read_ns,
			  raw->read_ns - 500000000);
	if (!play_random(machine, 5))
		task_set_comm(raw->task, "renamed\x1b[2J", 32);
	/* The CPU was read, and the command line could not be. */
	raw->task->cpu = play_random(machine, 3);
	if (!play_random(machine, 5))
		raw->task->info |= NEED_COMMAND;
	if (!play_random(machine, 9))
		raw->counters.valid &= ~DELAY_BOTH(DELAY_BIT(kind));
}

/* Adds a task. */
static inline void play_begin(struct play_machine *machine, struct sample *sample)
{
	struct task_key key = { ++machine->next, machine->now_ns - 1000 };
	struct task_raw *raw = sample_add(sample, key.pid, key.pid);

	raw->task = task_new(key, key.pid);
	task_set_user(raw->task, shared_text("someone"));
	raw->task->ppid = 1;
	if (!machine->unnamed && key.pid % 3 == 0)
		raw->task->container = xstrdup("payments");
	if (!machine->unnamed && key.pid % 6 == 0)
		raw->task->pod = xstrdup("prod/checkout");
	task_set_comm(raw->task, "task", 4);
	raw->single = true;
	raw->counters.valid = DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK;
	raw->now = (struct task_now){ .state = 'S',
				      .exact = machine->exact || key.pid % 5 != 2,
				      .threads = 1 };
	raw->counters.life_ns = 1000;
}

/* Moves a task to another cgroup, as others do with one that does nothing, too. */
static inline void play_move(struct task *task, unsigned turn)
{
	char path[32];

	snprintf(path, sizeof(path), "/moved/%u", turn);
	task_set_cgroup(task, shared_text(path));
	task->renamed++;
}

/* How a row's task spent the interval: in one state most often, else in two. */
static inline const struct traced *play_states(struct play_machine *machine, const struct row *row,
					       struct traced *traced)
{
	pid_t pid = row->task->key.pid;
	unsigned states = machine->states ? machine->states : WAIT_STATES;
	unsigned state = (unsigned)pid % states;
	uint64_t interval_ns = machine->trace.interval_ns, part;

	if (pid % 7 == 3 || !play_random(machine, 30))
		return NULL;
	*traced = (struct traced){ .tgid = pid, .start_ns = row->task->key.start_ns + 5 };
	traced->states.ns[state] = interval_ns * (1 + (unsigned)pid % 3);
	/* A frame cuts what was waited to the time that the task lived. */
	if (state == STATE_DWAIT)
		traced->states.ns[state] = interval_ns / 2;
	if (play_random(machine, 4))
		return traced;
	part = play_random(machine, 1000000);
	traced->states.ns[state] -= part;
	traced->states.ns[(state + 1) % states] += part;
	traced->waker = play_random(machine, 2) ? "7 waker" : NULL;
	return traced;
}

/* Where in the program it was waited: the most time first; and where a waker ended that. */
static inline void play_user_stacks(struct play_machine *machine, unsigned i)
{
	struct site *site = &machine->sites[i];
	struct site_user_stack *parts = machine->user_stacks[i];

	site->stacked = i % 2;
	site->user_stacks = NULL;
	site->nwaker_stacks = 0;
	site->nuser_stacks = site->stacked && site->ns ? play_random(machine, 3) : 0;
	if (!site->nuser_stacks)
		return;
	parts[0] = (struct site_user_stack){ 1 + i % 2, site->ns / 2 + 1, site->count, 0 };
	parts[1] = (struct site_user_stack){ 2 - i % 2, site->ns / 2, play_random(machine, 2), 0 };
	parts[site->nuser_stacks] = (struct site_user_stack){ 1, site->ns, 1, 9 };
	site->nwaker_stacks = 1;
	site->user_stacks = parts;
}

/* What was waited at a site. */
static inline void play_site(struct play_machine *machine, unsigned i)
{
	static const char *const functions[] = { "inner+0x1", "middle+0x2", "outer+0x3" };
	static const struct site_stack stacks[] = { { NULL, 0 },
						    { functions, 2 },
						    { functions + 1, 2 } };
	struct site *site = &machine->sites[i];
	bool known = site->id;

	machine->trace.stacks = stacks;
	machine->trace.nstacks = 3;
	machine->trace.stacked = true;
	if (!known)
		*site = (struct site){ .id = i + 1,
				       .tgid = (pid_t)i % 5 + 1,
				       .start_ns = 100 + i % 5,
				       .comm = i % 2 ? "one" : NULL,
				       .state = (enum wait_state)(i % WAIT_STATES),
				       .kind = i % 3 ? -1 : (int)(i % WAIT_KINDS),
				       .overlaps = i % 4 == 3,
				       .syscall = i % 2 ? "read" : "futex",
				       .on = i % 3 ? "/a\nb\xff" : NULL,
				       .where = "f",
				       .stack = i % 3 };
	/* Who has the other end was found only now. */
	if (site->on && play_random(machine, 8) == 0)
		site->on = i % 2 ? "pipe of 1 writer" : "pipe of 2 others";
	if (machine->waited[i] && known && play_random(machine, 4)) {
		site_wait_on(site, machine->trace.interval_ns);
		return;
	}
	machine->waited[i] = play_random(machine, 3);
	site->waiting = machine->waited[i];
	site->waiting_ns = site->waiting ? play_random(machine, 1000000) + 1 : 0;
	site->count = play_random(machine, 3);
	site->ns = play_random(machine, 4) * 1000;
	play_user_stacks(machine, i);
	site->kind_ns = site->kind < 0 ? 0 : site->ns / 2;
	site->max_ns += site->ns;
	memset(site->log2_us, 0, sizeof(site->log2_us));
	site->log2_us[i] = site->count;
	memset(site->wakers, 0, sizeof(site->wakers));
	if (site->count)
		site->wakers[0] = (struct site_waker){ (pid_t)i, "waker", site->ns, site->count };
}

/* Orders links. */
static inline int play_compare_links(const void *a, const void *b)
{
	return site_link_compare(a, b);
}

/* Adds what wakers did, of sites and to sites that are shown; and who holds what is waited for. */
static inline void play_links(struct play_machine *machine, const struct site *shown, size_t n)
{
	static struct site_link links[3 * PLAY_SITES];
	unsigned seed = machine->seed;
	size_t nlinks = 0;

	for (size_t i = 0; i < 3 * n && !machine->unlinked; i++) {
		bool holds = i % 3 == 2;

		if (play_random(machine, 2))
			continue;
		links[nlinks++] = (struct site_link){
			.site = shown[i / 3].id,
			.tgid = (pid_t)(1 + i % 3),
			.to = play_random(machine, 3) ? shown[play_random(machine, (unsigned)n)].id
						      : 0,
			.state = (enum wait_state)play_random(machine, WAIT_STATES + 1),
			.ns = 1 + play_random(machine, 1000),
			.holds = holds,
		};
	}
	if (nlinks)
		qsort(links, nlinks, sizeof(*links), play_compare_links);
	/* What else is made up is the same with links and without. */
	machine->seed = seed;
	machine->trace.links = links;
	machine->trace.nlinks = nlinks;
}

/* Orders sites. */
static inline int play_compare(const void *a, const void *b)
{
	return site_compare(a, b);
}

/* Adds what was traced to a frame; now and then nothing is. */
static inline void play_trace(struct play_machine *machine, struct frame *frame,
			      struct frame_info *info)
{
	static struct site shown[PLAY_SITES + 1];
	struct trace_frame *trace = &machine->trace;
	size_t n = 0;

	if (machine->turn % 23 > 19 || !info->prev)
		return;
	free(machine->traced);
	machine->traced = xcalloc(frame->n + 1, sizeof(*machine->traced));
	trace->interval_ns = info->interval_ns + play_random(machine, 100);
	trace->lost = play_random(machine, 2);
	trace->switches = play_random(machine, 1000);
	trace->cost = play_random(machine, 2) ? 0.5 : -1;
	for (size_t i = 0; i < frame->n; i++) {
		struct row *row = &frame->rows[i];

		row->traced = play_states(machine, row, &machine->traced[i]);
		if (row->traced)
			frame_resolve(frame, row);
	}
	for (unsigned i = 0; i < PLAY_SITES; i++) {
		play_site(machine, i);
		if (machine->sites[i].ns || machine->sites[i].count || machine->sites[i].waiting)
			shown[n++] = machine->sites[i];
	}
	play_links(machine, shown, n);
	shown[n] =
		site_unattributed(9, 77, "rest", DELAY_CPU, (int64_t)play_random(machine, 99) + 1);
	if (play_random(machine, 4) == 0) {
		shown[n] = site_unattributed(9, 77, "rest", DELAY_CPU, 0);
		shown[n].unknown = true;
	}
	n++;
	qsort(shown, n, sizeof(*shown), play_compare);
	trace->sites = SITES_OF(shown, n);
	trace->n = n;
	info->trace = trace;
}

/* Limits what was booked by the pressure of groups: in some of these nobody waited. */
static inline void play_bounds(struct play_machine *machine, struct frame *frame,
			       struct frame_info *info)
{
	for (size_t i = 0; i < frame->n && info->prev && !machine->unbounded; i++) {
		struct row *row = &frame->rows[i];
		struct io_pressure io = { play_random(machine, 3) * 20000000, 500000000,
					  info->cur->begin_ns + 3000000 };

		if (row->traced || row->exited || !row->before ||
		    row->deltas->grown.delay[DELAY_BLKIO].ns < 100000000)
			continue;
		sample_add_extra(info->cur, row->place)->io = io;
		info->stale += frame_resolve(frame, row);
		machine->bounds++;
	}
}

/* Adds what was read of some rows besides their counters. */
static inline void play_extras(struct play_machine *machine, const struct frame *frame)
{
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];
		struct task_extra *extra;

		if (row->exited || row->unchanged || play_random(machine, 8))
			continue;
		extra = sample_add_extra(frame->info->cur, row->place);
		extra->hang = (struct task_hang){ row->task->key.pid, machine->now_ns - 12345,
						  (pid_t)play_random(machine, 9),
						  (uint32_t)play_random(machine, 3) };
		if (play_random(machine, 2)) {
			extra->waiting = xcalloc(1, sizeof(*extra->waiting));
			extra->waiting->tid = row->task->key.pid;
			extra->waiting->state = play_random(machine, WAIT_STATES + 1);
			extra->waiting->class = play_random(machine, WAIT_CLASSES);
			extra->waiting->syscall = play_random(machine, 2) ? "fsync" : NULL;
			buf_printf(&extra->waiting->on, "/srv/\xff%zu", i);
			buf_puts(&extra->waiting->where, "folio_wait");
			buf_cstr(&extra->waiting->on);
			buf_cstr(&extra->waiting->where);
		}
		if (play_random(machine, 2)) {
			extra->held = xcalloc(1, sizeof(*extra->held));
			extra->held->frozen = play_random(machine, 2);
			extra->held->tracer = extra->held->frozen ? 0 : 77;
			if (extra->held->tracer)
				strcpy(extra->held->tracer_comm, "gdb");
		}
		if (play_random(machine, 2)) {
			extra->evidence = xcalloc(1, sizeof(*extra->evidence));
			*extra->evidence = (struct task_evidence){
				.throttled = play_random(machine, 2) ? -1 : 33.25,
				.quota = 0.5,
				.memory_limit = machine->now_ns,
				.memory_used = i,
				.io_limits = play_random(machine, 2) ? xstrdup("8:0 rbps=1") : NULL,
				.rival = (pid_t)play_random(machine, 2),
				.writes = -1,
				.reads = -1,
				.cpu_group = { xstrdup("/a\n"), 1 },
				.memory_group = { NULL, 2 },
				.io_group = { xstrdup("/io"), 2 },
				.pinned = play_random(machine, 2),
				.sharing = SHARING_GROUP,
				.weighed_group = { xstrdup("/w"), 1 },
			};
		}
		machine->extras++;
	}
}

/*
 * Whether an element keeps the time of its reading, as some of a source do that knows who did
 * nothing. That time becomes known when it is read again: the sample before gets it then.
 */
static inline bool play_keeps(struct play_machine *machine, struct sample *prev, size_t i)
{
	const struct task_raw *was = prev->raw[i];

	if (was->pid % 4 != 1 || waits_all(&was->now.waits))
		return false;
	if (play_random(machine, 3))
		return true;
	if (was->read_ns < prev->begin_ns)
		sample_own(prev, i)->read_ns = prev->begin_ns + (uint64_t)was->pid * 1000;
	return false;
}

/* Marks those that kept the times of their readings: nothing happened to them. */
static inline void play_mark(const struct play_machine *machine, const struct sample *prev,
			     struct sample *cur)
{
	if (!machine->marks)
		return;
	sample_mark(cur, 0);
	cur->stable[1] = 0;
	for (size_t i = 0; prev && i < cur->n; i++) {
		const struct task_raw *was = sample_find(prev, cur->raw[i]->tgid, cur->raw[i]->pid);

		if (was && was->task == cur->raw[i]->task && was->read_ns == cur->raw[i]->read_ns)
			cur->marks[i] = MARK_UNCHANGED;
		if (was && i < prev->n && was == prev->raw[i] && was->task == cur->raw[i]->task &&
		    cur->stable[1] == i)
			cur->stable[1] = i + 1;
	}
}

/*
 * What one that ended waited at last, for longer than it lived since it was read: its record says
 * exactly how long that was, and some have no times by tick.
 */
static inline void play_last_wait(struct play_machine *machine, struct task_raw *raw,
				  const struct task_raw *before)
{
	raw->counters.life_ns += raw->read_ns - before->read_ns + play_random(machine, 3000000);
	raw->counters.delay[DELAY_CPU].ns += 600000000;
	if (play_random(machine, 2))
		raw->counters.valid &= ~VALID_TICK;
}

/* The next frame. */
static inline const struct frame *play_frame(struct play_machine *machine)
{
	struct sample *prev = machine->turn ? &machine->samples[(machine->turn + 2) % 3] : NULL;
	struct sample *cur = &machine->samples[machine->turn % 3];
	struct system_sample *system = &machine->systems[machine->turn % 3];
	struct frame *frame = &machine->frame;
	struct frame_info *info = &machine->infos[machine->turn % 2];
	const struct frame_options options = { .machine.cpus = 2 };
	struct clock_times times;
	const struct task_raw *ended[8];
	size_t nended = 0;

	if (!machine->now_ns) {
		machine->now_ns = 1000 * NSEC_PER_SEC;
		machine->marks = machine->seed % 2;
	}
	machine->now_ns += 500000000 + play_random(machine, 1000000);
	times = (struct clock_times){ machine->now_ns, machine->now_ns + machine->asleep_ns,
				      UINT64_C(1795269750) * NSEC_PER_SEC + machine->now_ns +
					      machine->asleep_ns };
	clocks_read(&machine->clocks, &times);
	sample_reset(cur);
	cur->begin_ns = machine->now_ns;
	cur->end_ns = machine->now_ns + 2000000;
	cur->real_ns = times.real_ns;
	for (size_t i = 0; prev && i < prev->n; i++) {
		const struct task_raw *was = prev->raw[i];
		struct task_raw *raw;
		bool keeps;

		if (!play_random(machine, 20)) {
			if (nended < 8)
				ended[nended++] = was;
			continue;
		}
		/* Who is not there any more gets no time. */
		keeps = play_keeps(machine, prev, i);
		was = prev->raw[i];
		raw = sample_add(cur, was->tgid, was->pid);
		*raw = *was;
		task_ref(raw->task);
		if ((machine->turn + (unsigned)was->pid) % 50 == 0)
			play_move(raw->task, machine->turn);
		raw->was = 0;
		raw->now.waits.dwait_ns = 0;
		if (keeps)
			continue;
		raw->read_ns = machine->now_ns + i / 10 * 30000;
		raw->counters.life_ns += raw->read_ns - was->read_ns + play_random(machine, 2000);
		if (raw->now.state == 'D' || !play_random(machine, 3))
			play_task(machine, raw);
	}
	for (unsigned n = machine->turn ? play_random(machine, 4) : 40; n; n--) {
		play_begin(machine, cur);
		cur->raw[cur->n - 1]->read_ns = machine->now_ns + 900000;
	}
	play_mark(machine, prev, cur);
	sample_add_exited(cur, nended);
	for (size_t i = 0; i < nended; i++) {
		struct task_raw *raw = cur->raw[cur->n + i];

		*raw = *ended[i];
		task_ref(raw->task);
		raw->exited = true;
		raw->now = (struct task_now){ .exact = raw->now.exact, .threads = 1 };
		raw->counters.run_ns += 777;
		raw->read_ns = machine->now_ns - play_random(machine, 100000);
		if (ended[i]->read_ns >= prev->begin_ns)
			play_last_wait(machine, raw, ended[i]);
		raw->task->status = play_random(machine, 3) << 8 | play_random(machine, 2) * 9;
	}
	frame_build(frame, info, prev, cur, &options);
	play_trace(machine, frame, info);
	play_bounds(machine, frame, info);
	play_extras(machine, frame);
	*system = (struct system_sample){ .cpu_valid = true,
					  .cpus = 2,
					  .pressure.read_ns = machine->now_ns };
	system->cpu_ns[CPU_USER] = machine->now_ns;
	system->pressure.psi[PSI_IO].some =
		(struct psi_line){ true, play_random(machine, 3), 2, 3, machine->now_ns / 5000 };
	info->clocks = &machine->clocks;
	info->system = system;
	info->head.source = "play";
	info->head.exits = (int64_t)nended;
	info->head.self = -1;
	frame_note(info, NOTE_LATE, play_random(machine, 2) + 1);
	machine->turn++;
	return frame;
}

static inline void play_free(struct play_machine *machine)
{
	for (unsigned i = 0; i < 3; i++)
		sample_free(&machine->samples[i]);
	frame_free(&machine->frame);
	clocks_free(&machine->clocks);
	free(machine->traced);
}

/* Who writes frames to a file. */
struct play_writer {
	struct record_state *state;
	struct record_file *file;
	struct findings findings; /* of the frame that is written */
};

/* Makes the file. 0 or -errno. */
static inline int play_begin_file(struct play_writer *writer, const char *path)
{
	writer->state = record_open();
	writer->findings = (struct findings){ 0 };
	return record_file_create(&writer->file, path, "0");
}

/* Writes a frame, while the clock is so far off. 0 or -errno. */
static inline int play_write(struct play_writer *writer, const struct frame *frame,
			     const struct frame *folded, int64_t ahead_ns)
{
	struct frame_info *info = (struct frame_info *)(uintptr_t)frame->info;
	bool key = record_is_due(writer->state);
	const struct view view = { .frame = frame };
	struct buf bytes = { 0 };
	struct record_entry entry;
	int err;

	findings_take(&writer->findings, &view, frame, NULL);
	info->real_ns = info->cur->real_ns += (uint64_t)ahead_ns;
	record_encode(writer->state, frame, folded, &bytes);
	entry = record_entry_of(frame, key, findings_worst(&writer->findings));
	info->real_ns = info->cur->real_ns -= (uint64_t)ahead_ns;
	err = record_file_put(writer->file, &entry, bytes.data, bytes.len);
	buf_free(&bytes);
	return err;
}

static inline void play_end_file(struct play_writer *writer)
{
	record_file_close(writer->file);
	record_close(writer->state);
	findings_free(&writer->findings);
}

/* Records so many samples of a made-up machine. 0 or -errno. */
static inline int play_record(const char *path, unsigned seed, unsigned samples)
{
	struct play_machine machine = { .seed = seed };
	struct play_writer writer = { 0 };
	int err = play_begin_file(&writer, path);

	for (unsigned i = 0; i < samples && !err; i++)
		err = play_write(&writer, play_frame(&machine), NULL, 0);
	play_end_file(&writer);
	play_free(&machine);
	return err;
}
