/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cgroup/cgroup_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/util.h"

/* How many digits of ids are shown, as in the managers' own lists. */
#define CONTAINER_DIGITS 12
#define POD_DIGITS 8

/* A path of more components is shown as it is. */
#define PARTS_MAX 64

/* Any pod, as a row's parent. */
#define IN_POD "*"

/* The kernel's suffix for the path of a removed group. */
#define DELETED " (deleted)"

/* The kinds of text between a row's prefix and suffix. */
enum middle {
	NOTHING,
	ANYTHING, /* at least one byte */
	NUMBER, /* decimal */
	ID, /* 64 digits of lower-case hex: a container */
	UID, /* a pod: 32 hex digits, perhaps with 4 hyphens (in slices underscores) */
};

/* How a component is shown. */
enum show {
	STRUCTURE, /* hidden in front of a known component, else as it is */
	UNIT, /* as it is, unescaped */
	SLICE, /* as UNIT, but hidden in front of a known component */
	OWNER, /* without its suffix when in front of others */
	MIDDLE, /* label and unescaped middle */
	POD, /* label and the first digits of the middle */
	CONTAINER, /* the same as POD; in a pod with another label */
};

struct name_row {
	const char *parent; /* the component in front, or IN_POD; NULL: any */
	const char *prefix;
	enum middle middle;
	const char *suffix;
	enum show show;
	const char *label;
	const char *in_pod; /* label of a container in a pod */
};

/* The first row that fits a component counts. */
static const struct name_row rows[] = {
	/* Docker, with the drivers systemd and cgroupfs. */
	{ NULL, "docker-", ID, ".scope", CONTAINER, "docker:", "" },
	{ "docker", "", ID, "", CONTAINER, "docker:", "docker:" },
	{ NULL, "docker", NOTHING, "", STRUCTURE, NULL, NULL },
	/* Podman: the container and its monitor. */
	{ NULL, "libpod-conmon-", ID, ".scope", CONTAINER, "podman-conmon:", "podman-conmon:" },
	{ NULL, "libpod-conmon-", ID, "", CONTAINER, "podman-conmon:", "podman-conmon:" },
	{ NULL, "libpod-", ID, ".scope", CONTAINER, "podman:", "" },
	{ NULL, "libpod-", ID, "", CONTAINER, "podman:", "" },
	{ NULL, "libpod_parent", NOTHING, "", STRUCTURE, NULL, NULL },
	/* Container runtimes of Kubernetes. */
	{ NULL, "cri-containerd-", ID, ".scope", CONTAINER, "containerd:", "" },
	{ NULL, "crio-conmon-", ID, ".scope", CONTAINER, "crio-conmon:", "crio-conmon:" },
	{ NULL, "crio-conmon-", ID, "", CONTAINER, "crio-conmon:", "crio-conmon:" },
	{ NULL, "crio-", ID, ".scope", CONTAINER, "crio:", "" },
	{ NULL, "crio-", ID, "", CONTAINER, "crio:", "" },
	/* Kubernetes' pods, in slices (guaranteed ones without a class) and plain directories. */
	{ NULL, "kubepods-burstable-pod", UID, ".slice", POD, "pod:", NULL },
	{ NULL, "kubepods-besteffort-pod", UID, ".slice", POD, "pod:", NULL },
	{ NULL, "kubepods-pod", UID, ".slice", POD, "pod:", NULL },
	{ NULL, "pod", UID, "", POD, "pod:", NULL },
	{ IN_POD, "", ID, "", CONTAINER, "", "" },
	{ NULL, "kubepods", NOTHING, "", STRUCTURE, NULL, NULL },
	{ "kubepods", "burstable", NOTHING, "", STRUCTURE, NULL, NULL },
	{ "kubepods", "besteffort", NOTHING, "", STRUCTURE, NULL, NULL },
	/* LXC since 4.0 and before. */
	{ NULL, "lxc.payload.", ANYTHING, "", MIDDLE, "lxc:", NULL },
	{ NULL, "lxc.monitor.", ANYTHING, "", MIDDLE, "lxc-monitor:", NULL },
	{ "lxc", "", ANYTHING, "", MIDDLE, "lxc:", NULL },
	{ NULL, "lxc", NOTHING, "", STRUCTURE, NULL, NULL },
	/* Machines that are registered with systemd. */
	{ "machine.slice", "machine-", ANYTHING, ".scope", MIDDLE, "machine:", NULL },
	{ "machine.slice", "systemd-nspawn@", ANYTHING, ".service", MIDDLE, "machine:", NULL },
	/* Units of systemd; for a user's units the slice says whose they are. */
	{ "user.slice", "user-", NUMBER, ".slice", OWNER, NULL, NULL },
	{ NULL, "user@", NUMBER, ".service", SLICE, NULL, NULL },
	{ NULL, "", ANYTHING, ".slice", SLICE, NULL, NULL },
	{ NULL, "", ANYTHING, ".service", UNIT, NULL, NULL },
	{ NULL, "", ANYTHING, ".scope", UNIT, NULL, NULL },
	{ NULL, "", ANYTHING, ".socket", UNIT, NULL, NULL },
	{ NULL, "", ANYTHING, ".mount", UNIT, NULL, NULL },
	{ NULL, "", ANYTHING, ".swap", UNIT, NULL, NULL },
};

/* A component of a path. */
struct name_part {
	const char *text;
	size_t len;
	const struct name_row *row; /* NULL: the component is not known */
};

/* Whether all bytes are in a set. */
static bool is_all(const char *text, size_t len, const char *set)
{
	for (size_t i = 0; i < len; i++)
		if (!text[i] || !strchr(set, text[i]))
			return false;
	return true;
}

