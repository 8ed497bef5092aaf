/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/user_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "base/util.h"
#include "bpf/trace.h"
#include "kernel/proc.h"
#include "kernel/user_symbols.h"
#include "trace/site_names.h"

/* Maximum number of stacks. */
#define STACKS_MAX 65536

/* A stack seen this often again ends there: rules are added within that time. */
#define MET_MOST 10

/*
 * Texts for stacks without functions: of an exited process's unreadable code; and until they are
 * named.
 */
#define UNNAMED "[code that cannot be read]\n"
#define PENDING "[not followed yet]\n"

/* Attempts per question: the reading process may have died of it. */
#define TRIES_MOST 2

/* A stack that was seen. */
struct known_stack {
	uint64_t id;
	pid_t tgid;
	size_t index; /* among the stacks of sites; that of PENDING until it is named */
	uint64_t text; /* a hash of its functions: several stacks may have the same; 0: none yet */
	size_t lines; /* of that text */
	struct trace_user_stack *stack; /* owned; NULL: all of its names are known, or given up */
	bool asked, learnt;
	unsigned tries; /* unanswered questions about it */
	unsigned met; /* how often it was seen again after rules for it were added */
	pid_t tid; /* of a thread asleep since before: it is walked from these registers; else 0 */
	uint64_t sp, bp;
};

struct user_stacks {
	struct trace *trace; /* NULL: closed */
	struct site_names *names;
	struct user_symbols *symbols;
	struct map known; /* struct known_stack by id */
	size_t pending; /* the index of PENDING */
	bool busy; /* a stack was new, or was named */
};

struct user_stacks *user_stacks_open(struct proc *proc, struct trace *trace,
				     struct site_names *names, bool fetch)
{
	struct user_stacks *stacks = xcalloc(1, sizeof(*stacks));

	stacks->trace = trace;
	stacks->names = names;
	stacks->symbols = user_symbols_open(proc->fd, fetch);
	stacks->pending = site_names_add_stack(names, PENDING);
	stacks->known.size = sizeof(struct known_stack);
	return stacks;
}

/* Adds a stack. NULL: it is known, or there is no room. */
static struct known_stack *remember_stack(struct user_stacks *stacks, uint64_t id,
					  const struct trace_user_stack *stack)
{
	struct known_stack *known = map_find(&stacks->known, id);

	if (!stack->sure || stack->n > USER_FRAMES || stack->sure > stack->n + 1)
		return NULL;
	if (known && known->learnt && !known->stack && ++known->met == MET_MOST) {
		known->stack = xcalloc(1, sizeof(*stack));
		*known->stack = *stack;
		known->asked = false;
	}
	if (known || stacks->known.n == STACKS_MAX)
		return NULL;
	known = map_add(&stacks->known, id);
	known->tgid = stack->tgid;
	known->index = stacks->pending;
	known->stack = xcalloc(1, sizeof(*stack));
	*known->stack = *stack;
	stacks->busy = true;
	return known;
}

/* Adds a stack that the BPF program walked. */
static void meet_stack(void *arg, uint64_t id, const struct trace_user_stack *stack)
{
	remember_stack(arg, id, stack);
}

uint64_t user_stacks_of(struct user_stacks *stacks, const struct trace_waiter *waiter)
{
	const uint64_t of[] = { (uint64_t)waiter->pid, waiter->since_ns, waiter->ip, waiter->sp };
	const struct trace_user_stack stack = {
		.tgid = waiter->tgid, .n = 1, .sure = 1, .addresses = { waiter->ip }
	};
	struct known_stack *known;
	uint64_t id;

	if (waiter->user_stack || !waiter->ip)
		return waiter->user_stack;
	id = (hash_bytes(HASH_START, of, sizeof(of)) & ~TRACE_STACK_OF_WAKER) | 1;
	known = remember_stack(stacks, id, &stack);
	if (known) {
		known->tid = waiter->pid;
		known->sp = waiter->sp;
		known->bp = waiter->bp;
	}
	return id;
}

/* Asks for the functions of all stacks without any. */
static void ask(struct user_stacks *stacks)
{
	struct known_stack *known = NULL;

	while ((known = map_next(&stacks->known, known))) {
		struct user_question question;

		if (!known->stack || known->asked)
			continue;
		question = (struct user_question){ .id = known->id,
						   .tgid = known->stack->tgid,
						   .tid = known->tid,
						   .again = known->text || known->met == MET_MOST,
						   .sp = known->sp,
						   .bp = known->bp,
						   .n = known->stack->n,
						   .sure = known->stack->sure };
		memcpy(question.addresses, known->stack->addresses, sizeof(question.addresses));
		known->asked = user_symbols_ask(stacks->symbols, &question);
		if (!known->asked)
			return;
	}
}

/* Passes the rules in the answer to the BPF program. */
static void add_rules(struct user_stacks *stacks, const struct trace_user_stack *stack,
		      const struct user_answer *answer)
{
	struct trace_rule_key key = { .start_ns = stack->start_ns,
				      .tgid = stack->tgid,
				      .exec = stack->exec };

	for (uint32_t i = 0; i < stack->n && stacks->trace; i++) {
		if (!(answer->ruled >> i & 1))
			continue;
		key.ip = stack->addresses[i];
		trace_add_rule(stacks->trace, &key, &answer->rules[i]);
	}
}

