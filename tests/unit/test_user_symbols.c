// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions and rules of other processes' addresses, by the process that reads their files. */
#include "tests/lib/test.h"
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/user_symbols.h"
#include "tests/lib/scratch.h"

#ifdef LIBDW_BUILT
#define HAS_NAMES true
#else
#define HAS_NAMES false
#endif

/* More than one answer takes, whatever else runs. */
#define TIMEOUT_MS 20000

static struct user_symbols *symbols;

static int open_symbols(void **state)
{
	int procfd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*state = NULL;
	symbols = user_symbols_open(procfd, false);
	return procfd < 0;
}

static int close_symbols(UNUSED void **state)
{
	user_symbols_close(symbols);
	return 0;
}

#define SYMBOLS_TEST(name) TEST_WITH(name, open_symbols, close_symbols)

/* Asks, and takes all of the answer: false where the process that reads has ended. */
static bool ask_question(struct user_question *question, const uint64_t *addresses,
			 struct user_answer *rules, struct user_answer *names)
{
	question->id = 7;
	memcpy(question->addresses, addresses, question->n * sizeof(*addresses));
	assert_true(user_symbols_ask(symbols, question));
	if (!user_symbols_take(symbols, rules, TIMEOUT_MS))
		return false;
	*names = *rules;
	return rules->last || user_symbols_take(symbols, names, TIMEOUT_MS);
}

static bool ask(pid_t pid, const uint64_t *addresses, uint32_t n, uint32_t sure,
		struct user_answer *rules, struct user_answer *names)
{
	return ask_question(&(struct user_question){ .tgid = pid, .n = n, .sure = sure }, addresses,
			    rules, names);
}

/* A function whose name is to be found. */
__attribute__((noinline)) static uint64_t planted_function(uint64_t n)
{
	uint64_t *room = malloc(n + 8);

	if (!room)
		return 0;
	room[n % 1] = n;
	n = room[0] + 1;
	free(room);
	return n;
}

/* Its name, and its rule; an address that is no code has neither. */
SYMBOLS_TEST(test_own)
{
	const uint64_t addresses[] = { (uint64_t)(uintptr_t)planted_function, 16 };
	struct user_answer rules, names;

	assert_int_equal(planted_function(3), 4);
	assert_true(ask(getpid(), addresses, 2, 2, &rules, &names));
	assert_int_equal(names.id, 7);
	assert_true(names.last && names.named);
	if (!HAS_NAMES) {
		assert_memory_equal(names.text, "test_user_symbols+0x", 20);
		assert_int_equal(rules.ruled, 0);
		return;
	}
	assert_memory_equal(names.text, "planted_function (", 18);
	assert_non_null(strstr(names.text, "\n[ends in test_user_symbols]\n"));
	assert_int_equal(rules.ruled, 1);
	/* It is entered: the caller's address is what the stack pointer points at. */
	assert_int_equal(rules.rules[0].base, RULE_SP);
	assert_int_equal(rules.rules[0].cfa, 8);
	assert_int_equal(rules.rules[0].bp, 0);
}

/* A stack that is whole has no line more. */
SYMBOLS_TEST(test_whole)
{
	const uint64_t addresses[] = { (uint64_t)(uintptr_t)planted_function };
	struct user_answer rules, names;

	assert_true(ask(getpid(), addresses, 1, 2, &rules, &names));
	assert_ptr_equal(strchr(names.text, '\n') + 1, names.text + strlen(names.text));
}

/*
 * Where the file says how a frame is left the stack will be another one; if it is the same again,
 * it ends there.
 */
SYMBOLS_TEST(test_again)
{
	const uint64_t addresses[] = { (uint64_t)(uintptr_t)planted_function, 16 };
	struct user_question question = { .tgid = getpid(), .n = 2, .sure = 1 };
	struct user_answer rules, names;

	if (!HAS_NAMES)
		scratch_skip("built without libdw");
	assert_true(ask_question(&question, addresses, &rules, &names));
	assert_true(names.learnt && !names.named);
	assert_int_equal(rules.ruled, 1);
	question.again = true;
	assert_true(ask_question(&question, addresses, &rules, &names));
	assert_false(names.learnt);
	assert_memory_equal(names.text, "planted_function (", 18);
	assert_non_null(strstr(names.text, "\n[ends in test_user_symbols]\n"));
}

/* A process that has ended cannot be read; that of one who asks goes on. */
SYMBOLS_TEST(test_ended)
{
	const uint64_t addresses[] = { (uint64_t)(uintptr_t)planted_function };
	struct user_answer rules, names;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(ask(pid, addresses, 1, 1, &rules, &names));
	assert_false(names.named);
	assert_true(ask(getpid(), addresses, 1, 2, &rules, &names));
	assert_true(names.named);
}

