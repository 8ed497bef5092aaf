// SPDX-License-Identifier: GPL-2.0-or-later
/* The lists of pids and the files of a task, as this kernel writes them. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/proctask.h"

/* Opens the real /proc, and steps out of a test where there is none. */
static int open_proc(const char *test)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || faccessat(fd, "self/stat", R_OK, 0) < 0) {
		printf("# skip: %s: no /proc\n", test);
		skip();
	}
	return fd;
}

/* Waits in a thread until the lock is let go. */
static void *wait_for_lock(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

/* This process as the kernel shows it, and its threads. */
TEST(test_live)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct proc proc = { .fd = open_proc("test_live") };
	struct proctask_stat stat;
	struct pidlist list = { 0 };
	struct buf out = { 0 };
	pid_t self = getpid(), group;
	pthread_t thread;
	bool seen = false;
	char old[16];
	uid_t uid;

	assert_int_equal(prctl(PR_GET_NAME, old), 0);
	assert_int_equal(prctl(PR_SET_NAME, "a) R \\n\n(\033"), 0);
	pthread_mutex_lock(&lock);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_lock, &lock), 0);
	assert_int_equal(proctask_stat(&proc, self, 0, &stat), 0);
	assert_string_equal(stat.comm, "a) R \\n\n(\033");
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.ppid, getppid());
	assert_int_equal(stat.threads, 2);
	assert_true(stat.start > 0);
	assert_int_equal(pidlist_read_threads(&list, proc.fd, self), 0);
	assert_int_equal(list.n, 2);
	for (size_t i = 0; i < list.n; i++) {
		assert_int_equal(proctask_stat(&proc, self, list.pids[i], &stat), 0);
		assert_int_equal(proctask_status(&proc, self, list.pids[i], &uid, &group), 0);
		assert_int_equal(uid, getuid());
		assert_int_equal(group, self);
	}
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	assert_int_equal(pidlist_read(&list, proc.fd), 0);
	for (size_t i = 0; i < list.n; i++) {
		assert_true(!i || list.pids[i - 1] < list.pids[i]);
		seen |= list.pids[i] == self;
	}
	assert_true(seen);
	assert_int_equal(proctask_cmdline(&proc, self, &out), 0);
	assert_memory_equal(buf_cstr(&out), program_invocation_name,
			    strlen(program_invocation_name));
	prctl(PR_SET_NAME, old);
	buf_free(&out);
	pidlist_free(&list);
	close(proc.fd);
}

/* A zombie has no command line; once reaped, everything says that it has gone. */
TEST(test_live_gone)
{
	struct proc proc = { .fd = open_proc("test_live_gone") };
	struct proctask_stat stat;
	struct pidlist list = { 0 };
	struct buf out = { 0 };
	siginfo_t info;
	int taskfd;
	char path[32];
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proctask_stat(&proc, pid, 0, &stat), 0);
	assert_int_equal(stat.state, 'Z');
	assert_int_equal(proctask_cmdline(&proc, pid, &out), 0);
	assert_int_equal(out.len, 0);
	snprintf(path, sizeof(path), "%d/task", (int)pid);
	taskfd = openat(proc.fd, path, O_RDONLY | O_DIRECTORY);
	assert_true(taskfd >= 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(proctask_stat(&proc, pid, 0, &stat), -ENOENT);
	assert_int_equal(proctask_stat(&proc, pid, pid, &stat), -ENOENT);
	assert_int_equal(pidlist_read_threads(&list, proc.fd, pid), -ENOENT);
	assert_int_equal(pidlist_read(&list, taskfd), -ENOENT);
	close(taskfd);
	buf_free(&out);
	pidlist_free(&list);
	close(proc.fd);
}

