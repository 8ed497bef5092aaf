/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/site_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>

#include "base/file.h"
#include "base/map.h"
#include "base/util.h"
#include "bpf/trace.h"
#include "kernel/proctask.h"
#include "kernel/procwait.h"
#include "kernel/symbols.h"
#include "kernel/syscall_target.h"
#include "kernel/syscalls.h"
#include "kernel/wait_target.h"
#include "trace/traced_sites.h"

/* Maximum depth of a stored stack. */
#define STACK_MAX 64

/* Bytes stored of a function's name. */

/*
 * Number of sites per reading whose descriptors are read; others have the names that came with
 * them.
 */
#define LOOKS_MAX 2000

/* Likewise for locks, whose holders are searched for as long as a thread waits. */
#define LOCKS_MAX 64

/* A stack of the kernel's map. */
struct stack_place {
	uint64_t key; /* 1 + its id there */
	size_t index; /* in stacks */
};

struct site_names {
	struct proc *proc;
	struct trace *trace; /* NULL: closed */
	struct wait_targets *targets;
	struct syscall_names *calls;
	struct symbols *symbols; /* NULL: hidden */
	unsigned looks, locks; /* in this reading */
	struct site_stack *stacks; /* [0] is empty */
	char **where; /* parallel: the function shown; NULL: none is telling */
	size_t n, cap;
	struct map places; /* struct stack_place */
	struct procwait_stack read; /* from /proc */
	struct buf scratch;
};

struct site_names *site_names_open(struct proc *proc, struct trace *trace)
{
	struct site_names *texts = xcalloc(1, sizeof(*texts));

	texts->proc = proc;
	texts->trace = trace;
	texts->targets = wait_targets_open(proc);
	texts->calls = syscall_names_open();
	texts->symbols = symbols_read(proc->fd);
	texts->places.size = sizeof(struct stack_place);
	texts->cap = 64;
	texts->n = 1;
	texts->stacks = xcalloc(texts->cap, sizeof(*texts->stacks));
	texts->where = xcalloc(texts->cap, sizeof(*texts->where));
	return texts;
}

void site_names_renew(struct site_names *texts)
{
	texts->looks = texts->locks = 0;
	wait_targets_renew(texts->targets);
}

void site_names_stop(struct site_names *texts)
{
	texts->trace = NULL;
}

/*
 * Appends the path in a record's name, within its mount: the name's components come from the last
 * one on. Returns false if the record has only the end of it.
 */
static bool site_names_path(const char *name, size_t len, struct buf *out)
{
	size_t end = 0, used = 0;

	/* The components' end: the first empty one, or the last with a NUL. */
	while (used < len && name[used]) {
		size_t part = strnlen(name + used, len - used);

		if (used + part == len)
			break;
		used += part + 1;
		end = used;
	}
	for (size_t at = end; at;) {
		size_t begin = --at;

		while (begin && name[begin - 1])
			begin--;
		buf_putc(out, '/');
		buf_add(out, name + begin, at - begin);
		at = begin;
	}
	return used < len;
}

/* Copies a text of a record, which may lack its NUL. */
static char *copy_bounded(const char *text, size_t len)
{
	char *copy = xcalloc(len + 1, 1);

	memcpy(copy, text, strnlen(text, len));
	return copy;
}

/* Appends a file by the name that came with its record. */
static void append_file(struct site_names *texts, const struct trace_site *record, struct buf *out)
{
	struct buf *path = &texts->scratch;

	path->len = 0;
	if (!*record->name)
		return;
	/* The root of a file system: also of a file without a name (a pidfd). */
	if (!strcmp(record->name, "/"))
		wait_target_path(texts->targets, record->key.tgid, record->key.dev, "/", out);
	else if (!site_names_path(record->name, sizeof(record->name), path))
		buf_printf(out, "...%s", buf_cstr(path));
	else if (wait_target_path(texts->targets, record->key.tgid, record->key.dev, buf_cstr(path),
				  out))
		buf_puts(out, buf_cstr(path));
}

