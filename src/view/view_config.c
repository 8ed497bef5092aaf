/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "view/layout.h"
#include "view/site_lines.h"

/* Maximum letters of a name, which is shown in the title. */
#define NAME_MAX_LETTERS 16

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

/* The presets of every screen. */
static const struct {
	const char *name, *fields, *room;
	const char *sort; /* descending; NULL: the default */
	bool hangs;
	const char *help;
} standard[] = {
	{ "waits", NULL, NULL, NULL, false, "what all tasks waited for: the default view" },
	{ "hangs", "pid,user,state,wait,total,dwait,blkio,syscall,on,where,comm",
	  "user,total,blkio,dwait,syscall,where,on", "wait", true,
	  "hung tasks, and tasks blocked for a second on a CPU, file, pipe, peer or lock" },
	{ "cpu", "pid,user,state,run,usr,sys,cpu,wait,time,cpu-nr,comm",
	  "cpu-nr,time,user,wait,sys,usr", "cpu", false,
	  "tasks that waited for a CPU, and tasks that had one" },
	{ "io", "pid,user,state,run,blkio,dwait,wait,read,write,cancel,on,comm",
	  "cancel,user,on,run,wait,write,read,dwait", "blkio", false,
	  "tasks that waited for block I/O, and what they read and wrote" },
	{ "memory", "pid,user,state,run,mem,reclaim,swapin,thrash,compact,wpcopy,comm",
	  "user,run,wpcopy,compact,thrash,swapin,reclaim", "mem", false,
	  "tasks that waited for memory" },
	{ "states",
	  "pid,user,states,s-run,s-cpu,s-io,s-dwait,s-lock,s-net,s-pipe,s-poll,s-timer,s-child,"
	  "s-stop,s-other,comm",
	  "s-stop,s-child,s-other,user,s-timer,s-pipe,s-poll,s-net,s-lock,s-dwait,s-io,s-cpu,"
	  "s-run",
	  NULL, false, "each task's time by state; traced while shown" },
};

/* Appends an empty preset. */
static struct preset *append_preset(struct presets *presets)
{
	presets->list = xreallocarray(presets->list, presets->n + 1, sizeof(*presets->list));
	presets->list[presets->n] = (struct preset){ .unit = -1, .group_by = -1 };
	return &presets->list[presets->n++];
}

void presets_ready(struct presets *presets)
{
	if (presets->list)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(standard); i++) {
		struct preset *preset = append_preset(presets);
		const char *sort = standard[i].sort;

		preset->name = xstrdup(standard[i].name);
		preset->fields = xstrdup(standard[i].fields);
		preset->room = xstrdup(standard[i].room);
		preset->sort = sort ? column_by_id(sort, strlen(sort))
				    : column_sort_default(&task_columns);
		preset->descending = true;
		preset->hangs = standard[i].hangs;
		preset->help = xstrdup(standard[i].help);
	}
}

/* Frees what a preset owns. */
static void free_preset(struct preset *preset)
{
	free(preset->name);
	free(preset->fields);
	free(preset->room);
	free(preset->help);
	free(preset->left.fields);
}

/* Sets the sort column and its direction. False if no column has that id. */
static bool take_sort(struct preset *preset, const char *value)
{
	bool has_sign = *value == '+' || *value == '-';

	preset->sort = column_by_id(value + has_sign, strlen(value + has_sign));
	if (preset->sort)
		preset->descending = has_sign ? *value == '-' : column_descends(preset->sort);
	return preset->sort;
}

/* Sets a list of fields. False, with the first unknown one in `bad`, if it is invalid. */
static bool take_list(char **list, const char *value, struct buf *bad)
{
	if (layout_check(value, bad))
		return false;
	free(*list);
	*list = xstrdup(value);
	return true;
}

/* Parses one of a preset's settings. */
static bool take_setting(struct preset *preset, const char *name, const char *value,
			 struct buf *bad)
{
	if (!strcmp(name, "fields"))
		return take_list(&preset->fields, value, bad);
	if (!strcmp(name, "room"))
		return take_list(&preset->room, value, bad);
	if (!strcmp(name, "sort"))
		return take_sort(preset, value);
	if (!strcmp(name, "unit"))
		return (preset->unit = unit_by_name(value)) >= 0;
	if (!strcmp(name, "group"))
		return (preset->group_by = group_by_name(value)) >= 0;
	if (!strcmp(name, "filter") && !strcmp(value, "hangs"))
		return preset->hangs = true;
	return false;
}

/*
 * Parses all settings of a text, which is modified. A word with "=" begins a setting; those without
 * continue the previous list.
 */
static bool take_settings(struct preset *preset, char *text, struct buf *bad)
{
	struct buf value = { 0 };
	char *word, *name = NULL;
	bool ok = true;

	while (ok && (word = strsep(&text, ", "))) {
		char *equals = strchr(word, '=');

		if (!*word)
			continue;
		if (equals && name)
			ok = take_setting(preset, name, buf_cstr(&value), bad);
		if (equals) {
			*equals = '\0';
			name = word;
			value.len = 0;
			word = equals + 1;
		}
		if (value.len)
			buf_putc(&value, ',');
		buf_puts(&value, word);
		ok = ok && name;
	}
	ok = ok && name && take_setting(preset, name, buf_cstr(&value), bad);
	buf_free(&value);
	return ok;
}

