/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The procfs source over a made-up /proc, and its samples in turn. */
#pragma once

#include <string.h>
#include <unistd.h>

#include "read/source.h"
#include "tests/lib/tree_thread.h"

/* A process of two threads, and one of one. */
static const struct thread leader = { 42, 42, "leader", 10, 20, 900, 5, 1000, 2000, 3, 1000 };
static const struct thread worker = { 42, 50, "worker", 1, 2, 950, 7, 100, 200, 30, 1001 };
static const struct thread other = { 7, 7, "other", 0, 0, 100, 0, 9, 8, 7, 0 };

/* Time of a clock tick in ns. */
static inline uint64_t tick(void)
{
	return 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* A source over the tree, and two samples in turn. */
struct taken {
	struct source source;
	struct sample samples[2];
	unsigned now;
};

/* Opens the source. */
static inline void open_taken(struct taken *taken, const struct source_env *env)
{
	memset(taken, 0, sizeof(*taken));
	assert_int_equal(source_open(&taken->source, "procfs", env), 0);
	assert_int_equal(taken->source.refused, 0);
}

/* Takes the next sample. */
static inline const struct sample *take(struct taken *taken)
{
	struct sample *prev = &taken->samples[taken->now], *cur;

	taken->now = !taken->now;
	cur = &taken->samples[taken->now];
	sample_reset(cur);
	assert_int_equal(taken->source.ops->sample(taken->source.state, prev, cur, 0), 0);
	return cur;
}

/* Frees all. */
static inline void close_taken(struct taken *taken)
{
	source_close(&taken->source);
	sample_free(&taken->samples[0]);
	sample_free(&taken->samples[1]);
}

/* What the source knows of a task. */
#define TAKEN_VALID \
	(DELAY_BOTH(DELAY_BIT(DELAY_CPU)) | DELAY_BIT(DELAY_BLKIO) | VALID_RUN | VALID_TICK)
