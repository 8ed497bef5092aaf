/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/file_owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/proctask.h"

/* Maximum read: some 60 bytes per lock. */
#define LOCKS_BYTES (4 * 1024 * 1024)

/* A 32-bit program's, which 64-bit machines have no name for (include/uapi/asm-generic/fcntl.h). */
#define SETLKW64 14

struct file_locks {
	int procfd;
	bool loaded;
	struct buf text;
};

/* A line of /proc/locks. */
struct lock_line {
	uint64_t id; /* equal for a lock and its waiters */
	bool waits;
	enum file_lock sort;
	pid_t pid; /* -1: it belongs to a descriptor; 0: to a process outside this pid namespace */
	uint64_t ino;
};

enum file_lock file_lock_of(const struct procwait_syscall *call)
{
	if (call->number == SCMP_SYS(flock))
		return FILE_LOCK_FLOCK;
	if (call->number != SCMP_SYS(fcntl))
		return FILE_LOCK_NONE;
	switch ((int)call->args[1]) {
	case F_SETLKW:
	case SETLKW64:
		return FILE_LOCK_POSIX;
	case F_OFD_SETLKW:
		return FILE_LOCK_OFD;
	default:
		return FILE_LOCK_NONE;
	}
}

struct file_locks *file_locks_open(int procfd)
{
	struct file_locks *locks = xcalloc(1, sizeof(*locks));

	locks->procfd = procfd;
	return locks;
}

void file_locks_renew(struct file_locks *locks)
{
	locks->loaded = false;
}

/* Consumes the next word, after blanks. */
static bool take_lock_word(struct span *line, struct span *word)
{
	while (take_word(line, " "))
		continue;
	return take_part(line, ' ', word) && word->at < word->end;
}

/* Parses a kind of lock; others, such as leases, are FILE_LOCK_NONE. */
static enum file_lock sort_of(const struct span *word)
{
	if (is_text(word, "FLOCK"))
		return FILE_LOCK_FLOCK;
	if (is_text(word, "POSIX"))
		return FILE_LOCK_POSIX;
	return is_text(word, "OFDLCK") ? FILE_LOCK_OFD : FILE_LOCK_NONE;
}

/* Parses a line "12: -> FLOCK ADVISORY WRITE 4711 fe:00:123 0 EOF". False: another line. */
static bool read_lock_line(struct span line, struct lock_line *lock)
{
	struct span word, part;

	if (!take_uint(&line, &lock->id) || !take_word(&line, ":") || !take_lock_word(&line, &word))
		return false;
	lock->waits = is_text(&word, "->");
	if (lock->waits && !take_lock_word(&line, &word))
		return false;
	lock->sort = sort_of(&word);
	if (!take_lock_word(&line, &word) || !take_lock_word(&line, &word) ||
	    !take_lock_word(&line, &word))
		return false;
	lock->pid = (pid_t)strtol(word.at, NULL, 10);
	/* A lock whose file is gone has "<none>:0". */
	if (!take_lock_word(&line, &word) || !take_part(&word, ':', &part) ||
	    !take_part(&word, ':', &part))
		return false;
	return take_uint(&word, &lock->ino);
}

/* Reads all locks, unless already read. */
static void load(struct file_locks *locks)
{
	if (locks->loaded)
		return;
	locks->loaded = true;
	locks->text.len = 0;
	if (file_read_all(locks->procfd, "locks", &locks->text, LOCKS_BYTES))
		locks->text.len = 0;
}

/* True if a line is the process's wait. */
static bool is_wait_of(const struct lock_line *lock, pid_t tgid, enum file_lock sort, uint64_t ino)
{
	if (!lock->waits || lock->sort != sort || (ino && lock->ino != ino))
		return false;
	return sort == FILE_LOCK_OFD ? ino != 0 : lock->pid == tgid;
}

/* True if there is such a process. */
static bool has_process(struct file_locks *locks, pid_t pid)
{
	char path[16];

	snprintf(path, sizeof(path), "%d", (int)pid);
	return !faccessat(locks->procfd, path, F_OK, 0);
}

struct file_lock_wait file_locks_find(struct file_locks *locks, pid_t tgid, enum file_lock sort,
				      uint64_t ino)
{
	struct file_lock_wait found = { 0, 0 }, at = { 0, 0 };
	struct span text, line;
	struct lock_line lock;
	bool ours = false;

	load(locks);
	text = (struct span){ locks->text.data, locks->text.data + locks->text.len };
	/* The waiters for a lock follow it. */
	for (bool more = true; more;) {
		more = locks->text.len && take_line(&text, &line);
		if (more && !read_lock_line(line, &lock))
			continue;
		if (!more || !lock.waits) {
			if (ours)
				found = at;
			ours = false;
			at = (struct file_lock_wait){ more && lock.pid > 0 ? lock.pid : 0, 0 };
			continue;
		}
		at.waiters++;
		ours |= is_wait_of(&lock, tgid, sort, ino);
	}
	if (found.holder && (found.holder == tgid || !has_process(locks, found.holder)))
		found.holder = 0;
	return found;
}

void file_locks_close(struct file_locks *locks)
{
	buf_free(&locks->text);
	free(locks);
}

