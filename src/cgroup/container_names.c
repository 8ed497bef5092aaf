/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/container_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/users.h"
#include "base/util.h"
#include "kernel/mounts.h"

/* Number of cached containers; beyond, the one found first is dropped and looked up again. */
#define KEPT 1024

/* How often a name is looked up, and the time before the second look; it doubles each time. */
#define TRIES 6
#define AGAIN_MS 1000

/* The longest name of a container, as in Kubernetes. */
#define NAME_BYTES 253

/* Maximum size of a file: a container's own has some 30 kB, podman's list 1 kB for each. */
#define FILE_BYTES (4 << 20)

/*
 * A user can name groups like containers and so make stalltop read podman's list in the user's
 * home. Limits: size, interval, homes, names in a list, and the time of all lookups per second.
 */
#define HOME_BYTES (256 << 10)
#define HOME_MS 5000
#define HOMES 16
#define HOME_NAMES 256
#define SPENT_MS_MAX 30

/* Entries of a folder that are read. */
#define ENTRIES 20000

/* The length of a container's id, and that of the longest uid of a pod. */
#define ID_DIGITS 64
#define UID_BYTES 36

/* A container that was looked up. */
struct kept_name {
	char key[UID_BYTES + ID_DIGITS + 1]; /* the pod's uid and the container's id */
	char *pod, *container; /* NULL: not found */
	uint64_t tried_ms;
	unsigned tries;
};

/* Podman's list in a user's home, as last read. */
struct home {
	uid_t owner;
	uint64_t looked_ms;
	struct stat stat;
	struct home_name {
		char id[ID_DIGITS + 1];
		char *name;
	} * all;
	size_t n;
};

struct container_names {
	int root;
	struct users *users;
	sqlite3 *json; /* NULL: nothing parsed yet */
	struct kept_name kept[KEPT];
	size_t n, next; /* those in use; the next to be replaced */
	struct home homes[HOMES];
	size_t nhomes, next_home; /* likewise of these */
	uint64_t second_ns, spent_ns; /* time spent on lookups since second_ns */
	struct container_name found; /* the names returned last */
	struct buf text, path;
};

struct container_names *container_names_open(int root, struct users *users)
{
	struct container_names *names = xcalloc(1, sizeof(*names));

	names->root = root;
	names->users = users;
	return names;
}

/* True if a text is a valid name of a container, a pod or a namespace, whoever wrote it. */
static bool is_container_name(const char *text, size_t len)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	if (!len || len > NAME_BYTES || !strchr(plain, text[0]) || !text[0])
		return false;
	for (size_t i = 0; i < len; i++)
		if (!text[i] || (!strchr(plain, text[i]) && !strchr("_.-", text[i])))
			return false;
	return true;
}

/* Stores the names of a pod and of a container, if valid. */
static void keep_names(struct kept_name *kept, struct span namespace, struct span pod,
		       struct span container)
{
	size_t first = (size_t)(namespace.end - namespace.at), len = (size_t)(pod.end - pod.at);
	struct buf text = { 0 };

	if (!kept->pod && is_container_name(namespace.at, first) &&
	    is_container_name(pod.at, len)) {
		buf_add(&text, namespace.at, first);
		buf_putc(&text, '/');
		buf_add(&text, pod.at, len);
		kept->pod = xstrdup(buf_cstr(&text));
	}
	/* Docker's begin with a slash. */
	take_word(&container, "/");
	len = (size_t)(container.end - container.at);
	if (!kept->container && is_container_name(container.at, len))
		kept->container = strndup(container.at, len);
	buf_free(&text);
}

/* A text of a row; empty if there is none. */
static struct span column_span(sqlite3_stmt *query, int column)
{
	const char *text = (const char *)sqlite3_column_text(query, column);

	text = text ? text : "";
	return (struct span){ text, text + sqlite3_column_bytes(query, column) };
}

/* SQLite reads JSON; of hostile texts it needs no more than some times their size. */
static sqlite3 *open_json(struct container_names *names)
{
	if (!names->json && sqlite3_open(":memory:", &names->json) != SQLITE_OK) {
		sqlite3_close(names->json);
		names->json = NULL;
	}
	return names->json;
}

