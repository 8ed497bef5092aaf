/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of threads, and the sites of their waits. Known while waits are traced. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "data/delay.h"
#include "data/wait_state_table.h"

/* The class of a wait: whether the task loses time. All classes but parked are lost time. */

/* ROW(NAME, id, meaning). Recordings store their numbers: append only. */
#define WAIT_CLASS_TABLE(ROW) \
	ROW(UNKNOWN, "unknown", "cannot be determined") \
	ROW(REMOTE, "served", "a disk, a peer, a child or a server works on its request") \
	ROW(CONTENDED, "contended", "another task has the CPU or the lock") \
	ROW(LIMITED, "rationed", "held by a limit or command: quota, freezer, SIGSTOP") \
	ROW(IDLE, "parked", "idle: a pool, a timer, no request")

#define WAIT_CLASS_ID(NAME, ...) CLASS_##NAME,
enum wait_class { WAIT_CLASS_TABLE(WAIT_CLASS_ID) WAIT_CLASSES };
#undef WAIT_CLASS_ID

/* Their ids in machine formats. */
extern const char *const wait_class_ids[WAIT_CLASSES];

/* Facts about the subject of a wait, besides the state. */
enum wait_purpose {
	WAIT_FOR_UNKNOWN,
	WAIT_FOR_REQUESTS, /* a listening socket, or a server's end of a connection */
	WAIT_FOR_ANSWER, /* a client's end of a connection */
	WAIT_FOR_EVENTS, /* a terminal, a device, signals, events: they occur or not */
	WAIT_FOR_FILE, /* a file, or a path */
	WAIT_FOR_QUOTA, /* a CPU that the group's quota withholds */
	WAIT_FOR_IDLE_RING, /* completions of a ring whose requests all wait for events */
	WAIT_FOR_DISK_RING, /* completions of a ring with other requests */
	WAIT_FOR_TURN, /* a word or a counter that tasks take in turn, like a lock */
	WAIT_FOR_PEERS, /* other tasks' work: they are asked for it by that, or answer it */
	WAIT_ABOUTS
};

/* The facts that decide the class of a wait. */
struct wait_facts {
	enum wait_state state;
	enum wait_purpose about;
	const char *where; /* kernel function; NULL: unknown */
	bool on_path; /* the target is a file's path */
};

enum wait_class wait_class_of(const struct wait_facts *facts);

/* True if time of a class is lost, or may be: not where the state is mostly one of idle tasks. */
bool wait_is_lost(enum wait_class class, enum wait_state state);

/* The class of waits of which only the state is known. */
enum wait_class wait_class_of_state(enum wait_state state);

/* True if a kernel function waits for a file system server; NULL is none. */
bool wait_for_server(const char *where);

/* True if a kernel function waits for another task to take sent data, or to accept. */
bool wait_for_taker(const char *where);

/* True if the function waits for a child made by vfork(). */
bool wait_for_vforked(const char *where);

/* Why a task frozen by its cgroup waits. */
#define WAIT_FROZEN "frozen by its cgroup"

/* Why a task waits for a target in a kernel function: "frozen"; NULL: unknown. */
const char *wait_words(const char *where, const char *on);

struct wait_state_row {
	const char *id;
	char letter; /* in the bar, without colour */
	const char *heading;
	const char *help;
};

extern const struct wait_state_row wait_state_table[WAIT_STATES];

/* Time of threads by state, in ns. The sum is the time that they were alive. */
struct wait_states {
	uint64_t ns[WAIT_STATES];
};

/* Adds the times of another. */
void wait_states_add(struct wait_states *sum, const struct wait_states *more);

/*
 * Subtracts earlier times. If a state has less now, its wait in progress was counted too long
 * before: the difference is subtracted from the state with most time.
 */
void wait_states_take(struct wait_states *now, const struct wait_states *before);

/* Time that the threads were alive: the sum of all states, in ns. */
uint64_t wait_states_alive(const struct wait_states *states);

/* A task's trace in the interval: of a thread, or of all threads of a process. */
struct traced {
	struct wait_states states;
	/* The part of their time that is neither running nor of class parked, if known. */
	uint64_t lost_ns;
	bool lost_known;
	/* The waker of most of its wait: "812 postgres", or an interrupt; NULL: unknown. */
	const char *waker; /* raw bytes, owned by the trace */
	pid_t tgid; /* with start_ns the process's identity, as in its sites; 0: for a sum */
	uint64_t start_ns;
	/* The first process of a sum, and of each of them the next; NULL: no more. */
	const struct traced *more;
};

/* Adds the times of another; first: the sum is empty. */
void traced_add(struct traced *sum, const struct traced *more, bool first);

/* Wakers, which end waits: tasks, or interrupts. */
struct site_waker {
	pid_t tgid; /* 0: an interrupt */
	const char *name; /* the process's name, or the interrupt's; raw bytes */
	uint64_t ns, count; /* time waited and waits that it ended in the interval */
};

/* The wakers of several sites. Zero-initialised: none. */
struct wakers {
	struct site_waker *all;
	size_t n, cap;
};

/*
 * Merges equal wakers, and sorts them by the time of the waits that they ended, longest first.
 * Returns how many remain.
 */
size_t wakers_top(struct site_waker *wakers, size_t n);

struct site;

/* Adds the wakers of a site; the caller runs wakers_top() when all are added. */
void wakers_add(struct wakers *wakers, const struct site *site);

void wakers_free(struct wakers *wakers);

/* Kinds of throttling, as words, and the words before the name of what throttles. */
extern const struct cpu_budget_words {
	const char *own, *of;
} cpu_budget_words[CPU_BUDGETS];

/* Precedes these words in the target of a site where threads wait for a CPU while throttled. */
#define SITE_THROTTLED "throttled: "

