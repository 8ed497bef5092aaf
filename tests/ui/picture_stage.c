// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/ui/picture_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "tests/lib/box.h"
#include "tests/lib/frozen.h"
#include "tests/lib/guard.h"
#include "tests/lib/scratch.h"

/* Where the loads have their files. */
#define FILES "/srv"
#define SHARE "/mnt"
/* Users of most systems. */
#define NOBODY 65534
#define WEB 33

/* The hierarchies that a group is made in, as far as there are such. */
static const char *const hierarchies[] = { "v2", "cpu", "memory" };
#define N_HIERARCHIES (sizeof(hierarchies) / sizeof(hierarchies[0]))

/* A group of control, below STAGE_GROUP. */
struct row_key {
	const char *name;
	const char *hierarchy; /* that limits it; NULL: none */
	const char *file, *text;
};

static const struct row_key places[] = {
	{ "mail.service", NULL, NULL, NULL },
	{ "shop.service", "cpu", "cpu.cfs_quota_us", "20000" },
	{ "search.service", "memory", "memory.limit_in_bytes", "33554432" },
	{ "backup.service", NULL, NULL, NULL },
	{ "db.service", NULL, NULL, NULL },
	{ "web.service", NULL, NULL, NULL },
	{ "system.slice", NULL, NULL, NULL },
};

/* A load: which of the tests' it is, under what name and where it runs. */
struct role {
	const char *place;
	const char *load;
	const char *const argv[7]; /* its name, and what follows */
	const char *child; /* the name of its child; of load_chain the names of all, by commas */
	uid_t uid;
};

#define LOAD(group, program, ...) .place = (group), .load = (program), .argv = { __VA_ARGS__ }

static const struct role roles[] = {
	{ LOAD("mail.service", "load_wait", "mailserver", "fsync", FILES), .child = "bulk-export" },
	{ LOAD("shop.service", "load_kind", "shop", "-w", "1", "cpu"), .uid = WEB },
	{ LOAD("search.service", "load_kind", "search", "-d", FILES, "thrash") },
	{ LOAD("backup.service", "load_wait", "backup", "write", SHARE "/nas") },
	{ LOAD("db.service", "load_chain", "orders", "flock", "1", "30", "20", FILES),
	  .child = "orders,invoices" },
	{ LOAD("web.service", "load_wait", "webapp", "net"), .child = "api-server", .uid = WEB },
	{ LOAD("web.service", "load_kind", "thumbnails", "-w", "2", "cpu"), .uid = WEB },
	{ LOAD("system.slice", "load_wait", "cron", "poll") },
	{ LOAD("system.slice", "load_wait", "sshd", "poll") },
	{ LOAD("system.slice", "load_wait", "ntpd", "poll"), .uid = NOBODY },
	{ LOAD("system.slice", "load_wait", "rsyslogd", "poll"), .uid = NOBODY },
};

int stage_open(void)
{
	int err;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	err = guard_start();
	return err ? err : box_delayacct(true);
}

/* Says what there will not be in the pictures. */
static void miss(const char *what, int err)
{
	if (err)
		fprintf(stderr, "picture: no %s: %s\n", what, strerror(-err));
}

/* The path of a group of the stage in a hierarchy. */
static int make_group(const char *hierarchy, const char *name, char *path, size_t size)
{
	return box_group(hierarchy,
			 scratch_format("%s%s%s", &STAGE_GROUP[1], *name ? "/" : "", name), path,
			 size);
}

/* Makes a place in all hierarchies, with its limit. */
static void make_place(const struct row_key *place)
{
	char path[512];

	for (size_t i = 0; i < N_HIERARCHIES; i++) {
		int err = make_group(hierarchies[i], place->name, path, sizeof(path));

		if (!err && place->hierarchy && !strcmp(place->hierarchy, hierarchies[i]))
			miss(place->file,
			     write_text(scratch_format("%s/%s", path, place->file), place->text));
	}
}

