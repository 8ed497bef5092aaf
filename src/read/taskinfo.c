/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/taskinfo.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/users.h"
#include "base/util.h"
#include "cgroup/container_names.h"
#include "cgroup/hierarchy.h"
#include "kernel/passwd_files.h"
#include "kernel/proctask.h"

/* Files that are read in a few milliseconds. */
#define FILES_BETWEEN 256

/*
 * A program may overwrite its command line whenever it runs, and without the bpf source moves to
 * another cgroup go unnoticed: texts of tasks that ran are read again when they are this old; or,
 * if they have been unchanged for a shorter time, when that time has passed again.
 */
#define TEXT_AGE_MS 5000

/* The number of kthreadd, the parent of the kernel's threads. */
#define KTHREADD 2

/* Maximum number of cgroups whose path is read from one task for all members. */
#define SHARES 64

/* A path read from one task's file for several tasks: valid if that one has not moved meanwhile. */
struct share {
	uint64_t groups;
	struct task *of; /* with a reference */
	bool used; /* used for others, too */
};

struct taskinfo {
	struct proc *proc;
	bool threads;
	const struct hierarchy *hierarchy; /* NULL: cgroups are not known */
	uint64_t tick_ns;
	size_t files; /* read so far */
	unsigned needs; /* the needs of the previous update */
	bool updated; /* there was a previous update */
	uint32_t paths; /* when paths were last dropped, by text_clock() */
	bool sharing; /* while a whole sample is read */
	struct share shares[SHARES]; /* of the previous update */
	size_t nshares;
	struct users *users;
	struct passwd_files *passwd_files;
	struct buf scratch, lines;
	struct container_names *names; /* NULL: no possible container group was seen yet */
	int root;
};

struct taskinfo *taskinfo_open(struct proc *proc, bool threads)
{
	struct taskinfo *info = xcalloc(1, sizeof(*info));
	long ticks = sysconf(_SC_CLK_TCK);

	info->proc = proc;
	info->threads = threads;
	info->root = -1;
	info->users = users_open();
	info->passwd_files = passwd_files_open(proc);
	info->tick_ns = NSEC_PER_SEC / (uint64_t)(ticks > 0 ? ticks : 100);
	return info;
}

void taskinfo_set_hierarchy(struct taskinfo *info, const struct hierarchy *hierarchy)
{
	info->hierarchy = hierarchy;
}

/* The time of a sample by the clock of struct task_text_read, which wraps after weeks. */
static uint32_t text_clock(const struct sample *sample)
{
	return (uint32_t)(sample->begin_ns / NSEC_PER_MSEC);
}

/* True if a text that may have changed is to be read again. */
static bool is_text_due(const struct task_text_read *read, uint32_t now)
{
	uint32_t age = now - read->last;

	return age >= TEXT_AGE_MS || age >= read->last - read->first;
}

/* True if a task is a kernel thread, by its parent and its empty command line. */
static bool is_kernel_thread(const struct task *task)
{
	return (task->tgid == KTHREADD || task->ppid == KTHREADD) && task->command &&
	       !*task->command;
}

/* Replaces a text of a task, if it changed. */
static void replace_text(struct task *task, char **text, const char *by)
{
	if (!text_compare(*text, by))
		return;
	free(*text);
	*text = xstrdup(by);
	task->renamed++;
}

/* Records that a text of a task was read (NULL: unreadable). Returns whether it changed. */
static bool note_read(struct task *task, const char *text, const char *found,
		      struct task_text_read *read, uint32_t now)
{
	bool first = !read->last, other = text_compare(text, found) != 0;

	read->last = now;
	if (first || !found || other)
		read->first = now;
	/* Unreadable is shown, too. */
	if (other || (first && !found))
		task->renamed++;
	return other;
}

/* Reads the path of a task's group into the scratch buffer. 0 or -errno. */
static int read_cgroup(struct taskinfo *info, const struct task *task)
{
	pid_t tid = info->threads ? task->key.pid : 0;
	int err;

	info->files++;
	info->lines.len = 0;
	err = proctask_cgroup(info->proc, task->tgid, tid, &info->lines);
	return err ? err
		   : hierarchy_path(info->hierarchy, info->lines.data, info->lines.len,
				    &info->scratch);
}

