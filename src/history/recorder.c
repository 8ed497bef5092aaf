/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/confine.h"
#include "base/privileges.h"
#include "base/start.h"
#include "base/util.h"
#include "history/encode.h"
#include "history/flight.h"
#include "history/queue.h"
#include "history/segment_close.h"
#include "history/store.h"
#include "history/sync.h"

/* recorder_open() waits at most this long for the file: a stalled disk cannot make it. */
#define OPEN_MS 15000

/* recorder_close() waits at most this long for what is still to be written. */
#define CLOSE_MS 5000

/* The most names that are tried for a segment. */
#define SEGMENT_NAMES 1000

/* The memory for samples that are kept until an incident. */
#define FLIGHT_BYTES ((size_t)64 << 20)

/* If another recorder has the folder: how often it is waited for, and how long each time. */
#define LOCK_TRIES 10
#define LOCK_PAUSE_MS 200

/* Old segments are looked for when a segment ends, and after this time. */
#define PRUNE_NS (10 * NSEC_PER_SEC)

struct recorder {
	struct recorder_config config;
	struct queue *queue;
	struct encoder *encoder;
	struct flight *flight; /* samples kept until an incident; NULL: all are written */
	bool lasts; /* an incident lasts */
	bool closing; /* an incident ended: `left` more moments are to be written */
	size_t left;
	bool fresh; /* the next moment written does not follow the one written last */
	struct record_status status;
	bool ended; /* the process that writes has ended */
	pid_t pid;
};

/* The state of the process that writes. */
struct record_writer {
	const struct recorder_config *config;
	struct queue *queue;
	struct store *store;
	struct buf file, path; /* the segment's name, and its path */
	uint64_t began_ns;
	uint64_t pruned_ns; /* when old segments were last looked for (CLOCK_MONOTONIC) */
	struct file_sync sync;
	bool ending; /* the segment ends at the next moment that can begin one */
	pid_t packing; /* the process that packs the last segment; 0: none */
};

/* Opens the file, or a segment that begins at a time (CLOCK_REALTIME). 0 or -errno. */
static int open_store(struct record_writer *writer, uint64_t real_ns)
{
	const struct recorder_config *config = writer->config;
	const struct store_about about = { .program = config->program };
	unsigned number = 0;
	int err = -EEXIST;

	if (!config->segments) {
		err = store_create(&writer->store, config->path, &about);
		if (!err)
			file_sync_open(&writer->sync, config->path);
		return err;
	}
	writer->began_ns = real_ns;
	writer->ending = false;
	segments_go_on(config->path, &real_ns, &number);
	for (unsigned tries = 0; err == -EEXIST && tries < SEGMENT_NAMES; tries++, number++) {
		writer->file.len = writer->path.len = 0;
		segment_name(&writer->file, real_ns, number);
		if (segment_exists(config->path, buf_cstr(&writer->file)))
			continue;
		buf_printf(&writer->path, "%s/%s", config->path, buf_cstr(&writer->file));
		err = store_create(&writer->store, buf_cstr(&writer->path), &about);
	}
	if (!err)
		file_sync_open(&writer->sync, buf_cstr(&writer->path));
	return err;
}

/* Removes old segments, except one. Returns how many. */
static unsigned prune_segments(struct record_writer *writer, const char *spared)
{
	const struct recorder_config *config = writer->config;

	writer->pruned_ns = clock_ns(CLOCK_MONOTONIC);
	return segments_prune(config->path, spared, &config->limits, clock_ns(CLOCK_REALTIME));
}

/*
 * Packs the segment that has ended. While the recording goes on, another process does it, so that
 * nobody waits. Without zstd, or without room for both files, the segment stays unpacked.
 */
static void pack_segment(struct record_writer *writer, bool goes_on)
{
	const char *folder = writer->config->path, *name = buf_cstr(&writer->file);

	if (writer->packing && waitpid(writer->packing, NULL, WNOHANG))
		writer->packing = 0;
	if (goes_on && !writer->packing) {
		writer->packing = segment_pack_beside(folder, name);
		if (writer->packing > 0)
			return;
		writer->packing = 0;
	}
	segment_pack(folder, name, false);
}

