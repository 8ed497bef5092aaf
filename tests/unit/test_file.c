// SPDX-License-Identifier: GPL-2.0-or-later
/* Small files: reading them, once and again, and taking their texts apart. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"
#include "tests/lib/calls.h"
#include "tests/lib/tree.h"

#define UNTOUCHED UINT64_C(99)

/* Lines, words and numbers of a copy without a byte to spare. */
TEST(test_spans)
{
	static const char text[] = "one 12.34\n\nkey\t5 6\nkeys 7\nkey 8\nlast 9";
	char *copy = xcalloc(sizeof(text) - 1, 1);
	struct span all = { copy, copy + sizeof(text) - 1 }, rest = all, line, part;
	uint64_t value = UNTOUCHED;
	unsigned lines = 0;

	memcpy(copy, text, sizeof(text) - 1);
	assert_true(take_line(&rest, &line));
	assert_false(take_word(&line, "two"));
	assert_true(take_word(&line, "one "));
	assert_true(take_hundredths(&line, &value));
	assert_int_equal(value, 1234);
	assert_true(line.at == line.end);
	assert_true(take_line(&rest, &line));
	assert_true(is_text(&line, ""));
	for (; take_line(&rest, &line); lines++)
		assert_int_equal(line.end == all.end, lines == 3);
	assert_int_equal(lines, 4);
	assert_true(is_text(&line, "last 9"));
	assert_false(is_text(&line, "last"));
	assert_false(take_uint(&line, &value));
	assert_true(take_part(&line, ' ', &part));
	assert_true(is_text(&part, "last"));
	assert_true(take_uint(&line, &value));
	assert_int_equal(value, 9);
	assert_false(take_part(&line, ' ', &part));
	/* The blank counts, the first line does, and none that may have been cut. */
	assert_true(find_line(all, "key", &line));
	assert_true(is_text(&line, "5 6"));
	assert_true(find_line(all, "keys", &line));
	assert_true(is_text(&line, "7"));
	assert_false(find_line(all, "ke", &line));
	assert_false(find_line(all, "last", &line));
	free(copy);
}

/* What is no number with two decimals, and the largest that is one. */
TEST(test_hundredths)
{
	static const char *const bad[] = { "",	   "1",	    "1.",
					   "1.2",  "1.234", ".12",
					   "1,23", "-1.00", "184467440737095516.16" };
	const char *const most = "184467440737095516.15";
	struct span text = { most, most + strlen(most) };
	uint64_t value = UNTOUCHED;

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		struct span none = { bad[i], bad[i] + strlen(bad[i]) };

		assert_false(take_hundredths(&none, &value));
		assert_int_equal(value, UNTOUCHED);
	}
	assert_true(take_hundredths(&text, &value));
	assert_true(value == UINT64_MAX);
}

/* Files, again by the same descriptor, cut to the room there is, and what is none. */
TREE_TEST(test_read)
{
	const struct tree *tree = *state;
	char text[8];
	int fd;

	put_text(tree, "a/file", "12345");
	assert_int_equal(file_read(tree->fd, "a/file", text, sizeof(text)), 5);
	assert_memory_equal(text, "12345", 5);
	assert_int_equal(file_read(tree->fd, "a/file", text, 3), 3);
	assert_int_equal(file_read(tree->fd, "a/none", text, sizeof(text)), -ENOENT);
	assert_int_equal(file_read(tree->fd, "a", text, sizeof(text)), -EISDIR);
	assert_int_equal(symlinkat("file", tree->fd, "a/link"), 0);
	assert_int_equal(file_read(tree->fd, "a/link", text, sizeof(text)), -ELOOP);
	/* No writer ever comes: it must not be waited for. */
	assert_int_equal(mkfifoat(tree->fd, "a/fifo", 0600), 0);
	assert_true(file_read(tree->fd, "a/fifo", text, sizeof(text)) < 0);
	fd = openat(tree->fd, "a/file", O_RDONLY);
	for (int i = 0; i < 2; i++)
		assert_int_equal(file_pread(fd, text, sizeof(text)), 5);
	close(fd);
	assert_int_equal(file_pread(-1, text, sizeof(text)), -EBADF);
}

/* Long texts: as a whole by a descriptor that is kept, and up to a limit. */
TREE_TEST(test_whole)
{
	enum { LONG = 100000 };
	const struct tree *tree = *state;
	struct buf text = { 0 };
	uint64_t calls;
	char *bytes = xcalloc(LONG, 1);
	int fd;

	memset(bytes, 'x', LONG);
	put_text(tree, "short", "123");
	put(tree, "long", bytes, LONG);
	assert_int_equal(symlinkat("short", tree->fd, "link"), 0);
	assert_int_equal(mkfifoat(tree->fd, "fifo", 0600), 0);
	fd = file_open(tree->fd, "long", 0);
	/* With the room there is by then the second reading takes one call. */
	for (int i = 0; i < 2; i++) {
		calls = CALLS_OF(assert_int_equal(file_reread(fd, &text), 0));
		assert_int_equal(calls == 1, i == 1);
		assert_int_equal(text.len, LONG);
		assert_memory_equal(text.data, bytes, LONG);
	}
	file_close(fd);
	assert_int_equal(file_reread(fd, &text), -EBADF);
	text.len = 0;
	buf_puts(&text, "0");
	assert_int_equal(file_read_all(tree->fd, "link", &text, 3), 0);
	assert_string_equal(buf_cstr(&text), "0123");
	assert_int_equal(file_read_all(tree->fd, "short", &text, 2), -EFBIG);
	assert_int_equal(file_read_all(tree->fd, "none", &text, 2), -ENOENT);
	assert_int_equal(file_read_all(tree->fd, ".", &text, 2), -EISDIR);
	assert_int_equal(file_read_all(tree->fd, "fifo", &text, 2), 0);
	assert_string_equal(buf_cstr(&text), "0123");
	assert_int_equal(file_read_all(tree->fd, "long", &text, LONG), 0);
	assert_int_equal(text.len, 4 + LONG);
	buf_free(&text);
	free(bytes);
}
