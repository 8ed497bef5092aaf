/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/mounts.h"

#include <string.h>

#include "base/util.h"

/* The bits of a minor number (MINORBITS of include/linux/kdev_t.h). */
#define MINOR_BITS 20

/* Maximum length shown of a mount's source. */
#define SOURCE_BYTES 256

/* A line of mountinfo: which part of which device is mounted where, as written. */
struct device_mount {
	uint64_t id;
	uint32_t dev;
	struct span root, point;
};

/* Consumes the blank after a field. */
static bool take_blank(struct span *text)
{
	return take_word(text, " ");
}

/* Parses a line's first fields: id, parent, major:minor, root, mount point. */
static bool parse_device(struct span line, struct device_mount *mount)
{
	uint64_t parent, major, minor;

	if (!take_uint(&line, &mount->id) || !take_blank(&line) || !take_uint(&line, &parent) ||
	    !take_blank(&line) || !take_uint(&line, &major) || !take_word(&line, ":") ||
	    !take_uint(&line, &minor) || !take_blank(&line))
		return false;
	if (major >= 1 << (32 - MINOR_BITS) || minor >= 1 << MINOR_BITS)
		return false;
	mount->dev = (uint32_t)(major << MINOR_BITS | minor);
	return take_part(&line, ' ', &mount->root) && line.at < line.end &&
	       take_part(&line, ' ', &mount->point);
}

bool mount_device(struct span mountinfo, uint64_t id, uint32_t *dev)
{
	struct device_mount mount;
	struct span line;

	while (take_line(&mountinfo, &line)) {
		if (!parse_device(line, &mount) || mount.id != id)
			continue;
		*dev = mount.dev;
		return true;
	}
	return false;
}

/* The value of the three octal digits after a backslash, or -1. */
static int octal_of(const struct span *text)
{
	int value = 0;

	if (text->end - text->at < 4 || *text->at != '\\')
		return -1;
	for (int i = 1; i <= 3; i++) {
		if (text->at[i] < '0' || text->at[i] > '7')
			return -1;
		value = value * 8 + (text->at[i] - '0');
	}
	return value < 256 ? value : -1;
}

/* Takes a byte of a path, in which blanks, newlines and backslashes are escaped as \040. */
static char take_byte(struct span *text)
{
	int value = octal_of(text);

	if (value < 0)
		return *text->at++;
	text->at += 4;
	return (char)value;
}

/* True if a path is below the root of a mount; *rest is the text after it, "" or "/..." */
static bool is_below_mount(struct span root, const char *path, const char **rest)
{
	if (is_text(&root, "/")) {
		*rest = !strcmp(path, "/") ? "" : path;
		return true;
	}
	while (root.at < root.end)
		if (!*path || *path++ != take_byte(&root))
			return false;
	*rest = path;
	return !*path || *path == '/';
}

bool mount_path(struct span mountinfo, uint32_t dev, const char *path, struct buf *out)
{
	const char *rest = NULL, *behind;
	struct span point = { NULL, NULL };
	struct device_mount mount;
	struct span line;

	while (take_line(&mountinfo, &line)) {
		if (!parse_device(line, &mount) || mount.dev != dev ||
		    !is_below_mount(mount.root, path, &behind))
			continue;
		/* The shortest rest belongs to the nearest mount. */
		if (rest && strlen(behind) >= strlen(rest))
			continue;
		rest = behind;
		point = mount.point;
	}
	if (!rest)
		return false;
	if (!is_text(&point, "/") || !*rest)
		while (point.at < point.end)
			buf_putc(out, take_byte(&point));
	buf_puts(out, rest);
	return true;
}

/*
 * Parses what follows the mount point: the type of the file system, and its source. Optional fields
 * before these end with a hyphen.
 */