/* Asks no more about a stack. */
static void drop_stack(struct known_stack *known)
{
	free(known->stack);
	known->stack = NULL;
}

/* The number of lines of a text. */
static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Names a stack: several may have the same functions. */
static void name_stack(struct user_stacks *stacks, struct known_stack *known, const char *text)
{
	struct known_stack *other = NULL;

	known->text = hash_text(HASH_START, text);
	known->lines = count_lines(text);
	known->index = 0;
	while (!known->index && (other = map_next(&stacks->known, other)))
		if (other->text == known->text)
			known->index = other->index;
	if (!known->index)
		known->index = site_names_add_stack(stacks->names, text);
}

/* Takes an answer. */
static void use_answer(struct user_stacks *stacks, const struct user_answer *answer)
{
	struct known_stack *known = map_find(&stacks->known, answer->id);

	if (!known || !known->stack)
		return;
	/* The addresses of a thread that was walked there are not ours. */
	if (!known->tid)
		add_rules(stacks, known->stack, answer);
	stacks->busy = true;
	if (!answer->last)
		return;
	known->learnt = answer->learnt;
	/* The stack of a thread that has gone on since is no better than the first one. */
	if (!known->learnt &&
	    (!known->text || (answer->named && count_lines(answer->text) == known->lines)))
		name_stack(stacks, known, answer->named ? answer->text : UNNAMED);
	if (!answer->more)
		drop_stack(known);
}

/* Asks again about named stacks: more files are here. */
static void ask_for_more(struct user_stacks *stacks)
{
	struct known_stack *known = NULL;

	while ((known = map_next(&stacks->known, known)))
		if (known->text)
			known->asked = false;
}

/* Asks unanswered questions again, up to a limit. */
static void give_up(struct user_stacks *stacks)
{
	struct known_stack *known = NULL;

	while ((known = map_next(&stacks->known, known))) {
		if (!known->stack || !known->asked || known->text)
			continue;
		known->asked = false;
		if (++known->tries == TRIES_MOST) {
			name_stack(stacks, known, UNNAMED);
			drop_stack(known);
		}
	}
}

bool user_stacks_learn(struct user_stacks *stacks)
{
	struct user_answer answer;

	stacks->busy = false;
	if (stacks->trace)
		trace_take_stacks(stacks->trace, meet_stack, stacks);
	if (user_symbols_came(stacks->symbols))
		ask_for_more(stacks);
	ask(stacks);
	while (user_symbols_take(stacks->symbols, &answer, 0))
		use_answer(stacks, &answer);
	if (user_symbols_lost(stacks->symbols))
		give_up(stacks);
	return stacks->busy;
}

/* Adds the interval of a stack to a site, unless it has no waits. */
static void settle_stack(struct traced_site *site, struct traced_stack *stack,
			 struct site_user_stack shown, size_t *n)
{
	uint64_t ns = stack->ns + stack->progress_ns;

	shown.ns = ns > stack->shown_ns ? ns - stack->shown_ns : 0;
	shown.count = stack->count - stack->shown_count;
	stack->shown_ns = ns;
	stack->shown_count = stack->count;
	if (!shown.ns && !shown.count)
		return;
	for (size_t i = 0; i < *n; i++)
		if (site->shown_stacks[i].stack == shown.stack &&
		    site->shown_stacks[i].waker == shown.waker) {
			site->shown_stacks[i].ns += shown.ns;
			site->shown_stacks[i].count += shown.count;
			return;
		}
	GROW(site->shown_stacks, *n, site->shown_stacks_cap);
	site->shown_stacks[(*n)++] = shown;
}

/* Orders stacks: own ones first, then most time first. */
static int compare_ns(const void *a, const void *b)
{
	const struct site_user_stack *x = a, *y = b;

	if (!x->waker != !y->waker)
		return x->waker ? 1 : -1;
	return (x->ns < y->ns) - (x->ns > y->ns);
}

void user_stacks_settle(const struct user_stacks *stacks, struct traced_site *site)
{
	size_t n = 0, wakers = 0;

	for (size_t i = 0; i < site->nstacks; i++) {
		uint64_t id = site->stacks[i].id;
		const struct known_stack *known =
			map_find(&stacks->known, id & ~TRACE_STACK_OF_WAKER);
		struct site_user_stack shown = { .stack = known ? known->index : stacks->pending };

		if (id & TRACE_STACK_OF_WAKER)
			shown.waker = known ? known->tgid : -1;
		settle_stack(site, &site->stacks[i], shown, &n);
	}
	if (n)
		qsort(site->shown_stacks, n, sizeof(*site->shown_stacks), compare_ns);
	while (wakers < n && site->shown_stacks[n - 1 - wakers].waker)
		wakers++;
	site->site.user_stacks = site->shown_stacks;
	site->site.nuser_stacks = n - wakers;
	site->site.nwaker_stacks = wakers;
}

void user_stacks_stop(struct user_stacks *stacks)
{
	if (stacks)
		stacks->trace = NULL;
}

void user_stacks_close(struct user_stacks *stacks)
{
	struct known_stack *known = NULL;

	if (!stacks)
		return;
	while ((known = map_next(&stacks->known, known)))
		free(known->stack);
	map_free(&stacks->known);
	user_symbols_close(stacks->symbols);
	free(stacks);
}
