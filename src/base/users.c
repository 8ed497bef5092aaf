/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/users.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/util.h"

#define GETENT "/usr/bin/getent"

/* Longest line that is read from a directory. */
#define LINE_BYTES 4096

/* How long user_find() waits for the other directories. */
#define FIND_MS 2000

/* Users asked about at once, and time after which the request is abandoned. */
#define ASK_USERS 16
#define ASK_NS (5 * NSEC_PER_SEC)

/* Time until a user without a name is asked about again; interval between checks of /etc/passwd. */
#define AGAIN_NS (60 * NSEC_PER_SEC)
#define LOOK_NS (2 * NSEC_PER_SEC)

/* Maximum number of cached users; beyond, those without a name are dropped. */
#define USERS_MAX 4096

struct known_user {
	uid_t uid;
	bool named; /* found in a directory */
	bool local; /* found in /etc/passwd */
	uint64_t asked_ns; /* when the other directories were asked last; 0: never */
	char *name; /* shared text */
	char *home; /* NULL: unknown */
};

struct users {
	struct known_user *all; /* by uid */
	size_t n, cap;
	struct stat passwd; /* /etc/passwd as it was read */
	uint64_t looked_ns;
	bool changed; /* a name changed since users_refresh() */
	/* getent, while it runs: pid (0: not running), output (-1: it was ended), text. */
	pid_t asking;
	int output;
	uint64_t since_ns, pause_ns; /* pause_ns: not asked before that */
	struct buf text;
};

/* True if an entry is that of a user, by name or (NULL) by number. */
static bool is_user(const struct passwd *passwd, const char *name, uid_t uid)
{
	return name ? !strcmp(passwd->pw_name, name) : passwd->pw_uid == uid;
}

/* Takes a user from lines as in passwd(5), and closes the stream; NULL: not found. */
static const struct passwd *take_passwd_line(FILE *file, const char *name, uid_t uid)
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

/* Starts getent for users (NULL-terminated). Its pid, or -1; *output receives what it prints. */
static pid_t start_getent(char *const *who, int *output)
{
	char *arguments[ASK_USERS + 4] = { (char *)(uintptr_t)GETENT, (char *)(uintptr_t) "passwd",
					   (char *)(uintptr_t) "--" };
	char *const environment[] = { NULL };

	for (size_t i = 0; who[i]; i++)
		arguments[3 + i] = who[i];
	return process_start(arguments, environment, output);
}

/* Reads a line, until its end or the timeout. Its length; -ETIMEDOUT: no end came. */
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
	char *const all[] = { (char *)(uintptr_t)who, NULL };
	char text[LINE_BYTES];
	int output, len;
	pid_t pid = start_getent(all, &output);

	*found = NULL;
	if (pid < 0)
		return -ENOENT;
	len = read_output(output, text, sizeof(text), ms);
	close(output);
	kill(pid, SIGKILL);
	/* A process hung in the kernel is not waited for. */
	waitpid(pid, NULL, len < 0 ? WNOHANG : 0);
	if (len > 0)
		*found = take_passwd_line(fmemopen(text, (size_t)len, "r"), name, uid);
	return len == -ETIMEDOUT ? len : *found ? 0 : -ENOENT;
}

struct users *users_open(void)
{
	return xcalloc(1, sizeof(struct users));
}

/* Sets a user's name and home. Without an entry (passwd NULL) the number is the name. */
static void set_user(struct users *users, struct known_user *user, const struct passwd *passwd)
{
	char number[16];
	const char *name = passwd ? passwd->pw_name : number;

	snprintf(number, sizeof(number), "%u", user->uid);
	user->named = passwd;
	free(user->home);
	user->home = passwd ? xstrdup(passwd->pw_dir) : NULL;
	if (user->name && !strcmp(user->name, name))
		return;
	users->changed |= user->name != NULL;
	shared_unref(user->name);
	user->name = shared_text(name);
}

/* The index of a user, or where it would be inserted. */
static size_t user_index(const struct users *users, uid_t uid)
{
	size_t at;

	LOWER_BOUND(at, users->n, users->all[at].uid < uid);
	return at;
}

/* Drops users: those without a name, or all. */
static void forget_users(struct users *users, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < users->n; i++) {
		struct known_user *user = &users->all[i];

		if (user->named && !all) {
			users->all[kept++] = *user;
			continue;
		}
		shared_unref(user->name);
		free(user->home);
	}
	users->n = kept;
}

/* Adds a user, searched for in /etc/passwd. */
static struct known_user *add_user(struct users *users, uid_t uid)
{
	const struct passwd *passwd = take_passwd_line(fopen("/etc/passwd", "re"), NULL, uid);
	struct known_user *user;
	size_t at;

	if (users->n >= USERS_MAX)
		forget_users(users, users->all[0].named && users->all[users->n - 1].named);
	at = user_index(users, uid);
	GROW(users->all, users->n, users->cap);
	memmove(&users->all[at + 1], &users->all[at], (users->n++ - at) * sizeof(*users->all));
	user = &users->all[at];
	*user = (struct known_user){ .uid = uid, .local = passwd };
	set_user(users, user, passwd);
	return user;
}

