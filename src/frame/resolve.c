/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frame/resolve.h"

#include <math.h>
#include <stdlib.h>

#include "base/util.h"

/* Maximum difference between the run and wait times of threads and the time between readings. */
#define SLACK_NS (2 * NSEC_PER_MSEC)

/*
 * A wait for a CPU that neither the scheduler nor a quota explains: in each quota period, most
 * often of 100 ms, a group runs.
 */
#define LONG_WAIT_NS (250 * NSEC_PER_MSEC)

/* Percentage of the machine that must be idle to rule out so long a wait. */
#define IDLE_ENOUGH 20

/* Share of the time between readings from which a sleeper's cpu delay is checked. */
#define SLEEPERS_PART 4

/* Threads that may have started and exited per visible one, where some did. */
#define UNSEEN_THREADS 4

/*
 * The time that pressure loses: at each update the kernel drops the busy part of an incomplete
 * tick, on each CPU (kernel/sched/psi.c:collect_percpu_times(): nsecs_to_jiffies()). It updates
 * every 2 s, and at each reading; ticks are 10 ms at most.
 */
#define PRESSURE_TICK_NS (10 * NSEC_PER_MSEC)
#define PRESSURE_LOOK_NS (500 * NSEC_PER_MSEC)

/* Share of the time of all threads by which readings may be late. */
#define LATE_PART 50

const struct wait_reason_words wait_reason_table[WAIT_REASONS] = {
	[REASON_BOOKED] = { "booked", "as the kernel accounted it, plus waits in progress" },
	[REASON_MEASURED] = { "measured", "by the clock (--measure, or traced)" },
	[REASON_CUT] = { "cut", "capped at the possible maximum; the kernel accounted more" },
	[REASON_UNKNOWN] = { "unknown", "the kernel's value is impossible" },
};

/* The kind under which a wait in progress will be accounted, if ever. */
static const unsigned kind_of[WAITS_SEEN] = {
	[SEEN_CPU] = DELAY_CPU,
	[SEEN_BLKIO] = DELAY_BLKIO,
	[SEEN_DWAIT] = WAIT_DWAIT,
};

/*
 * Life of a single thread between readings, by the life read with its counters, which is exact
 * however long the readings took; 0: unknown.
 */
static uint64_t lived_since(const struct task_raw *now, const struct task_raw *before)
{
	uint64_t was = before ? before->counters.life_ns : 0, is = now->counters.life_ns;

	if (!now->single || (before && (!before->single || !was)))
		return 0;
	return is > was ? is - was : 0;
}

/* The time from one reading to the next, or since the start; 0 if clocks disagree. */
static uint64_t interval_between(const struct task_raw *now, const struct task_raw *before)
{
	uint64_t since = before ? before->read_ns : now->task->key.start_ns;
	uint64_t until = now->read_ns, lived = lived_since(now, before);

	if (until <= since)
		return lived;
	return until - since > lived ? until - since : lived;
}

/* The minimum number of threads; 0: unknown, as the row has several tasks. */
static uint64_t threads_of(const struct task_raw *now, const struct task_raw *before)
{
	uint64_t threads = now->now.threads;

	if (now->single)
		return 1;
	if (before && before->now.threads > threads)
		threads = before->now.threads;
	return threads ? threads : now->counters.members == 1;
}

/* True if threads were created or exited: then lifetime did not grow by the elapsed time. */
static bool has_churned(const struct task_raw *now, const struct task_raw *before, uint64_t threads,
			uint64_t span)
{
	uint64_t lived = now->counters.life_ns - (before ? before->counters.life_ns : 0);
	uint64_t all = threads * span;

	if (now->single && (!before || before->single))
		return false;
	if (!before || now->now.threads != before->now.threads)
		return true;
	return lived + threads * SLACK_NS < all || lived > all + threads * SLACK_NS;
}

