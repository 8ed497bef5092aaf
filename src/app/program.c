/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/diff.h"
#include "app/errors.h"
#include "app/modes.h"
#include "app/samples_run.h"
#include "app/sink.h"
#include "base/process.h"
#include "base/util.h"
#include "history/cursor.h"
#include "kernel/delayacct.h"
#include "kernel/proctask.h"
#include "out/out.h"
#include "sampler/run.h"
#include "sampler/sampler.h"

/* All resources that a run may open. */
struct program {
	struct options *options;
	const struct program_display *display;
	const char *message; /* about the configurations: for the screen; "": none */
	int status; /* exit status, once something has failed or ended */
	bool quiet; /* there is no screen */
	struct proc proc;
	struct buf demo; /* the path of the recording that comes with the program */
	struct recorder *recorder;
	struct replay *replay;
	struct playback playback;
	struct cursor *past;
	struct trigger_set triggers;
	struct sink sink;
	struct sampler *sampler;
};

int program_open_proc(void)
{
	int procfd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs info;

	if (procfd < 0) {
		fprintf(stderr, "stalltop: cannot open /proc: %s\n", strerror(errno));
		return -1;
	}
	/* A folder without one may be empty, and would look like a machine without tasks. */
	if (!fstatfs(procfd, &info) && info.f_type == PROC_SUPER_MAGIC)
		return procfd;
	fprintf(stderr, "stalltop: no proc file system is mounted at /proc\n");
	close(procfd);
	return -1;
}

/* Opens /proc, unless only a recording is used. */
static bool find_proc(struct program *program)
{
	int procfd = uses_machine(program->options) ? program_open_proc() : -1;

	if (procfd >= 0)
		proc_open(&program->proc, procfd);
	return procfd >= 0 || !uses_machine(program->options);
}

/* The recording that comes with the program: next to it where it was built, or installed. */
static const char *find_demo(struct buf *path)
{
	ssize_t n = readlink("/proc/self/exe", buf_reserve(path, PATH_MAX), PATH_MAX);
	char *slash;

	if (n > 0 && n < PATH_MAX) {
		path->data[n] = '\0';
		slash = strrchr(path->data, '/');
		path->len = slash ? (size_t)(slash + 1 - path->data) : 0;
		buf_puts(path, "demo.db");
		if (!access(buf_cstr(path), R_OK))
			return buf_cstr(path);
	}
	return PKGDATADIR "/demo.db";
}

/* Finds the recording to be shown: early, as there may be no terminal to show an error on. */
static bool find_recording(struct program *program)
{
	struct replay_config *config = &program->options->replay;

	if (!config->path)
		return true;
	if (!strcmp(config->path, "demo"))
		config->path = find_demo(&program->demo);
	if (program->quiet || uses_terminal() || !access(config->path, F_OK))
		return true;
	print_replay_error(config->path, -errno);
	return false;
}

/* Checks whether everything requested is available. */
static bool check_all(struct program *program)
{
	struct sampler_config *config = &program->options->sampler;
	int status = check_options(program->options, config->proc->fd);

	if (status)
		program->status = status;
	else if (uses_machine(program->options))
		pidlist_processes(config->proc, config->pids, &config->npids);
	return !status;
}

/* The change that --enable-delayacct made, for put_back_delayacct(). */
static struct delayacct_switch switched = DELAYACCT_UNTOUCHED;

/* Switches delay accounting off again, however the program ends. */
static void put_back_delayacct(void)
{
	int err = delayacct_put_back(&switched);

	/* Only afterwards: after a signal in between it is switched off a second time. */
	crash_set_hook(CRASH_SYSCTL, NULL, NULL);
	if (err)
		fprintf(stderr, "stalltop: cannot set kernel.task_delayacct back to 0: %s\n",
			strerror(-err));
}

/* Does the same in a signal handler. */
static void put_back_at_crash(void *arg)
{
	delayacct_put_back(arg);
}

/* Switches delay accounting on if it is off. */
static bool enable_delayacct(struct program *program)
{
	struct sampler_config *config = &program->options->sampler;
	int err;

	if (!program->options->enable_delayacct)
		return true;
	crash_set_hook(CRASH_SYSCTL, put_back_at_crash, &switched);
	err = delayacct_enable(&switched, config->proc->fd, DELAYACCT_FILE);
	if (err) {
		fprintf(stderr, "stalltop: cannot set kernel.task_delayacct: %s\n", strerror(-err));
		return false;
	}
	config->accounted_ns = switched.at_ns;
	atexit(put_back_delayacct);
	return true;
}

