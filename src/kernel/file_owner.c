/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/file_owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/proctask.h"

/*
 * Descriptors that are looked at between two renewals (1 to 2 us each), and of one process. A
 * search gets half of what is left, so that one in vain leaves some for those who find an owner
 * near by; NEAR at least. One that got WHOLE is not made again soon.
 */
#define LOOKS 8192
#define LOOKS_OF_ONE 1024
#define NEAR 64
#define WHOLE 1024

/* Files that are remembered, and after how many renewals one that was not found is tried again. */
#define KNOWN 256
#define VAIN_RENEWS 16

/* What is read of a descriptor's fdinfo. */
#define FDINFO_BYTES 512

/* Room for links: the paths of most locks. */
#define LINK_BYTES 256

/* A file that was asked for. */
struct known_file {
	char link[LINK_BYTES]; /* "": none */
	mode_t access;
	pid_t tid; /* who asked */
	pid_t pid; /* who has it; 0: not found */
	int fd;
	unsigned renewed; /* when that was looked for; 0: not yet, or it was put off */
};

struct file_owners {
	struct proc *proc;
	unsigned renewed;
	unsigned looks; /* left until the next renewal */
	unsigned listed; /* when the processes were listed */
	struct pidlist pids;
	struct known_file known[KNOWN];
	size_t next;
	uint64_t put_off;
};

struct file_owners *file_owners_open(struct proc *proc)
{
	struct file_owners *owners = xcalloc(1, sizeof(*owners));

	owners->proc = proc;
	file_owners_renew(owners);
	return owners;
}

void file_owners_renew(struct file_owners *owners)
{
	owners->renewed++;
	owners->looks = LOOKS;
}

/*
 * Whether a descriptor of /dev/fuse is the server's end of a connection, where the kernel writes
 * that (fuse_dev_show_fdinfo() of fs/fuse/dev.c).
 */
static bool is_server(struct span info, const char *connection)
{
	struct span rest, wanted = { connection, connection + strlen(connection) };
	uint64_t number, wanted_number;

	return find_line(info, "fuse_connection:", &rest) && take_uint(&rest, &number) &&
	       take_uint(&wanted, &wanted_number) && number == wanted_number;
}

/* Whether a descriptor has a lock of that sort: "lock:\t1: FLOCK  ADVISORY ...". */
static bool has_lock(struct span info, const char *sort)
{
	struct span line, word;
	size_t len = strcspn(sort, ":");

	while (take_line(&info, &line)) {
		if (!take_word(&line, "lock:\t") || !take_part(&line, ' ', &word))
			continue;
		if ((size_t)(line.end - line.at) > len && !memcmp(line.at, sort, len) &&
		    line.at[len] == ' ')
			return true;
	}
	return false;
}

/* A sort of file that its link does not tell: by the descriptor's fdinfo. */
struct special {
	const char *prefix; /* of the link that was asked for */
	const char *name; /* of the file; NULL: what follows the prefix */
};

static const struct special specials[] = {
	{ FILE_OWNER_FUSE, "/dev/fuse" },
	{ FILE_OWNER_FLOCK, NULL },
	{ FILE_OWNER_OFD, NULL },
};

/* The special sort of file that a link stands for, or NULL. */
static const struct special *special_of(const char *link)
{
	for (size_t i = 0; i < ARRAY_SIZE(specials); i++)
		if (!strncmp(link, specials[i].prefix, strlen(specials[i].prefix)))
			return &specials[i];
	return NULL;
}

/* Whether a descriptor of that name is the one that was asked for. */
static bool is_special(const struct file_owners *owners, const struct known_file *file,
		       const struct special *special, pid_t pid, int fd)
{
	char path[64], text[FDINFO_BYTES];
	struct span info;
	int len;

	snprintf(path, sizeof(path), "%d/fdinfo/%d", (int)pid, fd);
	len = proc_read(owners->proc, path, text, sizeof(text));
	info = (struct span){ text, text + (len > 0 ? len : 0) };
	return special->name ? is_server(info, file->link + strlen(special->prefix))
			     : has_lock(info, special->prefix);
}

/* Whether a process's descriptor is the file, opened for that. */
static bool is_file(struct file_owners *owners, const struct known_file *file, pid_t pid, int fd)
{
	const struct special *special = special_of(file->link);
	const char *name = !special	   ? file->link
			   : special->name ? special->name
					   : file->link + strlen(special->prefix);
	char path[64], link[LINK_BYTES];
	size_t wanted = strlen(name);
	mode_t mode;
	int len;

	snprintf(path, sizeof(path), "%d/fd/%d", (int)pid, fd);
	len = proc_readlink(owners->proc, path, link, sizeof(link));
	if (len < 0 || (size_t)len != wanted || memcmp(link, name, wanted) != 0)
		return false;
	if (special)
		return is_special(owners, file, special, pid, fd);
	/* The link's own mode says what it is open for (tid_fd_update_inode() of fs/proc/fd.c). */
	return !proc_mode(owners->proc, path, &mode) && (mode & file->access) == file->access;
}