/* The time that passed, summed over all threads; UINT64_MAX if their number is unknown. */
static uint64_t passed(const struct task_raw *now, const struct task_raw *before)
{
	uint64_t threads = threads_of(now, before), span = interval_between(now, before), all;

	if (!threads)
		return UINT64_MAX;
	/* The end is known only as exactly as the start. */
	if (now->exited)
		span += now->task->start_hi - now->task->start_lo;
	if (has_churned(now, before, threads, span))
		threads *= UNSEEN_THREADS;
	/* A recording may claim an impossible number of threads. */
	return __builtin_mul_overflow(threads, span, &all) ? UINT64_MAX : all;
}

/*
 * Upper limit of a waited time: shares are of wall-clock time, which a thread's own record can
 * exceed slightly.
 */
static uint64_t most_told(const struct task_raw *now, const struct task_raw *before)
{
	uint64_t most = passed(now, before);
	uint64_t since = before ? before->read_ns : now->task->key.start_ns;

	if (!now->single || now->exited || now->read_ns <= since)
		return most;
	return most < now->read_ns - since ? most : now->read_ns - since;
}

/* True if a single thread slept at the reading, in any state. */
static bool is_asleep(const struct task_raw *raw)
{
	return raw->single && raw->now.state && raw->now.state != 'R' &&
	       !raw->now.waits.threads[SEEN_CPU];
}

/* True if a thread may have been in a wait of the kind at the reading. */
static bool may_have_waited(unsigned kind, const struct task_raw *raw)
{
	const struct task_waits *waits = &raw->now.waits;

	if (!raw->now.state)
		return true;
	if (kind == DELAY_CPU && !raw->now.exact)
		return !is_asleep(raw);
	if (kind == DELAY_CPU)
		return waits->threads[SEEN_CPU];
	if (kind == DELAY_BLKIO)
		return waits_in_d(waits);
	/* A thread in waits of other kinds runs in the kernel, or sleeps in state D. */
	return !raw->single || raw->now.state == 'R' || raw->now.state == 'D';
}

/* Part of the time accounted since the previous reading that may have passed before it. */
static uint64_t begun_before(unsigned kind, const struct task_raw *now,
			     const struct task_raw *before)
{
	uint64_t idle, seen = 0;

	if (!before || !may_have_waited(kind, before))
		return 0;
	for (unsigned s = 0; s < WAITS_SEEN; s++)
		if (kind_of[s] == kind)
			seen = waits_progress(&before->now.waits, s, before->read_ns);
	if (before->now.exact && (kind == DELAY_CPU || kind == DELAY_BLKIO))
		return seen;
	/* A single thread's wait is not older than its last run, which was after `ran_ns`. */
	if (now->single && before->single)
		idle = before->read_ns - before->ran_ns;
	else
		idle = before->counters.life_ns
			       ? before->counters.life_ns
			       : threads_of(now, before) * interval_between(before, NULL);
	return idle > seen ? idle : seen;
}

bool waited_asleep(const struct counters *grown, const struct task_raw *now,
		   const struct task_raw *before)
{
	const struct delay_sum *cpu = &grown->delay[DELAY_CPU];
	const uint32_t known = DELAY_BOTH(DELAY_BIT(DELAY_CPU));
	uint64_t span;

	if (!before || now->exited || (grown->valid & known) != known || cpu->ns < LONG_WAIT_NS ||
	    cpu->ns / LONG_WAIT_NS < cpu->count)
		return false;
	/* As in an interval of a second: what is impossible there is impossible in a longer one. */
	span = interval_between(now, before);
	if (span > NSEC_PER_SEC)
		span = NSEC_PER_SEC;
	return is_asleep(now) && is_asleep(before) && cpu->ns * SLEEPERS_PART >= span;
}

/*
 * Returns the kinds whose accounted time exceeds what is possible since before (NULL: task start);
 * adds the excess to excess.
 */
