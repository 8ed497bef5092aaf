/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/taskinfo.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "cgroup/hierarchy.h"
#include "kernel/proctask.h"

/* The number of tasks whose files are read in a few milliseconds. */
#define TASKS_BETWEEN 128

struct user {
	uid_t uid;
	char *name;
};

struct taskinfo {
	int procfd;
	bool threads;
	const struct hierarchy *hierarchy; /* NULL: cgroups are not known */
	uint64_t tick_ns;
	unsigned needs; /* the needs of the update before */
	struct user *users;
	size_t nusers;
	struct buf scratch, lines;
};

struct taskinfo *taskinfo_open(int procfd, bool threads)
{
	struct taskinfo *info = xcalloc(1, sizeof(*info));
	long ticks = sysconf(_SC_CLK_TCK);

	info->procfd = procfd;
	info->threads = threads;
	info->tick_ns = NSEC_PER_SEC / (uint64_t)(ticks > 0 ? ticks : 100);
	return info;
}

void taskinfo_set_hierarchy(struct taskinfo *info, const struct hierarchy *hierarchy)
{
	info->hierarchy = hierarchy;
}

/* The user's name, or the number where there is none. The system is asked once for each uid. */
static const char *user_name(struct taskinfo *info, uid_t uid)
{
	const struct passwd *passwd;
	char number[16];

	for (size_t i = 0; i < info->nusers; i++)
		if (info->users[i].uid == uid)
			return info->users[i].name;
	passwd = getpwuid(uid);
	snprintf(number, sizeof(number), "%u", uid);
	info->users = xreallocarray(info->users, info->nusers + 1, sizeof(*info->users));
	info->users[info->nusers].uid = uid;
	info->users[info->nusers].name = xstrdup(passwd ? passwd->pw_name : number);
	return info->users[info->nusers++].name;
}

/* Replaces a cached text by the scratch buffer's contents; NULL where reading failed. */
static void set_info_text(struct taskinfo *info, char **text, int err)
{
	free(*text);
	*text = err ? NULL : xstrdup(buf_cstr(&info->scratch));
}

/* Reads the path of a task's group into the scratch buffer. 0 or -errno. */
static int read_cgroup(struct taskinfo *info, const struct task *task)
{
	pid_t tid = info->threads ? task->key.pid : 0;
	int err;

	info->lines.len = 0;
	err = proctask_cgroup(info->procfd, task->tgid, tid, &info->lines);
	return err ? err
		   : hierarchy_path(info->hierarchy, info->lines.data, info->lines.len,
				    &info->scratch);
}

/* Reads the CPU that a task ran on last: it has not moved while it did not run. */
static void fill_cpu(struct taskinfo *info, struct task *task)
{
	pid_t tid = info->threads ? task->key.pid : 0;
	struct proctask_stat stat;

	task->cpu = proctask_stat(info->procfd, task->tgid, tid, &stat) ? 0 : stat.cpu + 1;
}

/* Reads the cached facts that are wanted and were not tried since the task last ran. */
static void fill_texts(struct taskinfo *info, struct task *task, unsigned needs)
{
	unsigned todo = needs & NEED_INFO & ~task->info;

	if (!info->hierarchy)
		todo &= ~NEED_CGROUP;
	task->info |= todo;
	if (todo & NEED_COMMAND) {
		info->scratch.len = 0;
		set_info_text(info, &task->command,
			      proctask_cmdline(info->procfd, task->tgid, &info->scratch));
	}
	if (todo & NEED_CGROUP) {
		info->scratch.len = 0;
		set_info_text(info, &task->cgroup, read_cgroup(info, task));
	}
	if (todo & NEED_CPU)
		fill_cpu(info, task);
}

/* Reads children's times and storage bytes, for this sample only. */
static void fill_proc(struct taskinfo *info, const struct task_raw *raw, struct task_proc *proc,
		      unsigned needs)
{
	pid_t tid = info->threads ? raw->pid : 0;
	struct proctask_stat stat;

	if (needs & NEED_STAT && !proc->children_valid) {
		if (!proctask_stat(info->procfd, raw->tgid, tid, &stat)) {
			proc->children_valid = true;
			proc->children.user_ns = stat.cutime * info->tick_ns;
			proc->children.system_ns = stat.cstime * info->tick_ns;
		}
	}
	if (needs & NEED_IO && !proc->io_valid) {
		/* With one thread its own file is enough, and has no bytes of reaped children. */
		proc->io_whole = !info->threads && !raw->single;
		proc->io_valid = !proctask_io(info->procfd, raw->tgid,
					      proc->io_whole ? 0 : raw->pid, &proc->io);
	}
}

void taskinfo_fill(struct taskinfo *info, struct sample *sample, size_t i, unsigned needs)
{
	struct task *task = sample->raw[i].task;

	/* A source that marks elements has the times of children, too. */
	if (sample_tells(sample, i))
		needs &= ~NEED_STAT;
	if (task->fresh) {
		task->user = user_name(info, task->uid);
		task->info = 0;
		task->fresh = false;
	}
	/* A task that has left has no files any more, and its pid may be another's. */
	if (i >= sample->n)
		return;
	if (needs & NEED_INFO)
		fill_texts(info, task, needs);
	if (needs & NEED_PROC) {
		sample_extend(sample, needs & NEED_PROC);
		fill_proc(info, &sample->raw[i], &sample->procs[i], needs);
	}
}

void taskinfo_update(struct taskinfo *info, struct sample *sample, unsigned needs,
		     void (*between)(void *arg), void *arg)
{
	bool more = needs & ~info->needs;

	info->needs = needs;
	if (!(needs & (NEED_INFO | NEED_PROC)))
		between = NULL;
	for (size_t i = 0; i < sample->n + sample->left; i++) {
		if (more || needs & NEED_IO || !sample_unchanged(sample, i))
			taskinfo_fill(info, sample, i, needs);
		if (between && i % TASKS_BETWEEN == TASKS_BETWEEN - 1)
			between(arg);
	}
}

void taskinfo_close(struct taskinfo *info)
{
	for (size_t i = 0; i < info->nusers; i++)
		free(info->users[i].name);
	free(info->users);
	buf_free(&info->scratch);
	buf_free(&info->lines);
	free(info);
}
