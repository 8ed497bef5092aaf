/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scans the rows of a frame: which task waits most for what. */
#include "view/findings_parts.h"

#include <math.h>
#include <string.h>

#include "base/util.h"
#include "view/query.h"
#include "view/summary.h"

/* Share of a quota whose use may mean throttling by it. */
#define QUOTA_USED 0.75

/* Share from which a kind is checked, in percent; 0: it is not. */
static const double kinds_least[WAIT_KINDS] = {
	[DELAY_CPU] = CPU_LEAST,       [DELAY_BLKIO] = IO_LEAST,
	[DELAY_SWAPIN] = MEMORY_LEAST, [DELAY_RECLAIM] = MEMORY_LEAST,
	[DELAY_THRASH] = MEMORY_LEAST, [DELAY_COMPACT] = MEMORY_LEAST,
	[DELAY_WPCOPY] = WPCOPY_LEAST, [DELAY_IRQ] = IRQ_LEAST,
	[WAIT_DWAIT] = BLOCK_LEAST,
};

/* The states in which a peer is waited for. */
static const enum wait_state peer_states[] = { STATE_LOCK, STATE_NET, STATE_PIPE, STATE_CHILD,
					       STATE_POLL };

/* The column with an id, which must exist. */
static const struct column *column_of(const char *id)
{
	return column_by_id(id, strlen(id));
}

/* Finds the columns whose figures are scanned: once, as there are many. */
static void find_columns(struct finding_columns *found)
{
	char id[16] = "s-";

	if (found->mem)
		return;
	for (unsigned kind = 0; kind < WAIT_KINDS; kind++)
		found->kinds[kind] = column_of(wait_kind_id(kind));
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		strncpy(id + 2, wait_state_table[state].id, sizeof(id) - 3);
		found->states[state] = column_of(id);
	}
	found->run = column_of("run");
	found->read = column_of("read");
	found->write = column_of("write");
	found->throttled = column_of("throttled");
	found->limited = column_of("mem-max");
	found->mem = column_of("mem");
}

/* Counts a row once, even if recorded for several kinds, one after the other. */
static void count_row(struct top_row *most, const struct row *row)
{
	if (most->last == row)
		return;
	most->last = row;
	if (most->n < TOP_ROWS_MAX)
		most->noted[most->n] = row;
	most->n++;
}

void top_row_add(struct top_row *most, const struct row *row, double share)
{
	count_row(most, row);
	if (row == most->row) {
		most->share = fmax(most->share, share);
		return;
	}
	if (most->row && share <= most->share) {
		if (!most->second || share > most->second_share) {
			most->second = row;
			most->second_share = share;
		}
		return;
	}
	most->second = most->row;
	most->second_share = most->share;
	most->row = row;
	most->share = share;
}

/* Records a row that has waited this long. */
static void note_ns(struct top_row *most, const struct row *row, uint64_t ns)
{
	count_row(most, row);
	if (most->row && ns <= most->ns)
		return;
	most->row = row;
	most->ns = ns;
}

/* A figure of a row; below 0: unknown. */
static double figure(const struct finder *finder, const struct column *column,
		     const struct row *row)
{
	struct value value = column_get(column, &finder->view, row);

	return value.type == VALUE_NUMBER ? value.number : -1;
}

uint32_t finding_threads(const struct finder *finder, const struct row *row)
{
	uint32_t threads = 0;

	for (size_t i = 0; row->group && i < row->group->n; i++)
		threads += finding_threads(finder, row->group->members[i]);
	if (row->group)
		return threads ? threads : 1;
	threads = row->raw->now.threads;
	if (finder->info->threads || row->raw->single)
		return 1;
	if (row->before && row->before->now.threads > threads)
		threads = row->before->now.threads;
	return threads ? threads : 1;
}

const struct site *finding_next_site(const struct finder *finder, const struct row *row,
				     const struct site *site)
{
	if (!row->traced)
		return NULL;
	return site_index_next(&finder->findings->sites, row->traced->tgid, row->traced->start_ns,
			       site);
}

