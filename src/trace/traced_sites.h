/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites of traced waits: the time waited at each between two readings, as differences of their
 * totals, with waits in progress up to the reading. The cost of a reading is proportional to the
 * changed sites and those with waiters.
 */
#pragma once

#include "bpf/trace_record.h"
#include "trace/traced_processes.h"

/* A site's counters at the previous reading. */
struct site_before {
	uint64_t count;
	uint32_t buckets[TRACE_BUCKETS];
	struct trace_waker wakers[TRACE_WAKERS];
};

/* The waits of a site with one user stack. */
struct traced_stack {
	uint64_t id;
	uint64_t ns, count; /* of ended ones, as last read */
	uint64_t progress_ns; /* of those in progress */
	uint64_t shown_ns, shown_count; /* the part handed out */
};

/* A site that has a slot in the kernel. */
struct traced_site {
	struct site site; /* as handed out; its texts are site_names.c's */
	struct trace_site now; /* as last read */
	struct trace_links *links; /* likewise; owned; NULL: none were read */
	struct traced_stack *stacks;
	struct site_user_stack *shown_stacks; /* of the site as handed out */
	size_t nstacks, stacks_cap, shown_stacks_cap;
	uint64_t read_epoch; /* the reading of that, */
	size_t before; /* and the index of its earlier figures */
	/* The part of its totals that was handed out, including waits in progress. */
	uint64_t shown_ns, shown_kind_ns;
	uint64_t epoch; /* the reading in which it last changed */
	uint32_t slot;
	bool named; /* its texts were made */
	bool put_off; /* the owner of its target could not be searched for: to be named again */
	enum wait_purpose about; /* the subject of its waits, as far as known */
	bool disk; /* its waits are for completions of a disk: I/O, though not in I/O wait */
	/* The task that must act to end the waits: a process, of a futex a thread; 0: unknown. */
	pid_t holder;
	bool of_one; /* its target is that of its only wait; unknown after more waits */
	char *on; /* owned; site.on */
	char comm[TRACE_COMM + 1];
	char wakers[TRACE_WAKERS][TRACE_COMM + 1]; /* their names */
	struct trace_waiter first; /* the longest-waiting thread; pid 0: none */
	unsigned waiting;
	uint64_t since_ns; /* their starts, added up modulo 2^64 */
	size_t busy; /* 1 + the index among the sites with waiters; 0: none */
	struct traced_process *process;
	struct traced_site *next, *previous; /* of the same process */
	struct traced_site *newer, *older; /* among those without waiters, by the latest change */
	bool idle; /* it is one of those */
};

/* All of them; zero-initialised: none. */
struct traced_sites {
	struct traced_processes *processes; /* the source of these readings */
	uint64_t last_id;
	uint64_t stacks_over_ns; /* shorter waits are not added to user stacks */
	struct traced_site **slots;
	size_t nslots, n;
	struct traced_site **busy, **changed;
	size_t nbusy, busy_cap, nchanged, changed_cap;
	struct site_before *befores; /* of those read in this reading */
	size_t nbefores, befores_cap;
	struct traced_site *newest, *oldest; /* of the idle ones */
	struct traced_site **framed; /* with waits in the last interval, or in progress */
	size_t nframed, framed_cap;
};

/* Starts a reading, after traced_processes_begin(): without waiters. */
void traced_sites_begin(struct traced_sites *sites);

/* Updates a site that changed. */
void traced_sites_update(struct traced_sites *sites, uint32_t slot,
			 const struct trace_site *record);

/* Adds a thread to the waiters, after all sites were updated. */
void traced_sites_wait(struct traced_sites *sites, const struct trace_waiter *waiter);

/* Sets the total of a user stack's waits. */
void traced_sites_stack(struct traced_sites *sites, const struct trace_stack_key *key,
			const struct trace_stack_sum *sum);

/* Computes the interval of the sites, which go into `framed`. The first reading has no interval. */
void traced_sites_settle(struct traced_sites *sites);

/* True if a site has waiters, or any wait is in its interval. */
bool traced_sites_has_any(const struct site *site);

/* Adds time, of either sign, to a site's interval; the next interval subtracts it again. */
void traced_sites_move_time(struct traced_site *traced, int64_t ns);

/* The site of a slot, if its generation has these low bits; else NULL. */
struct traced_site *traced_sites_at(const struct traced_sites *sites, uint32_t slot,
				    uint32_t generation, uint32_t bits);

/* A site's total since it was first seen. Its wakers' names are valid until the next call. */
void traced_sites_whole(struct traced_site *traced, uint64_t read_ns, struct site *site);

/* True if the kernel's slot of a site can be freed: it has no waiters. */
typedef bool traced_sites_forget_fn(void *arg, uint32_t slot);

/* Drops the sites unchanged for idle_ns, and those of a dropped process, if `forget` permits it. */
void traced_sites_forget(struct traced_sites *sites, uint64_t idle_ns,
			 traced_sites_forget_fn *forget, void *arg);
void traced_sites_forget_process(struct traced_sites *sites, struct traced_process *process,
				 traced_sites_forget_fn *forget, void *arg);

void traced_sites_free(struct traced_sites *sites);

/* The class of a traced site: whether its waits are lost time. */

/* The class of a site's waits, by its record only. */
enum wait_purpose site_purpose(const struct trace_site *record);

/* Sets site->site.class by all known facts of its waits. */
void site_classify(struct traced_site *site);

/*
 * Determines the subject of waits from their wakers, where wakers show it: completions of requests,
 * futexes, and events.
 */
void site_judge_wakers(struct traced_site *site);
