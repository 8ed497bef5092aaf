/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of findings, shared by the files that find them and that put them into words. */
#pragma once

#include "view/finding.h"
#include "view/query.h"

/*
 * From which share of the interval a wait is worth a line. A build with a job for each CPU, or one
 * more, stays below these, as does a machine that has little to do.
 */
/* For a CPU, and the least of the time that a task wanted one: two that share one get half each. */
#define CPU_LEAST 25
#define CPU_WANTED 40
/* For a disk: what a program that reads something now and then does not reach. */
#define IO_LEAST 20
/* In uninterruptible sleep: a task that only starts programs by vfork() has up to 20 %. */
#define BLOCK_LEAST 25
/* For memory, and by interrupts: hardly any task waits for these when all is well. */
#define MEMORY_LEAST 5
#define IRQ_LEAST 5
/* For pages that are copied: a task that starts programs in a loop copies some. */
#define WPCOPY_LEAST 5
/* kB/s of a writer that makes others wait for the disk, and how many times theirs that is. */
#define WRITER_LEAST 4096
#define WRITER_TIMES 4
/* The part of its limit from which a group's memory counts as at the limit. */
#define LIMIT_LEAST 95
/* Of a group, by its quota. */
#define THROTTLED_LEAST 10
/* For peers, of tasks that were asked about: most of the time. */
#define PEER_LEAST 50

/* For several threads, where that is less than the same of each: half of one's time. */
#define THREADS_LEAST 50
/* How much more time than one task a process of several threads must spend for memory. */
#define MEMORY_THREADS 1.5
/* The idle part of the machine that is worth saying. */
#define FINDING_IDLE 20
/* The part of the interval from which pressure is reported where no task stands out. */
#define FINDING_PRESSURE 10
/* The part of the interval from which the holder of an awaited file is named, too. */
#define FINDING_RIVAL 2
/* The part of the waits from which a site is named. */
#define FINDING_SITE 20

/* A time too short to feel, whatever the interval. */
#define NOTICED_NS (50 * NSEC_PER_MSEC)

struct finder;

/* A pattern: when it holds, its words, its severity. */
struct finding_pattern {
	const char *id;
	enum finding_severity severity;
	/* Sets the finding's members. False: it does not hold. */
	bool (*find)(struct finder *finder, struct finding *finding);
	unsigned arg; /* a kind, a state, or whether the machine is idle */
	const char *sentence; /* as finding_put() has it */
	const char *help; /* when it holds */
	const char *example; /* of its sentence */
	enum remedy_subject subject; /* of what to do about it */
};

extern const struct finding_pattern finding_patterns[];
extern const size_t finding_patterns_n;

/* Rows remembered per finding, to count those of one service. */
#define TOP_ROWS_MAX 64

/* The row with the most of something, and how many have enough of it. */
struct top_row {
	const struct row *row, *second; /* with most, and the next; NULL: none has enough */
	const struct row *noted[TOP_ROWS_MAX];
	double share, second_share; /* what they have: in percent of the interval, or in kB/s */
	uint64_t ns; /* or for how long */
	const struct row *last; /* the last that was counted */
	size_t n;
};

/* Tasks of a name that ended in the interval. */
struct ended_tasks {
	const char *comm;
	uint64_t n, run_ns;
};

/* The things looked for, and what the rows have of them. */
struct finder {
	struct findings *findings;
	const struct finding_pattern *pattern; /* the one that is tried */
	struct finding *finding; /* the one that is made */
	const struct frame *shown; /* the rows that are shown, perhaps groups */
	size_t ngroups; /* how many of these there are; 0: they are none */
	struct view view; /* of tasks, in percent of the interval */
	const struct query *query; /* what tasks are shown; NULL: all */
	bool learns; /* the sample is remembered for those that follow */
	bool kernel; /* threads of the kernel are told by their parent */
	const struct frame_info *info;
	double idle; /* of the machine, in percent; below 0: not known */
	const struct finding_columns *columns;
	struct top_row waits[WAIT_KINDS], in_states[WAIT_STATES];
	struct top_row throttled; /* whose quota was read, where cgroups are not shown */
	struct top_row limited; /* whose waits a limit of memory makes */
	struct top_row hang, kept; /* in uninterruptible sleep; in a call */
	struct top_row awaiting; /* kept in a call for one that is stopped */
	struct top_row locked; /* of which several threads wait for locks, by these in percent */
	/* Who writes most of those that wait for the disk, who reads most of those at a limit. */
	struct most_io {
		const struct row *row;
		double kb, next_kb; /* in kB/s, and of the next one */
	} writer, reader;
	struct top_row runs,
		writes; /* the tasks that run most and write most, ended ones included */
	bool writes_known; /* of all rows that did anything */
	size_t nended; /* rows of tasks that ended, in findings->ended */
	size_t place_at, place_end; /* the words for the place in the text; the same: none yet */
	struct top_row top_waiter; /* who waited most at all, also if it has ended */
	struct top_row top_waiters[PSI_RESOURCES]; /* the same, for a resource */
};

