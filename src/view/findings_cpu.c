/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of tasks without a CPU: throttled by a quota, or as others run. */
#include "view/findings_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Exits per second of one command name from which that name is blamed. */
#define STORM_LEAST 20
/* And the share of a CPU's time that all of them must have used. */
#define STORM_RUNS 0.1

/* The most throttled shown group. */
static void find_throttled_group(const struct finder *finder, struct top_row *most)
{
	for (size_t i = 0; i < finder->ngroups; i++) {
		double share = finding_throttled_share(finder, &finder->shown->rows[i]);

		if (share >= THROTTLED_LEAST)
			top_row_add(most, &finder->shown->rows[i], share);
	}
}

/* The most throttled task, by the trace. */
static const struct site *find_throttled_task(const struct finder *finder, struct top_row *most)
{
	const struct trace_frame *trace = finder->info->trace;
	const struct site *found = NULL;

	for (size_t i = 0; trace && trace->interval_ns && !finder->info->threads && i < trace->n;
	     i++) {
		const struct site *site = trace->sites[i];
		double share = (double)site->ns * 100.0 / (double)trace->interval_ns;
		const struct row *row;

		int by = site_throttled_by(site);

		if (by < 0 || by == BUDGET_YIELD || share < THROTTLED_LEAST)
			continue;
		row = finding_row_of_site(finder, site);
		if (!row)
			continue;
		top_row_add(most, row, share);
		found = most->row == row ? site : found;
	}
	return found;
}

/* The limits read for a row; for a group the quota of a member or above it. */
static const struct task_evidence *limits_of(const struct finder *finder, const struct row *row)
{
	const struct group *group = row->group;

	for (size_t i = 0; group && i < group->n; i++) {
		const struct task_evidence *evidence =
			row_evidence(finder->view.frame, group->members[i]);

		if (evidence && evidence->quota > 0 && evidence->budget == BUDGET_QUOTA &&
		    evidence->cpu_group.name &&
		    group_is_below(group->name, evidence->cpu_group.name))
			return evidence;
	}
	return group ? NULL : row_evidence(finder->view.frame, row);
}

/* Sets the quota that throttles the finding's row, and its CPUs, if read. */
static void take_quota(const struct finder *finder, struct finding *finding)
{
	static const enum finding_limit limits[CPU_BUDGETS] = { [BUDGET_QUOTA] = LIMIT_CPU,
								[BUDGET_DEADLINE] = LIMIT_DEADLINE,
								[BUDGET_REALTIME] =
									LIMIT_REALTIME };
	const struct row *row = finding->row;
	const struct task_evidence *evidence = limits_of(finder, row);
	int by = site_throttled_by(finding->site);

	if (by < 0)
		by = evidence ? (int)evidence->budget : BUDGET_QUOTA;
	finding->limit = limits[by];
	finding->how = row->group ? "a quota" : cpu_budget_words[by].own;
	if (evidence && (int)evidence->budget == by)
		finding->quota_cpus = evidence->quota;
}

/* Tasks and groups throttled because a quota or a budget is used up. */
bool finding_throttled(struct finder *finder, struct finding *finding)
{
	struct top_row most = { .n = 0 };

	if ((finder->idle >= FINDING_IDLE) != (finder->pattern->arg != 0))
		return false;
	find_throttled_group(finder, &most);
	if (!most.row)
		finding->site = find_throttled_task(finder, &most);
	if (!most.row)
		most = finder->throttled;
	if (!finding_take_most(finding, &most))
		return false;
	finding->kind = delay_table[DELAY_CPU].id;
	take_quota(finder, finding);
	finding->while_idle = finder->idle >= FINDING_IDLE;
	return true;
}

/* The row of the task with most CPU time where another waited; NULL: none. */
static const struct row *runner_of(const struct finder *finder, const struct row *row)
{
	const struct task_evidence *evidence = row_evidence(finder->view.frame, row);

	/* Without per-CPU evidence: the top CPU user, if no CPU is idle. */
	if (!evidence)
		return finder->idle < FINDING_IDLE ? finder->runs.row : NULL;
	return evidence->rival ? frame_of_pid(finder->view.frame, evidence->rival) : NULL;
}

/* Orders rows by name. */
static int compare_comms(const void *a, const void *b)
{
	const struct row *const *x = a, *const *y = b;

	return strcmp((*x)->task->comm, (*y)->task->comm);
}

/* Adds a row of exited tasks. */
static void add_ended(struct ended_tasks *ended, const struct row *row)
{
	ended->n += row->members;
	ended->run_ns += row->deltas->grown.run_ns;
}

/* Finds the exited tasks of one name with most CPU time in total; comm NULL: none exited. */
static struct ended_tasks most_of_ended(const struct finder *finder)
{
	const struct row **rows = finder->findings->ended;
	struct ended_tasks most = { 0 }, ended = { 0 };

