/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that find problems and put them into words. */
#pragma once

#include "view/finding.h"
#include "view/query.h"

/*
 * Share of the interval from which a wait is reported. A build with one job per CPU, or one more,
 * stays below these, as does a mostly idle machine.
 */
/*
 * For a CPU, and the minimum share of the time that a task wanted one: two that share one get half
 * each.
 */
#define CPU_LEAST 25
#define CPU_WANTED 40
/* For a disk: above what a program reaches that reads from time to time. */
#define IO_LEAST 20
/* In uninterruptible sleep: a task that only starts programs by vfork() has up to 20 %. */
#define BLOCK_LEAST 25
/* For memory, and by interrupts: on a healthy machine hardly any task waits for these. */
#define MEMORY_LEAST 5
#define IRQ_LEAST 5
/* For copied pages: a task that starts programs in a loop copies some. */
#define WPCOPY_LEAST 5
/* kB/s of a writer that delays others at the disk, and the multiple of theirs that it must be. */
#define WRITER_LEAST 4096
#define WRITER_TIMES 4
/* Share of its limit from which a group's memory counts as at the limit. */
#define LIMIT_LEAST 95
/* Of a group, by its quota. */
#define THROTTLED_LEAST 10
/* For peers, of selected tasks: most of the time. */
#define PEER_LEAST 50

/* For several threads, if less than the same share of each: half of one's time. */
#define THREADS_LEAST 50
/* Multiple of one task's memory delay that a process of several threads must have. */
#define MEMORY_THREADS 1.5
/* Idle share of the machine worth mentioning. */
#define FINDING_IDLE 20
/* Share of the interval from which pressure is reported if no task stands out. */
#define FINDING_PRESSURE 10
/* Share of the interval from which the holder of an awaited file is named, too. */
#define FINDING_RIVAL 2
/* Share of the waits from which a site is named. */
#define FINDING_SITE 20

/* A time too short to be noticed, whatever the interval. */
#define NOTICED_NS (50 * NSEC_PER_MSEC)

struct finder;

/* A pattern: its condition, its words, its severity. */
struct finding_pattern {
	const char *id;
	enum finding_severity severity;
	/* Sets the finding's members. False: it does not hold. */
	bool (*find)(struct finder *finder, struct finding *finding);
	unsigned arg; /* a kind, a state, or whether the machine is idle */
	const char *sentence; /* as for finding_put() */
	const char *help; /* its condition in words */
	const char *example; /* of its sentence */
	enum remedy_subject subject; /* of its remedies */
};

extern const struct finding_pattern finding_patterns[];
extern const size_t finding_patterns_n;

/* Rows stored per finding, to count those of one service. */
#define TOP_ROWS_MAX 64

/* The row with most of something, and the number of rows with enough of it. */
struct top_row {
	const struct row *row, *second; /* with most, and the next; NULL: none has enough */
	const struct row *noted[TOP_ROWS_MAX];
	double share, second_share; /* their values: in percent of the interval, or in kB/s */
	uint64_t ns; /* or the time */
	const struct row *last; /* the row counted last */
	size_t n;
};

/* Exited tasks of one name in the interval. */
struct ended_tasks {
	const char *comm;
	uint64_t n, run_ns;
};

/* The scan's results by subject. */
struct finder {
	struct findings *findings;
	const struct finding_pattern *pattern; /* the one being tried */
	struct finding *finding; /* the one being made */
	const struct frame *shown; /* the shown rows, perhaps groups */
	size_t ngroups; /* number of these; 0: none */
	struct view view; /* of tasks, in percent of the interval */
	const struct query *query; /* the shown tasks; NULL: all */
	bool learns; /* the sample is stored for comparison with later ones */
	bool kernel; /* kernel threads are recognised by their parent */
	const struct frame_info *info;
	double idle; /* of the machine, in percent; below 0: unknown */
	const struct finding_columns *columns;
	struct top_row waits[WAIT_KINDS], in_states[WAIT_STATES];
	struct top_row throttled; /* whose quota was read, if cgroups are not shown */
	struct top_row limited; /* delayed by a memory limit */
	struct top_row hang, kept; /* in uninterruptible sleep; in a call */
	struct top_row awaiting; /* blocked in a call by a stopped task */
	struct top_row locked; /* with several threads waiting for locks, by these in percent */
	/*
	 * The largest writer of those that wait for the disk, the largest reader of those at a
	 * limit.
	 */
	struct most_io {
		const struct row *row;
		double kb, next_kb; /* in kB/s, and of the next one */
	} writer, reader;
	struct top_row runs,
		writes; /* the tasks with most CPU time and most writes, including exited ones */
	bool writes_known; /* of all active rows */
	size_t nended; /* rows of exited tasks, in findings->ended */
	size_t place_at, place_end; /* the words for the place in the text; equal: none yet */
	struct top_row top_waiter; /* the longest-waiting task, even if it has exited */
	struct top_row top_waiters[PSI_RESOURCES]; /* likewise, for a resource */
};

/* Scans all rows. The findings, the rows shown, and the view must be set. */
void findings_scan(struct finder *finder);

/* Records a row with enough of something. */
void top_row_add(struct top_row *most, const struct row *row, double share);

/* Number of threads over which the row's waits are added up; 1 if unknown. */
uint32_t finding_threads(const struct finder *finder, const struct row *row);

/* True if a quota accounts for most of a task's waits for a CPU, or may. */
bool finding_is_throttled(const struct finder *finder, const struct row *row);

/* Share of the interval for which a shown group was throttled; below 0: unknown. */
double finding_throttled_share(const struct finder *finder, const struct row *row);

/* True if a row's group is at its memory limit. */
bool finding_is_limited(const struct finder *finder, const struct row *row);

/* True if the row's current I/O wait is for completions that depend on events. */
bool finding_is_idle_ring(const struct finder *finder, const struct row *row);

/* Sets the row with most as the finding's. False: none has enough. */
bool finding_take_most(struct finding *finding, const struct top_row *most);

/* Patterns of findings_cpu.c: groups with a used-up quota, tasks that wait for a CPU. */
bool finding_throttled(struct finder *finder, struct finding *finding);
bool finding_cpu(struct finder *finder, struct finding *finding);

/*
 * Sets as culprit the parent of short-lived tasks of one name that ran more in total than a row, or
 * than any for NULL; these, if it is unknown. False: there are none.
 */
bool finding_take_storm(struct finder *finder, const struct row *row);

/* Makes a task the culprit. */
void finding_take_culprit(struct finding *finding, enum culprit_kind kind, const struct row *row);

/* Sets as culprit the waker of most waits of the finding's site, if one task was. */
void finding_take_waker(struct finding *finding);

/* The row of a site's process, or NULL. */
const struct row *finding_row_of_site(const struct finder *finder, const struct site *site);

/* True if a row that uses most of something is worth mentioning: it exists, and is another. */
bool finding_worth_naming(const struct finder *finder, const struct row *row,
			  const struct row *who);

/*
 * The sites of a row's process, including unattributed and overlapping ones: the one after `site`,
 * or the first for NULL.
 */
const struct site *finding_next_site(const struct finder *finder, const struct row *row,
				     const struct site *site);

/* The largest site of a row's process that is in a state; NULL: none is known. */
const struct site *finding_site(const struct finder *finder, const struct row *row,
				enum wait_state state);

/*
 * The site of the longest wait in progress of the row's process, in state D or (server) for a
 * server.
 */
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

/* Appends how a finding compares with earlier ones. */
void finding_put_news(struct finder *finder, const char *words);