char *users_name(struct users *users, uid_t uid, const char **home)
{
	size_t at = user_index(users, uid);
	struct known_user *user =
		at < users->n && users->all[at].uid == uid ? &users->all[at] : add_user(users, uid);

	if (home)
		*home = user->home;
	return user->name;
}

/* Rereads /etc/passwd if it has changed. */
static void look_at_passwd(struct users *users, uint64_t now_ns)
{
	const struct passwd *passwd;
	struct stat now = { 0 };
	size_t at;
	FILE *file;

	if (users->looked_ns && now_ns - users->looked_ns < LOOK_NS)
		return;
	stat("/etc/passwd", &now);
	if (!users->looked_ns)
		users->passwd = now;
	users->looked_ns = now_ns;
	if (file_same(&now, &users->passwd))
		return;
	users->passwd = now;
	file = fopen("/etc/passwd", "re");
	/* Users no longer in it are asked about again. */
	for (size_t i = 0; i < users->n && file; i++)
		if (users->all[i].local)
			users->all[i].local = false, users->all[i].asked_ns = 0;
	while (file && (passwd = fgetpwent(file))) {
		at = user_index(users, passwd->pw_uid);
		if (at == users->n || users->all[at].uid != passwd->pw_uid || users->all[at].local)
			continue;
		users->all[at].local = true;
		set_user(users, &users->all[at], passwd);
	}
	if (file)
		fclose(file);
}

void users_ask(struct users *users)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	char numbers[ASK_USERS][16], *who[ASK_USERS + 1];
	size_t n = 0;

	if (users->asking || now_ns < users->pause_ns)
		return;
	for (size_t i = 0; i < users->n && n < ASK_USERS; i++) {
		struct known_user *user = &users->all[i];

		if (user->local || (user->asked_ns && now_ns - user->asked_ns < AGAIN_NS))
			continue;
		user->asked_ns = now_ns;
		snprintf(numbers[n], sizeof(*numbers), "%u", user->uid);
		who[n] = numbers[n];
		n++;
	}
	who[n] = NULL;
	if (!n)
		return;
	users->since_ns = now_ns;
	users->asking = start_getent(who, &users->output);
	if (users->asking > 0)
		fcntl(users->output, F_SETFL, O_NONBLOCK);
	else
		users->asking = 0, users->pause_ns = now_ns + AGAIN_NS;
}

/* Ends getent, after its answer or a timeout. */
static void end_asking(struct users *users)
{
	close(users->output);
	users->output = -1;
	kill(users->asking, SIGKILL);
	users->text.len = 0;
}

/* Parses getent's answer. */
static void take_answers(struct users *users)
{
	FILE *file = users->text.len ? fmemopen(users->text.data, users->text.len, "r") : NULL;
	const struct passwd *passwd;

	for (size_t i = 0; i < users->n; i++)
		if (users->all[i].asked_ns == users->since_ns && !users->all[i].local)
			users->all[i].named = false;
	while (file && (passwd = fgetpwent(file))) {
		size_t at = user_index(users, passwd->pw_uid);

		if (at < users->n && users->all[at].uid == passwd->pw_uid && !users->all[at].local)
			set_user(users, &users->all[at], passwd);
	}
	if (file)
		fclose(file);
	for (size_t i = 0; i < users->n; i++)
		if (users->all[i].asked_ns == users->since_ns && !users->all[i].named)
			set_user(users, &users->all[i], NULL);
}

/* Reads what getent has answered so far, if it runs. */
static void read_answers(struct users *users, uint64_t now_ns)
{
	ssize_t got = 1;

	/* A process hung in the kernel is not waited for. */
	if (users->asking && users->output < 0 && waitpid(users->asking, NULL, WNOHANG))
		users->asking = 0;
	if (!users->asking || users->output < 0)
		return;
	while (got > 0 && users->text.len < ASK_USERS * LINE_BYTES) {
		got = read(users->output, buf_reserve(&users->text, LINE_BYTES), LINE_BYTES);
		users->text.len += got > 0 ? (size_t)got : 0;
	}
	if (got < 0 && errno == EAGAIN && now_ns - users->since_ns < ASK_NS)
		return;
	if (!got)
		take_answers(users);
	else
		users->pause_ns = now_ns + AGAIN_NS;
	end_asking(users);
}

bool users_refresh(struct users *users)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool changed;

	look_at_passwd(users, now_ns);
	read_answers(users, now_ns);
	changed = users->changed;
	users->changed = false;
	return changed;
}

void users_close(struct users *users)
{
	if (users->asking && users->output >= 0)
		end_asking(users);
	forget_users(users, true);
	buf_free(&users->text);
	free(users->all);
	free(users);
}

bool user_find(const char *text, uid_t *uid)
{
	const struct passwd *passwd = take_passwd_line(fopen("/etc/passwd", "re"), text, 0);
	const char *at = text, *end = text + strlen(text);
	uint64_t number;

	if (!passwd) {
		/* The largest number means no user. */
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
