/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/users.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

#define GETENT "/usr/bin/getent"

/* The longest line of a directory that is read. */
#define LINE_BYTES 4096

#define CACHE_MS 300
#define FIND_MS 2000

struct known_user {
	uid_t uid;
	char *name, *home; /* home is NULL where the user is not known */
};

struct users {
	struct known_user *all;
	size_t n, cap;
	bool late; /* a directory did not answer in time */
};

/* Whether an entry is that of a user, by name or (NULL) by number. */
static bool is_user(const struct passwd *passwd, const char *name, uid_t uid)
{
	return name ? !strcmp(passwd->pw_name, name) : passwd->pw_uid == uid;
}

/* Takes a user from a text of lines as in passwd(5), which is closed; NULL: it is not there. */
static const struct passwd *take_user(FILE *file, const char *name, uid_t uid)
{
	const struct passwd *passwd = NULL;

	if (!file)
		return NULL;
	do {
		passwd = fgetpwent(file);
	} while (passwd && !is_user(passwd, name, uid));
	fclose(file);
	return passwd;
}

/* Starts getent for a user. Its pid, or -1; what it prints comes from *output. */
static pid_t start_getent(const char *who, int *output)
{
	char *const arguments[] = { (char *)(uintptr_t)GETENT, (char *)(uintptr_t) "passwd",
				    (char *)(uintptr_t) "--", (char *)(uintptr_t)who, NULL };
	char *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	if (!posix_spawn_file_actions_init(&actions)) {
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		if (posix_spawn(&pid, GETENT, &actions, NULL, arguments, environment))
			pid = -1;
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	*output = ends[0];
	if (pid < 0)
		close(ends[0]);
	return pid;
}

/* Reads a line, until the end or for so long. Its length; -ETIMEDOUT: no end came. */
static int read_output(int fd, char *text, size_t size, unsigned ms)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + ms * NSEC_PER_MSEC, now_ns;
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t got;

	while (len < size) {
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (now_ns >= until_ns)
			return -ETIMEDOUT;
		if (poll(&polled, 1, (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1) < 1)
			continue;
		got = read(fd, text + len, size - len);
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	return (int)len;
}

/*
 * Asks all directories for a user. 0; -ENOENT: there is none; -ETIMEDOUT. The answer is in static
 * memory of libc's.
 */
static int ask_directories(const char *who, const char *name, uid_t uid, unsigned ms,
			   const struct passwd **found)
{
	char text[LINE_BYTES];
	int output, len;
	pid_t pid = start_getent(who, &output);

	*found = NULL;
	if (pid < 0)
		return -ENOENT;
	len = read_output(output, text, sizeof(text), ms);
	close(output);
	kill(pid, SIGKILL);
	/* One that hangs in the kernel is not waited for. */
	waitpid(pid, NULL, len < 0 ? WNOHANG : 0);
	if (len > 0)
		*found = take_user(fmemopen(text, (size_t)len, "r"), name, uid);
	return len == -ETIMEDOUT ? len : *found ? 0 : -ENOENT;
}

struct users *users_open(void)
{
	return xcalloc(1, sizeof(struct users));
}

const char *users_name(struct users *users, uid_t uid, const char **home)
{
	const struct passwd *passwd;
	struct known_user *entry = NULL;
	char number[16];

	for (size_t i = 0; i < users->n && !entry; i++)
		if (users->all[i].uid == uid)
			entry = &users->all[i];
	if (!entry) {
		snprintf(number, sizeof(number), "%u", uid);
		passwd = take_user(fopen("/etc/passwd", "re"), NULL, uid);
		if (!passwd && !users->late)
			users->late =
				ask_directories(number, NULL, uid, CACHE_MS, &passwd) == -ETIMEDOUT;
		GROW(users->all, users->n, users->cap);
		entry = &users->all[users->n++];
		*entry = (struct known_user){ .uid = uid,
					      .name = xstrdup(passwd ? passwd->pw_name : number),
					      .home = passwd ? xstrdup(passwd->pw_dir) : NULL };
	}
	if (home)
		*home = entry->home;
	return entry->name;
}

void users_close(struct users *users)
{
	for (size_t i = 0; i < users->n; i++) {
		free(users->all[i].name);
		free(users->all[i].home);
	}
	free(users->all);
	free(users);
}

bool user_find(const char *text, uid_t *uid)
{
	const struct passwd *passwd = take_user(fopen("/etc/passwd", "re"), text, 0);
	const char *at = text, *end = text + strlen(text);
	uint64_t number;

	if (!passwd) {
		/* The largest number stands for no user. */
		if (parse_uint(&at, end, &number) && at == end && number < UINT32_MAX) {
			*uid = (uid_t)number;
			return true;
		}
		ask_directories(text, text, 0, FIND_MS, &passwd);
	}
	if (passwd)
		*uid = passwd->pw_uid;
	return passwd;
}