/* Reads the CPU that a task last ran on: it has not moved while it did not run. */
static void fill_cpu(struct taskinfo *info, struct task *task)
{
	pid_t tid = info->threads ? task->key.pid : 0;
	struct proctask_stat stat;

	task->cpu = proctask_stat(info->proc, task->tgid, tid, &stat) ? 0 : stat.cpu + 1;
}

/* The facts that are unknown, or may have changed, so that they have to be read. */
static unsigned what_to_read(const struct taskinfo *info, const struct task *task, unsigned needs,
			     uint32_t now)
{
	unsigned again = task->stale;

	if (is_kernel_thread(task))
		again &= ~NEED_COMMAND;
	if (!(needs & NEED_LATEST || is_text_due(&task->command_read, now)))
		again &= ~NEED_COMMAND;
	if (!(needs & NEED_LATEST || is_text_due(&task->cgroup_read, now)))
		again &= ~NEED_CGROUP;
	if (!info->hierarchy)
		needs &= ~NEED_CGROUP;
	return needs & NEED_INFO & (~task->info | again);
}

/* The task whose path was already read for the same groups; NULL: none. */
static struct share *find_share(struct taskinfo *info, uint64_t groups)
{
	for (size_t i = 0; i < info->nshares; i++)
		if (info->shares[i].groups == groups)
			return &info->shares[i];
	return NULL;
}

/* Finds the name of the container that a path leads to. NULL: it leads to none. */
static const struct container_name *find_names(struct taskinfo *info, const char *path)
{
	struct container_key key;

	if (!path || !cgroup_container(path, &key))
		return NULL;
	if (!info->names) {
		info->root = file_open(AT_FDCWD, "/", O_DIRECTORY);
		info->names = container_names_open(info->root, info->users);
	}
	return container_names_find(info->names, path, clock_ns(CLOCK_MONOTONIC) / NSEC_PER_MSEC);
}

/* Fills in the name of the task's container, once its path is known. */
static void fill_names(struct taskinfo *info, struct task *task)
{
	const struct container_name *found = find_names(info, task->cgroup);

	replace_text(task, &task->pod, found ? found->pod : NULL);
	replace_text(task, &task->container, found ? found->container : NULL);
}

/* Fills in the path of a task's group, perhaps read from another member. */
static void fill_path(struct taskinfo *info, struct task *task, uint32_t now)
{
	struct share *share = task->groups ? find_share(info, task->groups) : NULL;
	const char *found;

	if (share) {
		share->used = true;
		if (note_read(task, task->cgroup, share->of->cgroup, &task->cgroup_read, now))
			task_set_cgroup(task, shared_ref(share->of->cgroup));
		return;
	}
	info->scratch.len = 0;
	found = read_cgroup(info, task) ? NULL : buf_cstr(&info->scratch);
	if (note_read(task, task->cgroup, found, &task->cgroup_read, now))
		task_set_cgroup(task, shared_text(found));
	if (info->sharing && task->groups && task->cgroup && info->nshares < SHARES)
		info->shares[info->nshares++] =
			(struct share){ task->groups, task_ref(task), false };
}

/* Fills in the path of a task's group, and the names that belong to it. */
static void fill_cgroup(struct taskinfo *info, struct task *task, uint32_t now)
{
	fill_path(info, task, now);
	fill_names(info, task);
}

/* Fills in a task's command line. */
static void fill_command(struct taskinfo *info, struct task *task, uint32_t now)
{
	const char *found;

	info->scratch.len = 0;
	info->files++;
	found = proctask_cmdline(info->proc, task->tgid, &info->scratch) ? NULL
									 : buf_cstr(&info->scratch);
	if (!note_read(task, task->command, found, &task->command_read, now))
		return;
	free(task->command);
	task->command = xstrdup(found);
}

