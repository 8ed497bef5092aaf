/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/passwd_files.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/mount_tables.h"
#include "kernel/proc.h"

/* Number of cached results, and their lifetime: the number of a namespace can be reused. */
#define SPACES_MAX 256
#define KEPT_NS (60 * NSEC_PER_SEC)

/* Maximum size read of a file. */
#define FILE_BYTES (64 * 1024)

/* Bytes of /proc/PID/status, to include the line NSpid. */
#define STATUS_BYTES 2048

/* A user in a mount namespace. */
struct seen_user {
	char name[MOUNT_SPACE_NAME];
	uid_t uid;
	uint64_t looked_ns;
	bool differs;
};

struct passwd_files {
	struct proc *proc;
	char own[MOUNT_SPACE_NAME]; /* the namespace of this program; "": unknown */
	struct seen_user spaces[SPACES_MAX];
	size_t count;
};

struct passwd_files *passwd_files_open(struct proc *proc)
{
	struct passwd_files *files = xcalloc(1, sizeof(*files));

	files->proc = proc;
	if (mount_space_name(proc->fd, "self", files->own))
		*files->own = '\0';
	return files;
}

/* True if a user has that name in a file's text: "name:x:1000:...". */
static bool is_called(struct span text, uid_t uid, const char *name)
{
	struct span line, found, part;
	uint64_t number;

	while (take_line(&text, &line))
		if (take_part(&line, ':', &found) && take_part(&line, ':', &part) &&
		    take_uint(&line, &number) && number == uid)
			return (size_t)(found.end - found.at) == strlen(name) &&
			       !memcmp(found.at, name, strlen(name));
	return false;
}

/* True if a process has a file of its own in which the user's name differs. */
static bool is_another(const struct passwd_files *files, pid_t tgid, uid_t uid, const char *name)
{
	struct stat theirs, ours;
	char path[64], *text;
	bool same;
	int len;

	snprintf(path, sizeof(path), "%d/root/etc/passwd", (int)tgid);
	if (proc_lstat(files->proc, path, &theirs) || lstat("/etc/passwd", &ours) ||
	    (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino))
		return false;
	text = xcalloc(1, FILE_BYTES);
	len = proc_read(files->proc, path, text, FILE_BYTES);
	same = len > 0 && is_called((struct span){ text, text + len }, uid, name);
	free(text);
	return !same;
}

/* True if a process has a pid in a namespace below that of /proc, too. */
static bool is_in_pid_namespace(const struct passwd_files *files, pid_t tgid)
{
	char path[64], text[STATUS_BYTES];
	struct span rest;
	uint64_t pid;
	int len;

	snprintf(path, sizeof(path), "%d/status", (int)tgid);
	len = file_read(files->proc->fd, path, text, sizeof(text));
	if (len < 0 || !find_line((struct span){ text, text + len }, "NSpid:", &rest) ||
	    !take_uint(&rest, &pid))
		return false;
	return take_word(&rest, "\t");
}

/* The place of a user in a namespace; a new one replaces the least recently checked. */
static struct seen_user *find_seen_user(struct passwd_files *files, const char *name, uid_t uid)
{
	struct seen_user *oldest = files->spaces;

	for (size_t i = 0; i < files->count; i++) {
		struct seen_user *space = &files->spaces[i];

		if (space->uid == uid && !strcmp(space->name, name))
			return space;
		if (space->looked_ns < oldest->looked_ns)
			oldest = space;
	}
	if (files->count < SPACES_MAX)
		oldest = &files->spaces[files->count++];
	*oldest = (struct seen_user){ .uid = uid };
	strcpy(oldest->name, name);
	return oldest;
}

bool passwd_files_differ(struct passwd_files *files, pid_t tgid, uid_t uid, const char *name)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	char pid[16], in[MOUNT_SPACE_NAME];
	struct seen_user *space;
	int err;

	snprintf(pid, sizeof(pid), "%d", (int)tgid);
	err = mount_space_name(files->proc->fd, pid, in);
	if (err == -EACCES || err == -EPERM)
		return uid != geteuid() && is_in_pid_namespace(files, tgid);
	if (err || !strcmp(in, files->own))
		return false;
	space = find_seen_user(files, in, uid);
	if (!space->looked_ns || now_ns - space->looked_ns > KEPT_NS) {
		space->looked_ns = now_ns;
		space->differs = is_another(files, tgid, uid, name);
	}
	return space->differs;
}

void passwd_files_close(struct passwd_files *files)
{
	free(files);
}
