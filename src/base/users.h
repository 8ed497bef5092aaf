/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users of the machine. /etc/passwd is read directly; other directories (LDAP, sssd, systemd) are
 * asked through getent(1), beside the program: a server that does not answer must not delay it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct users;

/* Opens a cache. */
struct users *users_open(void);

/*
 * The name, or the number as long as no name is known: a shared text of the cache. home (may be
 * NULL): the home folder, or NULL. Both are valid until the next call for this cache.
 */
char *users_name(struct users *users, uid_t uid, const char **home);

/*
 * Takes the directories' answers, and rereads /etc/passwd if it has changed (checked every two
 * seconds). Never waits. Returns whether a name changed. Call it at the start of a sample.
 */
bool users_refresh(struct users *users);

/*
 * Asks the directories about users without a name, each at most once a minute. Does not wait for
 * the answers. Call it at the end of a sample, when its users are known.
 */
void users_ask(struct users *users);

void users_close(struct users *users);

/* Finds a user by name or number. False: there is none. Waits at most 2 s. */
bool user_find(const char *text, uid_t *uid);
