/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames made of what was recorded, and whether they are those that were. */
#pragma once

#include <string.h>

#include "base/text.h"
#include "frame/playback.h"
#include "tests/lib/test.h"

/* A sampler's part of a playback. */
struct player {
	struct playback playback;
	struct sample samples[3];
	struct frame frame;
	struct frame_info infos[2];
	unsigned turn;
};

/* The next frame; NULL at the end or, with err, where it fails. */
static inline const struct frame *next_frame(struct player *player, int *err)
{
	struct sample *prev = player->turn ? &player->samples[(player->turn + 2) % 3] : NULL;
	struct sample *cur = &player->samples[player->turn % 3];
	struct frame *frame = &player->frame;
	struct frame_info *info = &player->infos[player->turn % 2];
	struct playback_record result;
	struct frame_options options = { .machine.cpus = 2 };

	*err = player->playback.next(player->playback.state, prev, cur, &result);
	if (*err)
		return NULL;
	cur->system = result.system;
	frame_build(frame, info, result.baseline ? NULL : prev, cur, &options);
	playback_trace(&result, frame, info);
	info->head = result.head;
	info->system = &cur->system;
	info->clocks = result.clocks;
	player->turn++;
	return frame;
}

static inline void player_free(struct player *player)
{
	for (unsigned i = 0; i < 3; i++)
		sample_free(&player->samples[i]);
	frame_free(&player->frame);
}

/* Whether two elements are the same, but for what frames put into them. */
static inline bool same_raw(const struct task_raw *a, const struct task_raw *b)
{
	struct task_raw x = *a, y = *b;

	x.task = y.task = NULL;
	x.ran_ns = y.ran_ns = 0;
	return !memcmp(&x, &y, sizeof(x));
}

/* Whether two tasks have the same identity and names, and ended in the same way. */
static inline bool same_task(const struct task *a, const struct task *b, bool exited)
{
	return a->tgid == b->tgid && a->key.pid == b->key.pid &&
	       a->key.start_ns == b->key.start_ns && a->latest_ns == b->latest_ns &&
	       a->ppid == b->ppid && a->uid == b->uid && !strcmp(a->comm, b->comm) &&
	       !text_compare(a->user, b->user) && !text_compare(a->command, b->command) &&
	       !text_compare(a->pod, b->pod) && !text_compare(a->container, b->container) &&
	       !text_compare(a->cgroup, b->cgroup) && a->cpu == b->cpu &&
	       (a->info & NEED_COMMAND) == (b->info & NEED_COMMAND) &&
	       (!exited || (a->status == b->status && !text_compare(a->ended, b->ended)));
}

/* Whether two rows say the same. */
static inline bool same_row(const struct row *a, const struct row *b)
{
	return a->valid == b->valid && a->interval_ns == b->interval_ns && a->born == b->born &&
	       a->exited == b->exited && a->unchanged == b->unchanged &&
	       a->corrected == b->corrected &&
	       !memcmp(&a->deltas->waited, &b->deltas->waited, sizeof(a->deltas->waited)) &&
	       !memcmp(&a->deltas->grown, &b->deltas->grown, sizeof(a->deltas->grown));
}

/* Whether two rows were traced alike. */
static inline bool same_traced(const struct traced *a, const struct traced *b)
{
	if (!a || !b)
		return !a && !b;
	return !memcmp(&a->states, &b->states, sizeof(a->states)) && a->lost_ns == b->lost_ns &&
	       a->lost_known == b->lost_known && a->tgid == b->tgid && a->start_ns == b->start_ns &&
	       !text_compare(a->waker, b->waker);
}

/* Whether the same was read of two elements besides their counters. */
static inline bool same_extra(const struct task_extra *a, const struct task_extra *b)
{
	const struct task_waiting *w = a ? a->waiting : NULL, *x = b ? b->waiting : NULL;
	const struct task_evidence *e = a ? a->evidence : NULL, *f = b ? b->evidence : NULL;
	const struct task_stop *h = a ? a->held : NULL, *i = b ? b->held : NULL;

	if (!a || !b)
		return !a && !b;
	if (!w != !x || !e != !f || !h != !i)
		return false;
	return a->hang.tid == b->hang.tid && a->hang.since_ns == b->hang.since_ns &&
	       a->hang.on == b->hang.on && a->hang.locked == b->hang.locked &&
	       !memcmp(&a->io, &b->io, sizeof(a->io)) && (!h || !memcmp(h, i, sizeof(*h))) &&
	       (!w ||
		(w->tid == x->tid && w->state == x->state && w->class == x->class &&
		 !text_compare(w->syscall, x->syscall) && !text_compare(w->on.data, x->on.data) &&
		 !text_compare(w->where.data, x->where.data))) &&
	       (!e || (e->throttled == f->throttled && e->quota == f->quota &&
		       e->memory_limit == f->memory_limit && e->memory_used == f->memory_used &&
		       !text_compare(e->io_limits, f->io_limits) && e->rival == f->rival &&
		       e->writes == f->writes && e->cpu_group.version == f->cpu_group.version &&
		       !text_compare(e->cpu_group.name, f->cpu_group.name) &&
		       !text_compare(e->memory_group.name, f->memory_group.name) &&
		       e->pinned == f->pinned && e->sharing == f->sharing &&
		       !text_compare(e->io_group.name, f->io_group.name) &&
		       !text_compare(e->weighed_group.name, f->weighed_group.name)));
}