/* Looks for the file among a process's descriptors. */
static bool search_process(struct file_owners *owners, struct known_file *file, pid_t pid)
{
	int fds[LOOKS_OF_ONE], n;
	char path[32];

	snprintf(path, sizeof(path), "%d/fd", (int)pid);
	owners->looks--;
	n = proc_numbers(owners->proc, path, fds, LOOKS_OF_ONE);
	for (int i = 0; i < n && owners->looks; i++) {
		owners->looks--;
		if (!is_file(owners, file, pid, fds[i]))
			continue;
		file->pid = pid;
		file->fd = fds[i];
		return true;
	}
	return false;
}

/* Lists the processes, once between two renewals. */
static void load_pids(struct file_owners *owners)
{
	if (owners->listed == owners->renewed)
		return;
	owners->listed = owners->renewed;
	if (pidlist_read(&owners->pids, owners->proc->fd))
		owners->pids.n = 0;
}

/* Looks through the processes, from the nearest id on. */
static void search_near(struct file_owners *owners, struct known_file *file, pid_t self)
{
	const struct pidlist *pids = &owners->pids;
	size_t above, below;

	load_pids(owners);
	LOWER_BOUND(below, pids->n, pids->pids[below] < self);
	above = below;
	while (owners->looks && (below || above < pids->n)) {
		bool up = above < pids->n &&
			  (!below || pids->pids[above] - self < self - pids->pids[below - 1]);
		pid_t pid = up ? pids->pids[above++] : pids->pids[--below];

		if (pid != self && search_process(owners, file, pid))
			return;
	}
}

/* Looks for the process that has the file, beginning with the asking process's parent. */
static void search_all(struct file_owners *owners, struct known_file *file)
{
	struct proctask_stat stat;
	pid_t self = 0;

	if (proctask_status(owners->proc, file->tid, 0, NULL, &self) ||
	    proctask_stat_part(owners->proc, self, 0, &stat))
		return;
	if (stat.ppid && search_process(owners, file, stat.ppid))
		return;
	search_near(owners, file, self);
}

/* How many descriptors the next search may look at. */
static unsigned share_of_looks(const struct file_owners *owners)
{
	unsigned share = owners->looks / 2;

	if (share < NEAR)
		share = owners->looks < NEAR ? owners->looks : NEAR;
	return share;
}

/* Looks for the process that has the file. A search is put off if others left too few looks. */
static void search(struct file_owners *owners, struct known_file *file)
{
	unsigned share = share_of_looks(owners), others = owners->looks - share;
	bool all_seen;

	file->pid = 0;
	file->renewed = owners->renewed;
	owners->looks = share;
	if (share)
		search_all(owners, file);
	all_seen = owners->looks;
	owners->looks += others;
	if (file->pid || all_seen || share >= WHOLE)
		return;
	file->renewed = 0;
	owners->put_off++;
}

/* The known facts about the file, or a place for them. */
static struct known_file *recall_file(struct file_owners *owners, const struct known_file *wanted)
{
	struct known_file *file;

	for (size_t i = 0; i < KNOWN; i++) {
		file = &owners->known[i];
		if (file->tid == wanted->tid && file->access == wanted->access &&
		    !strcmp(file->link, wanted->link))
			return file;
	}
	file = &owners->known[owners->next++ % KNOWN];
	*file = *wanted;
	return file;
}

pid_t file_owners_find(struct file_owners *owners, pid_t tid, const char *link, mode_t access)
{
	struct known_file wanted = { .access = access, .tid = tid }, *file;

	if (strlen(link) >= LINK_BYTES)
		return 0;
	strcpy(wanted.link, link);
	file = recall_file(owners, &wanted);
	if (file->pid && is_file(owners, file, file->pid, file->fd))
		return file->pid;
	if (file->pid || !file->renewed || owners->renewed - file->renewed >= VAIN_RENEWS)
		search(owners, file);
	return file->pid;
}

uint64_t file_owners_put_off(const struct file_owners *owners)
{
	return owners->put_off;
}

void file_owners_close(struct file_owners *owners)
{
	if (!owners)
		return;
	pidlist_free(&owners->pids);
	free(owners);
}
