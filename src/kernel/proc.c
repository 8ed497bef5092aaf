/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/util.h"

/* Reads per request, and the longest of them. */
#define AHEAD_MAX 64
#define AHEAD_BYTES 4096

/* Maximum length of a single read. */
#define ALONE_BYTES (512 * 1024)

/*
 * A read takes microseconds. One that sleeps for this long is considered hung; if the helper wants
 * a CPU and gets none, it is given up later.
 */
#define PATIENCE_MS 50
#define PATIENCE_RUNNING_MS 1000

/* Time per second that hung reads may take; after that none is started in it. */
#define LOST_MS_MAX 300

/* A hung read is tried again after this time, and after twice that each time. */
#define RETRY_NS (5 * NSEC_PER_SEC)
#define RETRIES_MAX 4

/* Maximum number of recently hung reads, and of their helpers that SIGKILL does not end. */
#define HUNG_MAX 64
#define LEFT_MAX 16

/*
 * If a helper cannot be started, or exits at once, the next is started after this time, then twice
 * that.
 */
#define PAUSE_NS NSEC_PER_SEC
#define PAUSES_MAX 6

#define HELPER_NAME "stalltop-reads"

enum op { OP_READ, OP_LINK, OP_STAT, OP_NUMBERS };

/* A request to the helper, and its answer: a number or -errno. */
struct ask {
	enum op op;
	char path[64];
	uint64_t at;
	uint32_t size; /* of the data */
	uint32_t data; /* offset of its data */
	int result;
};

/*
 * Futex values waited for are never 2: a wait for that value looks like a contended lock of glibc,
 * also to a trace of waits.
 */
#define TURN_STEP 4
#define NONE_DONE 4

/* Memory shared with a helper. */
struct channel {
	_Atomic uint32_t turn; /* increases with each request, by TURN_STEP */
	_Atomic uint32_t done; /* NONE_DONE + number of answered asks of the request */
	uint32_t first, n; /* the request: places in `asks` */
	struct ask asks[AHEAD_MAX + 1]; /* the last is the single read's */
	char data[AHEAD_MAX * AHEAD_BYTES + ALONE_BYTES];
};

/* Locks that files wait for. A task hung with one can still be asked for files of others. */
enum lock {
	LOCK_NONE,
	LOCK_MEMORY, /* mmap_lock */
	LOCK_FILE, /* of an open file, such as ep->mtx */
	LOCK_GROUPS, /* cgroup_mutex: global */
	LOCK_EXEC, /* exec_update_lock */
};

/* A hung read. Its helper was killed, which some waits outlast. */
struct hung {
	uint64_t id; /* of the process or thread; 0 for LOCK_GROUPS */
	enum lock lock; /* LOCK_NONE: the place is free */
	pid_t pid; /* the helper that still exists; 0: none */
	struct channel *channel; /* its memory */
	uint64_t retry_ns; /* when it may be tried again */
	unsigned tries;
};

struct proc_helper {
	pid_t pid; /* 0: none runs */
	clockid_t clock; /* of its CPU time */
	struct channel *channel;
	unsigned fails; /* failed starts and immediate exits in a row */
	uint64_t started_ns, pause_ns; /* pause_ns: no start before that */
	unsigned wishes; /* prefetched reads */
	unsigned taken; /* the one taken last */
	bool asked; /* they have their answers */
	struct hung hung[HUNG_MAX];
	unsigned nhung; /* reads that are not tried at present */
	unsigned nleft; /* helpers that still exist */
	uint64_t second_ns; /* start of the second that lost_ms counts */
	unsigned lost_ms;
	uint64_t cpu_ns; /* of helpers that exited */
};

void proc_open(struct proc *proc, int fd)
{
	proc->fd = fd;
	proc->helper = xcalloc(1, sizeof(*proc->helper));
}

/* Waits until a futex value changes, or for a time (0: forever). */
static void await_change(_Atomic uint32_t *number, uint32_t is, unsigned ms)
{
	struct timespec timeout = { ms / 1000, (long)(ms % 1000 * NSEC_PER_MSEC) };

	syscall(SYS_futex, number, FUTEX_WAIT, is, ms ? &timeout : NULL, NULL, 0);
}

