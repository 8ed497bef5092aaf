/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The class of a wait: whether the task loses time by it. Only what is not parked is lost time. */
#ifndef STALLTOP_DATA_WAIT_CLASS_H
#define STALLTOP_DATA_WAIT_CLASS_H

#include <stdbool.h>

#include "data/wait_state_table.h"

/* ROW(NAME, id, what it means). Recordings keep their numbers: a new one goes to the end. */
#define WAIT_CLASS_TABLE(ROW) \
	ROW(UNKNOWN, "unknown", "not known from what is read of the wait") \
	ROW(SERVED, "served", "a disk, a peer, a child or a server works on its request") \
	ROW(CONTENDED, "contended", "another task has the CPU or the lock") \
	ROW(RATIONED, "rationed", "a limit or a command stops it: a quota, frozen, stopped") \
	ROW(PARKED, "parked", "it has no work: an idle pool, a timer, no request")

#define WAIT_CLASS_ID(NAME, ...) CLASS_##NAME,
enum wait_class { WAIT_CLASS_TABLE(WAIT_CLASS_ID) WAIT_CLASSES };
#undef WAIT_CLASS_ID

/* Their ids in machine formats. */
extern const char *const wait_class_ids[WAIT_CLASSES];

/* Facts about the subject of a wait, besides its state. */
enum wait_about {
	ABOUT_UNKNOWN,
	ABOUT_REQUESTS, /* a socket that listens, or a server's end of a connection */
	ABOUT_ANSWER, /* a client's end of a connection */
	ABOUT_EVENTS, /* a terminal, a device, signals, events: they come or not */
	ABOUT_FILE, /* a file, or a path */
	ABOUT_QUOTA, /* a CPU, which the group's quota does not grant */
	ABOUT_IDLE_RING, /* completions of a ring whose requests all wait for events */
	ABOUT_DISK_RING, /* completions of a ring with other requests */
	ABOUT_TURN, /* a word or a counter that tasks take in turn, as a lock */
	ABOUT_PEERS, /* the same that tasks change when others ask them, or ask others by it */
	WAIT_ABOUTS
};

/* The facts that decide the class of a wait. */
struct wait_facts {
	enum wait_state state;
	enum wait_about about;
	const char *where; /* function of the kernel; NULL: not known */
	bool on_path; /* what it is on is a file's path */
};

enum wait_class wait_class_of(const struct wait_facts *facts);

/* Whether time of a class is lost, or may be: not where the state is mostly one of idle tasks. */
bool wait_is_lost(enum wait_class class, enum wait_state state);

/* The class of waits of which only the state is known. */
enum wait_class wait_class_of_state(enum wait_state state);

/* Whether a file system's server is waited for in a function of the kernel; NULL is none. */
bool wait_for_server(const char *where);

/* The same of a child that vfork() made. */
bool wait_for_vforked(const char *where);

/* Why a task waits for a target in a function of the kernel: "frozen"; NULL: that is not known. */
const char *wait_words(const char *where, const char *on);

#endif
