/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The patterns: the possible findings, and their words. */
#include "view/findings_parts.h"

#include <math.h>
#include <string.h>

#include "base/util.h"

/* Share of a site's time that a waker must have ended to be named: most of it. */
#define WAKER_LEAST 0.5

void finding_take_waker(struct finding *finding)
{
	const struct site *site = finding->site;
	const struct site_waker *waker = site ? &site->wakers[0] : NULL;

	if (waker && waker->tgid > 0 && waker->name &&
	    (double)waker->ns >= (double)site->ns * WAKER_LEAST)
		finding->culprit = (struct finding_culprit){ .kind = CULPRIT_ENDED,
							     .name = waker->name,
							     .pid = waker->tgid };
}

/* Sets a site as the place of a finding, if much of the time (in ns) was waited there. */
static void take_site(struct finding *finding, const struct site *site, double waited_ns)
{
	double share = waited_ns > 0 && site ? (double)site->ns * 100.0 / waited_ns : 0;

	finding->site = share < FINDING_SITE ? NULL : site;
	finding->place_share = share;
	if (finding->site && (site->syscall || site->on))
		finding->place = PLACE_PART;
}

/* Tasks in uninterruptible sleep. */
static bool find_hang(struct finder *finder, struct finding *finding)
{
	const struct top_row *hang = &finder->hang;
	bool io;

	if (!finding_take_most(finding, hang))
		return false;
	io = row_wait_state(hang->row) == STATE_IO;
	finding->kind = wait_kind_id(io ? DELAY_BLKIO : WAIT_DWAIT);
	finding->site = finding_site_now(finder, hang->row);
	finding->at_least = !hang->row->raw->now.exact;
	finding->place = PLACE_OF_WAIT;
	finding->how = io ? " for block I/O" : " in state D";
	return true;
}

/* The process with the longest wait for a server, by the trace. */
static void find_server_wait(const struct finder *finder, struct finding *finding)
{
	const struct trace_frame *trace = finder->info->trace;

	for (size_t i = 0; trace && !finder->info->threads && i < trace->n; i++) {
		const struct site *site = trace->sites[i];
		const struct row *row;

		/* Hung ones in state D. */
		if (site->waiting_ns < FINDING_HANG_NS || site->state == STATE_DWAIT ||
		    site->state == STATE_IO || !wait_for_server(site->where))
			continue;
		row = finding_row_of_site(finder, site);
		if (!row)
			continue;
		finding->n += site->waiting;
		if (site->waiting_ns <= finding->ns)
			continue;
		finding->ns = site->waiting_ns;
		finding->row = row;
		finding->site = site;
	}
}

/* Tasks blocked by a file system server, though not in state D. */
static bool find_server(struct finder *finder, struct finding *finding)
{
	const struct top_row *kept = &finder->kept;
	const struct task_waiting *waiting =
		kept->row ? row_waiting(finder->view.frame, kept->row) : NULL;

	find_server_wait(finder, finding);
	if (!finding->row && waiting &&
	    wait_for_server(waiting->where.len ? waiting->where.data : NULL)) {
		finding_take_most(finding, kept);
		finding->n = 1;
	}
	if (!finding->row)
		return false;
	finding->kind = wait_state_table[STATE_OTHER].id;
	finding->place = PLACE_OF_WAIT;
	return true;
}

/* The site of that id in the trace; NULL: none. */
static const struct site *site_of_id(const struct trace_frame *trace, uint64_t id)
{
	for (size_t i = 0; id && i < trace->n; i++)
		if (trace->sites[i]->id == id)
			return trace->sites[i];
	return NULL;
}

/* Finds the task that waits longest for a stopped one, by the trace, and that link; NULL: none. */
static const struct site_link *find_awaited_wait(const struct finder *finder,
						 struct finding *finding)
{
	const struct trace_frame *trace = finder->info->trace;
	const struct site_link *awaited = NULL;

