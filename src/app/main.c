/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The start: privileges, options, output instead of running, the screen. */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/configuration.h"
#include "app/docgen.h"
#include "app/doctor.h"
#include "app/errors.h"
#include "app/modes.h"
#include "app/options.h"
#include "app/program.h"
#include "app/topics.h"
#include "base/process.h"
#include "base/util.h"
#include "kernel/proc.h"
#include "ui/cmd/command.h"
#include "ui/loop.h"
#include "view/site_lines.h"

/*
 * From this size on, memory comes directly from the kernel and returns to it: glibc's initial
 * value.
 */
#define LARGE_BYTES (128 * 1024)

/* The character set of the locale. */
static enum text_charset locale_charset(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") ? TEXT_ASCII : TEXT_UTF8;
}

/*
 * Removes variables from the environment that a program with more privileges than its caller
 * (setuid, file capabilities) must ignore.
 */
static void secure_environment(UNUSED int argc, UNUSED char **argv, char **environment)
{
	if (privileges_foreign())
		start_drop_environment(environment);
}

/* libnl reads the environment when it is loaded, before main(): this array runs before that. */
static void (*const before_libraries)(int, char **, char **)
	__attribute__((section(".preinit_array"), used)) = secure_environment;

/* Prints what can be shown here. Returns the exit status. */
static int run_doctor(const struct options *options)
{
	struct doctor_facts facts;
	struct buf out = { 0 };
	struct proc proc;
	bool well;
	int procfd = program_open_proc(), status;

	if (procfd < 0 || !uses_keep(PRIVILEGE_ALL))
		return EXIT_FAILURE;
	proc_open(&proc, procfd);
	doctor_look(&facts, &proc, locale_charset() == TEXT_UTF8);
	facts.terminal_known = facts.terminal && ui_knows_terminal(facts.terminal);
	well = doctor_write(&out, &facts, !strcmp(options->format->name, "json"));
	proc_close(&proc);
	close(procfd);
	status = print_output(&out);
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
		return print_output(&out);
	buf_free(&out);
	fputs("stalltop: no help found for that word (stalltop help lists the topics)\n", stderr);
	return EXIT_USAGE;
}

/* Prints requested output instead of running. Returns false if there is none. */
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
	} else if (options->schema) {
		docgen_schema(&out);
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
	*status = print_output(&out);
	return true;
}

/* Prints which step of the screen failed. */
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

/* Runs the screen. Returns the exit status. */
static int run_screen(struct options *options, const struct screen_parts *parts)
{
	char *path = privileges_foreign() ? NULL : configuration_path();
	struct ui_config config = { .view = &options->view,
				    .sampler = &options->sampler,
				    .pattern = options->pattern,
				    .charset = locale_charset(),
				    .triggers = parts->triggers,
				    .recorder = parts->recorder,
				    .history = &options->history,
				    .past = parts->past,
				    .watch = &options->watch,
				    .readonly = options->readonly,
				    .message = *parts->message ? parts->message : NULL,
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

/* Prints requested output, or runs. Returns the exit status. */
static int run_options(struct options *options, const char *message)
{
	const struct program_display display = { locale_charset(), run_screen };
	int status, err = options->debug_log ? debug_log_open(options->debug_log) : 0;

	if (err) {
		print_file_error("open the debug log", options->debug_log, err);
		return EXIT_FAILURE;
	}
	if (print_instead(options, &status))
		return status;
	return program_run(options, message, &display);
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
