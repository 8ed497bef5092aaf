/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "data/wait_class.h"

#include <stddef.h>
#include <string.h>

#include "base/util.h"

#define ROW(NAME, id, text) [CLASS_##NAME] = (id),
const char *const wait_class_ids[WAIT_CLASSES] = { WAIT_CLASS_TABLE(ROW) };
#undef ROW

/* Functions that tell the class, whatever the state. */
#define IN(name, kind, ...) \
	{ \
		.function = name, .class = CLASS_##kind, ##__VA_ARGS__ \
	}
static const struct {
	const char *function;
	enum wait_class class;
	const char *words; /* why a task waits there; NULL: not said */
	bool server; /* a file system's server is to answer */
	bool vfork; /* a child is to execute a program or to end */
	bool path; /* only for a file */
} functions[] = {
	/* fs/fuse/dev.c, net/sunrpc/sched.c, net/9p/client.c, fs/autofs/waitq.c */
	IN("request_wait_answer", SERVED, .words = "no answer of the server in user space",
	   .server = true),
	IN("rpc_wait_bit_killable", SERVED, .words = "no answer of the server", .server = true),
	IN("p9_client_rpc", SERVED, .words = "no answer of the server", .server = true),
	IN("autofs_wait", SERVED, .words = "no answer of the automounter", .server = true),
	IN("jbd2_log_wait_commit", SERVED, .words = "the journal"),
	/* kernel/fork.c: of fork's kind only vfork() waits. */
	IN("kernel_clone", SERVED, .words = "until its child execs or exits", .vfork = true),
	/* Somebody is to take what is sent: net/core/stream.c, net/core/sock.c, net/unix. */
	IN("sk_stream_wait_memory", SERVED),
	IN("sock_alloc_send_pskb", SERVED),
	IN("unix_wait_for_peer", SERVED),
	IN("__inet_stream_connect", SERVED),
	/* fs/pipe.c; anon_ since 6.14. */
	IN("pipe_write", SERVED),
	IN("anon_pipe_write", SERVED),
	/* mm/memcontrol.c: who is above memory.high is made to wait. */
	IN("mem_cgroup_handle_over_high", RATIONED),
	IN("__mem_cgroup_handle_over_high", RATIONED),
	/* fs/super.c: writers take a lock that freezing holds; elsewhere it is any such lock. */
	IN("percpu_rwsem_wait", RATIONED, .words = "frozen", .path = true),
	IN("percpu_rwsem_wait", CONTENDED),
	/* kernel/locking; others of these are not shown as functions that tell. */
	IN("rwsem_down_read_slowpath", CONTENDED),
	IN("rwsem_down_write_slowpath", CONTENDED),
};
#undef IN

/* The place of a function in the table; their number: it is not there. */
static size_t find_function(const char *where, bool on_path)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(functions) && (!where || strcmp(where, functions[i].function) != 0 ||
					     (functions[i].path && !on_path)))
		i++;
	return i;
}

/* Classes by state: where the subject of the wait is unknown, and where it is known. */
#define BY(kind) (1 + CLASS_##kind)
static const struct {
	enum wait_class plain;
	unsigned char by[WAIT_ABOUTS]; /* 1 + the class; 0: as plain */
} states[WAIT_STATES] = {
	[STATE_CPU] = { CLASS_CONTENDED, { [ABOUT_QUOTA] = BY(RATIONED) } },
	[STATE_IO] = { CLASS_SERVED, { [ABOUT_IDLE_RING] = BY(PARKED) } },
	[STATE_DWAIT] = { CLASS_UNKNOWN, { 0 } },
	[STATE_LOCK] = { CLASS_CONTENDED, { 0 } },
	[STATE_PARK] = { CLASS_UNKNOWN,
			 { [ABOUT_EVENTS] = BY(PARKED),
			   [ABOUT_TURN] = BY(CONTENDED),
			   [ABOUT_PEERS] = BY(UNKNOWN) } },
	[STATE_NET] = { CLASS_UNKNOWN,
			{ [ABOUT_REQUESTS] = BY(PARKED),
			  [ABOUT_EVENTS] = BY(PARKED),
			  [ABOUT_ANSWER] = BY(SERVED) } },
	/* Writers to a full pipe wait in a function of the table above. */
	[STATE_PIPE] = { CLASS_PARKED, { 0 } },
	[STATE_POLL] = { CLASS_PARKED,
			 { [ABOUT_ANSWER] = BY(SERVED),
			   [ABOUT_DISK_RING] = BY(SERVED),
			   [ABOUT_TURN] = BY(CONTENDED),
			   [ABOUT_PEERS] = BY(UNKNOWN) } },
	[STATE_TIMER] = { CLASS_PARKED, { 0 } },
	[STATE_CHILD] = { CLASS_SERVED, { 0 } },
	[STATE_STOP] = { CLASS_RATIONED, { 0 } },
	[STATE_OTHER] = { CLASS_UNKNOWN,
			  { [ABOUT_EVENTS] = BY(PARKED), [ABOUT_FILE] = BY(SERVED) } },
};
#undef BY

enum wait_class wait_class_of(const struct wait_facts *facts)
{
	size_t i = find_function(facts->where, facts->on_path);

	if (facts->state >= WAIT_STATES)
		return CLASS_UNKNOWN;
	if (i < ARRAY_SIZE(functions))
		return functions[i].class;
	if (states[facts->state].by[facts->about])
		return (enum wait_class)(states[facts->state].by[facts->about] - 1);
	return states[facts->state].plain;
}

bool wait_is_lost(enum wait_class class, enum wait_state state)
{
	return class != CLASS_PARKED &&
	       (class != CLASS_UNKNOWN || (state != STATE_PARK && state != STATE_POLL));
}

enum wait_class wait_class_of_state(enum wait_state state)
{
	return wait_class_of(&(struct wait_facts){ .state = state });
}

bool wait_for_server(const char *where)
{
	size_t i = find_function(where, false);

	return i < ARRAY_SIZE(functions) && functions[i].server;
}

bool wait_for_vforked(const char *where)
{
	size_t i = find_function(where, false);

	return i < ARRAY_SIZE(functions) && functions[i].vfork;
}

const char *wait_words(const char *where, const char *on)
{
	size_t i = find_function(where, on && *on == '/');

	return i < ARRAY_SIZE(functions) ? functions[i].words : NULL;
}
