/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the worst problems of the machine, by the figures of a frame and by no others. A finding
 * says what was measured. Where the source does not tell a cause it names none.
 */
#pragma once

#include "view/finding.h"
#include "view/query.h"

/*
 * Makes the findings of a frame of tasks. view->frame has the rows that are shown: those, or the
 * groups that they were folded into. Only tasks that the query takes count as suffering (NULL:
 * all); the cause is looked for among all. Rows and sites stay those of the frames.
 */
void findings_take(struct findings *findings, const struct view *view, const struct frame *tasks,
		   const struct query *query);

/*
 * The severity of the worst finding, from 1 on: what a recording tells of a
 * sample without reading it. 0: none.
 */
unsigned findings_worst(const struct findings *findings);

/*
 * Earlier findings: one that holds most of the time is no news. Each finding has a weight that
 * follows how often, and how badly, it held in the last 15 minutes.
 */

/* A finding that was met, and how often it held. */
struct past_finding {
	uint64_t key; /* hash of the pattern and the named task; 0: none */
	double held; /* of the time, from 0 to 1, later moments more than earlier ones */
	double share; /* of the interval, on average, while it held */
	uint64_t first_ns, last_ns; /* begin_ns of samples that had it */
};

#define PAST_FINDINGS 64

/* Zero-initialised: nothing was found yet. */
struct findings_past {
	uint64_t since_ns, last_ns; /* begin_ns of the first and of the last sample */
	struct past_finding all[PAST_FINDINGS];
};

/* How a finding compares with earlier ones. */
enum finding_news {
	FINDING_NEW, /* it was seldom so */
	FINDING_AS_BEFORE, /* it was so for half of the time or more, and is not worse */
	FINDING_WORSE /* it was so, and is much worse now */
};

/* The key of a finding: its pattern, and the name of the task that it names. */
uint64_t findings_past_key(const struct finding *finding);

/*
 * Begins a sample of that time. False: it is not later than the last, so that nothing is learned
 * from it, as of the past that is looked at again.
 */
bool findings_past_begin(struct findings_past *past, uint64_t begin_ns);

/* Compares a finding with earlier ones; learn: remembers it (see findings_past_begin()). */
enum finding_news findings_past_judge(struct findings_past *past, const struct finding *finding,
				      bool learn);
