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
#include "kernel/perf_map.h"
#include "kernel/program_file.h"

/* Bytes read of a process's mappings. */
#define MAPS_MAX (16U << 20)

/* Files kept open. */
#define FILES_MAX 64

/* Maximum number of questions without an answer. */
#define ASKED_MAX 32

/* A question that takes longer ends the process: its file is malicious, or damaged. */
#define PATIENCE_NS (20 * NSEC_PER_SEC)

/* Memory limit of the process: for mapped files, and for data made from them. */
#define ADDRESS_ROOM (UINT64_C(16) << 30)
#define DATA_ROOM (UINT64_C(1) << 30)

struct user_symbols {
	int procfd;
	int channel; /* -1: not running */
	pid_t pid;
	unsigned asked; /* questions without answers */
	bool lost; /* it ended without answering some of these */
	uint64_t since_ns; /* when the first of them was asked, or the latest answer came */
	struct debug_files *fetched; /* NULL: none are */
	bool came; /* one that the process does not know */
};

/* ---- The process ---------------------------------------------------------------------------- */

/* An opened file. */
struct opened {
	uint64_t dev, inode;
	struct program_file *file; /* NULL: not a program */
};

struct reader {
	int procfd;
	const struct debug_files *fetched;
	struct buf maps; /* of the current process */
	struct opened files[FILES_MAX];
	size_t nfiles;
	struct perf_map generated; /* of that process, once read */
	bool generated_read;
	struct buf text, scratch;
};

/* An executable mapping of a process. */
struct mapping {
	uint64_t begin, end, offset;
	uint64_t dev, inode; /* of the file; inode 0: none */
	const char *path; /* up to a newline; "" */
	size_t len;
};

/* Parses a line of /proc/PID/maps. False: not executable. */
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

/* Finds the mapping that contains an address. */
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
 * Opens the file of a mapping: the file itself, whatever its present name and container; if that is
 * not allowed, by its name. Below 0: it cannot be opened, or is no regular file.
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

/* The file of a mapping, opened once; NULL: no readable program. */
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
	opened->file = path ? program_file_open(fd, path, reader->fetched) : NULL;
	free(path);
	return opened->file;
}

/* The last component of a mapping's name. */
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
		buf_puts(out, "generated code");
}

/* True for libraries that every program has, whose lines are of no interest. */
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

/* Appends an address's function, or as much as is known of it. */
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

/* The location of an address of a question. */
struct found {
	uint64_t address; /* within the call instruction: a return address may already belong to the
			   * next function */
	struct mapping map; /* inode and path are unset if nothing is mapped */
	bool mapped;
	struct program_file *file; /* NULL: no readable one */
};

static struct found find(struct reader *reader, const struct user_question *question, uint32_t i)
{
	struct found found = { .address = question->addresses[i] - (i > 0) };

	found.mapped = find_mapping(reader, found.address, &found.map);
	if (found.mapped)
		found.file = file_of(reader, question->tgid, &found.map);
	return found;
}

/* Finds the function of code that the process generated, and appends its name. */
static bool find_generated(struct reader *reader, const struct user_question *question,
			   const struct found *found, struct buf *out, struct frame_rule *rule)
{
	if (!found->mapped)
		return false;
	if (!reader->generated_read)
		perf_map_read(&reader->generated, reader->procfd, question->tgid);
	reader->generated_read = true;
	return !found->file && perf_map_name(&reader->generated, found->address, out, rule);
}

/* Finds how to unwind the frame at an address. */
static bool find_rule(struct reader *reader, const struct user_question *question, uint32_t i,
		      struct frame_rule *rule)
{
	struct found found = find(reader, question, i);
	uint64_t offset = found.address - found.map.begin + found.map.offset;

	reader->scratch.len = 0;
	if ((found.file && program_file_rule(found.file, offset, rule)) ||
	    find_generated(reader, question, &found, &reader->scratch, rule))
		return true;
	/*
	 * Code by which a compiler calls its functions has no tables, and keeps the frame pointer,
	 * too.
	 */
	*rule = (struct frame_rule){ .base = RULE_BP, .cfa = 16, .bp = -16 };
	return found.mapped && reader->generated.text.len;
}

