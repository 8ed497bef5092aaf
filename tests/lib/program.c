// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs on stages of their own. */
#include "tests/lib/program.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/lib/box.h"
#include "tests/lib/frozen.h"
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

/* For how long a program may take to come up, in seconds. */
#define READY_PATIENCE 40

const struct program *program_find(const char *name)
{
	for (size_t i = 0; i < program_table_n; i++)
		if (!strcmp(program_table[i].name, name))
			return &program_table[i];
	fail_msg("no program %s", name);
	return NULL;
}

bool program_matches(const char *text, const char *regex)
{
	regex_t compiled;
	bool found;

	assert_int_equal(regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB), 0);
	found = !regexec(&compiled, text, 0, NULL, 0);
	regfree(&compiled);
	return found;
}

/* Runs a text to its end, unseen; its status. */
static int run_text(const char *text)
{
	return system(e2e_format("{ %s\n} >/dev/null 2>&1", text));
}

/* The first command that is not there; NULL: all are. */
static const char *missing_command(const char *needs)
{
	char *rest = e2e_format("%s", needs ? needs : ""), *need;

	while ((need = strsep(&rest, " "))) {
		char *others = e2e_format("%s", need), *one;
		bool found = !*need;

		while (!found && (one = strsep(&others, "|")))
			found = !run_text(
				e2e_format("PATH=$PATH:/usr/sbin:/sbin; command -v %s", one));
		if (!found)
			return need;
	}
	return NULL;
}

/* Sets what texts may rely on. */
static void set_environment(const struct stage *stage)
{
	const char *sources = getenv("TESTS_SRCDIR");
	char *path = realpath(e2e_format("%s/programs", sources ? sources : "../tests"), NULL);

	assert_non_null(path);
	setenv("S", e2e_keep(path), 1);
	path = realpath(e2e_load_path(""), NULL);
	assert_non_null(path);
	setenv("L", e2e_keep(path), 1);
	setenv("D", stage->folder, 1);
	setenv("G", stage->group, 1);
	setenv("B", stage->box, 1);
	setenv("A",
	       e2e_format("127.%u.%u.%u", 1 + (unsigned)getpid() / 250 % 250,
			  1 + (unsigned)getpid() % 250, 1 + stage->number % 250),
	       1);
	setenv("U", "setpriv --reuid 65534 --regid 65534 --clear-groups", 1);
}

/* The group of the disk that a folder is on, which may not read much. 0 or -errno. */
static int box_disk(const char *folder, char *path, size_t size)
{
	char device[64], text[96];
	struct stat st;
	int err;

	if (stat(folder, &st))
		return -errno;
	snprintf(device, sizeof(device), "%u:%u", major(st.st_dev), minor(st.st_dev));
	err = box_group("blkio", e2e_group_name("disk"), path, size);
	snprintf(text, sizeof(text), "%s 2097152", device);
	/* what is a file system over several disks is none of them */
	return err ? err
	       : write_text(e2e_format("%s/blkio.throttle.read_bps_device", path), text)
		       ? -EOPNOTSUPP
		       : 0;
}

/* Makes the box, whose path is then B; what it lacks, or NULL. */
static const char *make_box(struct stage *stage, enum box box)
{
	static const char *const lacks[] = { [BOX_QUOTA] = "no CPU quota",
					     [BOX_MEMORY] = "no memory cgroup",
					     [BOX_DISK] = "no disk that can be throttled",
					     [BOX_FREEZER] = "no v1 hierarchy of freezer",
					     [BOX_FROZEN] = "no loop devices" };
	char *path = stage->box;
	int err = 0;

	if (box == BOX_QUOTA)
		err = box_quota(e2e_group_name("quota"), "5000", path, sizeof(stage->box));
	else if (box == BOX_MEMORY)
		err = box_cgroup(32, path, sizeof(stage->box));
	else if (box == BOX_DISK)
		err = box_disk(stage->folder, path, sizeof(stage->box));
	else if (box == BOX_FREEZER)
		err = box_group("freezer", e2e_group_name("freezer"), path, sizeof(stage->box));
	else if (box == BOX_FROZEN)
		err = frozen_mount(stage->folder, path, sizeof(stage->box));
	if (err == -EOPNOTSUPP)
		return lacks[box];
	if (err)
		fail_msg("%s: %s", lacks[box], strerror(-err));
	if (box == BOX_FROZEN)
		assert_int_equal(chmod(path, 0777), 0);
	return NULL;
}

