/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample of one process, 7, that sleeps, in a made-up /proc, with its row. */
#pragma once

#include "frame/frame.h"
#include "tests/lib/tree.h"

#define SEC(n) ((uint64_t)(n)*NSEC_PER_SEC)

/* Zero-initialised before lone_make(). */
struct lone {
	struct tree *tree;
	struct sample sample, prev; /* prev: of a second before, with the same element */
	struct frame_info info;
	struct frame frame;
	struct row row;
};

/* Makes the process; it is at 100 s and began at 1 s. 0, or -1. */
static inline int lone_make(struct lone *lone)
{
	struct task_raw *raw;
	void *tree;

	if (make_tree(&tree))
		return -1;
	lone->tree = tree;
	raw = sample_add(&lone->sample, 7, 7);
	raw->task = task_new((struct task_key){ 7, SEC(1) }, 7);
	raw->now.state = 'S';
	sample_add_shared(&lone->prev, raw);
	lone->sample.begin_ns = lone->sample.end_ns = SEC(100);
	lone->info.cur = &lone->sample;
	lone->info.prev = &lone->prev;
	lone->frame.info = &lone->info;
	lone->row = (struct row){ .task = raw->task, .raw = raw, .before = raw, .members = 1 };
	return 0;
}

/* Makes it the next sample, a second later. */
static inline void lone_next(struct lone *lone)
{
	struct sample *prev = &lone->prev, *cur = &lone->sample;

	sample_drop_extras(prev);
	free(prev->extras);
	prev->extras = cur->extras;
	prev->nextras = cur->nextras;
	prev->extras_cap = cur->extras_cap;
	cur->extras = NULL;
	cur->nextras = cur->extras_cap = 0;
	cur->begin_ns += SEC(1);
	cur->end_ns += SEC(1);
}

/* Removes it. 0, or -1. */
static inline int lone_remove(struct lone *lone)
{
	void *tree = lone->tree;

	sample_free(&lone->sample);
	sample_free(&lone->prev);
	return remove_tree(&tree);
}

/* Puts a file of one of its threads. */
static inline void lone_put(const struct lone *lone, pid_t tid, const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "7/task/%d/%s", (int)tid, name);
	put_text(lone->tree, path, text);
}
