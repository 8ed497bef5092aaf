/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wiring: options, privileges, sources, outputs. */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <linux/magic.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "app/configuration.h"
#include "app/diff.h"
#include "app/docgen.h"
#include "app/doctor.h"
#include "app/errors.h"
#include "app/modes.h"
#include "app/options.h"
#include "app/samples_run.h"
#include "app/topics.h"
#include "base/process.h"
#include "base/util.h"
#include "history/cursor.h"
#include "kernel/delayacct.h"
#include "kernel/proctask.h"
#include "sampler/sampler.h"
#include "ui/cmd/command.h"
#include "ui/loop.h"
#include "view/site_lines.h"

/* From this size on, memory comes from the kernel and returns to it: glibc's initial value. */
#define LARGE_BYTES (128 * 1024)

/* The change that --enable-delayacct made, for put_back_delayacct(). */
static struct delayacct_switch switched = DELAYACCT_UNTOUCHED;

/*
 * Removes from the environment what a program with more privileges than its caller (setuid, file
 * capabilities) must not follow.
 */
static void secure_environment(UNUSED int argc, UNUSED char **argv, char **environment)
{
	if (privileges_foreign())
		start_drop_environment(environment);
}

/* libnl reads the environment when it is loaded, before main(): this array runs before that. */
static void (*const before_libraries)(int, char **, char **)
	__attribute__((section(".preinit_array"), used)) = secure_environment;

/* Prints a buffer to standard output. Returns the exit status. */
static int print(struct buf *buf)
{
	size_t written = fwrite(buf->data, 1, buf->len, stdout);
	int failed = written != buf->len || fflush(stdout);

	buf_free(buf);
	if (!failed || errno == EPIPE)
		return EXIT_SUCCESS;
	fprintf(stderr, "stalltop: cannot write to standard output: %s\n", strerror(errno));
	return EXIT_FAILURE;
}

/* The character set of the locale. */
static enum text_charset locale_charset(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") ? TEXT_ASCII : TEXT_UTF8;
}

/* Opens /proc. The descriptor, or -1 with a line printed. */
static int open_proc(void)
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