	for (size_t i = 0; trace && !finder->info->threads && i < trace->nlinks; i++) {
		const struct site_link *link = &trace->links[i];
		const struct site *site;
		const struct row *row;

		if (!link->holds || link->state != STATE_STOP)
			continue;
		site = site_of_id(trace, link->site);
		/* An idle task waits for nobody; a pipe may have other writers. */
		if (!site || site->waiting_ns < FINDING_HANG_NS || site->state == STATE_STOP ||
		    site->class == CLASS_IDLE)
			continue;
		row = finding_row_of_site(finder, site);
		if (!row || (finder->query && !query_takes(finder->query, row)))
			continue;
		finding->n++;
		if (site->waiting_ns <= finding->ns)
			continue;
		finding->ns = site->waiting_ns;
		finding->row = row;
		finding->site = site;
		awaited = link;
	}
	return awaited;
}

/* Tasks that wait for a stopped or frozen one. */
static bool find_awaited(struct finder *finder, struct finding *finding)
{
	const struct site_link *link = find_awaited_wait(finder, finding);
	const struct top_row *most = &finder->awaiting;
	const struct task_waiting *waiting;
	const struct row *other;
	const struct site *held;

	finding->place = PLACE_OF_WAIT;
	if (link) {
		held = site_of_id(finder->info->trace, link->to);
		finding->at_least = finding->site->at_least;
		finding->kind = wait_state_table[finding->site->state].id;
		finding->culprit = (struct finding_culprit){ .kind = CULPRIT_AWAITED,
							     .name = held && held->comm ? held->comm
											: "process",
							     .pid = link->tgid };
		finding->how = site_stopped_words(held);
		return true;
	}
	if (!finding_take_most(finding, most))
		return false;
	other = frame_of_pid(finder->view.frame, row_hang_on(finder->view.frame, most->row));
	waiting = row_waiting(finder->view.frame, most->row);
	finding->at_least = true;
	finding->kind = waiting && waiting->state < WAIT_STATES
				? wait_state_table[waiting->state].id
				: NULL;
	finding_take_culprit(finding, CULPRIT_AWAITED, other);
	finding->how = row_state(other) == 'D' ? WAIT_FROZEN : "stopped";
	return true;
}

/* Tasks that are blocked in a call. */
static bool find_blocked_in_call(struct finder *finder, struct finding *finding)
{
	const struct top_row *kept = &finder->kept;
	const struct task_waiting *waiting;

	if (!finding_take_most(finding, kept))
		return false;
	waiting = row_waiting(finder->view.frame, kept->row);
	if (waiting && wait_for_server(waiting->where.len ? waiting->where.data : NULL))
		return false;
	if (waiting && waiting->state < WAIT_STATES)
		finding->kind = wait_state_table[waiting->state].id;
	finding->place = PLACE_OF_WAIT;
	return true;
}

/* Sets the largest writer as culprit, if known. */
static void take_writer(const struct finder *finder, struct finding *finding)
{
	const struct top_row *writes = &finder->writes;

	if (!finder->writes_known || !finding_worth_naming(finder, writes->row, finding->row))
		return;
	finding_take_culprit(finding, CULPRIT_WRITES_MOST, writes->row);
	finding->culprit.rate = writes->share;
}

/*
 * Finds the task that delays others: one that writes or reads much more than all others that wait
 * for the same. It is not the victim. NULL: none.
 */
static const struct row *heaviest_user(const struct most_io *io, struct top_row *most)
{
	if (!io->row || most->n < 2 || isinf(io->kb) || io->kb < WRITER_LEAST ||
	    io->kb < io->next_kb * WRITER_TIMES)
		return NULL;
	if (most->row == io->row) {
		most->row = most->second;
		most->share = most->second_share;
	}
	most->n--;
	return io->row;
}

/* True if a row's group has an I/O limit. */
static bool is_io_limited(const struct finder *finder, const struct row *row)
{
	const struct task_evidence *evidence = row_evidence(finder->view.frame, row);

	return evidence && evidence->io_limits;
}