/* Parses names from the text that was read. Other texts have none. */
static void query_names(struct container_names *names, struct kept_name *kept, const char *sql,
			const char *id)
{
	sqlite3 *json = open_json(names);
	sqlite3_stmt *query = NULL;

	if (!json || sqlite3_prepare_v2(json, sql, -1, &query, NULL) != SQLITE_OK) {
		debug_log("names of containers: %s", json ? sqlite3_errmsg(json) : "no memory");
		return;
	}
	sqlite3_bind_text(query, 1, names->text.data, (int)names->text.len, SQLITE_STATIC);
	sqlite3_bind_text(query, 2, id, ID_DIGITS, SQLITE_STATIC);
	if (sqlite3_step(query) == SQLITE_ROW)
		keep_names(kept, column_span(query, 0), column_span(query, 1),
			   column_span(query, 2));
	sqlite3_finalize(query);
}

/*
 * Reads a file, without waiting: only regular files of limited size. Closes the descriptor. 0 or
 * -errno.
 */
static int read_regular(struct container_names *names, int fd, size_t most)
{
	struct stat stat;
	ssize_t got = 1;

	names->text.len = 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode) || (size_t)stat.st_size > most)
		got = -1;
	while (got > 0 && names->text.len <= most) {
		got = read(fd, buf_reserve(&names->text, FILE_BYTES / 64), FILE_BYTES / 64);
		names->text.len += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return got ? -EINVAL : 0;
}

/* True if a path is on a local disk file system, which answers. */
static bool is_local(int root, const char *path)
{
	static const char *const types[] = { "ext4",  "xfs",  "btrfs",	 "ext3",    "ext2",
					     "tmpfs", "f2fs", "overlay", "bcachefs" };
	struct buf mounts = { 0 };
	struct span type;
	bool local = false;

	if (!file_read_all(root, "proc/self/mountinfo", &mounts, SIZE_MAX) &&
	    mount_type((struct span){ mounts.data, mounts.data + mounts.len }, path, &type))
		for (size_t i = 0; i < ARRAY_SIZE(types) && !local; i++)
			local = is_text(&type, types[i]);
	buf_free(&mounts);
	return local;
}

/*
 * Opens a file in a user's home. The owner of a folder can put anything there: no links are
 * followed, and no mounts, which may never answer. The descriptor or -errno; -ENOSYS: the kernel is
 * older than 5.6.
 */
static int open_in_home(const struct container_names *names, uid_t owner, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS };
	const char *path_of_home = NULL;
	int home, fd;

	if (owner != NO_OWNER)
		users_name(names->users, owner, &path_of_home);
	if (!path_of_home || path_of_home[0] != '/' || !is_local(names->root, path_of_home))
		return -ENOENT;
	home = (int)syscall(SYS_openat2, names->root, path_of_home + 1, &how, sizeof(how));
	if (home < 0)
		return -errno;
	how = (struct open_how){ .flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
				 .resolve =
					 RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_BENEATH };
	fd = (int)syscall(SYS_openat2, home, path, &how, sizeof(how));
	fd = fd < 0 ? -errno : fd;
	close(home);
	return fd;
}

/* Drops the data of a home. */
static void forget_home(struct home *home)
{
	while (home->n)
		free(home->all[--home->n].name);
	free(home->all);
	home->all = NULL;
}

/* Takes the names of the list that was read. */
static void take_home(struct container_names *names, struct home *home, const char *sql)
{
	sqlite3 *json = open_json(names);
	sqlite3_stmt *query = NULL;

	if (!json || sqlite3_prepare_v2(json, sql, -1, &query, NULL) != SQLITE_OK)
		return;
	sqlite3_bind_text(query, 1, names->text.data, (int)names->text.len, SQLITE_STATIC);
	home->all = xcalloc(HOME_NAMES, sizeof(*home->all));
	while (home->n < HOME_NAMES && sqlite3_step(query) == SQLITE_ROW) {
		struct span id = column_span(query, 0), name = column_span(query, 1);

		if (id.end - id.at != ID_DIGITS ||
		    !is_container_name(name.at, (size_t)(name.end - name.at)))
			continue;
		memcpy(home->all[home->n].id, id.at, ID_DIGITS);
		home->all[home->n++].name = strndup(name.at, (size_t)(name.end - name.at));
	}
	sqlite3_finalize(query);
}