/* The next site that neither overlaps others nor is unattributed; threads have no sites. */
static const struct site *next_own_site(const struct finder *finder, const struct row *row,
					const struct site *site)
{
	if (finder->info->threads)
		return NULL;
	do
		site = finding_next_site(finder, row, site);
	while (site && (site->unattributed || site->overlaps));
	return site;
}

const struct site *finding_site(const struct finder *finder, const struct row *row,
				enum wait_state state)
{
	const struct site *site = NULL;

	/* Those with more time come first. */
	do
		site = next_own_site(finder, row, site);
	while (site && site->state != state);
	return site;
}

const struct site *finding_site_now(const struct finder *finder, const struct row *row)
{
	const struct site *longest = NULL, *site = NULL;

	while ((site = next_own_site(finder, row, site))) {
		if (!site->waiting || (site->state != STATE_IO && site->state != STATE_DWAIT &&
				       !wait_for_server(site->where)))
			continue;
		if (!longest || site->waiting_ns > longest->waiting_ns)
			longest = site;
	}
	return longest;
}

/* True if two rows are of tasks of one service: equal names, in one cgroup. */
static bool is_same_service(const struct row *a, const struct row *b)
{
	if (a->group || b->group || strcmp(a->task->comm, b->task->comm) != 0)
		return false;
	if (a->task->cgroup && b->task->cgroup)
		return !strcmp(a->task->cgroup, b->task->cgroup);
	return a->task->cgroup_id == b->task->cgroup_id;
}

bool finding_take_most(struct finding *finding, const struct top_row *most)
{
	finding->row = most->row;
	finding->n = most->n;
	finding->share = most->ns ? -1 : most->share;
	finding->ns = most->ns;
	finding->service = 0;
	for (size_t i = 0; i < most->n && i < TOP_ROWS_MAX; i++)
		finding->service += is_same_service(most->noted[i], most->row);
	return most->row;
}

void finding_take_culprit(struct finding *finding, enum culprit_kind kind, const struct row *row)
{
	finding->culprit = (struct finding_culprit){ .kind = kind,
						     .name = row->task->comm,
						     .pid = row->task->key.pid };
}

const struct row *finding_row_of_site(const struct finder *finder, const struct site *site)
{
	const struct frame *frame = finder->view.frame;
	size_t at = frame_from(frame, task_order(site->tgid, site->tgid));
	const struct row *row = at < frame_living(frame) ? &frame->rows[at] : NULL;

	if (!row || !row->traced || row->traced->tgid != site->tgid ||
	    row->traced->start_ns != site->start_ns)
		return NULL;
	return row;
}

bool finding_worth_naming(const struct finder *finder, const struct row *row, const struct row *who)
{
	/* If only some tasks are read, others may use more. */
	return row && row != who && !finder->info->selected_only && !row->exited && !row->born;
}

bool finding_is_limited(const struct finder *finder, const struct row *row)
{
	const struct task_evidence *evidence = row_evidence(finder->view.frame, row);

	return evidence && evidence->memory_limit &&
	       evidence->memory_used / 100 >= evidence->memory_limit / 10000 * LIMIT_LEAST;
}

bool finding_is_idle_ring(const struct finder *finder, const struct row *row)
{
	const struct task_waiting *waiting = row_waiting(finder->view.frame, row);

	return waiting && waiting->state == STATE_POLL && waiting->class == CLASS_IDLE;
}

/* The site in which a row's process is throttled; NULL: it is not, or unknown. */
static const struct site *throttled_site(const struct finder *finder, const struct row *row)
{
	const struct site *site = NULL;

	do
		site = finding_next_site(finder, row, site);
	while (site && site_throttled_by(site) < 0);
	return site;
}

double finding_throttled_share(const struct finder *finder, const struct row *row)
{
	struct view view = finder->view;
	struct value value;

	if (!row->group || !row->group->figures)
		return -1;
	view.frame = finder->shown;
	value = column_get(finder->columns->throttled, &view, row);
	return value.type == VALUE_NUMBER ? value.number : -1;
}

