/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/cgroup_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Digits shown of ids, as in the managers' own lists. */
#define CONTAINER_DIGITS 12
#define POD_DIGITS 8

/* Paths of more components are shown unchanged. */
#define PARTS_MAX 64

/* Any pod, as a row's parent. */
#define IN_POD "*"

/* The kernel's suffix for the path of a removed group. */
#define DELETED " (deleted)"

/* Kinds of text between a row's prefix and suffix. */
enum middle {
	NOTHING,
	ANYTHING, /* at least one byte */
	NUMBER, /* decimal */
	ID, /* 64 digits of lower-case hex: a container */
	UID, /* a pod: 32 hex digits, perhaps with 4 hyphens (in slices underscores) */
	NUMBERED, /* a number, an escaped hyphen, and the name shown */
	STARTED, /* the name shown, and the number or uuid of one start */
};

/* How to show a component. */
enum show {
	STRUCTURE, /* hidden before a known component, else unchanged */
	UNIT, /* unchanged but unescaped */
	SLICE, /* as UNIT, but hidden before a known component */
	OWNER, /* without its suffix if others follow */
	MIDDLE, /* label and unescaped middle */
	POD, /* label and the first digits of the middle */
	CONTAINER, /* as POD; in a pod with another label */
};

struct name_row {
	const char *parent; /* the preceding component, or IN_POD; NULL: any */
	const char *prefix;
	enum middle middle;
	const char *suffix;
	enum show show;
	const char *label;
	const char *in_pod; /* label of a container in a pod */
	const struct name_place *places; /* where to find its name; NULL: nowhere else */
};

/* JSON queries, as in struct name_place. */
#define OF(at, key) "json_extract(?1, '$." at ".\"" key "\"')"
#define QUERY(at, namespace, pod, container) \
	"SELECT " OF(at, namespace) ", " OF(at, pod) ", " container
#define QUERY_DOCKER \
	QUERY("Config.Labels", "io.kubernetes.pod.namespace", "io.kubernetes.pod.name", \
	      "coalesce(" OF("Config.Labels", \
			     "io.kubernetes.container.name") ", json_extract(?1, '$.Name'))")
#define QUERY_CONTAINERD \
	QUERY("annotations", "io.kubernetes.cri.sandbox-namespace", \
	      "io.kubernetes.cri.sandbox-name", \
	      OF("annotations", "io.kubernetes.cri.container-name"))
#define QUERY_CRIO \
	QUERY("annotations", "io.kubernetes.pod.namespace", "io.kubernetes.pod.name", \
	      OF("annotations", "io.kubernetes.container.name"))
#define QUERY_NERDCTL "SELECT NULL, NULL, " OF("annotations", "nerdctl/name")
#define QUERY_PODMAN \
	"SELECT NULL, NULL, json_extract(value, '$.names[0]') FROM json_each(?1)" \
	" WHERE json_extract(value, '$.id') = ?2"

#define CONTAINERD "run/containerd/io.containerd.runtime.v2.task/"
#define DOCKER \
	{ \
		PLACE_JSON, "var/lib/docker/containers/*/config.v2.json", QUERY_DOCKER \
	}
#define CRIO \
	{ \
		PLACE_JSON, "run/containers/storage/overlay-containers/*/userdata/config.json", \
			QUERY_CRIO \
	}
#define CRI \
	{ \
		PLACE_JSON, CONTAINERD "k8s.io/*/config.json", QUERY_CONTAINERD \
	}

/* The kubelet's links to logs of containers, and its folders of the pods' logs. */
#define KUBELET \
	{ PLACE_LOGS, "var/log/containers", NULL }, \
	{ \
		PLACE_PODS, "var/log/pods", NULL \
	}
#define END \
	{ \
		PLACE_END, NULL, NULL \
	}

/* Where each runtime stores names, in the order of the search. */
static const struct name_place docker[] = { DOCKER, KUBELET, END };
static const struct name_place podman[] = {
	{ PLACE_JSON, "var/lib/containers/storage/overlay-containers/containers.json",
	  QUERY_PODMAN },
	{ PLACE_HOME, ".local/share/containers/storage/overlay-containers/containers.json",
	  "SELECT json_extract(value, '$.id'), json_extract(value, '$.names[0]')"
	  " FROM json_each(?1)" },
	END,
};
static const struct name_place containerd[] = { CRI, KUBELET, END };
static const struct name_place crio[] = { CRIO, KUBELET, END };
static const struct name_place nerdctl[] = {
	{ PLACE_JSON, CONTAINERD "default/*/config.json", QUERY_NERDCTL },
	END,
};
static const struct name_place pods[] = { { PLACE_PODS, "var/log/pods", NULL }, END };
static const struct name_place of_pod[] = { CRI, CRIO, DOCKER, KUBELET, END };

