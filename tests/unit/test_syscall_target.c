// SPDX-License-Identifier: GPL-2.0-or-later
/* What calls in progress are on by their memory, in a made-up /proc: what they poll and select. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/syscall_target.h"
#include "tests/lib/tree.h"

#define TID 7

/* Where sets and lists lie in the thread's memory. */
#define READ_AT 0x100
#define WRITE_AT 0x200
#define EXCEPT_AT 0x300
#define MEMORY_BYTES 0x400

/* The thread, with three open files, and whom to ask. */
struct scene {
	void *tree;
	struct wait_targets *targets;
	unsigned char memory[MEMORY_BYTES];
	struct buf out;
};

/* Makes a thread. */
static int make_scene(void **state)
{
	static const struct {
		int fd;
		const char *link;
	} files[] = { { 3, "/a" }, { 64, "/b" }, { 1023, "/c" } };
	struct scene *scene = xcalloc(1, sizeof(*scene));
	const struct tree *tree;
	char path[32];

	if (make_tree(&scene->tree))
		return -1;
	tree = scene->tree;
	put_text(tree, "7/fd/x", "");
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "7/fd/%d", files[i].fd);
		assert_int_equal(symlinkat(files[i].link, tree->fd, path), 0);
	}
	scene->targets = wait_targets_open(tree->proc);
	*state = scene;
	return 0;
}

/* Removes it. */
static int remove_scene(void **state)
{
	struct scene *scene = *state;
	int err = remove_tree(&scene->tree);

	wait_targets_close(scene->targets);
	buf_free(&scene->out);
	free(scene);
	return err;
}

/* Puts a descriptor into a set, as the kernel reads one. */
static void set_fd(struct scene *scene, size_t at, int fd)
{
	unsigned long word;
	size_t bits = 8 * sizeof(word), offset = at + (size_t)fd / bits * sizeof(word);

	memcpy(&word, &scene->memory[offset], sizeof(word));
	word |= 1UL << ((size_t)fd % bits);
	memcpy(&scene->memory[offset], &word, sizeof(word));
}

/* What a call is on. */
static const char *target_of(struct scene *scene, const struct procwait_syscall *call)
{
	const struct tree *tree = scene->tree;

	put(tree, "7/mem", (const char *)scene->memory, sizeof(scene->memory));
	scene->out.len = 0;
	assert_int_equal(syscall_target(scene->targets, tree->proc, TID, call, &scene->out).state,
			 STATE_POLL);
	return buf_cstr(&scene->out);
}

/* What pselect6() with these arguments is on. */
static const char *selected(struct scene *scene, uint64_t n, uint64_t reads, uint64_t writes,
			    uint64_t excepts)
{
	const struct procwait_syscall call = { .number = SYS_pselect6,
					       .args = { n, reads, writes, excepts } };

	return target_of(scene, &call);
}

/* The one descriptor of all sets, or how many there are; no more than the call looks at. */
TEST_WITH(test_select, make_scene, remove_scene)
{
	struct scene *scene = *state;

	assert_string_equal(selected(scene, 4, READ_AT, 0, 0), "");
	set_fd(scene, READ_AT, 3);
	assert_string_equal(selected(scene, 4, READ_AT, 0, 0), "/a");
	assert_string_equal(selected(scene, 3, READ_AT, 0, 0), "");
	/* In two sets it is still one. */
	set_fd(scene, EXCEPT_AT, 3);
	assert_string_equal(selected(scene, 4, READ_AT, WRITE_AT, EXCEPT_AT), "/a");
	set_fd(scene, WRITE_AT, 64);
	assert_string_equal(selected(scene, 64, READ_AT, WRITE_AT, EXCEPT_AT), "/a");
	assert_string_equal(selected(scene, 65, READ_AT, WRITE_AT, EXCEPT_AT), "2 files");
	assert_string_equal(selected(scene, 65, 0, WRITE_AT, 0), "/b");
	set_fd(scene, WRITE_AT, 1023);
	assert_string_equal(selected(scene, 1024, READ_AT, WRITE_AT, EXCEPT_AT), "3 files");
}

/* Nothing is said of what cannot be read, or is no number of descriptors. */
TEST_WITH(test_select_bad, make_scene, remove_scene)
{
	struct scene *scene = *state;

	set_fd(scene, READ_AT, 3);
	assert_string_equal(selected(scene, 4, READ_AT, MEMORY_BYTES, 0), "");
	assert_string_equal(selected(scene, 1024, MEMORY_BYTES - 64, 0, 0), "");
	assert_string_equal(selected(scene, 4, UINT64_MAX, 0, 0), "");
	assert_string_equal(selected(scene, 0, READ_AT, 0, 0), "");
	assert_string_equal(selected(scene, 1025, READ_AT, 0, 0), "");
	assert_string_equal(selected(scene, UINT64_MAX, READ_AT, 0, 0), "");
	assert_string_equal(selected(scene, 4, 0, 0, 0), "");
	/* One that is closed by now. */
	set_fd(scene, WRITE_AT, 5);
	assert_string_equal(selected(scene, 6, 0, WRITE_AT, 0), "");
}

/* The list of poll(), in which negative descriptors do not count. */
TEST_WITH(test_poll, make_scene, remove_scene)
{
	struct pollfd polled[] = { { .fd = -1 }, { .fd = 3 }, { .fd = 64 } };
	struct procwait_syscall call = { .number = SYS_ppoll, .args = { READ_AT, 2 } };
	struct scene *scene = *state;

	memcpy(&scene->memory[READ_AT], polled, sizeof(polled));
	assert_string_equal(target_of(scene, &call), "/a");
	call.args[1] = 3;
	assert_string_equal(target_of(scene, &call), "2 files");
	call.args[1] = 17;
	assert_string_equal(target_of(scene, &call), "");
}
