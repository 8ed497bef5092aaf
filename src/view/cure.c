/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/cure.h"

#include <string.h>

#include "base/util.h"
#include "view/findings_parts.h"

/* The share of a chain from which on something is to be done about a root. */
#define ROOT_LEAST 0.25

/* The nice value that makes room: half of the way to the lowest priority. */
#define NICE_OF_RIVAL "10"

/* The target and the function of the wait that a finding is about; NULL: not known. */
struct wait_at {
	const char *on, *where;
};

static struct wait_at place_of(const struct frame *frame, const struct finding *finding)
{
	const struct task_waiting *waiting =
		finding->row && !finding->row->group ? row_waiting(frame, finding->row) : NULL;

	if (finding->site)
		return (struct wait_at){ finding->site->on, finding->site->where };
	if (!waiting || !waiting->where.len)
		return (struct wait_at){ NULL, NULL };
	return (struct wait_at){ waiting->on.len ? waiting->on.data : NULL, waiting->where.data };
}

/* The largest root of a kind, of another task than `own` (0: any); NULL: there is none. */
static const struct chain_root *find_root(const struct chain *chain, enum chain_root_kind kind,
					  pid_t own)
{
	for (size_t i = 0; chain && i < chain->nroots; i++) {
		const struct chain_root *root = &chain->roots[i];

		if (root->kind == kind && root->tgid > 0 && root->tgid != own &&
		    root->share >= ROOT_LEAST)
			return root;
	}
	return NULL;
}

/* Puts the cure of a task that is stopped: by whoever did that. */
static void put_of_stopped(struct buf *means, struct buf *how, const struct chain_root *stopped)
{
	const char *name = stopped->name ? stopped->name : "it";

	if (site_is_frozen(stopped->site)) {
		buf_puts(means, "cgroup.freeze (v1: freezer.state)");
		buf_printf(how, "0 (THAWED) thaws the cgroup of %d %s", (int)stopped->tgid, name);
	} else if (stopped->site && stopped->site->on) {
		buf_puts(means, stopped->site->on);
		buf_printf(how, "have it continue %d %s, or let go of it", (int)stopped->tgid,
			   name);
	} else {
		buf_printf(means, "kill -CONT %d", (int)stopped->tgid);
		/* Where it sleeps tells a signal from the cgroup's freezer. */
		buf_printf(how,
			   stopped->site && stopped->site->where
				   ? "%s is stopped"
				   : "%s is stopped by a signal, or frozen by its cgroup",
			   name);
	}
}

/* Puts the cure of a wait in a call, where its place tells it. */
static bool put_of_place(struct buf *means, struct buf *how, struct wait_at place)
{
	const char *words = wait_words(place.where, place.on), *server;

	if (words && !strcmp(words, "frozen")) {
		buf_puts(means, "fsfreeze -u");
		buf_printf(how,
			   "thaws the file system of %s; a backup or a snapshot may have "
			   "frozen it, and be at work",
			   place.on);
	} else if (place.on && wait_for_vforked(place.where)) {
		buf_puts(means, place.on);
		buf_puts(how, "its parent hangs until it executes a program or ends");
	} else if (place.on && wait_for_server(place.where)) {
		server = strstr(place.on, " (");
		buf_puts(means, "umount -f");
		buf_printf(how,
			   "ends requests that the server%s does not answer; better: have it "
			   "answer, or restart it",
			   server ? server : "");
	} else {
		return false;
	}
	return true;
}

/* Puts a file of a group; where its hierarchy's version is not known, by both names. */
static void put_file(struct buf *means, const struct limiting_group *group, const char *v1,
		     const char *v2)
{
	buf_puts(means, group->version == 1 ? v1 : v2);
	if (!group->version && strcmp(v1, v2) != 0)
		buf_printf(means, " (v1: %s)", v1);
	if (group->name)
		buf_printf(means, " of %s", group->name);
}

/* Puts the cure of a limit. A group's limit is a file, named as in its hierarchy's version. */
static void put_of_limit(struct buf *means, struct buf *how, const struct frame *frame,
			 const struct finding *finding)
{
	static const struct {
		const char *v1, *v2, *how;
	} limits[] = {
		[LIMIT_CPU] = { "cpu.cfs_quota_us", "cpu.max",
				"a larger quota, or fewer threads that run at the same time" },
		[LIMIT_MEMORY] = { "memory.limit_in_bytes", "memory.max",
				   "a higher limit, or less memory used" },
		[LIMIT_DEADLINE] = { NULL, "chrt -d --sched-runtime",
				     "more time in each period, or less work in it" },
		[LIMIT_REALTIME] = { "cpu.rt_runtime_us", "cpu.rt_runtime_us",
				     "a larger budget, or a scheduling policy that needs none" },
	};
	const struct row *row = finding->row;
	const struct task_evidence *evidence = row->group ? NULL : row_evidence(frame, row);
	const struct limiting_group *known = !evidence ? NULL
					     : finding->limit == LIMIT_MEMORY
						     ? &evidence->memory_group
						     : &evidence->cpu_group;
	struct limiting_group group = known ? *known : (struct limiting_group){ 0 };

	if (row->group)
		group.name = (char *)row->group->name;
	buf_puts(how, limits[finding->limit].how);
	if (finding->limit == LIMIT_DEADLINE)
		buf_puts(means, limits[finding->limit].v2);
	else
		put_file(means, &group, limits[finding->limit].v1, limits[finding->limit].v2);
}