static void report_change(_Atomic uint32_t *number)
{
	syscall(SYS_futex, number, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Reads from an offset. */
static int do_read(int procfd, const struct ask *ask, void *data)
{
	int fd = file_open(procfd, ask->path, O_NOFOLLOW);
	ssize_t got;

	if (fd < 0)
		return fd;
	do {
		got = pread(fd, data, ask->size, (off_t)ask->at);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		got = -errno;
	close(fd);
	return (int)got;
}

/* Parses the numeric names of one reading of a directory. Returns their number. */
static size_t take_numbers(const char *entries, size_t len, int *numbers, size_t max)
{
	size_t n = 0;

	for (size_t at = 0; at < len && n < max;) {
		/* The kernel's linux_dirent64 is laid out alike, and aligned to 8 bytes. */
		const struct dirent64 *entry = (const void *)(entries + at);
		const char *name = entry->d_name;
		uint64_t number;

		at += entry->d_reclen;
		if (parse_uint(&name, name + strlen(name), &number) && !*name && number <= INT_MAX)
			numbers[n++] = (int)number;
	}
	return n;
}

static int do_list(int procfd, const struct ask *ask, int *numbers)
{
	char entries[8192] __attribute__((aligned(8)));
	size_t n = 0, max = ask->size / sizeof(*numbers);
	int fd = file_open(procfd, ask->path, O_DIRECTORY);
	long got = 1;

	if (fd < 0)
		return fd;
	while (n < max && got > 0) {
		got = syscall(SYS_getdents64, fd, entries, sizeof(entries));
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			got = -errno;
		else
			n += take_numbers(entries, (size_t)got, numbers + n, max - n);
	}
	close(fd);
	return got < 0 ? (int)got : (int)n;
}

/* Executes a request: in the helper, or without one in the program. Allocates nothing. */
static int perform(int procfd, const struct ask *ask, void *data)
{
	struct stat info;
	ssize_t len;

	switch (ask->op) {
	case OP_READ:
		return do_read(procfd, ask, data);
	case OP_LINK:
		len = readlinkat(procfd, ask->path, data, ask->size);
		return len < 0 ? -errno : (int)len;
	case OP_STAT:
		if (fstatat(procfd, ask->path, &info, AT_SYMLINK_NOFOLLOW))
			return -errno;
		memcpy(data, &info, sizeof(info));
		return 0;
	case OP_NUMBERS:
	default:
		return do_list(procfd, ask, data);
	}
}

/* Sets the helper's command line to its name: the program's would match the user's searches. */
static void set_command_line(int procfd, const char *name)
{
	char text[4096], *line = program_invocation_name;
	size_t first = strlen(line) + 1, len = 0;
	int fd = file_open(procfd, "self/cmdline", 0);
	ssize_t got;

	if (fd < 0)
		return;
	/* Only if the kernel shows that. */
	while ((got = pread(fd, text, sizeof(text), (off_t)len)) > 0) {
		if (!len && memcmp(text, line, first < (size_t)got ? first : (size_t)got) != 0)
			break;
		len += (size_t)got;
	}
	close(fd);
	if (got || len <= strlen(name))
		return;
	memset(line, 0, len);
	memcpy(line, name, strlen(name));
}

/* The helper: answers until the program exits. */
_Noreturn static void serve(int procfd, struct channel *channel, pid_t parent)
{
	uint32_t seen = 0;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	process_become_helper(HELPER_NAME, &procfd, 1);
	set_command_line(procfd, HELPER_NAME);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (;;) {
		while (atomic_load(&channel->turn) == seen)
			await_change(&channel->turn, seen, 0);
		seen = atomic_load(&channel->turn);
		for (uint32_t i = 0; i < channel->n; i++) {
			struct ask *ask = &channel->asks[channel->first + i];

			ask->result = perform(procfd, ask, channel->data + ask->data);
			atomic_store(&channel->done, NONE_DONE + i + 1);
		}
		report_change(&channel->done);
	}
}

/* Delays the next start of a helper, ever longer: there may be no room for processes. */
static void pause_starts(struct proc_helper *helper)
{
	helper->pause_ns = clock_ns(CLOCK_MONOTONIC) + (PAUSE_NS << helper->fails);
	helper->fails += helper->fails < PAUSES_MAX;
}

/*
 * Starts a helper. Its exit sends no SIGCHLD, and waiting for any child ignores it: exit signal 0.
 * It runs in a copy of the program's memory as after fork(), but does not take libc's locks.
 */
static void start_helper(struct proc *proc)
{
	struct proc_helper *helper = proc->helper;
	struct channel *channel = mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid();
	long pid;

	helper->started_ns = clock_ns(CLOCK_MONOTONIC);
	if (channel == MAP_FAILED) {
		pause_starts(helper);
		return;
	}
	pid = syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL);
	if (!pid)
		serve(proc->fd, channel, parent);
	if (pid < 0) {
		debug_log("helper for /proc: %s", strerror(errno));
		munmap(channel, sizeof(*channel));
		pause_starts(helper);
		return;
	}
	helper->pid = (pid_t)pid;
	if (clock_getcpuclockid(helper->pid, &helper->clock))
		helper->clock = -1;
	helper->channel = channel;
}

/* CPU time used by the current helper; 0: unknown. */
static uint64_t cpu_of_helper(const struct proc_helper *helper)
{
	struct timespec used = { 0, 0 };

	if (helper->pid)
		clock_gettime(helper->clock, &used);
	return (uint64_t)used.tv_sec * NSEC_PER_SEC + (uint64_t)used.tv_nsec;
}

/* The lock that a file waits for, and its owner. */
static enum lock lock_of(const char *path, uint64_t *id)
{
	const char *name = strrchr(path, '/');

	*id = strtoull(path, NULL, 10);
	if (strstr(path, "/fdinfo/"))
		return LOCK_FILE;
	if (!name || (strcmp(name, "/cmdline") && strcmp(name, "/mem") && strcmp(name, "/cgroup")))
		return LOCK_EXEC;
	if (strcmp(name, "/cgroup"))
		return LOCK_MEMORY;
	*id = 0;
	return LOCK_GROUPS;
}

/* Finds the helpers that have exited, and the reads that may be tried again. */
static void look_after_hung(struct proc_helper *helper)
{
	uint64_t now_ns;

	if (!helper->nhung)
		return;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	helper->nhung = 0;
	for (unsigned i = 0; i < HUNG_MAX; i++) {
		struct hung *hung = &helper->hung[i];

		if (hung->pid && waitpid(hung->pid, NULL, __WALL | WNOHANG)) {
			munmap(hung->channel, sizeof(*hung->channel));
			hung->pid = 0;
			helper->nleft--;
		}
		helper->nhung += hung->lock && (hung->pid || now_ns < hung->retry_ns);
	}
}

/* True if a read would wait for the lock of another hung read. */
static bool is_refused(const struct proc_helper *helper, const char *path)
{
	uint64_t id, now_ns;
	enum lock lock;

	if (!helper->nhung)
		return false;
	lock = lock_of(path, &id);
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (helper->nhung == HUNG_MAX ||
	    (helper->lost_ms >= LOST_MS_MAX && now_ns - helper->second_ns < NSEC_PER_SEC))
		return true;
	for (unsigned i = 0; i < HUNG_MAX; i++) {
		const struct hung *hung = &helper->hung[i];

		if (hung->lock == lock && hung->id == id && (hung->pid || now_ns < hung->retry_ns))
			return true;
	}
	return false;
}

/* The place for a hung read: its earlier one, or a free one. */
static struct hung *place_of_hung(struct proc_helper *helper, enum lock lock, uint64_t id,
				  uint64_t now_ns)
{
	struct hung *found = NULL;

	for (unsigned i = 0; i < HUNG_MAX; i++) {
		struct hung *hung = &helper->hung[i];

		if (hung->lock == lock && hung->id == id && !hung->pid)
			return hung;
		if (!hung->lock || (!hung->pid && now_ns >= hung->retry_ns))
			found = hung;
	}
	if (found)
		*found = (struct hung){ .lock = lock, .id = id };
	return found;
}

/* Records a hung read, with its helper. */
static void note_hung(struct proc_helper *helper, const struct ask *ask, uint64_t since_ns)
{
	uint64_t id, now_ns = clock_ns(CLOCK_MONOTONIC);
	enum lock lock = lock_of(ask->path, &id);
	struct hung *hung = place_of_hung(helper, lock, id, now_ns);

	debug_log("reading %s hangs in helper %d", ask->path, (int)helper->pid);
	if (now_ns - helper->second_ns >= NSEC_PER_SEC) {
		helper->second_ns = now_ns;
		helper->lost_ms = 0;
	}
	helper->lost_ms += (unsigned)((now_ns - since_ns) / NSEC_PER_MSEC);
	/* There is one: with none left nothing is requested. */
	hung->pid = helper->pid;
	hung->channel = helper->channel;
	hung->retry_ns = now_ns + (RETRY_NS << hung->tries);
	hung->tries += hung->tries < RETRIES_MAX;
	helper->nhung++;
	helper->nleft++;
	kill(helper->pid, SIGKILL);
}

/* True if the helper runs, waits for a CPU, or is traced: then it is not hung. */
static bool is_running(const struct proc *proc)
{
	char path[32], text[512];
	const char *name_end;
	int len;

	snprintf(path, sizeof(path), "%d/stat", (int)proc->helper->pid);
	len = file_read(proc->fd, path, text, sizeof(text) - 1);
	if (len <= 0)
		return false;
	text[len] = '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end + 2 < text + len && strchr("RtT", name_end[2]);
}

/* True if a helper may be started. */
static bool can_start(const struct proc_helper *helper)
{
	return helper->nleft < LEFT_MAX && clock_ns(CLOCK_MONOTONIC) >= helper->pause_ns;
}

/*
 * Replaces the helper after an ask without an answer: it is hung, or was killed. Answers already
 * given are kept.
 */
static void replace_helper(struct proc *proc, struct ask *unanswered, uint64_t since_ns)
{
	struct proc_helper *helper = proc->helper;
	struct channel *old = helper->channel;
	bool hangs = !waitpid(helper->pid, NULL, __WALL | WNOHANG);

	unanswered->result = hangs ? -ETIMEDOUT : -EIO;
	helper->cpu_ns += cpu_of_helper(helper);
	if (hangs)
		note_hung(helper, unanswered, since_ns);
	else if (clock_ns(CLOCK_MONOTONIC) - helper->started_ns < PAUSE_NS)
		pause_starts(helper);
	else
		helper->fails = 0;
	helper->pid = 0;
	helper->channel = NULL;
	if (can_start(helper))
		start_helper(proc);
	if (helper->channel) {
		memcpy(helper->channel->asks, old->asks, sizeof(old->asks));
		memcpy(helper->channel->data, old->data, (size_t)AHEAD_MAX * AHEAD_BYTES);
	}
	if (!hangs)
		munmap(old, sizeof(*old));
}

/*
 * Waits for the answers to a request. Returns their number, less than requested if the next one
 * hangs or the helper was killed; *since_ns: since when the next one is waited for.
 */
static uint32_t await_answers(struct proc *proc, uint32_t n, uint64_t *since_ns)
{
	struct proc_helper *helper = proc->helper;
	struct channel *channel = helper->channel;
	uint32_t done = 0, now;
	uint64_t waited_ms;

	*since_ns = clock_ns(CLOCK_MONOTONIC);
	while ((now = atomic_load(&channel->done) - NONE_DONE) < n) {
		if (now != done)
			*since_ns = clock_ns(CLOCK_MONOTONIC);
		done = now;
		await_change(&channel->done, NONE_DONE + done, PATIENCE_MS);
		if (atomic_load(&channel->done) != NONE_DONE + done)
			continue;
		waited_ms = (clock_ns(CLOCK_MONOTONIC) - *since_ns) / NSEC_PER_MSEC;
		/* A signal interrupts a wait. */
		if (waited_ms < PATIENCE_MS)
			continue;
		if (waited_ms >= PATIENCE_RUNNING_MS || !is_running(proc))
			break;
	}
	return now;
}

/*
 * Sends some of the asks to the helper. Returns how many were answered, including refused and hung
 * ones.
 */
static uint32_t request(struct proc *proc, uint32_t first, uint32_t n)
{
	struct proc_helper *helper = proc->helper;
	struct channel *channel = helper->channel;
	uint64_t since_ns;
	uint32_t done;

	if (is_refused(helper, channel->asks[first].path)) {
		channel->asks[first].result = -EBUSY;
		return 1;
	}
	for (uint32_t i = 1; helper->nhung && i < n; i++)
		if (is_refused(helper, channel->asks[first + i].path))
			n = i;
	channel->first = first;
	channel->n = n;
	atomic_store(&channel->done, NONE_DONE);
	atomic_fetch_add(&channel->turn, TURN_STEP);
	report_change(&channel->turn);
	done = await_answers(proc, n, &since_ns);
	if (done == n)
		return n;
	replace_helper(proc, &channel->asks[first + done], since_ns);
	return done + 1;
}

/* True if a helper can be asked; starts one if none runs. */
static bool is_ready(struct proc *proc)
{
	struct proc_helper *helper = proc->helper;

	look_after_hung(helper);
	if (!helper->channel && can_start(helper))
		start_helper(proc);
	return helper->channel;
}

void proc_start(struct proc *proc)
{
	if (proc->helper)
		is_ready(proc);
}

/* Executes one request. *data: its bytes. */
static int answer_ask(struct proc *proc, struct ask *ask, void *data)
{
	struct proc_helper *helper = proc->helper;
	struct ask *place;
	size_t bytes;

	if (!helper)
		return perform(proc->fd, ask, data);
	if (!is_ready(proc))
		return -EBUSY;
	if (ask->size > ALONE_BYTES)
		ask->size = ALONE_BYTES;
	ask->data = AHEAD_MAX * AHEAD_BYTES;
	helper->channel->asks[AHEAD_MAX] = *ask;
	request(proc, AHEAD_MAX, 1);
	/* Another helper may have replaced it, or none. */
	if (!helper->channel)
		return -ETIMEDOUT;
	place = &helper->channel->asks[AHEAD_MAX];
	if (place->result < 0)
		return place->result;
	bytes = ask->op == OP_STAT	? sizeof(struct stat)
		: ask->op == OP_NUMBERS ? (size_t)place->result * sizeof(int)
					: (size_t)place->result;
	memcpy(data, helper->channel->data + place->data, bytes < ask->size ? bytes : ask->size);
	return place->result;
}

/* Writes the path of an ask. */
static struct ask ask_for(enum op op, const char *path, size_t size)
{
	struct ask ask = { .op = op, .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size };

	snprintf(ask.path, sizeof(ask.path), "%s", path);
	return ask;
}

/* The place of a prefetched read; AHEAD_MAX: there is none. */
static unsigned find_wish(const struct proc_helper *helper, const char *path, size_t size)
{
	for (unsigned i = 0; i < helper->wishes; i++) {
		/* They come roughly in order. */
		unsigned at = (helper->taken + i) % helper->wishes;
		const struct ask *ask = &helper->channel->asks[at];

		if (ask->size == size && !strcmp(ask->path, path))
			return at;
	}
	return AHEAD_MAX;
}

/* Takes the answer to a prefetched read. False: there is none. */
static bool take_prefetch(struct proc *proc, const char *path, void *text, size_t size, int *result)
{
	struct proc_helper *helper = proc->helper;
	unsigned place = AHEAD_MAX;
	struct ask *ask;

	if (helper && helper->channel)
		place = find_wish(helper, path, size);
	if (place == AHEAD_MAX)
		return false;
	for (uint32_t i = 0; !helper->asked && helper->channel && i < helper->wishes;)
		i += request(proc, i, helper->wishes - i);
	helper->asked = true;
	/* Too many may be hung by now. */
	if (!helper->channel)
		return false;
	helper->taken = place;
	ask = &helper->channel->asks[place];
	*result = ask->result;
	if (ask->result > 0)
		memcpy(text, helper->channel->data + ask->data, (size_t)ask->result);
	/* Once: a later read is a new one. */
	ask->path[0] = '\0';
	return true;
}

int proc_read_at(struct proc *proc, const char *path, uint64_t at, void *text, size_t size)
{
	struct ask ask = ask_for(OP_READ, path, size);

	ask.at = at;
	return answer_ask(proc, &ask, text);
}

int proc_read(struct proc *proc, const char *path, void *text, size_t size)
{
	int result;

	if (take_prefetch(proc, path, text, size, &result))
		return result;
	return proc_read_at(proc, path, 0, text, size);
}

int proc_readlink(struct proc *proc, const char *path, char *text, size_t size)
{
	struct ask ask = ask_for(OP_LINK, path, size);

	return answer_ask(proc, &ask, text);
}

int proc_lstat(struct proc *proc, const char *path, struct stat *out)
{
	struct ask ask = ask_for(OP_STAT, path, sizeof(*out));

	return answer_ask(proc, &ask, out);
}

int proc_numbers(struct proc *proc, const char *path, int *numbers, size_t max)
{
	struct ask ask = ask_for(OP_NUMBERS, path, max * sizeof(*numbers));

	return answer_ask(proc, &ask, numbers);
}

void proc_prefetch_begin(struct proc *proc)
{
	if (!proc->helper)
		return;
	proc->helper->wishes = proc->helper->taken = 0;
	proc->helper->asked = false;
}

bool proc_prefetch(struct proc *proc, const char *path, size_t size)
{
	struct proc_helper *helper = proc->helper;
	struct ask *ask;

	if (!helper || helper->wishes == AHEAD_MAX || size > AHEAD_BYTES || !is_ready(proc))
		return false;
	ask = &helper->channel->asks[helper->wishes];
	*ask = ask_for(OP_READ, path, size);
	ask->data = helper->wishes++ * AHEAD_BYTES;
	return true;
}

bool proc_is_helper(const struct proc *proc, pid_t pid)
{
	const struct proc_helper *helper = proc->helper;
	bool is = helper && pid && pid == helper->pid;

	for (unsigned i = 0; helper && !is && i < HUNG_MAX; i++)
		is = pid && helper->hung[i].pid == pid;
	return is;
}

bool proc_is_ours(const struct proc *proc)
{
	char text[4096];
	int len = file_read(proc->fd, "self/status", text, sizeof(text));
	struct span pids;
	uint64_t pid;
	unsigned n = 0;

	if (len <= 0)
		return false;
	if (!find_line((struct span){ text, text + len }, "NSpid:", &pids))
		return true;
	/* From that of /proc down to that of the process. */
	for (; pids.at < pids.end; n++) {
		while (pids.at < pids.end && (*pids.at == '\t' || *pids.at == ' '))
			pids.at++;
		if (!take_uint(&pids, &pid))
			return false;
	}
	return n == 1;
}

unsigned proc_hangs(const struct proc *proc)
{
	return proc->helper ? proc->helper->nhung : 0;
}

uint64_t proc_cpu_ns(const struct proc *proc)
{
	return proc->helper ? proc->helper->cpu_ns + cpu_of_helper(proc->helper) : 0;
}

void proc_close(struct proc *proc)
{
	struct proc_helper *helper = proc->helper;

	if (!helper)
		return;
	/* It has no request: it exits at once. Hung ones do when they can. */
	if (helper->pid) {
		kill(helper->pid, SIGKILL);
		waitpid(helper->pid, NULL, __WALL);
		munmap(helper->channel, sizeof(*helper->channel));
	}
	for (unsigned i = 0; i < HUNG_MAX; i++)
		if (helper->hung[i].pid)
			munmap(helper->hung[i].channel, sizeof(*helper->channel));
	free(helper);
	proc->helper = NULL;
}