/* The first matching row counts. */
static const struct name_row rows[] = {
	/* Docker, with the drivers systemd and cgroupfs. */
	{ NULL, "docker-", ID, ".scope", CONTAINER, "docker:", "", docker },
	{ "docker", "", ID, "", CONTAINER, "docker:", "docker:", docker },
	{ NULL, "docker", NOTHING, "", STRUCTURE, NULL, NULL, NULL },
	/* Podman: the container and its monitor. */
	{ NULL, "libpod-conmon-", ID, ".scope", CONTAINER,
	  "podman-conmon:", "podman-conmon:", podman },
	{ NULL, "libpod-conmon-", ID, "", CONTAINER, "podman-conmon:", "podman-conmon:", podman },
	{ NULL, "libpod-", ID, ".scope", CONTAINER, "podman:", "", podman },
	{ NULL, "libpod-", ID, "", CONTAINER, "podman:", "", podman },
	{ NULL, "libpod_parent", NOTHING, "", STRUCTURE, NULL, NULL, NULL },
	/* Container runtimes of Kubernetes. */
	{ NULL, "cri-containerd-", ID, ".scope", CONTAINER, "containerd:", "", containerd },
	{ NULL, "crio-conmon-", ID, ".scope", CONTAINER, "crio-conmon:", "crio-conmon:", crio },
	{ NULL, "crio-conmon-", ID, "", CONTAINER, "crio-conmon:", "crio-conmon:", crio },
	{ NULL, "crio-", ID, ".scope", CONTAINER, "crio:", "", crio },
	{ NULL, "crio-", ID, "", CONTAINER, "crio:", "", crio },
	/* Kubernetes' pods, in slices (guaranteed ones without a class) and plain directories. */
	{ NULL, "kubepods-burstable-pod", UID, ".slice", POD, "pod:", NULL, pods },
	{ NULL, "kubepods-besteffort-pod", UID, ".slice", POD, "pod:", NULL, pods },
	{ NULL, "kubepods-pod", UID, ".slice", POD, "pod:", NULL, pods },
	{ NULL, "pod", UID, "", POD, "pod:", NULL, pods },
	{ IN_POD, "", ID, "", CONTAINER, "", "", of_pod },
	{ NULL, "kubepods", NOTHING, "", STRUCTURE, NULL, NULL, NULL },
	{ "kubepods", "burstable", NOTHING, "", STRUCTURE, NULL, NULL, NULL },
	{ "kubepods", "besteffort", NOTHING, "", STRUCTURE, NULL, NULL, NULL },
	/* nerdctl's containers. */
	{ NULL, "nerdctl-", ID, ".scope", CONTAINER, "nerdctl:", "", nerdctl },
	/* LXC since 4.0 and before. */
	{ NULL, "lxc.payload.", ANYTHING, "", MIDDLE, "lxc:", NULL, NULL },
	{ NULL, "lxc.monitor.", ANYTHING, "", MIDDLE, "lxc-monitor:", NULL, NULL },
	{ "lxc", "", ANYTHING, "", MIDDLE, "lxc:", NULL, NULL },
	{ NULL, "lxc", NOTHING, "", STRUCTURE, NULL, NULL, NULL },
	/* Guests of libvirt: "qemu", a number and the guest's name. */
	{ "machine.slice", "machine-qemu\\x2d", NUMBERED, ".scope", MIDDLE, "vm:", NULL, NULL },
	/* Machines that are registered with systemd. */
	{ "machine.slice", "machine-", ANYTHING, ".scope", MIDDLE, "machine:", NULL, NULL },
	{ "machine.slice", "systemd-nspawn@", ANYTHING, ".service", MIDDLE, "machine:", NULL,
	  NULL },
	/* Sandboxed applications: each start of one has a group. */
	{ NULL, "app-flatpak-", STARTED, ".scope", MIDDLE, "flatpak:", NULL, NULL },
	{ NULL, "snap.", STARTED, ".scope", MIDDLE, "snap:", NULL, NULL },
	/* Units of systemd; for a user's units the slice identifies the user. */
	{ "user.slice", "user-", NUMBER, ".slice", OWNER, NULL, NULL, NULL },
	{ NULL, "user@", NUMBER, ".service", SLICE, NULL, NULL, NULL },
	{ NULL, "", ANYTHING, ".slice", SLICE, NULL, NULL, NULL },
	{ NULL, "", ANYTHING, ".service", UNIT, NULL, NULL, NULL },
	{ NULL, "", ANYTHING, ".scope", UNIT, NULL, NULL, NULL },
	{ NULL, "", ANYTHING, ".socket", UNIT, NULL, NULL, NULL },
	{ NULL, "", ANYTHING, ".mount", UNIT, NULL, NULL, NULL },
	{ NULL, "", ANYTHING, ".swap", UNIT, NULL, NULL, NULL },
};

