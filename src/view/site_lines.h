/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sites of waits as lines of a table: of some processes, added up by a key, most time first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/wait_state.h"
#include "frame/group.h"
#include "view/column.h"

/* The property that the sites of one line share. */
enum sites_by {
	SITES_BY_SITE,
	SITES_BY_STATE,
	SITES_BY_SYSCALL,
	SITES_BY_ON,
	SITES_BY_WHERE,
	SITES_BY_PROCESS,
	SITES_BYS
};

struct sites_by_row {
	const char *id;
	const char *help; /* meaning of a line */
};

extern const struct sites_by_row sites_by_table[SITES_BYS];

/* The processes whose sites are wanted. None when zero-initialised. */
struct site_owners {
	bool all; /* everybody */
	struct task_key *keys; /* start_ns 0: unknown, any */
	size_t n, cap;
	bool sorted;
};

/* Adds a process. */
void site_owners_add(struct site_owners *owners, struct task_key process);

/* Adds a row's process, or all of them: the members of a group, the exited tasks of one row. */
void site_owners_add_row(struct site_owners *owners, const struct row *row);

/* True if a site belongs to one of them. */
bool site_owners_have(struct site_owners *owners, const struct site *site);

void site_owners_clear(struct site_owners *owners);
void site_owners_free(struct site_owners *owners);

/*
 * A line: a row of a table of sites. It points into the trace frame, and into the sites that it was
 * made from.
 */
struct site_line {
	struct row row; /* only in the line */
	uint64_t id; /* the same from frame to frame; never 0 */
	/*
	 * The sum of its sites, with the largest max and the longest wait in progress. Texts that
	 * differ between them are NULL, and so are tgid 0 and kind -1. The wakers are those of all
	 * sites.
	 */
	struct site sum;
	bool one_state; /* all are of sum.state */
	bool others; /* adds up small sites of one state, each with its own target */
	const struct site *const *sites; /* most time first */
	size_t n;
};

/* The line of a row in a table of sites. */
static inline const struct site_line *site_line_of(const struct row *row)
{
	return (const struct site_line *)((const char *)row - offsetof(struct site_line, row));
}

struct site_lines {
	struct site_line *lines; /* most time first */
	size_t n;
	bool several; /* the sites are of several processes */
	/* Time waited in all states, in `sum.ns`, without overlapping and unattributed time. */
	struct site_line all;
	/* Memory, reused from frame to frame: */
	size_t cap;
	const struct site **members;
	struct site_key *keys;
	struct wakers wakers;
};

/* Which sites, and how they are added up. */
struct site_lines_query {
	struct site_owners *owners;
	enum sites_by by;
	bool no_idle; /* without waits of idle tasks */
	/*
	 * For a human reader: the rest without a site comes last, and tasks that ran instead for
	 * less than a hundredth of the interval share one line.
	 */
	bool tidy;
};

/* A line of one site, which the caller keeps. */
struct site_line site_line_one(const struct site *const *site);

/*
 * Makes the lines of some processes' sites. The rest of a kind without a site is one line for all;
 * if lines are sums, so is each kind whose time is part of other sites: it is in no sum.
 */
void site_lines_build(struct site_lines *sites, const struct trace_frame *trace,
		      const struct site_lines_query *query);

/* The line of that id, or NULL. */
const struct site_line *site_lines_find(const struct site_lines *sites, uint64_t id);

/*
 * All wakers of the line, most time first, valid until the next call of this or of
 * site_lines_build(). Returns their number.
 */
size_t site_lines_wakers(struct site_lines *sites, const struct site_line *line,
			 const struct site_waker **wakers);

/* The line's time in ns; for the rest of a kind it may be negative. */
int64_t site_line_ns(const struct site_line *line);

/* True if its time is lost: waits for a disk, a lock or a CPU, not for work. */
bool site_line_stalls(const struct site_line *line);

/* The state of the line's waits; for the rest of a kind, and overlapping waits, the kind's id. */
const char *site_line_state(const struct site_line *line);

/*
 * Lengths of the waits that ended in the interval: the length in us that a share (0 to 1) of them
 * did not exceed, linear within a bucket. Below 0: none ended.
 */
double site_percentile(const struct site *site, double share);

/* The bounds of a bucket in us; the upper one is at most the longest wait of the site. */
double site_bucket_from(unsigned bucket);
double site_bucket_to(const struct site *site, unsigned bucket);

void site_lines_free(struct site_lines *sites);

/* The columns of a table of sites: one row per column. Rows are lines of view/site_lines.h. */

/* All columns, in order. The view's frame says whether sites were traced (info->trace). */
extern const struct column_table site_columns;

/* Those of a text, which ends with a name. */
#define SITE_TEXT_FIELDS "pid,state,time,share,count,avg,max,syscall,on,where,comm"
#define SITE_STACK_FIELDS "pid,state,time,share,count,avg,max,syscall,on,where,at,comm"
