/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "mounts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "file.h"

/* Part of the text; what the kernel would misread there is written in octal. */
struct word {
	const char *at;
	size_t len;
};

/* Whether a word is that text. */
static bool is_word(const struct word *word, const char *text)
{
	return word->len == strlen(text) && !memcmp(word->at, text, word->len);
}

/* Takes what stands up to the next space and moves *at behind that. False at the line's end. */
static bool next_word(const char **at, const char *end, struct word *word)
{
	const char *space;

	if (*at >= end)
		return false;
	space = memchr(*at, ' ', (size_t)(end - *at));
	word->at = *at;
	word->len = (size_t)((space ? space : end) - *at);
	*at = space ? space + 1 : end;
	return true;
}

/* The value of an octal escape (a backslash and three digits), or -1 where there is none. */
static int octal(const char *at, const char *end)
{
	int value = 0;

	if (end - at < 4 || *at != '\\')
		return -1;
	for (int i = 1; i < 4; i++) {
		if (at[i] < '0' || at[i] > '7')
			return -1;
		value = value * 8 + (at[i] - '0');
	}
	return value > 0 && value <= UINT8_MAX ? value : -1;
}

/* Appends a word as the bytes it stands for (fs/seq_file.c:mangle_path()). */
static void append_unescaped(struct buf *out, const struct word *word)
{
	const char *end = word->at + word->len;

	for (const char *at = word->at; at < end; at++) {
		int value = octal(at, end);

		buf_putc(out, value < 0 ? *at : (char)value);
		if (value >= 0)
			at += 3;
	}
}

/* Whether a word is one of those that a list has between its commas. */
static bool has_option(const struct word *list, const char *name, size_t len)
{
	const char *at = list->at, *end = list->at + list->len;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t n = (size_t)((comma ? comma : end) - at);

		if (n == len && !memcmp(at, name, len))
			return true;
		at += n + 1;
	}
	return false;
}

/* Whether the options of a v1 mount have all parts of the hierarchy's name. */
static bool is_hierarchy(const struct word *options, const char *name)
{
	bool found = *name != '\0';

	while (found && *name) {
		size_t len = strcspn(name, ",");

		found = has_option(options, name, len);
		name += len + (name[len] == ',');
	}
	return found;
}

/* Whether a line is a mount of the hierarchy; then also which group is mounted where. */
static bool parse_line(const char *at, const char *end, const char *hierarchy, struct word *root,
		       struct word *point)
{
	struct word word, type, options;

	/* Ids of the mount, its parent and the device. */
	for (int i = 0; i < 3; i++)
		if (!next_word(&at, end, &word))
			return false;
	if (!next_word(&at, end, root) || !next_word(&at, end, point))
		return false;
	/* The mount's own options and any number of optional fields, up to a hyphen. */
	do {
		if (!next_word(&at, end, &word))
			return false;
	} while (!is_word(&word, "-"));
	if (!next_word(&at, end, &type) || !next_word(&at, end, &word) ||
	    !next_word(&at, end, &options))
		return false;
	if (!hierarchy)
		return is_word(&type, "cgroup2");
	return is_word(&type, "cgroup") && is_hierarchy(&options, hierarchy);
}

int mounts_parse_part(const char *text, size_t len, const char *hierarchy, struct buf *group,
		      struct buf *path)
{
	struct word root, point, part_root = { 0 }, part_point = { 0 };
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		if (parse_line(text, line_end, hierarchy, &root, &point)) {
			bool whole = is_word(&root, "/");

			if (whole || !part_root.at) {
				part_root = root;
				part_point = point;
			}
			if (whole)
				break;
		}
		text = newline ? newline + 1 : end;
	}
	if (!part_root.at)
		return -ENOENT;
	append_unescaped(group, &part_root);
	append_unescaped(path, &part_point);
	return 0;
}

int mounts_parse(const char *text, size_t len, const char *hierarchy, struct buf *path)
{
	struct buf group = { 0 }, point = { 0 };
	int err = mounts_parse_part(text, len, hierarchy, &group, &point);

	if (!err && (group.len != 1 || *group.data != '/'))
		err = -ENOENT;
	if (!err)
		buf_add(path, point.data, point.len);
	buf_free(&group);
	buf_free(&point);
	return err;
}

int mounts_read(int procfd, struct buf *text)
{
	return file_read_all(procfd, "self/mountinfo", text, SIZE_MAX);
}

/* Finds a hierarchy, NULL for that of v2. */
static int find(int procfd, const char *hierarchy, struct buf *path)
{
	struct buf text = { 0 };
	int err = mounts_read(procfd, &text);

	if (!err)
		err = mounts_parse(text.data, text.len, hierarchy, path);
	buf_free(&text);
	return err;
}

int mounts_cgroup1(int procfd, const char *hierarchy, struct buf *path)
{
	return find(procfd, hierarchy, path);
}

int mounts_cgroup2(int procfd, struct buf *path)
{
	return find(procfd, NULL, path);
}
