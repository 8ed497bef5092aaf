/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is missing in the numbers of exit records. The kernel numbers them per CPU
 * (kernel/taskstats.c:prepare_reply()), so with a listener a CPU a gap is a loss. But a task
 * that moves to another CPU while it exits carries the number of one CPU to the listener of
 * the other: a number that is missing here and turns up there is none.
 */
#ifndef STALLTOP_NUMBERS_H
#define STALLTOP_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

struct numbers;

/* For that many listeners. Freed by numbers_free(). */
struct numbers *numbers_new(size_t listeners);

/* Takes the number of a record in the order in which its listener got them. */
void numbers_take(struct numbers *numbers, size_t listener, uint32_t number);

/*
 * How many are known to be missing by now. It falls when a late one turns up; what is lost at
 * the end of a burst is missed when the next record comes.
 */
uint64_t numbers_missing(const struct numbers *numbers);

/*
 * How many of those are missing on the word of the listener's last record alone: where no
 * buffer ran over that record may be another CPU's, as the next one shows.
 */
uint64_t numbers_doubtful(const struct numbers *numbers, size_t listener);

void numbers_free(struct numbers *numbers);

#endif
