/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a recording, and as a record of one: it is refused, or played; no harm. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "history/record.h"
#include "history/record_file.h"
#include "history/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The most samples that are played of an input. */
#define SAMPLES_PLAYED 50

/* Plays as the sampler does. */
static void play_some(struct replay *replay)
{
	struct playback playback = replay_playback(replay);
	struct sample samples[2] = { 0 };
	struct frame frame = { 0 };
	struct frame_info info = { 0 };
	struct frame_options options = { 0 };
	struct playback_record moment;

	for (unsigned i = 0; i < SAMPLES_PLAYED; i++) {
		struct sample *prev = i ? &samples[(i + 1) % 2] : NULL;

		if (playback.next(playback.state, prev, &samples[i % 2], &moment))
			break;
		frame_build(&frame, &info, moment.baseline ? NULL : prev, &samples[i % 2],
			    &options);
		playback_trace(&moment, &frame, &info);
	}
	frame_free(&frame);
	sample_free(&samples[0]);
	sample_free(&samples[1]);
}

/* Opens a file as a recording, and plays it. */
static void try_file(const char *path, const char *from)
{
	const struct replay_config config = { .path = path, .from = from };
	struct replay *replay;
	char *file;

	if (replay_open(&replay, &config, &file)) {
		free(file);
		return;
	}
	play_some(replay);
	replay_close(replay);
}

/* Writes the bytes as records of a file, which is then whole but for them: cut at every 255. */
static void put_records(const char *path, const uint8_t *data, size_t size)
{
	struct record_entry entry = { .real_ns = 1000, .interval_ns = 1000 };
	struct record_file *file;

	if (record_file_create(&file, path, "0"))
		abort();
	while (size) {
		size_t n = 0;

		while (n < size && data[n] != 255)
			n++;
		entry.key = record_is_key(data, n);
		entry.real_ns += 1000;
		if (record_file_put(file, &entry, data, n))
			abort();
		n += n < size;
		data += n;
		size -= n;
	}
	record_file_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/fuzz-recording-XXXXXX", other[64];
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		abort();
	try_file(path, size % 2 ? "-3s" : NULL);
	/* Hardly any change to a file passes its checks: so any bytes are its records, too. */
	snprintf(other, sizeof(other), "%s-records", path);
	put_records(other, data, size);
	try_file(other, size % 2 ? NULL : "-3s");
	unlink(other);
	unlink(path);
	return 0;
}
