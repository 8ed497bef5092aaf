/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "data/wait_state.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define ROW(NAME, id, text) [CLASS_##NAME] = (id),
const char *const wait_class_ids[WAIT_CLASSES] = { WAIT_CLASS_TABLE(ROW) };
#undef ROW

#define ROW(NAME, own, of) [BUDGET_##NAME] = { own, of },
const struct cpu_budget_words cpu_budget_words[CPU_BUDGETS] = { CPU_BUDGET_TABLE(ROW) };
#undef ROW

int site_throttled_by(const struct site *site)
{
	const size_t len = strlen(SITE_THROTTLED);

	if (!site || site->state != STATE_CPU || !site->on ||
	    strncmp(site->on, SITE_THROTTLED, len) != 0)
		return -1;
	for (int by = 0; by < CPU_BUDGETS; by++)
		if (!strcmp(site->on + len, cpu_budget_words[by].own))
			return by;
	return -1;
}

/* Functions that decide the class, whatever the state. */
#define IN(name, kind, ...) \
	{ \
		.function = name, .class = CLASS_##kind, ##__VA_ARGS__ \
	}
static const struct {
	const char *function;
	enum wait_class class;
	const char *words; /* why a task waits there; NULL: unknown */
	bool server; /* waits for a file system server */
	bool vfork; /* waits for a child to exec or exit */
	bool sends; /* waits for a peer to take sent data */
	bool path; /* applies only to files */
} functions[] = {
	/* fs/fuse/dev.c, net/sunrpc/sched.c, net/9p/client.c, fs/autofs/waitq.c */
	IN("request_wait_answer", REMOTE, .words = "no answer of the server in user space",
	   .server = true),
	IN("fuse_get_req", REMOTE, .words = "no answer of the server in user space",
	   .server = true),
	IN("rpc_wait_bit_killable", REMOTE, .words = "no answer of the server", .server = true),
	IN("p9_client_rpc", REMOTE, .words = "no answer of the server", .server = true),
	IN("autofs_wait", REMOTE, .words = "no answer of the automounter", .server = true),
	IN("jbd2_log_wait_commit", REMOTE, .words = "the journal"),
	/* kernel/fork.c: of fork's kind only vfork() waits. */
	IN("kernel_clone", REMOTE, .words = "until its child execs or exits", .vfork = true),
	/* A peer has to take sent data: net/core/stream.c, net/core/sock.c, net/unix. */
	IN("sk_stream_wait_memory", REMOTE, .sends = true),
	IN("sock_alloc_send_pskb", REMOTE, .sends = true),
	IN("unix_wait_for_peer", REMOTE, .sends = true),
	IN("__inet_stream_connect", REMOTE, .sends = true),
	/* fs/pipe.c; anon_ since 6.14. A slow reader of a pipe is normal. */
	IN("pipe_write", REMOTE),
	IN("anon_pipe_write", REMOTE),
	/* drivers/tty, ipc/ */
	IN("n_tty_write", REMOTE, .sends = true),
	IN("do_msgsnd", REMOTE, .sends = true),
	IN("do_mq_timedsend", REMOTE, .sends = true),
	/* mm/memcontrol.c: a task above memory.high is delayed. */
	IN("mem_cgroup_handle_over_high", LIMITED),
	IN("__mem_cgroup_handle_over_high", LIMITED),
	/* kernel/freezer.c, kernel/signal.c */
	IN("__refrigerator", LIMITED, .words = WAIT_FROZEN),
	IN("do_freezer_trap", LIMITED, .words = WAIT_FROZEN),
	IN("ptrace_stop", LIMITED, .words = "stopped in a debugger"),
	IN("do_signal_stop", LIMITED, .words = "stopped"),
	/* fs/super.c: writers take a lock that freezing holds; elsewhere it is any such lock. */
	IN("percpu_rwsem_wait", LIMITED, .words = "frozen", .path = true),
	IN("percpu_rwsem_wait", CONTENDED),
	/* kernel/locking; other functions of these are not shown as decisive. */
	IN("rwsem_down_read_slowpath", CONTENDED),
	IN("rwsem_down_write_slowpath", CONTENDED),
};
#undef IN

/* The place of a function in the table; the table's size: not in it. */
static size_t find_function(const char *where, bool on_path)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(functions) && (!where || strcmp(where, functions[i].function) != 0 ||
					     (functions[i].path && !on_path)))
		i++;
	return i;
}