static uint32_t find_impossible(const struct counters *grown, const struct task_raw *now,
				const struct task_raw *before, const struct wait_limits *machine,
				struct counters *excess)
{
	uint64_t most = passed(now, before);
	bool churned =
		has_churned(now, before, threads_of(now, before), interval_between(now, before));
	uint32_t kinds = 0;

	for (unsigned kind = 0; kind < DELAY_KINDS && most != UINT64_MAX; kind++) {
		const struct delay_sum *booked = &grown->delay[kind];
		enum delay_verdict verdict;
		uint64_t possible;

		/* Any number of threads may have exited, and only blkio was ever seen wrong. */
		if (!(grown->valid & DELAY_BIT(kind)) || (churned && kind != DELAY_BLKIO) ||
		    booked->ns <= most || now->now.measured & DELAY_BIT(kind))
			continue;
		possible = most + begun_before(kind, now, before);
		verdict = delay_judge(booked, grown->valid & DELAY_COUNT_BIT(kind), possible);
		counters_add_excess(excess, kind, verdict, booked, possible);
		kinds |= verdict == DELAY_WRONG ? DELAY_BIT(kind) : 0;
	}
	if (machine->idle >= IDLE_ENOUGH && waited_asleep(grown, now, before)) {
		counters_add_excess(excess, DELAY_CPU, DELAY_WRONG, &grown->delay[DELAY_CPU], 0);
		kinds |= DELAY_BIT(DELAY_CPU);
	}
	return kinds;
}

/* Computes total and mem from the kinds. */
static void compute_totals(struct waited *waited, uint32_t known)
{
	struct delay_sum delays[DELAY_KINDS];

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		delays[kind] = (struct delay_sum){ .ns = waited->ns[kind] };
	waited->total = delay_total(delays, known).ns + waited->ns[WAIT_DWAIT];
	waited->mem = delay_mem(delays, known).ns;
}

/* Records how a kind is known, unless it is known even less. */
static void give_reason(struct waited *waited, unsigned kind, enum wait_reason reason)
{
	if (waited->reason[kind] < reason)
		waited->reason[kind] = (uint8_t)reason;
}

/* True if it is known what the task waited for at a reading. */
static bool is_seen(const struct task_raw *raw)
{
	return raw && (raw->now.state || raw->exited);
}

/*
 * The maximum that can have been waited of a kind since the previous reading, where waits of
 * unknown start were in progress: the time before they were first seen is accounted at their end,
 * but did not pass since. UINT64_MAX: no limit.
 */
static uint64_t most_of_late(enum wait_seen kind, const struct task_raw *now,
			     const struct task_raw *before)
{
	uint32_t is, was;

	if (!before || before->now.exact || !before->now.waits.threads[kind])
		return UINT64_MAX;
	was = before->now.waits.threads[kind];
	is = now->now.waits.threads[kind];
	return (uint64_t)(is > was ? is : was) * interval_between(now, before);
}

struct wait_limits wait_limits(const struct system_sample *before, const struct system_sample *now)
{
	const unsigned left = 1u << CPU_IDLE | 1u << CPU_IOWAIT;
	struct wait_limits machine = { 0 };
	uint64_t passed_ns, us;
	double idle = before ? system_cpu_share(before, now, left) : 0;

	machine.idle = idle > 0 ? idle : 0;
	if (!before || !before->cpu_valid || !now->cpu_valid)
		return machine;
	machine.cpus = now->cpus > before->cpus ? now->cpus : before->cpus;
	passed_ns = now->pressure.read_ns - before->pressure.read_ns;
	if (now->pressure.read_ns <= before->pressure.read_ns ||
	    !psi_grown(&before->pressure.psi[PSI_IO].some, &now->pressure.psi[PSI_IO].some,
		       passed_ns, &us))
		return machine;
	machine.io.stalled_ns = us * NSEC_PER_USEC;
	machine.io.passed_ns = passed_ns;
	machine.io.until_ns = now->pressure.read_ns;
	return machine;
}

