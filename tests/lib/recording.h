/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_RECORDING_H
#define TESTS_RECORDING_H

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/encode.h"
#include "history/replay.h"
#include "history/store.h"
#include "model/playback.h"

/* A made-up machine whose samples are recorded: tasks that come, go, run, wait and end. */
struct play_machine {
	unsigned seed;
	struct sample samples[3];
	struct system_sample systems[3];
	struct frame frames[2];
	struct frame_info infos[2];
	struct clocks clocks;
	unsigned turn;
	uint64_t now_ns;
	pid_t next;
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
	raw->now.state = "RSDT"[play_random(machine, 4)];
	raw->now.waits = (struct task_waits){ 0 };
	if (raw->now.state == 'D')
		waits_add(&raw->now.waits, play_random(machine, 2) ? SEEN_BLKIO : SEEN_BLOCK,
			  raw->read_ns - play_random(machine, 1000000000), raw->read_ns,
			  raw->read_ns - 500000000);
	if (!play_random(machine, 5))
		task_set_comm(raw->task, "renamed\x1b[2J", 32);
	if (!play_random(machine, 9))
		raw->counters.valid &= ~DELAY_BOTH(DELAY_BIT(kind));
}

/* Adds a task. */
static inline void play_begin(struct play_machine *machine, struct sample *sample)
{
	struct task_key key = { ++machine->next, machine->now_ns - 1000 };
	struct task_raw *raw = sample_add(sample, key.pid, key.pid);

	raw->task = task_new(key, key.pid);
	raw->task->user = "someone";
	raw->task->ppid = 1;
	task_set_comm(raw->task, "task", 4);
	raw->single = true;
	raw->counters.valid = DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK;
	raw->now = (struct task_now){ .state = 'S', .exact = true, .threads = 1 };
	raw->counters.life_ns = 1000;
}

/* The next frame. */
static inline const struct frame *play_frame(struct play_machine *machine)
{
	const struct sample *prev =
		machine->turn ? &machine->samples[(machine->turn + 2) % 3] : NULL;
	struct sample *cur = &machine->samples[machine->turn % 3];
	struct system_sample *system = &machine->systems[machine->turn % 3];
	struct frame *frame = &machine->frames[machine->turn % 2];
	struct frame_info *info = &machine->infos[machine->turn % 2];
	const struct frame_options options = { 0 };
	struct clock_times times;
	const struct task_raw *ended[8];
	size_t nended = 0;

	if (!machine->now_ns)
		machine->now_ns = 1000 * NSEC_PER_SEC;
	machine->now_ns += 500000000 + play_random(machine, 1000000);
	times = (struct clock_times){ machine->now_ns, machine->now_ns,
				      UINT64_C(1795269750) * NSEC_PER_SEC + machine->now_ns };
	clocks_read(&machine->clocks, &times);
	sample_reset(cur);
	cur->begin_ns = machine->now_ns;
	cur->end_ns = machine->now_ns + 2000000;
	cur->real_ns = times.real_ns;
	for (size_t i = 0; prev && i < prev->n; i++) {
		const struct task_raw *was = &prev->raw[i];
		struct task_raw *raw;

		if (!play_random(machine, 20)) {
			if (nended < 8)
				ended[nended++] = was;
			continue;
		}
		raw = sample_add(cur, was->tgid, was->pid);
		*raw = *was;
		task_ref(raw->task);
		raw->was = 0;
		raw->read_ns = machine->now_ns + i / 10 * 30000;
		raw->counters.life_ns += raw->read_ns - was->read_ns + play_random(machine, 2000);
		raw->now.waits.block_ns = 0;
		if (raw->now.state == 'D' || !play_random(machine, 3))
			play_task(machine, raw);
	}
	for (unsigned n = machine->turn ? play_random(machine, 4) : 40; n; n--) {
		play_begin(machine, cur);
		cur->raw[cur->n - 1].read_ns = machine->now_ns + 900000;
	}
	sample_leave(cur, nended);
	for (size_t i = 0; i < nended; i++) {
		struct task_raw *raw = &cur->raw[cur->n + i];

		*raw = *ended[i];
		task_ref(raw->task);
		raw->exited = true;
		raw->now = (struct task_now){ .exact = raw->now.exact, .threads = 1 };
		raw->counters.run_ns += 777;
		raw->read_ns = machine->now_ns - play_random(machine, 100000);
		raw->task->status = play_random(machine, 3) << 8 | play_random(machine, 2) * 9;
	}
	frame_build(frame, info, prev, cur, &options);
	*system =
		(struct system_sample){ .cpu_valid = true, .cpus = 2, .read_ns = machine->now_ns };
	system->cpu_ns[CPU_USER] = machine->now_ns;
	system->psi[PSI_IO].some =
		(struct psi_line){ true, play_random(machine, 3), 2, 3, machine->now_ns / 5000 };
	info->clocks = &machine->clocks;
	info->system = system;
	info->source = "play";
	info->exits = (int64_t)nended;
	info->self = -1;
	frame_note(info, NOTE_LATE, play_random(machine, 2) + 1);
	machine->turn++;
	return frame;
}

static inline void play_free(struct play_machine *machine)
{
	for (unsigned i = 0; i < 3; i++)
		sample_free(&machine->samples[i]);
	for (unsigned i = 0; i < 2; i++)
		frame_free(&machine->frames[i]);
	clocks_free(&machine->clocks);
}

/* Records so many samples of a made-up machine. 0 or -errno. */
static inline int play_record(const char *path, unsigned seed, unsigned samples)
{
	const struct store_about about = { "0" };
	struct play_machine machine = { .seed = seed };
	struct encoder *encoder = encoder_open();
	struct store *store;
	int err = store_create(&store, path, &about);

	for (unsigned i = 0; i < samples && !err; i++) {
		err = store_put(store, encoder_take(encoder, play_frame(&machine), NULL));
		encoder_keep(encoder);
	}
	encoder_close(encoder);
	store_close(store, false);
	play_free(&machine);
	return err;
}

#endif
