/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 32-bit program that sleeps in the call that its argument names, for ever: read, poll, select,
 * sleep, futex, recv, wait. Without any library, as those of the other word size are seldom there:
 * i386's calls by int 0x80 (arch/x86/entry/syscalls/syscall_32.tbl).
 */
enum {
	I386_EXIT = 1,
	I386_FORK = 2,
	I386_READ = 3,
	I386_WRITE = 4,
	I386_WAITPID = 7,
	I386_PIPE = 42,
	I386_SOCKETCALL = 102,
	I386_NEWSELECT = 142,
	I386_POLL = 168,
	I386_PRCTL = 172,
	I386_FUTEX = 240,
	I386_CLOCK_NANOSLEEP_TIME64 = 407,
};

/* linux/net.h, linux/socket.h, linux/prctl.h, poll.h */
enum { SOCKETPAIR = 8, RECV = 10, UNIX = 1, STREAM = 1, DIE_WITH_PARENT = 1, KILL = 9, IN = 1 };

static long call(long number, long a, long b, long c, long d, long e)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return result;
}

static int is(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

static void receive(void)
{
	int ends[2];
	long pair[4] = { UNIX, STREAM, 0, (long)ends }, args[4];
	char byte;

	call(I386_SOCKETCALL, SOCKETPAIR, (long)pair, 0, 0, 0);
	args[0] = ends[0];
	args[1] = (long)&byte;
	args[2] = 1;
	args[3] = 0;
	call(I386_SOCKETCALL, RECV, (long)args, 0, 0, 0);
}

static void sleep_in(const char *what)
{
	int ends[2], word = 2;
	long long hour[2] = { 3600, 0 };
	unsigned long set = 0;
	char byte;
	struct {
		int fd;
		short events, revents;
	} polled;

	call(I386_PIPE, (long)ends, 0, 0, 0, 0);
	polled.fd = ends[0];
	polled.events = IN;
	set |= 1ul << ends[0];
	if (is(what, "read"))
		call(I386_READ, ends[0], (long)&byte, 1, 0, 0);
	else if (is(what, "poll"))
		call(I386_POLL, (long)&polled, 1, -1, 0, 0);
	else if (is(what, "select"))
		call(I386_NEWSELECT, ends[0] + 1, (long)&set, 0, 0, 0);
	else if (is(what, "sleep"))
		call(I386_CLOCK_NANOSLEEP_TIME64, 1, 0, (long)hour, 0, 0);
	else if (is(what, "futex"))
		call(I386_FUTEX, (long)&word, 0, 2, 0, 0);
	else if (is(what, "recv"))
		receive();
	else if (is(what, "wait") && call(I386_FORK, 0, 0, 0, 0, 0))
		call(I386_WAITPID, -1, 0, 0, 0, 0);
	else
		call(I386_READ, ends[0], (long)&byte, 1, 0, 0);
}

/* The stack at the start: the number of arguments, and where they are. */
__attribute__((used)) static void start(long *stack)
{
	call(I386_PRCTL, DIE_WITH_PARENT, KILL, 0, 0, 0);
	call(I386_WRITE, 1, (long)"ready\n", 6, 0, 0);
	sleep_in(stack[0] > 1 ? (const char *)stack[2] : "");
	call(I386_EXIT, 1, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n\tmov %esp, %eax\n\tand $-16, %esp\n\tsub $12, %esp\n\tpush %eax\n"
	"\tcall start\n");