/*
 * Descriptors to scan per sample (1 to 2 us each) and per process. A search gets half of the
 * remainder, at least NEAR; one that got WHOLE is not repeated soon.
 */
#define LOOKS 8192
#define LOOKS_OF_ONE 1024
#define NEAR 64
#define WHOLE 1024

/* Files cached, and renewals after which one that was not found is searched again. */
#define KNOWN 256
#define VAIN_RENEWS 16

/* Bytes read of a descriptor's fdinfo. */
#define FDINFO_BYTES 512

/* Room for links: the paths of most locks. */
#define LINK_BYTES 256

/* A requested file. */
struct known_file {
	char link[LINK_BYTES]; /* "": none */
	mode_t access;
	pid_t tid; /* the requesting task */
	pid_t pid; /* its owner; 0: not found */
	int fd;
	unsigned renewed; /* when it was searched for; 0: not yet, or postponed */
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

/* True if a line of fdinfo has that number. */
static bool has_number(struct span info, const char *key, const char *number)
{
	struct span rest, text = { number, number + strlen(number) };
	uint64_t value, wanted;

	return find_line(info, key, &rest) && take_uint(&rest, &value) &&
	       take_uint(&text, &wanted) && value == wanted;
}

/* True if a descriptor has a lock of that kind: "lock:\t1: FLOCK ADVISORY ...". */
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

bool file_owner_is_master(const char *link)
{
	/* Mounted so on the machine, and in containers. */
	return !strcmp(link, "/dev/ptmx") || !strcmp(link, "/dev/pts/ptmx");
}

static bool is_fuse(const char *link)
{
	return !strcmp(link, "/dev/fuse");
}

/* A kind of file not identified by its link, but by the descriptor's fdinfo. */
struct special {
	const char *prefix; /* prefix of the requested link */
	bool (*is)(const char *link); /* the file; NULL: the path after the prefix, locked */
	const char *key; /* name of the fdinfo line with the number after the prefix */
};

static const struct special specials[] = {
	/* The server's end, if the kernel writes it (fs/fuse/dev.c:fuse_dev_show_fdinfo()). */
	{ FILE_OWNER_FUSE, is_fuse, "fuse_connection:" },
	/* drivers/tty/tty_io.c:tty_show_fdinfo() */
	{ FILE_OWNER_PTY, file_owner_is_master, "tty-index:" },
	{ FILE_OWNER_FLOCK, NULL, NULL },
	{ FILE_OWNER_OFD, NULL, NULL },
};

/* The special kind of file that a link means, or NULL. */
static const struct special *special_of(const char *link)
{
	for (size_t i = 0; i < ARRAY_SIZE(specials); i++)
		if (!strncmp(link, specials[i].prefix, strlen(specials[i].prefix)))
			return &specials[i];
	return NULL;
}

/* True if a descriptor of that name is the requested one. */
static bool is_special(const struct file_owners *owners, const struct known_file *file,
		       const struct special *special, pid_t pid, int fd)
{
	char path[64], text[FDINFO_BYTES];
	struct span info;
	int len;

	snprintf(path, sizeof(path), "%d/fdinfo/%d", (int)pid, fd);
	len = proc_read(owners->proc, path, text, sizeof(text));
	info = (struct span){ text, text + (len > 0 ? len : 0) };
	return special->key ? has_number(info, special->key, file->link + strlen(special->prefix))
			    : has_lock(info, special->prefix);
}

/* True if a process's descriptor is the file, opened for that access. */
static bool is_file(struct file_owners *owners, const struct known_file *file, pid_t pid, int fd)
{
	const struct special *special = special_of(file->link);
	const char *name = special ? file->link + strlen(special->prefix) : file->link;
	char path[64], link[LINK_BYTES];
	struct stat info;
	int len;

	snprintf(path, sizeof(path), "%d/fd/%d", (int)pid, fd);
	len = proc_readlink(owners->proc, path, link, sizeof(link));
	if (len < 0 || (size_t)len >= sizeof(link))
		return false;
	link[len] = '\0';
	if (special && special->is ? !special->is(link) : strcmp(link, name) != 0)
		return false;
	if (special)
		return is_special(owners, file, special, pid, fd);
	/*
	 * The mode of the link itself is the access it is open for (tid_fd_update_inode() of
	 * fs/proc/fd.c).
	 */
	return !proc_lstat(owners->proc, path, &info) &&
	       (info.st_mode & file->access) == file->access;
}

/* Searches a process's descriptors for the file. */
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

/* Searches the processes, from the nearest id on. */
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

/* Searches for the process that has the file, beginning with the requesting process's parent. */
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

/* How many descriptors the next search may scan. */
static unsigned share_of_looks(const struct file_owners *owners)
{
	unsigned share = owners->looks / 2;

	if (share < NEAR)
		share = owners->looks < NEAR ? owners->looks : NEAR;
	return share;
}

/* Searches for the process that has the file. Postponed if others left too few descriptors. */
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

/* The cached entry of the file, or a new one. */
static struct known_file *prompt_history_file(struct file_owners *owners,
					      const struct known_file *wanted)
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
	file = prompt_history_file(owners, &wanted);
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