/* A folder of the test's appears at a path of everybody's, for us alone. */
static void appear(const char *path)
{
	const char *folder = scratch_path(path + 1);

	if (mkdir(folder, 0777) || chmod(folder, 0777) || mount(folder, path, NULL, MS_BIND, NULL))
		miss(path, -errno);
	else
		guard_push(UNDO_UMOUNT, path, NULL);
}

/* A file system that can be frozen, at SHARE/nas. */
static void mount_share(void)
{
	char mounted[512];
	int err = frozen_mount(scratch_folder(), mounted, sizeof(mounted));

	if (!err &&
	    (mkdir(SHARE "/nas", 0777) || mount(mounted, SHARE "/nas", NULL, MS_BIND, NULL)))
		err = -errno;
	if (!err)
		guard_push(UNDO_UMOUNT, SHARE "/nas", NULL);
	miss(SHARE "/nas", err);
}

/* Becomes what plays the role, at its place in all hierarchies. */
_Noreturn static void become(const struct role *role, const char *program, char paths[][512])
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (size_t i = 0; i < N_HIERARCHIES; i++)
		if (*paths[i])
			write_text(paths[i], "0");
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || chdir("/") ||
	    (role->child && (setenv("LOAD_WAIT_CHILD", role->child, 1) ||
			     setenv("LOAD_CHAIN_NAMES", role->child, 1))) ||
	    (role->uid && (setgid(role->uid) || setuid(role->uid))))
		_exit(1);
	/* It is forgotten when the user changes. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(program, (char *const *)role->argv);
	_exit(127);
}

/* Starts a load under the name of its role. */
static void start(const struct role *role)
{
	const char *dir = getenv("TESTS_BUILDDIR"), *program = scratch_path(role->argv[0]);
	char paths[N_HIERARCHIES][512] = { 0 };
	pid_t pid;

	if (symlink(scratch_format("%s/load/%s", dir ? dir : "tests", role->load), program))
		miss(program, -errno);
	for (size_t i = 0; i < N_HIERARCHIES; i++)
		if (!box_find_hierarchy(hierarchies[i], paths[i], sizeof(paths[i])))
			snprintf(paths[i] + strlen(paths[i]), sizeof(paths[i]) - strlen(paths[i]),
				 STAGE_GROUP "/%s/cgroup.procs", role->place);
	pid = fork();
	if (!pid)
		become(role, program, paths);
	scratch_child(pid);
}

void stage_start(void)
{
	char path[512];

	for (size_t i = 0; i < N_HIERARCHIES; i++)
		miss(hierarchies[i], make_group(hierarchies[i], "", path, sizeof(path)));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		make_place(&places[i]);
	appear(FILES);
	appear(SHARE);
	mount_share();
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		start(&roles[i]);
	nanosleep(&(struct timespec){ .tv_sec = 2 }, NULL);
}

char *stage_processes(void)
{
	struct buf out = { 0 };
	char path[512];

	if (box_find_hierarchy("cpu", path, sizeof(path)))
		return NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		FILE *f = fopen(
			scratch_format("%s" STAGE_GROUP "/%s/cgroup.procs", path, places[i].name),
			"re");
		int pid;

		while (f && fscanf(f, "%d", &pid) == 1)
			buf_printf(&out, "%s%d", out.len ? "," : "", pid);
		if (f)
			fclose(f);
	}
	buf_cstr(&out);
	return out.data;
}

void stage_freeze(bool freeze)
{
	miss("frozen " SHARE "/nas",
	     freeze ? frozen_freeze(SHARE "/nas") : frozen_thaw(SHARE "/nas"));
}

void stage_ration(bool ration)
{
	char path[512];
	int err = box_find_hierarchy("cpu", path, sizeof(path));

	if (!err)
		err = write_text(
			scratch_format("%s" STAGE_GROUP "/shop.service/cpu.cfs_quota_us", path),
			ration ? "20000" : "-1");
	miss("quota of the shop", err);
}