/* Closes the file; a segment is packed. goes_on: other segments follow. */
static void close_store(struct record_writer *writer, bool goes_on)
{
	if (!writer->store)
		return;
	file_sync_close(&writer->sync);
	store_close(writer->store, writer->config->segments);
	writer->store = NULL;
	if (!writer->config->segments)
		return;
	pack_segment(writer, goes_on);
	prune_segments(writer, buf_cstr(&writer->file));
}

/*
 * Asks for another segment if the present one is full, and makes room now and then. 0, or -ENOSPC
 * if there is no room.
 */
static int look_at_size(struct record_writer *writer)
{
	if (!writer->ending && segment_is_full(&writer->config->limits, store_bytes(writer->store),
					       writer->began_ns, clock_ns(CLOCK_REALTIME))) {
		writer->ending = true;
		atomic_store(&queue_told(writer->queue)->segment, 1);
	}
	if (clock_ns(CLOCK_MONOTONIC) - writer->pruned_ns < PRUNE_NS)
		return 0;
	prune_segments(writer, buf_cstr(&writer->file));
	return segments_have_room(writer->config->path) ? 0 : -ENOSPC;
}

/* Writes a moment. 0 or -errno. */
static int write_moment(struct record_writer *writer, const struct moment *moment)
{
	bool flies = writer->config->before_ns;
	int err = 0;

	if (moment->flags & MOMENT_CLOSE) {
		close_store(writer, true);
		return 0;
	}
	if (moment->flags & MOMENT_SEGMENT && (writer->ending || flies))
		close_store(writer, true);
	if (!writer->store)
		err = open_store(writer, flies ? moment->sample.real_ns : clock_ns(CLOCK_REALTIME));
	if (!err && !store_is_there(writer->store))
		err = -ENOENT;
	if (!err)
		err = store_put(writer->store, moment);
	/* If the disk is full, older segments are removed, down to a share of it. */
	if (err == -ENOSPC && writer->config->segments && writer->store &&
	    prune_segments(writer, buf_cstr(&writer->file)))
		err = store_put(writer->store, moment);
	if (!err)
		file_sync_written(&writer->sync);
	if (!err && writer->config->segments)
		err = look_at_size(writer);
	return err;
}

