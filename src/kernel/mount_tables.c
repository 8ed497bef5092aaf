/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/mount_tables.h"

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

/* Maximum size of a table, and of all cached tables. */
#define TABLE_BYTES (16 * 1024 * 1024)
#define KEPT_BYTES (32 * 1024 * 1024)
#define KEPT_TABLES 256

/* How long a table is considered unchanged: if its mounts are counted, and if not. */
#define COUNTED_NS (30 * NSEC_PER_SEC)
#define UNCOUNTED_NS (5 * NSEC_PER_SEC)

/* How long a table without requests is cached. */
#define UNUSED_NS (60 * NSEC_PER_SEC)

/* struct mnt_ns_info of linux/nsfs.h, since 6.12. */
struct namespace_info {
	__u32 size;
	__u32 mounts;
	__u64 id; /* never reused; 0: unknown */
};

#define GET_NAMESPACE_INFO _IOR(0xb7, 10, struct namespace_info)

struct mount_table {
	char name[MOUNT_SPACE_NAME];
	struct namespace_info info; /* when it was read */
	uint64_t read_ns, used_ns; /* CLOCK_MONOTONIC */
	bool checked; /* since the last renewal */
	struct buf text;
};

struct mount_tables {
	int procfd;
	size_t count;
	struct mount_table tables[KEPT_TABLES];
};

int mount_space_name(int procfd, const char *pid, char name[MOUNT_SPACE_NAME])
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/ns/mnt", pid);
	len = readlinkat(procfd, path, name, MOUNT_SPACE_NAME - 1);
	if (len < 0)
		return -errno;
	name[len] = '\0';
	return 0;
}

struct mount_tables *mount_tables_open(int procfd)
{
	struct mount_tables *tables = xcalloc(1, sizeof(*tables));

	tables->procfd = procfd;
	return tables;
}

/* Frees a table. */
static void drop_table(struct mount_tables *tables, struct mount_table *table)
{
	buf_free(&table->text);
	*table = tables->tables[--tables->count];
}

void mount_tables_renew(struct mount_tables *tables)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = tables->count; i-- > 0;) {
		struct mount_table *table = &tables->tables[i];

		table->checked = false;
		if (now_ns - table->used_ns > UNUSED_NS)
			drop_table(tables, table);
	}
}

/* Frees the tables without recent requests, until there is room for one more. */
static void make_room(struct mount_tables *tables)
{
	struct mount_table *oldest;
	size_t bytes;

	do {
		oldest = NULL;
		bytes = 0;
		for (size_t i = 0; i < tables->count; i++) {
			struct mount_table *table = &tables->tables[i];

			bytes += table->text.len;
			if (!oldest || table->used_ns < oldest->used_ns)
				oldest = table;
		}
		if (tables->count < KEPT_TABLES && bytes <= KEPT_BYTES)
			return;
		drop_table(tables, oldest);
	} while (tables->count);
}

/* Asks the kernel about a task's namespace; all is 0 if it does not answer. */
static struct namespace_info ask_kernel(const struct mount_tables *tables, pid_t tid)
{
	struct namespace_info info = { .size = sizeof(info) };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%d/ns/mnt", (int)tid);
	fd = file_open(tables->procfd, path, 0);
	if (fd < 0 || ioctl(fd, GET_NAMESPACE_INFO, &info))
		info = (struct namespace_info){ .size = 0 };
	file_close(fd);
	return info;
}

/* True if a table can be used as it was read. */
static bool is_unchanged(const struct mount_table *table, const struct namespace_info *info,
			 uint64_t now_ns)
{
	return table->info.id == info->id && table->info.mounts == info->mounts &&
	       now_ns - table->read_ns < (info->id ? COUNTED_NS : UNCOUNTED_NS);
}

/* Finds the table of a namespace, or adds an empty one. */
static struct mount_table *find_table(struct mount_tables *tables, const char *name)
{
	struct mount_table *table;

	for (size_t i = 0; i < tables->count; i++)
		if (!strcmp(tables->tables[i].name, name))
			return &tables->tables[i];
	make_room(tables);
	table = &tables->tables[tables->count++];
	*table = (struct mount_table){ .read_ns = 0 };
	snprintf(table->name, sizeof(table->name), "%s", name);
	return table;
}

/* Reads a table again if it may have changed. 0 or -errno. */
static int refresh(struct mount_tables *tables, pid_t tid, struct mount_table *table,
		   uint64_t now_ns)
{
	/* Asked before reading: a change meanwhile is then seen the next time. */
	struct namespace_info info = ask_kernel(tables, tid);
	char path[64];
	int err;

	table->checked = true;
	if (table->read_ns && is_unchanged(table, &info, now_ns))
		return 0;
	table->text.len = 0;
	snprintf(path, sizeof(path), "%d/mountinfo", (int)tid);
	err = file_read_all(tables->procfd, path, &table->text, TABLE_BYTES);
	table->info = info;
	table->read_ns = now_ns;
	return err;
}

int mount_tables_find(struct mount_tables *tables, pid_t tid, struct span *text)
{
	char pid[16], name[MOUNT_SPACE_NAME];
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct mount_table *table;
	int err;

	snprintf(pid, sizeof(pid), "%d", (int)tid);
	err = mount_space_name(tables->procfd, pid, name);
	if (err)
		return err;
	table = find_table(tables, name);
	table->used_ns = now_ns;
	err = table->checked ? 0 : refresh(tables, tid, table, now_ns);
	if (err) {
		drop_table(tables, table);
		return err;
	}
	*text = (struct span){ table->text.data, table->text.data + table->text.len };
	return 0;
}

void mount_tables_close(struct mount_tables *tables)
{
	if (!tables)
		return;
	while (tables->count)
		drop_table(tables, tables->tables);
	free(tables);
}
