/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/site_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "view/column_parts.h"
#include "view/layout.h"
#include "view/stack_tree.h"

/* The bucket of all longer waits: 2 to the power of 30 us are 18 minutes. */
#define LAST_BUCKET (SITE_BUCKETS - 1)

/* States of waits for a slow machine, not for work. */
#define STALLING (1u << STATE_CPU | 1u << STATE_IO | 1u << STATE_DWAIT | 1u << STATE_LOCK)

/* States of idle tasks, though some of them do wait for another task. */
#define IDLE \
	(1u << STATE_POLL | 1u << STATE_TIMER | 1u << STATE_CHILD | 1u << STATE_STOP | \
	 1u << STATE_OTHER)

const struct sites_by_row sites_by_table[SITES_BYS] = {
	[SITES_BY_SITE] = { "site", "a line for each site" },
	[SITES_BY_STATE] = { "state", "a line for each state" },
	[SITES_BY_SYSCALL] = { "system call", "a line for each system call" },
	[SITES_BY_ON] = { "target", "a line for each target: file, socket, lock ..." },
	[SITES_BY_WHERE] = { "function", "a line for each function of the kernel" },
	[SITES_BY_PROCESS] = { "process", "a line for each process" },
};

/* A site and its line. */
struct site_key {
	uint64_t line;
	const struct site *site;
};

void site_owners_add(struct site_owners *owners, struct task_key process)
{
	GROW(owners->keys, owners->n, owners->cap);
	owners->keys[owners->n++] = process;
	owners->sorted = false;
}

/* Adds the process of a task's row: with the identity in its sites, if it has any. */
static void add_task(struct site_owners *owners, const struct row *row)
{
	const struct task *task = row->task;

	for (const struct traced *at = row->traced; at; at = at->more)
		site_owners_add(owners, (struct task_key){ at->tgid, at->start_ns });
	if (!row->traced)
		site_owners_add(owners, task->key.pid == task->tgid
						? task->key
						: (struct task_key){ task->tgid, 0 });
}

void site_owners_add_row(struct site_owners *owners, const struct row *row)
{
	if (!row->group)
		add_task(owners, row);
	for (size_t i = 0; row->group && i < row->group->own; i++)
		add_task(owners, row->group->members[i]);
}

void site_owners_clear(struct site_owners *owners)
{
	owners->n = 0;
	owners->all = false;
}

void site_owners_free(struct site_owners *owners)
{
	free(owners->keys);
	*owners = (struct site_owners){ 0 };
}