	if (finder->nended)
		qsort(rows, finder->nended, sizeof(*rows), compare_comms);
	for (size_t i = 0; i < finder->nended; i++) {
		if (!ended.comm || strcmp(ended.comm, rows[i]->task->comm) != 0)
			ended = (struct ended_tasks){ .comm = rows[i]->task->comm };
		add_ended(&ended, rows[i]);
		if (!most.comm || ended.run_ns > most.run_ns)
			most = ended;
	}
	return most;
}

/*
 * Finds the command whose exited tasks together used more CPU than row (NULL: than any row). False:
 * none.
 */
static bool find_storm(const struct finder *finder, const struct row *row,
		       struct ended_tasks *storm)
{
	*storm = most_of_ended(finder);
	if (!storm->comm ||
	    (double)storm->n * (double)NSEC_PER_SEC <
		    STORM_LEAST * (double)finder->info->interval_ns ||
	    (double)storm->run_ns < STORM_RUNS * (double)finder->info->interval_ns)
		return false;
	if (!row)
		row = finder->runs.row;
	return !row || row->exited || storm->run_ns > row->deltas->grown.run_ns;
}

/* The parent of a row's exited tasks; NULL: unknown, or it adopted them. */
static const struct row *parent_of_exited(const struct finder *finder, const struct row *row)
{
	pid_t ppid = row->task->ppid;

	return ppid > 1 ? frame_of_pid(finder->view.frame, ppid) : NULL;
}

/*
 * Finds the parent of at least half of the short-lived tasks and reduces *storm to its part.
 * *several: several parents of that name.
 */
static const struct row *storm_starter(const struct finder *finder, struct ended_tasks *storm,
				       bool *several)
{
	const struct row *const *rows = finder->findings->ended, *most = NULL, *maker, *other;
	struct ended_tasks made = { .comm = storm->comm };

	for (size_t i = 0; i < finder->nended; i++)
		if (!strcmp(rows[i]->task->comm, storm->comm) &&
		    (!most || rows[i]->members > most->members))
			most = rows[i];
	maker = parent_of_exited(finder, most);
	*several = false;
	for (size_t i = 0; maker && i < finder->nended; i++) {
		if (strcmp(rows[i]->task->comm, storm->comm) != 0)
			continue;
		other = parent_of_exited(finder, rows[i]);
		if (!other || strcmp(other->task->comm, maker->task->comm) != 0)
			continue;
		add_ended(&made, rows[i]);
		*several |= other != maker;
	}
	if (made.n * 2 < storm->n)
		return NULL;
	*storm = made;
	return maker;
}

bool finding_take_storm(struct finder *finder, const struct row *row)
{
	double seconds = (double)finder->info->interval_ns / (double)NSEC_PER_SEC;
	struct finding *finding = finder->finding;
	struct ended_tasks storm;
	const struct row *maker;
	bool several;

	if (!find_storm(finder, row, &storm))
		return false;
	maker = storm_starter(finder, &storm, &several);
	finding->culprit =
		(struct finding_culprit){ .kind = maker ? CULPRIT_STARTS : CULPRIT_RAN_MOST,
					  .name = maker ? maker->task->comm : storm.comm,
					  .pid = maker && !several ? maker->task->key.pid : 0,
					  .share = (double)storm.run_ns / (double)NSEC_PER_SEC /
						   seconds * 100,
					  .rate = (double)storm.n / seconds,
					  .of = storm.comm };
	return true;
}

/* Sets which tasks run in place of the waiting one. */
static void take_runner(struct finder *finder, struct finding *finding)
{
	const struct row *runs = runner_of(finder, finding->row);
	bool known = row_evidence(finder->view.frame, finding->row);
	double waited = (double)finding->row->deltas->waited.ns[DELAY_CPU];
	const struct site *site = finding_site(finder, finding->row, STATE_CPU);

	if (site && site->on && (double)site->ns >= waited * FINDING_SITE / 100) {
		double share = (double)site->ns * 100 / waited;

		finding->site = site;
		finding->culprit = (struct finding_culprit){ .kind = CULPRIT_BEHIND,
							     .name = site->on,
							     .share = share < 100 ? share : 100 };
		return;
	}
	if (finder->idle < FINDING_IDLE && finding_take_storm(finder, runs))
		return;
	if (!runs || (!known && !finding_worth_naming(finder, runs, finding->row)))
		return;
	/*
	 * If only some tasks are read, others may run more. The share is of the whole interval,
	 * though it may have exited early in it.
	 */
	finding_take_culprit(finding,
			     finder->info->selected_only ? CULPRIT_RUNS_THERE : CULPRIT_RUNS_MOST,
			     runs);
	finding->culprit.share =
		(double)runs->deltas->grown.run_ns * 100.0 / (double)finder->info->interval_ns;
}

/* Tasks that wait for a CPU. */
bool finding_cpu(struct finder *finder, struct finding *finding)
{
	if ((finder->idle >= FINDING_IDLE) != (finder->pattern->arg != 0) ||
	    !finding_take_most(finding, &finder->waits[DELAY_CPU]))
		return false;
	finding->kind = delay_table[DELAY_CPU].id;
	finding->while_idle = finder->idle >= FINDING_IDLE;
	take_runner(finder, finding);
	return true;
}