/* True if a task itself used most of a quota: after the first reading nothing more is known. */
static bool uses_quota(const struct row *row, const struct task_evidence *evidence)
{
	return (double)row->deltas->grown.run_ns >=
	       (double)row->interval_ns * evidence->quota * QUOTA_USED;
}

bool finding_is_throttled(const struct finder *finder, const struct row *row)
{
	const struct task_evidence *evidence = row_evidence(finder->view.frame, row);
	const struct site *site = throttled_site(finder, row);

	if (site && site->ns * 2 >= row->deltas->waited.ns[DELAY_CPU])
		return true;
	if (evidence &&
	    (evidence->throttled >= THROTTLED_LEAST || evidence->budget == BUDGET_YIELD))
		return true;
	if (evidence && evidence->throttled < 0 && evidence->quota > 0 && uses_quota(row, evidence))
		return true;
	for (size_t i = 0; i < finder->ngroups; i++) {
		const struct row *group = &finder->shown->rows[i];

		if (finding_throttled_share(finder, group) < THROTTLED_LEAST)
			continue;
		for (size_t m = 0; m < group->group->n; m++)
			if (group->group->members[m] == row)
				return true;
	}
	return false;
}

/*
 * True if a share is sufficient: of the row's threads on average, or of so many as make half of
 * one.
 */
static bool is_enough(const struct finder *finder, const struct row *row, double share,
		      double least)
{
	double threads = finding_threads(finder, row);

	return share >= threads * least || (threads > 1 && share >= THREADS_LEAST);
}

/* Same for memory delay: usually one thread has it, however many are idle. */
static bool is_enough_memory(const struct finder *finder, const struct row *row, double share,
			     double least)
{
	return share >= least * (finding_threads(finder, row) > 1 ? MEMORY_THREADS : 1);
}

/* Lower bound of the longest current D sleep in a row, whose longest wait may be for a CPU. */
static uint64_t sleep_ns(const struct finder *finder, const struct row *row)
{
	const struct task_waits *waits = &row->raw->now.waits;
	uint64_t now_ns = finder->info->cur->end_ns, ns = 0;
	uint32_t threads = waits_in_d(waits);

	if (!threads || row->exited)
		return 0;
	if (!waits->threads[SEEN_CPU])
		return row_wait(finder->view.frame, row, &ns) ? ns : 0;
	for (unsigned kind = SEEN_BLKIO; kind <= SEEN_DWAIT; kind++)
		ns += waits_progress(waits, kind, now_ns);
	return ns / threads;
}

/* True if a task that waits for a CPU gets much less of it than it wants. */
static bool lacks_cpu(const struct finder *finder, const struct row *row, double waits)
{
	double runs = figure(finder, finder->columns->run, row);

	return runs >= 0 && waits * 100 >= (waits + runs) * CPU_WANTED &&
	       !waited_asleep(&row->deltas->grown, row->raw, row->before) &&
	       !finding_is_throttled(finder, row);
}

/* True if a row sleeps uninterruptibly for programs that it starts: until these have begun. */
static bool starts_programs(const struct finder *finder, const struct row *row)
{
	const struct site *site = finding_site(finder, row, STATE_DWAIT);

	return site && site->syscall &&
	       (!strcmp(site->syscall, "vfork") || !strncmp(site->syscall, "clone", 5));
}

/*
 * Records how much a row writes or reads, in kB/s; once per row. A suspect may have only one
 * reading, if the sample has two of all tasks. A task without readings may be the largest.
 */
static void note_io(struct finder *finder, struct most_io *most, const struct column *column,
		    const struct row *row, double kb)
{
	if (kb < 0 && finder->info->cur->procs)
		kb = figure(finder, column, row);
	if (kb < 0)
		kb = row_evidence(finder->view.frame, row) ? INFINITY : 0;
	if (row == most->row)
		return;
	if (kb > most->kb)
		*most = (struct most_io){ row, kb, most->kb };
	else
		most->next_kb = fmax(most->next_kb, kb);
}

