/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/debug_files.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/util.h"

#define CLIENT "debuginfod-find"

/* Maximum number of files. */
#define FETCHED_MAX 256

struct fetched_file {
	char id[BUILD_ID_CHARS];
	bool done;
	char *path; /* NULL: none, once it is done */
};

struct debug_files {
	struct fetched_file all[FETCHED_MAX]; /* in the order of requests, done ones first */
	size_t n, ndone;
	pid_t client; /* fetches all[ndone]; 0: none runs */
	int output; /* of it; -1: read to its end, so that the client is about to exit */
	char path[PATH_MAX]; /* its output so far */
	size_t len;
};

/* Starts the client. Its pid, or -1. */
static pid_t start_client(const char *what, const char *id, int *output)
{
	char *const arguments[] = { (char *)(uintptr_t)CLIENT, (char *)(uintptr_t)what,
				    (char *)(uintptr_t)id, NULL };

	return process_start(arguments, environ, output);
}

const char *debug_files_fault(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	int output;
	pid_t pid;

	if (!servers || !*servers)
		return "--debuginfod needs servers in DEBUGINFOD_URLS: see debuginfod(7); sudo "
		       "keeps it with --preserve-env=DEBUGINFOD_URLS";
	pid = start_client("--version", NULL, &output);
	if (pid < 0)
		return "--debuginfod needs " CLIENT ", of elfutils (package debuginfod or "
		       "elfutils-debuginfod-client)";
	close(output);
	waitpid(pid, NULL, 0);
	return NULL;
}

struct debug_files *debug_files_open(void)
{
	return xcalloc(1, sizeof(struct debug_files));
}

/* Finds a file by its build id. NULL: it was not asked for. */
static const struct fetched_file *find_fetched(const struct debug_files *files, const char *id)
{
	for (size_t i = 0; files && i < files->n; i++)
		if (!strcmp(files->all[i].id, id))
			return &files->all[i];
	return NULL;
}

const char *debug_files_path(const struct debug_files *files, const char *id)
{
	const struct fetched_file *file = find_fetched(files, id);

	return file ? file->path : NULL;
}

/* Starts the next fetch, unless one runs. */
static void fetch_next(struct debug_files *files)
{
	while (!files->client && files->ndone < files->n) {
		struct fetched_file *file = &files->all[files->ndone];

		files->client = start_client("debuginfo", file->id, &files->output);
		if (files->client > 0) {
			fcntl(files->output, F_SETFL, O_NONBLOCK);
			files->len = 0;
			return;
		}
		files->client = 0;
		file->done = true;
		files->ndone++;
	}
}

bool debug_files_fetch(struct debug_files *files, const char *id)
{
	const struct fetched_file *known = find_fetched(files, id);
	struct fetched_file *file;

	if (known)
		return !known->done || known->path;
	if (!files || files->n == FETCHED_MAX || strlen(id) >= BUILD_ID_CHARS)
		return false;
	file = &files->all[files->n++];
	memcpy(file->id, id, strlen(id) + 1);
	fetch_next(files);
	return !file->done;
}

/* Takes the path that the client printed, if it printed one. Returns whether it did. */
static bool take_path(struct debug_files *files)
{
	struct fetched_file *file = &files->all[files->ndone++];

	close(files->output);
	files->output = -1;
	file->done = true;
	if (files->len > 1 && *files->path == '/' && files->path[files->len - 1] == '\n')
		file->path = strndup(files->path, files->len - 1);
	return file->path;
}

bool debug_files_came(struct debug_files *files)
{
	size_t room;
	ssize_t got;
	bool came = false;

	while (files && files->client && files->output >= 0) {
		room = sizeof(files->path) - files->len;
		got = read(files->output, files->path + files->len, room);
		if (got < 0)
			break;
		files->len += (size_t)got;
		if (!got || (size_t)got == room)
			came = take_path(files);
	}
	if (files && files->client && files->output < 0 && waitpid(files->client, NULL, WNOHANG)) {
		files->client = 0;
		fetch_next(files);
	}
	return came;
}

void debug_files_close(struct debug_files *files)
{
	if (!files)
		return;
	if (files->client && files->output >= 0)
		close(files->output);
	/* A process hung in the kernel is not waited for. */
	if (files->client && !kill(files->client, SIGKILL))
		waitpid(files->client, NULL, WNOHANG);
	for (size_t i = 0; i < files->n; i++)
		free(files->all[i].path);
	free(files);
}
