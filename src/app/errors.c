/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/errors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "bpf/refusal.h"
#include "cgroup/hierarchy.h"
#include "read/source.h"
#include "view/remedies.h"

void error_of_source(struct buf *out, const char *name, int err)
{
	const struct source_ops *source = name ? source_by_name(name) : NULL;
	const char *remedy = NULL;

	if (source && source->programs) {
		refusal_append(out, err);
		return;
	}
	if (err == -EPERM || err == -EACCES)
		remedy = remedy_of_note(NOTE_NO_CAP);
	else if (err == -ENOENT)
		remedy = remedy_of_note(NOTE_NO_TASKSTATS);
	buf_printf(out, "%s%s%s", strerror(-err), remedy ? "; " : "", remedy ? remedy : "");
}

const char *error_of_expression(enum trigger_fault fault)
{
	static const char *const texts[] = {
		[TRIGGER_GOOD] = "",
		[TRIGGER_BAD_FORM] =
			"RESOURCE some|full THRESHOLD/WINDOW, such as memory some "
			"300ms/2s, optionally with cgroup:PATH before it; hang 30s; oom",
		[TRIGGER_BAD_GROUP] = "a path below the root of cgroup v2 after cgroup:, "
				      "without ..",
		[TRIGGER_BAD_RESOURCE] = "cpu, memory, io or irq before some or full",
		[TRIGGER_BAD_LEVEL] = "some or full after the resource",
		[TRIGGER_BAD_IRQ] = "full after irq, which has no some",
		[TRIGGER_BAD_TIME] = "THRESHOLD/WINDOW, each a whole number of us, written in us, "
				     "ms or s, such as 300ms/2s",
		[TRIGGER_BAD_WINDOW] = "a window from 500ms to 10s",
		[TRIGGER_BAD_THRESHOLD] = "a threshold above 0 and at most the window",
		[TRIGGER_BAD_HANG] = "hang and for how long, above 0 and at most a day, in us, ms "
				     "or s, such as hang 30s",
	};

	return texts[fault];
}

/* Explains why the pressure file could not be opened. */
static void explain_file(struct buf *out, const struct trigger_spec *spec,
			 const struct trigger_error *error)
{
	const char *name = psi_names[spec->resource];

	switch (error->err) {
	case -ENOENT:
	case -EOPNOTSUPP:
		if (spec->resource == PSI_IRQ)
			buf_puts(out, "this kernel does not measure interrupt pressure: that "
				      "needs Linux 6.1 or later with CONFIG_IRQ_TIME_ACCOUNTING");
		else if (spec->group)
			buf_printf(out, "the pressure of this group is not measured: %s",
				   remedy_of_setting(SETTING_GROUP_PSI));
		else
			buf_printf(out, "this kernel does not measure pressure: %s",
				   remedy_of_note(NOTE_NO_PSI));
		break;
	case -EACCES:
	case -EPERM:
		if (spec->group)
			buf_printf(out,
				   "the group's %s.pressure cannot be opened for writing (%s): "
				   "only its owner may, usually root",
				   name, strerror(-error->err));
		else
			buf_printf(out, "/proc/pressure/%s cannot be opened for writing (%s)%s",
				   name, strerror(-error->err),
				   error->privileged ? ""
						     : ": needs CAP_SYS_RESOURCE before Linux 6.5");
		break;
	default:
		buf_printf(out, "the pressure file cannot be opened for writing: %s",
			   strerror(-error->err));
	}
}

/* Explains why the kernel refused the trigger. */
static void explain_write(struct buf *out, const struct trigger_spec *spec,
			  const struct trigger_error *error)
{
	uint32_t over = spec->window_us % TRIGGER_STEP_US;

	switch (error->err) {
	case -EINVAL:
		if (!over || error->privileged)
			buf_puts(out, "the kernel rejects it (Invalid argument)");
		else
			buf_printf(out,
				   "without CAP_SYS_RESOURCE a window must be a multiple of "
				   "2s: use %us, or run stalltop with that capability",
				   (spec->window_us - over + TRIGGER_STEP_US) / 1000000);
		break;
	case -EBUSY:
		buf_puts(out, "the kernel has a trigger there already (Device or resource busy)");
		break;
	case -EOPNOTSUPP:
		buf_puts(out, "pressure is not measured: boot with the kernel parameter psi=1");
		break;
	case -ENODEV:
		buf_puts(out, "the cgroup no longer exists");
		break;
	default:
		buf_printf(out, "the kernel rejects it: %s", strerror(-error->err));
	}
}

void error_of_trigger(struct buf *out, const struct trigger_spec *spec,
		      const struct trigger_error *error)
{
	switch (error->step) {
	case TRIGGER_AT_MOUNT:
		if (error->err == -ENOENT)
			buf_puts(out, "cgroup v2 is not mounted: only its groups have pressure");
		else
			buf_printf(out, "cannot find the mount point of cgroup v2: %s",
				   strerror(-error->err));
		break;
	case TRIGGER_AT_GROUP:
		if (error->err == -ENOENT)
			buf_puts(out, "no such group; paths begin at the root of cgroup v2, as in "
				      "/proc/PID/cgroup after 0::");
		else
			buf_printf(out, "the group cannot be opened: %s", strerror(-error->err));
		break;
	case TRIGGER_AT_FILE:
		explain_file(out, spec, error);
		break;
	case TRIGGER_AT_WRITE:
		explain_write(out, spec, error);
		break;
	}
}

void print_source_error(const char *name, int err)
{
	struct buf why = { 0 };

	error_of_source(&why, name, err);
	fprintf(stderr, "stalltop: source %s cannot be used: %s\n", name ? name : "auto",
		buf_cstr(&why));
	buf_free(&why);
}

