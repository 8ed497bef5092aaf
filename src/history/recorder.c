/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/privileges.h"
#include "base/util.h"
#include "history/encode.h"
#include "history/queue.h"
#include "history/store.h"

/* How long the end waits for what is still to be written. */
#define CLOSE_MS 5000

/* Names to try for a segment of the same second. */
#define SEGMENT_NAMES 1000

struct recorder {
	struct recorder_config config;
	struct queue *queue;
	struct encoder *encoder;
	struct record_status status;
	bool ended; /* the process that writes is known to have ended */
	pid_t pid;
};

/* The state of the process that writes. */
struct record_writer {
	const struct recorder_config *config;
	struct queue *queue;
	struct store *store;
	struct buf file, path; /* of the segment: its name, and with the folder */
	uint64_t began_ns;
	bool ending; /* the segment is to end with the next moment that begins one */
};

/* Opens the file, or the next segment. 0 or -errno. */
static int open_store(struct record_writer *writer)
{
	const struct recorder_config *config = writer->config;
	const struct store_about about = { .program = config->program };
	int err = -EEXIST;

	if (!config->segments)
		return store_create(&writer->store, config->path, &about);
	writer->began_ns = clock_ns(CLOCK_REALTIME);
	writer->ending = false;
	for (unsigned number = 0; err == -EEXIST && number < SEGMENT_NAMES; number++) {
		writer->file.len = writer->path.len = 0;
		segment_name(&writer->file, writer->began_ns, number);
		buf_printf(&writer->path, "%s/%s", config->path, buf_cstr(&writer->file));
		err = store_create(&writer->store, buf_cstr(&writer->path), &about);
	}
	return err;
}

/* Ends a segment and begins the next. 0 or -errno. */
static int turn_segment(struct record_writer *writer)
{
	store_close(writer->store, true);
	writer->store = NULL;
	segments_prune(writer->config->path, "", &writer->config->limits, clock_ns(CLOCK_REALTIME));
	return open_store(writer);
}

/* Writes a moment. 0 or -errno. */
static int write_moment(struct record_writer *writer, const struct moment *moment)
{
	const struct segment_limits *limits = &writer->config->limits;
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	int err = 0;

	if (moment->flags & MOMENT_SEGMENT && writer->ending)
		err = turn_segment(writer);
	if (!err && !store_is_there(writer->store))
		err = -ENOENT;
	if (!err)
		err = store_put(writer->store, moment);
	/* On a full disk older segments make room. */
	if (err == -ENOSPC && writer->config->segments &&
	    segments_prune(writer->config->path, buf_cstr(&writer->file), limits, now_ns))
		err = store_put(writer->store, moment);
	if (!err && writer->config->segments && !writer->ending &&
	    segment_is_full(limits, store_bytes(writer->store), writer->began_ns,
			    clock_ns(CLOCK_REALTIME))) {
		writer->ending = true;
		atomic_store(&queue_told(writer->queue)->segment, true);
	}
	return err;
}

/* Writes all that comes, to the end. Returns the exit status. */
static int write_moments(struct record_writer *writer)
{
	const struct moment *moment;
	bool ended;
	int err = 0;

	while (!err && (moment = queue_receive(writer->queue, -1, &ended))) {
		err = write_moment(writer, moment);
		queue_done(writer->queue);
	}
	/* No word of it to the debug log: its descriptor is not open here. */
	if (err)
		atomic_store(&queue_told(writer->queue)->error, err);
	store_close(writer->store, writer->config->segments);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Closes all descriptors but the standard ones and one more. */
static void close_others(int but)
{
	struct rlimit limit;
	int end = getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > 65536 ? 65536
									     : (int)limit.rlim_cur;

	for (int fd = STDERR_FILENO + 1; fd < end; fd++)
		if (fd != but)
			close(fd);
}

/* Lets the output go: a pipe to a reader must end when the program does. */
static void leave_output(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

/* The process that writes. It ends with its sender, whatever signals come meanwhile. */
_Noreturn static void be_writer(struct record_writer *writer)
{
	static const int ignored[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ
	};

	prctl(PR_SET_NAME, "stalltop-record");
	if (privileges_keep(PRIVILEGE_FILES))
		_exit(EXIT_FAILURE);
	/* What is to be put back is the other process's to put back. */
	crash_set_hook(CRASH_SYSCTL, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	queue_be_receiver(writer->queue);
	close_others(queue_fd(writer->queue));
	leave_output();
	if (writer->config->segments)
		segments_prune(writer->config->path, "", &writer->config->limits,
			       clock_ns(CLOCK_REALTIME));
	atomic_store(&queue_told(writer->queue)->error, open_store(writer));
	atomic_store(&queue_told(writer->queue)->ready, true);
	if (atomic_load(&queue_told(writer->queue)->error))
		_exit(EXIT_FAILURE);
	_exit(write_moments(writer));
}

/* Makes the folder if need be. 0 or -errno. */
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

	while (!atomic_load(&told->ready)) {
		if (waitpid(recorder->pid, NULL, WNOHANG) == recorder->pid) {
			recorder->ended = true;
			return -ECHILD;
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
		recorder->encoder = encoder_open();
		err = await_ready(recorder);
	}
	if (err) {
		recorder_close(recorder);
		return err;
	}
	*out = recorder;
	return 0;
}

/* Learns how the process that writes stands. */
static void look_after(struct recorder *recorder)
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

void recorder_take(struct recorder *recorder, const struct frame *frame, const struct frame *folded)
{
	const struct moment *moment;
	int err;

	look_after(recorder);
	if (recorder->status.error)
		return;
	if (atomic_exchange(&queue_told(recorder->queue)->segment, false))
		encoder_begin_segment(recorder->encoder);
	moment = encoder_take(recorder->encoder, frame, folded);
	err = queue_send(recorder->queue, moment, moment->size);
	if (!err) {
		encoder_keep(recorder->encoder);
		recorder->status.dropped = 0;
		return;
	}
	encoder_drop(recorder->encoder);
	recorder->status.dropped++;
	look_after(recorder);
}

const struct record_status *recorder_status(const struct recorder *recorder)
{
	return &recorder->status;
}

int recorder_close(struct recorder *recorder)
{
	struct timespec pause = { .tv_nsec = 2000 * 1000 };
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + CLOSE_MS * NSEC_PER_MSEC;
	int err;

	if (!recorder)
		return 0;
	if (recorder->queue && recorder->pid > 0) {
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
	queue_close(recorder->queue);
	free(recorder);
	return err;
}