/* The list in a user's home: checked after HOME_MS, reread if it has changed. */
static const struct home *look_into_home(struct container_names *names, uid_t owner,
					 const struct name_place *place, uint64_t now_ms)
{
	struct home *home = NULL;
	struct stat stat = { 0 };
	int fd;

	for (size_t i = 0; i < names->nhomes && !home; i++)
		if (names->homes[i].owner == owner)
			home = &names->homes[i];
	if (home && now_ms - home->looked_ms < HOME_MS)
		return home;
	if (!home) {
		home = &names->homes[names->next_home];
		names->next_home = (names->next_home + 1) % HOMES;
		names->nhomes += names->nhomes < HOMES;
		forget_home(home);
		*home = (struct home){ .owner = owner };
	}
	home->looked_ms = now_ms;
	fd = open_in_home(names, owner, place->path);
	if (fd >= 0 && !fstat(fd, &stat) && file_same(&stat, &home->stat)) {
		close(fd);
		return home;
	}
	home->stat = stat;
	forget_home(home);
	if (!read_regular(names, fd, HOME_BYTES))
		take_home(names, home, place->query);
	return home;
}

/* Finds a name in the list of its owner's home. */
static void look_at_home(struct container_names *names, struct kept_name *kept,
			 const struct container_key *key, const struct name_place *place,
			 uint64_t now_ms)
{
	const struct home *home;

	if (!key->id || key->owner == NO_OWNER)
		return;
	home = look_into_home(names, key->owner, place, now_ms);
	for (size_t i = 0; i < home->n && !kept->container; i++)
		if (!memcmp(home->all[i].id, key->id, ID_DIGITS))
			kept->container = xstrdup(home->all[i].name);
}

/* Looks up names in a file. */
static void look_into_file(struct container_names *names, struct kept_name *kept,
			   const struct container_key *key, const struct name_place *place)
{
	const char *star = strchr(place->path, '*');
	size_t front = star ? (size_t)(star - place->path) : strlen(place->path);
	int fd;

	if (!key->id)
		return;
	names->path.len = 0;
	buf_add(&names->path, place->path, front);
	if (star) {
		buf_add(&names->path, key->id, ID_DIGITS);
		buf_puts(&names->path, star + 1);
	}
	fd = file_open(names->root, buf_cstr(&names->path), O_NOFOLLOW);
	if (!read_regular(names, fd, FILE_BYTES))
		query_names(names, kept, place->query, key->id);
}

/* Parses an entry's name: POD_NAMESPACE_CONTAINER-ID.log */
static void keep_log(struct kept_name *kept, const struct container_key *key, const char *entry)
{
	static const char ending[] = ".log";
	size_t behind = 1 + ID_DIGITS + strlen(ending), len = strlen(entry);
	struct span text, pod, namespace, container;

	if (!key->id || len <= behind || entry[len - behind] != '-' ||
	    memcmp(entry + len - behind + 1, key->id, ID_DIGITS) != 0 ||
	    strcmp(entry + len - strlen(ending), ending) != 0)
		return;
	text = (struct span){ entry, entry + len - behind };
	if (take_part(&text, '_', &pod) && take_part(&text, '_', &namespace) &&
	    take_part(&text, '_', &container) && text.at == text.end)
		keep_names(kept, namespace, pod, container);
}

/* True if two pods' uids are equal: slices have underscores in place of hyphens. */
static bool is_same_uid(const char *text, const char *uid, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != (uid[i] == '_' ? '-' : uid[i]))
			return false;
	return true;
}

