/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/ancestry.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/proctask.h"
#include "base/util.h"

enum kin { KIN_UNKNOWN, KIN_NONE, KIN_OURS };

/* What is known of a process in this drain. */
struct known {
	pid_t pid;
	enum kin kin;
};

struct descent {
	int procfd;
	pid_t root;
	struct known *known; /* by pid, open addressing; pid 0: free */
	size_t n, cap;
	/* Processes of this drain's records, by pid. */
	struct link {
		pid_t pid, ppid;
	} *links;
	size_t nlinks;
};

struct descent *descent_new(int procfd, pid_t root)
{
	struct descent *descent = xcalloc(1, sizeof(*descent));

	descent->procfd = procfd;
	descent->root = root;
	return descent;
}

/* The place of a pid in the table: its own or the free one it would take. */
static struct known *find(const struct descent *descent, pid_t pid)
{
	size_t i = (size_t)pid * 2654435761U & (descent->cap - 1);

	while (descent->known[i].pid && descent->known[i].pid != pid)
		i = (i + 1) & (descent->cap - 1);
	return &descent->known[i];
}

/* Keeps what was found out. */
static void keep(struct descent *descent, pid_t pid, enum kin kin)
{
	struct known *place;

	if (2 * (descent->n + 1) > descent->cap) {
		struct known *old = descent->known;
		size_t cap = descent->cap;

		descent->cap = cap ? cap * 2 : 64;
		descent->known = xcalloc(descent->cap, sizeof(*descent->known));
		for (size_t i = 0; i < cap; i++)
			if (old[i].pid)
				*find(descent, old[i].pid) = old[i];
		free(old);
	}
	place = find(descent, pid);
	descent->n += !place->pid;
	*place = (struct known){ pid, kin };
}

void descent_forget(struct descent *descent)
{
	free(descent->known);
	descent->known = NULL;
	descent->n = descent->cap = 0;
}

/* Orders links by pid. */
static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The parent of a process that has ended in this drain or lives; 0: it is not to be found. */
static pid_t parent_of(const struct descent *descent, pid_t pid)
{
	struct link wanted = { .pid = pid };
	const struct link *link = descent->nlinks ?
		bsearch(&wanted, descent->links, descent->nlinks, sizeof(wanted),
			compare_links) : NULL;
	struct proctask_stat stat;

	if (link)
		return link->ppid;
	return proctask_stat(descent->procfd, pid, 0, &stat) ? 0 : stat.ppid;
}

/* Whether the process is the root or descends from it. */
static enum kin kin_of(struct descent *descent, pid_t pid)
{
	enum kin kin = KIN_UNKNOWN;
	pid_t at = pid;

	if (pid <= 0)
		return KIN_NONE;
	for (unsigned i = 0; kin == KIN_UNKNOWN && i < PARENTS_MAX; i++) {
		const struct known *known = descent->cap ? find(descent, at) : NULL;

		if (at == descent->root)
			kin = KIN_OURS;
		else if (at == 1 || at == 2)
			kin = KIN_NONE;
		else if (known && known->pid)
			return known->kin;
		else if (!(at = parent_of(descent, at)))
			break;
	}
	keep(descent, pid, kin);
	return kin;
}

bool descent_has(struct descent *descent, pid_t pid)
{
	return pid != descent->root && kin_of(descent, pid) == KIN_OURS;
}

/* Makes the links of the drain's processes. */
static void make_links(struct descent *descent, const struct exit_record *records, size_t n)
{
	descent->links = xreallocarray(descent->links, n + 1, sizeof(*descent->links));
	descent->nlinks = 0;
	/* Before version 12 any record may be a process's; nobody has a thread for a parent. */
	for (size_t i = 0; i < n; i++)
		if (records[i].last || !records[i].tgid)
			descent->links[descent->nlinks++] = (struct link){
				records[i].tgid ? records[i].tgid : records[i].pid, records[i].ppid
			};
	qsort(descent->links, descent->nlinks, sizeof(*descent->links), compare_links);
}

/* Exchanges two records. */
static void exchange(struct exit_record *a, struct exit_record *b)
{
	struct exit_record record = *a;

	*a = *b;
	*b = record;
}

void descent_sort(struct descent *descent, struct exit_record *records, size_t n, size_t old,
		  size_t *ours, size_t *open)
{
	size_t front = 0, end = 0;

	descent_forget(descent);
	make_links(descent, records, n);
	for (size_t i = 0; i < n; i++) {
		enum kin kin = kin_of(descent, records[i].ppid);

		if (kin == KIN_NONE || (kin == KIN_UNKNOWN && i < old))
			continue;
		/* Ours go before those left open, which go before the rest. */
		exchange(&records[i], &records[end]);
		if (kin == KIN_OURS)
			exchange(&records[end], &records[front++]);
		end++;
	}
	*ours = front;
	*open = end - front;
}

void descent_free(struct descent *descent)
{
	if (!descent)
		return;
	free(descent->known);
	free(descent->links);
	free(descent);
}
