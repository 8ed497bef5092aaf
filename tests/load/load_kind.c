// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A load for each kind of delay: provokes waits of one kind until it is killed.
 * It prints "ready" when the waits come steadily. The memory kinds want to be
 * started inside a memory cgroup of 32 MiB, swapin with swap and in one that
 * holds its 32 MiB, compact in one of 256 MiB.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MIB (1024UL * 1024)
#define PAGE 4096UL
#define HUGE (2 * MIB)
#define UNSUPPORTED 77
#define MAX_WORKERS 32U
#define KEPT 4096U /* pages that keep blocks apart */
#define LIMIT (32 * MIB) /* of the memory cgroup of thrash */
#define MEMORY (128 * MIB)
#define DIRECT (16 * MIB) /* of the file that is read past the page cache */
#define THRASH_PART MIB
#define COPIES (4 * MIB)

struct worker {
	const struct load *load;
	pthread_t thread;
	unsigned char *mem;
	uint64_t random;
	off_t pos;
	size_t next; /* compact: the kept page to give up next */
};

struct load {
	const char *name;
	unsigned int workers; /* threads, the leader included */
	unsigned int warm; /* steps until the waits are steady */
	int (*prepare)(void); /* once for the process */
	int (*worker)(struct worker *w);
	void (*step)(struct worker *w);
};

static const char *dir = ".";
static int file = -1;
static size_t file_size;
static pthread_barrier_t warmed;

/* A small generator of its own: rand() takes a lock, which would be a wait. */
static uint64_t next_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

/* Monotonic time in ns. */
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

/* Says what is missing and gives the status that means "cannot be had here". */
static int unsupported(const char *what)
{
	fprintf(stderr, "load_kind: %s: %s\n", what, strerror(errno));
	return UNSUPPORTED;
}

/* One CPU for all threads. */
static int share_cpu(void)
{
	size_t cpu;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return unsupported("sched_getaffinity");
	for (cpu = CPU_SETSIZE - 1; cpu > 0 && !CPU_ISSET(cpu, &set);)
		cpu--;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return unsupported("sched_setaffinity");
	return 0;
}

/* And a low priority, so that others wait less; but not so low that it hardly runs beside them. */
static int prepare_cpu(void)
{
	setpriority(PRIO_PROCESS, 0, 5);
	return share_cpu();
}

/* Spins for a ms. */
static void step_cpu(struct worker *w)
{
	uint64_t end = now_ns() + 1000000;

	while (now_ns() < end)
		next_random(w);
}

/* An unlinked file: nothing is left behind, however the load ends. */
static int open_file(int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/load-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -1;
	file = open(path, O_RDWR | O_CLOEXEC | flags);
	unlink(path);
	close(fd);
	return file;
}

/* Really written, as holes and unwritten extents are read without any I/O. */
static int fill_file(size_t size)
{
	unsigned char *buf;
	size_t done;

	buf = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		return -1;
	memset(buf, 0x5a, MIB);
	for (done = 0; done < size; done += MIB)
		if (pwrite(file, buf, MIB, (off_t)done) != (ssize_t)MIB)
			return -1;
	munmap(buf, MIB);
	return fsync(file);
}

/* A file that is read past the page cache. */
static int prepare_blkio(void)
{
	if (open_file(O_DIRECT) < 0 || fill_file(DIRECT))
		return unsupported("a file for direct I/O");
	return 0;
}

/* A page of its own for direct reads. */
static int worker_page(struct worker *w)
{
	w->mem = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return w->mem == MAP_FAILED ? unsupported("mmap") : 0;
}

/* One direct read of a page, anywhere. */
static void step_blkio(struct worker *w)
{
	off_t at = (off_t)(next_random(w) % (DIRECT / PAGE) * PAGE);

	if (pread(file, w->mem, PAGE, at) != (ssize_t)PAGE)
		_exit(1);
}

/* Memory without huge pages, so that each page is copied by itself. */
static int worker_memory(struct worker *w)
{
	w->mem = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->mem == MAP_FAILED)
		return unsupported("mmap");
	madvise(w->mem, MEMORY, MADV_NOHUGEPAGE);
	return 0;
}

/*
 * Pages of a file that are its own once they are written. (Anonymous memory will not do: some
 * machines answer a read there with a page that may be written, and copy nothing.)
 */
static int worker_copies(struct worker *w)
{
	int fd = memfd_create("copies", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, COPIES))
		return unsupported("memfd_create");
	w->mem = mmap(NULL, COPIES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	return w->mem == MAP_FAILED ? unsupported("mmap") : 0;
}

/* Read first, so that the file's pages stand there and the write must copy them. */
static void step_wpcopy(struct worker *w)
{
	volatile unsigned char *mem = w->mem;
	size_t i;

	for (i = 0; i < COPIES; i += PAGE)
		(void)mem[i];
	for (i = 0; i < COPIES; i += PAGE)
		mem[i] = 1;
	madvise(w->mem, COPIES, MADV_DONTNEED);
}

