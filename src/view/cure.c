/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/cure.h"

#include <string.h>

#include "base/util.h"
#include "view/column_words.h"

/* The share of a chain from which on a stopped task is to be continued. */
#define STOPPED_LEAST 0.25

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

/* A task that is stopped, and that others wait for; NULL: there is none. */
static const struct chain_root *find_stopped(const struct chain *chain, const struct row *row)
{
	for (size_t i = 0; chain && i < chain->nroots; i++) {
		const struct chain_root *root = &chain->roots[i];

		if (root->site && root->site->state == STATE_STOP && root->tgid > 0 &&
		    root->share >= STOPPED_LEAST &&
		    !(row && row->task && root->tgid == row->task->key.pid))
			return root;
	}
	return NULL;
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
	const char *name = row->group ? row->group->name : known ? known->name : NULL;
	unsigned version = known ? known->version : 0;

	buf_puts(means, version == 1 ? limits[finding->limit].v1 : limits[finding->limit].v2);
	buf_puts(how, limits[finding->limit].how);
	if (finding->limit == LIMIT_DEADLINE)
		return;
	if (!version && finding->limit != LIMIT_REALTIME)
		buf_printf(means, " (v1: %s)", limits[finding->limit].v1);
	if (name)
		buf_printf(means, " of %s", name);
}

void cure_put(struct buf *means, struct buf *how, const struct frame *frame,
	      const struct finding *finding, const struct chain *chain)
{
	const struct chain_root *stopped = find_stopped(chain, finding->row);
	const char *kind = finding->kind;
	const struct column *column = kind ? column_by_id(kind, strlen(kind)) : NULL;
	const struct column_words *words = column ? column_words(column) : NULL;

	if (stopped) {
		buf_printf(means, "kill -CONT %d", (int)stopped->tgid);
		buf_printf(how, "%s is stopped, and is waited for",
			   stopped->name ? stopped->name : "it");
	} else if (finding->limit) {
		put_of_limit(means, how, frame, finding);
	} else if (finding->while_idle) {
		buf_puts(means, "taskset");
		buf_puts(how, "other CPUs are idle: its affinity, or cpuset.cpus of its group, may "
			      "keep it from them");
	} else if (finding->site && finding->site->class == CLASS_CONTENDED &&
		   finding->site->state != STATE_CPU) {
		buf_puts(means, "the lock");
		buf_puts(how,
			 "hold it for less time, or use several; C shows what is done meanwhile");
	} else if (!put_of_place(means, how, place_of(frame, finding)) && words &&
		   words->remedies && words->remedies->means) {
		buf_puts(means, words->remedies->means);
		buf_puts(how, words->remedies->how);
	}
}