/*
 * The share of the time that a single thread can have waited for I/O, in so many waits, while
 * pressure was `some` (0 to 1). The kernel sums up, for each of C CPUs, how long any task waited
 * for I/O there (s) and how long it was not idle (n >= s), and reports sum(s n) / sum(n). A sleeper
 * is on one CPU, on m of them in m waits: the wait is longest for the same pressure if it is
 * equally long (t / m) on each, nothing else happens there, and all others are busy: some = (t^2 /
 * m) / (t + C - m). That is largest for m = (C + t) / 2. As t is concave in `some`, it holds for
 * all updates together, too. A group's pressure is computed in the same way, of its own tasks only.
 */
static double most_by_pressure(double some, uint64_t waits, unsigned cpus)
{
	double c = cpus, m = waits < cpus ? (double)waits : c, root = sqrt(some);

	if (m > 1 && m > c / 2)
		return c * root / (2 - root);
	return (m * some + sqrt(m * m * some * some + 4 * some * m * (c - m))) / 2;
}

/*
 * The maximum that all threads can have waited for I/O by pressure since the previous reading, if
 * so many waits were accounted; UINT64_MAX if that limits nothing.
 */
static uint64_t most_of_pressure(uint64_t waits, const struct task_raw *now,
				 const struct task_raw *before, const struct io_pressure *io,
				 unsigned cpus)
{
	uint64_t span = interval_between(now, before), all = passed(now, before), threads, alone;
	uint64_t since = before ? before->read_ns : now->task->key.start_ns;
	uint64_t from = io->until_ns - io->passed_ns;
	double some, most;

	if (!io->passed_ns || !cpus || !span || !all || all == UINT64_MAX)
		return UINT64_MAX;
	threads = (all - 1) / span + 1;
	/* The wait that a thread was in at the previous reading is one more. */
	waits = waits / threads + 2;
	if (waits > cpus)
		waits = cpus;
	some = (double)io->stalled_ns / (double)io->passed_ns;
	most = most_by_pressure(some < 1 ? some : 1, waits, cpus) * (double)io->passed_ns;
	if (most >= (double)span)
		return UINT64_MAX;
	alone = (uint64_t)most;
	alone += waits * PRESSURE_TICK_NS * (io->passed_ns / PRESSURE_LOOK_NS + 1);
	/* The time outside that of pressure: tasks are read before or after it. */
	alone += now->read_ns > io->until_ns ? now->read_ns - io->until_ns : 0;
	alone += since < from ? from - since : 0;
	return alone < span ? threads * alone : UINT64_MAX;
}

/*
 * Judges accounted blkio by the lower pressure, the machine's or the group's: the kernel derives
 * that from the sleeping task's state, so it is right even if a time stamp is stale. For a wait
 * that began earlier the verdict may also apply to a sleeper in state S (of io_uring), which is not
 * visible before it ends: how much of it passed in the interval is no better known. *most: the
 * maximum for waits that ended.
 */
static enum delay_verdict judge_blkio(const struct counters *grown, uint32_t known,
				      const struct task_raw *now, const struct task_raw *before,
				      const struct wait_limits *machine,
				      const struct io_pressure *group, uint64_t *most)
{
	const struct delay_sum *booked = &grown->delay[DELAY_BLKIO];
	bool counted = known & DELAY_COUNT_BIT(DELAY_BLKIO);
	uint64_t waits = counted ? booked->count : UINT32_MAX, of_group = UINT64_MAX;

	if (!machine || !(known & DELAY_BIT(DELAY_BLKIO)) || !booked->ns ||
	    now->now.measured & DELAY_BIT(DELAY_BLKIO))
		return DELAY_FITS;
	*most = most_of_pressure(waits, now, before, &machine->io, machine->cpus);
	if (group)
		of_group = most_of_pressure(waits, now, before, group, machine->cpus);
	if (of_group < *most)
		*most = of_group;
	if (*most == UINT64_MAX)
		return DELAY_FITS;
	return delay_judge(booked, counted, *most + begun_before(DELAY_BLKIO, now, before));
}