/* Classes by state: with an unknown subject of the wait, and with a known one. */
#define BY(kind) (1 + CLASS_##kind)
static const struct {
	enum wait_class plain;
	unsigned char by[WAIT_ABOUTS]; /* 1 + the class; 0: as for the unknown */
} classes[WAIT_STATES] = {
	[STATE_CPU] = { CLASS_CONTENDED, { [WAIT_FOR_QUOTA] = BY(LIMITED) } },
	[STATE_IO] = { CLASS_REMOTE,
		       { [WAIT_FOR_IDLE_RING] = BY(IDLE), [WAIT_FOR_PEERS] = BY(IDLE) } },
	[STATE_DWAIT] = { CLASS_UNKNOWN, { 0 } },
	[STATE_LOCK] = { CLASS_CONTENDED, { 0 } },
	[STATE_PARK] = { CLASS_UNKNOWN, { [WAIT_FOR_TURN] = BY(CONTENDED) } },
	[STATE_NET] = { CLASS_UNKNOWN,
			{ [WAIT_FOR_REQUESTS] = BY(IDLE),
			  [WAIT_FOR_EVENTS] = BY(IDLE),
			  [WAIT_FOR_ANSWER] = BY(REMOTE) } },
	/* Writers to a full pipe wait in a function of the table above. */
	[STATE_PIPE] = { CLASS_IDLE, { 0 } },
	[STATE_POLL] = { CLASS_UNKNOWN,
			 { [WAIT_FOR_REQUESTS] = BY(IDLE),
			   [WAIT_FOR_EVENTS] = BY(IDLE),
			   [WAIT_FOR_IDLE_RING] = BY(IDLE),
			   [WAIT_FOR_ANSWER] = BY(REMOTE),
			   [WAIT_FOR_DISK_RING] = BY(REMOTE),
			   [WAIT_FOR_TURN] = BY(CONTENDED) } },
	[STATE_TIMER] = { CLASS_IDLE, { 0 } },
	[STATE_CHILD] = { CLASS_REMOTE, { 0 } },
	[STATE_STOP] = { CLASS_LIMITED, { 0 } },
	[STATE_OTHER] = { CLASS_UNKNOWN,
			  { [WAIT_FOR_EVENTS] = BY(IDLE), [WAIT_FOR_FILE] = BY(REMOTE) } },
};
#undef BY

enum wait_class wait_class_of(const struct wait_facts *facts)
{
	size_t i = find_function(facts->where, facts->on_path);

	if (facts->state >= WAIT_STATES)
		return CLASS_UNKNOWN;
	if (i < ARRAY_SIZE(functions))
		return functions[i].class;
	if (classes[facts->state].by[facts->about])
		return (enum wait_class)(classes[facts->state].by[facts->about] - 1);
	return classes[facts->state].plain;
}

bool wait_is_lost(enum wait_class class, enum wait_state state)
{
	return class != CLASS_IDLE &&
	       (class != CLASS_UNKNOWN || (state != STATE_PARK && state != STATE_POLL));
}

enum wait_class wait_class_of_state(enum wait_state state)
{
	return wait_class_of(&(struct wait_facts){ .state = state });
}

bool wait_for_server(const char *where)
{
	size_t i = find_function(where, false);

	return i < ARRAY_SIZE(functions) && functions[i].server;
}

const char *site_stopped_words(const struct site *site)
{
	const char *words = site ? wait_words(site->where, site->on) : NULL;

	/* A frozen task stays in the wait that it was frozen in (since 6.1). */
	if (site && (site->state != STATE_STOP || (site->on && !strcmp(site->on, SITE_FREEZER))))
		return WAIT_FROZEN;
	return words ? words : "stopped";
}

bool site_is_frozen(const struct site *site)
{
	return !strcmp(site_stopped_words(site), WAIT_FROZEN);
}

bool wait_for_taker(const char *where)
{
	size_t i = find_function(where, false);

	return i < ARRAY_SIZE(functions) && functions[i].sends;
}

bool wait_for_vforked(const char *where)
{
	size_t i = find_function(where, false);

	return i < ARRAY_SIZE(functions) && functions[i].vfork;
}

const char *wait_words(const char *where, const char *on)
{
	size_t i = find_function(where, on && *on == '/');

	return i < ARRAY_SIZE(functions) ? functions[i].words : NULL;
}

