/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/modes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/diff.h"
#include "app/errors.h"
#include "app/options.h"
#include "app/server.h"
#include "base/process.h"
#include "base/util.h"
#include "cgroup/hierarchy.h"
#include "kernel/debug_files.h"
#include "out/out.h"
#include "read/source.h"

/* True if an event is waited for that only samples show. */
static bool has_events(const struct watch_config *watch)
{
	for (size_t i = 0; i < watch->nspecs; i++)
		if (trigger_needs_samples(&watch->specs[i]))
			return true;
	return false;
}

/* The error of option values that conflict like options; NULL: none. */
static const char *wrong_value(const struct options *options)
{
	if (options->mode == MODE_DIFF)
		return diff_fault(options);
	if (!options->record.before_ns && has_events(&options->watch))
		return "--when hang and --when oom need --before";
	if (options->view.query.no_rows && !options->batch)
		return "--rows 0 needs --batch";
	if (options_metrics(options) && !group_folds(options->view.group_by))
		return "metrics are per group: use -g cgroup, user or command";
	if (options->batch && options->format->open && !options->output)
		return "-o sqlite needs a file: --output FILE";
	if ((options->sampler.stacks || options->sampler.debuginfod) && privileges_foreign())
		return "--stacks and --debuginfod look into programs: run stalltop as root, not by "
		       "capabilities of its file";
	if (options->sampler.stacks && !options->sampler.trace_sites)
		return "--stacks needs sites of waits: not with --trace-sites 0";
	if (options->batch && options->format->stacks && !options->sampler.stacks &&
	    !options->replay.path)
		return "-o folded and -o pprof need --stacks";
	if (options->listen && !server_is_built())
		return "--listen is not built in: " MICROHTTPD_MISSING;
	if (!uses_no_screen(options) && !uses_terminal() && !options->record.path)
		return "no terminal for the screen; use -b for batch mode";
	return options->sampler.debuginfod ? debug_files_fault() : NULL;
}

/* Checks options against each other and against the terminal. */
static bool check_usage(const struct options *options)
{
	struct buf why = { 0 };
	const char *wrong = NULL;
	bool clash = options_clash(options, &why);

	if (!clash)
		wrong = wrong_value(options);
	if (clash || wrong)
		fprintf(stderr, "stalltop: %s\n", clash ? buf_cstr(&why) : wrong);
	buf_free(&why);
	return !clash && !wrong;
}

/*
 * True if a process or thread with that id exists. /proc may hide it (hidepid), but the kernel
 * still answers for it; it may also be in another pid namespace than ours.
 */
static bool exists(int procfd, pid_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)pid);
	return !faccessat(procfd, name, F_OK, 0) || !kill(pid, 0) || errno != ESRCH;
}

/* Checks that at least one of the selected processes exists. */
static bool check_pids(const struct sampler_config *config, int procfd)
{
	for (size_t i = 0; i < config->npids; i++)
		if (exists(procfd, config->pids[i]))
			return true;
	if (config->npids)
		print_pids_error(config->pids, config->npids);
	return !config->npids;
}

/* True if a group is known not to exist: its directory would be visible. */
static bool lacks_group(const struct hierarchy *hierarchy, const char *path)
{
	char *copy = xstrdup(path);
	size_t len = strlen(copy);
	const char *below;
	struct stat stat;
	bool absent;

	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = '\0';
	below = hierarchy->fd < 0 ? NULL : hierarchy_below(hierarchy, copy);
	if (!below)
		absent = false;
	else if (fstatat(hierarchy->fd, below, &stat, 0))
		absent = errno == ENOENT || errno == ENOTDIR;
	else
		absent = !S_ISDIR(stat.st_mode);
	free(copy);
	return absent;
}

/* Opens the requested hierarchy, or that of the requested group; without either it stays closed. */
static bool open_asked_hierarchy(const struct sampler_config *config, int procfd,
				 struct hierarchy *hierarchy)
{
	int err;

	if (!config->hierarchy && !config->cgroup)
		return true;
	err = hierarchy_open(hierarchy, procfd, config->hierarchy);
	/* Without a request, a hierarchy that cannot be opened only causes a note later. */
	if (!err || !config->hierarchy)
		return true;
	print_hierarchy_error(config->hierarchy, procfd, err);
	return false;
}

/* True if the group is known to be in the hierarchy of version 2, which no task may be in. */
static bool is_in_v2(const char *path, int procfd)
{
	struct hierarchy hierarchy = { .fd = -1 };
	bool there = !hierarchy_open(&hierarchy, procfd, HIERARCHY_V2) && hierarchy.fd >= 0 &&
		     hierarchy_below(&hierarchy, path) && !lacks_group(&hierarchy, path);

	hierarchy_close(&hierarchy);
	return there;
}

