/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/user_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/program_file.h"

/* Bytes of a process's mappings that are read. */
#define MAPS_MAX (16U << 20)

/* Files that are kept open. */
#define FILES_MAX 64

/* Questions that wait for their answers at most. */
#define ASKED_MAX 32

/* A question that takes longer has the process ended: its file is malicious, or damaged. */
#define PATIENCE_NS (20 * NSEC_PER_SEC)

/* Memory of the process: for files that are mapped, and for what is made of them. */
#define ADDRESS_ROOM (UINT64_C(16) << 30)
#define DATA_ROOM (UINT64_C(1) << 30)

struct user_symbols {
	int procfd;
	int channel; /* -1: the process is not there */
	pid_t pid;
	unsigned asked; /* questions without answers */
	uint64_t since_ns; /* when the first of them was asked, or the last answer came */
};

/* ---- The process ------------------------------------------------------------------------------
 */

/* A file that was opened. */
struct opened {
	uint64_t dev, inode;
	struct program_file *file; /* NULL: it is no program */
};

struct reader {
	int procfd;
	struct buf maps; /* of the process that is asked for */
	struct opened files[FILES_MAX];
	size_t nfiles;
	struct buf text;
};

/* A mapping of a process that programs are run from. */
struct mapping {
	uint64_t begin, end, offset;
	uint64_t dev, inode; /* of the file; inode 0: it is none */
	const char *path; /* to its end, at a newline; "" */
	size_t len;
};

/* Takes a line of /proc/PID/maps. False: it is none of code. */
static bool parse_mapping(const char *line, size_t len, struct mapping *map)
{
	unsigned long long begin, end, offset, inode;
	unsigned major, minor;
	char copy[128], rights[8];
	int at = 0;

	snprintf(copy, sizeof(copy), "%.*s", (int)len, line);
	if (sscanf(copy, "%llx-%llx %7s %llx %x:%x %llu %n", &begin, &end, rights, &offset, &major,
		   &minor, &inode, &at) != 7 ||
	    rights[2] != 'x')
		return false;
	*map = (struct mapping){ .begin = begin,
				 .end = end,
				 .offset = offset,
				 .dev = (uint64_t)major << 32 | minor,
				 .inode = inode,
				 .path = line + at,
				 .len = (size_t)at < len ? len - (size_t)at : 0 };
	return true;
}

/* Finds the mapping of an address. */
static bool find_mapping(const struct reader *reader, uint64_t address, struct mapping *map)
{
	const char *at = reader->maps.data, *end = at + reader->maps.len;

	for (const char *next; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (!next)
			return false;
		if (parse_mapping(at, (size_t)(next - at), map) && address >= map->begin &&
		    address < map->end)
			return true;
	}
	return false;
}

/*
 * Opens the file of a mapping: itself, whatever its name is by now, in whatever container it is;
 * where that is not allowed, by its name. Below 0: it cannot be opened, or is no regular file.
 */