/* True if the path is that of a folder. */
static bool is_folder(const char *path)
{
	struct stat stat_of;

	return !stat(path, &stat_of) && S_ISDIR(stat_of.st_mode);
}

/* Starts recording the samples. */
static bool begin_recording(struct program *program)
{
	struct options *options = program->options;
	int err;

	if (!options->record.path || options->command)
		return true;
	if (!options->record.segments)
		options->record.segments =
			options->record.before_ns || is_folder(options->record.path);
	if (options->record.before_ns) {
		/* Lack of memory may be the incident itself. */
		err = start_lock_memory();
		debug_log("memory %s", err ? strerror(-err) : "locked");
		if (!options->lingers)
			options->watch.linger_ns = options->record.before_ns;
	}
	err = recorder_open(&program->recorder, &options->record);
	if (err) {
		print_record_error(options->record.path, err);
		return false;
	}
	options->sampler.record = recorder_status(program->recorder);
	return true;
}

/* Ends the recording, and reports late failures. */
static void end_recording(struct program *program)
{
	int err = recorder_close(program->recorder);

	if (!err || program->status)
		return;
	print_record_error(program->options->record.path, err);
	program->status = EXIT_FAILURE;
}

/* Shows the tasks of a recording's group, unless another one is requested. */
static void take_group(struct options *options, const char *group)
{
	if (!options->view.query.below)
		options->view.query.below = group;
}

/*
 * Uses the recording's rows (processes or threads) over the saved setting, and says so. False if
 * the command line wants others.
 */
static bool take_rows(struct program *program, bool threads)
{
	enum group_by *by = &program->options->view.group_by, wanted = *by;

	if ((wanted == GROUP_THREAD) == threads)
		return true;
	if (program->options->grouped && wanted != GROUP_PROCESS)
		return false;
	*by = threads ? GROUP_THREAD : GROUP_PROCESS;
	if (wanted != GROUP_PROCESS && !*program->message)
		program->message = threads ? "rows are threads, as they were recorded"
					   : "rows are processes, as they were recorded";
	return true;
}

/* Sets the recording to be played, and its intervals. */
static void set_replay(struct options *options)
{
	struct replay_config *config = &options->replay;

	config->interval_ns = config->whole    ? UINT64_MAX / 4
			      : options->paced ? options->view.interval_ns
					       : 0;
	pidlist_sort(options->sampler.pids, options->sampler.npids);
	config->pids = options->sampler.pids;
	config->npids = options->sampler.npids;
	config->bare = options->view.query.no_rows;
	config->left_out = print_left_out;
}

/* Opens a recording for the screen, or (quiet) to be written as in batch mode. */
static bool open_replay(struct program *program)
{
	struct options *options = program->options;
	char *file;
	int err;

	if (!options->replay.path)
		return true;
	set_replay(options);
	err = program->quiet ? replay_open(&program->replay, &options->replay, &file)
			     : cursor_open_recording(&program->past, &options->replay, &file);
	if (err) {
		print_replay_error(file, err);
		free(file);
		return false;
	}
	if (program->quiet) {
		take_group(options, replay_group(program->replay));
		program->playback = replay_playback(program->replay);
		options->sampler.playback = &program->playback;
		return true;
	}
	take_group(options, cursor_group(program->past));
	if (take_rows(program, cursor_threads(program->past)))
		return true;
	print_replay_error(options->replay.path, -EOPNOTSUPP);
	return false;
}

/* Sets the kernel's triggers for --when. */
static bool open_triggers(struct program *program)
{
	const struct watch_config *watch = &program->options->watch;
	struct trigger_error error;

	if (!watch->nspecs || program->options->command)
		return true;
	program->options->sampler.triggers = &program->triggers;
	for (size_t i = 0; i < watch->nspecs; i++) {
		if (!triggers_add(&program->triggers, &watch->specs[i], program->proc.fd, &error))
			continue;
		print_trigger_error(&watch->specs[i], &error, program->display->charset);
		return false;
	}
	return true;
}

