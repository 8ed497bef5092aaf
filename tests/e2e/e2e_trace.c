// SPDX-License-Identifier: GPL-2.0-or-later
/* Every wait watched by the programs in the kernel, on loads whose waits are known. */
#include "tests/lib/traced_children.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/symbols.h"
#include "tests/lib/e2e.h"

#define BLOCK 4096
#define MS(n) (UINT64_C(1000000) * (n))

static const struct trace_options plain = { .sites = 16384 };

/* ---- What children do ------------------------------------------------------------------------ */

static uint32_t shared_word, mutex_word = 2;

static void spin(void *arg)
{
	(void)arg;
	for (volatile unsigned i = 0;; i++)
		;
}

/* A word of 2 is that of a mutex with waiters. */
static void wait_futex(void *arg)
{
	uint32_t *word = arg;

	for (;;)
		syscall(SYS_futex, word, FUTEX_WAIT, *word, NULL, NULL, 0);
}

static void poll_pipe(void *arg)
{
	struct pollfd fd = { *(int *)arg, POLLIN, 0 };

	poll(&fd, 1, -1);
}

static void poll_two(void *arg)
{
	const int *ends = arg;
	struct pollfd fds[3] = { { ends[0], POLLIN, 0 }, { -1, POLLIN, 0 }, { ends[1], 0, 0 } };

	poll(fds, 3, -1);
}

/* Three descriptors in all: one is in two sets. */
static void select_three(void *arg)
{
	const int *ends = arg;
	int high = dup2(ends[0], 70);
	fd_set in, other;

	FD_ZERO(&in);
	FD_ZERO(&other);
	FD_SET(ends[0], &in);
	FD_SET(high, &in);
	FD_SET(ends[1], &in);
	FD_SET(high, &other);
	/* Beyond those that are asked for. */
	FD_SET(71, &in);
	select(71, &in, NULL, &other, NULL);
}

/* Waits to lock a file, of which the path is given. */
static void lock_flock(void *arg)
{
	flock(open(arg, O_RDWR | O_CLOEXEC), LOCK_EX);
}

static void lock_fcntl(void *arg)
{
	struct flock lock = { .l_type = F_WRLCK };

	fcntl(open(arg, O_RDWR | O_CLOEXEC), F_SETLKW, &lock);
}

static void wait_child(void *arg)
{
	(void)arg;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	waitpid(-1, NULL, 0);
}

static void await_signal(void *arg)
{
	(void)arg;
	pause();
}

/* Has a worker of io_uring open a FIFO again and again, which somebody else opens 5 ms later. */
static void use_ring(void *arg)
{
	struct io_uring_params params = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &params);
	size_t size = params.sq_off.array + sizeof(unsigned);
	struct io_uring_sqe *request;
	char *queue;

	queue = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	request = mmap(NULL, sizeof(*request), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       IORING_OFF_SQES);
	if (fd < 0 || queue == MAP_FAILED || (void *)request == MAP_FAILED)
		_exit(1);
	*request = (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT,
					  .flags = IOSQE_ASYNC,
					  .fd = AT_FDCWD,
					  .addr = (uint64_t)(uintptr_t)arg,
					  .open_flags = O_RDONLY };
	for (unsigned i = 1;; i++) {
		int end;

		__atomic_store_n((unsigned *)(queue + params.sq_off.tail), i, __ATOMIC_RELEASE);
		syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0);
		traced_children_doze(5);
		end = open(arg, O_WRONLY | O_CLOEXEC);
		traced_children_doze(5);
		close(end);
	}
}

/* ---- States and sites ------------------------------------------------------------------------ */

/* What a child does, and where it is to be found. */
struct kind {
	void (*run)(void *arg);
	enum wait_state state;
	enum trace_target target;
	const char *call, *call_too; /* as some machines have it */
	uint64_t ino; /* of the target */
	void *arg;
	pid_t pid;
	uint64_t before_ns, before_alive_ns;
};

static uint64_t alive(const struct traced_children_thread *thread)
{
	uint64_t ns = 0;

	for (unsigned state = 0; state < WAIT_STATES; state++)
		ns += thread->ns[state];
	return ns;
}

/* Checks where a child waited, by a site that its thread names or that it left often. */
static void check_site(const struct traced_children *book, const struct kind *kind)
{
	const struct trace_site *site = traced_children_site(book, kind->pid, kind->state);
	const char *call;

	if (!site)
		fail_msg("no site of %s", kind->call);
	call = traced_children_call(book, site);
	if (!call || (strcmp(call, kind->call) != 0 && strcmp(call, kind->call_too) != 0))
		fail_msg("%s in place of %s", call ? call : "none", kind->call);
	assert_int_equal(site->key.target, kind->target);
	if (kind->target != TRACE_NOTHING)
		assert_true(site->key.ino == kind->ino);
	assert_string_equal(site->comm, "e2e_trace");
}