/* Prints what can be shown here. Returns the exit status. */
static int run_doctor(const struct options *options)
{
	struct doctor_facts facts;
	struct buf out = { 0 };
	struct proc proc;
	bool well;
	int procfd = open_proc(), status;

	if (procfd < 0 || !uses_keep(PRIVILEGE_ALL))
		return EXIT_FAILURE;
	proc_open(&proc, procfd);
	doctor_look(&facts, &proc, locale_charset() == TEXT_UTF8);
	facts.terminal_known = facts.terminal && ui_knows_terminal(facts.terminal);
	well = doctor_write(&out, &facts, !strcmp(options->format->name, "json"));
	proc_close(&proc);
	close(procfd);
	status = print(&out);
	return status ? status : well ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Shows a topic of `help`. Returns the exit status, unless the manual takes over. */
static int show_topic(const char *topic)
{
	const char *page = topic_page(topic);
	struct buf out = { 0 };

	if (page) {
		execlp("man", "man", page, (char *)NULL);
		print_file_error("open the manual page: start", "man", -errno);
		return EXIT_FAILURE;
	}
	if (topic_append(&out, topic))
		return print(&out);
	buf_free(&out);
	fputs("stalltop: no help found for that word (stalltop help lists the topics)\n", stderr);
	return EXIT_USAGE;
}

/* Prints what is asked for in place of running. Returns false when nothing is. */
static bool print_instead(const struct options *options, int *status)
{
	struct buf out = { 0 };

	if (options->version) {
		struct proc proc = { .fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };

		docgen_version(&out, &proc);
		if (proc.fd >= 0)
			close(proc.fd);
	} else if (options->doctor) {
		*status = run_doctor(options);
		return true;
	} else if (options->dump_doc) {
		if (!strcmp(options->dump_doc, "keys")) {
			command_doc(&out);
		} else if (!docgen_append(&out, options->dump_doc)) {
			fprintf(stderr, "stalltop: no such table: %s\n", options->dump_doc);
			*status = EXIT_USAGE;
			return true;
		}
	} else if (options->help || options->help_all) {
		options_help(&out, options->help_all);
	} else if (options->topic) {
		*status = show_topic(options->topic);
		return true;
	} else if (options->list_fields || options->list_site_fields) {
		options_fields(options->list_fields ? &task_columns : &site_columns, &out);
	} else {
		return false;
	}
	*status = print(&out);
	return true;
}

/* Whether the path is that of a folder. */
static bool is_folder(const char *path)
{
	struct stat stat_of;

	return !stat(path, &stat_of) && S_ISDIR(stat_of.st_mode);
}

/* Prints where the screen failed. */
static void print_screen_error(const struct options *options, enum ui_failure failure, int err)
{
	const char *type = getenv("TERM");

	if (failure == UI_SOURCE)
		print_source_error(options->sampler.source, err);
	else if (failure == UI_RECORDING)
		print_replay_error(options->replay.path, err);
	else if (failure == UI_TERMINAL && err == -ENOENT)
		fprintf(stderr,
			"stalltop: terminal type '%s' is unknown: set TERM to a known one, "
			"or use -b, which needs none\n",
			type ? type : "");
	else if (failure == UI_TERMINAL && err == -ENOTTY)
		fprintf(stderr,
			"stalltop: terminal type '%s' cannot show a screen: set TERM to what the "
			"terminal is, or use -b, which needs none\n",
			type ? type : "");
	else
		fprintf(stderr, "stalltop: cannot %s: %s\n",
			failure == UI_TERMINAL ? "set up the terminal" : "wait for the keyboard",
			strerror(-err));
}

/* Runs the screen; past: a recording to show, NULL: the machine. Returns the exit status. */
static int run_screen(struct options *options, struct recorder *recorder, struct cursor *past,
		      struct trigger_set *triggers, const char *message)
{
	char *path = privileges_foreign() ? NULL : configuration_path();
	struct ui_config config = { .view = &options->view,
				    .sampler = &options->sampler,
				    .pattern = options->pattern,
				    .charset = locale_charset(),
				    .triggers = triggers,
				    .recorder = recorder,
				    .history = &options->history,
				    .past = past,
				    .watch = &options->watch,
				    .readonly = options->readonly,
				    .message = *message ? message : NULL,
				    .save = configuration_save,
				    .save_preset = configuration_save_preset,
				    .path = path };
	enum ui_failure failure;
	int err;

	/* ncurses would read ~/.terminfo with HOME, and nothing else needs it from here on. */
	if (privileges_foreign())
		unsetenv("HOME");
	if (!uses_keep(options->sampler.privileges)) {
		free(path);
		return EXIT_FAILURE;
	}
	err = ui_run(&config, &failure);

	free(path);
	if (!err)
		return EXIT_SUCCESS;
	print_screen_error(options, failure, err);
	return EXIT_FAILURE;
}

/* Restores delay accounting, however the program ends. */
static void put_back_delayacct(void)
{
	int err = delayacct_put_back(&switched);

	/* Only afterwards: after a signal in between it is restored a second time. */
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

/* Switches delay accounting on where it is off. Returns false, with a line printed, on failure. */
static bool enable_delayacct(struct sampler_config *config)
{
	int err;

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

/* Has the kernel watch what --when names. Returns false, with a line printed, on failure. */
static bool open_triggers(const struct watch_config *watch, int procfd,
			  struct trigger_set *triggers)
{
	struct trigger_error error;

	for (size_t i = 0; i < watch->nspecs; i++) {
		if (!triggers_add(triggers, &watch->specs[i], procfd, &error))
			continue;
		print_trigger_error(&watch->specs[i], &error, locale_charset());
		return false;
	}
	return true;
}

/* Runs batch mode or the screen, with the triggers of --when if any. Returns the exit status. */
static int run_watching(struct options *options, struct recorder *recorder, const char *message)
{
	struct trigger_set set = { .n = 0 }, *triggers = options->watch.nspecs ? &set : NULL;
	bool quiet = uses_no_screen(options) || (recorder && !uses_terminal());
	int status = EXIT_FAILURE;

	options->sampler.triggers = triggers;
	if (open_triggers(&options->watch, options->sampler.proc->fd, &set))
		status = quiet ? samples_run(options, recorder, triggers, locale_charset())
			       : run_screen(options, recorder, NULL, triggers, message);
	triggers_close(&set);
	return status;
}

/* Runs with what is sampled recorded, if that is asked for. Returns the exit status. */
static int run_recorded(struct options *options, const char *message)
{
	const char *path = options->record.path;
	struct recorder *recorder = NULL;
	int status, err;

	if (path && !options->record.segments)
		options->record.segments = options->record.before_ns || is_folder(path);
	if (options->record.before_ns) {
		/* Memory that is short is what it may be about. */
		err = start_lock_memory();
		debug_log("memory %s", err ? strerror(-err) : "locked");
		if (!options->lingers)
			options->watch.linger_ns = options->record.before_ns;
	}
	err = path ? recorder_open(&recorder, &options->record) : 0;
	if (err) {
		print_record_error(path, err);
		return EXIT_FAILURE;
	}
	options->sampler.record = recorder ? recorder_status(recorder) : NULL;
	status = run_watching(options, recorder, message);
	err = recorder_close(recorder);
	if (!err || status)
		return status;
	print_record_error(path, err);
	return EXIT_FAILURE;
}

/*
 * Uses the recording's rows (processes or threads) over the saved setting, and says so. False where
 * the command line asks for others.
 */
static bool take_rows(struct options *options, bool threads, const char **message)
{
	enum group_by *by = &options->view.group_by, wanted = *by;

	if ((wanted == GROUP_THREAD) == threads)
		return true;
	if (options->grouped && wanted != GROUP_PROCESS)
		return false;
	*by = threads ? GROUP_THREAD : GROUP_PROCESS;
	if (wanted != GROUP_PROCESS && !**message)
		*message = threads ? "rows are threads, as they were recorded"
				   : "rows are processes, as they were recorded";
	return true;
}

/* Shows the tasks of the group that a recording is of, unless another one is asked for. */
static void take_group(struct options *options, const char *group)
{
	if (!options->view.query.below)
		options->view.query.below = group;
}

/* Shows a recording on the screen. Returns the exit status. */
static int show_recording(struct options *options, const char *message)
{
	struct cursor *past;
	char *file;
	int status, err = cursor_open_recording(&past, &options->replay, &file);

	if (err) {
		print_replay_error(file, err);
		free(file);
		return EXIT_FAILURE;
	}
	take_group(options, cursor_group(past));
	if (take_rows(options, cursor_threads(past), &message)) {
		status = run_screen(options, NULL, past, NULL, message);
	} else {
		print_replay_error(options->replay.path, -EOPNOTSUPP);
		status = EXIT_FAILURE;
	}
	cursor_close(past);
	return status;
}

/* Writes what a recording has as batch mode would. Returns the exit status. */
static int put_recording(struct options *options, const char *message)
{
	struct playback playback;
	struct replay *replay;
	char *file;
	int status, err = replay_open(&replay, &options->replay, &file);

	if (err) {
		print_replay_error(file, err);
		free(file);
		return EXIT_FAILURE;
	}
	take_group(options, replay_group(replay));
	playback = replay_playback(replay);
	options->sampler.playback = &playback;
	status = run_watching(options, NULL, message);
	replay_close(replay);
	return status;
}

/* Plays a recording in place of the machine. Returns the exit status. */
static int run_replay(struct options *options, const char *message)
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
	return options->batch ? put_recording(options, message) : show_recording(options, message);
}

/* Runs with delay accounting switched on if that is asked for, and restores it. */
static int run_accounted(struct options *options, const char *message)
{
	int status;

	if (options->enable_delayacct && !enable_delayacct(&options->sampler))
		return EXIT_FAILURE;
	status = options->command ? command_run(options, locale_charset())
				  : run_recorded(options, message);
	put_back_delayacct();
	return status;
}

/* Compares two recordings. Returns the exit status. */
static int run_diff(const struct options *options)
{
	struct buf out = { 0 };
	int status = diff_run(options, locale_charset(), &out);

	if (!status)
		return print(&out);
	buf_free(&out);
	return status;
}

/* Runs what the options ask for, if that is there. Returns the exit status. */
static int run_checked(struct options *options, const char *message)
{
	struct sampler_config *config = &options->sampler;
	int status;

	/* Checked early, as there is no terminal to show the error on. */
	if (options->replay.path && !uses_no_screen(options) && !uses_terminal() &&
	    access(options->replay.path, F_OK)) {
		print_replay_error(options->replay.path, -errno);
		return EXIT_FAILURE;
	}
	status = check_options(options, config->proc->fd);
	if (status)
		return status;
	if (options->diff[0])
		return run_diff(options);
	if (options->replay.path)
		return run_replay(options, message);
	pidlist_processes(config->proc, config->pids, &config->npids);
	return run_accounted(options, message);
}

/* The recording that comes with the program: beside it where it was built, or installed. */
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

/* Opens what the options name and runs. Returns the exit status. */
static int run_options(struct options *options, const char *message)
{
	struct sampler_config *config = &options->sampler;
	struct proc proc = { .fd = -1 };
	struct buf demo = { 0 };
	int status, err = options->debug_log ? debug_log_open(options->debug_log) : 0;

	config->proc = &proc;
	config->privileges = uses_of(options);
	config->delayacct_file = DELAYACCT_FILE;
	if (err) {
		print_file_error("open the debug log", options->debug_log, err);
		return EXIT_FAILURE;
	}
	if (print_instead(options, &status))
		return status;
	/* The configuration's faults have a line on the screen. */
	if (*message && (uses_no_screen(options) || (options->record.path && !uses_terminal())))
		fprintf(stderr, "stalltop: %s\n", message);
	if (uses_machine(options)) {
		int procfd = open_proc();

		if (procfd < 0)
			return EXIT_FAILURE;
		proc_open(&proc, procfd);
	}
	if (options->replay.path && !strcmp(options->replay.path, "demo"))
		options->replay.path = find_demo(&demo);
	status = run_checked(options, message);
	buf_free(&demo);
	proc_close(&proc);
	if (proc.fd >= 0)
		close(proc.fd);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	struct settings_texts texts = { 0 };
	struct buf why = { 0 };
	int status = EXIT_USAGE, err;

	start_take_descriptors();
	start_take_signals();
	err = privileges_begin();
	if (err) {
		fprintf(stderr, err == -EPERM
					? "stalltop: refuses to run setuid or setgid: give it "
					  "file capabilities (man stalltop, PRIVILEGES)\n"
					: "stalltop: cannot give up capabilities\n");
		return EXIT_FAILURE;
	}
#ifdef M_MMAP_THRESHOLD
	/*
	 * Arrays have room for more tasks than there are, in pages that cost nothing until used. By
	 * default glibc soon takes such arrays from used memory, and clears them.
	 */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
	setlocale(LC_ALL, "");
	/* Numbers are written and read the same everywhere. */
	setlocale(LC_NUMERIC, "C");
	signal(SIGPIPE, SIG_IGN);
	/* A file that may not grow is an error like any other (EFBIG). */
	signal(SIGXFSZ, SIG_IGN);
	crash_catch();
	if (settings_read(&options, argc, argv, &texts, &why))
		status = run_options(&options, buf_cstr(&why));
	else
		fprintf(stderr, "stalltop: %s\n", buf_cstr(&why));
	buf_free(&why);
	options_free(&options);
	settings_texts_free(&texts);
	return status;
}
