// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "proctask.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/* A stat line has 52 numbers, a status text begins with what is wanted of it. */
#define TEXT_BYTES 2048

/* A line a hierarchy: 12 of v1 and the unified one, with a path of up to 4096 each. */
#define CGROUP_BYTES 65536

#define CMDLINE_BYTES 4096

/* Opens a file of a task. The descriptor or -errno. */
static int open_file(int procfd, pid_t tgid, pid_t tid, const char *name)
{
	char path[64];
	int fd;

	if (tid)
		snprintf(path, sizeof(path), "%d/task/%d/%s", (int)tgid, (int)tid, name);
	else
		snprintf(path, sizeof(path), "%d/%s", (int)tgid, name);
	fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Reads a file of a task by one read(): the kernel writes these texts as a whole,
 * so that a second call could only say that there is no more. 0 or -errno.
 */
static int read_file(int procfd, pid_t tgid, pid_t tid, const char *name, char *text, size_t size,
		     size_t *len)
{
	int fd = open_file(procfd, tgid, tid, name);
	ssize_t got;
	int err = 0;

	if (fd < 0)
		return fd;
	do {
		got = read(fd, text, size);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		err = -errno;
	else
		*len = (size_t)got;
	close(fd);
	return err;
}

/* Where a field of stat goes, by its number in proc_pid_stat(5); NULL: not wanted. */
static uint64_t *stat_field(struct proctask_stat *out, unsigned field, uint64_t *ppid,
			    uint64_t *threads)
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
	case 42:
		return &out->blkio;
	default:
		return NULL;
	}
}

/* Takes the fields from the 4th to the 42nd, each behind one space. */
static bool parse_stat_fields(const char *at, const char *end, struct proctask_stat *out)
{
	uint64_t ppid = 0, threads = 0;

	for (unsigned field = 4; field <= 42; field++) {
		uint64_t *value = stat_field(out, field, &ppid, &threads);
		const char *first;

		if (at == end || *at++ != ' ')
			return false;
		first = at;
		if (value && !parse_uint(&at, end, value))
			return false;
		while (!value && at < end && *at != ' ' && *at != '\n')
			at++;
		/* At the very end a number may have been cut. */
		if (at == first || at == end)
			return false;
	}
	if (ppid > INT_MAX || threads > UINT_MAX || (*at != ' ' && *at != '\n'))
		return false;
	out->ppid = (pid_t)ppid;
	out->threads = (unsigned)threads;
	return true;
}

int proctask_stat_parse(const char *text, size_t len, struct proctask_stat *out)
{
	const char *end = text + len;
	const char *open = memchr(text, '(', len);
	/* The last one: the name may hold any byte, but nothing behind it holds a ')'. */
	const char *close = memrchr(text, ')', len);
	struct proctask_stat stat = {0};
	size_t name_len;

	/* Behind the name come a space, the state's letter, and a space or more. */
	if (!open || !close || close < open || end - close < 4 || close[1] != ' ')
		return -EBADMSG;
	if (close[2] < '!' || close[2] > '~')
		return -EBADMSG;
	stat.state = close[2];
	if (!parse_stat_fields(close + 3, end, &stat))
		return -EBADMSG;
	/* Raw, unlike in status, where the kernel writes newline and backslash as \n and \\. */
	name_len = (size_t)(close - open - 1);
	if (name_len > TASK_COMM_MAX)
		name_len = TASK_COMM_MAX;
	memcpy(stat.comm, open + 1, name_len);
	*out = stat;
	return 0;
}

int proctask_stat(int procfd, pid_t tgid, pid_t tid, struct proctask_stat *out)
{
	char text[TEXT_BYTES];
	size_t len;
	int err = read_file(procfd, tgid, tid, "stat", text, sizeof(text), &len);

	return err ? err : proctask_stat_parse(text, len, out);
}

int proctask_stat_open(int procfd, pid_t tgid, pid_t tid)
{
	return open_file(procfd, tgid, tid, "stat");
}