/* A component of a path. */
struct name_part {
	const char *text;
	size_t len;
	const struct name_row *row; /* NULL: an unknown component */
};

/* True if all bytes are in a set. */
static bool is_all(const char *text, size_t len, const char *set)
{
	for (size_t i = 0; i < len; i++)
		if (!text[i] || !strchr(set, text[i]))
			return false;
	return true;
}

/* True if the text is a pod's uid: 8-4-4-4-12 digits, or a digest of 32. */
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

/* systemd's escape of a hyphen in a name. */
#define HYPHEN "\\x2d"

/* The length of a number followed by a hyphen and something else; 0: there is none. */
static size_t after_number(const char *text, size_t len)
{
	size_t digits = 0, hyphen = strlen(HYPHEN);

	while (digits < len && is_all(text + digits, 1, "0123456789"))
		digits++;
	if (!digits || len <= digits + hyphen || memcmp(text + digits, HYPHEN, hyphen) != 0)
		return 0;
	return digits + hyphen;
}

/* The length of the text before a start's number or uuid; 0: there is none. */
static size_t before_start(const char *text, size_t len)
{
	size_t at = len;

	if (len > 37 && strchr(".-", text[len - 37]) && is_uid(text + len - 36, 36))
		return len - 37;
	while (at && is_all(text + at - 1, 1, "0123456789"))
		at--;
	return at > 1 && at < len && text[at - 1] == '-' ? at - 1 : 0;
}

/* True if a text is of that kind of middle. */
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
	case NUMBERED:
		return after_number(text, len) != 0;
	case STARTED:
		return before_start(text, len) != 0;
	}
	return false;
}

/* True if two texts are equal. */
static bool is_text(const char *text, size_t len, const char *other)
{
	return len == strlen(other) && !memcmp(text, other, len);
}

/* True if a component (NULL: none) is the parent that the row requires. */
static bool is_parent(const struct name_row *row, const struct name_part *parent)
{
	if (!row->parent)
		return true;
	if (!strcmp(row->parent, IN_POD))
		return parent && parent->row && parent->row->show == POD;
	return parent && is_text(parent->text, parent->len, row->parent);
}

/* True if a row matches a component after another (NULL: it is the first). */
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
 * Appends part of a unit's name, in which systemd escapes special characters as \xNN. Unescapes
 * only visible ones, and none that would look like the end of the name.
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

/* True if a component adds nothing to those after it. */
static bool is_hidden(const struct name_part *part, const struct name_part *end)
{
	const struct name_part *next = part + 1;

	return part->row && (part->row->show == STRUCTURE || part->row->show == SLICE) &&
	       next < end && next->row;
}

/* The text between a known component's prefix and suffix. */
static const char *middle_of(const struct name_part *part, size_t *len)
{
	size_t before = strlen(part->row->prefix);

	*len = part->len - before - strlen(part->row->suffix);
	return part->text + before;
}

/* Appends the displayed part of a component's middle. */
static void append_middle(struct buf *out, const struct name_part *part)
{
	size_t len;
	const char *text = middle_of(part, &len);
	size_t number = part->row->middle == NUMBERED ? after_number(text, len) : 0;

	buf_puts(out, part->row->label);
	if (part->row->middle == STARTED)
		len = before_start(text, len);
	append_unescaped(out, text + number, len - number);
}

/* A path being made readable. */
struct naming {
	struct name_part parts[PARTS_MAX];
	size_t n;
	size_t pod, container; /* the first of each; PARTS_MAX: none */
	struct container_name name; /* of that container, and its pod */
};

/* True if a component is shown as its row's kind says. */
static bool is_shown(const struct name_part *part, enum show show)
{
	return part->row && part->row->show == show;
}

/* Splits a path. Returns whether anything in it is known. */
static bool find_parts(struct naming *naming, const char *path, size_t len)
{
	bool known = false;

	naming->n = split(path, len, naming->parts);
	naming->pod = naming->container = PARTS_MAX;
	for (size_t i = naming->n; i-- > 0;) {
		known |= naming->parts[i].row && naming->parts[i].row->show != STRUCTURE;
		if (is_shown(&naming->parts[i], POD))
			naming->pod = i;
		else if (is_shown(&naming->parts[i], CONTAINER))
			naming->container = i;
	}
	return known;
}

