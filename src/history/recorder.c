/* SPDX-License-Identifier: GPL-2.0-or-later */
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

#include "base/process.h"
#include "base/util.h"
#include "history/queue.h"
#include "history/record.h"
#include "history/record_file.h"
#include "history/ring.h"
#include "history/sync.h"

/* Maximum wait of recorder_open() for the file: a stalled disk cannot create it. */
#define OPEN_MS 15000

/* Maximum wait of recorder_close() for data still to be written. */
#define CLOSE_MS 5000

/* Maximum number of names tried for a segment. */
#define SEGMENT_NAMES 1000

/* Memory for samples kept until an incident. */
#define RING_MOST ((size_t)64 << 20)

/* If another recorder uses the folder: how often it is waited for, and how long each time. */
#define LOCK_TRIES 10
#define LOCK_PAUSE_MS 200

/* Old segments are removed when a segment ends, and after this time. */
#define PRUNE_NS (10 * NSEC_PER_SEC)

/* Sent to the writing process; the record's bytes follow. */
struct record_message {
	bool close; /* there is no record: close the file */
	struct record_entry entry;
	uint64_t len;
};

struct recorder {
	struct recorder_config config;
	struct queue *queue;
	struct record_state *state;
	struct ring *ring; /* samples kept until an incident; NULL: all are written */
	struct buf message; /* scratch buffer */
	bool lasts; /* an incident lasts */
	bool closing; /* an incident ended: `left` more records are to be written */
	size_t left;
	bool fresh; /* the next written record does not follow the previous one */
	struct record_status status;
	bool ended; /* the writing process has exited */
	pid_t pid;
};

/* The state of the writing process. */
struct record_writer {
	const struct recorder_config *config;
	struct queue *queue;
	struct record_file *open;
	struct buf file, path; /* the segment's name, and its path */
	uint64_t closed_bytes; /* of closed files */
	uint64_t began_ns;
	uint64_t pruned_ns; /* when old segments were last removed (CLOCK_MONOTONIC) */
	struct file_sync sync;
	bool ending; /* the segment ends at the next possible record */
};