/* Sets as culprit the task that it waits for on the same file, besides the disk. False: none. */
static bool take_file_rival(const struct finder *finder, struct finding *finding)
{
	const struct site *held = finding_site(finder, finding->row, STATE_DWAIT);
	const struct site_waker *waker = held ? &held->wakers[0] : NULL;
	double share;

	if (!waker || waker->tgid <= 0 || !waker->name || !finding->site || !held->on ||
	    !finding->site->on || strcmp(held->on, finding->site->on) != 0)
		return false;
	share = (double)waker->ns * 100.0 / (double)finder->info->trace->interval_ns;
	if (share < FINDING_RIVAL)
		return false;
	finding->culprit = (struct finding_culprit){
		.kind = CULPRIT_FILE, .name = waker->name, .pid = waker->tgid, .share = share
	};
	return true;
}

/* Sets the culprit of a wait for block I/O: a limit, another user of the file, or a writer. */
static void take_io_culprit(const struct finder *finder, struct finding *finding,
			    const struct row *writer)
{
	if (is_io_limited(finder, finding->row)) {
		finding->culprit.kind = CULPRIT_LIMIT;
	} else if (writer) {
		finding_take_culprit(finding, CULPRIT_WRITER, writer);
		finding->culprit.rate = finder->writer.kb / 1024;
	} else if (!take_file_rival(finder, finding)) {
		take_writer(finder, finding);
	}
}

/* Tasks that wait in a delay kind, or in state D. */
static bool find_sleep(struct finder *finder, struct finding *finding)
{
	unsigned kind = finder->pattern->arg;
	enum wait_state state = kind == DELAY_BLKIO ? STATE_IO : STATE_DWAIT;
	struct top_row *most = &finder->waits[kind];
	const struct row *writer =
		kind == DELAY_BLKIO && most->row ? heaviest_user(&finder->writer, most) : NULL;
	double waited;

	if (!finding_take_most(finding, most))
		return false;
	finding->kind = wait_kind_id(kind);
	finding->site = finding_site(finder, finding->row, state);
	waited = finding->row->traced ? (double)finding->row->traced->states.ns[state] : 0;
	if (finding->site)
		take_site(finding, finding->site, waited);
	else if (row_waiting(finder->view.frame, finding->row) &&
		 row_wait_state(finding->row) == state)
		finding->place = PLACE_NOW;
	if (state == STATE_DWAIT)
		finding_take_waker(finding);
	else
		take_io_culprit(finder, finding, writer);
	return true;
}

/* Tasks that lose time by memory, or by interrupts. */
static bool find_loss(struct finder *finder, struct finding *finding)
{
	unsigned kind = finder->pattern->arg;

	if (!finding_take_most(finding, &finder->waits[kind]))
		return false;
	finding->kind = wait_kind_id(kind);
	return true;
}

/* A figure of a shown group; 0: unknown. */
static double group_figure(const struct finder *finder, const struct column *column,
			   const struct row *row)
{
	struct view view = finder->view;
	struct value value;

	view.frame = finder->shown;
	value = column_get(column, &view, row);
	return value.type == VALUE_NUMBER ? value.number : 0;
}

/* Groups that wait for memory, and are at their memory limit. */
static bool find_limit(struct finder *finder, struct finding *finding)
{
	struct top_row most = { .n = 0 };

	for (size_t i = 0; i < finder->ngroups; i++) {
		const struct row *row = &finder->shown->rows[i];
		double share;

		if (!row->group || !row->group->figures ||
		    group_figure(finder, finder->columns->limited, row) <= 0)
			continue;
		share = group_figure(finder, finder->columns->mem, row);
		if (share >= MEMORY_LEAST)
			top_row_add(&most, row, share);
	}
	if (!finding_take_most(finding, &most))
		return false;
	finding->times = group_figure(finder, finder->columns->limited, most.row);
	finding->kind = "mem";
	finding->limit = LIMIT_MEMORY;
	return true;
}

/* Waits for a peer, of selected tasks: on a healthy machine many wait so. */
static bool find_peer(struct finder *finder, struct finding *finding)
{
	enum wait_state state = finder->pattern->arg;

	if (!finding_take_most(finding, &finder->in_states[state]))
		return false;
	finding->kind = wait_state_table[state].id;
	take_site(finding, finding_site(finder, finding->row, state),
		  (double)finding->row->traced->states.ns[state]);
	finding_take_waker(finding);
	return true;
}

