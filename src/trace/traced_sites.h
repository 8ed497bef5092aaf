/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites of traced waits: the time waited at each between two readings, as differences of their
 * totals and with waits in progress as far as they have come. A reading costs in the sites that
 * changed and those where somebody waits.
 */
#pragma once

#include "bpf/trace_record.h"
#include "trace/traced_processes.h"

/* What a site had counted at the reading before. */
struct site_before {
	uint64_t count;
	uint32_t buckets[TRACE_BUCKETS];
	struct trace_waker wakers[TRACE_WAKERS];
};

/* The waits of a site that began with one user stack. */
struct traced_stack {
	uint64_t id;
	uint64_t ns, count; /* of those that have ended, as read last */
	uint64_t progress_ns; /* of those in progress */
	uint64_t shown_ns, shown_count; /* the part that was handed out */
};

/* A site that the kernel has a slot for. */
struct traced_site {
	struct site site; /* as it is handed out; its texts are site_names.c's */
	struct trace_site now; /* as read last */
	struct trace_links *links; /* the same; owned; NULL: none were read */
	struct traced_stack *stacks;
	struct site_user_stack *shown_stacks; /* of the site as it is handed out */
	size_t nstacks, stacks_cap, shown_stacks_cap;
	uint64_t read_epoch; /* the reading of that, */
	size_t before; /* and the index of what it had before */
	/* The part of its totals that was handed out, waits in progress included. */
	uint64_t shown_ns, shown_kind_ns;
	uint64_t epoch; /* the reading in which it changed last */
	uint32_t slot;
	bool named; /* its texts were made */
	bool put_off; /* whose its target is could not be looked for: to be named again */
	enum wait_purpose about; /* what its waits are about, as far as that is known */
	bool disk; /* its waits are for completions of a disk: they are I/O, though no I/O wait */
	/* Who must act for the waits to end: a process, of a futex a thread; 0: not known. */
	pid_t holder;
	bool of_one; /* its target is that of its only wait; unknown after more waits */
	char *on; /* owned; site.on */
	char comm[TRACE_COMM + 1];
	char wakers[TRACE_WAKERS][TRACE_COMM + 1]; /* their names */
	struct trace_waiter first; /* who waits there for longest; pid 0: nobody */
	unsigned waiting;
	uint64_t since_ns; /* when they began, added up modulo 2^64 */
	size_t busy; /* 1 + the index among the sites with waiters; 0: none */
	struct traced_process *process;
	struct traced_site *next, *previous; /* of the same process */
	struct traced_site *newer, *older; /* among those without waiters, by the last change */
	bool idle; /* it is among those */
};

/* All of them; zero-initialised: none. */
struct traced_sites {
	struct traced_processes *processes; /* whose readings these are */
	uint64_t last_id;
	uint64_t stacks_over_ns; /* shorter waits are not added to user stacks */
	struct traced_site **slots;
	size_t nslots, n;
	struct traced_site **busy, **changed;
	size_t nbusy, busy_cap, nchanged, changed_cap;
	struct site_before *befores; /* of those that were read in this reading */
	size_t nbefores, befores_cap;
	struct traced_site *newest, *oldest; /* of the idle ones */
	struct traced_site **framed; /* where anything was waited in the last interval, or is */
	size_t nframed, framed_cap;
};

/* Begins a reading, after traced_processes_begin(): nobody waits any more. */
void traced_sites_begin(struct traced_sites *sites);

/* Updates a site that changed. */
void traced_sites_update(struct traced_sites *sites, uint32_t slot,
			 const struct trace_site *record);

/* Adds a thread to those that wait, after all sites were updated. */
void traced_sites_wait(struct traced_sites *sites, const struct trace_waiter *waiter);

/* Sets the total of a user stack's waits. */
void traced_sites_stack(struct traced_sites *sites, const struct trace_stack_key *key,
			const struct trace_stack_sum *sum);

/* Makes the interval of the sites, which go into `framed`. The first reading has no interval. */
void traced_sites_settle(struct traced_sites *sites);

/* Whether anybody waits at a site, or any wait is in its interval. */
bool traced_sites_has_any(const struct site *site);

/* Adds time, of either sign, to a site's interval; the next interval takes it back. */
void traced_sites_move_time(struct traced_site *traced, int64_t ns);

/* The site of a slot, if its low bits of the generation are those; else NULL. */
struct traced_site *traced_sites_at(const struct traced_sites *sites, uint32_t slot,
				    uint32_t generation, uint32_t bits);

/* A site's whole, since it was first seen. Its wakers' names are valid until the next call. */
void traced_sites_whole(struct traced_site *traced, uint64_t read_ns, struct site *site);

/* Whether the kernel's slot of a site can be given back: it has no waiters. */
typedef bool traced_sites_forget_fn(void *arg, uint32_t slot);

/*
 * Forgets the sites that have not changed for idle_ns, and those of a process that is forgotten,
 * where `forget` allows it.
 */
void traced_sites_forget(struct traced_sites *sites, uint64_t idle_ns,
			 traced_sites_forget_fn *forget, void *arg);
void traced_sites_forget_process(struct traced_sites *sites, struct traced_process *process,
				 traced_sites_forget_fn *forget, void *arg);

void traced_sites_free(struct traced_sites *sites);

/* The class of a traced site: whether its waits are lost time. */

/* The class of a site's waits, by its record alone. */
enum wait_purpose site_purpose(const struct trace_site *record);

/* Sets site->site.class by all that is known of its waits. */
void site_classify(struct traced_site *site);

/*
 * Tells from their wakers what waits were about, where wakers tell it: for completions of requests,
 * futexes, and events.
 */
void site_judge_wakers(struct traced_site *site);
