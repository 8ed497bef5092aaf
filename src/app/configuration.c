/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/configuration.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/near.h"
#include "base/util.h"

/* The kinds of lines. */
enum line_type {
	LINE_NOTHING, /* blank, or a comment */
	LINE_PAIR,
	LINE_BROKEN
};

struct config_line {
	enum line_type type;
	const char *start;
	size_t len; /* without the newline */
	const char *name, *value;
	size_t name_len, value_len;
};

/* The settings with yes or no. All but the first exist only in the configuration. */
static const struct flag {
	const char *name;
	size_t offset; /* of a bool in struct view_config */
} flags[] = {
	{ "active", offsetof(struct view_config, query.active) },
	{ "command-line", offsetof(struct view_config, command_line) },
	{ "names", offsetof(struct view_config, names) },
	{ "hide-exited", offsetof(struct view_config, query.no_exited) },
	{ "tree", offsetof(struct view_config, tree) },
	{ "all-idle", offsetof(struct view_config, all_idle) },
	{ "fold-header", offsetof(struct view_config, fold_header) },
};

/* The name of lines with presets. */
#define PRESET "preset"

static bool add_preset(struct view_config *view, const char *value, struct buf *allowed)
{
	return presets_add(&view->presets, value, allowed);
}

/* colour */
static bool add_colour(struct view_config *view, const char *value, struct buf *allowed)
{
	return theme_change(&view->theme, value, allowed);
}

/* The settings of one's own that may be there several times. */
static const struct several {
	const char *name;
	/* Takes the value; on failure appends to `allowed` what is allowed. */
	bool (*add)(struct view_config *view, const char *value, struct buf *allowed);
} severals[] = {
	{ PRESET, add_preset },
	{ "colour", add_colour },
};

/* The meaning of a name; no member is set when the name is not known. */
struct setting {
	const struct option_row *option;
	const struct flag *flag;
	const struct several *several;
};

/* Whether a part of a text is a certain word. */
static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

