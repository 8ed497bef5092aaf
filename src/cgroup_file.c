/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cgroup_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

int cgroup_file_pread(int fd, char *text, size_t size)
{
	ssize_t got;

	do {
		got = pread(fd, text, size, 0);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : (int)got;
}

int cgroup_file_read(int dirfd, const char *path, char *text, size_t size)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int got;

	if (fd < 0)
		return -errno;
	got = cgroup_file_pread(fd, text, size);
	close(fd);
	return got;
}

bool cgroup_file_number(const char *text, size_t len, const char *key, uint64_t *value)
{
	const char *end = text + len;
	size_t key_len = strlen(key);

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		/* At the very end the number may have been cut. */
		if (!newline)
			return false;
		if ((size_t)(newline - text) > key_len && text[key_len] == ' ' &&
		    !memcmp(text, key, key_len)) {
			const char *at = text + key_len + 1;
			uint64_t number;

			if (!parse_uint(&at, newline, &number) || at != newline)
				return false;
			*value = number;
			return true;
		}
		text = newline + 1;
	}
	return false;
}

bool cgroup_file_below(const char *path)
{
	for (;;) {
		size_t len = strcspn(path, "/");

		if (!len || (len == 1 && *path == '.') || (len == 2 && !memcmp(path, "..", 2)))
			return false;
		if (!path[len])
			return true;
		path += len + 1;
	}
}
