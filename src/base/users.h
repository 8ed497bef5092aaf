/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users of the machine. /etc/passwd is read directly; other directories (LDAP, sssd, systemd) are
 * asked through getent(1), as a server that does not answer must not hang the program: after so
 * long a user is taken to have no name.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct users;

/* Opens a cache. */
struct users *users_open(void);

/*
 * The name, or the number where there is none; home (may be NULL): the home folder, or NULL. Both
 * stay valid while the cache is open. Others than those of /etc/passwd are waited for at most
 * 300 ms, once each, and no more once an answer was not in time.
 */
const char *users_name(struct users *users, uid_t uid, const char **home);

void users_close(struct users *users);

/* Finds a user by name or number. False: there is none. Waits at most 2 s. */
bool user_find(const char *text, uid_t *uid);
