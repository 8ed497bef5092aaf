/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/findings.h"

#include "base/util.h"
#include "view/findings_parts.h"
#include "view/findings_past.h"
#include "view/kthread.h"
#include "view/summary.h"

/* Says of a finding that it is as before, which warns of nothing, or worse than that. */
static void weigh_past(struct finder *finder, struct finding *finding)
{
	enum finding_news news =
		findings_past_judge(finder->findings->past, finding, finder->learns);
	size_t at = finder->findings->text.len;

	/* A task that gets nowhere is reported each time. */
	if (finding->severity != FINDING_WARNING || news == FINDING_NEW)
		return;
	if (news == FINDING_AS_BEFORE)
		finding->severity = FINDING_INFO;
	buf_puts(&finder->findings->text,
		 news == FINDING_WORSE ? ", more than usual" : ", as before");
	finding_part(finder, at, finder->findings->text.len, 2);
}

/* Tries a pattern. */
static void try_pattern(struct finder *finder, const struct finding_pattern *pattern)
{
	struct findings *findings = finder->findings;
	struct finding finding = { .id = pattern->id,
				   .severity = pattern->severity,
				   .share = -1,
				   .at = findings->text.len };

	finder->pattern = pattern;
	finder->finding = &finding;
	if (!pattern->find(finder, &finding)) {
		findings->text.len = finding.at;
		return;
	}
	weigh_past(finder, &finding);
	finding.len = findings->text.len - finding.at;
	buf_putc(&findings->text, '\0');
	findings->all[findings->n++] = finding;
}

/* The weight of a finding within its severity: the most is all of the time. */
static double weight_of(const struct finding *finding)
{
	return finding->share < 0 || finding->share > 100 ? 100 : finding->share;
}

/* Whether a finding matters more than another, which comes first by the table. */
static bool matters_more(const struct finding *a, const struct finding *b)
{
	if (a->severity != b->severity)
		return a->severity > b->severity;
	return weight_of(a) > weight_of(b);
}

/* Brings them into order. Those that are alike stay in the table's. */
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

/* Puts of which resource pressure is highest, if it is worth it. PSI_RESOURCES: it is not. */
static enum psi_resource put_pressed(struct finder *finder)
{
	double most = FINDING_PRESSURE;
	enum psi_resource found = PSI_RESOURCES;

	/* Such a finding is about all tasks; and a group's is not told of tasks outside it. */
	if (finder->info->some || (finder->query && !query_takes_all(finder->query)))
		return found;
	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		struct psi_pair pair = summary_pressure_of(finder->info, r);
		double stalled = summary_stalled(&pair, false);

		if (stalled < most)
			continue;
		most = stalled;
		found = r;
	}
	if (found == PSI_RESOURCES)
		return found;
	buf_printf(&finder->findings->text, "%s pressure is ", psi_names[found]);
	finding_put_percent(finder, most < 100 ? most : 100);
	return found;
}

/* Whether who waited most is a thread of the kernel, and did so for long: that is no finding. */
static bool is_kernels(const struct finder *finder, const struct most *loser)
{
	return finder->kernel && kthread_row(loser->row) &&
	       (double)loser->ns * 100 >= (double)loser->row->interval_ns * IO_LEAST;
}

/* Says which task waited most. */
static void put_loser(struct finder *finder)
{
	const struct most *loser = &finder->loser;
	struct buf *text = &finder->findings->text;

	buf_puts(text, ": ");
	finding_put_who(finder, loser->row);
	buf_puts(text, loser->row->exited ? " waited most and has ended, " : " waited most, ");
	buf_decimal(text, (double)loser->ns / (double)NSEC_PER_MSEC, 0);
	buf_puts(text, " ms");
}

/* Says that nothing was found, and which task waited most all the same. */
static void say_none(struct finder *finder)
{
	const struct most *loser = &finder->loser;
	struct findings *findings = finder->findings;
	struct finding *none = &findings->none;
	enum psi_resource resource;
	bool pressed;

	finder->finding = none;
	*none = (struct finding){ .at = findings->text.len, .share = -1, .row = loser->row };
	resource = put_pressed(finder);
	pressed = resource != PSI_RESOURCES;
	/* Rounds as the words below do. */
	if (!loser->row || loser->ns < NSEC_PER_MSEC / 2) {
		none->row = NULL;
		buf_puts(&findings->text,
			 pressed ? ", but no task is seen to wait: who makes it is not known"
				 : "nothing waits");
	} else {
		if (!pressed)
			buf_puts(&findings->text,
				 is_kernels(finder, loser)
					 ? "only a thread of the kernel waits for long"
					 : "nothing waits for long");
		/* One task says less than many that come and go. */
		if ((!pressed || resource == PSI_CPU) && finding_put_storm(finder, NULL))
			none->row = NULL;
		else
			put_loser(finder);
	}
	none->len = findings->text.len - none->at;
	buf_putc(&findings->text, '\0');
}

void findings_take(struct findings *findings, const struct view *view, const struct frame *tasks,
		   const struct query *query)
{
	struct finder finder = { .findings = findings,
				 .shown = view->frame,
				 .view = *view,
				 .query = query,
				 .info = tasks->info };

	findings->n = 0;
	findings->text.len = 0;
	/* Figures since the start tell of what is long over. */
	findings->known = tasks->info->prev && !tasks->info->since_start;
	if (!findings->known)
		return;
	site_index_begin(&findings->sites, tasks->info->trace);
	finder.view.frame = tasks;
	finder.view.unit = UNIT_PERCENT;
	if (!findings->past)
		findings->past = xcalloc(1, sizeof(*findings->past));
	finder.learns = findings_past_begin(findings->past, tasks->info->cur->begin_ns);
	finder_look(&finder);
	for (size_t i = 0; i < finding_patterns_n; i++)
		try_pattern(&finder, &finding_patterns[i]);
	sort_findings(findings);
	say_none(&finder);
}