/* Checks that the requested group exists. */
static bool check_cgroup(const struct sampler_config *config, int procfd,
			 const struct hierarchy *hierarchy)
{
	const char *path = config->cgroup;

	if (!path || !hierarchy->name || !lacks_group(hierarchy, path))
		return true;
	print_cgroup_error(path, hierarchy->name, !config->hierarchy && is_in_v2(path, procfd));
	return false;
}

int check_options(const struct options *options, int procfd)
{
	const struct sampler_config *config = &options->sampler;
	struct hierarchy hierarchy = { .fd = -1 };
	int status = EXIT_USAGE;

	if (options->replay.path || options->diff[0])
		return check_usage(options) ? EXIT_SUCCESS : EXIT_USAGE;
	if (check_usage(options) && open_asked_hierarchy(config, procfd, &hierarchy)) {
		/* With a command only its tasks are watched. */
		bool there = options->command || (check_cgroup(config, procfd, &hierarchy) &&
						  check_pids(config, procfd));

		status = there ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	hierarchy_close(&hierarchy);
	return status;
}

/* The modes that read a recording. */
#define REPLAYS \
	(MODE_BIT(MODE_REPLAY) | MODE_BIT(MODE_REPLAY_BATCH) | MODE_BIT(MODE_REPLAY_METRICS))

static const struct mode_row {
	const char *name;
	const char *what; /* why it does not take all options; NULL: obvious */
	unsigned alike; /* other modes with the same reason */
	unsigned within; /* if one of these is named, this one need not be */
} mode_table[MODES] = {
	[MODE_SCREEN] = { .name = "the screen" },
	[MODE_RECORD] = { .name = "--before",
			  .what = "has no screen",
			  .within = MODE_BIT(MODE_SCREEN) },
	[MODE_BATCH] = { .name = "--batch" },
	[MODE_METRICS] = { .name = "metrics (--batch --format openmetrics)",
			   .what = "always cover all groups",
			   .within = MODE_BIT(MODE_BATCH) },
	[MODE_LISTEN] = { .name = "--listen",
			  .what = "serves metrics of all groups, and writes nothing" },
	[MODE_REPLAY] = { .name = "--replay",
			  .what = "does not sample this machine",
			  .alike = REPLAYS },
	[MODE_REPLAY_BATCH] = { .name = "--replay",
				.what = "does not sample this machine",
				.alike = REPLAYS,
				.within = MODE_BIT(MODE_BATCH) | MODE_BIT(MODE_REPLAY) },
	[MODE_REPLAY_METRICS] = { .name = "metrics of a recording",
				  .within =
					  MODE_BIT(MODE_BATCH) | MODE_BIT(MODE_METRICS) | REPLAYS },
	[MODE_COMMAND] = { .name = "a command", .what = "is measured alone, until it exits" },
	[MODE_DIFF] = { .name = "--diff", .what = "compares all that was recorded, by command" },
};

enum mode options_mode(const struct options *options)
{
	bool series = options->format->series;

	if (options->command)
		return MODE_COMMAND;
	if (options->diff[0])
		return MODE_DIFF;
	if (options->listen)
		return MODE_LISTEN;
	if (options->replay.path && !options->batch)
		return MODE_REPLAY;
	if (options->replay.path)
		return series ? MODE_REPLAY_METRICS : MODE_REPLAY_BATCH;
	if (options->batch)
		return series ? MODE_METRICS : MODE_BATCH;
	return options->record.before_ns ? MODE_RECORD : MODE_SCREEN;
}

/* The modes whose output has a choice of formats; others use the default. */
static unsigned modes_of_format(const struct out_ops *format)
{
	unsigned modes = 0;

	if (format->series)
		modes |= MODE_BIT(MODE_METRICS) | MODE_BIT(MODE_REPLAY_METRICS) |
			 MODE_BIT(MODE_LISTEN);
	else
		modes |= MODE_BIT(MODE_BATCH) | MODE_BIT(MODE_REPLAY_BATCH);
	if (format->run)
		modes |= MODE_BIT(MODE_COMMAND);
	if (format->diff)
		modes |= MODE_BIT(MODE_DIFF);
	return modes;
}

/* Appends words, with texts before the first and before the last; nothing without words. */
static void append_list(struct buf *why, const char *first, const char *last,
			const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(why, "%s%s", !i ? first : i + 1 < n ? ", " : last, words[i]);
}

/* Appends the modes that an option is for; nothing if it selects one of them itself. */
static void append_modes(struct buf *why, unsigned modes, const char *option)
{
	const char *names[MODES];
	size_t n = 0;

	for (unsigned mode = 0; mode < MODES; mode++) {
		const struct mode_row *row = &mode_table[mode];

		if (!(modes & MODE_BIT(mode)) || modes & row->within & ~MODE_BIT(mode))
			continue;
		if (!strncmp(row->name, "--", 2) && !strcmp(row->name + 2, option))
			return;
		names[n++] = row->name;
	}
	append_list(why, "; only with ", " and ", names, n);
}

/* Appends that something is not for a mode, and why not. */
static void append_not_for(struct buf *why, enum mode mode, unsigned modes)
{
	const struct mode_row *row = &mode_table[mode];

	buf_printf(why, " cannot be used with %s", row->name);
	if (row->what && !(modes & row->alike))
		buf_printf(why, ", which %s", row->what);
}

/* Appends why the format does not suit the mode, and which do. */
static void append_format_clash(struct buf *why, const struct out_ops *format, enum mode mode)
{
	unsigned modes = modes_of_format(format);
	const char *names[OUT_FORMATS_N];
	size_t n = 0;

	for (size_t i = 0; out_registry[i]; i++)
		if (modes_of_format(out_registry[i]) & MODE_BIT(mode))
			names[n++] = out_registry[i]->name;
	buf_printf(why, "--format %s", format->name);
	append_not_for(why, mode, modes);
	if (!n)
		append_modes(why, modes, "format");
	append_list(why, "; use ", " or ", names, n);
}

/* The option of that name, which must exist. */
static const struct option_row *row_of_name(const char *name)
{
	const struct option_row *row = option_table;

	while (strcmp(row->name, name) != 0)
		row++;
	return row;
}

/* True if an option is given, or a flag that was set without it. */
static bool is_on(const struct options *options, const struct option_row *row)
{
	if (row->type == OPTION_FLAG && row->size == sizeof(bool))
		return *(const bool *)((const char *)options + row->at) == row->constant;
	return option_given(options, row);
}

/* True if a given option lacks another or conflicts with it. */
static bool clashes_with_option(const struct options *options, const struct option_row *row,
				struct buf *why)
{
	if (row->needs && !option_given(options, row_of_name(row->needs))) {
		buf_printf(why, "--%s needs --%s", row->name, row->needs);
		return true;
	}
	if (row->excludes && is_on(options, row_of_name(row->excludes))) {
		buf_printf(why,
			   "--%s is not allowed with --%s (perhaps set by the administrator's "
			   "configuration)",
			   row->name, row->excludes);
		return true;
	}
	return false;
}

bool option_goes(const struct option_row *row, enum mode mode)
{
	return (row->modes | row->passed) & MODE_BIT(mode);
}

bool options_clash(const struct options *options, struct buf *why)
{
	enum mode mode = options->mode;
	bool standard = options->format == out_registry[0];

	for (const struct option_row *row = option_table; row < option_table + option_table_n;
	     row++) {
		if (!option_given(options, row))
			continue;
		if (!option_goes(row, mode)) {
			buf_printf(why, "--%s", row->name);
			append_not_for(why, mode, row->modes);
			append_modes(why, row->modes, row->name);
			return true;
		}
		if (clashes_with_option(options, row, why))
			return true;
	}
	if (standard || modes_of_format(options->format) & MODE_BIT(mode))
		return false;
	append_format_clash(why, options->format, mode);
	return true;
}

bool uses_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

bool uses_no_screen(const struct options *options)
{
	return options->mode != MODE_SCREEN && options->mode != MODE_REPLAY;
}

bool uses_machine(const struct options *options)
{
	return !options->replay.path && !options->diff[0];
}

unsigned uses_of(const struct options *options)
{
	const struct sampler_config *sampler = &options->sampler;
	bool screen = !uses_no_screen(options) && uses_terminal();
	unsigned uses = 0;

	if (uses_machine(options)) {
		uses |= PRIVILEGE_COUNTERS;
		if (sampler->trace || screen ||
		    (!options->command &&
		     (!sampler->source || source_by_name(sampler->source)->programs)))
			uses |= PRIVILEGE_PROGRAMS;
		if (sampler->trace || screen || options->view.fields || options->record.path)
			uses |= PRIVILEGE_LOOK;
		if (options->enable_delayacct || (screen && !options->readonly))
			uses |= PRIVILEGE_SWITCH;
	}
	if (options->record.before_ns)
		uses |= PRIVILEGE_MEMORY;
	if (screen && !options->readonly)
		uses |= PRIVILEGE_ACT;
	if (options->replay.path || options->diff[0] || options->output || options->listen ||
	    (screen && !options->readonly))
		uses |= PRIVILEGE_FILES;
	return uses;
}

bool uses_keep(unsigned uses)
{
	int err = privileges_keep(uses);

	if (err)
		fprintf(stderr, "stalltop: cannot give up capabilities: %s\n", strerror(-err));
	return !err;
}
