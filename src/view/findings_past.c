/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/findings_past.h"

#include <math.h>
#include <string.h>

#include "base/util.h"

/* The time over which it is weighed how often something held. */
#define WEIGHED_SECONDS (15.0 * 60)

/* A finding is new in a record shorter than this. */
#define KNOWN_NS (5 * 60 * NSEC_PER_SEC)

/* From what share of the time on it is as before, and by how much more it is worse. */
#define USUAL 0.5
#define WORSE 1.5

uint64_t findings_past_key(const struct finding *finding)
{
	const struct row *row = finding->row;
	const char *texts[] = { finding->id, NULL };
	uint64_t key = UINT64_C(0xcbf29ce484222325);

	if (row)
		texts[1] = row->group ? row->group->label : row->task ? row->task->comm : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (const char *at = texts[i] ? texts[i] : ""; *at; at++)
			key = (key ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	return key ? key : 1;
}

bool findings_past_begin(struct findings_past *past, uint64_t begin_ns)
{
	double kept;

	if (begin_ns <= past->last_ns)
		return false;
	if (!past->since_ns)
		past->since_ns = begin_ns;
	kept = exp(-(double)(begin_ns - past->last_ns) / (double)NSEC_PER_SEC / WEIGHED_SECONDS);
	for (size_t i = 0; past->last_ns && i < PAST_FINDINGS; i++)
		past->all[i].held *= kept;
	past->last_ns = begin_ns;
	return true;
}

/* The finding of that key; a wanted one that is not there takes the place of the rarest. */
static struct past_finding *find_past(struct findings_past *past, uint64_t key, bool made)
{
	struct past_finding *rarest = &past->all[0];

	for (size_t i = 0; i < PAST_FINDINGS; i++) {
		if (past->all[i].key == key)
			return &past->all[i];
		if (past->all[i].held < rarest->held)
			rarest = &past->all[i];
	}
	if (!made)
		return NULL;
	*rarest = (struct past_finding){ .key = key, .first_ns = past->last_ns };
	return rarest;
}

/* Adds the interval that ends now. */
static void learn_from(struct findings_past *past, struct past_finding *known,
		       const struct finding *finding)
{
	uint64_t span_ns = past->last_ns - past->since_ns;
	double seconds = (double)span_ns / (double)NSEC_PER_SEC;
	double step = finding->row ? (double)finding->row->interval_ns / (double)NSEC_PER_SEC : 0;
	double gained = 1 - exp(-step / WEIGHED_SECONDS);

	known->held = known->held + gained < 1 ? known->held + gained : 1;
	/* The newest of the shares weighs as much as a twentieth of the record, at least. */
	if (finding->share >= 0)
		known->share += (finding->share - known->share) *
				(known->last_ns ? fmax(step / fmax(seconds, step), 0.05) : 1);
	known->last_ns = past->last_ns;
}

enum finding_news findings_past_judge(struct findings_past *past, const struct finding *finding,
				      bool learn)
{
	struct past_finding *known = find_past(past, findings_past_key(finding), learn);
	enum finding_news news = FINDING_NEW;
	/* A short record can have held less. */
	double span = (double)(past->last_ns - past->since_ns) / (double)NSEC_PER_SEC;
	double most = 1 - exp(-span / WEIGHED_SECONDS);

	if (!known)
		return FINDING_NEW;
	if (past->last_ns - past->since_ns >= KNOWN_NS && known->held >= USUAL * most &&
	    known->last_ns)
		news = finding->share >= 0 && finding->share > known->share * WORSE
			       ? FINDING_WORSE
			       : FINDING_AS_BEFORE;
	if (learn)
		learn_from(past, known, finding);
	return news;
}
