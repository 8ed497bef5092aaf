/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/trace.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf/trace.skel.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "bpf/trace_load.h"

/* Attempts to read a slot that is being written, before it is left for the next reading. */
#define PATIENCE 100000

/* Runs that make the measured cost of one run exact enough. */
#define RUNS_ENOUGH 20000

/* Readings whose cost is estimated from that before it is measured again. */
#define ESTIMATES 30

struct trace {
	struct trace_program program;
	uint64_t began_ns;
	uint32_t taken[2]; /* of each list of changed sites, how far it was read */
	uint64_t switches, lost_waits, lost_stacks; /* at the previous reading */
	char *waiters; /* waiters, as last read */
	size_t waiters_cap;
	struct trace_runs runs; /* likewise, while measured */
	struct trace_runs measured; /* since measuring began */
	uint64_t measured_switches;
	double switch_ns; /* measured cost of a switch; negative: unknown yet */
	unsigned estimates; /* readings since then */
};

/*
 * Copies what another CPU may write; repeats if the version is odd or has changed. False: it is
 * written all the time.
 */
static bool copy_whole(void *to, const void *from, size_t size, const uint32_t *version)
{
	for (unsigned i = 0; i < PATIENCE; i++) {
		uint32_t before = __atomic_load_n(version, __ATOMIC_ACQUIRE);

		if (before & 1)
			continue;
		memcpy(to, from, size);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(version, __ATOMIC_RELAXED) == before)
			return true;
	}
	return false;
}

/* Returns a slot to the queue of free ones. */
static void release_slot(struct trace_ring *ring, uint64_t *slots, uint32_t room, uint32_t slot)
{
	uint32_t tail = ring->tail;

	__atomic_store_n(&slots[tail & (room - 1)], slot, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->tail, tail + 1, __ATOMIC_RELEASE);
}

/* True if a task ended waits of a site: then it may have links. */
static bool has_task_waker(const struct trace_site *site)
{
	for (unsigned i = 0; i < TRACE_WAKERS; i++)
		if (site->wakers[i].tgid)
			return true;
	return false;
}

/* Passes on a site. */
static void hand_site(struct trace *trace, uint32_t slot, const struct trace_reader *reader)
{
	const struct trace_site_slot *from = windows_at(&trace->program.site_slots, slot);
	struct trace_links links;
	struct trace_site site;
	bool linked;

	if (!copy_whole(&site, &from->site, sizeof(site), &from->version) || !site.key.tgid)
		return;
	linked = reader->links && has_task_waker(&site) &&
		 copy_whole(&links, windows_at(&trace->program.links, slot), sizeof(links),
			    &from->version) &&
		 links.all[0].tgid;
	reader->site(reader->arg, slot, &site);
	if (linked)
		reader->links(reader->arg, slot, &links);
}

/*
 * Reads the sites on a list from its last position. A hook that was running when the epoch ended
 * may still add to the epoch's list: those are read the next time.
 */
static void read_changed_sites(struct trace *trace, uint32_t epoch,
			       const struct trace_reader *reader)
{
	uint32_t parity = epoch & 1, room = trace->program.sites, n;
	const uint64_t *list = trace->program.changed_sites + parity * room;

	n = __atomic_load_n(&trace->program.control->changed[parity].sites, __ATOMIC_ACQUIRE);
	if (n > room)
		n = room;
	while (trace->taken[parity] < n) {
		uint64_t slot = __atomic_load_n(&list[trace->taken[parity]++], __ATOMIC_ACQUIRE);

		if (slot && slot < room)
			hand_site(trace, (uint32_t)slot, reader);
	}
}

/* Bytes per read: what the kernel collects for one read() of an iterator. */
#define WAITERS_READ 32768