/* Removes accounted blkio beyond pressure. Returns the kinds that are known then. */
static uint32_t limit_blkio(struct waited *waited, enum delay_verdict verdict, uint64_t most,
			    const struct task_raw *now, uint32_t known)
{
	uint64_t *ns = &waited->ns[DELAY_BLKIO];

	waited->beyond = verdict != DELAY_FITS;
	if (verdict == DELAY_WRONG) {
		*ns = 0;
		give_reason(waited, DELAY_BLKIO, REASON_UNKNOWN);
		return known & ~DELAY_BIT(DELAY_BLKIO);
	}
	if (is_seen(now) && !now->exited)
		most += waits_progress(&now->now.waits, SEEN_BLKIO, now->read_ns);
	if (verdict == DELAY_CUT && *ns > most) {
		*ns = most;
		give_reason(waited, DELAY_BLKIO, REASON_CUT);
	}
	return known;
}

/*
 * Derives time waited from accounted time, for all but traced kinds. machine, group: their
 * pressure, NULL: it limits nothing. Returns the kinds known in the result: DELAY_BIT()s and
 * VALID_DWAIT.
 */
static uint32_t take_booked(struct waited *waited, const struct counters *grown,
			    const struct task_raw *now, const struct task_raw *before,
			    const struct wait_limits *machine, const struct io_pressure *group)
{
	uint64_t most = most_told(now, before);
	bool seen = is_seen(now) && (!before || is_seen(before));
	uint64_t most_blkio = UINT64_MAX;
	enum delay_verdict blkio =
		judge_blkio(grown, grown->valid, now, before, machine, group, &most_blkio);
	uint32_t known = grown->valid & DELAY_ALL;

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		waited->ns[kind] = known & DELAY_BIT(kind) ? grown->delay[kind].ns : 0;
	if (now->now.measured)
		waited->ns[WAIT_DWAIT] = grown->dwait_ns;
	else
		waited->ns[WAIT_DWAIT] = seen && !now->exited ? now->now.waits.dwait_ns : 0;
	/* Measured figures include the waits in progress. */
	for (unsigned s = 0; s < SEEN_DWAIT && seen; s++) {
		uint64_t *ns = &waited->ns[kind_of[s]], was = 0;

		if (!(known & ~now->now.measured & DELAY_BIT(kind_of[s])))
			continue;
		if (!now->exited)
			*ns += waits_progress(&now->now.waits, s, now->read_ns);
		if (before)
			was = waits_progress(&before->now.waits, s, before->read_ns);
		*ns = *ns > was ? *ns - was : 0;
		if (*ns > most_of_late(s, now, before))
			*ns = most_of_late(s, now, before);
	}
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (now->now.measured & DELAY_BIT(kind))
			give_reason(waited, kind, REASON_MEASURED);
	if (now->now.measured)
		give_reason(waited, WAIT_DWAIT, REASON_MEASURED);
	for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
		if (waited->ns[kind] <= most)
			continue;
		/* Readings take a while: a small excess is no fault of accounting. */
		if (waited->ns[kind] > most + most / LATE_PART + SLACK_NS)
			give_reason(waited, kind, REASON_CUT);
		waited->ns[kind] = most;
	}
	known = limit_blkio(waited, blkio, most_blkio, now, known);
	/* The wait in which a task exited is not accounted. */
	if (now->now.measured)
		return known | (grown->valid & VALID_DWAIT);
	return known | (seen && !now->exited ? VALID_DWAIT : 0);
}