/* Writes all moments that come, until the sender ends. Returns the exit status. */
static int write_moments(struct record_writer *writer)
{
	const struct moment *moment;
	bool ended = false;
	int err = 0;

	while (!err && !ended) {
		moment = queue_receive(writer->queue, file_sync_due_ms(&writer->sync), &ended);
		if (moment) {
			err = write_moment(writer, moment);
			queue_done(writer->queue);
		} else {
			file_sync_look(&writer->sync);
		}
	}
	/* The debug log is not open in this process, so the sender is told. */
	if (err)
		atomic_store(&queue_told(writer->queue)->error, err);
	close_store(writer, false);
	if (writer->packing)
		waitpid(writer->packing, NULL, 0);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Opens the first file; if only incidents are written, checks that it could be. 0 or -errno. */
static int begin_writing(struct record_writer *writer)
{
	if (!writer->config->before_ns && writer->config->segments &&
	    !segments_have_room(writer->config->path))
		return -ENOSPC;
	if (!writer->config->before_ns)
		return open_store(writer, clock_ns(CLOCK_REALTIME));
	return access(writer->config->path, W_OK | X_OK) ? -errno : 0;
}

/*
 * Locks the folder of segments while this process lives: two recorders would record the same time
 * twice, and remove each other's segments. 0 or -errno (-EBUSY: another recorder has it).
 */
static int lock_folder(const char *path)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000 * 1000 };
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	for (unsigned tries = 0; flock(fd, LOCK_EX | LOCK_NB); tries++) {
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
		/* A recorder that is ending may still pack its last segment. */
		if (err != -EBUSY || tries == LOCK_TRIES) {
			close(fd);
			return err;
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* Confines this process to writing in the recording's folder. 0 or -errno. */
static int confine_writer(const struct recorder_config *config)
{
	const char *slash = strrchr(config->path, '/');
	struct buf folder = { 0 };
	int err;

	if (config->segments)
		return confine_writes(config->path);
	buf_printf(&folder, "%.*s.", slash ? (int)(slash + 1 - config->path) : 0, config->path);
	err = confine_writes(buf_cstr(&folder));
	buf_free(&folder);
	return err;
}

/* Runs the process that writes. It ends when its sender does; signals do not end it. */
_Noreturn static void be_writer(struct record_writer *writer)
{
	const int keep[] = { queue_fd(writer->queue) };
	int err;

	queue_be_receiver(writer->queue);
	start_serving("stalltop-record", keep, ARRAY_SIZE(keep));
	if (writer->config->before_ns)
		start_lock_memory();
	if (privileges_keep(writer->config->before_ns ? PRIVILEGE_FILES | PRIVILEGE_MEMORY
						      : PRIVILEGE_FILES))
		_exit(EXIT_FAILURE);
	err = writer->config->segments ? lock_folder(writer->config->path) : 0;
	if (!err && writer->config->segments)
		prune_segments(writer, "");
	if (!err)
		err = confine_writer(writer->config);
	if (!err)
		err = begin_writing(writer);
	atomic_store(&queue_told(writer->queue)->error, err);
	atomic_store(&queue_told(writer->queue)->ready, 1);
	if (err)
		_exit(EXIT_FAILURE);
	if (writer->config->segments)
		segments_tidy(writer->config->path, writer->store ? buf_cstr(&writer->file) : "");
	_exit(write_moments(writer));
}

/* Makes the folder if it does not exist. 0 or -errno. */
static int make_folder(const char *path)
{
	struct stat stat_of;

	if (!mkdir(path, 0750))
		return 0;
	if (errno != EEXIST)
		return -errno;
	return !stat(path, &stat_of) && S_ISDIR(stat_of.st_mode) ? 0 : -ENOTDIR;
}

/* Waits until the file is there. 0 or -errno. */
static int await_ready(struct recorder *recorder)
{
	struct queue_told *told = queue_told(recorder->queue);
	struct timespec pause = { .tv_nsec = 1000 * 1000 };
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + OPEN_MS * NSEC_PER_MSEC;

	while (!atomic_load(&told->ready)) {
		if (waitpid(recorder->pid, NULL, WNOHANG) == recorder->pid) {
			recorder->ended = true;
			return -ECHILD;
		}
		if (clock_ns(CLOCK_MONOTONIC) >= end_ns) {
			/*
			 * The process ends by itself when the disk answers; nobody waits for that.
			 */
			recorder->ended = true;
			return -ETIMEDOUT;
		}
		nanosleep(&pause, NULL);
	}
	return atomic_load(&told->error);
}

int recorder_open(struct recorder **out, const struct recorder_config *config)
{
	struct recorder *recorder = xcalloc(1, sizeof(*recorder));
	int err = config->segments ? make_folder(config->path) : 0;

	recorder->config = *config;
	if (!err)
		err = queue_open(&recorder->queue);
	if (!err) {
		recorder->pid = fork();
		if (recorder->pid < 0)
			err = -errno;
	}
	if (!err && !recorder->pid) {
		struct record_writer writer = { .config = &recorder->config,
						.queue = recorder->queue };

		be_writer(&writer);
	}
	if (!err) {
		queue_be_sender(recorder->queue);
		recorder->encoder = encoder_open(0);
		if (config->before_ns)
			recorder->flight = flight_open(config->before_ns, FLIGHT_BYTES);
		recorder->fresh = true;
		err = await_ready(recorder);
	}
	if (err) {
		recorder_close(recorder);
		return err;
	}
	*out = recorder;
	return 0;
}

/* Checks whether the process that writes has failed or ended. */
static void check_writer(struct recorder *recorder)
{
	int status;

	if (recorder->status.error)
		return;
	if (!recorder->ended && waitpid(recorder->pid, &status, WNOHANG) == recorder->pid)
		recorder->ended = true;
	recorder->status.error = atomic_load(&queue_told(recorder->queue)->error);
	if (!recorder->status.error && recorder->ended)
		recorder->status.error = -ECHILD;
}

/* Sends a moment to the process that writes. 0 or -errno. */
static int send_moment(struct recorder *recorder, const struct moment *moment)
{
	return queue_send(recorder->queue, moment, moment->size);
}

/* Tells the process that writes that the incident is over. False: the queue is full. */
static bool send_close(struct recorder *recorder)
{
	const struct moment close = { .size = sizeof(close), .flags = MOMENT_CLOSE };

	return send_moment(recorder, &close) != -ENOBUFS;
}

/* Sends kept moments that are to be written, as many as the queue takes. */
static void send_kept(struct recorder *recorder)
{
	const struct moment *moment;
	struct moment *first;

	while ((recorder->lasts || recorder->left) && (moment = flight_first(recorder->flight))) {
		if (recorder->fresh) {
			/* No moment before it is written, so it has no interval. */
			first = (struct moment *)moment;
			first->sample.interval_known = false;
		}
		if (send_moment(recorder, moment))
			return;
		flight_remove_first(recorder->flight);
		recorder->left -= recorder->left > 0;
		recorder->fresh = false;
	}
	if (recorder->closing && !recorder->lasts && send_close(recorder)) {
		recorder->closing = false;
		recorder->fresh = true;
	}
}

void recorder_incident(struct recorder *recorder, bool lasts)
{
	if (!recorder->flight || recorder->lasts == lasts)
		return;
	recorder->lasts = lasts;
	recorder->closing = !lasts;
	recorder->left = lasts ? 0 : flight_count(recorder->flight);
	/* Moments after an incident must not build on those before its end. */
	if (!lasts)
		encoder_begin_segment(recorder->encoder);
	send_kept(recorder);
}

uint64_t recorder_since_ns(const struct recorder *recorder)
{
	return recorder->flight ? flight_since_ns(recorder->flight) : 0;
}

/* Keeps a frame in memory. */
static void keep(struct recorder *recorder, const struct frame *frame, const struct frame *folded)
{
	bool kept = recorder->lasts || recorder->closing;
	size_t count = flight_count(recorder->flight), removed;

	if (flight_is_due(recorder->flight, frame->info->cur->begin_ns, kept))
		encoder_begin_segment(recorder->encoder);
	flight_add(recorder->flight, encoder_encode(recorder->encoder, frame, folded), kept);
	encoder_keep(recorder->encoder);
	removed = count + 1 - flight_count(recorder->flight);
	if (removed)
		debug_log("kept: %zu samples, %zu bytes", flight_count(recorder->flight),
			  flight_bytes(recorder->flight));
	recorder->left -= removed < recorder->left ? removed : recorder->left;
	send_kept(recorder);
}

void recorder_add(struct recorder *recorder, const struct frame *frame, const struct frame *folded)
{
	const struct moment *moment;
	int err;

	check_writer(recorder);
	if (recorder->status.error)
		return;
	if (atomic_exchange(&queue_told(recorder->queue)->segment, 0))
		encoder_begin_segment(recorder->encoder);
	if (recorder->flight) {
		keep(recorder, frame, folded);
		return;
	}
	moment = encoder_encode(recorder->encoder, frame, folded);
	err = send_moment(recorder, moment);
	if (!err) {
		encoder_keep(recorder->encoder);
		recorder->status.dropped = 0;
		return;
	}
	encoder_drop(recorder->encoder);
	recorder->status.dropped++;
	check_writer(recorder);
}

const struct record_status *recorder_status(const struct recorder *recorder)
{
	return &recorder->status;
}

/* Whether moments in memory are still to be written. */
static bool is_pending(const struct recorder *recorder)
{
	return recorder->left || (recorder->lasts && flight_count(recorder->flight));
}

int recorder_close(struct recorder *recorder)
{
	struct timespec pause = { .tv_nsec = 2000 * 1000 };
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + CLOSE_MS * NSEC_PER_MSEC;
	int err;

	if (!recorder)
		return 0;
	if (recorder->queue && recorder->pid > 0) {
		while (recorder->flight && !recorder->ended && !recorder->status.error &&
		       is_pending(recorder) && clock_ns(CLOCK_MONOTONIC) < end_ns) {
			send_kept(recorder);
			check_writer(recorder);
			nanosleep(&pause, NULL);
		}
		queue_hang_up(recorder->queue);
		while (!recorder->ended && clock_ns(CLOCK_MONOTONIC) < end_ns) {
			recorder->ended = waitpid(recorder->pid, NULL, WNOHANG) != 0;
			if (!recorder->ended)
				nanosleep(&pause, NULL);
		}
		if (!recorder->status.error)
			recorder->status.error = atomic_load(&queue_told(recorder->queue)->error);
	}
	err = recorder->status.error;
	encoder_close(recorder->encoder);
	flight_close(recorder->flight);
	queue_close(recorder->queue);
	free(recorder);
	return err;
}
