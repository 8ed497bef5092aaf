// SPDX-License-Identifier: GPL-2.0-or-later
/* What processes of ours can't do any more: tried by children that are confined, as root. */
#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/util.h"
#include "tests/lib/scratch.h"

/* What a child is confined to: calls, or writing below a folder. */
typedef int (*confinement)(void);

/* Has a confined child try something. Its status, as of waitpid(): it exits with errno, or 0. */
static int try(confinement confine, int (*attempt)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || confine())
			_exit(200);
		_exit(attempt() < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* --- Calls ---------------------------------------------------------------- */

/* Open since before: what a server answers on. */
static int ends[2], file;

static int send_bytes(void)
{
	char byte;

	return send(ends[0], "x", 1, MSG_NOSIGNAL) == 1 && recv(ends[1], &byte, 1, 0) == 1 &&
			       pread(file, &byte, 1, 0) == 1
		       ? 0
		       : -1;
}

static int take_memory(void)
{
	char *memory = malloc(1 << 22);

	if (!memory)
		return -1;
	memset(memory, 1, 1 << 22);
	free(memory);
	return 0;
}

static int run_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static int open_file(void)
{
	return open("/etc/passwd", O_RDONLY | O_CLOEXEC);
}

static int make_folder(void)
{
	return mkdir("/tmp/stalltop-confined", 0700);
}

static int signal_parent(void)
{
	return kill(getppid(), 0);
}

/* As a handler does when it has put back what it must. */
static int end_by_signal(void)
{
	return raise(SIGTERM);
}

static int start_program(void)
{
	return execl("/bin/true", "true", NULL);
}

static int start_process(void)
{
	return (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static int make_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int trace_parent(void)
{
	return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static int open_to_write(void)
{
	return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static int create_file(void)
{
	return open("/tmp/stalltop-confined", O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
}

/* An attempt, its error or the signal that ends it, where no files are opened, and where they are.
 */
static const struct {
	int (*attempt)(void);
	int error, error_reading, signal;
} call_attempts[] = {
	{ send_bytes, 0, 0, 0 },
	{ take_memory, 0, 0, 0 },
	{ run_memory, EPERM, EPERM, 0 },
	{ open_file, EPERM, 0, 0 },
	{ open_to_write, EPERM, EPERM, 0 },
	{ create_file, EPERM, EPERM, 0 },
	{ make_folder, EPERM, EPERM, 0 },
	{ signal_parent, EPERM, EPERM, 0 },
	{ end_by_signal, 0, 0, SIGTERM },
	{ start_program, 0, 0, SIGSYS },
	{ start_process, 0, 0, SIGSYS },
	{ make_socket, 0, 0, SIGSYS },
	{ trace_parent, 0, 0, SIGSYS },
};

/* Tries all of them under a confinement. */
static void check_calls(confinement confine, bool reading)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	assert_true(file >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(call_attempts); i++) {
		int status = try(confine, call_attempts[i].attempt);
		int signal = call_attempts[i].signal;
		int error = reading ? call_attempts[i].error_reading : call_attempts[i].error;

		if (signal ? !WIFSIGNALED(status) || WTERMSIG(status) != signal
			   : !WIFEXITED(status) || WEXITSTATUS(status) != error)
			fail_msg("attempt %zu: status %#x", i, (unsigned)status);
	}
	close(ends[0]);
	close(ends[1]);
	close(file);
}

/* What a server needs works; what opens or asks for more is refused, what attacks ends it. */
TEST(test_calls)
{
	check_calls(confine_calls, false);
}

/* The same for who reads files, which may be opened for that alone. */
TEST(test_reading)
{
	check_calls(confine_reading, true);
}

/* --- Writing -------------------------------------------------------------- */

/* The folder that may be written to, and files beside it. */
static const char *inside, *outside;

static int confine_to_folder(void)
{
	return confine_writes(inside);
}

static int write_inside(void)
{
	const char *path = scratch_path("in/file"), *other = scratch_path("in/other");
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) || rename(path, other))
		return -1;
	return truncate(other, 0) || unlink(other) ? -1 : 0;
}

static int read_outside(void)
{
	return open(outside, O_RDONLY | O_CLOEXEC);
}

static int write_outside(void)
{
	return open(outside, O_WRONLY | O_CLOEXEC);
}

static int create_outside(void)
{
	return open(scratch_path("new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static int remove_outside(void)
{
	return unlink(outside);
}

static int move_out(void)
{
	return rename(scratch_path("in/kept"), scratch_path("moved"));
}

static int link_inside(void)
{
	return symlink("/etc", scratch_path("in/link"));
}

/* Whether the kernel confines writing at all, and did so when its headers were made (5.13). */
static bool has_landlock(void)
{
#if __has_include(<linux/landlock.h>)
	return syscall(444 /* landlock_create_ruleset */, NULL, 0, 1) > 0;
#else
	return false;
#endif
}

/* Only the folder is written to, and nothing of it gets out. */
SCRATCH_TEST(test_writes)
{
	static const struct {
		int (*attempt)(void);
		int errors[2]; /* either */
	} attempts[] = {
		{ write_inside, { 0, 0 } },
		{ read_outside, { 0, 0 } },
		{ write_outside, { EACCES, EACCES } },
		{ create_outside, { EACCES, EACCES } },
		{ remove_outside, { EACCES, EACCES } },
		{ move_out, { EACCES, EXDEV } },
		{ link_inside, { EACCES, EACCES } },
		{ start_program, { EACCES, EACCES } },
	};

	if (!has_landlock())
		scratch_skip("the kernel has no landlock");
	inside = scratch_path("in");
	outside = scratch_file(scratch_path("out"), "x");
	assert_int_equal(mkdir(inside, 0700), 0);
	scratch_file(scratch_path("in/kept"), "x");
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
		int status = try(confine_to_folder, attempts[i].attempt);

		if (!WIFEXITED(status) || (WEXITSTATUS(status) != attempts[i].errors[0] &&
					   WEXITSTATUS(status) != attempts[i].errors[1]))
			fail_msg("attempt %zu: status %#x", i, (unsigned)status);
	}
	assert_int_equal(confine_writes(scratch_path("missing")), -ENOENT);
}