/* True if an earlier site counts for the same process. */
static bool is_counted(const struct trace_frame *trace, size_t i)
{
	const struct site *site = trace->sites[i];

	for (size_t k = 0; k < i; k++) {
		const struct site *other = trace->sites[k];

		if (other->tgid == site->tgid && other->start_ns == site->start_ns &&
		    other->class == CLASS_CONTENDED && other->state != STATE_CPU)
			return true;
	}
	return false;
}

/* The site of a lock with most waits, of possible victims, all of which are counted; NULL: none. */
static const struct site *find_lock_wait(const struct finder *finder, struct top_row *most)
{
	const struct trace_frame *trace = finder->info->trace;
	const struct site *first = NULL;

	for (size_t i = 0; trace && trace->interval_ns && i < trace->n; i++) {
		const struct site *site = trace->sites[i];
		double share = (double)site->ns * 100.0 / (double)trace->interval_ns;
		const struct row *row;

		if (share < PEER_LEAST)
			break;
		if (site->class != CLASS_CONTENDED || site->state == STATE_CPU ||
		    is_counted(trace, i))
			continue;
		row = finding_row_of_site(finder, site);
		if (!row || (finder->query && !query_takes(finder->query, row)))
			continue;
		top_row_add(most, row, share);
		/* The first one has most. */
		if (!first)
			first = site;
	}
	return first;
}

/* Threads that wait for a lock now, as in the previous samples: if nothing is traced. */
static bool find_locked_now(struct finder *finder, struct finding *finding)
{
	if (!finding_take_most(finding, &finder->locked))
		return false;
	finding->kind = wait_state_table[STATE_LOCK].id;
	finding->place = PLACE_NOW;
	return true;
}

/* Threads that wait for a lock; if rows are threads, a site does not show which of them do. */
static bool find_lock(struct finder *finder, struct finding *finding)
{
	struct top_row most = { .n = 0 };
	const struct site *site;

	if (finder->info->threads)
		return find_peer(finder, finding);
	if (!finder->info->trace)
		return find_locked_now(finder, finding);
	site = find_lock_wait(finder, &most);
	if (!finding_take_most(finding, &most))
		return false;
	finding->kind = wait_state_table[site->state].id;
	take_site(finding, site, (double)site->ns);
	/* The target names the holder. */
	if (site->wakers[0].tgid != site->tgid && !(site->on && strstr(site->on, SITE_HELD_BY)))
		finding_take_waker(finding);
	return true;
}

/* The group whose memory limit counts for a row; NULL: unknown. */
static const char *memory_group(const struct finder *finder, const struct row *row)
{
	const struct task_evidence *evidence = row ? row_evidence(finder->view.frame, row) : NULL;

	return evidence ? evidence->memory_group.name : NULL;
}

/* Finds the task whose reads evict pages that others at its group's limit need. NULL: none. */
static const struct row *find_reader(const struct finder *finder, struct top_row *most)
{
	const struct row *reader = finder->reader.row;
	const char *own = memory_group(finder, reader);
	const char *other = memory_group(finder, most->row == reader ? most->second : most->row);

	return own && other && !strcmp(own, other) ? heaviest_user(&finder->reader, most) : NULL;
}

/* Tasks delayed by their group's memory limit: also in I/O, as it evicts pages. */
static bool find_limited(struct finder *finder, struct finding *finding)
{
	struct top_row *limited = &finder->limited;
	const struct row *reader = find_reader(finder, limited);
	const struct task_evidence *evidence;

	if (!finding_take_most(finding, limited))
		return false;
	evidence = row_evidence(finder->view.frame, limited->row);
	finding->kind = "mem";
	finding->limit = LIMIT_MEMORY;
	finding->limit_bytes = evidence->memory_limit;
	if (reader) {
		finding_take_culprit(finding, CULPRIT_READER, reader);
		finding->culprit.rate = finder->reader.kb / 1024;
	}
	return true;
}

