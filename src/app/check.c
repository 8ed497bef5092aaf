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
#include "app/modes.h"
#include "app/server.h"
#include "base/util.h"
#include "cgroup/hierarchy.h"
#include "out/out.h"

/* Whether something is waited for that only samples tell. */
static bool has_events(const struct watch_config *watch)
{
	for (size_t i = 0; i < watch->nspecs; i++)
		if (trigger_needs_samples(&watch->specs[i]))
			return true;
	return false;
}

/* The fault of option values that go together as options; NULL: none. */
static const char *wrong_value(const struct options *options)
{
	if (options->mode == MODE_DIFF)
		return diff_fault(options);
	if (!options->record.before_ns && has_events(&options->watch))
		return "--when hang and --when oom need --before";
	if (options->view.query.no_rows && !options->batch)
		return "--rows 0 needs --batch";
	if (options_metrics(options) && !group_folds(options->view.group_by))
		return "metrics are by group: use -g cgroup, user or command";
	if (options->listen && !server_is_built())
		return "--listen is not built in: " MICROHTTPD_MISSING;
	if (!uses_no_screen(options) && !uses_terminal() && !options->record.path)
		return "no terminal for the screen; use -b for batch mode";
	return NULL;
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
		     hierarchy_below(&hierarchy, path) && !lacks_group(&hierarchy, path);

	hierarchy_close(&hierarchy);
	return there;
}

/* Checks that the group asked for exists. */
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
	if (check_usage(options) && check_hierarchy(config, procfd, &hierarchy)) {
		/* With a command only its tasks are looked at. */
		bool there = options->command || (check_cgroup(config, procfd, &hierarchy) &&
						  check_pids(config, procfd));

		status = there ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	hierarchy_close(&hierarchy);
	return status;
}
