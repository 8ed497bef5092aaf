/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/procwait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/file.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "kernel/syscalls.h"

/* Values of the futex of a lock with waiters: 0 free, 1 held, 2 held and wanted. */
#define WANTED 2

/* No task has a larger id (include/linux/threads.h: PID_MAX_LIMIT). */
#define TID_MOST (1U << 22)

/* The beginning of glibc's pthread_mutex_t: its futex is the first word. */
struct mutex {
	uint32_t lock;
	uint32_t count;
	uint32_t owner;
};

/* True for operations on locks whose futex value the kernel maintains: the owner and some bits. */
static bool kernel_keeps(const struct procwait_syscall *call)
{
	int operation = (int)call->args[1] & FUTEX_CMD_MASK;

	return operation == FUTEX_LOCK_PI || operation == 13 /* FUTEX_LOCK_PI2, since 5.14 */;
}

/* True if a futex value identifies the holder. */
static bool names_owner(uint32_t word)
{
	uint32_t owner = word & FUTEX_TID_MASK;

	return word & FUTEX_WAITERS && owner && owner <= TID_MOST;
}

bool futex_is_lock(const struct procwait_syscall *call)
{
	uint32_t value = (uint32_t)call->args[2];

	if (call->number != SCMP_SYS(futex))
		return false;
	if (kernel_keeps(call))
		return true;
	return ((int)call->args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT &&
	       (value == WANTED || names_owner(value));
}

/* Reads a mutex, as much as this kind of lock has. False: unreadable, or no such lock. */
static bool read_mutex(struct proc *proc, pid_t tid, const struct procwait_syscall *call,
		       bool counts, struct mutex *mutex)
{
	size_t size = counts ? sizeof(*mutex) : sizeof(mutex->lock);

	memset(mutex, 0, sizeof(*mutex));
	return procwait_memory(proc, tid, call->args[0], mutex, size) == (int)size &&
	       (!counts || mutex->lock == WANTED);
}

pid_t futex_owner(struct proc *proc, pid_t tgid, pid_t tid, const struct procwait_syscall *call)
{
	bool counts = !kernel_keeps(call) && (uint32_t)call->args[2] == WANTED;
	struct mutex mutex, again;
	char path[64];
	uint32_t owner;

	if (!futex_is_lock(call))
		return 0;
	if (!read_mutex(proc, tid, call, counts, &mutex) ||
	    !read_mutex(proc, tid, call, counts, &again) ||
	    memcmp(&mutex, &again, sizeof(mutex)) != 0)
		return 0;
	owner = counts ? mutex.owner : mutex.lock & FUTEX_TID_MASK;
	if (!owner || owner > TID_MOST || (pid_t)owner == tid)
		return 0;
	snprintf(path, sizeof(path), "%d/task/%u", (int)tgid, owner);
	return faccessat(proc->fd, path, F_OK, 0) ? 0 : (pid_t)owner;
}

/* A number, six arguments and two registers: up to 180 bytes. */
#define SYSCALL_BYTES 256

/* Lines of functions, with their modules, some 60 bytes each. */
#define STACK_BYTES 16384

/* Parses " 0x" and hexadecimal digits. */
static bool take_register(struct span *text, uint64_t *value)
{
	uint64_t sum = 0;
	const char *first;

	if (!take_word(text, " 0x"))
		return false;
	for (first = text->at; text->at < text->end; text->at++) {
		char c = *text->at;
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a' + 10);
		else
			break;
		if (sum >> 60)
			return false;
		sum = sum << 4 | digit;
	}
	*value = sum;
	return text->at > first;
}

int procwait_syscall_parse(const char *text, size_t len, struct procwait_syscall *out)
{
	struct span rest = { text, text + len };
	struct procwait_syscall call = { .number = -1 };
	uint64_t number;

	if (take_word(&rest, "running\n")) {
		call.running = true;
		*out = call;
		return 0;
	}
	if (!take_word(&rest, "-1")) {
		if (!take_uint(&rest, &number) || number > INT_MAX)
			return -EBADMSG;
		call.number = (int)number;
		for (unsigned i = 0; i < SYSCALL_ARGS; i++)
			if (!take_register(&rest, &call.args[i]))
				return -EBADMSG;
	}
	if (!take_register(&rest, &call.stack_pointer) ||
	    !take_register(&rest, &call.program_counter) || !take_word(&rest, "\n"))
		return -EBADMSG;
	/* All registers of a kernel thread read as 0: system call 0 would be read(). */
	if (!call.stack_pointer && !call.program_counter)
		call.number = -1;
	*out = call;
	return 0;
}

bool procwait_prefetch(struct proc *proc, pid_t tgid, pid_t tid)
{
	return proc_prefetch(proc, proctask_path(tgid, tid, "syscall").text, SYSCALL_BYTES);
}

/*
 * True if a process is a 32-bit program, by its auxiliary vector: pairs of a small number, its
 * type, and a value that is not 0, in words of the program's size.
 */
static bool runs_32bit(struct proc *proc, pid_t tgid)
{
	char path[32];
	uint64_t first;

	snprintf(path, sizeof(path), "%d/auxv", (int)tgid);
	return proc_read(proc, path, &first, sizeof(first)) == (int)sizeof(first) &&
	       first > UINT32_MAX;
}

/* Converts the call of a 32-bit program to the equivalent 64-bit call. */
static void translate_call(struct proc *proc, pid_t tid, struct procwait_syscall *call)
{
	uint32_t args[SYSCALL_ARGS];
	int native = syscall_native(call->number);

	if (native != SYSCALL_SOCKETCALL) {
		call->number = native;
		return;
	}
	call->number = syscall_of_socketcall((unsigned)call->args[0]);
	if (procwait_memory(proc, tid, call->args[1], args, sizeof(args)) != (int)sizeof(args))
		call->number = -1;
	for (unsigned i = 0; i < SYSCALL_ARGS && call->number >= 0; i++)
		call->args[i] = args[i];
}

int procwait_syscall(struct proc *proc, pid_t tgid, pid_t tid, struct procwait_syscall *out)
{
	char text[SYSCALL_BYTES];
	int len = proc_read(proc, proctask_path(tgid, tid, "syscall").text, text, sizeof(text));
	int err = len < 0 ? len : procwait_syscall_parse(text, (size_t)len, out);

	/* 64-bit programs have their stacks above that, unless they ask for others. */
	if (!err && out->number >= 0 && out->stack_pointer <= UINT32_MAX &&
	    out->program_counter <= UINT32_MAX && runs_32bit(proc, tgid))
		translate_call(proc, tid, out);
	return err;
}

void procwait_stack_parse(struct procwait_stack *out)
{
	struct span rest, line, word;

	out->n = 0;
	/* An empty buffer has no data to point to. */
	if (!out->text.len)
		return;
	rest = (struct span){ out->text.data, out->text.data + out->text.len };
	while (out->n < STACK_FUNCTIONS && take_line(&rest, &line)) {
		/* A line that was cut has no newline to replace by a NUL. */
		if (line.end == out->text.data + out->text.len)
			return;
		/* "[<0>] function+0x1a/0x20 [module]"; the address is hidden since 4.15. */
		if (!take_part(&line, ' ', &word) || !take_part(&line, ' ', &word) ||
		    word.at == word.end)
			continue;
		out->text.data[word.end - out->text.data] = '\0';
		out->functions[out->n++] = word.at;
	}
}

int procwait_stack(struct proc *proc, pid_t tgid, pid_t tid, struct procwait_stack *out)
{
	int len;

	out->n = out->text.len = 0;
	len = proc_read(proc, proctask_path(tgid, tid, "stack").text,
			buf_reserve(&out->text, STACK_BYTES), STACK_BYTES);
	if (len < 0)
		return len;
	out->text.len = (size_t)len;
	procwait_stack_parse(out);
	return 0;
}

void procwait_stack_free(struct procwait_stack *stack)
{
	buf_free(&stack->text);
	stack->n = 0;
}

int procwait_memory(struct proc *proc, pid_t tid, uint64_t address, void *to, size_t size)
{
	char path[32];

	if (address > INT64_MAX)
		return -EFAULT;
	snprintf(path, sizeof(path), "%d/mem", (int)tid);
	return proc_read_at(proc, path, address, to, size);
}