/* Reads the wanted cached facts that may have changed since they were read. */
static void fill_texts(struct taskinfo *info, struct task *task, unsigned needs, uint32_t now)
{
	unsigned todo = what_to_read(info, task, needs, now);

	task->info = (uint16_t)(task->info | todo);
	task->stale = (uint16_t)(task->stale & ~todo);
	if (todo & NEED_COMMAND)
		fill_command(info, task, now);
	if (todo & NEED_CGROUP)
		fill_cgroup(info, task, now);
	if (todo & NEED_CPU)
		fill_cpu(info, task);
}

/*
 * The thread whose bytes are read, 0: all. A single thread's own file excludes bytes of reaped
 * children.
 */
static pid_t tid_of_io(const struct taskinfo *info, const struct task_raw *raw)
{
	return info->threads || raw->single ? raw->pid : 0;
}

/* Reads children's times and storage bytes, for this sample only. */
static void fill_proc(struct taskinfo *info, const struct task_raw *raw, struct task_proc *proc,
		      unsigned needs)
{
	pid_t tid = info->threads ? raw->pid : 0;
	struct proctask_stat stat;

	if (needs & NEED_STAT && !proc->children_valid) {
		info->files++;
		if (!proctask_stat(info->proc, raw->tgid, tid, &stat)) {
			proc->children_valid = true;
			proc->children.user_ns = stat.cutime * info->tick_ns;
			proc->children.system_ns = stat.cstime * info->tick_ns;
		}
	}
	if (needs & NEED_IO && !proc->io_valid) {
		proc->io_whole = !tid_of_io(info, raw);
		info->files++;
		proc->io_valid =
			!proctask_io(info->proc, raw->tgid, tid_of_io(info, raw), &proc->io);
	}
}

/*
 * Sets the name of a task's user, if it changed: the number if the task's own name for it differs,
 * as in a container. Root is root everywhere.
 */
static void set_task_user(struct taskinfo *info, struct task *task)
{
	const char *name = users_name(info->users, task->uid, NULL);
	char number[16];

	if (task->uid && !isdigit((unsigned char)*name) &&
	    passwd_files_differ(info->passwd_files, task->tgid, task->uid, name)) {
		snprintf(number, sizeof(number), "%u", task->uid);
		name = number;
	}
	if (!text_compare(task->user, name))
		return;
	task_set_user(task, name == number ? shared_text(name) : shared_ref((char *)name));
	task->renamed++;
}

/* Finds the facts that may have changed since the task was last read. */
static void look_at_changes(struct taskinfo *info, struct task *task)
{
	task->info &= ~task->other;
	if (task->other)
		task->renamed++;
	if (task->other & NEED_COMMAND)
		task->command_read.last = 0;
	task->other = 0;
	if (!task->fresh)
		return;
	/* Whether the first sample's tasks are active is unknown. */
	if (task->user || info->updated)
		task->stale |= task->groups ? NEED_INFO & ~NEED_CGROUP : NEED_INFO;
	set_task_user(info, task);
	task->fresh = false;
}

void taskinfo_fill(struct taskinfo *info, struct sample *sample, size_t i, unsigned needs)
{
	struct task *task = sample->raw[i]->task;

	/* A source that marks elements includes children's times. */
	if (sample_has_marks(sample, i))
		needs &= ~NEED_STAT;
	look_at_changes(info, task);
	/* An exited task has no files any more, and its pid may be another's. */
	if (i >= sample->n)
		return;
	if (needs & NEED_ACTIVE && task->stale & NEED_COMMAND)
		needs |= NEED_COMMAND;
	if (needs & NEED_INFO)
		fill_texts(info, task, needs, text_clock(sample));
	if (needs & NEED_PROC) {
		sample_extend(sample, needs & NEED_PROC);
		fill_proc(info, sample->raw[i], &sample->procs[i], needs);
	}
}

/* Has the paths of tasks in one group read again. */
static void forget_share(struct sample *sample, uint64_t groups)
{
	for (size_t i = 0; i < sample->n; i++)
		if (sample->raw[i]->task->groups == groups)
			sample->raw[i]->task->info &= (uint16_t)~NEED_CGROUP;
}