/* How a task is stopped, in words; NULL: it is not. */
static const char *stop_words(const struct row *row, const struct task_stop *held)
{
	char state = row_state(row);

	if (state == 'T')
		return " is stopped";
	if (state == 't')
		return held && held->tracer ? " is stopped by debugger "
					    : " is stopped by a debugger";
	return held && held->frozen ? " is " WAIT_FROZEN : NULL;
}

static bool find_stopped_row(struct finder *finder, struct finding *finding)
{
	const struct frame *frame = finder->view.frame;
	const struct task_stop *held;

	if (!finder->info->selected_only)
		return false;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		if (!row->task || row->exited ||
		    (finder->query && !query_takes(finder->query, row)))
			continue;
		if (!stop_words(row, row_stop(frame, row)))
			continue;
		if (!finding->n++)
			finding->row = row;
	}
	if (!finding->n)
		return false;
	held = row_stop(frame, finding->row);
	finding->share = -1;
	finding->kind = wait_state_table[STATE_STOP].id;
	finding->how = stop_words(finding->row, held);
	if (row_state(finding->row) == 't' && held && held->tracer)
		finding->culprit = (struct finding_culprit){ .kind = CULPRIT_DEBUGGER,
							     .name = held->tracer_comm,
							     .pid = held->tracer };
	return true;
}

/* Unaccounted kinds: no task can be said to wait for these. */
static bool find_uncounted(struct finder *finder, struct finding *finding)
{
	finding->share = -1;
	if ((finder->info->head.delayacct != DELAYACCT_OFF || finder->info->head.measured) &&
	    finder->info->kinds & DELAY_BIT(DELAY_BLKIO))
		return false;
	/* A note explains that. */
	if (!finder->findings->n)
		finding_take_storm(finder, NULL);
	return true;
}

/* A number of the header as text. */
#define TEXT_OF(number) TEXT_OF_IT(number)
#define TEXT_OF_IT(number) #number

/* A kind of time lost by memory. */
#define MEMORY(id, kind, words, help, example, subject) \
	{ \
		id, FINDING_WARNING, find_loss, kind, "memory: %E " words "%O%U", \
			"a task spends " TEXT_OF(MEMORY_LEAST) " % of the time " help, example, \
			subject \
	}

/* A state in which a peer is waited for. */
#define PEER(id, state, help, example, subject) \
	{ \
		id, FINDING_INFO, find_peer, state, id ": %W%S%P%C", \
			"a process selected by -p waits " TEXT_OF( \
				PEER_LEAST) " % of the time for " help " (traced)", \
			example, subject \
	}