static int open_mapped(const struct reader *reader, pid_t pid, const struct mapping *map)
{
	char name[PATH_MAX + 64];
	struct stat info;
	int fd;

	snprintf(name, sizeof(name), "%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)map->begin, (unsigned long long)map->end);
	fd = openat(reader->procfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		snprintf(name, sizeof(name), "%d/root%.*s", (int)pid, (int)map->len, map->path);
		fd = openat(reader->procfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	if (fd >= 0 && (fstat(fd, &info) || !S_ISREG(info.st_mode) || info.st_ino != map->inode)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The file of a mapping, opened once; NULL: it is no program that can be read. */
static struct program_file *file_of(struct reader *reader, pid_t pid, const struct mapping *map)
{
	struct opened *opened = reader->files;
	char *path;
	int fd;

	if (!map->inode)
		return NULL;
	for (size_t i = 0; i < reader->nfiles; i++)
		if (opened[i].inode == map->inode && opened[i].dev == map->dev)
			return opened[i].file;
	if (reader->nfiles == FILES_MAX)
		for (; reader->nfiles; reader->nfiles--)
			program_file_close(opened[reader->nfiles - 1].file);
	opened += reader->nfiles++;
	*opened = (struct opened){ map->dev, map->inode, NULL };
	fd = open_mapped(reader, pid, map);
	if (fd < 0)
		return NULL;
	path = strndup(map->path, map->len);
	opened->file = path ? program_file_open(fd, path) : NULL;
	free(path);
	return opened->file;
}

/* The last part of a mapping's name. */
static struct span object_of(const struct mapping *map)
{
	struct span name = { map->path, map->path + map->len };

	for (const char *at = name.at; at < name.end; at++)
		if (*at == '/')
			name.at = at + 1;
	return name;
}

/* Appends that. */
static void append_object(struct buf *out, const struct mapping *map)
{
	struct span name = object_of(map);
	size_t len = (size_t)(name.end - name.at);

	if (len)
		text_escape(out, name.at, len < NAME_MAX ? len : NAME_MAX, TEXT_UTF8);
	else
		buf_puts(out, "[no file]");
}

/* Whether nobody wants to know the lines of a library: those of every program. */
static bool is_of_system(const struct mapping *map)
{
	static const char *const names[] = { "libc.so.", "libc-", "libpthread", "ld-",
					     "libstdc++" };
	struct span name = object_of(map);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if ((size_t)(name.end - name.at) > strlen(names[i]) &&
		    !strncmp(name.at, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Appends an address's function, or as much as is known of where it is. */
static void append_function(struct buf *out, struct program_file *file, const struct mapping *map,
			    uint64_t address)
{
	uint64_t offset = address - map->begin + map->offset;
	size_t at = out->len;

	if (file && program_file_name(file, offset, !is_of_system(map), out)) {
		if (out->data[out->len - 1] == ')')
			return;
		buf_puts(out, " (");
		append_object(out, map);
		buf_putc(out, ')');
		return;
	}
	out->len = at;
	append_object(out, map);
	buf_printf(out, "+0x%llx", (unsigned long long)offset);
}

/* Where an address of a question is. */
struct found {
	uint64_t address; /* in the call that is made there: a return address may be the next
			     function's */
	struct mapping map; /* inode and path are none where nothing is mapped */
	bool mapped;
	struct program_file *file; /* NULL: none that can be read */
};

static struct found find(struct reader *reader, const struct user_question *question, uint32_t i)
{
	struct found found = { .address = question->addresses[i] - (i > 0) };

	found.mapped = find_mapping(reader, found.address, &found.map);
	if (found.mapped)
		found.file = file_of(reader, question->tgid, &found.map);
	return found;
}

/* Answers how frames are left. */
static void answer_rules(struct reader *reader, const struct user_question *question,
			 struct user_answer *answer)
{
	for (uint32_t i = 0; i < question->n; i++) {
		struct found found = find(reader, question, i);

		if (found.file &&
		    program_file_rule(found.file,
				      found.address - found.map.begin + found.map.offset,
				      &answer->rules[i]))
			answer->ruled |= UINT64_C(1) << i;
	}
}

/* Whether a stack was not followed to its end though the file says how: it will be, from now on. */
static bool is_learnt(const struct user_question *question, const struct user_answer *answer)
{
	return question->sure <= question->n && answer->ruled >> (question->sure - 1) & 1;
}

/* Answers what the functions are. */
static void answer_names(struct reader *reader, const struct user_question *question,
			 struct user_answer *answer)
{
	struct buf *text = &reader->text;
	struct found found = { 0 };

	text->len = 0;
	for (uint32_t i = 0; i < question->n && i < question->sure; i++) {
		found = find(reader, question, i);
		if (found.mapped)
			append_function(text, found.file, &found.map, found.address);
		else
			buf_printf(text, "0x%llx", (unsigned long long)question->addresses[i]);
		buf_putc(text, '\n');
	}
	if (question->sure <= question->n) {
		buf_puts(text, "[ends in ");
		if (found.mapped)
			append_object(text, &found.map);
		else
			buf_puts(text, "unknown code");
		buf_puts(text, "]\n");
	}
	answer->named = text->len < USER_TEXT_BYTES;
	if (answer->named)
		memcpy(answer->text, buf_cstr(text), text->len + 1);
}

/* Answers a question, in two parts: how frames are left is found sooner. Whether that was taken. */
static bool answer_question(struct reader *reader, int channel,
			    const struct user_question *question)
{
	struct user_answer answer = { .id = question->id };
	char name[32];

	snprintf(name, sizeof(name), "%d/maps", (int)question->tgid);
	reader->maps.len = 0;
	if (question->n <= USER_FRAMES &&
	    !file_read_all(reader->procfd, name, &reader->maps, MAPS_MAX) && reader->maps.len) {
		answer_rules(reader, question, &answer);
		if (send(channel, &answer, sizeof(answer), 0) != sizeof(answer))
			return false;
		if (is_learnt(question, &answer)) {
			answer.named = true;
			snprintf(answer.text, sizeof(answer.text), "[not followed yet]\n");
		} else {
			answer_names(reader, question, &answer);
		}
		answer.ruled = 0;
	}
	answer.last = true;
	return send(channel, &answer, sizeof(answer), 0) == sizeof(answer);
}

/* Limits what a file can make the process do. Whether that could be done. */
static bool limit_reader(void)
{
	static const struct {
		int which;
		rlim_t most;
	} limits[] = {
		{ RLIMIT_FSIZE, 0 },
		{ RLIMIT_CORE, 0 },
#ifndef __SANITIZE_ADDRESS__
		{ RLIMIT_AS, ADDRESS_ROOM },
		{ RLIMIT_DATA, DATA_ROOM },
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct rlimit limit = { limits[i].most, limits[i].most };

		if (setrlimit(limits[i].which, &limit))
			return false;
	}
	return !privileges_keep(PRIVILEGE_LOOK) && !confine_reading();
}

/* The process: answers until the program ends. */
_Noreturn static void serve_symbols(int procfd, int channel, pid_t parent)
{
	const int keep[] = { procfd, channel };
	struct reader reader = { .procfd = procfd };
	struct user_question question;

	process_become_helper("stalltop-symbols", keep, ARRAY_SIZE(keep));
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	unsetenv("DEBUGINFOD_URLS");
	if (getppid() != parent || !limit_reader())
		_exit(1);
	while (recv(channel, &question, sizeof(question), 0) == sizeof(question) &&
	       answer_question(&reader, channel, &question))
		;
	_exit(0);
}

/* ---- Its client -------------------------------------------------------------------------------
 */

struct user_symbols *user_symbols_open(int procfd)
{
	struct user_symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->procfd = procfd;
	symbols->channel = -1;
	return symbols;
}

/* Ends the process; its questions have no answers. */
static void end_reader(struct user_symbols *symbols)
{
	if (symbols->channel < 0)
		return;
	close(symbols->channel);
	symbols->channel = -1;
	symbols->asked = 0;
	kill(symbols->pid, SIGKILL);
	while (waitpid(symbols->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Starts the process. Whether it is there. */
static bool start_reader(struct user_symbols *symbols)
{
	pid_t parent = getpid();
	int ends[2];

	if (symbols->channel >= 0)
		return true;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	symbols->pid = fork();
	if (!symbols->pid)
		serve_symbols(symbols->procfd, ends[1], parent);
	close(ends[1]);
	if (symbols->pid < 0) {
		close(ends[0]);
		return false;
	}
	symbols->channel = ends[0];
	return true;
}

bool user_symbols_ask(struct user_symbols *symbols, const struct user_question *question)
{
	if (symbols->asked >= ASKED_MAX || !start_reader(symbols))
		return false;
	if (send(symbols->channel, question, sizeof(*question), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (errno != EAGAIN)
			end_reader(symbols);
		return false;
	}
	if (!symbols->asked++)
		symbols->since_ns = clock_ns(CLOCK_MONOTONIC);
	return true;
}

bool user_symbols_take(struct user_symbols *symbols, struct user_answer *answer, int timeout_ms)
{
	struct pollfd ready = { .fd = symbols->channel, .events = POLLIN };

	if (!symbols->asked)
		return false;
	if (poll(&ready, 1, timeout_ms) <= 0) {
		if (clock_ns(CLOCK_MONOTONIC) - symbols->since_ns > PATIENCE_NS)
			end_reader(symbols);
		return false;
	}
	if (recv(symbols->channel, answer, sizeof(*answer), MSG_DONTWAIT) != sizeof(*answer)) {
		end_reader(symbols);
		return false;
	}
	answer->text[USER_TEXT_BYTES - 1] = '\0';
	symbols->asked -= answer->last;
	symbols->since_ns = clock_ns(CLOCK_MONOTONIC);
	return true;
}

void user_symbols_close(struct user_symbols *symbols)
{
	if (!symbols)
		return;
	end_reader(symbols);
	free(symbols);
}
