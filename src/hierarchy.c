/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "hierarchy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "mounts.h"
#include "util.h"

/* A line a hierarchy: 12 of v1 and the unified one, with a path of up to 4096 each. */
#define CGROUP_BYTES 65536

/* Groups that are counted in a hierarchy, and levels: whoever has more has many. */
#define GROUPS_MAX 4096
#define LEVELS_MAX 64

/* A line of /proc/PID/cgroup. */
struct line {
	unsigned version;
	struct span name; /* of v1 controllers and name, with commas between */
	struct span path;
};

/* What there is to choose from. */
struct choice {
	struct buf lines;  /* own /proc/PID/cgroup */
	struct buf mounts; /* own mountinfo; empty where it cannot be read */
};

/* Takes a line apart. Names of v1 have no colon, paths may. */
static bool split_line(struct span text, struct line *line)
{
	struct span number;

	if (!take_part(&text, ':', &number) || !take_part(&text, ':', &line->name) ||
	    text.at == text.end || *text.at != '/')
		return false;
	line->path = text;
	line->version = is_text(&number, "0") && is_text(&line->name, "") ? 2 : 1;
	return line->version == 2 || !is_text(&line->name, "");
}

/* Takes the next whole line that is one. False at the end. */
static bool next_line(struct span *text, struct line *line)
{
	struct span one;

	while (take_line(text, &one))
		/* A line that does not end was cut. */
		if (one.end < text->end && split_line(one, line))
			return true;
	return false;
}

/* Whether one of the names that a list has between its commas is that. */
static bool has_name(struct span list, const char *name)
{
	struct span one;

	while (take_part(&list, ',', &one))
		if (is_text(&one, name))
			return true;
	return false;
}

/* Whether one of a v1 line's names, or all of them, are what is wanted. */
static bool is_named(const struct line *line, const char *wanted)
{
	return is_text(&line->name, wanted) || has_name(line->name, wanted);
}

/* Whether that is the line of the hierarchy that is wanted by name. */
static bool is_wanted(const struct line *line, const char *wanted)
{
	return line->version == 2 ? !strcmp(wanted, HIERARCHY_V2) : is_named(line, wanted);
}

bool cgroup_number(const char *text, size_t len, const char *key, uint64_t *value)
{
	struct span line;
	uint64_t number;

	if (!find_line((struct span){ text, text + len }, key, &line) || line.at[-1] != ' ' ||
	    !take_uint(&line, &number) || line.at != line.end)
		return false;
	*value = number;
	return true;
}

bool cgroup_is_below(const char *path)
{
	for (;;) {
		size_t len = strcspn(path, "/");

		if (!len || (len == 1 && *path == '.') || (len == 2 && !memcmp(path, "..", 2)))
			return false;
		if (!path[len])
			return true;
		path += len + 1;
	}
}

/* Reads what there is to choose from. 0 or -errno. */
static int read_choice(struct choice *choice, int procfd)
{
	int got;

	*choice = (struct choice){ 0 };
	got = file_read(procfd, "self/cgroup", buf_reserve(&choice->lines, CGROUP_BYTES),
			CGROUP_BYTES);
	if (got < 0)
		return got;
	choice->lines.len = (size_t)got;
	/* Without it tasks have their groups all the same. */
	if (mounts_read(procfd, &choice->mounts))
		choice->mounts.len = 0;
	return 0;
}

/* Frees what there was to choose from. */
static void free_choice(struct choice *choice)
{
	buf_free(&choice->lines);
	buf_free(&choice->mounts);
}

/* Appends what the hierarchy of a line is called. */
static void append_name(struct buf *out, const struct line *line)
{
	if (line->version == 2)
		buf_puts(out, HIERARCHY_V2);
	else
		buf_add(out, line->name.at, (size_t)(line->name.end - line->name.at));
}

/* The text that has a line a hierarchy. */
static struct span lines_of(const struct choice *choice)
{
	return (struct span){ choice->lines.data, choice->lines.data + choice->lines.len };
}

/* Opens the hierarchy of a line, with its directory if it has one. */
static void open_line(struct hierarchy *out, const struct choice *choice, const struct line *line)
{
	struct buf name = { 0 }, group = { 0 }, mount = { 0 };

	append_name(&name, line);
	*out = (struct hierarchy){ .version = line->version, .name = xstrdup(buf_cstr(&name)),
				   .fd = -1 };
	if (!mounts_parse_part(choice->mounts.data, choice->mounts.len,
			       line->version == 2 ? NULL : out->name, &group, &mount))
		out->fd = open(buf_cstr(&mount), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out->fd >= 0) {
		out->mount = xstrdup(buf_cstr(&mount));
		out->group = xstrdup(buf_cstr(&group));
	}
	buf_free(&name);
	buf_free(&group);
	buf_free(&mount);
}

void hierarchy_close(struct hierarchy *hierarchy)
{
	if (hierarchy->mount)
		close(hierarchy->fd);
	free(hierarchy->name);
	free(hierarchy->mount);
	free(hierarchy->group);
	*hierarchy = (struct hierarchy){ .fd = -1 };
}