/* Whether the text is a pod's uid: 8-4-4-4-12 digits, or a digest of 32. */
static bool is_uid(const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (len == 32)
		return is_all(text, len, digits);
	if (len != 36)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;

		if (!is_all(text + i, 1, hyphen ? "-_" : digits))
			return false;
	}
	return true;
}

/* Whether a text is of that kind of middle. */
static bool is_middle(enum middle middle, const char *text, size_t len)
{
	switch (middle) {
	case NOTHING:
		return !len;
	case ANYTHING:
		return len > 0;
	case NUMBER:
		return len > 0 && is_all(text, len, "0123456789");
	case ID:
		return len == 64 && is_all(text, len, "0123456789abcdef");
	case UID:
		return is_uid(text, len);
	}
	return false;
}

/* Whether a text equals another. */
static bool is_text(const char *text, size_t len, const char *other)
{
	return len == strlen(other) && !memcmp(text, other, len);
}

/* Whether a component (NULL: none) is the parent that the row requires. */
static bool is_parent(const struct name_row *row, const struct name_part *parent)
{
	if (!row->parent)
		return true;
	if (!strcmp(row->parent, IN_POD))
		return parent && parent->row && parent->row->show == POD;
	return parent && is_text(parent->text, parent->len, row->parent);
}

/* Whether a row fits a component after another (NULL: it is the first). */
static bool fits(const struct name_row *row, const struct name_part *part,
		 const struct name_part *parent)
{
	size_t before = strlen(row->prefix), behind = strlen(row->suffix);

	if (!is_parent(row, parent))
		return false;
	return part->len >= before + behind && !memcmp(part->text, row->prefix, before) &&
	       !memcmp(part->text + part->len - behind, row->suffix, behind) &&
	       is_middle(row->middle, part->text + before, part->len - before - behind);
}

/* Splits a path and finds the rows. Returns the number of components; 0: it cannot be split. */
static size_t split(const char *path, size_t len, struct name_part *parts)
{
	const char *at = path, *end = path + len;
	size_t n = 0;

	while (at < end) {
		const char *slash = *at == '/' ? memchr(at + 1, '/', (size_t)(end - at - 1)) : NULL;
		struct name_part *part = &parts[n];

		if (*at != '/' || n == PARTS_MAX)
			return 0;
		*part = (struct name_part){ at + 1, (size_t)((slash ? slash : end) - at - 1),
					    NULL };
		if (!part->len)
			return 0;
		for (size_t i = 0; i < ARRAY_SIZE(rows) && !part->row; i++)
			if (fits(&rows[i], part, n ? part - 1 : NULL))
				part->row = &rows[i];
		at = part->text + part->len;
		n++;
	}
	return n;
}

/* The value of a hex digit, or -1. */
static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Appends part of a unit's name, in which systemd writes special characters as \xNN. Unescapes only
 * visible ones, and none that would look like the end of the name.
 */
static void append_unescaped(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = -1, low = -1, c;

		if (text[i] == '\\' && len - i >= 4 && text[i + 1] == 'x') {
			high = digit(text[i + 2]);
			low = digit(text[i + 3]);
		}
		c = high * 16 + low;
		if (high >= 0 && low >= 0 && c > ' ' && c < 127 && c != '/' && c != '\\') {
			buf_putc(out, (char)c);
			i += 3;
		} else {
			buf_putc(out, text[i]);
		}
	}
}

/* Whether a component adds nothing to those after it. */
static bool is_hidden(const struct name_part *part, const struct name_part *end)
{
	const struct name_part *next = part + 1;

	return part->row && (part->row->show == STRUCTURE || part->row->show == SLICE) &&
	       next < end && next->row;
}

/* Appends a component as it is shown. first: the path's first; end: after its last. */
static void append_part(struct buf *out, const struct name_part *part,
			const struct name_part *first, const struct name_part *end)
{
	const struct name_row *row = part->row;
	size_t before = row ? strlen(row->prefix) : 0, behind = row ? strlen(row->suffix) : 0;
	const char *middle = part->text + before;
	bool in_pod = part > first && part[-1].row && part[-1].row->show == POD;

	switch (row ? row->show : STRUCTURE) {
	case STRUCTURE:
		buf_add(out, part->text, part->len);
		break;
	case OWNER:
		buf_add(out, part->text, part->len - (part + 1 < end ? behind : 0));
		break;
	case UNIT:
	case SLICE:
		append_unescaped(out, part->text, part->len);
		break;
	case MIDDLE:
		buf_puts(out, row->label);
		append_unescaped(out, middle, part->len - before - behind);
		break;
	case POD:
		buf_puts(out, row->label);
		buf_add(out, middle, POD_DIGITS);
		break;
	case CONTAINER:
		buf_puts(out, in_pod ? row->in_pod : row->label);
		buf_add(out, middle, CONTAINER_DIGITS);
		break;
	}
}

void cgroup_name(const char *path, struct buf *out)
{
	size_t len = strlen(path), tail = strlen(DELETED), n;
	struct name_part parts[PARTS_MAX];
	bool known = false, any = false;

	if (len > tail && !strcmp(path + len - tail, DELETED))
		len -= tail;
	n = split(path, len, parts);
	for (size_t i = 0; i < n; i++)
		known |= parts[i].row && parts[i].row->show != STRUCTURE;
	if (!known) {
		buf_puts(out, path);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_hidden(&parts[i], parts + n))
			continue;
		if (any)
			buf_putc(out, '/');
		append_part(out, &parts[i], parts, parts + n);
		any = true;
	}
	buf_puts(out, path + len);
}
