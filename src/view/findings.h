/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the worst problems of the machine, from the figures of a frame only. A finding states
 * measured facts. If the source does not show a cause, it names none.
 */
#pragma once

#include "view/finding.h"
#include "view/query.h"

/*
 * Makes the findings of a frame of tasks. view->frame has the shown rows: those, or the groups they
 * were folded into. Only tasks that pass the query can be victims (NULL: all); causes are searched
 * for among all. Rows and sites stay those of the frames.
 */
void findings_take(struct findings *findings, const struct view *view, const struct frame *tasks,
		   const struct query *query);

/*
 * The severity of the worst finding, from 1 on: what a recording shows of a sample without reading
 * it. 0: none.
 */
unsigned findings_worst(const struct findings *findings);

/*
 * Earlier findings: one that holds most of the time is no news. Each finding has a weight that
 * follows how often, and how badly, it held in the last 15 minutes.
 */

/* An earlier finding, and how often it held. */
struct past_finding {
	uint64_t key; /* hash of the pattern and the named task; 0: none */
	double held; /* of the time, from 0 to 1, recent times weighted more */
	double share; /* of the interval, on average, while it held */
	uint64_t first_ns, last_ns; /* begin_ns of samples with it */
};

#define PAST_FINDINGS 64

/* Zero-initialised: no findings yet. */
struct findings_past {
	uint64_t since_ns, last_ns; /* begin_ns of the first and of the last sample */
	struct past_finding all[PAST_FINDINGS];
};

/* How a finding compares with earlier ones. */
enum finding_news {
	FINDING_NEW, /* it was rarely so */
	FINDING_AS_BEFORE, /* it was so for half of the time or more, and is not worse */
	FINDING_WORSE /* it was so before, and is much worse now */
};

/* The key of a finding: its pattern, and the name of the task in it. */
uint64_t findings_past_key(const struct finding *finding);

/*
 * Starts a sample of that time. False: it is not later than the last, so that nothing is learned
 * from it, as when the past is viewed again.
 */
bool findings_past_begin(struct findings_past *past, uint64_t begin_ns);

/* Compares a finding with earlier ones; learn: stores it (see findings_past_begin()). */
enum finding_news findings_past_judge(struct findings_past *past, const struct finding *finding,
				      bool learn);