/*
 * Has a part of its memory swapped out, and takes it in again page by page. (Memory beyond
 * the cgroup's limit does so too, but where all of it is in use the kernel may kill instead.)
 */
static void step_swapin(struct worker *w)
{
	unsigned char *part = w->mem + next_random(w) % 32 * MIB;
	volatile unsigned char *page = part;

	madvise(part, MIB, MADV_PAGEOUT);
	for (size_t i = 0; i < MIB; i += PAGE)
		page[i]++;
}

/* A hole of a file: its pages fill the cache without any I/O. */
static int prepare_reclaim(void)
{
	if (open_file(0) < 0 || ftruncate(file, 16 * 1024 * (off_t)MIB))
		return unsupported("a file with a hole");
	return 0;
}

/* A buffer for reads through the cache. */
static int worker_buffer(struct worker *w)
{
	w->mem = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		      -1, 0);
	return w->mem == MAP_FAILED ? unsupported("mmap") : 0;
}

/* The cache grows by a MiB. */
static void step_reclaim(struct worker *w)
{
	if (pread(file, w->mem, MIB, w->pos) != (ssize_t)MIB)
		_exit(1);
	w->pos = (w->pos + (off_t)MIB) % (16 * 1024 * (off_t)MIB);
}

/* What this process takes of the cgroup's limit for itself. */
static size_t own_memory(void)
{
	unsigned long size, resident = 0, shared = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f) {
		if (fscanf(f, "%lu %lu %lu", &size, &resident, &shared) != 3)
			resident = shared = 0;
		fclose(f);
	}
	return (resident - shared) * PAGE;
}

/*
 * A file a little larger than the room for it: what was thrown out longer ago is
 * no working set. Without readahead each wait is for one page.
 */
static int prepare_thrash(void)
{
	file_size = (LIMIT - own_memory() + 5 * MIB) / THRASH_PART * THRASH_PART;
	if (open_file(0) < 0 || fill_file(file_size) ||
	    posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM))
		return unsupported("a file");
	return 0;
}

/*
 * Reads a part of the file three times, so that its pages become active, then
 * the next part: only when such pages are thrown out and soon read once more is
 * the wait thrashing.
 */
static void step_thrash(struct worker *w)
{
	size_t i;

	for (i = 0; i < 3 * THRASH_PART; i += PAGE)
		if (pread(file, w->mem, PAGE, w->pos + (off_t)(i % THRASH_PART)) != (ssize_t)PAGE)
			_exit(1);
	w->pos = (w->pos + (off_t)THRASH_PART) % (off_t)file_size;
}