/* Opens what takes samples without a screen, and where they go: batch mode, or recording only. */
static bool open_samples(struct program *program)
{
	struct options *options = program->options;
	struct sampler_config *config = &options->sampler;
	int err;

	if (!program->quiet || options->command || options->diff[0])
		return true;
	if (!sink_open(&program->sink, options))
		return false;
	config->threads = options->view.group_by == GROUP_THREAD;
	config->brief = options->view.iterations == 1;
	if (!uses_keep(config->privileges))
		return false;
	err = sampler_open(&program->sampler, config);
	if (err)
		program->sampler = NULL;
	if (err && options->replay.path)
		print_replay_error(options->replay.path, err);
	else if (err)
		print_source_error(config->source, err);
	return !err;
}

/* Writes the result of a command. Returns the command's exit status, or that of a failure. */
static int put_result(const struct options *options, const struct run_result *result,
		      enum text_charset charset, int fd)
{
	static const volatile sig_atomic_t none;
	struct out_config config = { .view = &options->view, .charset = charset };
	struct out out;
	int err;

	out_open(&out, options->format, &config);
	options->format->run(&out, result);
	err = out_flush(&out, fd, &none);
	out_close(&out);
	if (err && err != -EPIPE) {
		fprintf(stderr, "stalltop: cannot write the report: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	return WIFSIGNALED(result->status) ? 128 + WTERMSIG(result->status)
					   : WEXITSTATUS(result->status);
}

/* Runs the command in the options, and reports its waits. Returns an exit status like a shell's. */
static int run_named_command(const struct options *options, enum text_charset charset)
{
	struct run_result result;
	enum run_failure failure;
	int fd = sink_open_output(options, STDERR_FILENO), err, status;

	if (fd < 0)
		return EXIT_FAILURE;
	privileges_resume();
	err = run_command(options->command, &options->sampler, &result, &failure);
	if (!err) {
		status = put_result(options, &result, charset, fd);
	} else {
		fprintf(stderr, "stalltop: cannot %s %s: %s\n",
			failure == RUN_START ? "run" : "wait for", options->command[0],
			strerror(-err));
		status = failure == RUN_WAIT ? EXIT_FAILURE : err == -ENOENT ? 127 : 126;
	}
	run_result_free(&result);
	close(fd);
	return status;
}

/* Runs what is requested, with its resources open. Returns the exit status. */
static int run_open(struct program *program)
{
	struct options *options = program->options;
	struct trigger_set *triggers = options->sampler.triggers ? &program->triggers : NULL;
	enum text_charset charset = program->display->charset;

	if (options->command)
		return run_named_command(options, charset);
	if (options->diff[0])
		return diff_run(options, charset);
	if (program->quiet)
		return samples_run(options,
				   &(struct samples_parts){ program->sampler, program->recorder,
							    triggers, &program->sink, charset });
	return program->display->screen(options,
					&(struct screen_parts){ program->recorder, program->past,
								triggers, program->message });
}

/* Opens all needed resources, in this order. False, with a line printed: one is unavailable. */
static bool open_wanted(struct program *program)
{
	return find_proc(program) && find_recording(program) && check_all(program) &&
	       enable_delayacct(program) && begin_recording(program) && open_replay(program) &&
	       open_triggers(program) && open_samples(program);
}

/* Closes them in reverse order. */
static void close_opened(struct program *program)
{
	sampler_close(program->sampler);
	sink_close(&program->sink);
	triggers_close(&program->triggers);
	cursor_close(program->past);
	replay_close(program->replay);
	end_recording(program);
	if (program->options->enable_delayacct)
		put_back_delayacct();
	buf_free(&program->demo);
	if (program->proc.fd >= 0) {
		proc_close(&program->proc);
		close(program->proc.fd);
	}
}

int program_run(struct options *options, const char *message, const struct program_display *display)
{
	struct program program = { .options = options,
				   .display = display,
				   .message = message,
				   .status = EXIT_FAILURE,
				   .proc = { .fd = -1 },
				   .sink = { .fd = -1 } };
	struct sampler_config *config = &options->sampler;

	config->proc = &program.proc;
	config->privileges = uses_of(options);
	config->delayacct_file = DELAYACCT_FILE;
	program.quiet = uses_no_screen(options) || (options->record.path && !uses_terminal());
	/* The configuration's errors are shown in a line on the screen. */
	if (*message && program.quiet)
		fprintf(stderr, "stalltop: %s\n", message);
	if (open_wanted(&program))
		program.status = run_open(&program);
	close_opened(&program);
	return program.status;
}