void print_file_error(const char *what, const char *path, int err)
{
	struct buf line = { 0 };

	buf_printf(&line, "stalltop: cannot %s ", what);
	text_escape(&line, path, strlen(path), TEXT_ASCII);
	fprintf(stderr, "%s: %s\n", buf_cstr(&line), strerror(-err));
	buf_free(&line);
}

void print_listen_error(const char *address, const char *why)
{
	struct buf line = { 0 };

	text_escape(&line, address, strlen(address), TEXT_ASCII);
	fprintf(stderr, "stalltop: cannot listen at %s: %s\n", buf_cstr(&line), why);
	buf_free(&line);
}

void print_listen_open(const char *address)
{
	struct buf line = { 0 };

	text_escape(&line, address, strlen(address), TEXT_ASCII);
	fprintf(stderr,
		"stalltop: %s: anyone who can reach that address can read the group names of this "
		"machine and what they wait for\n",
		buf_cstr(&line));
	buf_free(&line);
}

void print_trigger_error(const struct trigger_spec *spec, const struct trigger_error *error,
			 enum text_charset charset)
{
	struct buf line = { 0 };

	buf_puts(&line, "stalltop: cannot watch '");
	text_escape(&line, spec->text, strlen(spec->text), charset);
	buf_puts(&line, "': ");
	error_of_trigger(&line, spec, error);
	fprintf(stderr, "%s\n", buf_cstr(&line));
	buf_free(&line);
}

void print_hierarchy_error(const char *name, int procfd, int err)
{
	struct buf names = { 0 }, line = { 0 };

	buf_puts(&line, "--cgroup-hierarchy: ");
	if (err == -EINVAL && !hierarchy_names(procfd, &names) && names.len) {
		buf_puts(&line, "no such hierarchy: '");
		text_escape(&line, name, strlen(name), TEXT_ASCII);
		buf_puts(&line, "'; there are: ");
		text_escape(&line, names.data, names.len, TEXT_ASCII);
	} else {
		buf_printf(&line, "cannot read /proc/self/cgroup: %s", strerror(-err));
	}
	fprintf(stderr, "stalltop: %s\n", buf_cstr(&line));
	buf_free(&names);
	buf_free(&line);
}

/* Maximum number of missing processes in a message. */
#define PIDS_NAMED 8

void print_pids_error(const pid_t *pids, size_t n)
{
	struct buf line = { 0 };

	buf_puts(&line, n == 1 ? "no such process:" : "none of these processes exists:");
	for (size_t i = 0; i < n && i < PIDS_NAMED; i++)
		buf_printf(&line, "%s%d", i ? ", " : " ", (int)pids[i]);
	if (n > PIDS_NAMED)
		buf_puts(&line, " ...");
	fprintf(stderr, "stalltop: --pid: %s\n", buf_cstr(&line));
	buf_free(&line);
}

void print_cgroup_error(const char *path, const char *hierarchy, bool in_v2)
{
	struct buf line = { 0 };

	buf_puts(&line, "--cgroup: no such cgroup: '");
	text_escape(&line, path, strlen(path), TEXT_ASCII);
	buf_puts(&line, "' in the hierarchy ");
	text_escape(&line, hierarchy, strlen(hierarchy), TEXT_ASCII);
	buf_puts(&line, in_v2 ? ", where the tasks are; v2 has one: --cgroup-hierarchy v2"
			      : " (--cgroup-hierarchy chooses another)");
	fprintf(stderr, "stalltop: %s\n", buf_cstr(&line));
	buf_free(&line);
}

/* Writes a line about a file: what failed, and why. */
static void print_line(const char *what, const char *path, const char *why)
{
	struct buf line = { 0 };

	buf_printf(&line, "stalltop: cannot %s '", what);
	text_escape(&line, path, strlen(path), TEXT_ASCII);
	buf_printf(&line, "': %s", why);
	fprintf(stderr, "%s\n", buf_cstr(&line));
	buf_free(&line);
}

void print_record_error(const char *path, int err)
{
	print_line("record to", path,
		   err == -EEXIST ? "the file exists; name a new file or a directory"
				  : record_failure(err));
}

/* Why a recording, or a file of it, cannot be read. */
static const char *replay_failure(const char *path, int err)
{
	const char *why = strerror(-err);

	if (err == -ENOENT && !access(path, F_OK))
		why = "no recording in that directory";
	else if (err == -EBADMSG)
		why = "not a stalltop recording, or damaged";
	else if (err == -ENODATA)
		why = "it has no samples";
	else if (err == -ERANGE)
		why = "it has no interval: fewer than two samples, or none left by --from, --to "
		      "or -d";
	else if (err == -EPROTO)
		why = "recorded by another version of stalltop: replay it with that one";
	else if (err == -EOPNOTSUPP)
		why = "its rows are threads: use -H (or processes: drop -H)";
	return why;
}

void print_replay_error(const char *path, int err)
{
	print_line("show the recording", path, replay_failure(path, err));
}

void print_left_out(const char *path, int err)
{
	print_line("read, and so leave out,", path, replay_failure(path, err));
}

int print_output(struct buf *buf)
{
	size_t written = fwrite(buf->data, 1, buf->len, stdout);
	int failed = written != buf->len || fflush(stdout);

	buf_free(buf);
	if (!failed || errno == EPIPE)
		return EXIT_SUCCESS;
	fprintf(stderr, "stalltop: cannot write to standard output: %s\n", strerror(errno));
	return EXIT_FAILURE;
}