/* Appends a socket by the addresses that came with its record. */
static void append_socket(const struct trace_site *record, struct buf *out)
{
	if (record->family == AF_INET || record->family == AF_INET6) {
		wait_target_inet(record->family, record->protocol, record->address, record->port,
				 record->peer, record->peer_port, out);
		return;
	}
	buf_puts(out, record->family == AF_UNIX ? "unix" : "socket");
	if (*record->name) {
		char *name = copy_bounded(record->name, sizeof(record->name));

		buf_putc(out, ' ');
		buf_puts(out, name);
		free(name);
	}
}

/* Appends the task that ran instead, or whose exit is waited for. */
static void append_process(const struct trace_site *record, struct buf *out)
{
	char *name = copy_bounded(record->name, sizeof(record->name));

	buf_printf(out, "%lld%s%s", (long long)record->key.ino, *name ? " " : "", name);
	free(name);
}

/* The longest-waiting thread of a site; NULL: none. */
static const struct trace_waiter *longest_waiter(const struct traced_site *site)
{
	return site->first.pid ? &site->first : NULL;
}

/*
 * True if more /proc files of a process may be read now: reading one inside a hung execve() would
 * hang the reader.
 */
static bool may_look(struct site_names *texts, pid_t tgid)
{
	if (texts->looks >= LOOKS_MAX)
		return false;
	texts->looks++;
	return !proctask_executes(texts->proc, tgid);
}

/* Appends a site's target by its descriptor, as long as that is the same file. */
static bool append_descriptor(struct site_names *texts, struct traced_site *site, struct buf *out)
{
	const struct trace_site *record = &site->now;
	pid_t tgid = record->key.tgid;
	size_t len = out->len;
	const struct trace_waiter *waiter = longest_waiter(site);

	if (record->fd < 0 || !may_look(texts, tgid))
		return false;
	if (!wait_target_fd(texts->targets, tgid, record->fd, record->key.dev, record->key.ino,
			    out)) {
		site->about = wait_target_about(texts->targets, tgid, record->fd);
		return true;
	}
	out->len = len;
	/* The main thread may have exited, or have descriptors of its own. */
	if (!waiter || waiter->pid == tgid)
		return false;
	if (!wait_target_fd(texts->targets, waiter->pid, record->fd, record->key.dev,
			    record->key.ino, out)) {
		site->about = wait_target_about(texts->targets, waiter->pid, record->fd);
		return true;
	}
	out->len = len;
	return false;
}

/*
 * The call in which a thread waits for a lock at a site now, from /proc; NULL: none does. The
 * thread is the one with the longest wait.
 */
static const struct trace_waiter *
find_locker(struct site_names *texts, const struct traced_site *site, struct procwait_syscall *call)
{
	const struct trace_waiter *waiter =
		site->now.key.state == STATE_LOCK ? longest_waiter(site) : NULL;

	if (!waiter || texts->locks >= LOCKS_MAX || !may_look(texts, waiter->tgid))
		return NULL;
	texts->locks++;
	if (procwait_syscall(texts->proc, waiter->tgid, waiter->pid, call) || call->running ||
	    call->number != site->now.key.syscall)
		return NULL;
	return waiter;
}

/* Appends a futex, with its holder if a thread waits for it now. */
static void append_futex(struct site_names *texts, struct traced_site *site, struct buf *out)
{
	struct procwait_syscall call;
	const struct trace_waiter *waiter = find_locker(texts, site, &call);
	pid_t owner = 0;

	if (waiter && call.args[0] == site->now.key.ino)
		owner = futex_owner(texts->proc, waiter->tgid, waiter->pid, &call);
	wait_target_futex(texts->targets, site->now.key.ino, owner, owner ? site->waiting : 0, out);
}

