/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wiring: options, privileges, sources, outputs. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"
#include "delayacct.h"
#include "doc.h"
#include "notes.h"
#include "options.h"
#include "out.h"
#include "sampler.h"
#include "source.h"
#include "util.h"

#define EXIT_USAGE 2

/* Set by the handler below; read wherever the program waits. */
static volatile sig_atomic_t caught;

/* Remembers that a signal came. */
static void catch_signal(int number)
{
	caught = number;
}

/*
 * Catches the signals that end the program and blocks them, so that they come only where it
 * waits. `waiting` becomes the mask for there.
 */
static void set_up_signals(sigset_t *waiting)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = catch_signal };
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		sigaction(ends[i], &action, NULL);
		sigaddset(&blocked, ends[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &blocked, waiting);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigdelset(waiting, ends[i]);
}

/* Prints a buffer to standard output. The exit status. */
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

/* --version: what is built in, and what the kernel has. */
static int print_version(int procfd)
{
	struct source_env env = { .procfd = procfd };
	struct source source;
	struct utsname kernel;
	struct buf out = { 0 };
	int err = source_open(&source, "taskstats", &env);

	buf_printf(&out, "stalltop %s\nsources:", PACKAGE_VERSION);
	for (size_t i = 0; source_registry[i]; i++)
		buf_printf(&out, " %s", source_registry[i]->name);
	if (!uname(&kernel))
		buf_printf(&out, "\nkernel: %s %s", kernel.sysname, kernel.release);
	if (err)
		buf_printf(&out, "\ntaskstats: not to be had (%s)\n", strerror(-err));
	else
		buf_printf(&out, "\ntaskstats: version %d\n", source.ops->version(source.state));
	source_close(&source);
	return print(&out);
}

/* What is printed in place of running. False when nothing is. */
static bool print_instead(const struct options *options, int procfd, int *status)
{
	struct buf out = { 0 };

	if (options->version) {
		*status = print_version(procfd);
		return true;
	}
	if (options->dump_doc) {
		if (!doc_append(&out, options->dump_doc)) {
			fprintf(stderr, "stalltop: no such table: %s\n", options->dump_doc);
			*status = EXIT_USAGE;
			return true;
		}
	} else if (options->help) {
		options_help(&out);
	} else if (options->list_fields) {
		options_fields(&out);
	} else {
		return false;
	}
	*status = print(&out);
	return true;
}

/* Columns of the terminal that is standard output; 0 when it is none. */
static unsigned output_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

/* Says why the source could not be opened. */
static void complain_source(const char *name, int err)
{
	enum note_id id = err == -EPERM || err == -EACCES ? NOTE_NO_CAP :
			  err == -ENOENT		  ? NOTE_NO_TASKSTATS :
							    NOTE_IDS;

	fprintf(stderr, "stalltop: source %s cannot be used: %s", name ? name : "auto",
		strerror(-err));
	if (id != NOTE_IDS)
		fprintf(stderr, "; %s", note_table[id].remedy);
	fputc('\n', stderr);
}

/* Runs batch mode. The exit status. */
static int run_batch(const struct options *options, struct sampler *sampler,
		     const sigset_t *waiting)
{
	struct query query = { .sort = options->sort, .descending = options->descending,
			       .match = options->match, .users = options->users,
			       .nusers = options->nusers, .over_ms = options->over_ms,
			       .active = options->active, .rows = options->rows };
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	struct out_config config = { .query = &query, .fields = options->fields,
				     .unit = options->unit,
				     .charset = utf8 ? TEXT_UTF8 : TEXT_ASCII,
				     .width = output_width(), .threads = options->threads,
				     .interval_ns = options->interval_ns };
	struct out out;
	struct batch batch = { .sampler = sampler, .out = &out, .fd = STDOUT_FILENO,
			       .interval_ns = options->interval_ns,
			       .iterations = options->iterations,
			       .since_start = options->since_start,
			       .caught = &caught, .waiting = waiting };
	enum batch_failure failure;
	int err;

	out_open(&out, out_by_name(options->format), &config);
	err = batch_run(&batch, &failure);
	out_close(&out);
	if (!err)
		return EXIT_SUCCESS;
	fprintf(stderr, "stalltop: cannot %s: %s\n",
		failure == BATCH_WRITE ? "write to standard output" : "take a sample",
		strerror(-err));
	return EXIT_FAILURE;
}

/* Runs with an open sampler. The exit status. */
static int run(const struct options *options, int procfd, uint64_t accounted_ns,
	       const sigset_t *waiting)
{
	struct sampler_config config = { .procfd = procfd, .source = options->source,
					 .threads = options->threads,
					 .since_start = options->since_start,
					 .accounted_ns = accounted_ns,
					 .pids = options->pids, .npids = options->npids };
	struct sampler *sampler;
	int status, err = sampler_open(&sampler, &config);

	if (err) {
		complain_source(options->source, err);
		return EXIT_FAILURE;
	}
	status = run_batch(options, sampler, waiting);
	sampler_close(sampler);
	return status;
}

/* Runs with delay accounting switched on if that is asked for, and puts it back. */
static int run_accounted(const struct options *options, int procfd, const sigset_t *waiting)
{
	struct delayacct acct;
	uint64_t set_ns = 0; /* when we switched it on */
	int status, err;

	delayacct_open(&acct, procfd, 0);
	if (options->enable_delayacct && acct.state != DELAYACCT_ON) {
		err = delayacct_set(procfd, true);
		if (err) {
			fprintf(stderr, "stalltop: cannot set kernel.task_delayacct: %s\n",
				strerror(-err));
			delayacct_close(&acct);
			return EXIT_FAILURE;
		}
		set_ns = clock_ns(CLOCK_MONOTONIC);
	}
	status = run(options, procfd, set_ns, waiting);
	delayacct_read(&acct);
	if (set_ns && acct.state == DELAYACCT_ON && delayacct_set(procfd, false)) {
		fprintf(stderr, "stalltop: cannot put kernel.task_delayacct back to 0\n");
		status = EXIT_FAILURE;
	}
	delayacct_close(&acct);
	return status;
}

/* Checks what options demand of each other and of the terminal. */
static bool check_usage(const struct options *options)
{
	if (options->batch)
		return true;
	fprintf(stderr, "stalltop: no terminal for the screen; -b is batch mode\n");
	return false;
}

/* Opens what the options name and runs. The exit status. */
static int start(const struct options *options)
{
	int procfd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status, err = options->debug_log ? debug_log_open(options->debug_log) : 0;
	sigset_t waiting;

	if (procfd < 0) {
		fprintf(stderr, "stalltop: cannot open /proc: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	if (err) {
		fprintf(stderr, "stalltop: cannot open the debug log: %s\n", strerror(-err));
		close(procfd);
		return EXIT_FAILURE;
	}
	if (!print_instead(options, procfd, &status)) {
		if (check_usage(options)) {
			set_up_signals(&waiting);
			status = run_accounted(options, procfd, &waiting);
		} else {
			status = EXIT_USAGE;
		}
	}
	close(procfd);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	struct buf why = { 0 };
	int status = EXIT_USAGE;

	setlocale(LC_ALL, "");
	/* Numbers are written and read the same everywhere. */
	setlocale(LC_NUMERIC, "C");
	if (options_parse(&options, argc, argv, &why))
		fprintf(stderr, "stalltop: %s\n", buf_cstr(&why));
	else
		status = start(&options);
	buf_free(&why);
	options_free(&options);
	return status;
}
