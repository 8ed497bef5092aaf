// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/proctask.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/symbols.h"

/* A stat line has 52 numbers; the needed fields of a status text are at its beginning. */
#define TEXT_BYTES 2048

/* One line per hierarchy: 12 of v1 and the unified one, each with a path of up to 4096. */
#define CGROUP_BYTES 65536
#define CGROUP_USUAL 4096
#define WCHAN_BYTES 127

/* The longest command line, and the bytes per read. */
#define CMDLINE_MAX 65536
#define CMDLINE_BYTES 4096

/* The line below the head of a sched text has 67 dashes, and a name in its place 15 bytes. */
#define RULE_BYTES 32

/* Room for some 8,000 processes in one call; the 32 KiB of readdir(3) take eight calls. */
#define SCRATCH_BYTES (256 * 1024)

struct proctask_path proctask_path(pid_t tgid, pid_t tid, const char *name)
{
	struct proctask_path path;

	if (tid)
		snprintf(path.text, sizeof(path.text), "%d/task/%d/%s", (int)tgid, (int)tid, name);
	else
		snprintf(path.text, sizeof(path.text), "%d/%s", (int)tgid, name);
	return path;
}

/* Reads a file that takes no lock of the task. The number of bytes or -errno. */
static int read_free(const struct proc *proc, pid_t tgid, pid_t tid, const char *name, char *text,
		     size_t size)
{
	return file_read(proc->fd, proctask_path(tgid, tid, name).text, text, size);
}

/* Reads a file that takes a lock of the task. The number of bytes or -errno. */
static int read_locked(struct proc *proc, pid_t tgid, pid_t tid, const char *name, char *text,
		       size_t size)
{
	return proc_read(proc, proctask_path(tgid, tid, name).text, text, size);
}

bool proctask_prefetch(struct proc *proc, pid_t tgid, pid_t tid, enum proctask_file file)
{
	static const struct {
		const char *name;
		size_t size;
	} files[] = {
		[PROCTASK_STAT] = { "stat", TEXT_BYTES },
		[PROCTASK_IO] = { "io", TEXT_BYTES },
		[PROCTASK_CMDLINE] = { "cmdline", CMDLINE_BYTES },
		[PROCTASK_CGROUP] = { "cgroup", CGROUP_USUAL },
		[PROCTASK_WCHAN] = { "wchan", WCHAN_BYTES },
	};

	return proc_prefetch(proc, proctask_path(tgid, tid, files[file].name).text,
			     files[file].size);
}

/* Where to store a field of stat, by its number in proc_pid_stat(5); NULL: unwanted. */
static uint64_t *stat_field(struct proctask_stat *out, unsigned field, uint64_t *ppid,
			    uint64_t *threads, uint64_t *cpu)
{
	switch (field) {
	case 4:
		return ppid;
	case 14:
		return &out->utime;
	case 15:
		return &out->stime;
	case 16:
		return &out->cutime;
	case 17:
		return &out->cstime;
	case 20:
		return threads;
	case 22:
		return &out->start;
	case 39:
		return cpu;
	case 42:
		return &out->blkio;
	default:
		return NULL;
	}
}

/* Parses the fields from the 4th to the 42nd, each after one space. */
static bool parse_stat_fields(const char *at, const char *end, struct proctask_stat *out)
{
	uint64_t ppid = 0, threads = 0, cpu = 0;

	for (unsigned field = 4; field <= 42; field++) {
		uint64_t *value = stat_field(out, field, &ppid, &threads, &cpu);
		const char *first;

		if (at == end || *at++ != ' ')
			return false;
		first = at;
		if (value && !parse_uint(&at, end, value))
			return false;
		while (!value && at < end && *at != ' ' && *at != '\n')
			at++;
		/* A number at the very end may have been cut. */
		if (at == first || at == end)
			return false;
	}
	if (ppid > INT_MAX || threads > UINT_MAX || cpu > INT_MAX || (*at != ' ' && *at != '\n'))
		return false;
	out->ppid = (pid_t)ppid;
	out->threads = (unsigned)threads;
	out->cpu = (uint32_t)cpu;
	return true;
}

