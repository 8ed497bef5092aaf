/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Presets: fields, a sort column and a filter under a name, for a question often asked. */
#ifndef STALLTOP_VIEW_PRESET_H
#define STALLTOP_VIEW_PRESET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "model/group.h"
#include "view/column.h"

/* How a preset was left, with what keys have changed. */
struct preset_left {
	bool known;
	char *fields;
	bool own_fields;
	const struct column *sort;
	bool descending;
};

struct preset {
	char *name;
	char *fields; /* as for -F, but unknown ids are left out; NULL: the default */
	char *room; /* ids of fields that are left out without room, in this order */
	const struct column *sort;
	bool descending;
	bool hangs; /* only rows that hang: struct query */
	int unit, group_by; /* enum unit, enum group_by; -1: those that are shown already */
	char *help; /* one line; NULL: none */
	struct preset_left left;
};

/* The most of them. */
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

/* Fills in those that every screen has. Harmless when that was done. */
void presets_ready(struct presets *presets);

/* The preset of that name, or NULL. */
struct preset *presets_find(const struct presets *presets, const char *name);

/* Whether a preset of one's own can have that name; else appends to `why` which can. */
bool preset_check_name(const struct presets *presets, const char *name, struct buf *why);

/* Appends a preset as a text for presets_add(). */
void preset_append(const struct preset *preset, struct buf *out);

/*
 * Adds a preset, or replaces the one of its name: "NAME: fields=ID,ID, sort=-ID, filter=hangs,
 * unit=UNIT, group=WHAT, room=ID,ID". False, with what is allowed appended to `why`, when it is
 * invalid.
 */
bool presets_add(struct presets *presets, const char *text, struct buf *why);

void presets_free(struct presets *presets);

#endif
