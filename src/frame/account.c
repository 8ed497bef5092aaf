/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frame/account.h"

#include <stdlib.h>

#include "base/util.h"
#include "kernel/exits.h"
#include "kernel/proctask.h"

/* Reads the children's times of a process. False if it has exited. */
static bool read_children(struct account_reader *reader, const struct task_raw *raw, uint64_t *ns)
{
	struct proctask_stat stat;

	if (raw->counters.valid & VALID_CHILDREN) {
		*ns = raw->children.user_ns + raw->children.system_ns;
		return true;
	}
	if (proctask_stat(reader->proc, raw->tgid, 0, &stat))
		return false;
	*ns = (stat.cutime + stat.cstime) * reader->tick_ns;
	return true;
}

/* Updates the children's times of one process. Returns by how much they grew. */
static uint64_t advance_children(struct account_reader *reader, const struct task_raw *raw)
{
	struct task_reaped *reaped = &raw->task->reaped;
	uint64_t now, grown;

	if (!read_children(reader, raw, &now) || now <= reaped->children_ns)
		return 0;
	grown = now - reaped->children_ns;
	reaped->children_ns = now;
	reaped->balance_ns += (int64_t)grown;
	return grown;
}

/* The living process that reaps: the parent, or the ancestor that inherited the child. */
static struct task_raw *reaper_of_child(const struct sample *prev, const struct sample *cur,
					pid_t ppid)
{
	for (unsigned i = 0; ppid > 0 && i < PARENTS_MAX; i++) {
		struct task_raw *raw = sample_find(cur, ppid, ppid);
		const struct task_raw *gone;

		if (raw && !raw->exited)
			return raw;
		/* Orphans go to the nearest ancestor that adopts them, finally to init. */
		gone = prev ? sample_find(prev, ppid, ppid) : NULL;
		ppid = gone ? gone->task->ppid : 1;
		if (!gone && !sample_find(cur, 1, 1))
			return NULL;
	}
	return NULL;
}

/* Marks all ancestors, so that their children's times are read. */
static void look_above(const struct sample *cur, const struct task_raw *raw)
{
	for (unsigned i = 0; i < PARENTS_MAX; i++) {
		raw = sample_find(cur, raw->task->ppid, raw->task->ppid);
		if (!raw)
			return;
		raw->task->reaped.due = true;
	}
}

/* Accounts the life of a reaped process to its reaper, whose children's times will show it. */
static void credit_reaper(const struct sample *prev, const struct sample *cur,
			  const struct task_raw *gone)
{
	const struct task *task = gone->task;
	struct task_raw *reaper =
		reaper_of_child(prev, cur, task->reaper ? task->reaper : task->ppid);
	const struct task_reaped *left = &task->reaped;
	int64_t owed = (int64_t)(gone->counters.run_ns + left->children_ns);
	struct task_reaped *reaped;

	if (!reaper)
		return;
	/* Its surplus is from children whose exit was unknown: accounted here, too. */
	if (left->balance_ns > left->credited_ns)
		owed -= left->balance_ns - left->credited_ns;
	reaped = &reaper->task->reaped;
	reaped->balance_ns -= owed;
	reaped->ended += gone->counters.members;
	reaped->due = true;
	/* An orphan may have been reaped by any ancestor further up: all are read. */
	if (reaper->tgid != task->ppid || task->mixed) {
		reaped->orphans_ns += owed;
		look_above(cur, reaper);
	}
}

/*
 * True if a process missing in the sample was reaped: its exit is not accounted yet, and it was not
 * merely unreadable.
 */
static bool was_reaped(struct account_reader *reader, const struct sample *cur,
		       const struct task_raw *raw)
{
	struct proctask_stat stat;

	if (raw->task->reaped.booked || !cur->unread)
		return !raw->task->reaped.booked;
	return proctask_stat_part(reader->proc, raw->tgid, 0, &stat) != 0;
}

/*
 * Accounts for processes that exited since the last sample, including those that also started in
 * it.
 */
static void credit_reapers(struct account_reader *reader, const struct sample *prev,
			   const struct sample *cur)
{
	for (size_t i = 0; i < cur->left; i++) {
		const struct task_raw *raw = cur->raw[cur->n + i];

		credit_reaper(prev, cur, raw);
		raw->task->reaped.booked = true;
	}
	/* The first ones are still at their places. */
	for (size_t i = sample_stable(cur, 1); i < prev->n; i++) {
		const struct task_raw *raw = prev->raw[i];
		const struct task_raw *now = sample_find(cur, raw->tgid, raw->pid);

		if (now ? now->task != raw->task && !raw->task->reaped.booked
			: was_reaped(reader, cur, raw))
			credit_reaper(prev, cur, raw);
	}
}

/*
 * The part of a balance that counts. Below zero it is children that were never waited for: their
 * records count. Above zero it is what records lack; any more comes from a child that was reaped
 * between its own reading and its parent's, and counts when its exit is known.
 */