/* Opens the file, or a segment that begins at a time (CLOCK_REALTIME). 0 or -errno. */
static int open_recording(struct record_writer *writer, uint64_t real_ns)
{
	const struct recorder_config *config = writer->config;
	unsigned number = 0;
	int err = -EEXIST;

	if (!config->segments) {
		err = record_file_create(&writer->open, config->path, config->program);
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
		err = record_file_create(&writer->open, buf_cstr(&writer->path), config->program);
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

/* Closes the file. */
static void close_file(struct record_writer *writer)
{
	if (!writer->open)
		return;
	file_sync_close(&writer->sync);
	writer->closed_bytes += record_file_bytes(writer->open);
	record_file_close(writer->open);
	writer->open = NULL;
	if (writer->config->segments)
		prune_segments(writer, buf_cstr(&writer->file));
}

/*
 * Requests another segment if the present one is full, and frees room from time to time. 0, or
 * -ENOSPC if there is no room.
 */
static int look_at_size(struct record_writer *writer)
{
	if (!writer->ending &&
	    segment_is_full(&writer->config->limits, record_file_bytes(writer->open),
			    writer->began_ns, clock_ns(CLOCK_REALTIME))) {
		writer->ending = true;
		atomic_store(&queue_status(writer->queue)->segment, 1);
	}
	if (clock_ns(CLOCK_MONOTONIC) - writer->pruned_ns < PRUNE_NS)
		return 0;
	prune_segments(writer, buf_cstr(&writer->file));
	return segments_have_room(writer->config->path) ? 0 : -ENOSPC;
}

/* Writes a record. 0 or -errno. */
static int write_record(struct record_writer *writer, const struct record_message *message)
{
	const struct record_entry *entry = &message->entry;
	bool flies = writer->config->before_ns;
	int err = 0;

	if (entry->key && writer->ending)
		close_file(writer);
	if (!writer->open)
		err = open_recording(writer, flies ? entry->real_ns : clock_ns(CLOCK_REALTIME));
	if (!err && !record_file_is_there(writer->open))
		err = -ENOENT;
	if (!err)
		err = record_file_put(writer->open, entry, message + 1, message->len);
	/* If the disk is full, older segments are removed, down to a share of it. */
	if (err == -ENOSPC && writer->config->segments && writer->open &&
	    prune_segments(writer, buf_cstr(&writer->file)))
		err = record_file_put(writer->open, entry, message + 1, message->len);
	if (!err) {
		file_sync_written(&writer->sync);
		atomic_store(&queue_status(writer->queue)->bytes,
			     writer->closed_bytes + record_file_bytes(writer->open));
	}
	if (!err && writer->config->segments)
		err = look_at_size(writer);
	return err;
}

/* Writes all received records, until the sender exits. Returns the exit status. */
static int run_writer(struct record_writer *writer)
{
	const struct record_message *message;
	bool ended = false;
	int err = 0;

	while (!err && !ended) {
		message = queue_receive(writer->queue, file_sync_due_ms(&writer->sync), &ended);
		if (message && message->close)
			close_file(writer);
		else if (message)
			err = write_record(writer, message);
		if (message)
			queue_done(writer->queue);
		else
			file_sync_look(&writer->sync);
	}
	/* The debug log is not open in this process, so the sender is told. */
	if (err)
		atomic_store(&queue_status(writer->queue)->error, err);
	close_file(writer);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Opens the first file; if only incidents are written, checks that it could be. 0 or -errno. */
static int begin_writing(struct record_writer *writer)
{
	if (!writer->config->before_ns && writer->config->segments &&
	    !segments_have_room(writer->config->path))
		return -ENOSPC;
	if (!writer->config->before_ns)
		return open_recording(writer, clock_ns(CLOCK_REALTIME));
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
		/* A recorder that is exiting may still close its last segment. */
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

/* Runs the writing process. It exits when its sender does, not by signals. */
_Noreturn static void be_writer(struct record_writer *writer)
{
	const int keep[] = { queue_fd(writer->queue) };
	int err;

	queue_init_receiver(writer->queue);
	process_become_helper("stalltop-record", keep, ARRAY_SIZE(keep));
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
	atomic_store(&queue_status(writer->queue)->error, err);
	atomic_store(&queue_status(writer->queue)->ready, 1);
	if (err)
		_exit(EXIT_FAILURE);
	if (writer->config->segments)
		segments_tidy(writer->config->path, writer->open ? buf_cstr(&writer->file) : "");
	_exit(run_writer(writer));
}

/* Creates the folder if it does not exist. 0 or -errno. */
static int make_folder(const char *path)
{
	struct stat stat_of;

	if (!mkdir(path, 0750))
		return 0;
	if (errno != EEXIST)
		return -errno;
	return !stat(path, &stat_of) && S_ISDIR(stat_of.st_mode) ? 0 : -ENOTDIR;
}

/* Waits until the file exists. 0 or -errno. */
static int await_ready(struct recorder *recorder)
{
	struct queue_status *told = queue_status(recorder->queue);
	struct timespec pause = { .tv_nsec = 1000 * 1000 };
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + OPEN_MS * NSEC_PER_MSEC;

	while (!atomic_load(&told->ready)) {
		if (waitpid(recorder->pid, NULL, WNOHANG) == recorder->pid) {
			recorder->ended = true;
			return -ECHILD;
		}
		if (clock_ns(CLOCK_MONOTONIC) >= end_ns) {
			/*
			 * The process exits by itself when the disk answers; nobody waits for it.
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
		queue_init_sender(recorder->queue);
		if (config->before_ns)
			recorder->ring =
				ring_open(&(struct ring_limits){ config->before_ns, RING_MOST });
		else
			recorder->state = record_open();
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

/* Checks whether the writing process has failed or exited. */
static void check_writer_process(struct recorder *recorder)
{
	int status;

	if (recorder->status.error)
		return;
	if (!recorder->ended && waitpid(recorder->pid, &status, WNOHANG) == recorder->pid)
		recorder->ended = true;
	recorder->status.error = atomic_load(&queue_status(recorder->queue)->error);
	if (!recorder->status.error && recorder->ended)
		recorder->status.error = -ECHILD;
}

/* Sends a record to the writing process. 0 or -errno. */
static int send_record(struct recorder *recorder, const struct record_entry *entry,
		       const void *bytes, size_t len)
{
	const struct record_message message = { .entry = *entry, .len = len };
	struct buf *out = &recorder->message;

	out->len = 0;
	buf_add(out, &message, sizeof(message));
	buf_add(out, bytes, len);
	buf_fill(out, 0, -out->len % 8);
	return queue_send(recorder->queue, out->data, out->len);
}

/* Reports the end of the incident to the writing process. False: the queue is full. */
static bool send_close(struct recorder *recorder)
{
	const struct record_message close = { .close = true };

	return queue_send(recorder->queue, &close, sizeof(close)) != -ENOBUFS;
}

/* Sends kept records that are to be written, as many as fit into the queue. */
static void send_kept(struct recorder *recorder)
{
	const struct record_entry *first;
	const void *bytes;
	uint64_t lost;
	size_t len;

	while ((recorder->lasts || recorder->left) &&
	       (first = ring_first(recorder->ring, &bytes, &len, &lost))) {
		struct record_entry entry = *first;

		/* No earlier record is written, so it has no interval. */
		if (recorder->fresh)
			entry.interval_ns = 0;
		entry.dropped = lost;
		if (send_record(recorder, &entry, bytes, len))
			return;
		ring_take(recorder->ring);
		recorder->left -= recorder->left > 0;
		recorder->fresh = false;
	}
	if (recorder->closing && !recorder->lasts && send_close(recorder)) {
		recorder->closing = false;
		recorder->fresh = true;
		ring_pin_segments(recorder->ring, false);
	}
}

void recorder_incident(struct recorder *recorder, bool lasts)
{
	if (!recorder->ring || recorder->lasts == lasts)
		return;
	recorder->lasts = lasts;
	recorder->closing = !lasts;
	recorder->left = lasts ? 0 : ring_records(recorder->ring);
	ring_pin_segments(recorder->ring, true);
	/* Records after an incident must not depend on those before its end. */
	if (!lasts)
		ring_begin(recorder->ring);
	send_kept(recorder);
}

uint64_t recorder_since_ns(const struct recorder *recorder)
{
	const struct segment_list *segments = recorder->ring ? ring_segments(recorder->ring) : NULL;

	return segments && segments->n && segments->list[0]->n
		       ? segments->list[0]->entries[0].begin_ns
		       : 0;
}

const char *recorder_path(const struct recorder *recorder)
{
	return recorder->config.path;
}

uint64_t recorder_bytes(const struct recorder *recorder)
{
	return atomic_load(&queue_status(recorder->queue)->bytes);
}

/* Keeps a frame in memory. */
static void keep(struct recorder *recorder, const struct frame *frame, const struct frame *folded,
		 unsigned found)
{
	size_t before = ring_records(recorder->ring), removed;

	recorder->status.error = ring_add(recorder->ring, frame, folded, found);
	removed = before + 1 - ring_records(recorder->ring);
	if (removed)
		debug_log("kept: %zu samples, %llu bytes", ring_records(recorder->ring),
			  (unsigned long long)ring_bytes(recorder->ring));
	recorder->left -= removed < recorder->left ? removed : recorder->left;
	send_kept(recorder);
}

void recorder_add(struct recorder *recorder, const struct frame *frame, const struct frame *folded,
		  unsigned found)
{
	struct record_state *state = recorder->state;
	struct record_entry entry;
	struct buf record = { 0 };
	bool key;
	int err;

	check_writer_process(recorder);
	if (recorder->status.error)
		return;
	if (atomic_exchange(&queue_status(recorder->queue)->segment, 0)) {
		if (recorder->ring)
			ring_begin(recorder->ring);
		else
			record_restart(state, recorder->status.dropped);
	}
	if (recorder->ring) {
		keep(recorder, frame, folded, found);
		return;
	}
	key = record_is_due(state);
	record_encode(state, frame, folded, &record);
	entry = record_entry_of(frame, key, found);
	err = send_record(recorder, &entry, record.data, record.len);
	buf_free(&record);
	if (!err) {
		recorder->status.dropped = 0;
		return;
	}
	record_restart(state, ++recorder->status.dropped);
	check_writer_process(recorder);
}

const struct record_status *recorder_status(const struct recorder *recorder)
{
	return &recorder->status;
}

/* True if records in memory are still to be written. */
static bool is_pending(const struct recorder *recorder)
{
	return recorder->left || (recorder->lasts && ring_records(recorder->ring));
}

int recorder_close(struct recorder *recorder)
{
	struct timespec pause = { .tv_nsec = 2000 * 1000 };
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + CLOSE_MS * NSEC_PER_MSEC;
	int err;

	if (!recorder)
		return 0;
	if (recorder->queue && recorder->pid > 0) {
		while (recorder->ring && !recorder->ended && !recorder->status.error &&
		       is_pending(recorder) && clock_ns(CLOCK_MONOTONIC) < end_ns) {
			send_kept(recorder);
			check_writer_process(recorder);
			nanosleep(&pause, NULL);
		}
		queue_hang_up(recorder->queue);
		while (!recorder->ended && clock_ns(CLOCK_MONOTONIC) < end_ns) {
			recorder->ended = waitpid(recorder->pid, NULL, WNOHANG) != 0;
			if (!recorder->ended)
				nanosleep(&pause, NULL);
		}
		if (!recorder->status.error)
			recorder->status.error = atomic_load(&queue_status(recorder->queue)->error);
	}
	err = recorder->status.error;
	record_close(recorder->state);
	ring_close(recorder->ring);
	buf_free(&recorder->message);
	queue_close(recorder->queue);
	free(recorder);
	return err;
}
