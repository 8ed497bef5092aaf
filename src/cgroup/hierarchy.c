/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/hierarchy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"

/* One line per hierarchy: 12 of v1 and the unified one, each with a path of up to 4096. */
#define CGROUP_BYTES 65536

/* Maximum number of groups and levels counted in a hierarchy: more make no difference. */
#define GROUPS_MAX 4096
#define LEVELS_MAX 64

/* A line of /proc/PID/cgroup. */
struct mount_line {
	unsigned version;
	struct span name; /* v1 controllers and name, separated by commas */
	struct span path;
};

/* The hierarchies to choose from. */
struct choice {
	struct buf lines; /* own /proc/PID/cgroup */
	struct buf mounts; /* own mountinfo; empty if unreadable */
};

/* Splits a line. Names of v1 have no colon, paths may. */
static bool split_line(struct span text, struct mount_line *line)
{
	struct span number;

	if (!take_part(&text, ':', &number) || !take_part(&text, ':', &line->name) ||
	    text.at == text.end || *text.at != '/')
		return false;
	line->path = text;
	line->version = is_text(&number, "0") && is_text(&line->name, "") ? 2 : 1;
	return line->version == 2 || !is_text(&line->name, "");
}

/* Takes the next line that is complete and valid. False at the end. */
static bool next_mount(struct span *text, struct mount_line *line)
{
	struct span one;

	while (take_line(text, &one))
		/* A line without a newline was cut. */
		if (one.end < text->end && split_line(one, line))
			return true;
	return false;
}

/* True if a comma-separated list contains a part. */
static bool has_part(struct span list, struct span wanted)
{
	size_t len = (size_t)(wanted.end - wanted.at);
	struct span part;

	while (take_part(&list, ',', &part))
		if ((size_t)(part.end - part.at) == len && !memcmp(part.at, wanted.at, len))
			return true;
	return false;
}

/* True if the wanted name is a v1 line's whole name or one of its parts. */
static bool is_hierarchy_named(const struct mount_line *line, const char *wanted)
{
	struct span name = { wanted, wanted + strlen(wanted) };

	return is_text(&line->name, wanted) || has_part(line->name, name);
}