void stage_make(struct stage *stage, const struct program *program, enum box box)
{
	static unsigned int number;
	const char *missing = missing_command(program->needs), *name;
	int err;

	memset(stage, 0, sizeof(*stage));
	stage->program = program;
	stage->number = number++;
	if (missing) {
		stage->why = e2e_format("%s is not installed", missing);
		return;
	}
	snprintf(stage->folder, sizeof(stage->folder), "%s/%u", e2e_folder(), stage->number);
	guard_push(UNDO_TREE, stage->folder, NULL);
	assert_int_equal(mkdir(stage->folder, 0777), 0);
	assert_int_equal(chmod(stage->folder, 0777), 0);
	err = box_unified_group(stage->group, sizeof(stage->group), &name);
	if (err == -EOPNOTSUPP) {
		stage->why = "no cgroup v2";
		return;
	}
	assert_int_equal(err, 0);
	stage->kind = box;
	stage->why = make_box(stage, box);
}

/* A session of its own, so that no signal of the terminal's and no job control is shared. */
static int own_session(const char *arg)
{
	(void)arg;
	return setsid() < 0;
}

void stage_start(struct stage *stage, const char *text)
{
	const char *argv[] = { "/bin/sh", "-c", NULL, NULL };
	struct e2e_how how = { .cgroup = stage->group, .hook = own_session };
	struct e2e_proc p;

	set_environment(stage);
	argv[2] = e2e_format("cd \"$D\" && exec >>log 2>&1\n%s", text);
	e2e_start(&p, &how, argv);
	close(p.out);
	close(p.err);
	/* What is frozen does not end: it is thawed before it is waited for. */
	if (stage->kind == BOX_FREEZER)
		guard_push(UNDO_WRITE, e2e_format("%s/freezer.state", stage->box), "THAWED");
	else if (stage->kind == BOX_FROZEN)
		guard_push(UNDO_THAW, stage->box, NULL);
}

bool stage_await(struct stage *stage, const char *text)
{
	double until = e2e_now() + READY_PATIENCE;

	set_environment(stage);
	while (run_text(e2e_format("cd \"$D\" && %s", text))) {
		if (e2e_now() > until) {
			stage->why = "does not come up";
			return false;
		}
		e2e_sleep(0.1);
	}
	return true;
}

const char *stage_pids(const struct stage *stage)
{
	FILE *f = fopen(e2e_format("%s/cgroup.procs", stage->group), "re");
	const char *pids = "";
	int pid;

	assert_non_null(f);
	/* 0: of a namespace that is not ours */
	while (fscanf(f, "%d", &pid) == 1)
		if (pid)
			pids = e2e_format("%s%s%d", pids, *pids ? "," : "", pid);
	fclose(f);
	return pids;
}

bool stage_has(const struct stage *stage, pid_t pid)
{
	char line[512];
	const char *name = strrchr(stage->group, '/');
	FILE *f = fopen(e2e_format("/proc/%d/cgroup", (int)pid), "re");
	bool has = false;

	while (f && !has && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		has = !strncmp(line, "0::", 3) && !strcmp(line + 3, name);
	}
	if (f)
		fclose(f);
	return has;
}

void stage_print_log(const struct stage *stage)
{
	char line[512];
	FILE *f = fopen(e2e_format("%s/log", stage->folder), "re");

	while (f && fgets(line, sizeof(line), f))
		fprintf(stderr, "# log: %s", line);
	if (f)
		fclose(f);
}

const char *finding_line(json_t *finding)
{
	return e2e_format("%s: %s", text_or_none(finding, "id"), text_or_none(finding, "text"));
}

bool finding_names(const struct stage *stage, json_t *finding)
{
	json_t *pid = json_object_get(finding, "pid");
	const char *p = text_or_none(finding, "text");

	if (json_is_integer(pid) && stage_has(stage, (pid_t)json_integer_value(pid)))
		return true;
	while (*p) {
		size_t len = strspn(p, "0123456789");

		if (len > 1 && stage_has(stage, atoi(p)))
			return true;
		p += len ? len : 1;
	}
	return false;
}
