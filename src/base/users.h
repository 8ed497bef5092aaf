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
 * The name, or the number as long as none is known: a shared text of the cache's. home (may be
 * NULL): the home folder, or NULL. Both are valid until the next call for this cache.
 */
char *users_name(struct users *users, uid_t uid, const char **home);

/*
 * Takes what directories have answered, asks them about users without a name (at most once a
 * minute), and looks after changes of /etc/passwd (every two seconds). Never waits. Whether a user
 * has another name now. To be called at each sample.
 */
bool users_refresh(struct users *users);

void users_close(struct users *users);

/* Finds a user by name or number. False: there is none. Waits at most 2 s. */
bool user_find(const char *text, uid_t *uid);
