/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/view_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "view/site_column.h"

bool view_set_interval(struct view_config *view, const char *text, struct buf *why)
{
	if (parse_seconds(text, INTERVAL_MIN, INTERVAL_MAX, &view->interval_ns))
		return true;
	buf_puts(why, "seconds from " INTERVAL_RANGE);
	return false;
}

void view_set_fields(struct view_config *view, const char *fields)
{
	char *copy = fields ? xstrdup(fields) : NULL;

	free(view->fields);
	view->fields = copy;
	view->own_fields = false;
}

void view_set_site_fields(struct view_config *view, const char *fields)
{
	char *copy = fields ? xstrdup(fields) : NULL;

	free(view->sites.fields);
	view->sites.fields = copy;
}

const struct column *site_choice_sort(const struct site_choice *sites)
{
	return sites->sort ? sites->sort : column_sort_default(&site_columns);
}

bool site_choice_is_usual(const struct site_choice *sites)
{
	return !sites->sort ||
	       (sites->descending && sites->sort == column_sort_default(&site_columns));
}

const struct preset *view_preset(const struct view_config *view)
{
	return view->presets.n ? &view->presets.list[view->presets.now] : NULL;
}

void view_default_fields(struct view_config *view)
{
	const struct preset *preset = view_preset(view);

	view_set_fields(view, preset ? preset->fields : NULL);
	view->own_fields = view->fields;
}

/* Leaves the preset that is shown. */
static void leave_preset(struct view_config *view)
{
	struct preset_left *left = &view->presets.list[view->presets.now].left;

	view->unit = view_default_unit(view);
	view->group_by = view_default_group(view);
	*left = (struct preset_left){ .known = true,
				      .fields = view->fields,
				      .own_fields = view->own_fields,
				      .sort = view->query.sort,
				      .descending = view->query.descending };
	view->fields = NULL;
}

/* Shows the preset as it was left, or as it is by itself. */
static void take_preset(struct view_config *view)
{
	struct preset *preset = &view->presets.list[view->presets.now];

	view->presets.unit_before = view->unit;
	view->presets.group_before = view->group_by;
	if (preset->unit >= 0)
		view->unit = (enum unit)preset->unit;
	if (preset->group_by >= 0)
		view->group_by = (enum group_by)preset->group_by;
	view->query.hangs = preset->hangs;
	view->query.sort = preset->sort;
	view->query.descending = preset->descending;
	if (!preset->left.known) {
		view_default_fields(view);
		return;
	}
	view->query.sort = preset->left.sort;
	view->query.descending = preset->left.descending;
	view->fields = preset->left.fields;
	view->own_fields = preset->left.own_fields;
	preset->left = (struct preset_left){ .known = false };
}

void view_next_preset(struct view_config *view, int by)
{
	struct presets *presets = &view->presets;

	presets_ready(presets);
	leave_preset(view);
	presets->now = (presets->now + (by < 0 ? presets->n - 1 : 1)) % presets->n;
	take_preset(view);
}

bool view_keep_preset(struct view_config *view, const char *name, struct buf *why)
{
	struct presets *presets = &view->presets;
	const struct query *query = &view->query;
	struct preset kept = { .fields = view->fields,
			       .sort = query->sort ? query->sort
						   : column_sort_default(&task_columns),
			       .descending = query->descending,
			       .hangs = query->hangs,
			       .unit = (int)view->unit,
			       .group_by = (int)view->group_by };
	struct buf text = { 0 };
	bool ok;

	presets_ready(presets);
	if (!preset_check_name(presets, name, why))
		return false;
	kept.name = xstrdup(name);
	kept.room = view->own_fields ? view_preset(view)->room : NULL;
	preset_append(&kept, &text);
	leave_preset(view);
	ok = presets_add(presets, buf_cstr(&text), why);
	if (ok)
		presets->now = (size_t)(presets_find(presets, name) - presets->list);
	take_preset(view);
	free(kept.name);
	buf_free(&text);
	return ok;
}

struct preset_left view_default(const struct view_config *view)
{
	if (view->presets.now)
		return view->presets.list[0].left;
	return (struct preset_left){ .known = true,
				     .fields = view->fields,
				     .own_fields = view->own_fields,
				     .sort = view->query.sort,
				     .descending = view->query.descending };
}

enum unit view_default_unit(const struct view_config *view)
{
	const struct preset *preset = view_preset(view);

	return preset && preset->unit >= 0 ? view->presets.unit_before : view->unit;
}

enum group_by view_default_group(const struct view_config *view)
{
	const struct preset *preset = view_preset(view);

	return preset && preset->group_by >= 0 ? view->presets.group_before : view->group_by;
}

void view_config_free(struct view_config *view)
{
	free(view->fields);
	free(view->sites.fields);
	free(view->query.users);
	presets_free(&view->presets);
}