/* Whether a character is a blank within a line. */
static bool is_blank_line(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Moves both ends inwards over blanks. */
static void trim(const char **start, const char **end)
{
	while (*start < *end && is_blank_line(**start))
		++*start;
	while (*end > *start && is_blank_line((*end)[-1]))
		--*end;
}

/* Finds out the type of a line. */
static void look_at(struct config_line *line)
{
	const char *start = line->start, *end = start + line->len, *equals, *name_end;

	trim(&start, &end);
	if (start == end || *start == '#') {
		line->type = LINE_NOTHING;
		return;
	}
	line->type = LINE_BROKEN;
	equals = memchr(start, '=', (size_t)(end - start));
	if (!equals || memchr(start, '\0', (size_t)(end - start)))
		return;
	line->value = equals + 1;
	trim(&line->value, &end);
	line->value_len = (size_t)(end - line->value);
	line->name = start;
	name_end = equals;
	trim(&line->name, &name_end);
	line->name_len = (size_t)(name_end - line->name);
	for (const char *c = line->name; c < name_end; c++)
		if (*c <= ' ' || *c > '~')
			return;
	if (line->name_len)
		line->type = LINE_PAIR;
}

/* Takes the next line off a text. Returns false at its end. */
static bool next_config_line(struct span *text, struct config_line *line)
{
	struct span whole;

	if (!take_line(text, &whole))
		return false;
	*line = (struct config_line){ .start = whole.at, .len = (size_t)(whole.end - whole.at) };
	look_at(line);
	return true;
}

/* Finds the setting that the line names. */
static struct setting find_setting(const struct config_line *line)
{
	struct setting found = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (is_word(line->name, line->name_len, flags[i].name))
			found.flag = &flags[i];
	for (size_t i = 0; i < ARRAY_SIZE(severals); i++)
		if (is_word(line->name, line->name_len, severals[i].name))
			found.several = &severals[i];
	for (size_t i = 0; i < option_table_n; i++)
		if (!option_table[i].barred &&
		    is_word(line->name, line->name_len, option_table[i].name))
			found.option = &option_table[i];
	return found;
}

/* Whether the name is not known. */
static bool is_unknown(const struct setting *setting)
{
	return !setting->option && !setting->flag && !setting->several;
}

/* Takes yes or no, and other common words for them. */
static bool parse_bool(const char *value, bool *yes)
{
	static const char *const words[][2] = {
		{ "no", "yes" }, { "off", "on" }, { "false", "true" }, { "0", "1" }
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		for (int j = 0; j < 2; j++) {
			if (!strcmp(value, words[i][j])) {
				*yes = j;
				return true;
			}
		}
	}
	return false;
}

/* Applies the value. On failure appends to `allowed` what is allowed. */
static bool set(const struct setting *setting, const char *value, struct options *options,
		struct buf *allowed)
{
	bool yes;

	if (setting->several)
		return setting->several->add(&options->view, value, allowed);
	if (setting->option && setting->option->arg)
		return option_set(setting->option, options, value, allowed);
	if (!parse_bool(value, &yes)) {
		buf_puts(allowed, "yes, no");
		return false;
	}
	if (setting->flag)
		*(bool *)((char *)&options->view + setting->flag->offset) = yes;
	else if (yes)
		return option_set(setting->option, options, NULL, allowed);
	return true;
}

/* Whether the value can be set; tries it on options that are thrown away. */
static bool is_allowed(const struct setting *setting, const struct config_line *line,
		       struct buf *allowed)
{
	char *value = strndup(line->value, line->value_len);
	struct options trial;
	bool ok;

	if (!value)
		die("out of memory");
	options_default(&trial);
	ok = set(setting, value, &trial, allowed);
	if (ok && (trial.list_fields || trial.list_site_fields)) {
		/* "list" is not for a configuration: it prints a list and exits. */
		buf_puts(allowed, "field ids separated by commas");
		ok = false;
	}
	options_free(&trial);
	free(value);
	return ok;
}

/* Whether the line is valid; fills in its setting. Appends what is wrong to `why`, unless NULL. */
static bool check(const struct config_line *line, struct setting *setting, struct buf *why)
{
	struct buf allowed = { 0 };
	struct near near;
	bool ok;

	*setting = (struct setting){ 0 };
	if (line->type != LINE_PAIR) {
		if (line->type == LINE_BROKEN && why)
			buf_puts(why, "it is not NAME = VALUE");
		return line->type == LINE_NOTHING;
	}
	*setting = find_setting(line);
	if (is_unknown(setting))
		return true;
	ok = is_allowed(setting, line, &allowed);
	if (!ok && why) {
		text_escape(why, line->name, line->name_len, TEXT_ASCII);
		buf_puts(why, " does not take '");
		text_escape(why, line->value, line->value_len, TEXT_ASCII);
		buf_puts(why, "'; allowed: ");
		buf_add(why, allowed.data, allowed.len);
		near = near_word(line->value, line->value_len);
		near_try_list(&near, allowed.data, allowed.len);
		near_append(&near, "", why);
	}
	buf_free(&allowed);
	return ok;
}

/* Notes an unknown name, once. */
static void note_unknown_name(const struct config_line *line, struct buf *unknown)
{
	struct buf name = { 0 };
	const char *at;

	text_escape(&name, line->name, line->name_len, TEXT_ASCII);
	for (at = buf_cstr(unknown); *at; at += strcspn(at, " "), at += *at == ' ')
		if (is_word(at, strcspn(at, ", "), buf_cstr(&name)))
			break;
	if (!*at) {
		if (unknown->len)
			buf_puts(unknown, ", ");
		buf_add(unknown, name.data, name.len);
	}
	buf_free(&name);
}

/* Checks all lines; valid lines are applied where there are options. */
static void take_lines(const char *text, size_t len, char *changed, struct options *options,
		       struct configuration_faults *faults)
{
	struct span rest = { text, text + len };
	struct buf unused = { 0 };
	struct config_line line;

	for (size_t number = 1; next_config_line(&rest, &line); number++) {
		struct buf why = { 0 };
		struct setting setting;

		if (!check(&line, &setting, &why)) {
			if (!faults->broken++) {
				buf_printf(&faults->why, "line %zu: ", number);
				buf_add(&faults->why, why.data, why.len);
			}
		} else if (line.type == LINE_PAIR && is_unknown(&setting)) {
			note_unknown_name(&line, &faults->unknown);
		} else if (line.type == LINE_PAIR && options) {
			changed[line.value + line.value_len - text] = '\0';
			set(&setting, line.value, options, &unused);
		}
		buf_free(&why);
	}
	buf_free(&unused);
}

void configuration_apply(char *text, size_t len, struct options *options,
			 struct configuration_faults *faults)
{
	take_lines(text, len, text, options, faults);
}

void configuration_check(const char *text, size_t len, struct configuration_faults *faults)
{
	take_lines(text, len, NULL, NULL, faults);
}

void configuration_faults_free(struct configuration_faults *faults)
{
	buf_free(&faults->why);
	buf_free(&faults->unknown);
	*faults = (struct configuration_faults){ 0 };
}

/* Appends the interval in seconds. */
static void append_delay(const struct view_config *view, struct buf *out)
{
	buf_fixed(out, view->interval_ns, 9);
	while (out->data[out->len - 1] == '0')
		out->len--;
	if (out->data[out->len - 1] == '.')
		out->len--;
}

/* Appends the sort field. */
static void append_sort(const struct view_config *view, struct buf *out)
{
	struct preset_left shown = view_default(view);

	if (shown.sort)
		buf_printf(out, "%c%s", shown.descending ? '-' : '+', shown.sort->id);
}

/* Appends the fields. */
static void append_field_list(const struct view_config *view, struct buf *out)
{
	const char *fields = view_default(view).fields;

	if (fields)
		buf_puts(out, fields);
}

/* Appends the fields of sites. */
static void append_site_fields(const struct view_config *view, struct buf *out)
{
	if (view->sites.fields)
		buf_puts(out, view->sites.fields);
}

/* Appends the order of sites, where it is another than the usual. */
static void append_site_sort(const struct view_config *view, struct buf *out)
{
	if (!site_choice_is_usual(&view->sites))
		buf_printf(out, "%c%s", view->sites.descending ? '-' : '+', view->sites.sort->id);
}

/* Appends the unit. */
static void append_unit(const struct view_config *view, struct buf *out)
{
	buf_puts(out, unit_table[view_default_unit(view)].id);
}

/* Appends the grouping. */
static void append_grouping(const struct view_config *view, struct buf *out)
{
	buf_puts(out, group_table[view_default_group(view)].id);
}

/* Appends nothing: group-by already says it. */
static void append_nothing(const struct view_config *view, struct buf *out)
{
	(void)view;
	(void)out;
}

/* The settings that are written besides the flags. An empty value takes no line. */
static const struct writer {
	const char *name;
	void (*append)(const struct view_config *view, struct buf *out);
} writers[] = {
	{ "delay", append_delay },
	{ "sort", append_sort },
	{ "fields", append_field_list },
	{ "unit", append_unit },
	{ "group-by", append_grouping },
	{ "threads", append_nothing },
	{ "site-fields", append_site_fields },
	{ "site-sort", append_site_sort },
};

#define VALUES (ARRAY_SIZE(writers) + ARRAY_SIZE(flags))

/* The name of a setting that is written. */
static const char *value_name(size_t i)
{
	return i < ARRAY_SIZE(writers) ? writers[i].name : flags[i - ARRAY_SIZE(writers)].name;
}

/* Appends the value. Returns false when there is none. */
static bool append_setting(size_t i, const struct view_config *view, struct buf *out)
{
	size_t before = out->len;

	if (i < ARRAY_SIZE(writers)) {
		writers[i].append(view, out);
	} else {
		size_t offset = flags[i - ARRAY_SIZE(writers)].offset;

		buf_puts(out, *(const bool *)((const char *)view + offset) ? "yes" : "no");
	}
	return out->len > before;
}

/* Writes a line as it is; as a comment if it is broken. */
static void copy_line(const struct config_line *line, struct buf *out)
{
	struct setting setting;

	if (!check(line, &setting, NULL))
		buf_puts(out, "# ");
	buf_add(out, line->start, line->len);
	buf_putc(out, '\n');
}

/* Writes one line with its new value. */
static void rewrite_line(const struct config_line *line, const struct view_config *view,
			 bool written[VALUES], struct buf *out)
{
	size_t start = out->len;

	for (size_t i = 0; line->type == LINE_PAIR && i < VALUES; i++) {
		if (!is_word(line->name, line->name_len, value_name(i)))
			continue;
		/* Keeps the text before the value. */
		buf_add(out, line->start, (size_t)(line->value - line->start));
		if (!written[i] && append_setting(i, view, out))
			buf_putc(out, '\n');
		else
			out->len = start;
		written[i] = true;
		return;
	}
	copy_line(line, out);
}

void configuration_rewrite(const char *text, size_t len, const struct view_config *view,
			   struct buf *out)
{
	struct span rest = { text, text + len };
	bool written[VALUES] = { false };
	struct config_line line;

	while (next_config_line(&rest, &line))
		rewrite_line(&line, view, written, out);
	for (size_t i = 0; i < VALUES; i++) {
		size_t start = out->len;

		if (written[i])
			continue;
		buf_printf(out, "%s = ", value_name(i));
		if (append_setting(i, view, out))
			buf_putc(out, '\n');
		else
			out->len = start;
	}
}

/* Whether the line has a preset of that name. */
static bool is_preset(const struct config_line *line, const char *name)
{
	size_t len = strlen(name);

	if (line->type != LINE_PAIR || !is_word(line->name, line->name_len, PRESET) ||
	    line->value_len <= len || memcmp(line->value, name, len) != 0)
		return false;
	while (len < line->value_len && line->value[len] == ' ')
		len++;
	return len < line->value_len && line->value[len] == ':';
}

/* Ends a line with a preset. */
static void put_value(const struct preset *preset, struct buf *out)
{
	preset_append(preset, out);
	buf_putc(out, '\n');
}

void configuration_put_preset(const char *text, size_t len, const struct preset *preset,
			      struct buf *out)
{
	struct span rest = { text, text + len };
	struct config_line line;
	bool written = false;

	while (next_config_line(&rest, &line)) {
		if (!is_preset(&line, preset->name)) {
			copy_line(&line, out);
			continue;
		}
		if (written)
			continue;
		/* Keeps the text before the value. */
		buf_add(out, line.start, (size_t)(line.value - line.start));
		put_value(preset, out);
		written = true;
	}
	if (written)
		return;
	buf_puts(out, PRESET " = ");
	put_value(preset, out);
}