/* Parses an entry's name: NAMESPACE_POD_UID */
static void keep_pod(struct kept_name *kept, const struct container_key *key, const char *entry)
{
	const char *last = strrchr(entry, '_');
	size_t len = last ? strlen(last + 1) : 0;
	struct span text, pod, namespace, none = { entry, entry };

	if (!key->uid || len != key->uid_len || !is_same_uid(last + 1, key->uid, len))
		return;
	text = (struct span){ entry, last };
	if (take_part(&text, '_', &namespace) && take_part(&text, '_', &pod) && text.at == text.end)
		keep_names(kept, namespace, pod, none);
}

/* Searches a folder. The files behind its entries are not opened. */
static void look_into_folder(const struct container_names *names, struct kept_name *kept,
			     const struct container_key *key, const struct name_place *place)
{
	int fd = file_open(names->root, place->path, O_DIRECTORY);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!folder) {
		file_close(fd);
		return;
	}
	for (unsigned i = 0; i < ENTRIES && (entry = readdir(folder)); i++) {
		if (place->kind == PLACE_LOGS)
			keep_log(kept, key, entry->d_name);
		else
			keep_pod(kept, key, entry->d_name);
	}
	closedir(folder);
}

/* True if all obtainable names are known. */
static bool is_complete(const struct kept_name *kept, const struct container_key *key)
{
	return (!key->id || kept->container) && (!key->uid || kept->pod);
}

/* True if lookups have used their time of this second: others come later. */
static bool is_spent(struct container_names *names, uint64_t now_ns)
{
	if (now_ns - names->second_ns >= NSEC_PER_SEC) {
		names->second_ns = now_ns;
		names->spent_ns = 0;
	}
	return names->spent_ns >= SPENT_MS_MAX * NSEC_PER_MSEC;
}

/* Looks up the names at all places. */
static void look_for(struct container_names *names, struct kept_name *kept,
		     const struct container_key *key, uint64_t now_ms)
{
	kept->tried_ms = now_ms;
	kept->tries++;
	for (const struct name_place *place = key->places;
	     place->kind != PLACE_END && !is_complete(kept, key); place++) {
		if (place->kind == PLACE_HOME)
			look_at_home(names, kept, key, place, now_ms);
		else if (place->kind == PLACE_JSON)
			look_into_file(names, kept, key, place);
		else
			look_into_folder(names, kept, key, place);
	}
}

/* Finds a cached container, or makes room for it. */
static struct kept_name *find_or_add(struct container_names *names, const char *text)
{
	struct kept_name *kept;

	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->kept[i].key, text))
			return &names->kept[i];
	kept = &names->kept[names->next];
	names->next = (names->next + 1) % KEPT;
	if (names->n < KEPT)
		names->n++;
	free(kept->pod);
	free(kept->container);
	*kept = (struct kept_name){ .tries = 0 };
	strcpy(kept->key, text);
	return kept;
}

const struct container_name *container_names_find(struct container_names *names, const char *path,
						  uint64_t now_ms)
{
	char text[UID_BYTES + ID_DIGITS + 1] = "";
	struct container_key key;
	struct kept_name *kept;

	if (!cgroup_container(path, &key))
		return NULL;
	if (key.uid)
		strncat(text, key.uid, key.uid_len);
	if (key.id)
		strncat(text, key.id, ID_DIGITS);
	kept = find_or_add(names, text);
	if (!is_complete(kept, &key) && kept->tries < TRIES &&
	    (!kept->tries || now_ms - kept->tried_ms >= (uint64_t)AGAIN_MS << kept->tries)) {
		uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);

		if (!is_spent(names, began_ns)) {
			look_for(names, kept, &key, now_ms);
			names->spent_ns += clock_ns(CLOCK_MONOTONIC) - began_ns;
		}
	}
	names->found = (struct container_name){ kept->pod, kept->container };
	return kept->pod || kept->container ? &names->found : NULL;
}

void container_names_close(struct container_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->n; i++) {
		free(names->kept[i].pod);
		free(names->kept[i].container);
	}
	for (size_t i = 0; i < names->nhomes; i++)
		forget_home(&names->homes[i]);
	sqlite3_close(names->json);
	buf_free(&names->text);
	buf_free(&names->path);
	free(names);
}
