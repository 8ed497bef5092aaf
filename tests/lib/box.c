// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/box.h"
#include "tests/lib/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <time.h>
#include <unistd.h>

#define DELAYACCT "/proc/sys/kernel/task_delayacct"
#define PROACTIVENESS "/proc/sys/vm/compaction_proactiveness"
#define ZRAM_CONTROL "/sys/class/zram-control"

int box_delayacct(bool on)
{
	static bool switched;
	int err;

	err = switched ? write_text(DELAYACCT, on ? "1" : "0")
		       : guard_switch(DELAYACCT, on ? "1" : "0");
	switched = true;
	return err == -ENOENT ? -EOPNOTSUPP : err;
}

int box_no_background_compaction(void)
{
	char old[32];
	int err = read_text(PROACTIVENESS, old, sizeof(old));

	/* older kernels have none */
	if (err)
		return err == -ENOENT ? 0 : err;
	guard_push(UNDO_WRITE, PROACTIVENESS, old);
	return write_text(PROACTIVENESS, "0");
}

/* Where the memory controller is, and whether it is one of version 2. */
static bool find_memory(char *mount_point, size_t size, bool *v2)
{
	char path[300], text[1024];
	struct mntent *m;
	bool found = false;
	FILE *f = setmntent("/proc/self/mounts", "re");

	while (f && !found && (m = getmntent(f))) {
		*v2 = !strcmp(m->mnt_type, "cgroup2");
		if (*v2) {
			snprintf(path, sizeof(path), "%s/cgroup.controllers", m->mnt_dir);
			found = !read_text(path, text, sizeof(text)) && strstr(text, "memory");
		} else {
			found = !strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "memory");
		}
		if (found)
			snprintf(mount_point, size, "%s", m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return found;
}

/* In version 2 the parent hands its children the controller, or they have none. */
static int delegate_memory(const char *mount_point)
{
	char path[300], text[1024];
	int err;

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", mount_point);
	err = read_text(path, text, sizeof(text));
	if (err || strstr(text, "memory"))
		return err;
	guard_push(UNDO_WRITE, path, "-memory");
	return write_text(path, "+memory");
}

int box_cgroup(unsigned int mib, char *path, size_t size)
{
	char mount_point[200], file[400], limit[32];
	static unsigned int n;
	bool v2 = false;
	int err;

	if (!find_memory(mount_point, sizeof(mount_point), &v2))
		return -EOPNOTSUPP;
	if (v2) {
		err = delegate_memory(mount_point);
		if (err)
			return err;
	}
	snprintf(path, size, "%s/stalltop-test-%d-%u", mount_point, (int)getpid(), n++);
	guard_push(UNDO_CGROUP, path, NULL);
	if (mkdir(path, 0755))
		return -errno;
	snprintf(file, sizeof(file), "%s/%s", path, v2 ? "memory.max" : "memory.limit_in_bytes");
	snprintf(limit, sizeof(limit), "%u", mib * 1024 * 1024);
	return write_text(file, limit);
}

int box_find_hierarchy(const char *hierarchy, char *path, size_t size)
{
	bool v2 = !strcmp(hierarchy, "v2"), found = false;
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	while (f && !found && (m = getmntent(f))) {
		found = v2 ? !strcmp(m->mnt_type, "cgroup2")
			   : !strcmp(m->mnt_type, "cgroup") && hasmntopt(m, hierarchy);
		if (found)
			snprintf(path, size, "%s", m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return found ? 0 : -EOPNOTSUPP;
}

int box_group(const char *hierarchy, const char *name, char *path, size_t size)
{
	size_t len;
	int err = box_find_hierarchy(hierarchy, path, size);

	if (err)
		return err;
	len = strlen(path);
	snprintf(path + len, size - len, "/%s", name);
	guard_push(UNDO_CGROUP, path, NULL);
	return mkdir(path, 0755) ? -errno : 0;
}

int box_quota(const char *name, const char *us, char *path, size_t size)
{
	char file[PATH_MAX];
	int err = box_group("cpu", name, path, size);

	if (err)
		return err;
	snprintf(file, sizeof(file), "%s/cpu.cfs_quota_us", path);
	/* a kernel without bandwidth control has no such file */
	return write_text(file, us) ? -EOPNOTSUPP : 0;
}

int box_unified_group(char *path, size_t size, const char **name)
{
	static unsigned int n;
	char own[64];
	int err;

	snprintf(own, sizeof(own), "stalltop-group-%d-%u", (int)getpid(), n++);
	err = box_group("v2", own, path, size);
	*name = err ? NULL : strrchr(path, '/');
	return err;
}

/* The device's node comes a moment after the device. */
static int wait_for_node(const char *path)
{
	struct timespec ts = { 0, 10000000 };
	struct stat st;
	int i;

	for (i = 0; i < 200; i++) {
		if (!stat(path, &st) && S_ISBLK(st.st_mode))
			return 0;
		nanosleep(&ts, NULL);
	}
	return -ENOENT;
}

/* A swap area is a header at the end of the first page, and no more. */
static int write_swap_header(const char *path, unsigned int mib)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned char *buf = calloc(1, (size_t)page);
	uint32_t info[2] = { 1, mib * 1024 * 1024 / (uint32_t)page - 1 };
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (!buf || fd < 0) {
		err = fd < 0 ? -errno : -ENOMEM;
	} else {
		memcpy(buf + 1024, info, sizeof(info));
		memcpy(buf + page - 10, "SWAPSPACE2", 10);
		if (write(fd, buf, (size_t)page) != page || fsync(fd))
			err = -EIO;
	}
	if (fd >= 0)
		close(fd);
	free(buf);
	return err;
}

/* A new zram device: reading hot_add makes it and gives its number. */
static int add_zram(char *name, size_t size)
{
	char number[16], path[64];
	int err;

	err = read_text(ZRAM_CONTROL "/hot_add", number, sizeof(number));
	if (err)
		return err == -ENOENT ? -EOPNOTSUPP : err;
	guard_push(UNDO_WRITE, ZRAM_CONTROL "/hot_remove", number);
	snprintf(name, size, "zram%s", number);
	snprintf(path, sizeof(path), "/sys/block/%s/reset", name);
	guard_push(UNDO_WRITE, path, "1");
	return 0;
}

int box_zram_swap(unsigned int mib)
{
	char name[32], path[64], text[32];
	int err;

	err = add_zram(name, sizeof(name));
	if (err)
		return err;
	snprintf(path, sizeof(path), "/sys/block/%s/disksize", name);
	snprintf(text, sizeof(text), "%uM", mib);
	err = write_text(path, text);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/dev/%s", name);
	err = wait_for_node(path);
	if (!err)
		err = write_swap_header(path, mib);
	if (err)
		return err;
	guard_push(UNDO_SWAPOFF, path, NULL);
	/* before all other swap, so that it is memory that answers */
	if (swapon(path, SWAP_FLAG_PREFER | (32767 & SWAP_FLAG_PRIO_MASK)))
		return -errno;
	return 0;
}