/* Looks at all rows. The findings, the rows shown, and the view must be set. */
void findings_scan(struct finder *finder);

/* Notes a row that has enough of something. */
void top_row_add(struct top_row *most, const struct row *row, double share);

/* How many threads the row's waits are added up over; 1 where that is not known. */
uint32_t finding_threads(const struct finder *finder, const struct row *row);

/* Whether a quota accounts for most of what a task waited for a CPU, or may. */
bool finding_is_throttled(const struct finder *finder, const struct row *row);

/* The share of the interval for which a group that is shown was throttled; below 0: not known. */
double finding_throttled_share(const struct finder *finder, const struct row *row);

/* Whether a row's group is at its limit of memory. */
bool finding_is_limited(const struct finder *finder, const struct row *row);

/* Whether what a row waits for as I/O right now are completions that only events bring. */
bool finding_is_idle_ring(const struct finder *finder, const struct row *row);

/* Makes the row that has most the finding's. False: none has enough. */
bool finding_take_most(struct finding *finding, const struct top_row *most);

/* Patterns of findings_cpu.c: groups that have used their quota up, tasks that wait for a CPU. */
bool finding_throttled(struct finder *finder, struct finding *finding);
bool finding_cpu(struct finder *finder, struct finding *finding);

/*
 * Takes as the culprit who starts tasks of one name that came and went and ran more in all than a
 * row, or than any for NULL; these, where that is not known. False: there are none.
 */
bool finding_take_storm(struct finder *finder, const struct row *row);

/* Makes a task the culprit. */
void finding_take_culprit(struct finding *finding, enum culprit_kind kind, const struct row *row);

/* Takes as the culprit who ended most of the waits of the finding's site, if one task did. */
void finding_take_waker(struct finding *finding);

/* The row of a site's process, or NULL. */
const struct row *finding_row_of_site(const struct finder *finder, const struct site *site);

/* Whether a row that uses most of something is worth a word: it is there, and another. */
bool finding_worth_naming(const struct finder *finder, const struct row *row,
			  const struct row *who);

/*
 * The sites of a row's process, unattributed and overlapping ones too: the one after `site`, or the
 * first for NULL.
 */
const struct site *finding_next_site(const struct finder *finder, const struct row *row,
				     const struct site *site);

/* The largest site of a row's process that is in a state; NULL: none is known. */
const struct site *finding_site(const struct finder *finder, const struct row *row,
				enum wait_state state);

/* The site in which the row's process waits longest by now, in state D or (server) for one. */
const struct site *finding_site_now(const struct finder *finder, const struct row *row);

/*
 * Prints a sentence of the finding. These are replaced:
 *   %w the task or group; %W it with the share of the time that it waits, %E that it spends
 *   %p that share, %D how long the wait lasts, %i the same in ms
 *   %n how many tasks it is true of, %k "tasks", {is|are} a word for one task or for more
 *   %O " (and 3 others)", %S the same of other services
 *   %P where it waits, %F the function of the kernel
 *   %h how the task is held; %Q a quota, %m a limit of memory, %x how often that was reached
 *   %I how much of the machine is idle, %U how much memory is in use
 *   %C the culprit; of it %c the name, %b the same as a site has it, %a the share, %r the rate, %s
 *   the name of what it starts
 */
void finding_put(struct finder *finder, const char *sentence);

/* Appends how a finding compares with those before. */
void finding_put_news(struct finder *finder, const char *words);