static bool parse_type(struct span line, struct span *type, struct span *source)
{
	struct span field;

	for (int i = 0; i < 6; i++)
		if (!take_part(&line, ' ', &field))
			return false;
	do {
		if (!take_part(&line, ' ', &field))
			return false;
	} while (!is_text(&field, "-"));
	return take_part(&line, ' ', type) && take_part(&line, ' ', source);
}

/* Finds the nearest mount above a path. False: none. */
static bool find_nearest(struct span mountinfo, const char *path, struct span *type,
			 struct span *source, uint32_t *dev)
{
	size_t nearest = SIZE_MAX;
	struct span line, found, from;
	struct device_mount mount;
	const char *rest;

	while (take_line(&mountinfo, &line)) {
		if (!parse_device(line, &mount) || !parse_type(line, &found, &from) ||
		    !is_below_mount(mount.point, path, &rest) || strlen(rest) > nearest)
			continue;
		/* Of mounts at one place the last one covers the others. */
		nearest = strlen(rest);
		*type = found;
		*source = from;
		*dev = mount.dev;
	}
	return nearest != SIZE_MAX;
}

bool mount_type(struct span mountinfo, const char *path, struct span *type)
{
	struct span source;
	uint32_t dev;

	return find_nearest(mountinfo, path, type, &source, &dev);
}

/* File systems served by another machine or process, and their usual names (NULL: the same). */
static const struct served {
	const char *type, *called;
} served[] = {
	{ "nfs", NULL },  { "nfs4", "nfs" },   { "cifs", NULL }, { "smb3", "cifs" },
	{ "9p", NULL },	  { "ceph", NULL },    { "afs", NULL },	 { "lustre", NULL },
	{ "fuse", NULL }, { "fuseblk", NULL }, { "gfs2", NULL }, { "virtiofs", NULL },
};

/* Appends the name of a type whose file systems have servers. False: they have none. */
static bool add_served(struct span type, struct buf *out)
{
	struct span rest = type;

	if (take_word(&rest, "fuse.")) {
		buf_add(out, type.at, (size_t)(type.end - type.at));
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(served); i++) {
		if (!is_text(&type, served[i].type))
			continue;
		buf_puts(out, served[i].called ? served[i].called : served[i].type);
		return true;
	}
	return false;
}

bool mount_server(struct span mountinfo, const char *path, struct buf *out, uint32_t *fuse)
{
	struct span type, source;
	uint32_t dev;

	*fuse = 0;
	if (!find_nearest(mountinfo, path, &type, &source, &dev) || !add_served(type, out))
		return false;
	/* Without a disk below it, its device is the connection (fuse_dev_show_fdinfo()). */
	if (take_word(&type, "fuse") && !(dev >> MINOR_BITS))
		*fuse = dev;
	buf_putc(out, ' ');
	for (size_t i = 0; i < SOURCE_BYTES && source.at < source.end; i++)
		buf_putc(out, take_byte(&source));
	return true;
}

/* True if a line ends with the options of a /proc that hides tasks. */
static bool is_hiding(struct span line)
{
	static const char *const options[] = { "hidepid=2", "hidepid=4", "hidepid=invisible",
					       "hidepid=ptraceable" };
	static const char type[] = " - proc ";
	const char *at = memmem(line.at, (size_t)(line.end - line.at), type, sizeof(type) - 1);
	struct span rest, option;

	if (!at)
		return false;
	rest = (struct span){ at + sizeof(type) - 1, line.end };
	take_part(&rest, ' ', &option);
	while (rest.at < rest.end && take_part(&rest, ',', &option))
		for (size_t i = 0; i < ARRAY_SIZE(options); i++)
			if (is_text(&option, options[i]))
				return true;
	return false;
}

bool mount_hides_tasks(struct span mountinfo, const char *place)
{
	struct device_mount mount;
	struct span line;
	bool hides = false;

	while (take_line(&mountinfo, &line))
		if (parse_device(line, &mount) && is_text(&mount.point, place))
			hides = is_hiding(line);
	return hides;
}
