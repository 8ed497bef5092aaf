// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as the texts and messages that say what waits are on: no harm, and nothing from beyond.
 * The first byte chooses which.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"
#include "kernel/mounts.h"
#include "kernel/procwait.h"
#include "kernel/sockets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A system call: refused without a trace, or with a number that makes sense. */
static void take_call(const char *text, size_t len)
{
	struct procwait_syscall call = { .number = 77 };
	int err = procwait_syscall_parse(text, len, &call);

	if (err ? err != -EBADMSG || call.number != 77 : call.number < -1)
		abort();
}

/* A stack: functions lie within the text and end there. */
static void take_stack(const char *text, size_t len)
{
	struct procwait_stack stack = { .n = 0 };

	buf_add(&stack.text, text, len);
	procwait_stack_parse(&stack);
	for (size_t i = 0; i < stack.n; i++)
		if (stack.functions[i] < stack.text.data ||
		    !memchr(stack.functions[i], '\0',
			    (size_t)(stack.text.data + stack.text.len - stack.functions[i])))
			abort();
	procwait_stack_free(&stack);
}

/* Mounts: a device is that of an id, a path ends as it did. */
static void take_mounts(const char *text, size_t len)
{
	const struct span all = { text, text + len };
	struct buf out = { 0 };
	uint32_t dev = 0;

	if (mount_device(all, 24, &dev))
		mount_path(all, dev, "/srv/x", &out);
	buf_free(&out);
}

/* A socket's line, as of each list: a name lies within it. */
static void take_socket(const char *text, size_t len)
{
	for (enum socket_list list = 0; list < SOCKET_LISTS; list++) {
		struct socket_entry entry;
		struct span name;

		if (socket_parse(list, (struct span){ text, text + len }, &entry, &name) &&
		    (name.at < text || name.end > text + len || name.at > name.end))
			abort();
	}
}

/* An answer about a Unix socket, aligned as the kernel's are. */
static void take_answer(const char *bytes, size_t len)
{
	struct unix_socket found;
	char *copy = xcalloc(len, 1);

	memcpy(copy, bytes, len);
	if (!unix_diag_decode(copy, len, &found) && found.len > sizeof(found.name))
		abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const takes[])(const char *text, size_t len) = {
		take_call, take_stack, take_mounts, take_socket, take_answer,
	};

	if (size)
		takes[data[0] % ARRAY_SIZE(takes)]((const char *)data + 1, size - 1);
	return 0;
}
