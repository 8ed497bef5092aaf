/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a recording, and as a record of one: it is refused, or put out; no harm. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "history/record.h"
#include "history/record_file.h"
#include "history/replay.h"
#include "out/out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The most samples that are played of an input. */
#define SAMPLES_PLAYED 50

/* All outputs but that which makes a file; metrics are of groups. */
static void open_outputs(struct out *outputs)
{
	static const struct view_config views[] = {
		{ .query = { .over_ms = -1 }, .interval_ns = NSEC_PER_SEC },
		{ .query = { .over_ms = -1 }, .interval_ns = NSEC_PER_SEC, .group_by = GROUP_USER },
	};
	static const struct out_config configs[] = { { .view = &views[0] }, { .view = &views[1] } };

	for (size_t i = 0; i < OUT_FORMATS_N; i++)
		if (!out_registry[i]->open)
			out_open(&outputs[i], out_registry[i], &configs[out_registry[i]->series]);
}

/* Puts a frame out, or (frame NULL) ends. */
static void put(struct out *outputs, const struct frame *frame)
{
	for (size_t i = 0; i < OUT_FORMATS_N; i++) {
		struct out *out = &outputs[i];

		if (!out->ops)
			continue;
		if (!frame)
			out_close(out);
		else if (frame->info->prev)
			out_frame(out, frame);
		else
			out_prime(out, frame);
		out->buf.len = 0;
	}
}

/* Plays as the sampler does, into every output. */
static void play_some(struct replay *replay)
{
	struct out outputs[OUT_FORMATS_N] = { 0 };
	struct playback playback = replay_playback(replay);
	struct sample samples[2] = { 0 };
	struct frame frame = { 0 };
	struct frame_info info = { 0 };
	struct frame_options options = { 0 };
	struct playback_record result;

	open_outputs(outputs);
	for (unsigned i = 0; i < SAMPLES_PLAYED; i++) {
		struct sample *prev = i ? &samples[(i + 1) % 2] : NULL, *cur = &samples[i % 2];

		if (playback.next(playback.state, prev, cur, &result))
			break;
		cur->system = result.system;
		frame_build(&frame, &info, result.baseline ? NULL : prev, cur, &options);
		playback_trace(&result, &frame, &info);
		info.head = result.head;
		info.system = &cur->system;
		info.clocks = result.clocks;
		put(outputs, &frame);
	}
	put(outputs, NULL);
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