int proctask_stat_parse(const char *text, size_t len, struct proctask_stat *out)
{
	const char *end = text + len;
	const char *open = memchr(text, '(', len);
	/* The last ')': the name may hold any byte, but no ')' comes after it. */
	const char *close = memrchr(text, ')', len);
	struct proctask_stat stat = { 0 };
	size_t name_len;

	/* The name is followed by a space, the state's letter, and one or more spaces. */
	if (!open || !close || close < open || end - close < 4 || close[1] != ' ')
		return -EBADMSG;
	if (close[2] < '!' || close[2] > '~')
		return -EBADMSG;
	stat.state = close[2];
	if (!parse_stat_fields(close + 3, end, &stat))
		return -EBADMSG;
	/* Raw bytes; in status the kernel writes newline and backslash in names as \n and \\. */
	name_len = (size_t)(close - open - 1);
	if (name_len > TASK_COMM_MAX)
		name_len = TASK_COMM_MAX;
	memcpy(stat.comm, open + 1, name_len);
	*out = stat;
	return 0;
}

int proctask_schedstat(struct proc *proc, pid_t tgid, pid_t tid, struct proctask_schedstat *out)
{
	struct proctask_schedstat values;
	char text[TEXT_BYTES];
	int len = read_free(proc, tgid, tid, "schedstat", text, sizeof(text));
	struct span rest;

	if (len < 0)
		return len;
	rest = (struct span){ text, text + len };
	if (!take_uint(&rest, &values.run) || !take_word(&rest, " ") ||
	    !take_uint(&rest, &values.wait) || !take_word(&rest, " ") ||
	    !take_uint(&rest, &values.slices) || !take_word(&rest, "\n"))
		return -EBADMSG;
	*out = values;
	return 0;
}

bool proctask_executes(struct proc *proc, pid_t tgid)
{
	char text[TEXT_BYTES];
	int len = read_free(proc, tgid, 0, "statm", text, sizeof(text));
	uint64_t size, resident, shared, program;
	struct span rest;

	if (len < 0)
		return false;
	rest = (struct span){ text, text + len };
	return take_uint(&rest, &size) && take_word(&rest, " ") && take_uint(&rest, &resident) &&
	       take_word(&rest, " ") && take_uint(&rest, &shared) && take_word(&rest, " ") &&
	       take_uint(&rest, &program) && size && !program;
}

/*
 * Parses the head of /proc/PID/sched: the name with all its bytes, the pid, and a line of dashes
 * longer than any name. False: no such head.
 */
static bool take_sched_head(struct span *text)
{
	struct span line;

	while (take_line(text, &line)) {
		size_t len = (size_t)(line.end - line.at);

		while (line.at < line.end && *line.at == '-')
			line.at++;
		if (len >= RULE_BYTES && line.at == line.end)
			return true;
	}
	return false;
}

int proctask_ran(struct proc *proc, pid_t tgid, pid_t tid, uint64_t *ns)
{
	char text[TEXT_BYTES];
	int len = tgid ? read_free(proc, tgid, tid, "sched", text, sizeof(text))
		       : file_read(proc->fd, "self/sched", text, sizeof(text));
	uint64_t ms, rest_ns;
	struct span all, rest;

	if (len < 0)
		return len;
	all = (struct span){ text, text + len };
	if (!take_sched_head(&all) || !find_line(all, "se.exec_start", &rest))
		return -EBADMSG;
	while (take_word(&rest, " ") || take_word(&rest, ":"))
		;
	/* Milliseconds, with six digits after the point. */
	if (!take_uint(&rest, &ms) || !take_word(&rest, ".") || !take_uint(&rest, &rest_ns))
		return -EBADMSG;
	*ns = ms * NSEC_PER_MSEC + rest_ns;
	return 0;
}

/* Finds the line that begins with a key and parses the number after the key and blanks. */
static bool find_number(struct span text, const char *key, uint64_t *value)
{
	struct span rest;

	if (!find_line(text, key, &rest))
		return false;
	while (take_word(&rest, " ") || take_word(&rest, "\t"))
		;
	return take_uint(&rest, value) &&
	       (rest.at == rest.end || *rest.at == '\t' || *rest.at == ' ');
}

int proctask_io(struct proc *proc, pid_t tgid, pid_t tid, struct task_io *out)
{
	struct task_io values;
	char text[TEXT_BYTES];
	int len = read_locked(proc, tgid, tid, "io", text, sizeof(text));
	struct span all;

	if (len < 0)
		return len;
	all = (struct span){ text, text + len };
	if (!find_number(all, "read_bytes:", &values.read) ||
	    !find_number(all, "write_bytes:", &values.written) ||
	    !find_number(all, "cancelled_write_bytes:", &values.cancelled))
		return -EBADMSG;
	*out = values;
	return 0;
}