/* The length of a path without the kernel's suffix for removed groups. */
static size_t path_length(const char *path)
{
	size_t len = strlen(path), tail = strlen(DELETED);

	return len > tail && !strcmp(path + len - tail, DELETED) ? len - tail : len;
}

/* True if the pod's own component adds nothing to the container after it. */
static bool is_reported_behind(const struct naming *naming, size_t i)
{
	return i == naming->pod && naming->name.pod && naming->container == i + 1;
}

/* Appends a container by its name, or by its id; alone: without its pod, shown elsewhere. */
static void append_container(struct buf *out, const struct naming *naming, size_t i, bool alone)
{
	const struct name_part *part = &naming->parts[i];
	bool first = i == naming->container, in_pod = i && is_shown(part - 1, POD);
	const char *pod = first ? naming->name.pod : NULL;
	const char *name = first ? naming->name.container : NULL;

	alone |= !pod;
	if (!alone)
		buf_printf(out, "%s (", pod);
	if (!pod || !name)
		buf_puts(out, in_pod ? part->row->in_pod : part->row->label);
	if (name)
		buf_puts(out, name);
	else
		buf_add(out, part->text + strlen(part->row->prefix), CONTAINER_DIGITS);
	if (!alone)
		buf_putc(out, ')');
}

/* Appends a component as it is shown; alone: without the preceding ones. */
static void append_part(struct buf *out, const struct naming *naming, size_t i, bool alone)
{
	const struct name_part *part = &naming->parts[i];
	const struct name_row *row = part->row;
	size_t behind = row ? strlen(row->suffix) : 0;

	switch (row ? row->show : STRUCTURE) {
	case STRUCTURE:
		buf_add(out, part->text, part->len);
		break;
	case OWNER:
		buf_add(out, part->text, part->len - (i + 1 < naming->n ? behind : 0));
		break;
	case UNIT:
	case SLICE:
		append_unescaped(out, part->text, part->len);
		break;
	case MIDDLE:
		append_middle(out, part);
		break;
	case POD:
		if (i == naming->pod && naming->name.pod) {
			buf_puts(out, naming->name.pod);
			break;
		}
		buf_puts(out, row->label);
		buf_add(out, part->text + strlen(row->prefix), POD_DIGITS);
		break;
	case CONTAINER:
		append_container(out, naming, i, alone);
		break;
	}
}

struct container_name cgroup_named(const char *path, const struct container_name *below)
{
	struct container_name name = { NULL, NULL };
	struct naming naming;

	find_parts(&naming, path, path_length(path));
	if (naming.container < PARTS_MAX)
		return *below;
	if (naming.pod < PARTS_MAX)
		name.pod = below->pod;
	return name;
}

void cgroup_name(const char *path, const struct container_name *name, bool alone, struct buf *out)
{
	size_t len = path_length(path);
	struct naming naming;
	bool any = false;

	if (!find_parts(&naming, path, len)) {
		const char *last = alone ? strrchr(path, '/') : NULL;

		buf_puts(out, last && last[1] ? last + 1 : path);
		return;
	}
	naming.name = name ? *name : (struct container_name){ NULL, NULL };
	for (size_t i = alone ? naming.n - 1 : 0; i < naming.n; i++) {
		if (!alone && (is_hidden(&naming.parts[i], naming.parts + naming.n) ||
			       is_reported_behind(&naming, i)))
			continue;
		if (any)
			buf_putc(out, '/');
		append_part(out, &naming, i, alone);
		any = true;
	}
	buf_puts(out, path + len);
}

bool cgroup_container(const char *path, struct container_key *out)
{
	struct naming naming;
	size_t i, len;

	*out = (struct container_key){ .owner = NO_OWNER };
	/* Most groups are no containers: their paths are short. */
	if (strlen(path) < 32 || !find_parts(&naming, path, path_length(path)))
		return false;
	/* The outermost: below it the user names groups. */
	for (i = 0; i < naming.n && out->owner == NO_OWNER; i++)
		if (is_shown(&naming.parts[i], OWNER))
			out->owner = (uid_t)strtoul(middle_of(&naming.parts[i], &len), NULL, 10);
	if (naming.pod < PARTS_MAX)
		out->uid = middle_of(&naming.parts[naming.pod], &out->uid_len);
	if (naming.container < PARTS_MAX)
		out->id = middle_of(&naming.parts[naming.container], &len);
	i = out->id ? naming.container : naming.pod;
	out->places = i < PARTS_MAX ? naming.parts[i].row->places : NULL;
	return out->places != NULL;
}