/* True if a row's time waited of a kind is worth reporting. */
static bool is_worth_telling(struct finder *finder, const struct row *row, unsigned kind,
			     double share)
{
	const struct task_evidence *evidence = row_evidence(finder->view.frame, row);

	if (kind == DELAY_CPU)
		return lacks_cpu(finder, row, share);
	if (kind == DELAY_BLKIO && finding_is_idle_ring(finder, row))
		return false;
	/* A wait caused by a limit is reported as the limit. */
	if (kind != DELAY_IRQ && kind != DELAY_WPCOPY && kind != WAIT_DWAIT &&
	    finding_is_limited(finder, row)) {
		top_row_add(&finder->limited, row, share);
		note_io(finder, &finder->reader, finder->columns->read, row, evidence->reads);
		return false;
	}
	return kind != WAIT_DWAIT || !starts_programs(finder, row);
}

/* Records a row's waits. */
static void scan_waits(struct finder *finder, const struct row *row, bool hangs)
{
	const struct task_evidence *evidence = row_evidence(finder->view.frame, row);

	for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
		double share = kinds_least[kind] > 0
				       ? figure(finder, finder->columns->kinds[kind], row)
				       : -1;
		bool memory = kind < DELAY_KINDS && DELAY_MEM_KINDS & DELAY_BIT(kind);

		if (share <= 0 ||
		    !(memory ? is_enough_memory : is_enough)(finder, row, share,
							     kinds_least[kind]) ||
		    share * (double)row->interval_ns < NOTICED_NS * 100.0)
			continue;
		/* Hangs have a finding of their own. Kernel threads wait for what others write. */
		if ((hangs || (finder->kernel && kthread_row(row))) &&
		    (kind == DELAY_BLKIO || kind == WAIT_DWAIT))
			continue;
		if (!is_worth_telling(finder, row, kind, share))
			continue;
		top_row_add(&finder->waits[kind], row, share);
		if (kind == DELAY_BLKIO)
			note_io(finder, &finder->writer, finder->columns->write, row,
				evidence ? evidence->writes : -1);
	}
}

/* Records how long a quota throttled a row's group, if read. */
static void scan_quota(struct finder *finder, const struct row *row)
{
	const struct task_evidence *evidence = row_evidence(finder->view.frame, row);

	if (evidence && evidence->throttled >= THROTTLED_LEAST)
		top_row_add(&finder->throttled, row,
			    evidence->throttled < 100 ? evidence->throttled : 100);
}

/* True if most of a row's time in a state was for a peer, not idle. */
static bool is_for_peer(const struct finder *finder, const struct row *row, enum wait_state state)
{
	const struct site *site;

	/* The writer that a pipe's reader waits for is known, and worth mentioning. */
	if (state != STATE_NET && state != STATE_POLL)
		return true;
	site = finding_site(finder, row, state);
	/* Completions of requests come from no task; the next interval shows their subject. */
	if (state == STATE_POLL)
		return site && site->class == CLASS_REMOTE && site->syscall &&
		       strncmp(site->syscall, "io_", 3) != 0;
	return !site || site->class != CLASS_IDLE;
}

/* Records in which states a row waited for peers. */
static void scan_peers(struct finder *finder, const struct row *row)
{
	for (size_t i = 0; row->traced && i < ARRAY_SIZE(peer_states); i++) {
		enum wait_state state = peer_states[i];
		double share = figure(finder, finder->columns->states[state], row);

		if (is_enough(finder, row, share, PEER_LEAST) && is_for_peer(finder, row, state))
			top_row_add(&finder->in_states[state], row, share);
	}
}

/* Records a row by its total use of something: it may not have existed for long. */
static void note_use(struct top_row *most, const struct row *row, double share)
{
	uint64_t used = (uint64_t)(share * (double)row->interval_ns);

	if (most->row && used <= most->ns)
		return;
	most->row = row;
	most->share = share;
	most->ns = used;
}