/* Reads from status what stat would have, as stat waits for a lock of a hung task. 0 or -errno. */
static int read_partial(const struct proc *proc, pid_t tgid, pid_t tid, struct proctask_stat *out)
{
	struct proctask_stat stat = { .partial = true };
	char text[TEXT_BYTES];
	int len = read_free(proc, tgid, tid, "status", text, sizeof(text));
	uint64_t ppid, threads;
	struct span all, state;

	if (len < 0)
		return len;
	all = (struct span){ text, text + len };
	if (!find_line(all, "State:", &state) || state.at == state.end ||
	    !find_number(all, "PPid:", &ppid) || ppid > INT_MAX ||
	    !find_number(all, "Threads:", &threads) || threads > UINT_MAX)
		return -EBADMSG;
	stat.state = *state.at;
	stat.ppid = (pid_t)ppid;
	stat.threads = (unsigned)threads;
	/* In status the name is escaped; here it is raw, followed by a newline. */
	len = read_free(proc, tgid, tid, "comm", stat.comm, sizeof(stat.comm));
	if (len < 0)
		return len;
	stat.comm[len ? len - 1 : 0] = '\0';
	*out = stat;
	return 0;
}

int proctask_stat(struct proc *proc, pid_t tgid, pid_t tid, struct proctask_stat *out)
{
	char text[TEXT_BYTES];
	int len = read_locked(proc, tgid, tid, "stat", text, sizeof(text));

	return len < 0 ? len : proctask_stat_parse(text, (size_t)len, out);
}

int proctask_stat_part(struct proc *proc, pid_t tgid, pid_t tid, struct proctask_stat *out)
{
	int err = proctask_stat(proc, tgid, tid, out);

	return proc_hung(err) ? read_partial(proc, tgid, tid, out) : err;
}

int proctask_status(struct proc *proc, pid_t tgid, pid_t tid, uid_t *uid, pid_t *group)
{
	uint64_t uid_value, group_value;
	char text[TEXT_BYTES];
	int len = read_free(proc, tgid, tid, "status", text, sizeof(text));
	struct span all;

	if (len < 0)
		return len;
	all = (struct span){ text, text + len };
	/*
	 * No name can forge a line: the kernel writes a newline in it as \n. The list
	 * of groups and the masks, which may be cut, come after these lines.
	 */
	if (!find_number(all, "Uid:", &uid_value) || uid_value > UINT32_MAX ||
	    !find_number(all, "Tgid:", &group_value) || group_value > INT_MAX)
		return -EBADMSG;
	if (uid)
		*uid = (uid_t)uid_value;
	if (group)
		*group = (pid_t)group_value;
	return 0;
}

int proctask_tracer(struct proc *proc, pid_t tgid, pid_t tid, pid_t *tracer)
{
	char text[TEXT_BYTES];
	int len = read_free(proc, tgid, tid, "status", text, sizeof(text));
	uint64_t value;

	if (len < 0)
		return len;
	if (!find_number((struct span){ text, text + len }, "TracerPid:", &value) ||
	    value > INT_MAX)
		return -EBADMSG;
	*tracer = (pid_t)value;
	return 0;
}

int proctask_cmdline(struct proc *proc, pid_t tgid, struct buf *out)
{
	struct proctask_path path = proctask_path(tgid, 0, "cmdline");
	char *text = buf_reserve(out, CMDLINE_BYTES);
	int len = read_locked(proc, tgid, 0, "cmdline", text, CMDLINE_BYTES), more = len;

	/* Most are short. */
	while (more > 0 && len % CMDLINE_BYTES == 0 && len < CMDLINE_MAX) {
		text = buf_reserve(out, (size_t)len + CMDLINE_BYTES);
		more = proc_read_at(proc, path.text, (uint64_t)len, text + len, CMDLINE_BYTES);
		len += more > 0 ? more : 0;
	}
	if (len < 0)
		return len;
	/* Each argument ends with a NUL; programs that write a title there leave many. */
	while (len && text[len - 1] == '\0')
		len--;
	for (int i = 0; i < len; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
	}
	out->len += (size_t)len;
	return 0;
}

int proctask_wchan(struct proc *proc, pid_t tgid, pid_t tid, struct buf *out)
{
	char text[WCHAN_BYTES + 1];
	int len = read_locked(proc, tgid, tid, "wchan", text, WCHAN_BYTES);

	if (len < 0)
		return len;
	text[len] = '\0';
	if (len && strcmp(text, "0") != 0)
		buf_add(out, text, symbol_length(text));
	return 0;
}

int proctask_cgroup(struct proc *proc, pid_t tgid, pid_t tid, struct buf *out)
{
	int len = read_locked(proc, tgid, tid, "cgroup", buf_reserve(out, CGROUP_USUAL),
			      CGROUP_USUAL);

	/* Few are longer: they are read again, as a whole. */
	if (len == CGROUP_USUAL)
		len = read_locked(proc, tgid, tid, "cgroup", buf_reserve(out, CGROUP_BYTES),
				  CGROUP_BYTES);
	if (len < 0)
		return len;
	out->len += (size_t)len;
	return 0;
}