uint32_t resolve_booked(struct row *row, struct deltas *deltas, const struct task_raw *before,
			const struct wait_limits *machine, struct counters *excess)
{
	struct counters *grown = &deltas->grown;
	uint32_t unknown = find_impossible(grown, row->raw, before, machine, excess);
	uint32_t kinds = row->valid & excess->valid;

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (kinds & DELAY_BIT(kind))
			give_reason(&deltas->waited, kind,
				    unknown & DELAY_BIT(kind) ? REASON_UNKNOWN : REASON_CUT);
	if (!kinds)
		return 0;
	counters_take_off(grown, excess, excess->valid & ~unknown);
	grown->valid &= ~DELAY_BOTH(unknown);
	return kinds;
}

/*
 * Takes the traced time in a state. A single thread's may be a little longer than the interval, as
 * the two are read by different clocks.
 */
static void take_state(const struct row *row, struct waited *waited, enum wait_state state,
		       unsigned kind)
{
	uint64_t ns = row->traced->states.ns[state];

	waited->ns[kind] = row->raw->single && ns > row->interval_ns ? row->interval_ns : ns;
	waited->reason[kind] = REASON_MEASURED;
}

/* Takes the traced times. Without an interval there is nothing to wait in. */
static void take_traced(struct row *row, struct waited *waited)
{
	row->valid |= VALID_DWAIT;
	if (!waited)
		return;
	take_state(row, waited, STATE_IO, DELAY_BLKIO);
	take_state(row, waited, STATE_DWAIT, WAIT_DWAIT);
}

void resolve_row(struct row *row, struct deltas *deltas, bool whole,
		 const struct wait_limits *machine, const struct io_pressure *group)
{
	if (deltas && (whole || row->before)) {
		uint32_t known = take_booked(&deltas->waited, &deltas->grown, row->raw,
					     whole ? NULL : row->before, machine, group);

		row->valid &= ~(DELAY_BOTH(DELAY_ALL) | VALID_DWAIT);
		row->valid |= known & VALID_DWAIT;
		row->valid |= deltas->grown.valid & DELAY_BOTH(DELAY_ALL & known);
	}
	/* Traced times are of the interval, even if the whole life is wanted. */
	if (row->traced && row->interval_ns && (row->before || row->born) && (!whole || row->born))
		take_traced(row, deltas ? &deltas->waited : NULL);
	if (!deltas)
		return;
	compute_totals(&deltas->waited, row_waited(row));
	deltas->total = delay_total(deltas->grown.delay, row->valid);
	deltas->mem = delay_mem(deltas->grown.delay, row->valid);
}

void waited_add(struct waited *sum, const struct waited *more)
{
	for (unsigned kind = 0; kind < WAIT_KINDS; kind++)
		sum->ns[kind] += more->ns[kind];
	sum->total += more->total;
	sum->mem += more->mem;
}

void waited_drop(struct task *task, const struct counters *excess, uint32_t kinds)
{
	if (!task->dropped)
		task->dropped = xcalloc(1, sizeof(*task->dropped));
	counters_add_known(task->dropped, excess, kinds);
}

struct counters waited_life(const struct task_raw *raw, bool *wrong)
{
	static const struct wait_limits nothing;
	struct counters life = raw->counters, excess = { 0 };

	/* There is no other source for dwait. */
	if (raw->now.measured_late)
		counters_mask(&life, raw->now.measured & DELAY_ALL);
	if (raw->task->dropped)
		counters_take_off(&life, raw->task->dropped, DELAY_ALL);
	/* A wait that was cut would grow with the clock, while nothing waits. */
	find_impossible(&life, raw, NULL, &nothing, &excess);
	counters_mask(&life, excess.valid & DELAY_ALL);
	if (wrong)
		*wrong = excess.valid;
	return life;
}

void waited_check_range(const struct task_raw *raw, struct task_record *record)
{
	uint64_t most = delay_most(interval_between(raw, NULL));

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		if (record->max[kind] > most)
			record->range_valid &= ~DELAY_BIT(kind);
}