#define ROW(NAME, ident, bar, head, text) \
	[STATE_##NAME] = { .id = ident, .letter = bar, .heading = head, .help = text },
const struct wait_state_row wait_state_table[WAIT_STATES] = { WAIT_STATE_TABLE(ROW) };
#undef ROW

void wait_states_add(struct wait_states *sum, const struct wait_states *more)
{
	for (unsigned state = 0; state < WAIT_STATES; state++)
		sum->ns[state] += more->ns[state];
}

void wait_states_take(struct wait_states *now, const struct wait_states *before)
{
	uint64_t owed = 0, *most = &now->ns[0];

	for (unsigned state = 0; state < WAIT_STATES; state++) {
		uint64_t *ns = &now->ns[state], was = before->ns[state];

		owed += was > *ns ? was - *ns : 0;
		*ns = was > *ns ? 0 : *ns - was;
		if (*ns > *most)
			most = ns;
	}
	*most -= owed < *most ? owed : *most;
}

uint64_t wait_states_alive(const struct wait_states *states)
{
	uint64_t ns = 0;

	for (unsigned state = 0; state < WAIT_STATES; state++)
		ns += states->ns[state];
	return ns;
}

void traced_add(struct traced *sum, const struct traced *more, bool first)
{
	wait_states_add(&sum->states, &more->states);
	sum->lost_ns += more->lost_ns;
	sum->lost_known = more->lost_known && (first || sum->lost_known);
}

/* Orders wakers by identity. */
static int compare_who(const void *a, const void *b)
{
	const struct site_waker *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid > y->tgid ? 1 : -1;
	return text_compare(x->name, y->name);
}

/* Orders wakers by the time of the waits that they ended. */
static int compare_ended(const void *a, const void *b)
{
	const struct site_waker *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return compare_who(a, b);
}

int site_link_compare(const struct site_link *a, const struct site_link *b)
{
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->holds != b->holds)
		return a->holds ? 1 : -1;
	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->state > b->state) - (a->state < b->state);
}

size_t wakers_top(struct site_waker *wakers, size_t n)
{
	size_t kept = n != 0;

	if (n < 2)
		return n;
	qsort(wakers, n, sizeof(*wakers), compare_who);
	for (size_t i = 1; i < n; i++) {
		if (compare_who(&wakers[kept - 1], &wakers[i])) {
			wakers[kept++] = wakers[i];
			continue;
		}
		wakers[kept - 1].ns += wakers[i].ns;
		wakers[kept - 1].count += wakers[i].count;
	}
	qsort(wakers, kept, sizeof(*wakers), compare_ended);
	return kept;
}

void wakers_add(struct wakers *wakers, const struct site *site)
{
	RESERVE(wakers->all, wakers->n + SITE_WAKERS, wakers->cap);
	for (unsigned i = 0; i < SITE_WAKERS; i++)
		if (site->wakers[i].tgid || site->wakers[i].name)
			wakers->all[wakers->n++] = site->wakers[i];
}

void wakers_free(struct wakers *wakers)
{
	free(wakers->all);
	*wakers = (struct wakers){ 0 };
}

int site_compare(const struct site *a, const struct site *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

void site_add(struct site *sum, const struct site *site)
{
	sum->class = sum->class == site->class ? sum->class : CLASS_UNKNOWN;
	sum->unattributed_ns += site->unattributed_ns;
	sum->count += site->count;
	sum->ns += site->ns;
	sum->kind_ns += site->kind_ns;
	if (site->max_ns > sum->max_ns)
		sum->max_ns = site->max_ns;
	if (site->waiting_ns > sum->waiting_ns)
		sum->waiting_ns = site->waiting_ns;
	sum->waiting += site->waiting;
	sum->at_least |= site->at_least;
	for (unsigned i = 0; i < SITE_BUCKETS; i++)
		sum->log2_us[i] += site->log2_us[i];
}

void site_wait_on(struct site *site, uint64_t interval_ns)
{
	site->count = 0;
	site->ns = site->waiting * interval_ns;
	site->kind_ns = site->kind < 0 ? 0 : site->ns;
	site->waiting_ns += site->waiting_ns ? interval_ns : 0;
	if (site->max_ns < site->waiting_ns)
		site->max_ns = site->waiting_ns;
	memset(site->log2_us, 0, sizeof(site->log2_us));
	memset(site->wakers, 0, sizeof(site->wakers));
}

/* The state of threads in waits of a kind; other kinds: they may run, or sleep. */
static enum wait_state state_of_kind(unsigned kind)
{
	switch (kind) {
	case DELAY_CPU:
		return STATE_CPU;
	case DELAY_BLKIO:
		return STATE_IO;
	case WAIT_DWAIT:
		return STATE_DWAIT;
	default:
		return STATE_OTHER;
	}
}

struct site site_unattributed(pid_t tgid, uint64_t start_ns, const char *comm, unsigned kind,
			      int64_t unattributed_ns)
{
	return (struct site){
		/* Ids of sites are assigned in ascending order. */
		.id = UINT64_MAX - ((uint64_t)(uint32_t)tgid * WAIT_KINDS + kind),
		.tgid = tgid,
		.start_ns = start_ns,
		.comm = comm,
		.state = state_of_kind(kind),
		.kind = (int)kind,
		.unattributed = true,
		.overlaps = state_of_kind(kind) == STATE_OTHER,
		.on = state_of_kind(kind) == STATE_OTHER ? SITE_WITHIN : NULL,
		.unattributed_ns = unattributed_ns,
		.ns = unattributed_ns > 0 ? (uint64_t)unattributed_ns : 0,
	};
}
