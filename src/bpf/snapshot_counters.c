/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/snapshot_counters.h"

/* The letter of /proc/PID/stat (fs/proc/array.c:task_state_array, sched.h:__task_state_index). */
static char state_letter(uint32_t state, uint32_t exit_state)
{
	static const char letters[] = "RSDTtXZPI";
	const uint32_t report = 0x7f, idle = 0x402, frozen = 0x8000, rtlock = 0x1000;
	uint32_t reported = (state | exit_state) & report;
	unsigned at = 0;

	if (!exit_state && state & (frozen | rtlock))
		return 'D';
	if ((state & idle) == idle)
		return 'I';
	while (reported) {
		reported >>= 1;
		at++;
	}
	return letters[at];
}

/* Waits visible in progress, by the program's names. */
static const enum wait_seen seen_as[] = {
	[SNAPSHOT_WAIT_CPU] = SEEN_CPU,
	[SNAPSHOT_WAIT_IO] = SEEN_BLKIO,
	[SNAPSHOT_WAIT_D] = SEEN_DWAIT,
};

/* Sets the threads' time by state: unknown if any thread is not traced. */
static void set_times(struct task_raw *raw, const struct snapshot_record *parts, size_t n)
{
	struct task_times times = { .at_ns = parts->read_ns };
	uint64_t late, *ns;

	for (size_t i = 0; i < n; i++) {
		if (parts[i].part == SNAPSHOT_ENDED)
			continue;
		if (!parts[i].times_known)
			return;
		for (unsigned state = 0; state < WAIT_STATES; state++)
			times.states.ns[state] += parts[i].state_ns[state];
		if (parts[i].in >= WAIT_STATES)
			continue;
		times.in[parts[i].in]++;
		/* As of the process's reading, which is that of its leader, most often the first.
		 */
		late = parts[i].read_ns > parts->read_ns ? parts[i].read_ns - parts->read_ns : 0;
		ns = &times.states.ns[parts[i].in];
		*ns -= late < *ns ? late : *ns;
	}
	task_raw_set_times(raw, &times);
}

/* Adds the counters of a part. */
static void add_part(struct task_raw *raw, const struct snapshot_record *part, uint64_t before_ns)
{
	struct counters *sum = &raw->counters;

	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		sum->delay[kind].count += part->count[kind];
		sum->delay[kind].ns += part->delay[kind].ns;
	}
	sum->run_ns += part->run_ns;
	sum->user_ns += part->user_ns;
	sum->system_ns += part->system_ns;
	sum->dwait_ns += part->dwait_ns;
	if (part->part == SNAPSHOT_ENDED)
		return;
	sum->life_ns += part->read_ns - part->start_ns;
	counters_mask(sum, DELAY_ALL & ~part->kinds);
	/* Taken at the process's reading for all threads, so that no wait begins after that. */
	if (!part->wait)
		return;
	waits_add(&raw->now.waits, seen_as[part->wait], raw->read_ns - part->waited_ns,
		  raw->read_ns, before_ns);
	waits_of_thread(&raw->now.waits, seen_as[part->wait], part->pid,
			raw->read_ns - part->waited_ns);
}

/* True if a leader has exited while threads live on: it is already in the sum of exited threads. */
static bool has_left(const struct snapshot_record *leader, bool ended)
{
	return ended && leader->exit_state;
}

void snapshot_counters(const struct snapshot_record *parts, size_t n, uint64_t before_ns,
		       struct task_raw *raw)
{
	bool ended = n > 1 && parts[1].part == SNAPSHOT_ENDED;

	raw->read_ns = parts->read_ns;
	raw->counters.valid = DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK | VALID_CHILDREN;
	raw->now.state = state_letter(parts->state, parts->exit_state);
	raw->now.threads = parts->threads;
	raw->now.exact = true;
	raw->children.user_ns = parts->children_user_ns;
	raw->children.system_ns = parts->children_system_ns;
	raw->single = parts->threads <= 1 && !ended;
	if (!has_left(parts, ended))
		add_part(raw, parts, before_ns);
	for (size_t i = 1; i < n; i++)
		add_part(raw, &parts[i], before_ns);
	if (parts->times_known)
		set_times(raw, parts, n);
	raw->now.measured = parts->measured;
	raw->counters.valid |= parts->measured & VALID_DWAIT;
}

void snapshot_range(const struct snapshot_record *parts, size_t n, struct task_record *range)
{
	for (size_t i = 0; i < n; i++) {
		for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
			const struct snapshot_delay *delay = &parts[i].delay[kind];

			if (delay->max > range->max[kind])
				range->max[kind] = delay->max;
			if (delay->min && (!range->min[kind] || delay->min < range->min[kind]))
				range->min[kind] = delay->min;
		}
		range->range_valid |= parts[i].ranges;
	}
}
