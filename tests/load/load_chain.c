// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load_chain KIND DEPTH SLEEP RUN [FOLDER [WRITES [HOGS]]]: processes that wait for one another,
 * again and again: the first for the second, and so on; the last, DEPTH processes further, works:
 * it sleeps for SLEEP ms, writes to a file of FOLDER and has that on disk WRITES times, and runs
 * for RUN ms of CPU time. Prints "ready" and the pids of the first and the last.
 *   pipe, socket, tcp, udp, eventfd, futex: each asks the next, and waits for its answer
 *   condition, signal, uring: the same by condition variables, by signals that are waited for, by
 *     reads of pipes through io_uring
 *   flock, fcntl: each holds a file's lock while it waits for the next's; files are in FOLDER
 *   mutex, rwlock: the same with locks in shared memory
 *   semaphore: all take one in turn, and work as long as they have it
 *   child, pidfd: each starts the next, and waits until it ends: by wait4(), or by poll() of a
 * pidfd turns: DEPTH processes work in turn, and each wakes the first pool: DEPTH threads of
 * another wait for what the first asks; one works, and answers free: the last works without being
 * asked, and wakes the first deadlock: each of a circle of DEPTH holds a file's lock, and waits for
 * the next's for ever With HOGS all run on one CPU, beside so many processes that do nothing else.
 * They are called chain0 and so on, or as LOAD_CHAIN_NAMES says, with commas between. FOLDER/work
 * has what the work was so far, in ns: sleeping, writing, running, waiting for a CPU, at all.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MAX 16

/* The pause of the others of a chain of locks, in which the one before gets its turn. */
#define PAUSE_MS 1

/* A count that is waited for by a condition variable. */
struct condition {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned count;
};

/*
 * One way between two processes: a descriptor to write to and one to read from, or a semaphore, or
 * a condition, or a signal for the process at that place.
 */
struct way {
	int in, out;
	sem_t *semaphore;
	struct condition *condition;
	int signal;
	unsigned place;
};

/* A ring of one request at a time. */
struct ring {
	int fd; /* 0: not made */
	struct io_uring_sqe *requests;
	unsigned *submitted, *places, *completed;
};

/* Work that was done. */
enum work { SLEPT, WROTE, RAN, QUEUED, WORKED, WORKS };

static unsigned depth, sleep_ms, run_ms, writes;
static struct way asks[DEPTH_MAX + 1], answers[DEPTH_MAX + 1]; /* of the process before */
static int locks[DEPTH_MAX + 1], data = -1;
static bool by_fcntl, by_ring, by_pidfd;
static struct ring ring; /* of this process */
static volatile pid_t *places; /* the processes, by place */
static pthread_mutex_t *mutexes;
static pthread_rwlock_t *rwlocks;
static volatile uint64_t *worked;

static void doze(unsigned ms)
{
	struct timespec left = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (ms && nanosleep(&left, &left))
		;
}

static void must(int result)
{
	if (result < 0) {
		perror("load_chain");
		_exit(1);
	}
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Uses so much CPU time. */
static void burn(unsigned ms)
{
	uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (ms && clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun < (uint64_t)ms * 1000000)
		;
}

static void write_data(void)
{
	static char block[16384];

	for (unsigned i = 0; i < writes; i++) {
		must((int)pwrite(data, block, sizeof(block), 0));
		must(fdatasync(data));
	}
}

/* The time that this thread waited for a CPU. */
static uint64_t queued_ns(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	unsigned long long ran, queued = 0;

	if (file && fscanf(file, "%llu %llu", &ran, &queued) != 2)
		queued = 0;
	if (file)
		fclose(file);
	return queued;
}

/* The root of all waits. */
static void work(void)
{
	uint64_t begun = clock_ns(CLOCK_MONOTONIC), queued = queued_ns(), slept, wrote, run, all;
	uint64_t ran = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	doze(sleep_ms);
	slept = clock_ns(CLOCK_MONOTONIC) - begun;
	write_data();
	wrote = clock_ns(CLOCK_MONOTONIC) - begun - slept;
	burn(run_ms);
	all = clock_ns(CLOCK_MONOTONIC) - begun;
	run = clock_ns(CLOCK_THREAD_CPUTIME_ID) - ran;
	queued = queued_ns() - queued;
	if (!worked)
		return;
	worked[SLEPT] += slept;
	worked[WROTE] += wrote;
	worked[RAN] += run;
	worked[QUEUED] += queued;
	worked[WORKED] += all;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void *map_ring(uint64_t offset)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
			    (off_t)offset);

	if (memory == MAP_FAILED)
		must(-1);
	return memory;
}