/* Appends the holder of a file's lock that a thread waits for now. */
static void append_holder(struct site_names *texts, struct traced_site *site, struct buf *out)
{
	struct procwait_syscall call;
	const struct trace_waiter *waiter = out->len ? find_locker(texts, site, &call) : NULL;

	if (waiter && (int)call.args[0] == site->now.fd)
		wait_target_holder(texts->targets, waiter->pid, site->now.fd, file_lock_of(&call),
				   out);
}

/* Appends the child of the longest-waiting thread. */
static void append_vforked(struct site_names *texts, struct traced_site *site, struct buf *out)
{
	const struct trace_waiter *waiter =
		wait_for_vforked(site->site.where) ? longest_waiter(site) : NULL;

	if (waiter && may_look(texts, site->now.key.tgid))
		wait_target_vforked(texts->targets, waiter->pid, out);
}

/* Appends the debugger of the longest-stopped thread. */
static void append_debugger(struct site_names *texts, struct traced_site *site, struct buf *out)
{
	const struct trace_waiter *waiter = longest_waiter(site);
	pid_t tracer;

	if (waiter && may_look(texts, site->now.key.tgid) &&
	    !proctask_tracer(texts->proc, waiter->tgid, waiter->pid, &tracer))
		wait_target_debugger(texts->targets, tracer, out);
}

/* Appends the target of a site; nothing if unknown. */
static void append_target(struct site_names *texts, struct traced_site *site, struct buf *out)
{
	const struct trace_site *record = &site->now;

	if (record->key.state == STATE_STOP) {
		if (record->key.target == TRACE_FROZEN)
			buf_puts(out, SITE_FREEZER);
		else
			append_debugger(texts, site, out);
		return;
	}
	switch (record->key.target) {
	case TRACE_FILE:
		if (!append_descriptor(texts, site, out))
			append_file(texts, record, out);
		append_holder(texts, site, out);
		if (record->key.state == STATE_PIPE && out->len &&
		    may_look(texts, record->key.tgid))
			wait_target_fifo(texts->targets, record->key.tgid, record->fd, out);
		break;
	case TRACE_SOCKET:
		if (!append_descriptor(texts, site, out))
			append_socket(record, out);
		break;
	case TRACE_FUTEX:
		append_futex(texts, site, out);
		break;
	case TRACE_CHILD:
		wait_target_child(texts->targets, (int32_t)record->key.ino, out);
		break;
	case TRACE_TASK:
		append_process(record, out);
		break;
	case TRACE_NOTHING:
		append_vforked(texts, site, out);
		break;
	case TRACE_POLLED:
		buf_printf(out, "%llu files", (unsigned long long)record->key.ino);
		break;
	case TRACE_THROTTLED:
		if (record->key.ino >= CPU_BUDGETS)
			break;
		buf_puts(out, SITE_THROTTLED);
		buf_puts(out, cpu_budget_words[record->key.ino].own);
		break;
	default:
		break;
	}
}

/* Makes room for one more stack. */
static void reserve_stack(struct site_names *texts)
{
	if (texts->n < texts->cap)
		return;
	texts->cap *= 2;
	texts->stacks = xreallocarray(texts->stacks, texts->cap, sizeof(*texts->stacks));
	texts->where = xreallocarray(texts->where, texts->cap, sizeof(*texts->where));
}

/*
 * The text of an address: "function+0x12", or "?": the kernel hides addresses. `name` is the
 * function or "".
 */
static char *name_address(const struct site_names *texts, uint64_t address, const char **name)
{
	uint64_t offset = 0;
	const char *function = texts->symbols ? symbol_at(texts->symbols, address, &offset) : NULL;
	char text[160];

	*name = function ? function : "";
	if (function)
		snprintf(text, sizeof(text), "%s+0x%llx", function, (unsigned long long)offset);
	else
		snprintf(text, sizeof(text), "?");
	return xstrdup(text);
}