/* Whether two sites are the same, with their stacks. */
static inline bool same_site(const struct trace_frame *a, const struct site *x,
			     const struct trace_frame *b, const struct site *y)
{
	const struct site_stack *s = &a->stacks[x->stack], *t = &b->stacks[y->stack];
	struct site u = *x, v = *y;
	bool same = !text_compare(x->comm, y->comm) && !text_compare(x->on, y->on) &&
		    !text_compare(x->syscall, y->syscall) && !text_compare(x->where, y->where) &&
		    !text_compare(x->wakers[0].name, y->wakers[0].name) && s->n == t->n;

	for (size_t i = 0; same && i < s->n; i++)
		same = !strcmp(s->functions[i], t->functions[i]);
	same = same && u.nuser_stacks == v.nuser_stacks && u.nwaker_stacks == v.nwaker_stacks;
	for (size_t i = 0; same && i < u.nuser_stacks + u.nwaker_stacks; i++)
		same = u.user_stacks[i].waker == v.user_stacks[i].waker &&
		       u.user_stacks[i].ns == v.user_stacks[i].ns &&
		       u.user_stacks[i].count == v.user_stacks[i].count &&
		       a->stacks[u.user_stacks[i].stack].n == b->stacks[v.user_stacks[i].stack].n &&
		       !strcmp(a->stacks[u.user_stacks[i].stack].functions[0],
			       b->stacks[v.user_stacks[i].stack].functions[0]);
	u.user_stacks = v.user_stacks = NULL;
	u.comm = v.comm = u.on = v.on = u.syscall = v.syscall = u.where = v.where = NULL;
	u.stack = v.stack = 0;
	for (unsigned i = 0; i < SITE_WAKERS; i++)
		u.wakers[i].name = v.wakers[i].name = NULL;
	return same && !memcmp(&u, &v, sizeof(u));
}

/* Asserts that two traces are the same. */
static inline void compare_traces(const struct trace_frame *a, const struct trace_frame *b,
				  unsigned turn)
{
	if (!a != !b)
		fail_msg("sample %u: traced: %d, %d", turn, a != NULL, b != NULL);
	if (!a)
		return;
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->nlinks, b->nlinks);
	assert_int_equal(a->stacked, b->stacked);
	assert_true(a->interval_ns == b->interval_ns && a->lost == b->lost &&
		    a->switches == b->switches && a->cost == b->cost);
	for (size_t i = 0; i < a->n; i++)
		if (!same_site(a, a->sites[i], b, b->sites[i]))
			fail_msg("sample %u: site %zu is another", turn, i);
	for (size_t i = 0; i < a->nlinks; i++)
		assert_int_equal(site_link_compare(&a->links[i], &b->links[i]), 0);
}

/* Asserts that the frame that was read is the one that was written. */
static inline void compare_frames(const struct frame *live, const struct frame *again,
				  unsigned turn)
{
	const struct frame_info *a = live->info, *b = again->info;

	assert_int_equal(again->n, live->n);
	assert_int_equal(a->real_ns, b->real_ns);
	assert_int_equal(a->cur->end_ns, b->cur->end_ns);
	assert_memory_equal(a->system, b->system, sizeof(*a->system));
	assert_int_equal(a->clocks->n, b->clocks->n);
	assert_int_equal(a->head.nnotes, b->head.nnotes);
	assert_int_equal(a->head.exits, b->head.exits);
	for (size_t i = 0; i < live->n; i++) {
		const struct row *x = &live->rows[i], *y = &again->rows[i];

		if (!same_raw(x->raw, y->raw))
			fail_msg("sample %u: element %zu is another", turn, i);
		if (!same_task(x->task, y->task, x->exited))
			fail_msg("sample %u: task %zu is another", turn, i);
		if (!same_row(x, y))
			fail_msg("sample %u: task %zu did otherwise", turn, i);
		if (!same_traced(x->traced, y->traced))
			fail_msg("sample %u: task %zu was traced otherwise", turn, i);
		if (!same_extra(row_extra(a, x), row_extra(b, y)))
			fail_msg("sample %u: other things were read of task %zu", turn, i);
	}
	compare_traces(a->trace, b->trace, turn);
	assert_int_equal(a->stale, b->stale);
}