/* Schedstat and io of this process grow with what it does. */
TEST(test_live_counters)
{
	struct proc proc = { .fd = open_proc("test_live_counters") };
	struct proctask_schedstat before, after;
	struct task_io io;
	pid_t self = getpid();
	int err;

	err = proctask_schedstat(&proc, self, 0, &before);
	if (err == -ENOENT || (!err && !before.run)) {
		close(proc.fd);
		printf("# skip: test_live_counters: no schedstat in this kernel\n");
		skip();
	}
	assert_int_equal(err, 0);
	for (uint64_t end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 20 * NSEC_PER_MSEC;
	     clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end;)
		continue;
	assert_int_equal(proctask_schedstat(&proc, self, 0, &after), 0);
	assert_in_range(after.run - before.run, 10 * NSEC_PER_MSEC, 1000 * NSEC_PER_MSEC);
	assert_true(after.slices >= before.slices);
	err = proctask_io(&proc, self, 0, &io);
	/* Missing without task I/O accounting, refused in some containers. */
	assert_true(err == 0 || err == -ENOENT || err == -EACCES);
	close(proc.fd);
}

/* The same of this kernel's file, under a name that would like to be one of its lines. */
TEST(test_live_ran)
{
	struct proc proc = { .fd = open_proc("test_live_ran") };
	int err;
	char name[TASK_COMM_MAX + 1];
	uint64_t ns;

	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(prctl(PR_SET_NAME, "\nse.exec_start "), 0);
	err = proctask_ran(&proc, getpid(), 0, &ns);
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
	close(proc.fd);
	/* Without CONFIG_SCHED_DEBUG. */
	assert_true(err == 0 || err == -ENOENT);
}

/* Reads this process's name through a helper. The number of bytes or -errno. */
static int read_name(struct proc *proc)
{
	char path[32], text[64];

	snprintf(path, sizeof(path), "%d/comm", (int)getpid());
	return proc_read(proc, path, text, sizeof(text));
}

/* The helper of a process whose only child it is; 0: there is none. */
static pid_t find_helper(const struct proc *proc, pid_t from)
{
	for (pid_t pid = from; pid < from + 5000; pid++)
		if (proc_is_helper(proc, pid))
			return pid;
	return 0;
}

/* While no process can be started nothing is read, and it is tried again a second later. */
static void start_again(void)
{
	struct proc proc;

	if (setresuid(65534, 65534, 65534) || setrlimit(RLIMIT_NPROC, &(struct rlimit){ 0, 10000 }))
		_exit(2);
	proc_open(&proc, open("/proc", O_RDONLY | O_DIRECTORY));
	if (read_name(&proc) != -EBUSY || read_name(&proc) != -EBUSY)
		_exit(3);
	setrlimit(RLIMIT_NPROC, &(struct rlimit){ 10000, 10000 });
	if (read_name(&proc) != -EBUSY)
		_exit(4);
	usleep(1100000);
	if (read_name(&proc) <= 0)
		_exit(5);
	proc_close(&proc);
	_exit(0);
}

/* Runs a function that ends a child of its own; it must end well. */
static void run_in_child(void (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		run();
		_exit(9);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(test_helper_starts_again)
{
	close(open_proc("test_helper_starts_again"));
	if (getuid()) {
		printf("# skip: test_helper_starts_again: not root\n");
		skip();
	}
	run_in_child(start_again);
}

/* One that is killed at once has no successor for a while: reads do not start one each. */
TEST(test_helper_killed)
{
	struct proc proc;
	int fd = open_proc("test_helper_killed");
	unsigned starts = 0;

	proc_open(&proc, fd);
	for (unsigned i = 0; i < 20; i++) {
		pid_t helper;

		proc_start(&proc);
		helper = find_helper(&proc, getpid());
		if (!helper)
			continue;
		starts++;
		kill(helper, SIGKILL);
		assert_true(read_name(&proc) < 0);
	}
	assert_in_range(starts, 1, 2);
	assert_int_equal(read_name(&proc), -EBUSY);
	usleep(1100000);
	assert_true(read_name(&proc) > 0);
	proc_close(&proc);
	close(fd);
}
