/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown and how: set by options, changed by the screen's keys. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/util.h"
#include "frame/group.h"
#include "view/column.h"
#include "view/query.h"
#include "view/theme.h"

/* Presets: fields, a sort column and a filter under a name, for frequent questions. */

/* How a preset was left, including changes by keys. */
struct preset_changes {
	bool known;
	char *fields;
	bool own_fields;
	const struct column *sort;
	bool descending;
};

struct preset {
	char *name;
	char *fields; /* as for -F, but unknown ids are left out; NULL: the default */
	char *room; /* ids of fields that are dropped without room, in this order */
	const struct column *sort;
	bool descending;
	bool hangs; /* only hung rows: struct query */
	int unit, group_by; /* enum unit, enum group_by; -1: unchanged */
	char *help; /* one line; NULL: none */
	struct preset_changes left;
};

/* Maximum number of presets. */
#define PRESETS_MAX 64

/* All presets, the default view first. Empty when zero-initialised: see presets_ready(). */
struct presets {
	struct preset *list;
	size_t n;
	size_t now; /* the one that is shown */
	/* The settings that it replaced. */
	enum unit unit_before;
	enum group_by group_before;
};

/* Fills in the built-in presets. Harmless if already done. */
void presets_ready(struct presets *presets);

/* The preset of that name, or NULL. */
struct preset *presets_find(const struct presets *presets, const char *name);

/* Appends a preset as a text for presets_add(). */
void preset_append(const struct preset *preset, struct buf *out);

/*
 * Adds a preset, or replaces the one of its name: "NAME: fields=ID,ID, sort=-ID, filter=hangs,
 * unit=UNIT, group=WHAT, room=ID,ID". False, with the valid syntax appended to `why`, if it is
 * invalid.
 */
bool presets_add(struct presets *presets, const char *text, struct buf *why);

void presets_free(struct presets *presets);

/* The interval's limits in seconds. */
#define INTERVAL_MIN 0.05
#define INTERVAL_MAX 86400
#define INTERVAL_RANGE "0.05 to 86400"

/*
 * Maximum first interval, so that figures appear soon: on the screen, and of pressure (--when),
 * which may be short.
 */
#define FIRST_INTERVAL_NS (500 * NSEC_PER_MSEC)

/* The settings of a table of sites. */
struct site_choice {
	char *fields; /* a checked list as for --site-fields; NULL: the default */
	const struct column *sort; /* NULL: the default, by time */
	bool descending;
};

struct view_config {
	uint64_t interval_ns;
	uint64_t iterations; /* number of samples; 0: endless */
	struct query query;
	char *fields; /* a checked list as for -F; NULL: the default */
	enum unit unit;
	bool no_mouse; /* the mouse is left to the terminal */
	bool booked;
	struct site_choice sites;
	enum group_by group_by;
	/* Members for the screen: */
	bool command_line; /* in place of the name */
	bool names; /* no command lines, even if they would fit */
	bool tree;
	bool all_idle; /* rows of idle tasks are not folded */
	bool fold_header; /* shrinks the header to one line */
	struct presets presets;
	struct theme_choice theme;
	bool own_fields; /* the fields are the preset's own, not chosen: some may be dropped */
};

/* The result of writing to the configuration. */
enum configuration_saved {
	CONFIGURATION_SAVED,
	CONFIGURATION_FAILED,
	CONFIGURATION_ASK /* the file is a link, unreadable or broken: asks first */
};

/* Parses the interval, seconds as text. False, with the valid values appended to `why`. */
bool view_set_interval(struct view_config *view, const char *text, struct buf *why);

/* Stores a copy of a list of fields that layout_check() passed; NULL: the default. */
void view_set_fields(struct view_config *view, const char *fields);

/* Stores a copy of a checked list of fields of sites; NULL: the default. */
void view_set_site_fields(struct view_config *view, const char *fields);

/* The column that sites are sorted by. */
const struct column *site_choice_sort(const struct site_choice *sites);

/* True if sites are in their default order: most time first. */
bool site_choice_is_usual(const struct site_choice *sites);

/* Returns to the fields of the shown preset. */
void view_default_fields(struct view_config *view);

/*
 * Shows the next preset, or (by -1) the previous one. Fields and sort column of each are kept. Unit
 * and grouping change if a preset has its own, and back when it is left.
 */
void view_next_preset(struct view_config *view, int by);

/*
 * Stores the present view as a preset of that name, and shows that preset. False, with the valid
 * names appended to `why`, if a preset cannot have that name.
 */
bool view_keep_preset(struct view_config *view, const char *name, struct buf *why);

/* The preset that is shown. */
const struct preset *view_preset(const struct view_config *view);

/* The fields and the order of the default view, even while another preset is shown. */
struct preset_changes view_default(const struct view_config *view);

/* The unit and the grouping that were chosen, even while a preset with its own is shown. */
enum unit view_default_unit(const struct view_config *view);
enum group_by view_default_group(const struct view_config *view);

/* Frees fields, presets and the list of users. */
void view_config_free(struct view_config *view);
