/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/perf_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

/* Maximum bytes of a map, and of a function's name. */
#define MAP_MAX_BYTES (64U << 20)
#define NAME_MAX_BYTES 120

/* The pid of a process in the innermost of its namespaces; 0: unknown. */
static pid_t innermost_pid(int procfd, pid_t pid)
{
	char name[32], text[4096];
	struct span rest;
	int len;

	snprintf(name, sizeof(name), "%d/status", (int)pid);
	len = file_read(procfd, name, text, sizeof(text) - 1);
	if (len <= 0 || !find_line((struct span){ text, text + len }, "NSpid:", &rest))
		return 0;
	while (rest.end > rest.at && rest.end[-1] >= '0' && rest.end[-1] <= '9')
		rest.end--;
	return (pid_t)atoi(rest.end);
}

/* True if a file may be read: it is regular, and of the process's user or root. */
static bool is_trusted(int procfd, pid_t pid, int fd)
{
	struct stat file, process;
	char name[32];

	snprintf(name, sizeof(name), "%d", (int)pid);
	return !fstat(fd, &file) && !fstatat(procfd, name, &process, 0) && S_ISREG(file.st_mode) &&
	       file.st_size <= MAP_MAX_BYTES && (file.st_uid == process.st_uid || !file.st_uid);
}

bool perf_map_read(struct perf_map *map, int procfd, pid_t pid)
{
	char name[64];
	int fd;

	map->text.len = 0;
	snprintf(name, sizeof(name), "%d/root/tmp/perf-%d.map", (int)pid,
		 (int)innermost_pid(procfd, pid));
	fd = file_open(procfd, name, O_NOFOLLOW);
	if (fd < 0)
		return false;
	if (is_trusted(procfd, pid, fd))
		file_reread(fd, &map->text);
	close(fd);
	/* Numbers are parsed to where they end. */
	buf_cstr(&map->text);
	return map->text.len;
}

/*
 * How to unwind frames: compilers keep the frame pointer, except Python's, whose functions are
 * called by a few instructions that only move the stack pointer (Python/asm_trampoline.S, 3.12).
 */
static struct frame_rule rule_of(const char *name, size_t len)
{
	if (len > 4 && !strncmp(name, "py::", 4))
		return (struct frame_rule){ .base = RULE_SP, .cfa = 16 };
	return (struct frame_rule){ .base = RULE_BP, .cfa = 16, .bp = -16 };
}

bool perf_map_name(const struct perf_map *map, uint64_t address, struct buf *out,
		   struct frame_rule *rule)
{
	struct span text = { map->text.data, map->text.data + map->text.len }, line;
	const char *name = NULL;
	size_t len = 0;

	while (map->text.len && take_line(&text, &line)) {
		char *at, *end;
		uint64_t start = strtoull(line.at, &at, 16), size;

		if (at >= line.end || *at != ' ')
			continue;
		size = strtoull(at, &end, 16);
		/* Space of discarded code is reused by later functions. */
		if (end >= line.end || *end != ' ' || address < start || address - start >= size)
			continue;
		name = end + 1;
		len = (size_t)(line.end - name);
	}
	if (!name)
		return false;
	*rule = rule_of(name, len);
	text_escape(out, name, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES, TEXT_UTF8);
	buf_puts(out, " (JIT)");
	return true;
}

void perf_map_free(struct perf_map *map)
{
	buf_free(&map->text);
}