/* The time of a child in its state until the reading: who runs, or wakes often, may wait to. */
static uint64_t in_kind(const struct traced_children *book, const struct kind *kind)
{
	const struct traced_children_thread *thread = traced_children_thread(book, kind->pid);
	uint64_t ns = thread->ns[kind->state];

	if (kind->state == STATE_RUN || kind->state == STATE_TIMER)
		ns += thread->ns[STATE_CPU];
	return ns;
}

/* Checks that a child was in its state for nearly all of the time since it was looked at. */
static void check_state(const struct traced_children *book, const struct kind *kind)
{
	const struct traced_children_thread *thread = traced_children_thread(book, kind->pid);
	uint64_t ns = in_kind(book, kind) - kind->before_ns;
	uint64_t alive_ns = alive(thread) - kind->before_alive_ns;

	assert_in_range(alive_ns, MS(700), MS(2000));
	if (ns < alive_ns * 9 / 10)
		fail_msg("%s: %ju of %ju ns", kind->call, (uintmax_t)ns, (uintmax_t)alive_ns);
}

/* Opens and locks what children wait on, and notes which files these are. */
static void open_waited_on(struct kind *kinds, int *read_end, int *poll_end, const char *locked)
{
	int fd = open(locked, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct flock lock = { .l_type = F_WRLCK };
	struct stat st;

	assert_int_equal(pipe(read_end), 0);
	assert_int_equal(pipe(poll_end), 0);
	fstat(read_end[0], &st);
	kinds[1].ino = st.st_ino;
	fstat(poll_end[0], &st);
	kinds[4].ino = st.st_ino;
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(fcntl(fd, F_SETLK, &lock), 0);
	fstat(fd, &st);
	kinds[9].ino = kinds[10].ino = st.st_ino;
}

/* Each sort of sleeper is in its state for nearly all of the time, and nobody loses any. */
E2E_TEST(test_states)
{
	char *locked = e2e_path("locked");
	int read_end[2], poll_end[2];
	struct kind kinds[] = {
		{ traced_children_sleep_often, STATE_TIMER, TRACE_NOTHING, "clock_nanosleep",
		  "nanosleep", .ino = 0 },
		{ traced_children_read_pipe, STATE_PIPE, TRACE_FILE, "read", "read",
		  .arg = read_end },
		{ wait_futex, STATE_LOCK, TRACE_FUTEX, "futex", "futex",
		  .ino = (uint64_t)(uintptr_t)&mutex_word, .arg = &mutex_word },
		{ wait_futex, STATE_PARK, TRACE_FUTEX, "futex", "futex",
		  .ino = (uint64_t)(uintptr_t)&shared_word, .arg = &shared_word },
		{ poll_pipe, STATE_POLL, TRACE_FILE, "poll", "ppoll", .arg = poll_end },
		{ wait_child, STATE_CHILD, TRACE_CHILD, "wait4", "waitid", .ino = (uint64_t)-1 },
		{ await_signal, STATE_POLL, TRACE_NOTHING, "pause", "ppoll", .ino = 0 },
		{ poll_two, STATE_POLL, TRACE_POLLED, "poll", "ppoll", .ino = 2, .arg = poll_end },
		{ select_three, STATE_POLL, TRACE_POLLED, "select", "pselect6", .ino = 3,
		  .arg = poll_end },
		{ lock_flock, STATE_LOCK, TRACE_FILE, "flock", "flock", .arg = locked },
		{ lock_fcntl, STATE_LOCK, TRACE_FILE, "fcntl", "fcntl", .arg = locked },
		{ spin, STATE_RUN, TRACE_NOTHING, NULL, NULL, .ino = 0 },
	};
	const size_t n = sizeof(kinds) / sizeof(kinds[0]), early = 4;
	struct traced_children book;
	pid_t stopped;

	e2e_require_bpf();
	open_waited_on(kinds, read_end, poll_end, locked);
	/* Some are there before, the others come later. */
	for (size_t i = 0; i < early; i++)
		kinds[i].pid = traced_children_child(kinds[i].run, kinds[i].arg);
	stopped = traced_children_child(spin, NULL);
	e2e_stop(stopped);
	traced_children_doze(50);
	traced_children_open(&book, &plain);
	for (size_t i = early; i < n; i++)
		kinds[i].pid = traced_children_child(kinds[i].run, kinds[i].arg);
	traced_children_doze(300);
	traced_children_read(&book);
	for (size_t i = 0; i < n; i++) {
		const struct traced_children_thread *thread =
			traced_children_thread(&book, kinds[i].pid);

		kinds[i].before_ns = in_kind(&book, &kinds[i]);
		kinds[i].before_alive_ns = alive(thread);
		/* These never run, and were there before. */
		assert_int_equal(thread->waiter.attached, i >= 1 && i <= 3);
	}
	traced_children_doze(700);
	traced_children_read(&book);
	for (size_t i = 0; i < n; i++) {
		check_state(&book, &kinds[i]);
		if (kinds[i].call)
			check_site(&book, &kinds[i]);
	}
	assert_int_equal(traced_children_thread(&book, stopped)->state, STATE_STOP);
	assert_int_equal(book.lost_waits, 0);
	traced_children_close(&book);
}

/* Whether a site's function, as its stack is named, is that one. */
static bool is_at(const struct traced_children *book, const struct symbols *symbols,
		  const struct trace_site *site, const char *function)
{
	uint64_t addresses[TRACE_FRAMES], offset;
	size_t n = trace_stack(book->trace, site->stack, addresses, TRACE_FRAMES);

	for (size_t i = 0; i < n; i++) {
		const char *name = symbol_at(symbols, addresses[i], &offset);

		if (name && !strcmp(name, function))
			return true;
	}
	return false;
}

/* Workers of io_uring that have nothing to do are at a site of their own. */
E2E_TEST(test_workers)
{
	const struct trace_options stacks = { .sites = 16384, .stacks = TRACE_STACKS_BLOCKED };
	char *fifo = e2e_path("fifo");
	int ring = (int)syscall(SYS_io_uring_setup, 1, &(struct io_uring_params){ 0 });
	int proc = open("/proc", O_PATH | O_CLOEXEC);
	uint64_t idle = 0, busy = 0;
	struct symbols *symbols;
	struct traced_children book;
	pid_t pid;

	e2e_require_bpf();
	if (ring < 0)
		e2e_skip("no io_uring");
	close(ring);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	symbols = symbols_read(proc);
	close(proc);
	traced_children_open(&book, &stacks);
	pid = traced_children_child(use_ring, fifo);
	traced_children_doze(500);
	traced_children_read(&book);
	for (uint32_t i = 0; i < book.nsites; i++) {
		const struct trace_site *site = &book.sites[i];

		if (site->key.tgid != pid || site->key.state != STATE_OTHER ||
		    site->key.syscall >= 0)
			continue;
		if (is_at(&book, symbols, site, "fifo_open"))
			busy += site->count;
		else if (is_at(&book, symbols, site, "io_wq_worker"))
			idle += site->count;
	}
	print_message("%ju waits for the file, %ju for work\n", (uintmax_t)busy, (uintmax_t)idle);
	assert_in_range(busy, 10, 60);
	assert_in_range(idle, 10, 60);
	symbols_free(symbols);
	traced_children_close(&book);
}

/* Waits are counted by their length, and the timer is known for who ends them. */
E2E_TEST(test_lengths)
{
	struct traced_children book;
	const struct trace_site *site;
	uint64_t sum = 0;
	pid_t pid;

	e2e_require_bpf();
	traced_children_open(&book, &plain);
	pid = traced_children_child(traced_children_sleep_often, NULL);
	traced_children_doze(500);
	traced_children_read(&book);
	site = traced_children_site(&book, pid, STATE_TIMER);
	assert_non_null(site);
	for (unsigned i = 0; i < TRACE_BUCKETS; i++)
		sum += site->buckets[i];
	assert_int_equal(sum, site->count);
	assert_in_range(site->count, 20, 167);
	/* 3 ms and a little: below 4,096 us; on a busy machine some take longer */
	assert_true(site->buckets[12] > site->count / 2);
	assert_int_equal(sum - site->buckets[12] - site->buckets[13] - site->buckets[14] -
				 site->buckets[15] - site->buckets[16],
			 0);
	assert_true(site->ns >= site->count * MS(3) && site->max_ns >= MS(3));
	assert_int_equal(site->wakers[0].tgid, 0);
	assert_true(site->wakers[0].count * 10 >= site->count * 9);
	assert_non_null(strstr(site->wakers[0].name, "timer"));
	assert_true(site->stack >= 0);
	traced_children_close(&book);
}

/* ---- Disk ------------------------------------------------------------------------------------ */

/* Reads a file's blocks directly, for ever. */
static void read_blocks(void *arg)
{
	int fd = *(int *)arg;
	void *block = NULL;

	if (posix_memalign(&block, BLOCK, BLOCK))
		_exit(1);
	for (unsigned i = 0;; i++)
		if (pread(fd, block, BLOCK, (off_t)(i * 37 % 256) * BLOCK) != BLOCK)
			_exit(1);
}

/* A file of the test's folder that can be read directly; -1 where that cannot be. */
static int make_file(unsigned i)
{
	static char blocks[256 * BLOCK];
	char *path = e2e_format("%s/file%u", e2e_folder(), i);
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, blocks, sizeof(blocks)), sizeof(blocks));
	fsync(fd);
	close(fd);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	unlink(path);
	return fd;
}