/* Compares processes by id. */
static int compare_owners(const void *a, const void *b)
{
	const struct task_key *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

bool site_owners_have(struct site_owners *owners, const struct site *site)
{
	size_t from;

	if (!owners->sorted && owners->n)
		qsort(owners->keys, owners->n, sizeof(*owners->keys), compare_owners);
	owners->sorted = true;
	LOWER_BOUND(from, owners->n, owners->keys[from].pid < site->tgid);
	/* A reused pid has several. */
	for (; from < owners->n && owners->keys[from].pid == site->tgid; from++) {
		uint64_t start = owners->keys[from].start_ns;

		if (!start || !site->start_ns || task_same_start(start, site->start_ns))
			return true;
	}
	return owners->all;
}

/* True if a site is added up by its kind only: it is in no sum of states. */
static bool is_apart(const struct site *site, enum sites_by by)
{
	return site->unattributed || (site->overlaps && by != SITES_BY_SITE);
}

/* True if a site is named by its kind, not by its state. */
static bool by_kind(const struct site *site)
{
	return site->kind >= 0 && (site->unattributed || site->overlaps);
}

/* True if a site is one of many too small for a line of their own. */
static bool is_small(const struct site *site, const struct trace_frame *trace,
		     const struct site_lines_query *query)
{
	return query->tidy && query->by == SITES_BY_SITE && site->state == STATE_CPU &&
	       !by_kind(site) && !site->unknown && site->ns < trace->interval_ns / 100;
}

/* The id of the line that a site belongs to. */
static uint64_t line_of(const struct site *site, const struct trace_frame *trace,
			const struct site_lines_query *query)
{
	uint64_t id = HASH_START;
	enum sites_by by = query->by;

	id = hash_bytes(id, &by, sizeof(by));
	if (is_small(site, trace, query))
		return hash_bytes(id, "small", sizeof("small"));
	if (is_apart(site, by)) {
		id = hash_bytes(id, &site->unattributed, sizeof(site->unattributed));
		id = hash_bytes(id, &site->kind, sizeof(site->kind));
		return id ? id : 1;
	}
	switch (by) {
	case SITES_BY_STATE:
		id = hash_bytes(id, &site->state, sizeof(site->state));
		break;
	case SITES_BY_SYSCALL:
		id = hash_text(id, site->syscall);
		break;
	case SITES_BY_ON:
		id = hash_text(id, site->on);
		break;
	case SITES_BY_WHERE:
		id = hash_text(id, site->where);
		break;
	case SITES_BY_PROCESS:
		id = hash_bytes(id, &site->tgid, sizeof(site->tgid));
		id = hash_bytes(id, &site->start_ns, sizeof(site->start_ns));
		break;
	default:
		return site->id;
	}
	return id ? id : 1;
}

/* The time of a site in ns. */
static int64_t time_of(const struct site *site)
{
	return site->unattributed ? site->unattributed_ns : (int64_t)site->ns;
}

int64_t site_line_ns(const struct site_line *line)
{
	return time_of(&line->sum);
}

/* Orders sites by line, most time first. */
static int compare_keys(const void *a, const void *b)
{
	const struct site_key *x = a, *y = b;
	int64_t i = time_of(x->site), j = time_of(y->site);

	if (x->line != y->line)
		return x->line > y->line ? 1 : -1;
	if (i != j)
		return i < j ? 1 : -1;
	return (x->site->id > y->site->id) - (x->site->id < y->site->id);
}

/* Orders lines: most time first, then those with waits in progress. */
static int compare_by_time(const void *a, const void *b)
{
	const struct site_line *x = a, *y = b;
	int64_t i = site_line_ns(x), j = site_line_ns(y);

	if (i != j)
		return i < j ? 1 : -1;
	if (x->sum.waiting_ns != y->sum.waiting_ns)
		return x->sum.waiting_ns < y->sum.waiting_ns ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Orders lines by time; the unattributed rest comes last. */
static int compare_lines(const void *a, const void *b)
{
	const struct site_line *x = a, *y = b;

	if (x->sum.unattributed != y->sum.unattributed)
		return x->sum.unattributed ? 1 : -1;
	return compare_by_time(a, b);
}

/* Keeps a text if it is equal. */
static const char *common(const char *a, const char *b)
{
	return text_compare(a, b) ? NULL : a;
}

/* Adds a site to a line's sum, which has its largest site already. */
static void add_site(struct site_line *line, const struct site *site)
{
	struct site *sum = &line->sum;

	line->one_state &= sum->state == site->state;
	if (sum->tgid != site->tgid || sum->start_ns != site->start_ns) {
		sum->tgid = 0;
		sum->start_ns = 0;
		sum->comm = common(sum->comm, site->comm);
	}
	sum->kind = sum->kind == site->kind ? sum->kind : -1;
	sum->syscall = common(sum->syscall, site->syscall);
	sum->on = common(sum->on, site->on);
	sum->where = common(sum->where, site->where);
	sum->stack = sum->stack ? sum->stack : site->stack;
	sum->unknown &= site->unknown;
	site_add(sum, site);
}

size_t site_lines_wakers(struct site_lines *sites, const struct site_line *line,
			 const struct site_waker **wakers)
{
	struct wakers *all = &sites->wakers;

	all->n = 0;
	for (size_t i = 0; i < line->n; i++)
		wakers_add(all, line->sites[i]);
	*wakers = all->all;
	return wakers_top(all->all, all->n);
}

/* Takes the most important wakers of all sites into a line's sum. */
static void sum_wakers(struct site_lines *sites, struct site_line *line)
{
	const struct site_waker *all;
	size_t n;

	if (line->n == 1)
		return;
	n = site_lines_wakers(sites, line, &all);
	memset(line->sum.wakers, 0, sizeof(line->sum.wakers));
	for (size_t i = 0; i < n && i < SITE_WAKERS; i++)
		line->sum.wakers[i] = all[i];
}

/* Makes room for so many sites. */
static void reserve_sites(struct site_lines *sites, size_t n)
{
	/* Sorting needs a valid address even for none. */
	if (sites->cap > n)
		return;
	sites->cap = n * 2 + 1;
	sites->lines = xreallocarray(sites->lines, sites->cap, sizeof(*sites->lines));
	sites->members = xreallocarray(sites->members, sites->cap, sizeof(*sites->members));
	sites->keys = xreallocarray(sites->keys, sites->cap, sizeof(*sites->keys));
}

/* True if the time of a site is lost. */
static bool is_lost(const struct site *site)
{
	return by_kind(site) || site->class == CLASS_CONTENDED || site->class == CLASS_LIMITED ||
	       (STALLING & 1u << site->state && site->class != CLASS_IDLE);
}

/* True if a site is of an idle task. */
static bool is_idle_site(const struct site *site)
{
	return !by_kind(site) && (!wait_is_lost(site->class, site->state) ||
				  (site->class == CLASS_UNKNOWN && IDLE & 1u << site->state));
}

/* Selects the sites of the processes. Returns their number. */
static size_t pick_sites(struct site_lines *sites, const struct trace_frame *trace,
			 const struct site_lines_query *query)
{
	struct site_owners *owners = query->owners;
	size_t n = 0;

	for (size_t i = 0; trace && i < trace->n; i++)
		if (site_owners_have(owners, trace->sites[i]) &&
		    (!query->no_idle || !is_idle_site(trace->sites[i])))
			sites->keys[n++] =
				(struct site_key){ line_of(trace->sites[i], trace, query),
						   trace->sites[i] };
	return n;
}

/* True if the selected sites are of several processes. */
static bool are_several(const struct site_lines *sites, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (sites->keys[i].site->tgid != sites->keys[0].site->tgid)
			return true;
	return false;
}

struct site_line site_line_one(const struct site *const *site)
{
	return (struct site_line){ .row = { .deltas = &no_deltas },
				   .id = (*site)->id,
				   .sum = **site,
				   .one_state = true,
				   .sites = site,
				   .n = 1 };
}

void site_lines_build(struct site_lines *sites, const struct trace_frame *trace,
		      const struct site_lines_query *query)
{
	struct site_line *line = NULL;
	size_t n;

	reserve_sites(sites, trace ? trace->n : 0);
	n = pick_sites(sites, trace, query);
	qsort(sites->keys, n, sizeof(*sites->keys), compare_keys);
	sites->n = 0;
	sites->all = (struct site_line){ .row = { .deltas = &no_deltas }, .sum.kind = -1 };
	sites->several = are_several(sites, n);
	for (size_t i = 0; i < n; i++) {
		const struct site_key *key = &sites->keys[i];

		sites->members[i] = key->site;
		if (!key->site->overlaps && !key->site->unattributed)
			sites->all.sum.ns += key->site->ns;
		if (line && line->id == key->line) {
			add_site(line, key->site);
			line->n++;
			line->others = is_small(key->site, trace, query);
			continue;
		}
		line = &sites->lines[sites->n++];
		*line = site_line_one(&sites->members[i]);
		line->id = key->line;
	}
	for (size_t i = 0; i < sites->n; i++)
		sum_wakers(sites, &sites->lines[i]);
	qsort(sites->lines, sites->n, sizeof(*sites->lines),
	      query->tidy ? compare_lines : compare_by_time);
}

const struct site_line *site_lines_find(const struct site_lines *sites, uint64_t id)
{
	for (size_t i = 0; i < sites->n; i++)
		if (sites->lines[i].id == id)
			return &sites->lines[i];
	return NULL;
}

bool site_line_stalls(const struct site_line *line)
{
	return by_kind(&line->sum) || (line->one_state && is_lost(&line->sum));
}

const char *site_line_state(const struct site_line *line)
{
	if (by_kind(&line->sum))
		return line->sum.kind == WAIT_DWAIT ? wait_state_table[STATE_DWAIT].id
						    : delay_table[line->sum.kind].id;
	return line->one_state ? wait_state_table[line->sum.state].id : NULL;
}

double site_bucket_from(unsigned bucket)
{
	return bucket ? (double)(UINT64_C(1) << (bucket - 1)) : 0;
}

double site_bucket_to(const struct site *site, unsigned bucket)
{
	double from = site_bucket_from(bucket), to = (double)(UINT64_C(1) << bucket);
	double max = (double)site->max_ns / (double)NSEC_PER_USEC;

	/* No wait is longer than the longest. */
	if (max > from && (max < to || bucket == LAST_BUCKET))
		return max;
	return to;
}

double site_percentile(const struct site *site, double share)
{
	uint64_t all = 0, below = 0;

	for (unsigned i = 0; i < SITE_BUCKETS; i++)
		all += site->log2_us[i];
	if (!all)
		return -1;
	for (unsigned i = 0; i < SITE_BUCKETS; i++) {
		double from = site_bucket_from(i), to = site_bucket_to(site, i);
		double into = share * (double)all - (double)below;

		below += site->log2_us[i];
		if (site->log2_us[i] && (double)below >= share * (double)all)
			return from +
			       (to - from) * (into > 0 ? into : 0) / (double)site->log2_us[i];
	}
	return (double)site->max_ns / (double)NSEC_PER_USEC;
}

void site_lines_free(struct site_lines *sites)
{
	free(sites->lines);
	free(sites->members);
	free(sites->keys);
	wakers_free(&sites->wakers);
	*sites = (struct site_lines){ 0 };
}

/* A time in ms. */
static struct value in_ms(double ns)
{
	return value_number(ns / (double)NSEC_PER_MSEC);
}

/* A line's time as a share of the interval, in percent: for several threads it may exceed 100. */
static struct value share_of_line(const struct view *view, const struct site_line *line)
{
	const struct trace_frame *trace = view->frame->info->trace;

	if (!trace || !trace->interval_ns || line->sum.unknown)
		return value_unset();
	return value_number((double)site_line_ns(line) * 100.0 / (double)trace->interval_ns);
}

/* The state, or the kind of delay. */
GETTER(get_site_state)
{
	return value_text(site_line_state(site_line_of(row)));
}

/* Time in the interval, in ms. */
GETTER(get_site_time)
{
	const struct site_line *line = site_line_of(row);

	return line->sum.unknown ? value_unset() : in_ms((double)site_line_ns(line));
}

/* The same as a share of the interval. */
GETTER(get_site_share)
{
	return share_of_line(view, site_line_of(row));
}

/* The lost share; unset for a line of waits for work. */
GETTER(get_site_lost)
{
	const struct site_line *line = site_line_of(row);

	return site_line_stalls(line) ? share_of_line(view, line) : value_unset();
}

/* Waits that ended. */
GETTER(get_site_count)
{
	const struct site *sum = &site_line_of(row)->sum;

	return sum->unattributed ? value_unset() : value_number((double)sum->count);
}

/* Average time of the ended waits, in ms. */
GETTER(get_site_avg)
{
	const struct site *sum = &site_line_of(row)->sum;

	if (!sum->count || sum->unattributed)
		return value_unset();
	return in_ms((double)sum->ns / (double)sum->count);
}

/* The longest wait, in ms. */
GETTER(get_site_max)
{
	const struct site *sum = &site_line_of(row)->sum;

	return sum->unattributed ? value_unset() : in_ms((double)sum->max_ns);
}

/* The longest wait in progress, in s. */
GETTER(get_site_waiting)
{
	const struct site *sum = &site_line_of(row)->sum;
	struct value value = value_number((double)sum->waiting_ns / (double)NSEC_PER_SEC);

	value.at_least = sum->at_least;
	return sum->waiting_ns ? value : value_unset();
}

/* The process; exited ones merged have none. */
GETTER(get_site_pid)
{
	pid_t tgid = site_line_of(row)->sum.tgid;

	return tgid > 0 ? value_number(tgid) : value_unset();
}

/* Its name. */
GETTER(get_site_comm)
{
	return value_text(site_line_of(row)->sum.comm);
}

/* The system call. */
GETTER(get_site_syscall)
{
	return value_text(site_line_of(row)->sum.syscall);
}

/* The class of the wait; unknown for the rest of a kind. */
GETTER(get_site_class)
{
	const struct site_line *line = site_line_of(row);

	return value_text(line->others || line->sum.unattributed ? NULL
								 : wait_class_ids[line->sum.class]);
}

/* The target; for the rest of a kind, and for many small ones, a description. */
GETTER(get_site_on)
{
	const struct site_line *line = site_line_of(row);

	if (line->others)
		return value_text("(others)");
	return value_text(line->sum.unattributed && !line->sum.on ? "(unattributed)"
								  : line->sum.on);
}

/* The kernel function. */
GETTER(get_site_where)
{
	return value_text(site_line_of(row)->sum.where);
}

/* The program's function. */
GETTER(get_site_at)
{
	const struct site_line *line = site_line_of(row);

	return value_text(stack_tree_own(view->frame->info->trace, line->sites, line->n, 0));
}

/* The waker of most of the time. */
GETTER(get_site_waker)
{
	return value_text(site_line_of(row)->sum.wakers[0].name);
}

/* Members shared by all of these columns. */
#define SITE .traced = true, .place = PLACE_MIDDLE

/* Time that is added up, and lost if the line's is. */
#define LOST .format = FORMAT_SHARE, .sum = SUM_ROW, .below = true, .stalls = get_site_lost
#define WAIT .unit = "(ms)", .width = 7, .least = 6, .format = FORMAT_WAIT

static const struct column columns_of_sites[] = {
	COLUMN("state", "STATE", get_site_state,
	       "the state in which it waited, or the kind of delay", .name = "state", TEXT(7),
	       .least = 5, SITE),
	COLUMN("class", "CLASS", get_site_class,
	       "class of the wait: served, contended, rationed or parked", .name = "class", TEXT(9),
	       SITE, .from = LAYOUT_WIDER, .yields = 1),
	COLUMN("time", "TIME", get_site_time, "time waited in the interval", .name = "time",
	       .unit = "(ms)", .width = 9, .least = 7, LOST, SITE, .sort_default = true),
	COLUMN("share", "SHARE", get_site_share, "time waited as a share of the interval",
	       .name = "share of time", .unit = "(%)", .width = 6, LOST, SITE, .yields = 11),
	COLUMN("count", "COUNT", get_site_count, "waits that ended in the interval",
	       .name = "count", COUNT(7), .least = 5, SITE, .yields = 7),
	COLUMN("avg", "AVG", get_site_avg, "time waited for each wait that ended",
	       .name = "average", WAIT, SITE, .yields = 4),
	COLUMN("max", "MAX", get_site_max,
	       "the longest wait since tracing began, or the one in progress", .name = "longest",
	       WAIT, SITE, .yields = 5),
	COLUMN("waiting", "WAITING", get_site_waiting,
	       "age of the longest wait in progress; >= if it began before tracing",
	       .name = "in progress", .unit = "(s)", .width = 8, .format = FORMAT_SHARE, SITE,
	       .yields = 2),
	COLUMN("pid", "PID", get_site_pid, "the process", .name = "process id", COUNT(7), SITE,
	       .of_process = true, .yields = 3),
	COLUMN("comm", "COMMAND", get_site_comm, "the name of the process", .name = "command name",
	       TEXT(15), .least = 8, SITE, .of_process = true, .yields = 10),
	COLUMN("syscall", "SYSCALL", get_site_syscall, "the system call in which it waited",
	       .name = "system call", TEXT(15), .least = 9, SITE, .yields = 9),
	COLUMN("on", "ON", get_site_on,
	       "what it waited on: a file, socket, lock ...; for cpu: the task that ran instead",
	       .name = "waiting on", TEXT(36), .least = 18, .path = true, SITE),
	COLUMN("where", "WHERE", get_site_where, "the kernel function in which it waited",
	       .name = "where in the kernel", TEXT(26), .least = 10, SITE, .yields = 6),
	COLUMN("at", "AT", get_site_at,
	       "the program's function in which most of it waited: of processes of --stacks, and "
	       "of the one that is open",
	       .name = "where in the program", TEXT(30), .least = 14, SITE, .stacked = true,
	       .from = LAYOUT_WIDER),
	COLUMN("waker", "WAKER", get_site_waker, "the waker of most of the wait time",
	       .name = "woken by", TEXT(15), .least = 13, SITE, .yields = 8),
};

const struct column_table site_columns = { columns_of_sites, ARRAY_SIZE(columns_of_sites) };
