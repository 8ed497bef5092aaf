/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/check.h"

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
#include "app/server.h"
#include "base/util.h"
#include "cgroup/hierarchy.h"
#include "out/out.h"

/* What cannot go with metrics: NULL, or words for it. */
static const char *clash_of_metrics(const struct options *options)
{
	const struct query *query = &options->view.query;

	if (!options_metrics(options))
		return options->max_series ? "--max-series is for metrics: it needs --listen, or "
					     "--batch with --format openmetrics"
					   : NULL;
	if (options->listen &&
	    (options->batch || options->command || options->replay.path || options->output))
		return "--listen writes nothing: it cannot have --batch, --output, --replay or a "
		       "command";
	if (options->listen && options->format != out_registry[0] && !options->format->series)
		return "--listen answers with metrics: it cannot have another --format";
	if (!group_folds(options->view.group_by))
		return "metrics are by group: use -g cgroup, user or command";
	if (query->over_ms >= 0 || query->active || query->rows || query->no_rows ||
	    options->view.fields)
		return "metrics are of all groups at all times: they cannot have --over, --active, "
		       "--rows or --fields";
	if (options->sampler.since_start || options->watch.nspecs)
		return "metrics go on from sample to sample: they cannot have --since-start or "
		       "--when";
	return NULL;
}

/* Checks options of metrics. Returns false, with a line printed, where they clash. */
static bool check_metrics(const struct options *options)
{
	const char *clash = clash_of_metrics(options);

	if (clash)
		fprintf(stderr, "stalltop: %s\n", clash);
	else if (options->listen && !server_is_built())
		fprintf(stderr, "stalltop: --listen is not built in: " MICROHTTPD_MISSING "\n");
	else
		return true;
	return false;
}

/* Checks options of --diff. Returns false, with a line printed, where they clash. */
static bool check_diff(const struct options *options)
{
	const char *clash = diff_clash(options);

	if (clash)
		fprintf(stderr, "stalltop: %s\n", clash);
	return !clash;
}

/* Whether something is waited for that only samples tell. */
static bool has_events(const struct watch_config *watch)
{
	for (size_t i = 0; i < watch->nspecs; i++)
		if (trigger_needs_samples(&watch->specs[i]))
			return true;
	return false;
}

/* Checks options against each other and against the terminal. */
static bool check_usage(const struct options *options)
{
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	bool records = options->record.path && !options->replay.path &&
		       (!terminal || options->record.before_ns);
	bool writes = options->batch || options->command || options->listen;

	if (options->diff[0])
		return check_diff(options);
	if (options->readonly && options->enable_delayacct)
		fprintf(stderr,
			"stalltop: --enable-delayacct is not allowed with --readonly, which the "
			"administrator's configuration may say too\n");
	else if (options->command && !options->format->run)
		fprintf(stderr, "stalltop: a command has no --format %s: use text or json\n",
			options->format->name);
	else if (options->command && options->watch.nspecs)
		fprintf(stderr, "stalltop: a command cannot have --when: it is for -b and for the "
				"screen\n");
	else if (options->command &&
		 (options->batch || options->view.iterations || options->sampler.npids))
		fprintf(stderr, "stalltop: a command is followed to its end, with its tasks alone: "
				"it cannot have --batch, --iterations or --pid\n");
	else if (options->command && (options->record.path || options->replay.path))
		fprintf(stderr, "stalltop: a command cannot have --record or --replay\n");
	else if (options->replay.path &&
		 (options->record.path || options->watch.nspecs || options->enable_delayacct))
		fprintf(stderr, "stalltop: --replay looks at no machine: it cannot have --record, "
				"--when or --enable-delayacct\n");
	else if (options->record.segments && !options->record.path)
		fprintf(stderr, "stalltop: --keep needs --record\n");
	else if (options->record.before_ns && !options->record.path)
		fprintf(stderr, "stalltop: --before needs --record\n");
	else if (!options->record.before_ns && has_events(&options->watch))
		fprintf(stderr, "stalltop: --when hang and --when oom need --before\n");
	else if (options->view.query.no_rows && !options->batch)
		fprintf(stderr, "stalltop: --rows 0 needs --batch\n");
	else if ((options->replay.from || options->replay.to) && !options->replay.path)
		fprintf(stderr, "stalltop: --from and --to need --replay or --diff\n");
	else if (!writes && options->output)
		fprintf(stderr, "stalltop: --output needs --batch or a command\n");
	else if (!writes && options->format != out_registry[0])
		fprintf(stderr, "stalltop: --format %s needs --batch\n", options->format->name);
	else if (!writes && !terminal && !records)
		fprintf(stderr, "stalltop: no terminal for the screen; use -b for batch mode\n");
	else
		return check_metrics(options);
	return false;
}

/*
 * Whether a process or thread with that id exists. /proc may hide it (hidepid), but the kernel
 * still answers for it; it may also be in another pid namespace than ours.
 */
static bool exists(int procfd, pid_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)pid);
	return !faccessat(procfd, name, F_OK, 0) || !kill(pid, 0) || errno != ESRCH;
}

/* Checks that at least one of the processes asked for exists. */
static bool check_pids(const struct sampler_config *config, int procfd)
{
	for (size_t i = 0; i < config->npids; i++)
		if (exists(procfd, config->pids[i]))
			return true;
	if (config->npids)
		print_pids_error(config->pids, config->npids);
	return !config->npids;
}

/* Whether a group is known not to exist: its directory would be seen. */
static bool is_absent(const struct hierarchy *hierarchy, const char *path)
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

/* Opens the hierarchy asked for, or that of the group asked for; without either it stays closed. */
static bool check_hierarchy(const struct sampler_config *config, int procfd,
			    struct hierarchy *hierarchy)
{
	int err;

	if (!config->hierarchy && !config->cgroup)
		return true;
	err = hierarchy_open(hierarchy, procfd, config->hierarchy);
	/* Without a hierarchy asked for, one that cannot be opened only gives a note later. */
	if (!err || !config->hierarchy)
		return true;
	print_hierarchy_error(config->hierarchy, procfd, err);
	return false;
}

/* Whether the group is known to be in the hierarchy of version 2, which no task may be in. */
static bool is_in_v2(const char *path, int procfd)
{
	struct hierarchy hierarchy = { .fd = -1 };
	bool there = !hierarchy_open(&hierarchy, procfd, HIERARCHY_V2) && hierarchy.fd >= 0 &&
		     hierarchy_below(&hierarchy, path) && !is_absent(&hierarchy, path);

	hierarchy_close(&hierarchy);
	return there;
}

/* Checks that the group asked for exists. */
static bool check_cgroup(const struct sampler_config *config, int procfd,
			 const struct hierarchy *hierarchy)
{
	const char *path = config->cgroup;

	if (!path || !hierarchy->name || !is_absent(hierarchy, path))
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
	if (check_usage(options) && check_hierarchy(config, procfd, &hierarchy)) {
		/* With a command only its tasks are looked at. */
		bool there = options->command || (check_cgroup(config, procfd, &hierarchy) &&
						  check_pids(config, procfd));

		status = there ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	hierarchy_close(&hierarchy);
	return status;
}