/* Records the tasks with most CPU time and most writes. */
static void scan_users(struct finder *finder, const struct row *row)
{
	double runs = figure(finder, finder->columns->run, row), writes;

	if (runs > 0)
		note_use(&finder->runs, row, runs);
	if (row->exited) {
		GROW(finder->findings->ended, finder->nended, finder->findings->ended_cap);
		finder->findings->ended[finder->nended++] = row;
	}
	writes = finder->info->cur->procs ? figure(finder, finder->columns->write, row) : -1;
	if (writes > 0)
		note_use(&finder->writes, row, writes);
	/* An unreadable task may be the largest writer. */
	finder->writes_known &= writes >= 0;
}

/* Scans a row's waits, of all kinds and for each resource with pressure. */
static void scan_losses(struct finder *finder, const struct row *row)
{
	const struct waited *waited = &row->deltas->waited;
	const uint64_t lost[PSI_RESOURCES] = {
		[PSI_CPU] = waited->ns[DELAY_CPU],
		[PSI_MEMORY] = waited->mem,
		/* Pages read back from the disk are I/O, too. */
		[PSI_IO] = waited->ns[DELAY_BLKIO] + waited->ns[DELAY_SWAPIN] +
			   waited->ns[DELAY_THRASH],
		[PSI_IRQ] = waited->ns[DELAY_IRQ],
	};

	if (waited->total)
		note_ns(&finder->top_waiter, row, waited->total);
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		if (lost[r])
			note_ns(&finder->top_waiters[r], row, lost[r]);
}

/* True if a stopped task blocks the row. */
static bool waits_for_stopped(const struct finder *finder, const struct row *row)
{
	pid_t on = row_hang_on(finder->view.frame, row);

	return on && frame_of_pid(finder->view.frame, on);
}

/* Scans a row. */
static void scan_row(struct finder *finder, const struct row *row)
{
	uint64_t slept_ns = sleep_ns(finder, row), kept_ns = 0;
	bool hangs = slept_ns >= FINDING_HANG_NS;

	/* A task that is not shown is no victim, but may be the cause for others. */
	if (finder->query && !query_takes(finder->query, row)) {
		if (row->interval_ns && row->deltas != &no_deltas)
			scan_users(finder, row);
		return;
	}
	if (hangs)
		note_ns(&finder->hang, row, slept_ns);
	if (!hangs && row_hang(finder->view.frame, row, &kept_ns) && kept_ns >= FINDING_HANG_NS)
		note_ns(waits_for_stopped(finder, row) ? &finder->awaiting : &finder->kept, row,
			kept_ns);
	else if (row_locked(finder->view.frame, row))
		top_row_add(&finder->locked, row, 100.0 * row_locked(finder->view.frame, row));
	/* Most rows did nothing. Waits for peers are possible without activity. */
	if (!row->interval_ns || (row->deltas == &no_deltas && !finder->info->selected_only))
		return;
	scan_losses(finder, row);
	scan_users(finder, row);
	/* Short-lived tasks, as in a build, share the machine among themselves. */
	if (row->exited || row->born)
		return;
	scan_waits(finder, row, hangs);
	scan_quota(finder, row);
	if (finder->info->selected_only)
		scan_peers(finder, row);
}

/* True if blocking calls were read with the sample. */
static bool hangs_were_read(const struct frame *frame)
{
	const struct sample *cur = frame->info->cur;

	return cur->n && cur->hangs_read;
}

void findings_scan(struct finder *finder)
{
	const struct frame *frame = finder->view.frame;
	bool all = finder->info->selected_only || hangs_were_read(frame);

	find_columns(&finder->findings->columns);
	finder->columns = &finder->findings->columns;
	finder->idle = summary_cpu_share(finder->info, 1u << CPU_IDLE);
	finder->writes_known = true;
	finder->kernel = kthreads_shown(frame);
	for (size_t i = 0; i < frame->n; i++)
		if (all || !frame->rows[i].unchanged)
			scan_row(finder, &frame->rows[i]);
}