/* The directory below another, for reading its names; NULL where it cannot be. */
static DIR *open_dir(int parent, const char *name)
{
	int fd = file_open(parent, name, O_DIRECTORY | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* The next directory in a directory; NULL at the end. */
static const struct dirent *next_dir(DIR *dir)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			return entry;
	return NULL;
}

/* Whether there are tasks in a v2 group or below it. The real root has no such file. */
static bool is_populated(int parent, const char *name)
{
	char text[CGROUP_TEXT_BYTES];
	uint64_t populated = 0;
	struct buf path = { 0 };
	int len;

	buf_printf(&path, "%s/cgroup.events", name);
	len = file_read(parent, buf_cstr(&path), text, sizeof(text));
	buf_free(&path);
	return len > 0 && cgroup_number(text, (size_t)len, "populated", &populated) &&
	       populated;
}

/* Whether the v2 hierarchy has tasks outside its root, as far as we see it. */
static bool is_used(const struct hierarchy *v2, const struct line *own)
{
	const struct dirent *entry;
	bool used = !is_text(&own->path, "/");
	unsigned n = 0;
	DIR *dir;

	if (used || v2->fd < 0)
		return used;
	if (strcmp(v2->group, "/") != 0 && is_populated(v2->fd, "."))
		return true;
	dir = open_dir(v2->fd, ".");
	while (dir && !used && n++ < GROUPS_MAX && (entry = next_dir(dir)))
		used = is_populated(v2->fd, entry->d_name);
	if (dir)
		closedir(dir);
	return used;
}

/* Counts the groups below a directory, up to a number in all and down to some levels. */
static void count_groups(int parent, const char *name, unsigned level, size_t *n)
{
	const struct dirent *entry;
	struct stat info;
	DIR *dir;

	/* A directory's links are itself and its parent's, and one of each directory in it. */
	if (level > LEVELS_MAX || fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) ||
	    info.st_nlink == 2)
		return;
	dir = open_dir(parent, name);
	if (!dir)
		return;
	while (*n < GROUPS_MAX && (entry = next_dir(dir))) {
		++*n;
		count_groups(dirfd(dir), entry->d_name, level + 1, n);
	}
	closedir(dir);
}

/* Opens the v1 hierarchy with the most groups. False when none has any. */
static bool open_fullest(struct hierarchy *out, const struct choice *choice)
{
	struct span rest = lines_of(choice);
	size_t most = 0;
	struct line line;

	while (next_line(&rest, &line)) {
		struct hierarchy one;
		size_t n = 0;

		if (line.version == 2)
			continue;
		open_line(&one, choice, &line);
		if (one.fd >= 0)
			count_groups(one.fd, ".", 0, &n);
		debug_log("cgroup hierarchy %s: %zu groups", one.name, n);
		if (n > most) {
			hierarchy_close(out);
			*out = one;
			most = n;
		} else {
			hierarchy_close(&one);
		}
	}
	return most > 0;
}

/* Finds the line of a hierarchy, of any where wanted is NULL. */
static bool find_wanted(const struct choice *choice, const char *wanted, struct line *line)
{
	struct span rest = lines_of(choice);

	while (next_line(&rest, line))
		if (!wanted || is_wanted(line, wanted))
			return true;
	return false;
}

/* Chooses, where nothing is wanted. 0 or -ENOENT. */
static int choose(struct hierarchy *out, const struct choice *choice)
{
	struct hierarchy fullest = { .fd = -1 };
	struct line line;
	bool used = false;

	if (find_wanted(choice, HIERARCHY_V2, &line)) {
		open_line(out, choice, &line);
		used = is_used(out, &line);
	} else if (find_wanted(choice, NULL, &line)) {
		open_line(out, choice, &line);
	} else {
		return -ENOENT;
	}
	if (!used && open_fullest(&fullest, choice)) {
		hierarchy_close(out);
		*out = fullest;
	}
	return 0;
}

int hierarchy_open(struct hierarchy *out, int procfd, const char *wanted)
{
	struct choice choice;
	struct line line;
	int err = read_choice(&choice, procfd);

	*out = (struct hierarchy){ .fd = -1 };
	if (!err && !wanted)
		err = choose(out, &choice);
	else if (!err && find_wanted(&choice, wanted, &line))
		open_line(out, &choice, &line);
	else if (!err)
		err = -EINVAL;
	free_choice(&choice);
	if (!err)
		debug_log("cgroup hierarchy %s at %s", out->name, out->mount ? out->mount : "-");
	return err;
}

int hierarchy_names(int procfd, struct buf *out)
{
	struct choice choice;
	int err = read_choice(&choice, procfd);
	struct span rest = lines_of(&choice);
	const char *comma = "";
	struct line line;

	while (!err && next_line(&rest, &line)) {
		buf_puts(out, comma);
		append_name(out, &line);
		comma = ", ";
	}
	free_choice(&choice);
	return err;
}

void hierarchy_label(const struct hierarchy *hierarchy, struct buf *out)
{
	if (hierarchy->version == 1)
		buf_puts(out, "v1 ");
	buf_puts(out, hierarchy->name);
}

int hierarchy_path(const struct hierarchy *hierarchy, const char *text, size_t len,
		   struct buf *out)
{
	struct span rest = { text, text + len };
	bool any = false;
	struct line line;

	while (next_line(&rest, &line)) {
		any = true;
		if (line.version != hierarchy->version)
			continue;
		if (line.version == 1 && !is_named(&line, hierarchy->name))
			continue;
		buf_add(out, line.path.at, (size_t)(line.path.end - line.path.at));
		return 0;
	}
	return any ? -ENOENT : -EBADMSG;
}

const char *hierarchy_below(const struct hierarchy *hierarchy, const char *path)
{
	const char *group = hierarchy->group;
	size_t len;

	if (!group || *path != '/')
		return NULL;
	/* "/" is in front of all there is, as "" is with the slash that follows. */
	len = strcmp(group, "/") ? strlen(group) : 0;
	if (strncmp(path, group, len) != 0 || (path[len] != '/' && path[len]))
		return NULL;
	path += len;
	if (!*path || !strcmp(path, "/"))
		return ".";
	return cgroup_is_below(path + 1) ? path + 1 : NULL;
}
