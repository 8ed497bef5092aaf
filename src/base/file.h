/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads small files, mostly the kernel's, as a whole: once, or repeatedly by a descriptor that is
 * kept open; and parses their texts. All errors are -errno; a signal interrupts no call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/util.h"

/*
 * Opens below a directory descriptor (AT_FDCWD for an absolute path), for reading unless flags say
 * O_RDWR or O_WRONLY; O_DIRECTORY and O_NOFOLLOW may be added. Does not wait for the other end of a
 * pipe. The descriptor or -errno.
 */
int file_open(int dirfd, const char *path, int flags);

/* Closes a descriptor of file_open(); ignores an error passed in its place. */
void file_close(int fd);

/*
 * Reads a text from its beginning by one pread(): the kernel writes the texts of small files as a
 * whole, so that a second call could only say that there is no more. The number of bytes or -errno
 * (-ENODEV: the file's group has been removed; -ESRCH: its task has gone). A longer text is cut. A
 * signal handler may call it.
 */
int file_pread(int fd, void *text, size_t size);

/*
 * Opens a file, reads it like file_pread() and closes it; never follows a symbolic link at the
 * path's end.
 */
int file_read(int dirfd, const char *path, void *text, size_t size);

/*
 * Replaces the buffer's contents with a text of any length, from a file that returns its whole text
 * at once (single_open() in the kernel). 0 or -errno.
 */
int file_reread(int fd, struct buf *text);

/* Appends a whole file. 0, or -errno with nothing appended; -EFBIG: it is longer than limit. */
int file_read_all(int dirfd, const char *path, struct buf *text, size_t limit);

/*
 * Replaces a file atomically: a new file, its name beginning with a dot, is written beside it and
 * renamed. text: NULL: only checks whether that is possible. keep: with owner and mode of the old
 * file (without one, for the owner of the directory only), and synced to disk; else mode by umask.
 * 0 or -errno.
 */
int file_replace(const char *path, const struct buf *text, bool keep);

/* True if two results of stat() are of one file with unchanged contents. */
bool file_same(const struct stat *a, const struct stat *b);

/* A part of a text. */
struct span {
	const char *at, *end;
};

/*
 * Takes the part in front of the next `until`, or the rest without one: then part->end is
 * text->end. Moves the text past the part. False at the end of the text.
 */
bool take_part(struct span *text, char until, struct span *part);

/* Takes a line, without its newline. A line that ends at the text's end may have been cut. */
static inline bool take_line(struct span *text, struct span *line)
{
	return take_part(text, '\n', line);
}

/*
 * Finds the first whole line that begins with a key and a blank (space or tab); *rest becomes the
 * text after these, up to the newline. False if there is none.
 */
bool find_line(struct span text, const char *key, struct span *rest);

/* Consumes the word if the text begins with it. False, with nothing consumed, if not. */
bool take_word(struct span *text, const char *word);

/* Takes a decimal number, like parse_uint(). */
bool take_uint(struct span *text, uint64_t *value);

/* Takes a number with two decimals, in hundredths. False if malformed, perhaps partly consumed. */
bool take_hundredths(struct span *text, uint64_t *value);

/* True if the part equals the text. */
bool is_text(const struct span *part, const char *text);