/* The patterns, in the order in which findings of equal weight are reported. */
/* clang-format off */
const struct finding_pattern finding_patterns[] = {
	{ "hang", FINDING_CRITICAL, find_hang, 0, "%n %k hung: %w, %D%P%F",
	  "tasks have been in uninterruptible sleep (state D) without a break for a second or more",
	  "1 task hung: cp 4711, 41 s in pwrite64 on /mnt/nc/x (frozen)",
	  REMEDY_BLOCKED },
	{ "file-server", FINDING_CRITICAL, find_server, 0,
	  "file server not responding: %w waits %D%P%O",
	  "tasks have waited a second or more, interruptibly, for a file system's server; seen "
	  "while waits are traced or system calls are read (the preset hangs)",
	  "file server not responding: ls 812 waits 9.0 s in openat on /mnt/fuse/x",
	  REMEDY_KEPT },
	{ "stopped-peer", FINDING_CRITICAL, find_awaited, 0, "%w waits %D for %c, which is %h;%P%O",
	  "a task has waited a second or more for one that is stopped by a signal or a debugger, or "
	  "frozen by its cgroup: its peer, the holder of a lock, or its child",
	  "frontend 40 waits 12 s for backend 41, which is stopped; in recvfrom on tcp 10.0.0.7:80",
	  REMEDY_STATE },
	{ "throttled-idle", FINDING_WARNING, finding_throttled, 1, "cpu: %w throttled %p by %Q%O%I",
	  "a quota throttles a cgroup, or a task by its cgroup's quota or real-time budget or its own "
	  "deadline budget (SCHED_DEADLINE), " TEXT_OF(THROTTLED_LEAST) " % of the time while the CPUs "
	  "are " TEXT_OF(FINDING_IDLE) " % idle",
	  "cpu: shop 420 throttled 80 % of the time by its cgroup's quota of 0.2 CPUs, while CPUs "
	  "are 71 % idle",
	  REMEDY_QUOTA },
	{ "throttled", FINDING_WARNING, finding_throttled, 0, "cpu: %w throttled %p by %Q%O",
	  "the same, while the CPUs are less than " TEXT_OF(FINDING_IDLE) " % idle",
	  "cpu: shop 420 throttled 80 % of the time by its cgroup's quota of 0.2 CPUs",
	  REMEDY_QUOTA },
	{ "memory-limit", FINDING_WARNING, find_limit, 0, "memory: %W for memory, at its limit %x%O",
	  "a displayed cgroup waits " TEXT_OF(MEMORY_LEAST) " % of the time for memory and hit its "
	  "limit (mem-max)",
	  "memory: /index.service waits 40 % of the time for memory, at its limit 12 times",
	  REMEDY_MEMORY },
	{ "memory-limited", FINDING_WARNING, find_limited, 0, "memory: %W at its cgroup's limit of %m MiB%S%C",
	  "a task waits for I/O or memory, beyond the threshold of that finding, while its cgroup "
	  "uses " TEXT_OF(LIMIT_LEAST) " % of its memory limit",
	  "memory: search 521 waits 45 % of the time at its cgroup's limit of 40.0 MiB",
	  REMEDY_MEMORY },
	MEMORY("swapin", DELAY_SWAPIN, "waiting on swap-in", "waiting on swap-in",
	       "memory: search 521 spends 15 % of the time waiting on swap-in",
	       REMEDY_MEMORY),
	MEMORY("thrash", DELAY_THRASH, "re-reading just-evicted pages",
	       "re-reading pages that were evicted a short time ago",
	       "memory: search 521 spends 24 % of the time re-reading just-evicted pages",
	       REMEDY_MEMORY),
	MEMORY("reclaim", DELAY_RECLAIM, "reclaiming memory",
	       "in direct reclaim; overall memory use shows whether the machine or a cgroup is short",
	       "memory: indexer 6 spends 30 % of the time reclaiming memory, with 12 % of all "
	       "memory in use",
	       REMEDY_RECLAIM),
	MEMORY("compact", DELAY_COMPACT, "compacting memory", "compacting memory",
	       "memory: qemu 99 spends 8 % of the time compacting memory",
	       REMEDY_COMPACT),
	{ "wpcopy", FINDING_WARNING, find_loss, DELAY_WPCOPY,
	  "memory: %E in copy-on-write, as after fork()%O%U",
	  "a task spends " TEXT_OF(WPCOPY_LEAST) " % of the time copying pages on write: after fork(), or "
	  "of a file that it maps privately",
	  "memory: redis-server 300 spends 17 % of the time in copy-on-write, as after fork()",
	  REMEDY_WPCOPY },
	{ "io", FINDING_WARNING, find_sleep, DELAY_BLKIO, "io: %W%S%P%C",
	  "a task waits " TEXT_OF(IO_LEAST) " % of the time for block I/O",
	  "io: mailserver 812 waits 51 % of the time, 80 % in fsync on /var/mail/q; bulk-export "
	  "813 writes 90 MB/s",
	  REMEDY_IO },
	{ "dwait", FINDING_WARNING, find_sleep, WAIT_DWAIT, "dwait: %W%S%P%C",
	  "a task spends " TEXT_OF(BLOCK_LEAST) " % of the time in state D without I/O wait",
	  "dwait: mailserver 812 waits 38 % of the time, in pwrite64 on /var/mail/q",
	  REMEDY_BLOCKED },
	{ "cpu-idle", FINDING_WARNING, finding_cpu, 1, "cpu: %W for a CPU%S%I%C",
	  "a task is runnable but off-CPU " TEXT_OF(CPU_LEAST) " % of the time, and "
	  TEXT_OF(CPU_WANTED) " % of its runnable time, while the CPUs are " TEXT_OF(FINDING_IDLE)
	  " % idle: something keeps it off them",
	  "cpu: report 77 waits 50 % of the time for a CPU, while CPUs are 48 % idle",
	  REMEDY_CPU },
	{ "cpu", FINDING_WARNING, finding_cpu, 0, "cpu: %W for a CPU%S%C",
	  "a task is runnable but off-CPU " TEXT_OF(CPU_LEAST) " % of the time, and "
	  TEXT_OF(CPU_WANTED) " % of its runnable time, while the CPUs are less than "
	  TEXT_OF(FINDING_IDLE) " % idle",
	  "cpu: postgres 9 waits 80 % of the time for a CPU; batch-hog 12 runs most, 95 %",
	  REMEDY_CPU },
	{ "irq", FINDING_WARNING, find_loss, DELAY_IRQ, "irq: %E delayed by interrupts%O",
	  "interrupts delay a task for " TEXT_OF(IRQ_LEAST) " % of the time",
	  "irq: nginx 8 spends 12 % of the time delayed by interrupts",
	  REMEDY_IRQ },
	{ "kept", FINDING_INFO, find_blocked_in_call, 0, "%n %k blocked: %w, %D%P",
	  "tasks have been blocked in a system call for a second or more. In the preset hangs, and "
	  "with -p, all of them; else those waiting for a lock of their own process, for a file "
	  "system's server, or in connecting or sending by a socket, a terminal or a queue",
	  "1 task blocked: orders 33, 8.0 s in flock on /srv/lock0",
	  REMEDY_KEPT },
	{ "held", FINDING_INFO, find_stopped_row, 0, "%w%h%C%O",
	  "a process selected by -p is stopped by a signal or a debugger, or frozen by its cgroup",
	  "app 1092 is frozen by its cgroup",
	  REMEDY_STATE },
	{ "lock", FINDING_WARNING, find_lock, STATE_LOCK, "lock: %W%P%C%O",
	  "threads of a process wait " TEXT_OF(PEER_LEAST) " % of the time, in sum, for a lock that is "
	  "held or passed around, such as Python's GIL (traced); or, without a trace, several wait "
	  "for a held one in each of three samples in a row",
	  "lock: orders 33 waits 61 % of the time, in futex held by invoices 34",
	  REMEDY_LOCK },
	PEER("net", STATE_NET, "a socket",
	     "net: webapp 40 waits 99 % of the time, in recvfrom on tcp 10.0.0.7:5432",
	     REMEDY_PEER),
	PEER("pipe", STATE_PIPE, "a pipe",
	     "pipe: gzip 12 waits 70 % of the time, mostly woken by tar 11",
	     REMEDY_PEER),
	PEER("child", STATE_CHILD, "a child",
	     "child: make 5 waits 98 % of the time, mostly woken by cc1 6", REMEDY_CHILD),
	{ "answer", FINDING_INFO, find_peer, STATE_POLL, "net: %W%S%P%C",
	  "a process selected by -p waits " TEXT_OF(PEER_LEAST) " % of the time for the only peer it "
	  "polls (traced)",
	  "net: client 21 waits 97 % of the time, in poll on unix of 20 server",
	  REMEDY_PEER },
	{ "uncounted", FINDING_INFO, find_uncounted, 0, "disk and memory waits are unknown%C",
	  "disk and memory waits are not measured, and delay accounting is off: no findings about "
	  "them",
	  "disk and memory waits are unknown",
	  REMEDY_UNCOUNTED },
};
/* clang-format on */
const size_t finding_patterns_n = ARRAY_SIZE(finding_patterns);

_Static_assert(ARRAY_SIZE(finding_patterns) <= FINDINGS_MAX, "room for one of each");