/* Parses a name as a pid; 0 if it is none. */
static pid_t pid_of_name(const char *name)
{
	const char *end = name + strlen(name);
	uint64_t value;

	/* No sign, no leading zero: the kernel writes none, and 0 is no task. */
	if (name[0] == '0' || !parse_uint(&name, end, &value) || name != end || value > INT_MAX)
		return 0;
	return (pid_t)value;
}

/* Orders pids for qsort(). */
static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

void pidlist_sort(pid_t *pids, size_t n)
{
	if (n)
		qsort(pids, n, sizeof(*pids), compare_pids);
}

/* Removes duplicates from a sorted array. Returns how many pids are left. */
static size_t unite_pids(pid_t *pids, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || pids[i] != pids[kept - 1])
			pids[kept++] = pids[i];
	return kept;
}

/*
 * Sorts if the directory is unordered (/proc is ordered, other trees are not), and removes
 * duplicates: a thread that takes its leader's id at exec can be listed after it, too.
 */
static void sort_pids(struct pidlist *list)
{
	for (size_t i = 1; i < list->n; i++) {
		if (list->pids[i - 1] >= list->pids[i]) {
			pidlist_sort(list->pids, list->n);
			list->n = unite_pids(list->pids, list->n);
			return;
		}
	}
}

/*
 * Reads a directory from its current position to its end. Only a call without entries is the end: a
 * pending signal ends a call early (filldir64() of fs/readdir.c), so room left in the buffer means
 * nothing.
 */
static int read_entries(struct pidlist *list, int dirfd)
{
	list->n = 0;
	if (!list->scratch)
		list->scratch = xreallocarray(NULL, SCRATCH_BYTES, 1);
	for (;;) {
		long got = syscall(SYS_getdents64, dirfd, list->scratch, SCRATCH_BYTES);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			list->n = 0;
			return -errno;
		}
		if (!got)
			break;
		for (long at = 0; at < got;) {
			/* The kernel's linux_dirent64 is laid out alike, and aligned to 8 bytes. */
			struct dirent64 *entry = (struct dirent64 *)(void *)(list->scratch + at);
			pid_t pid = pid_of_name(entry->d_name);

			at += entry->d_reclen;
			if (!pid)
				continue;
			GROW(list->pids, list->n, list->cap);
			list->pids[list->n++] = pid;
		}
	}
	sort_pids(list);
	return 0;
}

int pidlist_read(struct pidlist *list, int dirfd)
{
	list->n = 0;
	if (lseek(dirfd, 0, SEEK_SET) < 0)
		return -errno;
	return read_entries(list, dirfd);
}

int pidlist_read_threads(struct pidlist *list, int procfd, pid_t tgid)
{
	char path[32];
	int dirfd, err;

	list->n = 0;
	snprintf(path, sizeof(path), "%d/task", (int)tgid);
	dirfd = file_open(procfd, path, O_DIRECTORY);
	if (dirfd < 0)
		return dirfd;
	err = read_entries(list, dirfd);
	close(dirfd);
	return err;
}

void pidlist_processes(struct proc *proc, pid_t *pids, size_t *n)
{
	pid_t group;

	for (size_t i = 0; i < *n; i++)
		if (!proctask_status(proc, pids[i], 0, NULL, &group))
			pids[i] = group;
	pidlist_sort(pids, *n);
	*n = unite_pids(pids, *n);
}

bool pidlist_has(const pid_t *pids, size_t n, pid_t pid)
{
	return n && bsearch(&pid, pids, n, sizeof(*pids), compare_pids);
}

void pidlist_free(struct pidlist *list)
{
	free(list->pids);
	free(list->scratch);
	*list = (struct pidlist){ 0 };
}

int proctask_clock_lag(struct proc *proc, unsigned cpu, int64_t *ns)
{
	cpu_set_t before, there;
	uint64_t clock = 0;
	int err;

	if (cpu >= CPU_SETSIZE)
		return -EOPNOTSUPP;
	if (sched_getaffinity(0, sizeof(before), &before))
		return -errno;
	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	if (sched_setaffinity(0, sizeof(there), &there))
		return -errno;
	err = proctask_ran(proc, 0, 0, &clock);
	*ns = (int64_t)(clock_ns(CLOCK_MONOTONIC) - clock);
	if (sched_setaffinity(0, sizeof(before), &before) && !err)
		err = -errno;
	return err;
}