/* The enum cpu_budget that throttles threads waiting for a CPU at a site (NULL: none); -1: none. */
int site_throttled_by(const struct site *site);

/* The target of a site where a task is frozen by its cgroup. */
#define SITE_FREEZER "its cgroup's freezer"

/* What a stopped task does, by its site (NULL: unknown): "stopped". */
const char *site_stopped_words(const struct site *site);

/* True if that task was frozen, not stopped. */
bool site_is_frozen(const struct site *site);

/* Precedes the holder in the target of a lock. */
#define SITE_HELD_BY " held by"

/* The target of the rest of a kind that is no state: its time is part of other waits' sites. */
#define SITE_WITHIN "within other waits and running"

/* The waits of a site that began at one place of the program, in the interval. */
struct site_user_stack {
	size_t stack; /* index into trace_frame.stacks: functions of the program */
	uint64_t ns; /* waited, waits in progress included */
	uint64_t count; /* waits that ended */
	pid_t waker; /* the process that ended them there, -1: unknown; 0: it is the waiter's own */
};

#define SITE_WAKERS 4
#define SITE_BUCKETS 32 /* by powers of two, of microseconds: [0] below 1, [1] below 2, ... */

/*
 * A site: what threads of one process waited on, in the interval. Texts are raw bytes, owned by the
 * trace that made them, and NULL if unknown.
 */
struct site {
	uint64_t id; /* the same from frame to frame; never 0 */
	pid_t tgid; /* below 0: of several exited processes */
	uint64_t start_ns; /* of the process, CLOCK_MONOTONIC: with tgid its identity */
	const char *comm; /* the process's name */
	enum wait_state state;
	enum wait_class class;
	/*
	 * The delay kind under which the kernel accounts it: WAIT_DWAIT for dwait, DELAY_RECLAIM
	 * and DELAY_COMPACT for what is no state of its own but part of others; -1: none.
	 */
	int kind;
	bool overlaps; /* its time is part of other sites and of running: not included in sums of
			* states */
	bool unattributed; /* the rest of `kind` without a site; only ns */
	int64_t unattributed_ns; /* of an unattributed line: time waited minus the sum of the sites,
				  * above 0 */
	bool unknown; /* the rest is unknown, as switches of the process were missed */
	const char *syscall; /* its name */
	const char *on; /* the target; for cpu the process that ran instead */
	uint64_t on_ns; /* when that, with its holder, was read (CLOCK_MONOTONIC); 0: unknown */
	const char *where; /* kernel function */
	size_t stack; /* index into trace_frame.stacks; 0: none */
	bool stacked; /* user stacks were requested; they cover the waits above the threshold */
	const struct site_user_stack *user_stacks; /* its own, then those of wakers */
	size_t nuser_stacks, nwaker_stacks;
	uint64_t count; /* waits that ended in the interval */
	uint64_t ns; /* waited in the interval, waits in progress included */
	uint64_t kind_ns; /* the part of it that counts for `kind`: for cpu as the kernel accounted
			   * it */
	uint64_t max_ns; /* the longest wait since tracing began, or the one in progress */
	uint64_t waiting_ns; /* time that the longest wait in progress has lasted; 0: none */
	unsigned waiting; /* threads waiting in it now */
	bool at_least; /* a wait in it was in progress when tracing began: it is longer */
	uint64_t log2_us[SITE_BUCKETS]; /* waits that ended in the interval, by length */
	struct site_waker wakers[SITE_WAKERS]; /* those that ended most waiting time; tgid 0 and
						  name NULL: the end of the list */
};

/* Orders sites: by time, most first, then by id. The order of a trace_frame's sites. */
int site_compare(const struct site *a, const struct site *b);

/* Adds the figures of a site, except the wakers, to a sum. */
void site_add(struct site *sum, const struct site *site);

/* Turns a site's interval into the next one, if its waiters just wait on. */
void site_wait_on(struct site *site, uint64_t interval_ns);

/* The line of a process's time of a kind without a site. comm is not copied. */
struct site site_unattributed(pid_t tgid, uint64_t start_ns, const char *comm, unsigned kind,
			      int64_t unattributed_ns);

/*
 * A link of a chain: what one waker's threads did during a site's ended waits. A waker's links of a
 * site add up to the time of the waits that it ended, as far as known.
 */
struct site_link {
	uint64_t site; /* id of the site that was waited in */
	pid_t tgid; /* the waker */
	uint64_t to; /* id of the site that the waker waited in meanwhile; 0: none */
	enum wait_state state; /* its state meanwhile; WAIT_STATES: too long ago to be known */
	uint64_t ns; /* time of that */
	/*
	 * Waits in progress: it holds their target, and is in that state now. `ns` is their time.
	 */
	bool holds;
};

/*
 * Orders links: by site, holders last, then by waker; most time first. The order of a trace_frame's
 * links.
 */
int site_link_compare(const struct site_link *a, const struct site_link *b);

/* A kernel or user stack, stored once for all sites that have it: functions, innermost first. */
struct site_stack {
	const char *const *functions; /* "name+0x12", "?"; of a program "name (file.c:12)" */
	size_t n;
};

/* The trace of an interval. */
struct trace_frame {
	/* The sites of all processes that waited or wait, and an unattributed one for each kind. */
	const struct site *const *sites;
	size_t n;
	const struct site_link *links; /* from and to these sites */
	size_t nlinks;
	const struct site_stack *stacks; /* [0] is empty */
	size_t nstacks;
	uint64_t interval_ns; /* since the previous reading */
	bool stacked; /* user stacks of some process are taken */
	uint64_t lost; /* waits in the interval that found no room for a site */
	uint64_t switches; /* context switches in the interval */
	double cost; /* CPU time of the programs in the kernel in percent of the interval; < 0: not
			known */
};