/* The machine's direct compactions so far. */
static unsigned long compact_stalls(void)
{
	char line[128];
	unsigned long n = 0;
	FILE *f = fopen("/proc/vmstat", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "compact_stall %lu", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/*
 * A file whose one page was got by breaking a huge one: its size is a page, so
 * that the file system splits the huge page when it runs out of room, and what
 * was never written need not be cleared, which is most of the cost.
 */
static bool break_huge_page(void)
{
	static unsigned int n;
	struct stat st;
	char name[32];
	bool huge;
	int fd;

	snprintf(name, sizeof(name), "%u", n);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	huge = !fallocate(fd, 0, 0, PAGE) && !fstat(fd, &st) && st.st_blocks == HUGE / 512;
	close(fd);
	if (huge)
		n++;
	else
		unlink(name);
	return huge;
}

/* All of them, also those that could not be made a moment ago. */
static void break_huge_pages(void)
{
	unsigned int failed = 0;

	while (failed < 8)
		failed = break_huge_page() ? 0 : failed + 1;
}

/* A file system that this process alone sees, and that goes with it. */
static int prepare_compact(void)
{
	long room = sysconf(_SC_PHYS_PAGES) / 512 * 8 / 1024 + 64;
	char options[128], path[PATH_MAX];

	/* "." would stay what it was before the mount */
	if (!realpath(dir, path))
		return unsupported(dir);
	snprintf(options, sizeof(options), "huge=always,nr_inodes=0,size=%ldM", room);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", MS_NOSUID | MS_NODEV, options) || chdir(path))
		return unsupported("a tmpfs with huge pages");
	return 0;
}

/*
 * Asks for a huge page and gives it back but for one small page: else the next
 * would be had without any compaction.
 */
static void step_compact(struct worker *w)
{
	unsigned char *at = w->mem + w->next * HUGE;

	w->next = (w->next + 1) % KEPT;
	/* others free memory all the time */
	if (w->next % 16 == 0)
		break_huge_pages();
	madvise(at, HUGE, MADV_DONTNEED);
	*at = 1;
	/* MADV_FREE of a part splits the page, without which nothing is freed */
	madvise(at + PAGE, HUGE - PAGE, MADV_FREE);
	madvise(at + PAGE, HUGE - PAGE, MADV_DONTNEED);
}

/*
 * Breaks every free huge page of the machine, and holds a 512th of the memory
 * by that. The pages can be moved, so that compaction has work and succeeds.
 * It is steady when compaction has begun.
 */
static int worker_compact(struct worker *w)
{
	unsigned long wanted = compact_stalls() + 16;

	w->mem = mmap(NULL, (KEPT + 1) * HUGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->mem == MAP_FAILED)
		return unsupported("mmap");
	w->mem += (HUGE - (uintptr_t)w->mem % HUGE) % HUGE;
	if (madvise(w->mem, KEPT * HUGE, MADV_HUGEPAGE))
		return unsupported("transparent huge pages");
	while (compact_stalls() < wanted)
		step_compact(w);
	return 0;
}

/* What a task that does a little of everything needs. */
static int prepare_mix(void)
{
	int status = prepare_blkio();

	return status ? status : share_cpu();
}

/* CPU, block I/O and copies in turn. */
static void step_mix(struct worker *w)
{
	step_cpu(w);
	step_wpcopy(w);
	step_blkio(w);
}

/* Nothing to get ready. */
static int no_prepare(void)
{
	return 0;
}

/* Nothing for each thread. */
static int no_worker(struct worker *w)
{
	(void)w;
	return 0;
}

static const struct load loads[] = {
	{ "cpu", 12, 20, prepare_cpu, no_worker, step_cpu },
	{ "blkio", 1, 50, prepare_blkio, worker_page, step_blkio },
	{ "swapin", 1, 400, no_prepare, worker_memory, step_swapin },
	{ "reclaim", 1, 400, prepare_reclaim, worker_buffer, step_reclaim },
	{ "thrash", 1, 150, prepare_thrash, worker_buffer, step_thrash },
	{ "compact", 1, 1, prepare_compact, worker_compact, step_compact },
	{ "wpcopy", 1, 10, no_prepare, worker_copies, step_wpcopy },
	{ "mix", 4, 10, prepare_mix, worker_copies, step_mix },
};

/* Steady after so many steps. */
static void warm_up(struct worker *w)
{
	unsigned int i;

	for (i = 0; i < w->load->warm; i++)
		w->load->step(w);
}

/* A thread's life: warm up, meet the others, go on for ever. */
static void *work(void *arg)
{
	struct worker *w = arg;
	int status = w->load->worker(w);

	if (status)
		_exit(status);
	warm_up(w);
	pthread_barrier_wait(&warmed);
	for (;;)
		w->load->step(w);
	return NULL;
}

/* The load of that name, or NULL. */
static const struct load *find_load(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (!strcmp(loads[i].name, name))
			return &loads[i];
	return NULL;
}

/* Starts the threads; the leader says "ready" and works too, or sleeps for ever. */
static int run_load(const struct load *load, unsigned int workers)
{
	static struct worker w[MAX_WORKERS];
	unsigned int i, n = workers ? workers : load->workers - 1;
	int status = load->prepare();

	if (status)
		return status;
	pthread_barrier_init(&warmed, NULL, n + 1);
	for (i = 0; i <= n; i++) {
		w[i].load = load;
		w[i].random = 88172645463325252U + i * 7919U;
	}
	for (i = 0; i < n; i++)
		if (pthread_create(&w[i].thread, NULL, work, &w[i]))
			return unsupported("pthread_create");
	if (!workers) {
		status = load->worker(&w[n]);
		if (status)
			return status;
		warm_up(&w[n]);
	}
	pthread_barrier_wait(&warmed);
	puts("ready");
	fflush(stdout);
	if (workers)
		for (;;)
			pause();
	for (;;)
		load->step(&w[n]);
}

/* load_kind [-d DIR] [-t SECONDS] [-w WORKERS] KIND */
int main(int argc, char **argv)
{
	const struct load *load;
	unsigned int workers = 0, seconds = 120;
	int c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((c = getopt(argc, argv, "d:t:w:")) != -1) {
		if (c == 'd')
			dir = optarg;
		else if (c == 't')
			seconds = (unsigned int)atoi(optarg);
		else if (c == 'w')
			workers = (unsigned int)atoi(optarg);
		else
			return 2;
	}
	load = optind == argc - 1 ? find_load(argv[optind]) : NULL;
	if (!load || workers > MAX_WORKERS - 1) {
		fputs("usage: load_kind [-d DIR] [-t SECONDS] [-w WORKERS] KIND\n", stderr);
		return 2;
	}
	/* a load that everybody forgot ends by itself */
	alarm(seconds);
	return run_load(load, workers);
}