static void make_ring(void)
{
	struct io_uring_params params = { 0 };
	char *submits, *completes;

	ring.fd = (int)syscall(SYS_io_uring_setup, 1, &params);
	must(ring.fd);
	submits = map_ring(IORING_OFF_SQ_RING);
	completes = map_ring(IORING_OFF_CQ_RING);
	ring.requests = map_ring(IORING_OFF_SQES);
	ring.submitted = (unsigned *)(submits + params.sq_off.tail);
	ring.places = (unsigned *)(submits + params.sq_off.array);
	ring.completed = (unsigned *)(completes + params.cq_off.head);
}

/* Reads from a descriptor through the ring. */
static void read_by_ring(int fd, uint64_t *out)
{
	if (!ring.fd)
		make_ring();
	ring.requests[0] = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
						  .fd = fd,
						  .addr = (uintptr_t)out,
						  .len = sizeof(*out),
						  .off = (uint64_t)-1 };
	ring.places[0] = 0;
	__atomic_add_fetch(ring.submitted, 1, __ATOMIC_RELEASE);
	must((int)syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	__atomic_add_fetch(ring.completed, 1, __ATOMIC_RELEASE);
}

static void await_signal(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	must(sigwaitinfo(&set, NULL));
}

static void tell(const struct way *way)
{
	const uint64_t one = 1;

	if (way->signal) {
		while (!places[way->place])
			doze(1);
		must(kill(places[way->place], way->signal));
	} else if (way->condition) {
		must(-pthread_mutex_lock(&way->condition->mutex));
		way->condition->count++;
		must(-pthread_cond_signal(&way->condition->changed));
		must(-pthread_mutex_unlock(&way->condition->mutex));
	} else if (way->semaphore)
		must(sem_post(way->semaphore));
	else
		must((int)write(way->in, &one, sizeof(one)));
}

static void await(const struct way *way)
{
	uint64_t one;

	if (way->signal) {
		await_signal(way->signal);
		return;
	}
	if (by_ring) {
		read_by_ring(way->out, &one);
		return;
	}
	if (way->condition) {
		must(-pthread_mutex_lock(&way->condition->mutex));
		while (!way->condition->count)
			must(-pthread_cond_wait(&way->condition->changed, &way->condition->mutex));
		way->condition->count--;
		must(-pthread_mutex_unlock(&way->condition->mutex));
		return;
	}
	if (way->semaphore)
		must(sem_wait(way->semaphore));
	else if (read(way->out, &one, sizeof(one)) != sizeof(one))
		_exit(0);
}

/* Answers the process before the i-th. */
static void serve(unsigned i)
{
	for (;;) {
		if (i)
			await(&asks[i]);
		if (i < depth) {
			tell(&asks[i + 1]);
			await(&answers[i + 1]);
		} else {
			work();
		}
		if (i)
			tell(&answers[i]);
	}
}

/* The first is woken by each of the others in its turn. */
static void take_turns(unsigned i)
{
	if (i == 1)
		tell(&asks[1]);
	for (;;) {
		await(&asks[i]);
		if (i) {
			work();
			tell(&asks[0]);
			tell(&asks[i < depth ? i + 1 : 1]);
		}
	}
}