/* Reads a file whole. */
static char *read_whole(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	struct stat info;
	char *bytes;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &info), 0);
	*size = (size_t)info.st_size;
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

/*
 * Programs that are damaged: whatever the library makes of them, an answer comes, or the process
 * that reads them is gone, and the next one answers. PROGRAMS says how many.
 */
SCRATCH_TEST(test_damaged)
{
	unsigned seed = 1, n = getenv("PROGRAMS") ? (unsigned)atoi(getenv("PROGRAMS")) : 60;
	struct user_answer rules, names;
	unsigned answers = 0, read = 0;
	uint64_t addresses[USER_FRAMES];
	size_t size;
	char *whole = read_whole("/proc/self/exe", &size);

	open_symbols(state);
	for (unsigned i = 0; i < n; i++) {
		int fd = memfd_create("program", MFD_CLOEXEC);
		char *code;

		assert_int_equal(write(fd, whole, size), (ssize_t)size);
		for (unsigned k = 0; k < 1 + i % 64; k++) {
			unsigned char byte = (unsigned char)rand_r(&seed);
			/* Heads and tables are where most of it is decided. */
			size_t at = (size_t)rand_r(&seed) % (k % 2 ? 1024 : size);

			assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		}
		if (i % 7 == 6)
			assert_int_equal(ftruncate(fd, (off_t)(size / 2)), 0);
		code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		assert_true(code != MAP_FAILED);
		for (size_t k = 0; k < USER_FRAMES; k++)
			addresses[k] = (uint64_t)(uintptr_t)code + size / USER_FRAMES * k;
		if (ask(getpid(), addresses, USER_FRAMES, USER_FRAMES, &rules, &names)) {
			answers++;
			read += rules.ruled != 0;
		}
		munmap(code, size);
		close(fd);
	}
	print_message("# %u programs: %u answers, %u with rules\n", n, answers, read);
	/* Some are whole enough to be read. */
	assert_true(!HAS_NAMES || read);
	addresses[0] = (uint64_t)(uintptr_t)planted_function;
	assert_true(ask(getpid(), addresses, 1, 2, &rules, &names));
	assert_true(names.named);
	close_symbols(state);
	free(whole);
}

/* A program of the machine's without symbols. */
#define BARE "/bin/sleep"

/* Maps that, and gives the address at which it starts. */
static uint64_t map_bare(void)
{
	int fd = open(BARE, O_RDONLY | O_CLOEXEC);
	const Elf64_Ehdr *head = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_true(head != MAP_FAILED);
	close(fd);
	return (uint64_t)(uintptr_t)head + head->e_entry;
}

/* Asks about that address until no file may come, or one came. Returns whether one did. */
static bool await_file(uint64_t address, struct user_answer *names)
{
	struct user_answer rules;
	bool came = false;

	for (unsigned i = 0; i < TIMEOUT_MS / 10 && !came; i++) {
		came = user_symbols_came(symbols);
		assert_true(ask(getpid(), &address, 1, 2, &rules, names));
		if (!names->more)
			break;
		usleep(10000);
	}
	return came;
}

/*
 * What lacks symbols is fetched if that is asked for: a file that came is used, and nothing more is
 * awaited, nor where a server has none, or the client prints no path.
 */
SCRATCH_TEST(test_fetched)
{
	static const struct {
		const char *script;
		bool comes;
	} clients[] = { { "echo " BARE, true }, { "exit 1", false }, { "echo no path", false } };
	uint64_t address = map_bare();
	const char *path = getenv("PATH");
	struct user_answer rules, names;

	if (!HAS_NAMES)
		scratch_skip("built without libdw");
	open_symbols(state);
	assert_true(ask(getpid(), &address, 1, 2, &rules, &names));
	assert_false(names.more);
	close_symbols(state);
	if (!*names.lacks[0])
		scratch_skip(BARE " has symbols, or no build id");
	assert_int_equal(setenv("PATH", scratch_format("%s:%s", scratch_folder(), path), 1), 0);
	for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
		const char *client =
			scratch_file(scratch_path("debuginfod-find"),
				     scratch_format("#!/bin/sh\n%s\n", clients[i].script));

		assert_int_equal(chmod(client, 0755), 0);
		symbols =
			user_symbols_open(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), true);
		assert_true(ask(getpid(), &address, 1, 2, &rules, &names));
		assert_true(names.more);
		assert_int_equal(await_file(address, &names), clients[i].comes);
		assert_false(names.more);
		close_symbols(state);
	}
	assert_int_equal(setenv("PATH", path, 1), 0);
}
