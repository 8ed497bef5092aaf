/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/ancestry.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/util.h"
#include "kernel/proctask.h"

enum kin { KIN_UNKNOWN, KIN_NONE, KIN_OURS };

/* Facts about a process in this drain. */
struct known {
	uint64_t pid;
	enum kin kin;
};

struct ancestry {
	struct proc *proc;
	pid_t root;
	struct map known; /* struct known by pid */
	/* Processes of this drain's records, by pid. */
	struct link {
		pid_t pid, ppid;
	} * links;
	size_t nlinks;
};

struct ancestry *ancestry_new(struct proc *proc, pid_t root)
{
	struct ancestry *ancestry = xcalloc(1, sizeof(*ancestry));

	ancestry->proc = proc;
	ancestry->root = root;
	ancestry->known.size = sizeof(struct known);
	return ancestry;
}

/* Orders links by pid. */
static int compare_ancestry(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The parent of a process that exited in this drain or is alive; 0: not found. */
static pid_t read_parent(const struct ancestry *ancestry, pid_t pid)
{
	struct link wanted = { .pid = pid };
	const struct link *link = ancestry->nlinks
					  ? bsearch(&wanted, ancestry->links, ancestry->nlinks,
						    sizeof(wanted), compare_ancestry)
					  : NULL;
	struct proctask_stat stat;

	if (link)
		return link->ppid;
	return proctask_stat_part(ancestry->proc, pid, 0, &stat) ? 0 : stat.ppid;
}

/* True if the process is the root or descends from it. */
static enum kin kin_of(struct ancestry *ancestry, pid_t pid)
{
	enum kin kin = KIN_UNKNOWN;
	struct known *known;
	pid_t at = pid;

	if (pid <= 0)
		return KIN_NONE;
	for (unsigned i = 0; kin == KIN_UNKNOWN && i < PARENTS_MAX; i++) {
		known = map_find(&ancestry->known, (uint64_t)at);
		if (at == ancestry->root)
			kin = KIN_OURS;
		else if (at == 1 || at == 2 || proc_is_helper(ancestry->proc, at))
			kin = KIN_NONE;
		else if (known)
			return known->kin;
		else if (!(at = read_parent(ancestry, at)))
			break;
	}
	known = map_add(&ancestry->known, (uint64_t)pid);
	known->kin = kin;
	return kin;
}

bool ancestry_has(struct ancestry *ancestry, pid_t pid)
{
	return pid != ancestry->root && kin_of(ancestry, pid) == KIN_OURS;
}

/* Collects the parent links of the drain's processes. */
static void make_links(struct ancestry *ancestry, const struct exit_record *records, size_t n)
{
	ancestry->links = xreallocarray(ancestry->links, n + 1, sizeof(*ancestry->links));
	ancestry->nlinks = 0;
	/* Before version 12 any record may be a process's. Threads are never parents. */
	for (size_t i = 0; i < n; i++)
		if (records[i].last || !records[i].tgid)
			ancestry->links[ancestry->nlinks++] =
				(struct link){ records[i].tgid ? records[i].tgid : records[i].pid,
					       records[i].ppid };
	qsort(ancestry->links, ancestry->nlinks, sizeof(*ancestry->links), compare_ancestry);
}

/* Exchanges two records. */
static void exchange(struct exit_record *a, struct exit_record *b)
{
	struct exit_record record = *a;

	*a = *b;
	*b = record;
}

void ancestry_sort(struct ancestry *ancestry, struct exit_record *records, size_t n, size_t old,
		   size_t *ours, size_t *open)
{
	size_t front = 0, end = 0;

	/* Parents may have changed since. */
	map_free(&ancestry->known);
	make_links(ancestry, records, n);
	for (size_t i = 0; i < n; i++) {
		enum kin kin = kin_of(ancestry, records[i].ppid);

		if (kin == KIN_NONE || (kin == KIN_UNKNOWN && i < old))
			continue;
		/* Descendants come first, then undecided records, then the rest. */
		exchange(&records[i], &records[end]);
		if (kin == KIN_OURS)
			exchange(&records[end], &records[front++]);
		end++;
	}
	*ours = front;
	*open = end - front;
}

void ancestry_free(struct ancestry *ancestry)
{
	if (!ancestry)
		return;
	map_free(&ancestry->known);
	free(ancestry->links);
	free(ancestry);
}