/* A thread of a pool: all take what is asked from one way. */
static void *take_part(void *unused)
{
	for (;;) {
		await(&asks[1]);
		work();
		tell(&answers[1]);
	}
	return unused;
}

static void share(unsigned i)
{
	pthread_t thread;

	for (unsigned n = 1; i && n < depth; n++)
		must(-pthread_create(&thread, NULL, take_part, NULL));
	if (i)
		take_part(NULL);
	for (;;) {
		tell(&asks[1]);
		await(&answers[1]);
	}
}

/* The last of two works without being asked. */
static void work_freely(unsigned i)
{
	for (;;) {
		if (i) {
			work();
			tell(&answers[1]);
		} else {
			await(&answers[1]);
		}
	}
}

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		must(-1);
	return memory;
}

/* Makes a connection between two processes. */
static void make_connection(int ends[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(listener);
	must(bind(listener, (struct sockaddr *)&address, size));
	must(listen(listener, 1));
	must(getsockname(listener, (struct sockaddr *)&address, &size));
	ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(ends[1]);
	must(connect(ends[1], (struct sockaddr *)&address, size));
	ends[0] = accept(listener, NULL, NULL);
	must(ends[0]);
	close(listener);
}

/* Makes two sockets without a connection that only take datagrams from each other. */
static void make_datagrams(int ends[2])
{
	struct sockaddr_in addresses[2];
	socklen_t size = sizeof(addresses[0]);

	for (unsigned i = 0; i < 2; i++) {
		addresses[i] = (struct sockaddr_in){ .sin_family = AF_INET,
						     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		ends[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		must(ends[i]);
		must(bind(ends[i], (struct sockaddr *)&addresses[i], size));
		must(getsockname(ends[i], (struct sockaddr *)&addresses[i], &size));
	}
	for (unsigned i = 0; i < 2; i++)
		must(connect(ends[i], (struct sockaddr *)&addresses[!i], size));
}

/* Makes a condition that processes share. */
static struct condition *make_condition(void)
{
	struct condition *condition = shared(sizeof(*condition));
	pthread_mutexattr_t mutex;
	pthread_condattr_t changed;

	must(-pthread_mutexattr_init(&mutex));
	must(-pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED));
	must(-pthread_mutex_init(&condition->mutex, &mutex));
	must(-pthread_condattr_init(&changed));
	must(-pthread_condattr_setpshared(&changed, PTHREAD_PROCESS_SHARED));
	must(-pthread_cond_init(&condition->changed, &changed));
	return condition;
}

/* Makes the way that is asked, or answered, by: each has a signal of its own. */
static void make_way(struct way *way, const char *kind, unsigned place, int number)
{
	int ends[2];

	if (!strcmp(kind, "signal")) {
		way->signal = number;
		way->place = place;
		return;
	}
	if (!strcmp(kind, "condition")) {
		way->condition = make_condition();
		return;
	}
	if (!strcmp(kind, "futex") || !strcmp(kind, "semaphore")) {
		way->semaphore = shared(sizeof(*way->semaphore));
		must(sem_init(way->semaphore, 1, 0));
		return;
	}
	if (!strcmp(kind, "eventfd"))
		ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC);
	else if (!strcmp(kind, "tcp"))
		make_connection(ends);
	else if (!strcmp(kind, "udp"))
		make_datagrams(ends);
	else if (!strcmp(kind, "socket"))
		must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	else
		must(pipe(ends));
	way->out = ends[0];
	way->in = ends[1];
}

/* ---- Locks ----------------------------------------------------------------------------------- */

static void set_lock(unsigned i, bool held)
{
	struct flock lock = { .l_type = held ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET };

	if (rwlocks)
		must(held ? -pthread_rwlock_wrlock(&rwlocks[i])
			  : -pthread_rwlock_unlock(&rwlocks[i]));
	else if (mutexes)
		must(held ? -pthread_mutex_lock(&mutexes[i]) : -pthread_mutex_unlock(&mutexes[i]));
	else if (by_fcntl)
		must(fcntl(locks[i], F_SETLKW, &lock));
	else
		must(flock(locks[i], held ? LOCK_EX : LOCK_UN));
}

/* Opens the files that are locked; each process has descriptors of its own, as locks are theirs. */
static void open_locks(const char *folder)
{
	char path[4096];

	for (unsigned i = 0; i <= depth; i++) {
		snprintf(path, sizeof(path), "%s/lock%u", folder, i);
		locks[i] = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
		must(locks[i]);
	}
}

/* Holds its lock while it waits for the next's; the last holds its own while it works. */
static void hold(unsigned i)
{
	for (;;) {
		if (i)
			set_lock(i, true);
		if (i < depth) {
			set_lock(i + 1, true);
			set_lock(i + 1, false);
		} else {
			work();
		}
		if (i)
			set_lock(i, false);
		doze(PAUSE_MS);
	}
}

/* Takes what all take. */
static void take(unsigned i)
{
	if (!i)
		tell(&asks[0]);
	for (;;) {
		await(&asks[0]);
		work();
		tell(&asks[0]);
		doze(PAUSE_MS);
	}
}

/* One of a circle. */
static void hold_for_ever(unsigned i)
{
	set_lock(i, true);
	doze(300);
	set_lock((i + 1) % depth, true);
	pause();
}

static void make_rwlocks(void)
{
	pthread_rwlockattr_t attributes;

	rwlocks = shared((DEPTH_MAX + 1) * sizeof(*rwlocks));
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	for (unsigned i = 0; i <= DEPTH_MAX; i++)
		pthread_rwlock_init(&rwlocks[i], &attributes);
}

static void make_mutexes(void)
{
	pthread_mutexattr_t attributes;

	mutexes = shared((DEPTH_MAX + 1) * sizeof(*mutexes));
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	for (unsigned i = 0; i <= DEPTH_MAX; i++)
		pthread_mutex_init(&mutexes[i], &attributes);
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void begin(unsigned i)
{
	const char *names = getenv("LOAD_CHAIN_NAMES");
	char name[16];

	if (places)
		places[i] = getpid();
	snprintf(name, sizeof(name), "chain%u", i);
	for (unsigned at = 0; names && at < i; at++)
		names = strchr(names, ',') ? strchr(names, ',') + 1 : NULL;
	if (names)
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(names, ","), names);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Waits until a child has ended. */
static void reap(pid_t pid, struct rusage *used)
{
	struct pollfd child = { .events = POLLIN };

	if (by_pidfd) {
		child.fd = (int)syscall(SYS_pidfd_open, pid, 0);
		must(child.fd);
		must(poll(&child, 1, -1));
		close(child.fd);
	}
	must(wait4(pid, NULL, 0, used));
}

/* Waits for a child. What it and its own used besides the work, as to start and to end, is work. */
static void await_child(pid_t pid, uint64_t ran)
{
	struct rusage used;
	uint64_t all;

	reap(pid, &used);
	all = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000u +
	      (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000u;
	ran = worked[RAN] - ran;
	if (all > ran) {
		worked[RAN] += all - ran;
		worked[WORKED] += all - ran;
	}
}

/* Has a child do it, again and again; the last child works, and ends. */
static void start_children(unsigned i)
{
	do {
		uint64_t ran = worked[RAN];
		pid_t pid = i < depth ? fork() : 0;

		must(pid);
		if (i == depth) {
			work();
		} else if (!pid) {
			begin(i + 1);
			start_children(i + 1);
			_exit(0);
		} else if (!i) {
			await_child(pid, ran);
		} else {
			reap(pid, NULL);
		}
	} while (!i);
}

static const struct {
	const char *kind;
	void (*run)(unsigned i);
} kinds[] = {
	{ "pipe", serve },
	{ "socket", serve },
	{ "tcp", serve },
	{ "udp", serve },
	{ "condition", serve },
	{ "signal", serve },
	{ "uring", serve },
	{ "eventfd", serve },
	{ "futex", serve },
	{ "flock", hold },
	{ "fcntl", hold },
	{ "mutex", hold },
	{ "rwlock", hold },
	{ "child", start_children },
	{ "pidfd", start_children },
	{ "semaphore", take },
	{ "turns", take_turns },
	{ "pool", share },
	{ "free", work_freely },
	{ "deadlock", hold_for_ever },
};

/* Opens what the work has in a folder. */
static void open_work(const char *folder)
{
	char path[4096];
	void *memory;
	int fd;

	snprintf(path, sizeof(path), "%s/work", folder);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	must(fd);
	must(ftruncate(fd, WORKS * sizeof(*worked)));
	memory = mmap(NULL, WORKS * sizeof(*worked), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		must(-1);
	worked = memory;
	close(fd);
	snprintf(path, sizeof(path), "%s/data", folder);
	data = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	must(data);
}

/* Starts processes that use the only CPU that all have from then on. */
static void start_hogs(unsigned long n)
{
	cpu_set_t all, one;
	size_t cpu = 0;

	must(sched_getaffinity(0, sizeof(all), &all));
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	for (unsigned long i = 0; i < n; i++) {
		pid_t pid;

		must(sched_setaffinity(0, sizeof(one), &one));
		pid = fork();
		must(pid);
		if (pid)
			continue;
		prctl(PR_SET_NAME, "hog");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			burn(1000);
	}
}

/* Makes the ways of a kind between processes: between i - 1 and i the i-th. */
static void make_ways(const char *kind)
{
	sigset_t set;

	if (!strcmp(kind, "signal")) {
		places = shared((DEPTH_MAX + 1) * sizeof(*places));
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigaddset(&set, SIGUSR2);
		must(sigprocmask(SIG_BLOCK, &set, NULL));
	}
	for (unsigned i = 0; i <= depth; i++) {
		make_way(&asks[i], kind, i, SIGUSR1);
		make_way(&answers[i], kind, i - 1, SIGUSR2);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 4 ? argv[1] : "", *folder = argc > 5 ? argv[5] : NULL;
	void (*run)(unsigned i) = NULL;
	pid_t pids[DEPTH_MAX + 1];
	unsigned last;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].kind, kind))
			run = kinds[i].run;
	if (argc < 5 || !run)
		return 2;
	depth = (unsigned)strtoul(argv[2], NULL, 10);
	sleep_ms = (unsigned)strtoul(argv[3], NULL, 10);
	run_ms = (unsigned)strtoul(argv[4], NULL, 10);
	writes = argc > 6 ? (unsigned)strtoul(argv[6], NULL, 10) : 0;
	if (!depth || depth > DEPTH_MAX)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	start_hogs(argc > 7 ? strtoul(argv[7], NULL, 10) : 0);
	by_fcntl = !strcmp(kind, "fcntl");
	if (folder)
		open_work(folder);
	if (!strcmp(kind, "mutex"))
		make_mutexes();
	if (!strcmp(kind, "rwlock"))
		make_rwlocks();
	by_ring = !strcmp(kind, "uring");
	by_pidfd = !strcmp(kind, "pidfd");
	if (run != hold && run != hold_for_ever)
		make_ways(kind);
	last = run == hold_for_ever    ? depth - 1
	       : run == start_children ? 0
	       : run == share	       ? 1
				       : depth;
	for (unsigned i = 0; i <= last; i++) {
		pids[i] = fork();
		must(pids[i]);
		if (!pids[i]) {
			begin(i);
			if (folder && !mutexes && !rwlocks && (run == hold || run == hold_for_ever))
				open_locks(folder);
			run(i);
			_exit(1);
		}
	}
	printf("ready %d %d\n", (int)pids[0], (int)pids[last]);
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return 0;
}