/* Answers how to unwind the frames. */
static void answer_rules(struct reader *reader, const struct user_question *question,
			 struct user_answer *answer)
{
	for (uint32_t i = 0; i < question->n; i++)
		if (find_rule(reader, question, i, &answer->rules[i]))
			answer->ruled |= UINT64_C(1) << i;
}

/* True if a stack is incomplete though the file has the rule: it will be followed from now on. */
static bool is_learnt(const struct user_question *question, const struct user_answer *answer)
{
	return !question->tid && !question->again && question->sure <= question->n &&
	       answer->ruled >> (question->sure - 1) & 1;
}

/* Appends the end of a stack that could not be followed further. */
static void append_early_end(struct buf *out, const struct found *last)
{
	buf_puts(out, "[ends in ");
	if (last->mapped)
		append_object(out, &last->map);
	else
		buf_puts(out, "unknown code");
	buf_puts(out, "]\n");
}

/* Notes that a program lacks a file with its symbols. */
static void note_lack(struct user_answer *answer, const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(answer->lacks); i++) {
		if (!*answer->lacks[i])
			memcpy(answer->lacks[i], id, strlen(id) + 1);
		if (!strcmp(answer->lacks[i], id))
			return;
	}
}

/* Answers with the functions. */
static void answer_names(struct reader *reader, const struct user_question *question,
			 struct user_answer *answer)
{
	struct buf *text = &reader->text;
	struct found found, last = { 0 };
	struct frame_rule rule;
	uint32_t i;

	text->len = 0;
	for (i = 0; i < question->n && i < question->sure; i++) {
		found = find(reader, question, i);
		/* Nothing is mapped there: a rule for generated code was wrong. */
		if (!found.mapped)
			break;
		last = found;
		if (!find_generated(reader, question, &found, text, &rule))
			append_function(text, found.file, &found.map, found.address);
		buf_putc(text, '\n');
		if (found.file && program_file_lacks(found.file))
			note_lack(answer, program_file_lacks(found.file));
	}
	/* All addresses are right, and the last has no caller: it is complete. */
	if (i < question->n || question->sure <= question->n)
		append_early_end(text, &last);
	answer->named = text->len < USER_TEXT_BYTES;
	if (answer->named)
		memcpy(answer->text, buf_cstr(text), text->len + 1);
}

/* True if a thread still sleeps at the same place. */
static bool is_still_there(const struct reader *reader, const struct user_question *question)
{
	char name[64], text[256], *at;
	int len;

	snprintf(name, sizeof(name), "%d/task/%d/syscall", (int)question->tgid, (int)question->tid);
	len = file_read(reader->procfd, name, text, sizeof(text) - 1);
	if (len <= 0)
		return false;
	text[len] = '\0';
	at = strrchr(text, ' ');
	if (!at || strtoull(at, NULL, 16) != question->addresses[0])
		return false;
	*at = '\0';
	at = strrchr(text, ' ');
	return at && strtoull(at, NULL, 16) == question->sp;
}

/* Reads a word of a process's memory; 0: unreadable. */
static uint64_t read_stack_word(int memory, uint64_t address)
{
	uint64_t word = 0;

	return pread(memory, &word, sizeof(word), (off_t)address) == sizeof(word) ? word : 0;
}

/* Moves to the caller's frame by a rule. False: there is none. */
static bool leave_frame_by(const struct frame_rule *rule, int memory, uint64_t *ip, uint64_t *sp,
			   uint64_t *bp)
{
	uint64_t base = (rule->base == RULE_SP ? *sp : *bp) + (uint64_t)(int64_t)rule->cfa;

	if (rule->base == RULE_LAST || base <= *sp)
		return false;
	*ip = read_stack_word(memory, base - 8);
	if (rule->bp)
		*bp = read_stack_word(memory, base + (uint64_t)(int64_t)rule->bp);
	*sp = base;
	return *ip;
}

/*
 * Walks the stack of a sleeping thread, as the BPF program does. The result counts only if it still
 * sleeps there at the end.
 */