static int64_t credit(const struct task_reaped *reaped, bool exact)
{
	int64_t most = (int64_t)(reaped->ended * EXIT_LACKS_NS);

	if (reaped->credited_ns > 0)
		most += reaped->credited_ns;
	if (reaped->balance_ns < -(int64_t)EXIT_LACKS_NS)
		return -(int64_t)EXIT_LACKS_NS;
	return exact && reaped->balance_ns > most ? most : reaped->balance_ns;
}

/* Credits the recovered time. Returns by how much that is more than before. */
static int64_t settle_children(struct task_reaped *reaped, bool exact)
{
	int64_t before = reaped->credited_ns;

	reaped->credited_ns = credit(reaped, exact);
	/* While the balance is below zero, the reaping may still appear in the times. */
	reaped->due = reaped->balance_ns < 0;
	if (!reaped->due) {
		reaped->ended = 0;
		reaped->orphans_ns = 0;
	}
	return reaped->credited_ns - before;
}

/*
 * Accounts orphans to the ancestor that reaped them. A zombie whose parent exits goes to an
 * ancestor that adopts orphans, and if that reaps it at once no sample shows which ancestor it was;
 * but its children's times are too large by the life that is missing here.
 */
static void pass_orphans(const struct sample *cur, const struct task_raw *raw)
{
	struct task_reaped *reaper = &raw->task->reaped;
	int64_t owed =
		-reaper->balance_ns < reaper->orphans_ns ? -reaper->balance_ns : reaper->orphans_ns;

	for (unsigned i = 0; owed > 0 && i < PARENTS_MAX; i++) {
		struct task_reaped *above;
		int64_t excess;

		raw = sample_find(cur, raw->task->ppid, raw->task->ppid);
		if (!raw)
			return;
		above = &raw->task->reaped;
		excess = above->balance_ns - above->credited_ns;
		/* Times have steps, so up to a tick may be missing. */
		if (excess <= 0 || excess + (int64_t)EXIT_LACKS_NS < owed)
			continue;
		above->balance_ns -= owed;
		above->ended += reaper->ended;
		reaper->balance_ns += owed;
		reaper->orphans_ns -= owed;
		return;
	}
}

/* True if the children's times of a process are read. */
static bool is_looked_at(const struct task_raw *raw, enum account_seen seen)
{
	return raw->task->reaped.due || seen == ACCOUNT_SEEN_LOST;
}

/* Updates children's times, and reads those of new processes. */
static void read_all(struct account_reader *reader, const struct sample *prev,
		     const struct sample *cur, enum account_seen seen, struct account *out)
{
	for (size_t i = 0; i < cur->n; i++) {
		const struct task_raw *raw = cur->raw[i];
		struct task_reaped *reaped = &raw->task->reaped;
		bool born = prev && raw->task->latest_ns >= prev->begin_ns;

		if (!reader->primed || (!reaped->known && !born)) {
			*reaped = (struct task_reaped){ 0 };
			reaped->known = read_children(reader, raw, &reaped->children_ns);
			continue;
		}
		reaped->known = true;
		if (is_looked_at(raw, seen))
			out->children_ns += advance_children(reader, raw);
	}
}

void account_reap(struct account_reader *reader, const struct sample *prev,
		  const struct sample *cur, enum account_seen seen, struct account *out)
{
	if (prev)
		credit_reapers(reader, prev, cur);
	out->recovered_valid = prev && reader->primed;
	read_all(reader, prev, cur, seen, out);
	for (size_t i = 0; i < cur->n; i++)
		if (cur->raw[i]->task->reaped.orphans_ns > 0)
			pass_orphans(cur, cur->raw[i]);
	for (size_t i = 0; i < cur->n; i++)
		if (is_looked_at(cur->raw[i], seen))
			out->recovered_ns += settle_children(&cur->raw[i]->task->reaped,
							     seen == ACCOUNT_SEEN_ALL);
	reader->primed = true;
}

void account_system(struct account *account, const struct system_sample *before,
		    const struct system_sample *now, uint64_t interval_ns, bool irq_apart)
{
	uint64_t ns[CPU_STATES];

	account->valid = now->cpus && interval_ns && system_cpu_grown(before, now, ns);
	if (!account->valid)
		return;
	account->machine_ns = now->cpus * interval_ns;
	account->idle_ns = ns[CPU_IDLE];
	account->iowait_ns = ns[CPU_IOWAIT];
	account->steal_ns = ns[CPU_STEAL];
	account->irq_ns = irq_apart ? ns[CPU_IRQ] + ns[CPU_SOFTIRQ] : 0;
	account->unattributed_ns =
		(int64_t)account->machine_ns -
		(int64_t)(account->run_ns + account->idle_ns + account->iowait_ns +
			  account->steal_ns + account->irq_ns) -
		(account->recovered_valid ? account->recovered_ns : 0);
}