/* True if the line belongs to the hierarchy with the wanted name. */
static bool is_wanted_mount(const struct mount_line *line, const char *wanted)
{
	return line->version == 2 ? !strcmp(wanted, HIERARCHY_V2)
				  : is_hierarchy_named(line, wanted);
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

/* The value of an octal escape (a backslash and three digits), or -1. */
static int octal(const char *at, const char *end)
{
	int value = 0;

	if (end - at < 4 || *at != '\\')
		return -1;
	for (int i = 1; i < 4; i++) {
		if (at[i] < '0' || at[i] > '7')
			return -1;
		value = value * 8 + (at[i] - '0');
	}
	return value > 0 && value <= UINT8_MAX ? value : -1;
}

/* Appends a word unescaped (fs/seq_file.c:mangle_path()). */
static void append_mangled(struct buf *out, struct span word)
{
	for (const char *at = word.at; at < word.end; at++) {
		int value = octal(at, word.end);

		buf_putc(out, value < 0 ? *at : (char)value);
		if (value >= 0)
			at += 3;
	}
}

/* True if the options of a v1 mount include all parts of the hierarchy's name. */
static bool has_all(struct span options, const char *name)
{
	struct span rest = { name, name + strlen(name) }, part;
	bool found = false;

	while (take_part(&rest, ',', &part)) {
		found = has_part(options, part);
		if (!found)
			break;
	}
	return found;
}

/* A line of mountinfo: which directory of a file system is mounted where. */
struct mount {
	struct span root, point;
};

/* True if a line is a mount of the hierarchy; then also reads what is mounted where. */
static bool parse_mount(struct span line, const char *hierarchy, struct mount *mount)
{
	struct span word, type, options;

	/* Ids of the mount, its parent and the device. */
	for (int i = 0; i < 3; i++)
		if (!take_part(&line, ' ', &word))
			return false;
	if (!take_part(&line, ' ', &mount->root) || !take_part(&line, ' ', &mount->point))
		return false;
	/* The mount's own options and any number of optional fields, up to a hyphen. */
	do {
		if (!take_part(&line, ' ', &word))
			return false;
	} while (!is_text(&word, "-"));
	if (!take_part(&line, ' ', &type) || !take_part(&line, ' ', &word) ||
	    !take_part(&line, ' ', &options))
		return false;
	if (!hierarchy)
		return is_text(&type, "cgroup2");
	return is_text(&type, "cgroup") && has_all(options, hierarchy);
}

int hierarchy_mount(const char *text, size_t len, const char *hierarchy, struct buf *group,
		    struct buf *path)
{
	struct span rest = { text, text + len }, line;
	struct mount mount, best = { .root = { 0 } };

	while ((!best.root.at || !is_text(&best.root, "/")) && take_line(&rest, &line))
		if (parse_mount(line, hierarchy, &mount) &&
		    (!best.root.at || is_text(&mount.root, "/")))
			best = mount;
	if (!best.root.at)
		return -ENOENT;
	append_mangled(group, best.root);
	append_mangled(path, best.point);
	return 0;
}

/* Appends the text of mountinfo. 0 or -errno. */
static int read_mounts(int procfd, struct buf *text)
{
	return file_read_all(procfd, "self/mountinfo", text, SIZE_MAX);
}

int hierarchy_mounted(int procfd, const char *hierarchy, struct buf *path)
{
	struct buf text = { 0 }, group = { 0 }, point = { 0 };
	int err = read_mounts(procfd, &text);

	if (!err)
		err = hierarchy_mount(text.data, text.len, hierarchy, &group, &point);
	if (!err && strcmp(buf_cstr(&group), "/") != 0)
		err = -ENOENT;
	if (!err)
		buf_add(path, point.data, point.len);
	buf_free(&text);
	buf_free(&group);
	buf_free(&point);
	return err;
}

/* Reads the hierarchies to choose from. 0 or -errno. */
static int read_choice(struct choice *choice, int procfd)
{
	int got;

	*choice = (struct choice){ 0 };
	got = file_read(procfd, "self/cgroup", buf_reserve(&choice->lines, CGROUP_BYTES),
			CGROUP_BYTES);
	if (got < 0)
		return got;
	choice->lines.len = (size_t)got;
	/* Without mountinfo, tasks still have their groups. */
	if (read_mounts(procfd, &choice->mounts))
		choice->mounts.len = 0;
	return 0;
}

/* Frees the texts of a choice. */
static void free_choice(struct choice *choice)
{
	buf_free(&choice->lines);
	buf_free(&choice->mounts);
}

/* Appends the name of a line's hierarchy. */
static void append_hierarchy_name(struct buf *out, const struct mount_line *line)
{
	if (line->version == 2)
		buf_puts(out, HIERARCHY_V2);
	else
		buf_add(out, line->name.at, (size_t)(line->name.end - line->name.at));
}

/* The text with one line per hierarchy. */
static struct span lines_of(const struct choice *choice)
{
	return (struct span){ choice->lines.data, choice->lines.data + choice->lines.len };
}

/* Opens the hierarchy of a line, with its directory if it has one. */
static void open_line(struct hierarchy *out, const struct choice *choice,
		      const struct mount_line *line)
{
	struct buf name = { 0 }, group = { 0 }, mount = { 0 };

	append_hierarchy_name(&name, line);
	*out = (struct hierarchy){ .version = line->version,
				   .name = xstrdup(buf_cstr(&name)),
				   .fd = -1 };
	if (!hierarchy_mount(choice->mounts.data, choice->mounts.len,
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

/* Opens a directory below another to list it; NULL if that fails. */
static DIR *open_dir(int parent, const char *name)
{
	int fd = file_open(parent, name, O_DIRECTORY | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Reads the next directory in a directory; NULL at the end. */
static const struct dirent *next_dir(DIR *dir)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			return entry;
	return NULL;
}

/* True if there are tasks in a v2 group or below it. The real root has no such file. */
static bool is_populated(int parent, const char *name)
{
	char text[CGROUP_TEXT_BYTES];
	uint64_t populated = 0;
	struct buf path = { 0 };
	int len;

	buf_printf(&path, "%s/cgroup.events", name);
	len = file_read(parent, buf_cstr(&path), text, sizeof(text));
	buf_free(&path);
	return len > 0 && cgroup_number(text, (size_t)len, "populated", &populated) && populated;
}

/* True if the v2 hierarchy has tasks outside its root, as far as visible to us. */
static bool is_used(const struct hierarchy *v2, const struct mount_line *own)
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

/* Counts the groups below a directory, up to a total number and a number of levels. */
static void count_groups(int parent, const char *name, unsigned level, size_t *n)
{
	const struct dirent *entry;
	struct stat info;
	DIR *dir;

	/* A directory's links are its own, its parent's, and one for each directory in it. */
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

/* Opens the v1 hierarchy with the most groups. False if none has any. */
static bool open_fullest(struct hierarchy *out, const struct choice *choice)
{
	struct span rest = lines_of(choice);
	size_t most = 0;
	struct mount_line line;

	while (next_mount(&rest, &line)) {
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

/* Finds the line of the wanted hierarchy, or of any if wanted is NULL. */
static bool find_wanted(const struct choice *choice, const char *wanted, struct mount_line *line)
{
	struct span rest = lines_of(choice);

	while (next_mount(&rest, line))
		if (!wanted || is_wanted_mount(line, wanted))
			return true;
	return false;
}

/* Chooses a hierarchy if none is wanted by name. 0 or -ENOENT. */
static int choose_hierarchy(struct hierarchy *out, const struct choice *choice)
{
	struct hierarchy fullest = { .fd = -1 };
	struct mount_line line;
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
	struct mount_line line;
	int err = read_choice(&choice, procfd);

	*out = (struct hierarchy){ .fd = -1 };
	if (!err && !wanted)
		err = choose_hierarchy(out, &choice);
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
	struct mount_line line;

	while (!err && next_mount(&rest, &line)) {
		buf_puts(out, comma);
		append_hierarchy_name(out, &line);
		comma = ", ";
	}
	free_choice(&choice);
	return err;
}

/* True if a line's hierarchy is mounted. */
static bool is_mounted(const struct choice *choice, const struct mount_line *line)
{
	struct buf name = { 0 }, group = { 0 }, path = { 0 };
	bool mounted;

	append_hierarchy_name(&name, line);
	mounted = !hierarchy_mount(choice->mounts.data, choice->mounts.len,
				   line->version == 2 ? NULL : buf_cstr(&name), &group, &path);
	buf_free(&name);
	buf_free(&group);
	buf_free(&path);
	return mounted;
}

int hierarchy_after(int procfd, const char *name, struct buf *out)
{
	struct mount_line line, first = { .version = 0 }, next = { .version = 0 };
	struct choice choice;
	bool behind = false;
	int err = read_choice(&choice, procfd);
	struct span rest = lines_of(&choice);

	while (!err && !next.version && next_mount(&rest, &line)) {
		bool named = is_wanted_mount(&line, name);

		if (!named && behind && is_mounted(&choice, &line))
			next = line;
		else if (!named && !first.version && is_mounted(&choice, &line))
			first = line;
		behind |= named;
	}
	if (!next.version)
		next = first;
	if (next.version)
		append_hierarchy_name(out, &next);
	free_choice(&choice);
	return err ? err : next.version ? 0 : -ENOENT;
}

int hierarchy_path(const struct hierarchy *hierarchy, const char *text, size_t len, struct buf *out)
{
	struct span rest = { text, text + len };
	bool any = false;
	struct mount_line line;

	while (next_mount(&rest, &line)) {
		any = true;
		if (line.version != hierarchy->version)
			continue;
		if (line.version == 1 && !is_hierarchy_named(&line, hierarchy->name))
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
	/* Every path is below "/": its length counts as 0, as the slash is matched next. */
	len = strcmp(group, "/") ? strlen(group) : 0;
	if (strncmp(path, group, len) != 0 || (path[len] != '/' && path[len]))
		return NULL;
	path += len;
	if (!*path || !strcmp(path, "/"))
		return ".";
	return cgroup_is_below(path + 1) ? path + 1 : NULL;
}

int hierarchy_type(const struct hierarchy *hierarchy, const char *below)
{
	static const char domain[] = "domain\n", above[] = "domain threaded\n";
	char text[CGROUP_TEXT_BYTES];
	struct buf path = { 0 };
	int len;

	buf_printf(&path, "%s/cgroup.type", below);
	len = file_read(hierarchy->fd, buf_cstr(&path), text, sizeof(text));
	buf_free(&path);
	if (len < 0)
		return len;
	if ((size_t)len == strlen(domain) && !memcmp(text, domain, strlen(domain)))
		return HIERARCHY_DOMAIN;
	return (size_t)len == strlen(above) && !memcmp(text, above, strlen(above))
		       ? HIERARCHY_DOMAIN_THREADED
		       : HIERARCHY_THREADED;
}