static void walk_sleeper(struct reader *reader, struct user_question *question)
{
	uint64_t ip = question->addresses[0], sp = question->sp, bp = question->bp;
	struct user_question all = *question;
	struct frame_rule rule;
	char name[32];
	int memory;

	snprintf(name, sizeof(name), "%d/mem", (int)question->tgid);
	memory = openat(reader->procfd, name, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return;
	all.n = all.sure = 0;
	while (all.n < USER_FRAMES) {
		all.addresses[all.n++] = ip;
		all.sure++;
		if (!find_rule(reader, &all, all.n - 1, &rule))
			break;
		if (!leave_frame_by(&rule, memory, &ip, &sp, &bp)) {
			all.sure += rule.base == RULE_LAST;
			break;
		}
	}
	close(memory);
	if (is_still_there(reader, question))
		*question = all;
}

/* Answers a question, in two parts: rules are found sooner. Returns whether it was taken. */
static bool answer_question(struct reader *reader, int channel, struct user_question *question)
{
	struct user_answer answer = { .id = question->id };
	char name[32];

	snprintf(name, sizeof(name), "%d/maps", (int)question->tgid);
	reader->maps.len = 0;
	reader->generated_read = false;
	if (question->n <= USER_FRAMES &&
	    !file_read_all(reader->procfd, name, &reader->maps, MAPS_MAX) && reader->maps.len) {
		if (question->tid && question->n == 1)
			walk_sleeper(reader, question);
		answer_rules(reader, question, &answer);
		if (send(channel, &answer, sizeof(answer), 0) != sizeof(answer))
			return false;
		answer.learnt = is_learnt(question, &answer);
		if (!answer.learnt)
			answer_names(reader, question, &answer);
		answer.ruled = 0;
	}
	answer.last = true;
	return send(channel, &answer, sizeof(answer), 0) == sizeof(answer);
}

/* Limits the harm that a file can do through the process. Returns whether that was possible. */
static bool limit_reader(void)
{
	static const struct rlimit none = { 0, 0 };
#ifndef __SANITIZE_ADDRESS__
	static const struct rlimit addresses = { ADDRESS_ROOM, ADDRESS_ROOM };
	static const struct rlimit data = { DATA_ROOM, DATA_ROOM };

	if (setrlimit(RLIMIT_AS, &addresses) || setrlimit(RLIMIT_DATA, &data))
		return false;
#endif
	if (setrlimit(RLIMIT_FSIZE, &none) || setrlimit(RLIMIT_CORE, &none))
		return false;
	return !privileges_keep(PRIVILEGE_LOOK) && !confine_reading();
}

/* The process: answers until the program exits. */
_Noreturn static void serve_symbols(const struct user_symbols *symbols, int channel, pid_t parent)
{
	const int keep[] = { symbols->procfd, channel };
	struct reader reader = { .procfd = symbols->procfd, .fetched = symbols->fetched };
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

/* ---- Its client ----------------------------------------------------------------------------- */

struct user_symbols *user_symbols_open(int procfd, bool fetch)
{
	struct user_symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->procfd = procfd;
	symbols->fetched = fetch ? debug_files_open() : NULL;
	symbols->channel = -1;
	return symbols;
}

/* Ends the process; its questions stay unanswered. */
static void end_reader(struct user_symbols *symbols)
{
	if (symbols->channel < 0)
		return;
	close(symbols->channel);
	symbols->channel = -1;
	symbols->lost |= symbols->asked;
	symbols->asked = 0;
	kill(symbols->pid, SIGKILL);
	while (waitpid(symbols->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Starts the process. Returns whether it runs. */
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
		serve_symbols(symbols, ends[1], parent);
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
	for (size_t i = 0; i < ARRAY_SIZE(answer->lacks); i++) {
		answer->lacks[i][BUILD_ID_CHARS - 1] = '\0';
		if (*answer->lacks[i] && debug_files_fetch(symbols->fetched, answer->lacks[i]))
			answer->more = true;
	}
	symbols->asked -= answer->last;
	symbols->since_ns = clock_ns(CLOCK_MONOTONIC);
	return true;
}

bool user_symbols_came(struct user_symbols *symbols)
{
	symbols->came |= debug_files_came(symbols->fetched);
	if (!symbols->came || symbols->asked)
		return false;
	/* The next one knows the file. */
	end_reader(symbols);
	symbols->came = false;
	return true;
}

bool user_symbols_lost(struct user_symbols *symbols)
{
	bool lost = symbols->lost;

	symbols->lost = false;
	return lost;
}

void user_symbols_close(struct user_symbols *symbols)
{
	if (!symbols)
		return;
	end_reader(symbols);
	debug_files_close(symbols->fetched);
	free(symbols);
}