int proctask_stat_again(int fd, struct proctask_stat *out)
{
	char text[TEXT_BYTES];
	ssize_t got;

	do {
		got = pread(fd, text, sizeof(text), 0);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : proctask_stat_parse(text, (size_t)got, out);
}

int proctask_schedstat(int procfd, pid_t tgid, pid_t tid, struct proctask_schedstat *out)
{
	struct proctask_schedstat values;
	char text[TEXT_BYTES];
	const char *at = text, *end;
	size_t len;
	int err = read_file(procfd, tgid, tid, "schedstat", text, sizeof(text), &len);

	if (err)
		return err;
	end = text + len;
	if (!parse_uint(&at, end, &values.run) || at == end || *at++ != ' ' ||
	    !parse_uint(&at, end, &values.wait) || at == end || *at++ != ' ' ||
	    !parse_uint(&at, end, &values.slices) || at == end || *at != '\n')
		return -EBADMSG;
	*out = values;
	return 0;
}

/* Finds the line that begins with a key and takes the number behind it and blanks. */
static bool find_number(const char *text, size_t len, const char *key, uint64_t *value)
{
	const char *end = text + len;
	size_t key_len = strlen(key);

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		if ((size_t)(end - text) > key_len && memcmp(text, key, key_len) == 0) {
			text += key_len;
			while (text < end && (*text == ' ' || *text == '\t'))
				text++;
			/* At the very end the number may have been cut. */
			return parse_uint(&text, end, value) && text < end &&
			       (*text == '\n' || *text == '\t' || *text == ' ');
		}
		text = newline ? newline + 1 : end;
	}
	return false;
}

int proctask_io(int procfd, pid_t tgid, pid_t tid, struct proctask_io *out)
{
	struct proctask_io values;
	char text[TEXT_BYTES];
	size_t len;
	int err = read_file(procfd, tgid, tid, "io", text, sizeof(text), &len);

	if (err)
		return err;
	if (!find_number(text, len, "read_bytes:", &values.read) ||
	    !find_number(text, len, "write_bytes:", &values.written) ||
	    !find_number(text, len, "cancelled_write_bytes:", &values.cancelled))
		return -EBADMSG;
	*out = values;
	return 0;
}

int proctask_status(int procfd, pid_t tgid, pid_t tid, uid_t *uid, pid_t *group)
{
	uint64_t uid_value, group_value;
	char text[TEXT_BYTES];
	size_t len;
	int err = read_file(procfd, tgid, tid, "status", text, sizeof(text), &len);

	if (err)
		return err;
	/*
	 * No name can forge a line: the kernel writes a newline in it as \n. The list
	 * of groups and the masks, which may be cut, come behind these lines.
	 */
	if (!find_number(text, len, "Uid:", &uid_value) || uid_value > UINT32_MAX ||
	    !find_number(text, len, "Tgid:", &group_value) || group_value > INT_MAX)
		return -EBADMSG;
	if (uid)
		*uid = (uid_t)uid_value;
	if (group)
		*group = (pid_t)group_value;
	return 0;
}

int proctask_cmdline(int procfd, pid_t tgid, struct buf *out)
{
	char *text = buf_reserve(out, CMDLINE_BYTES);
	size_t len;
	int err = read_file(procfd, tgid, 0, "cmdline", text, CMDLINE_BYTES, &len);

	if (err)
		return err;
	/* Each argument ends by a NUL; programs that write a title there leave many. */
	while (len && text[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
	}
	out->len += len;
	return 0;
}

int proctask_wchan(int procfd, pid_t tgid, pid_t tid, struct buf *out)
{
	char text[128];
	size_t len;
	int err = read_file(procfd, tgid, tid, "wchan", text, sizeof(text), &len);

	if (!err && (len != 1 || *text != '0'))
		buf_add(out, text, len);
	return err;
}

int proctask_cgroup(int procfd, pid_t tgid, pid_t tid, struct buf *out)
{
	char *text = buf_reserve(out, CGROUP_BYTES);
	size_t len = 0;
	int err = read_file(procfd, tgid, tid, "cgroup", text, CGROUP_BYTES, &len);

	out->len += len;
	return err;
}
