/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "data/wait_class.h"

#include <stddef.h>
#include <string.h>

#define ROW(NAME, id, text) [CLASS_##NAME] = (id),
const char *const wait_class_ids[WAIT_CLASSES] = { WAIT_CLASS_TABLE(ROW) };
#undef ROW

/* Functions that tell the class, whatever the state. */
static const struct {
	const char *function;
	enum wait_class class;
	bool server; /* a file system's server is to answer */
} functions[] = {
	/* fs/fuse/dev.c, net/sunrpc/sched.c, net/9p/client.c, fs/autofs/waitq.c */
	{ "request_wait_answer", CLASS_SERVED, true },
	{ "rpc_wait_bit_killable", CLASS_SERVED, true },
	{ "p9_client_rpc", CLASS_SERVED, true },
	{ "autofs_wait", CLASS_SERVED, true },
	{ "jbd2_log_wait_commit", CLASS_SERVED, false },
	/* kernel/fork.c: of fork's kind only vfork() waits. */
	{ "kernel_clone", CLASS_SERVED, false },
	/* Somebody is to take what is sent: net/core/stream.c, net/core/sock.c, net/unix. */
	{ "sk_stream_wait_memory", CLASS_SERVED, false },
	{ "sock_alloc_send_pskb", CLASS_SERVED, false },
	{ "unix_wait_for_peer", CLASS_SERVED, false },
	{ "__inet_stream_connect", CLASS_SERVED, false },
	/* fs/pipe.c; anon_ since 6.14. */
	{ "pipe_write", CLASS_SERVED, false },
	{ "anon_pipe_write", CLASS_SERVED, false },
	/* mm/memcontrol.c: who is above memory.high is made to wait. */
	{ "mem_cgroup_handle_over_high", CLASS_RATIONED, false },
	{ "__mem_cgroup_handle_over_high", CLASS_RATIONED, false },
	/* kernel/locking; others of these are not shown as functions that tell. */
	{ "rwsem_down_read_slowpath", CLASS_CONTENDED, false },
	{ "rwsem_down_write_slowpath", CLASS_CONTENDED, false },
};

/* Classes by state: where the subject of the wait is unknown, and where it is known. */
static const struct {
	enum wait_class plain;
	unsigned char by[WAIT_ABOUTS]; /* 0: as plain */
} states[WAIT_STATES] = {
	[STATE_CPU] = { CLASS_CONTENDED, { [ABOUT_QUOTA] = CLASS_RATIONED } },
	[STATE_IO] = { CLASS_SERVED, { [ABOUT_IDLE_RING] = CLASS_PARKED } },
	[STATE_DWAIT] = { CLASS_UNKNOWN, { 0 } },
	[STATE_LOCK] = { CLASS_CONTENDED, { 0 } },
	[STATE_PARK] = { CLASS_PARKED, { 0 } },
	[STATE_NET] = { CLASS_UNKNOWN,
			{ [ABOUT_REQUESTS] = CLASS_PARKED,
			  [ABOUT_EVENTS] = CLASS_PARKED,
			  [ABOUT_ANSWER] = CLASS_SERVED } },
	/* Writers to a full pipe wait in a function of the table above. */
	[STATE_PIPE] = { CLASS_PARKED, { 0 } },
	[STATE_POLL] = { CLASS_PARKED,
			 { [ABOUT_ANSWER] = CLASS_SERVED, [ABOUT_DISK_RING] = CLASS_SERVED } },
	[STATE_TIMER] = { CLASS_PARKED, { 0 } },
	[STATE_CHILD] = { CLASS_SERVED, { 0 } },
	[STATE_STOP] = { CLASS_RATIONED, { 0 } },
	[STATE_OTHER] = { CLASS_UNKNOWN,
			  { [ABOUT_EVENTS] = CLASS_PARKED, [ABOUT_FILE] = CLASS_SERVED } },
};

enum wait_class wait_class_of(const struct wait_facts *facts)
{
	const char *where = facts->where;

	if (facts->state >= WAIT_STATES)
		return CLASS_UNKNOWN;
	for (size_t i = 0; where && i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(where, functions[i].function))
			return functions[i].class;
	/* fs/super.c: the lock for freezing a file system; elsewhere any such lock. */
	if (where && !strcmp(where, "percpu_rwsem_wait"))
		return facts->on_path ? CLASS_RATIONED : CLASS_CONTENDED;
	if (states[facts->state].by[facts->about])
		return states[facts->state].by[facts->about];
	return states[facts->state].plain;
}

enum wait_class wait_class_of_state(enum wait_state state)
{
	return wait_class_of(&(struct wait_facts){ .state = state });
}

bool wait_for_server(const char *where)
{
	for (size_t i = 0; where && i < sizeof(functions) / sizeof(*functions); i++)
		if (functions[i].server && !strcmp(where, functions[i].function))
			return true;
	return false;
}
