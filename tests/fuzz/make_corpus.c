// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the first inputs of fuzzers below a folder: make_corpus FOLDER. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/recording.h"
#include "tests/lib/records.h"

/* Writes a file below the folder. */
static void put(int folder, const char *name, const void *bytes, size_t len)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd)) {
		perror(name);
		exit(1);
	}
}

/* Records alone, and replies with them, of every version. */
static void put_version(int folder, unsigned version)
{
	struct record_values values;
	uint8_t record[RECORD_MAX], bytes[4096];
	struct record_message message = { .record = record, .id = version };
	char name[64];

	record_fill(&values, version);
	message.len = record_make(record, version, &values);
	snprintf(name, sizeof(name), "record-%u", version);
	put(folder, name, record, message.len);
	message.tgid = version & 1;
	message.pad = version & 2;
	message.unknown = version & 4;
	snprintf(name, sizeof(name), "reply-%u", version);
	put(folder, name, bytes, record_attributes(bytes, &message));
	message.len /= 2;
	snprintf(name, sizeof(name), "short-%u", version);
	put(folder, name, bytes, record_attributes(bytes, &message));
}

/* An exit record: a task's part and its group's. */
static void put_exit(int folder)
{
	struct record_values values;
	uint8_t record[RECORD_MAX], bytes[8192];
	struct record_message message = { .record = record, .id = 7 };
	size_t len;

	record_fill(&values, 1);
	message.len = record_make(record, 16, &values);
	len = record_attributes(bytes, &message);
	message.tgid = true;
	len += record_attributes(bytes + len, &message);
	put(folder, "exit", bytes, len);
}

/* The records of a made-up machine, with what ends them in between. */
static void put_records(int top, unsigned seed)
{
	struct play_machine machine = { .seed = seed };
	struct record_state *state = record_open();
	struct buf bytes = { 0 };
	char name[64];

	for (unsigned i = 0; i < 3; i++) {
		record_encode(state, play_frame(&machine), NULL, &bytes);
		buf_putc(&bytes, (char)255);
	}
	snprintf(name, sizeof(name), "recording/records-%u", seed);
	put(top, name, bytes.data, bytes.len);
	buf_free(&bytes);
	record_close(state);
	play_free(&machine);
}

/* Recordings of made-up machines. */
static void put_recordings(const char *top, int folder)
{
	char path[4096];

	for (unsigned seed = 1; seed <= 3; seed++) {
		snprintf(path, sizeof(path), "%s/recording/play-%u", top, seed);
		unlink(path);
		if (play_record(path, seed, 4 * seed)) {
			perror(path);
			exit(1);
		}
		put_records(folder, seed);
	}
}

int main(int argc, char **argv)
{
	int top, folder;

	if (argc != 2) {
		fputs("usage: make_corpus FOLDER\n", stderr);
		return 2;
	}
	top = open(argv[1], O_RDONLY | O_DIRECTORY);
	if (top < 0 || (mkdirat(top, "taskstats", 0755) && errno != EEXIST) ||
	    (mkdirat(top, "recording", 0755) && errno != EEXIST)) {
		perror(argv[1]);
		return 1;
	}
	folder = openat(top, "taskstats", O_RDONLY | O_DIRECTORY);
	if (folder < 0) {
		perror("taskstats");
		return 1;
	}
	for (unsigned version = RECORD_OLDEST; version <= RECORD_NEWEST + 1; version++)
		put_version(folder, version);
	put_exit(folder);
	put_recordings(argv[1], top);
	close(folder);
	close(top);
	return 0;
}