struct preset *presets_find(const struct presets *presets, const char *name)
{
	for (size_t i = 0; i < presets->n; i++)
		if (!strcmp(presets->list[i].name, name))
			return &presets->list[i];
	return NULL;
}

/* True if a text is a valid name for a user's preset. */
static bool is_preset_name(const char *text, size_t len)
{
	return len && len <= NAME_MAX_LETTERS && strspn(text, NAME_LETTERS) >= len &&
	       (len != strlen(standard[0].name) || memcmp(text, standard[0].name, len) != 0);
}

/* True if a user's preset may have that name; else appends the valid names to `why`. */
static bool preset_check_name(const struct presets *presets, const char *name, struct buf *why)
{
	if (!is_preset_name(name, strlen(name)))
		buf_printf(why, "up to %d letters, digits, - or _; %s is the default view, of W",
			   NAME_MAX_LETTERS, standard[0].name);
	else if (presets->n == PRESETS_MAX && !presets_find(presets, name))
		buf_printf(why, "there are %d presets already", PRESETS_MAX);
	else
		return true;
	return false;
}

void preset_append(const struct preset *preset, struct buf *out)
{
	buf_printf(out, "%s: ", preset->name);
	if (preset->fields)
		buf_printf(out, "fields=%s, ", preset->fields);
	buf_printf(out, "sort=%c%s", preset->descending ? '-' : '+', preset->sort->id);
	if (preset->hangs)
		buf_puts(out, ", filter=hangs");
	if (preset->unit >= 0)
		buf_printf(out, ", unit=%s", unit_table[preset->unit].id);
	if (preset->group_by >= 0)
		buf_printf(out, ", group=%s", group_table[preset->group_by].id);
	if (preset->room)
		buf_printf(out, ", room=%s", preset->room);
}

/* Appends the valid values. */
static void explain(struct buf *why, const struct buf *bad)
{
	buf_puts(why, "NAME: fields=ID,ID..., sort=-ID, filter=hangs, unit=UNIT, group=WHAT, "
		      "room=ID,ID... (NAME not ");
	buf_printf(why, "%s, which is set by fields and sort)", standard[0].name);
	if (bad->len) {
		buf_puts(why, "; no field: ");
		text_escape(why, bad->data, bad->len, TEXT_ASCII);
	}
}

bool presets_add(struct presets *presets, const char *text, struct buf *why)
{
	struct preset preset = { .sort = column_sort_default(&task_columns),
				 .descending = true,
				 .unit = -1,
				 .group_by = -1 };
	size_t len = strspn(text, NAME_LETTERS);
	const char *rest = text + len + strspn(text + len, " ");
	struct buf bad = { 0 };
	struct preset *old;
	bool ok = false;

	presets_ready(presets);
	if (is_preset_name(text, len) && *rest == ':') {
		char *settings = xstrdup(rest + 1);

		preset.name = strndup(text, len);
		if (!preset.name)
			die("out of memory");
		ok = take_settings(&preset, settings, &bad);
		free(settings);
	}
	old = ok ? presets_find(presets, preset.name) : NULL;
	ok = ok && (old || presets->n < PRESETS_MAX);
	if (!ok) {
		explain(why, &bad);
		free_preset(&preset);
	} else {
		if (old)
			free_preset(old);
		*(old ? old : append_preset(presets)) = preset;
	}
	buf_free(&bad);
	return ok;
}

void presets_free(struct presets *presets)
{
	for (size_t i = 0; i < presets->n; i++)
		free_preset(&presets->list[i]);
	free(presets->list);
	*presets = (struct presets){ 0 };
}

bool view_set_interval(struct view_config *view, const char *text, struct buf *why)
{
	if (parse_seconds(text, INTERVAL_MIN, INTERVAL_MAX, &view->interval_ns))
		return true;
	buf_puts(why, "seconds from " INTERVAL_RANGE);
	return false;
}

void view_set_fields(struct view_config *view, const char *fields)
{
	char *copy = xstrdup(fields);

	free(view->fields);
	view->fields = copy;
	view->own_fields = false;
}

void view_set_site_fields(struct view_config *view, const char *fields)
{
	char *copy = xstrdup(fields);

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

/* Leaves the shown preset. */
static void leave_preset(struct view_config *view)
{
	struct preset_changes *left = &view->presets.list[view->presets.now].left;

	view->unit = view_default_unit(view);
	view->group_by = view_default_group(view);
	*left = (struct preset_changes){ .known = true,
					 .fields = view->fields,
					 .own_fields = view->own_fields,
					 .sort = view->query.sort,
					 .descending = view->query.descending };
	view->fields = NULL;
}

/* Shows the preset as it was left, or as defined. */
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
	preset->left = (struct preset_changes){ .known = false };
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

struct preset_changes view_default(const struct view_config *view)
{
	if (view->presets.now)
		return view->presets.list[0].left;
	return (struct preset_changes){ .known = true,
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