/*
 * Puts how a task gets more of the CPUs that another one uses: by what they share them. False: who
 * that is, or how they do, is not known. Nothing is put where nothing is known to help.
 */
static bool put_of_cpu(struct buf *means, struct buf *how, const struct frame *frame,
		       const struct finding *finding)
{
	const struct task_evidence *evidence =
		finding->row && !finding->row->group ? row_evidence(frame, finding->row) : NULL;
	const struct row *rival =
		evidence && evidence->rival ? frame_of_pid(frame, evidence->rival) : NULL;

	if (finding->while_idle && evidence) {
		if (!evidence->pinned)
			return true;
		buf_printf(means, "taskset -cp 0-%zu %d", (size_t)frame->info->system->cpus - 1,
			   (int)finding->row->task->key.pid);
		buf_puts(how,
			 "it may not run on all CPUs, and others of them are idle; cpuset.cpus "
			 "of its group may be what keeps it");
		return true;
	}
	if (!rival)
		return false;
	switch (evidence->sharing) {
	case SHARING_NICE:
		buf_printf(means, "renice " NICE_OF_RIVAL " %d", (int)rival->task->key.pid);
		buf_printf(how, "has %s make way for it", rival->task->comm);
		return true;
	case SHARING_SESSION:
		buf_printf(means, "echo " NICE_OF_RIVAL " > /proc/%d/autogroup",
			   (int)rival->task->key.pid);
		buf_printf(how,
			   "has the session of %s make way for it: sessions share CPUs first "
			   "(kernel.sched_autogroup_enabled), and nice counts within one only",
			   rival->task->comm);
		return true;
	case SHARING_GROUP:
		put_file(means, &evidence->weighed_group, "cpu.shares", "cpu.weight");
		buf_printf(
			how,
			"more of it: groups share CPUs first, that of %s is another one, and nice "
			"counts within one only",
			rival->task->comm);
		return true;
	default:
		return false;
	}
}

/* Puts what helps against waits for a disk: against a limit, or who else has it. */
static bool put_of_disk(struct buf *means, struct buf *how, const struct frame *frame,
			const struct finding *finding)
{
	const struct task_evidence *evidence =
		finding->row && !finding->row->group ? row_evidence(frame, finding->row) : NULL;

	if (evidence && evidence->io_limited) {
		put_file(means, &evidence->io_group, "blkio.throttle.*_device", "io.max");
		buf_puts(how, "a higher limit, or none: it waits for that, not for the disk");
		return true;
	}
	if (finding->culprit.kind != CULPRIT_WRITER && finding->culprit.kind != CULPRIT_WRITES_MOST)
		return false;
	buf_printf(means, "ionice -c 3 -p %d", (int)finding->culprit.pid);
	buf_printf(how, "has %d %s", (int)finding->culprit.pid, finding->culprit.name);
	buf_puts(how,
		 " write when the disk is idle, if its scheduler is bfq; else a limit for that "
		 "one's group (io.max)");
	return true;
}

/* The task of a finding, whose own stop causes no other's; 0: none, or that is what it is about. */
static pid_t own_task(const struct finding *finding)
{
	if (!finding || !finding->row || !finding->row->task)
		return 0;
	if (finding->kind && !strcmp(finding->kind, wait_state_table[STATE_STOP].id))
		return 0;
	return finding->row->task->key.pid;
}

/* Puts the cure of a chain's root: of one that is stopped, or a deadlock. */
static bool put_of_root(struct buf *means, struct buf *how, const struct finding *finding,
			const struct chain *chain)
{
	const struct chain_root *stopped = find_root(chain, CHAIN_STOPPED, own_task(finding));
	const struct chain_root *dead = find_root(chain, CHAIN_DEADLOCK, 0);

	if (stopped) {
		put_of_stopped(means, how, stopped);
	} else if (dead) {
		buf_printf(means, "kill %d", (int)dead->tgid);
		buf_puts(how, "a deadlock lasts until one of its tasks ends; locks that all tasks "
			      "take in the same order cannot deadlock");
	}
	return stopped || dead;
}

void cure_put(struct buf *means, struct buf *how, const struct frame *frame,
	      const struct finding *finding, const struct chain *chain)
{
	const char *kind = finding && finding->kind ? finding->kind : "";
	const struct finding_pattern *pattern;

	if (put_of_root(means, how, finding, chain) || !finding)
		return;
	if (finding->limit) {
		put_of_limit(means, how, frame, finding);
		return;
	}
	if (!strcmp(kind, delay_table[DELAY_CPU].id) && put_of_cpu(means, how, frame, finding))
		return;
	if (!strcmp(kind, delay_table[DELAY_BLKIO].id) && put_of_disk(means, how, frame, finding))
		return;
	if (put_of_place(means, how, place_of(frame, finding)))
		return;
	pattern = finding->id ? finding_pattern(finding->id) : NULL;
	if (pattern)
		buf_puts(how, pattern->cure);
}