/* The time in sites of a process's block I/O, on a file or any (0). */
static uint64_t sited_io(const struct traced_children *book, pid_t tgid, uint64_t ino)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < book->nsites; i++) {
		const struct trace_site *site = &book->sites[i];

		if (site->key.tgid == tgid && site->key.state == STATE_IO &&
		    (!ino || site->key.ino == ino))
			ns += site->ns;
	}
	return ns;
}

/* Four readers of four files: each one's block I/O is on its file. */
E2E_TEST(test_disk)
{
	struct traced_children book;
	struct stat stats[4];
	pid_t pids[4];
	int fds[4];

	e2e_require_bpf();
	traced_children_open(&book, &plain);
	for (unsigned i = 0; i < 4; i++) {
		fds[i] = make_file(i);
		if (fds[i] < 0) {
			traced_children_close(&book);
			e2e_skip("no direct I/O");
		}
		fstat(fds[i], &stats[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		pids[i] = traced_children_child(read_blocks, &fds[i]);
	traced_children_doze(1000);
	traced_children_read(&book);
	for (unsigned i = 0; i < 4; i++) {
		const struct trace_site *site = traced_children_site(&book, pids[i], STATE_IO);
		uint64_t all = sited_io(&book, pids[i], 0);
		uint64_t right = sited_io(&book, pids[i], stats[i].st_ino);

		assert_non_null(site);
		assert_string_equal(traced_children_call(&book, site), "pread64");
		assert_int_equal(site->key.dev,
				 major(stats[i].st_dev) << 20 | minor(stats[i].st_dev));
		/* the file's name and that of its folder, from the last component on */
		assert_memory_equal(site->name, "file", 4);
		assert_string_equal(strrchr(e2e_folder(), '/') + 1,
				    site->name + strlen(site->name) + 1);
		assert_true(site->count > 10 && all);
		if (right * 100 < all * 98)
			fail_msg("%ju of %ju ns", (uintmax_t)right, (uintmax_t)all);
		close(fds[i]);
	}
	traced_children_close(&book);
}

/* Stacks tell sites of block I/O apart, and can be read. */
E2E_TEST(test_stacks)
{
	const struct trace_options options = { .sites = 4096, .stacks = TRACE_STACKS_BLOCKED };
	const struct trace_site *site;
	struct traced_children book;
	uint64_t frames[64];
	pid_t pid;
	int fd;

	e2e_require_bpf();
	fd = make_file(0);
	if (fd < 0)
		e2e_skip("no direct I/O");
	traced_children_open(&book, &options);
	pid = traced_children_child(read_blocks, &fd);
	traced_children_doze(300);
	traced_children_read(&book);
	site = traced_children_site(&book, pid, STATE_IO);
	assert_non_null(site);
	assert_true(site->key.stack >= 0 && site->key.stack == site->stack);
	assert_in_range(trace_stack(book.trace, site->stack, frames, 64), 4, 64);
	assert_true(frames[0] >> 63);
	assert_int_equal(trace_stack(book.trace, site->stack, frames, 2), 2);
	assert_int_equal(trace_stack(book.trace, -1, frames, 64), 0);
	assert_int_equal(trace_stack(book.trace, INT_MAX, frames, 64), 0);
	traced_children_close(&book);
	close(fd);
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

/* Of two that share a CPU each waits for the other. */
E2E_TEST(test_cpu)
{
	struct traced_children book;
	cpu_set_t set;
	pid_t pids[2];
	bool found = false;

	e2e_require_bpf();
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	traced_children_open(&book, &plain);
	for (unsigned i = 0; i < 2; i++) {
		pids[i] = traced_children_child(spin, NULL);
		assert_int_equal(sched_setaffinity(pids[i], sizeof(set), &set), 0);
	}
	traced_children_doze(1000);
	traced_children_read(&book);
	for (uint32_t i = 0; i < book.nsites; i++) {
		const struct trace_site *site = &book.sites[i];

		if (site->key.tgid != pids[0] || site->key.state != STATE_CPU ||
		    site->key.target != TRACE_TASK || (pid_t)site->key.ino != pids[1])
			continue;
		found = true;
		assert_string_equal(site->name, "e2e_trace");
		assert_true(site->ns > MS(100));
		/* as the scheduler's own clock has it */
		assert_in_range(site->booked_ns, site->ns / 10 * 9, site->ns / 10 * 11);
	}
	assert_true(found);
	traced_children_close(&book);
}