/*
 * Drops the paths that the previous update read from one task for several, by now known or not to
 * have been in that group before and after. Returns whether some are to be read again.
 */
static bool check_shares(struct taskinfo *info, struct sample *sample)
{
	bool wrong = false;

	for (size_t i = 0; i < info->nshares; i++) {
		const struct share *share = &info->shares[i];
		const struct task_raw *raw =
			sample_find(sample, share->of->tgid, share->of->key.pid);

		if (share->used &&
		    (!raw || raw->task != share->of || raw->task->groups != share->groups)) {
			forget_share(sample, share->groups);
			wrong = true;
		}
		task_unref(share->of);
	}
	info->nshares = 0;
	return wrong;
}

/*
 * Drops all paths every few seconds if groups can be renamed (version 1): a rename leaves no trace
 * in the tasks. Returns whether it did.
 */
static bool forget_paths(struct taskinfo *info, struct sample *sample)
{
	uint32_t now = text_clock(sample);

	if (!info->hierarchy || info->hierarchy->version != 1 || now - info->paths < TEXT_AGE_MS)
		return false;
	info->paths = now;
	for (size_t i = 0; i < sample->n; i++)
		sample->raw[i]->task->info &= (uint16_t)~NEED_CGROUP;
	return true;
}

/*
 * Prefetches files of the elements from `from` on that are read for the first time. Returns the
 * first element for which there was no room.
 */
static size_t prefetch_texts(const struct taskinfo *info, const struct sample *sample, size_t from,
			     unsigned needs, bool all)
{
	size_t at = from;

	proc_prefetch_begin(info->proc);
	for (; at < sample->n; at++) {
		const struct task_raw *raw = sample->raw[at];

		if (!all && sample_idle(sample, at))
			continue;
		if (needs & NEED_COMMAND && !(raw->task->info & NEED_COMMAND) &&
		    !proctask_prefetch(info->proc, raw->tgid, 0, PROCTASK_CMDLINE))
			break;
		/* If the source does not report who shares groups, each task's is read. */
		if (needs & NEED_CGROUP && info->hierarchy && !raw->task->groups &&
		    !(raw->task->info & NEED_CGROUP) &&
		    !proctask_prefetch(info->proc, raw->tgid, info->threads ? raw->pid : 0,
				       PROCTASK_CGROUP))
			break;
		if (needs & NEED_IO &&
		    !proctask_prefetch(info->proc, raw->tgid, tid_of_io(info, raw), PROCTASK_IO))
			break;
	}
	return at > from ? at : sample->n;
}

void taskinfo_update(struct taskinfo *info, struct sample *sample, unsigned needs,
		     void (*between)(void *arg), void *arg)
{
	bool all = needs & ~info->needs & ~(NEED_ACTIVE | NEED_LATEST) || needs & NEED_IO;
	bool users_new = users_refresh(info->users);
	size_t before = info->files, ahead = 0;

	all |= check_shares(info, sample);
	info->needs = needs;
	all |= forget_paths(info, sample);
	for (size_t i = 0; users_new && i < sample->n; i++)
		if (sample->raw[i]->task->user)
			set_task_user(info, sample->raw[i]->task);
	info->sharing = true;
	for (size_t i = 0; i < sample->n + sample->left; i++) {
		if (!all)
			i = sample_next_busy(sample, i);
		if (i == sample->n + sample->left)
			break;
		if (i >= ahead)
			ahead = prefetch_texts(info, sample, i, needs, all);
		taskinfo_fill(info, sample, i, needs);
		if (between && info->files - before >= FILES_BETWEEN) {
			before = info->files;
			between(arg);
		}
	}
	users_ask(info->users);
	info->sharing = false;
	info->updated = true;
}

void taskinfo_close(struct taskinfo *info)
{
	for (size_t i = 0; i < info->nshares; i++)
		task_unref(info->shares[i].of);
	buf_free(&info->scratch);
	buf_free(&info->lines);
	container_names_close(info->names);
	users_close(info->users);
	passwd_files_close(info->passwd_files);
	file_close(info->root);
	free(info);
}