/* Reads the waiters from the kernel, and passes them on. 0 or -errno. */
static int read_waiters(struct trace *trace, const struct trace_reader *reader)
{
	int fd = bpf_iter_create(bpf_link__fd(trace->program.waiters));
	struct trace_waiter waiter;
	size_t len = 0;
	ssize_t got;

	if (fd < 0)
		return fd;
	do {
		RESERVE(trace->waiters, len + WAITERS_READ, trace->waiters_cap);
		got = read(fd, trace->waiters + len, WAITERS_READ);
		len += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	if (got < 0)
		got = -errno;
	close(fd);
	for (size_t at = 0, size; at + TRACE_WAITER_LEAST <= len; at += size) {
		waiter = (struct trace_waiter){ 0 };
		memcpy(&waiter, trace->waiters + at, TRACE_WAITER_LEAST);
		size = waiter.stacked ? sizeof(waiter) : TRACE_WAITER_LEAST;
		if (at + size > len)
			break;
		memcpy(&waiter, trace->waiters + at, size);
		if (waiter.pid)
			reader->waiter(reader->arg, &waiter);
	}
	return (int)got;
}

/* Totals of user stacks, and stacks, per read. */
#define SUMS_READ 256
#define STACKS_TAKEN 32

/* Passes on the total of a user stack in a site, or frees it if the site was reused. */
static void hand_sum(struct trace *trace, const struct trace_stack_key *key,
		     const struct trace_stack_sum *sum, const struct trace_reader *reader)
{
	const struct trace_site_slot *slot;

	if (key->site >= trace->program.sites)
		return;
	slot = windows_at(&trace->program.site_slots, key->site);
	if ((uint32_t)slot->site.generation == key->generation)
		reader->user_stack(reader->arg, key, sum);
	else
		bpf_map_delete_elem(bpf_map__fd(trace->program.bpf->maps.stack_sums), key);
}

/* Passes on the totals of all user stacks. 0 or -errno. */
static int read_sums(struct trace *trace, const struct trace_reader *reader)
{
	int map = bpf_map__fd(trace->program.bpf->maps.stack_sums);
	struct trace_stack_key keys[SUMS_READ];
	struct trace_stack_sum sums[SUMS_READ];
	uint32_t at, *from = NULL, n;
	bool last;

	do {
		n = SUMS_READ;
		last = bpf_map_lookup_batch(map, from, &at, keys, sums, &n, NULL) != 0;
		if (last && errno != ENOENT)
			return -errno;
		from = &at;
		for (uint32_t i = 0; i < n; i++)
			hand_sum(trace, &keys[i], &sums[i], reader);
	} while (!last);
	return 0;
}

/* Adds up the counts of all CPUs, as differences to the previous reading. */
static void count_events(struct trace *trace, struct trace_counts *counts)
{
	uint64_t switches = 0, waits = 0, stacks;

	for (uint32_t i = 0; i < trace->program.cpus; i++) {
		const struct trace_cpu *cpu = &trace->program.cpu[i];

		switches += __atomic_load_n(&cpu->switches, __ATOMIC_RELAXED);
		waits += __atomic_load_n(&cpu->lost_waits, __ATOMIC_RELAXED);
	}
	counts->switches = switches - trace->switches;
	counts->lost_waits = waits - trace->lost_waits;
	stacks = __atomic_load_n(&trace->program.control->lost_stacks, __ATOMIC_RELAXED);
	counts->lost_stacks = stacks - trace->lost_stacks;
	trace->switches = switches;
	trace->lost_waits = waits;
	trace->lost_stacks = stacks;
}

/* Makes the kernel measure the programs, for as long as a good figure takes. */
static void begin_measuring(struct trace *trace)
{
	trace->program.stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	trace->measured = (struct trace_runs){ 0, 0 };
	trace->measured_switches = 0;
	if (trace_runs(&trace->program, &trace->runs))
		trace->runs = (struct trace_runs){ 0, 0 };
}

/* Reads the kernel's measurement since the previous reading. */
static void measure(struct trace *trace, struct trace_counts *counts)
{
	struct trace_runs runs;

	if (trace_runs(&trace->program, &runs))
		return;
	counts->cost_ns = (double)(runs.ns - trace->runs.ns);
	trace->measured.ns += runs.ns - trace->runs.ns;
	trace->measured.runs += runs.runs - trace->runs.runs;
	trace->measured_switches += counts->switches;
	trace->runs = runs;
	if (trace->measured.runs < RUNS_ENOUGH || !trace->measured_switches)
		return;
	trace->switch_ns = (double)trace->measured.ns / (double)trace->measured_switches;
	trace->estimates = 0;
	close(trace->program.stats);
	trace->program.stats = -1;
}

/*
 * The cost of the programs. Measuring takes time, too: so the kernel's measuring is switched off
 * once the cost of a switch is known, and on again from time to time.
 */
static void count_cost(struct trace *trace, struct trace_counts *counts)
{
	counts->cost_ns = -1;
	if (trace->program.stats >= 0) {
		measure(trace, counts);
	} else if (trace->switch_ns >= 0) {
		counts->cost_ns = trace->switch_ns * (double)counts->switches;
		if (++trace->estimates >= ESTIMATES)
			begin_measuring(trace);
	}
}

int trace_open(struct trace **out, const struct trace_options *options)
{
	struct trace *trace = xcalloc(1, sizeof(*trace));
	int err = trace_load(&trace->program, options->sites, options->user_stacks,
			     options->stacks == TRACE_STACKS_BLOCKED);

	*out = NULL;
	if (err) {
		free(trace);
		return err;
	}
	trace->program.control->stacks_over_ns = options->stacks_over_ns;
	trace->switch_ns = -1;
	trace->began_ns = clock_ns(CLOCK_MONOTONIC);
	begin_measuring(trace);
	*out = trace;
	return 0;
}

int trace_read(struct trace *trace, const struct trace_reader *reader, struct trace_counts *counts)
{
	struct trace_control *control = trace->program.control;
	uint32_t epoch = control->epoch, next = (epoch + 1) & 1;
	int err = 0;

	*counts = (struct trace_counts){ .no_calls = !control->calls,
					 .no_stacks = !control->user_stacks };
	count_events(trace, counts);
	count_cost(trace, counts);
	/* Reads sites added late to the list that is now reused. */
	read_changed_sites(trace, epoch + 1, reader);
	trace->taken[next] = 0;
	__atomic_store_n(&control->changed[next].sites, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&control->epoch, epoch + 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	counts->read_ns = clock_ns(CLOCK_MONOTONIC);
	read_changed_sites(trace, epoch, reader);
	if (reader->user_stack && trace->program.user_stacks)
		err = read_sums(trace, reader);
	windows_trim(&trace->program.site_slots);
	windows_trim(&trace->program.links);
	if (err)
		return err;
	return reader->waiter ? read_waiters(trace, reader) : 0;
}

size_t trace_stack(struct trace *trace, int32_t stack, uint64_t *addresses, size_t room)
{
	uint64_t frames[TRACE_FRAMES] = { 0 };
	size_t n = 0;

	if (stack < 0 ||
	    bpf_map_lookup_elem(bpf_map__fd(trace->program.bpf->maps.stacks), &stack, frames))
		return 0;
	while (n < room && n < TRACE_FRAMES && frames[n]) {
		addresses[n] = frames[n];
		n++;
	}
	return n;
}

int trace_take_stacks(struct trace *trace,
		      void (*take)(void *arg, uint64_t id, const struct trace_user_stack *stack),
		      void *arg)
{
	int map = bpf_map__fd(trace->program.bpf->maps.user_stacks);
	struct trace_user_stack stacks[STACKS_TAKEN];
	uint64_t ids[STACKS_TAKEN];
	uint32_t at, *from = NULL, n;
	bool last;

	do {
		n = STACKS_TAKEN;
		last = bpf_map_lookup_and_delete_batch(map, from, &at, ids, stacks, &n, NULL) != 0;
		if (last && errno != ENOENT)
			return -errno;
		from = &at;
		for (uint32_t i = 0; i < n; i++)
			take(arg, ids[i], &stacks[i]);
	} while (!last);
	return 0;
}

int trace_add_rule(struct trace *trace, const struct trace_rule_key *key,
		   const struct frame_rule *rule)
{
	return bpf_map_update_elem(bpf_map__fd(trace->program.bpf->maps.user_rules), key, rule,
				   BPF_ANY)
		       ? -errno
		       : 0;
}

int trace_choose(struct trace *trace, const struct trace_chosen *chosen, bool taken)
{
	struct trace_control *control = trace->program.control;
	uint32_t *n = chosen->tgid ? &control->chosen_pids : &control->chosen_names, one = 1;
	int map = bpf_map__fd(trace->program.bpf->maps.chosen);

	if (taken ? bpf_map_update_elem(map, chosen, &one, BPF_NOEXIST)
		  : bpf_map_delete_elem(map, chosen))
		return -errno;
	__atomic_store_n(n, taken ? *n + 1 : *n - 1, __ATOMIC_RELAXED);
	return 0;
}

uint64_t trace_began_ns(const struct trace *trace)
{
	return trace->began_ns;
}

struct end_ring *trace_ends(struct trace *trace)
{
	return &trace->program.ends;
}

struct trace_maps trace_maps(const struct trace *trace)
{
	const struct trace_bpf *bpf = trace->program.bpf;

	return (struct trace_maps){ .locals = bpf_map__fd(bpf->maps.locals),
				    .ended = bpf_map__fd(bpf->maps.ended_of) };
}

bool trace_forget(struct trace *trace, uint32_t slot)
{
	struct trace_program *program = &trace->program;
	struct trace_site_slot *site;
	uint32_t version;

	if (!slot || slot >= program->sites)
		return false;
	site = windows_at(&program->site_slots, slot);
	if (site->epoch == program->control->epoch)
		return false;
	version = __atomic_load_n(&site->version, __ATOMIC_ACQUIRE);
	if (version & 1 || !__atomic_compare_exchange_n(&site->version, &version, version + 1,
							false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return false;
	bpf_map_delete_elem(bpf_map__fd(program->bpf->maps.places), &site->site.key);
	/* A hook that found the slot earlier sees another generation now. */
	site->site.generation++;
	memset(&site->site.key, 0, sizeof(site->site.key));
	__atomic_store_n(&site->version, version + 2, __ATOMIC_RELEASE);
	release_slot(&program->control->free_sites, program->free_sites, program->sites, slot);
	return true;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	trace_unload(&trace->program);
	free(trace->waiters);
	free(trace);
}