/* Adds a stack; `telling`: the function shown. The stack takes ownership of the texts. */
static size_t add_stack(struct site_names *texts, const char **functions, size_t n,
			const char *telling)
{
	texts->where[texts->n] = telling ? strndup(telling, symbol_length(telling)) : NULL;
	texts->stacks[texts->n] = (struct site_stack){ .functions = functions, .n = n };
	return texts->n++;
}

size_t site_names_add_stack(struct site_names *texts, const char *functions)
{
	struct span text = { functions, functions + strlen(functions) }, line;
	const char **all = NULL;
	size_t n = 0, cap = 0;

	while (take_line(&text, &line)) {
		GROW(all, n, cap);
		all[n++] = copy_bounded(line.at, (size_t)(line.end - line.at));
	}
	reserve_stack(texts);
	return add_stack(texts, all, n, NULL);
}

/* True if a function is on a stack only because a tracepoint program took the stack. */
static bool is_of_tracing(const char *name)
{
	static const char *const own[] = { "bpf_prog_", "bpf_trace_run", "__bpf_trace_",
					   "__traceiter_" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (!strncmp(name, own[i], strlen(own[i])))
			return true;
	return false;
}

/* Drops the innermost functions of the tracing itself. Returns how many are left, at least one. */
static size_t drop_tracing(const char **functions, const char **names, size_t n)
{
	size_t first = 0;

	while (first + 1 < n && is_of_tracing(names[first]))
		free((char *)functions[first++]);
	memmove(functions, functions + first, (n - first) * sizeof(*functions));
	memmove(names, names + first, (n - first) * sizeof(*names));
	return n - first;
}

/* The index of the stack of that id; 0: it is gone. */
static size_t find_stack(struct site_names *texts, int32_t id)
{
	uint64_t addresses[STACK_MAX];
	const char *names[STACK_MAX], **functions;
	struct stack_place *place;
	size_t n, telling;

	if (id < 0 || !texts->symbols)
		return 0;
	place = map_find(&texts->places, (uint64_t)id + 1);
	if (place)
		return place->index;
	n = texts->trace ? trace_stack(texts->trace, id, addresses, STACK_MAX) : 0;
	if (!n)
		return 0;
	functions = xcalloc(n, sizeof(*functions));
	for (size_t i = 0; i < n; i++)
		functions[i] = name_address(texts, addresses[i], &names[i]);
	n = drop_tracing(functions, names, n);
	telling = symbols_telling(names, n);
	reserve_stack(texts);
	place = map_add(&texts->places, (uint64_t)id + 1);
	place->index = add_stack(texts, functions, n, telling < n ? names[telling] : NULL);
	return place->index;
}

/*
 * The stack of the thread that waits in a site, read now: for waits already in progress when
 * tracing began none was stored. 0: unknown.
 */
static size_t read_stack(struct site_names *texts, const struct traced_site *site)
{
	const struct procwait_stack *read = &texts->read;
	const struct trace_waiter *waiter = longest_waiter(site);
	const char **functions, *function;
	size_t telling;

	if (!waiter || !may_look(texts, waiter->tgid))
		return 0;
	if (procwait_stack(texts->proc, waiter->tgid, waiter->pid, &texts->read) || !read->n)
		return 0;
	reserve_stack(texts);
	functions = xcalloc(read->n, sizeof(*functions));
	for (size_t i = 0; i < read->n; i++)
		functions[i] = xstrdup(read->functions[i]);
	telling = symbols_telling(read->functions, read->n);
	function = telling < read->n ? read->functions[telling] : NULL;
	return add_stack(texts, functions, read->n, function);
}

/* True if the target can only be read from the task's memory: a path, or poll()'s descriptors. */
static bool is_in_memory(const struct trace_key *key)
{
	if (key->target != TRACE_NOTHING)
		return false;
	switch (syscall_classify(key->syscall).target) {
	case SYSCALL_PATH:
	case SYSCALL_PATH_AT:
	case SYSCALL_POLL:
	case SYSCALL_SELECT:
		return true;
	default:
		return false;
	}
}

/* The number of waits at a site, past and in progress. */
static uint64_t waits_of(const struct traced_site *site)
{
	return site->now.count + site->waiting;
}

/*
 * Appends the target of a site's only wait, read from /proc while it lasts; such calls share one
 * site.
 */
static void append_only(struct site_names *texts, struct traced_site *site, struct buf *on)
{
	const struct trace_waiter *waiter = longest_waiter(site);
	struct procwait_syscall call;

	if (!waiter || waits_of(site) != 1 || !is_in_memory(&site->now.key) ||
	    !may_look(texts, waiter->tgid))
		return;
	if (procwait_syscall(texts->proc, waiter->tgid, waiter->pid, &call) || call.running ||
	    call.number != site->now.key.syscall)
		return;
	site->about = syscall_target(texts->targets, texts->proc, waiter->pid, &call, on).about;
	site->of_one = on->len;
}

bool site_names_due(const struct traced_site *site)
{
	return !site->named || site->put_off || (site->of_one && waits_of(site) > 1) ||
	       (site->waiting &&
		(site->now.key.state == STATE_LOCK || wait_for_vforked(site->site.where)));
}

/* Names the target of a site. A known name stays if no more is known now. */
static void name_target(struct site_names *texts, struct traced_site *site)
{
	uint64_t put_off = wait_targets_put_off(texts->targets);
	struct buf on = { 0 };
	pid_t other;

	if (!site->named)
		site->about = site_purpose(&site->now);
	append_target(texts, site, &on);
	if (!on.len && !site->named)
		append_only(texts, site, &on);
	other = wait_targets_take_other(texts->targets);
	if (on.len || other)
		site->holder = other;
	site->put_off = wait_targets_put_off(texts->targets) != put_off;
	if (on.len) {
		free(site->on);
		site->on = xstrdup(buf_cstr(&on));
		site->site.on = site->on;
		site->site.on_ns = clock_ns(CLOCK_MONOTONIC);
	} else if (site->of_one && waits_of(site) > 1) {
		site->of_one = false;
		site->site.on = NULL;
		site->site.on_ns = 0;
		site->about = site_purpose(&site->now);
	}
	buf_free(&on);
}

/* Finds the call and the kernel function of a site. */
static void find_place(struct site_names *texts, struct traced_site *site)
{
	const struct trace_site *record = &site->now;
	int32_t stack = record->key.stack >= 0 ? record->key.stack : record->stack;
	const struct site_stack *at;

	site->site.syscall = syscall_name(texts->calls, record->key.syscall);
	site->site.stack = stack >= 0 ? find_stack(texts, stack) : read_stack(texts, site);
	site->site.where = site->site.stack ? texts->where[site->site.stack] : NULL;
	at = &texts->stacks[site->site.stack];
	if (record->key.syscall < 0 && symbols_fault(at->functions, at->n))
		site->site.syscall = PAGE_FAULT;
}

void site_names_name(struct site_names *texts, struct traced_site *site)
{
	if (!site->named)
		find_place(texts, site);
	name_target(texts, site);
	site->named = true;
	site_classify(site);
}

const struct site_stack *site_names_stacks(const struct site_names *texts, size_t *n)
{
	*n = texts->n;
	return texts->stacks;
}

bool site_names_hidden(const struct site_names *texts)
{
	return !texts->symbols;
}

void site_names_close(struct site_names *texts)
{
	for (size_t i = 1; i < texts->n; i++) {
		for (size_t f = 0; f < texts->stacks[i].n; f++)
			free((char *)texts->stacks[i].functions[f]);
		free((void *)texts->stacks[i].functions);
		free(texts->where[i]);
	}
	free(texts->stacks);
	free(texts->where);
	map_free(&texts->places);
	wait_targets_close(texts->targets);
	syscall_names_close(texts->calls);
	symbols_free(texts->symbols);
	procwait_stack_free(&texts->read);
	buf_free(&texts->scratch);
	free(texts);
}
