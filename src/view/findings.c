/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/findings.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "frame/frame.h"
#include "view/findings_parts.h"
#include "view/query.h"
#include "view/summary.h"

/* Time over which the frequency of a finding is averaged. */
#define WEIGHED_SECONDS (15.0 * 60)

/* A finding is new in a record shorter than this. */
#define KNOWN_NS (5 * 60 * NSEC_PER_SEC)

/* Share of the time from which it is as before, and factor from which it is worse. */
#define USUAL 0.5
#define WORSE 1.5

uint64_t findings_past_key(const struct finding *finding)
{
	const struct row *row = finding->row;
	const char *name = NULL;
	uint64_t key;

	if (row)
		name = row->group ? row->group->label : row->task ? row->task->comm : NULL;
	key = hash_text(hash_text(HASH_START, finding->id), name);
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

/* The finding of that key; if it is missing but wanted, it replaces the rarest. */
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

/* Adds the interval ending now. */
static void learn_from(struct findings_past *past, struct past_finding *known,
		       const struct finding *finding)
{
	uint64_t span_ns = past->last_ns - past->since_ns;
	double seconds = (double)span_ns / (double)NSEC_PER_SEC;
	double step = finding->row ? (double)finding->row->interval_ns / (double)NSEC_PER_SEC : 0;
	double gained = 1 - exp(-step / WEIGHED_SECONDS);

	known->held = known->held + gained < 1 ? known->held + gained : 1;
	/* The newest share weighs at least as much as a twentieth of the record. */
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
	/* A short record can have contained less. */
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

/* Marks a finding as lasting, which is no warning, or as worse than before. */
static void weigh_past(struct finder *finder, struct finding *finding)
{
	enum finding_news news =
		findings_past_judge(finder->findings->past, finding, finder->learns);

	/* A task without progress is reported each time. */
	if (finding->severity != FINDING_WARNING || news == FINDING_NEW)
		return;
	if (news == FINDING_AS_BEFORE)
		finding->severity = FINDING_INFO;
	finding_put_news(finder, news == FINDING_WORSE ? ", more than usual" : ", as usual");
}

/* Tries a pattern. */
static void try_pattern(struct finder *finder, const struct finding_pattern *pattern)
{
	struct findings *findings = finder->findings;
	struct finding finding = { .id = pattern->id,
				   .severity = pattern->severity,
				   .subject = pattern->subject,
				   .share = -1,
				   .at = findings->text.len };

	finder->pattern = pattern;
	finder->finding = &finding;
	if (!pattern->find(finder, &finding))
		return;
	finding_put(finder, pattern->sentence);
	weigh_past(finder, &finding);
	finding.len = findings->text.len - finding.at;
	buf_putc(&findings->text, '\0');
	findings->all[findings->n++] = finding;
}

/* Weight of a finding within its severity: the maximum is all of the time. */
static double finding_weight(const struct finding *finding)
{
	return finding->share < 0 || finding->share > 100 ? 100 : finding->share;
}

/* True if a finding is more important than another, which comes first by the table. */
static bool matters_more(const struct finding *a, const struct finding *b)
{
	if (a->severity != b->severity)
		return a->severity > b->severity;
	return finding_weight(a) > finding_weight(b);
}

/* Sorts them. Equal ones stay in the table's order. */
static void sort_findings(struct findings *findings)
{
	for (size_t i = 1; i < findings->n; i++) {
		struct finding finding = findings->all[i];
		size_t at = i;

		for (; at && matters_more(&finding, &findings->all[at - 1]); at--)
			findings->all[at] = findings->all[at - 1];
		findings->all[at] = finding;
	}
}

/* Finds the resource with the highest pressure, and that in percent. PSI_RESOURCES: it is low. */
static enum psi_resource find_pressed(struct finder *finder, double *most)
{
	enum psi_resource found = PSI_RESOURCES;

	*most = FINDING_PRESSURE;
	/*
	 * Pressure concerns all tasks, and group pressure says nothing about tasks outside the
	 * group.
	 */
	if (finder->info->selected_only || (finder->query && !query_takes_all(finder->query)))
		return found;
	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		struct psi_pair pair = summary_pressure_of(finder->info, r);
		double stalled = summary_stalled(&pair, false);

		if (stalled < *most)
			continue;
		*most = stalled;
		found = r;
	}
	return found;
}

/* True if the longest-waiting task is a kernel thread, and waited for long: that is no finding. */
static bool is_kernel_waiter(const struct finder *finder, const struct top_row *top_waiter)
{
	return finder->kernel && kthread_row(top_waiter->row) &&
	       (double)top_waiter->ns * 100 >= (double)top_waiter->row->interval_ns * IO_LEAST;
}

/* Says that nothing was found, and names the task that still waited most. */
static void report_none(struct finder *finder)
{
	const struct top_row *top_waiter = &finder->top_waiter;
	struct findings *findings = finder->findings;
	struct finding *none = &findings->none;
	enum psi_resource resource;
	double pressure;
	bool pressed;

	finder->finding = none;
	resource = find_pressed(finder, &pressure);
	pressed = resource != PSI_RESOURCES;
	/* Tasks that waited for something else have nothing to do with that pressure. */
	if (pressed)
		top_waiter = &finder->top_waiters[resource];
	*none = (struct finding){ .at = findings->text.len,
				  .share = -1,
				  .row = top_waiter->row,
				  .ns = top_waiter->ns,
				  .culprit = { .of = pressed ? psi_names[resource] : NULL,
					       .share = pressure < 100 ? pressure : 100 } };
	if (pressed)
		finding_put(finder, "%s pressure %a");
	/* Rounds as the words below do. */
	if (!top_waiter->row || top_waiter->ns < NSEC_PER_MSEC / 2) {
		none->row = NULL;
		finding_put(finder, pressed ? ", but no task is seen waiting for it: cause unknown"
					    : "no waits");
	} else {
		if (!pressed)
			finding_put(finder, is_kernel_waiter(finder, top_waiter)
						    ? "only a kernel thread waits for long"
						    : "no long waits");
		/* One task is less informative than many short-lived ones. */
		if ((!pressed || resource == PSI_CPU) && finding_take_storm(finder, NULL)) {
			none->row = NULL;
			finding_put(finder, "%C");
		} else {
			finding_put(finder, top_waiter->row->exited
						    ? "; %w (exited) waited most, %i ms"
						    : "; %w waited most, %i ms");
		}
	}
	none->ns = 0;
	none->len = findings->text.len - none->at;
	buf_putc(&findings->text, '\0');
}

void findings_take(struct findings *findings, const struct view *view, const struct frame *tasks,
		   const struct query *query)
{
	struct finder finder = { .findings = findings,
				 .shown = view->frame,
				 .ngroups = view->frame != tasks ? view->frame->n : 0,
				 .view = *view,
				 .query = query,
				 .info = tasks->info };

	findings->n = 0;
	findings->text.len = 0;
	/* Figures since start describe the distant past. */
	findings->known = tasks->info->prev && !tasks->info->since_start;
	if (!findings->known)
		return;
	site_index_begin(&findings->sites, tasks->info->trace);
	finder.view.frame = tasks;
	finder.view.unit = UNIT_PERCENT;
	if (!findings->past)
		findings->past = xcalloc(1, sizeof(*findings->past));
	finder.learns = findings_past_begin(findings->past, tasks->info->cur->begin_ns);
	findings_scan(&finder);
	for (size_t i = 0; i < finding_patterns_n; i++)
		try_pattern(&finder, &finding_patterns[i]);
	sort_findings(findings);
	report_none(&finder);
}

unsigned findings_worst(const struct findings *findings)
{
	/* It comes first. */
	return findings->n ? findings->all[0].severity + 1u : 0;
}

/* Findings only about tasks selected by name. */
