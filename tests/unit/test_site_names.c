// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What sites are called, from a made-up /proc: whose owner could not be looked for is asked again;
 * who executes is not looked at; the only wait there was is named by its call.
 */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/tree_thread.h"
#include "trace/site_names.h"

/* More than are looked at in one reading, by so many processes. */
#define CROWD 5
#define DESCRIPTORS 1000

/* Gives a process a descriptor. */
static void put_descriptor(const struct tree *tree, pid_t pid, unsigned fd, const char *link)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/fd/%u", (int)pid, fd);
	assert_int_equal(symlinkat(link, tree->fd, path), 0);
}

/* Makes a process; its parent is 41. */
static void put_process(const struct tree *tree, pid_t pid, const char *comm)
{
	const struct thread thread = { .tgid = pid, .tid = pid, .comm = comm };
	char path[64];

	put_thread(tree, &thread);
	snprintf(path, sizeof(path), "%d/fd", (int)pid);
	put_dir(tree, path);
}

/* A site of a process that reads a pipe by its descriptor 3. */
static struct traced_site reader_of(const struct tree *tree, pid_t pid, unsigned pipe)
{
	char path[64], text[64];

	put_process(tree, pid, "reader");
	snprintf(text, sizeof(text), "pipe:[%u]", pipe);
	put_descriptor(tree, pid, 3, text);
	snprintf(path, sizeof(path), "%d/fdinfo/3", (int)pid);
	snprintf(text, sizeof(text), "pos:\t0\nflags:\t00\nmnt_id:\t14\nino:\t%u\n", pipe);
	put_text(tree, path, text);
	return (struct traced_site){ .now = { .key = { .tgid = pid,
						       .target = TRACE_FILE,
						       .ino = pipe,
						       .syscall = -1,
						       .stack = -1 },
					      .stack = -1,
					      .fd = 3 } };
}

/*
 * Searches in vain leave some looks for an owner near by. Those that found too few left are made in
 * the next reading, those that had many are not.
 */
TREE_TEST(test_owner_later)
{
	const struct tree *tree = *state;
	struct site_names *texts = site_names_open(tree->proc, NULL);
	struct traced_site vain[8], near = reader_of(tree, 30, 1), site = reader_of(tree, 31, 2);
	const char *before;

	put_process(tree, 41, "writer");
	put_descriptor(tree, 41, 0, "pipe:[1]");
	put_descriptor(tree, 41, 1, "pipe:[2]");
	for (pid_t pid = 100; pid < 100 + CROWD; pid++) {
		put_process(tree, pid, "crowd");
		for (unsigned fd = 0; fd < DESCRIPTORS; fd++)
			put_descriptor(tree, pid, fd, "/dev/null");
	}
	for (unsigned i = 0; i < ARRAY_SIZE(vain); i++)
		vain[i] = reader_of(tree, (pid_t)(10 + i), 10 + i);
	site_names_renew(texts);
	for (unsigned i = 0; i < ARRAY_SIZE(vain); i++) {
		if (i + 1 == ARRAY_SIZE(vain))
			site_names_name(texts, &near);
		site_names_name(texts, &vain[i]);
		assert_string_equal(vain[i].site.on, "pipe");
		assert_int_equal(vain[i].put_off, i >= 3);
		free(vain[i].on);
	}
	assert_string_equal(near.site.on, "pipe of 41 writer");
	assert_false(near.put_off);
	site_names_name(texts, &site);
	assert_string_equal(site.site.on, "pipe");
	assert_true(site.named && site.put_off);
	/* In the same reading there is no more to look for it. */
	site_names_name(texts, &site);
	assert_string_equal(site.site.on, "pipe");
	assert_true(site.put_off);
	site_names_renew(texts);
	site_names_name(texts, &site);
	assert_string_equal(site.site.on, "pipe of 41 writer");
	assert_false(site.put_off);
	/* A name stays where the descriptor has gone since. */
	site.put_off = true;
	before = site.site.on;
	drop(tree, "31/fd/3", 0);
	site_names_name(texts, &site);
	assert_ptr_equal(site.site.on, before);
	assert_false(site.put_off);
	free(near.on);
	free(site.on);
	site_names_close(texts);
}

/* Who looked at the descriptors of a process within an execve() that hangs would hang, too. */
TREE_TEST(test_executes)
{
	const struct tree *tree = *state;
	struct site_names *texts = site_names_open(tree->proc, NULL);
	struct traced_site site = reader_of(tree, 30, 1);

	put_text(tree, "30/statm", "1000 200 100 0 0 50 0\n");
	strcpy(site.now.name, "f");
	site_names_renew(texts);
	site_names_name(texts, &site);
	assert_string_equal(site.site.on, "/f");
	put_text(tree, "30/statm", "1000 200 100 20 0 50 0\n");
	site.put_off = true;
	site_names_name(texts, &site);
	assert_string_equal(site.site.on, "pipe");
	free(site.on);
	site_names_close(texts);
}

/* A site where a process waits in statfs(): which file is not seen by the program in the kernel. */
static struct traced_site statter_of(const struct tree *tree, const char *path)
{
	struct traced_site site = {
		.now = { .key = { .tgid = 50, .syscall = SYS_statfs, .stack = -1 },
			 .stack = -1,
			 .fd = -1 },
		.first = { .pid = 50, .tgid = 50 },
		.waiting = 1
	};
	char text[128];
	int fd;

	put_process(tree, 50, "statter");
	snprintf(text, sizeof(text), "%d 0x8 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7f12\n", SYS_statfs);
	put_text(tree, "50/task/50/syscall", text);
	fd = openat(tree->fd, "50/mem", O_WRONLY | O_CREAT, 0600);
	assert_int_equal(pwrite(fd, path, strlen(path) + 1, 8), strlen(path) + 1);
	close(fd);
	return site;
}

/* A call by a path: named while it is the only one that there was. */
TREE_TEST(test_only)
{
	const struct tree *tree = *state;
	struct site_names *texts = site_names_open(tree->proc, NULL);
	struct traced_site site = statter_of(tree, "/mnt/hung"), two = site;

	site_names_renew(texts);
	assert_true(site_names_due(&site));
	site_names_name(texts, &site);
	assert_string_equal(site.site.on, "/mnt/hung");
	assert_false(site_names_due(&site));
	/* It has ended. */
	site.now.count = 1;
	site.waiting = 0;
	site.first = (struct trace_waiter){ 0 };
	assert_false(site_names_due(&site));
	/* Another is on another file, or on the same: that is not known. */
	site.waiting = 1;
	site.first = two.first;
	assert_true(site_names_due(&site));
	site_names_name(texts, &site);
	assert_null(site.site.on);
	assert_false(site_names_due(&site));
	two.waiting = 2;
	site_names_name(texts, &two);
	assert_null(two.site.on);
	assert_false(site_names_due(&two));
	free(site.on);
	site_names_close(texts);
}
