/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/configuration.h"

#include <stdlib.h>
#include <string.h>

#include "app/modes.h"
#include "base/file.h"
#include "base/text.h"
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

/* The name of lines with presets. */
#define PRESET "preset"

/* The option or setting of an index; NULL after the last. */
static const struct option_row *row_at(size_t i)
{
	if (i < option_table_n)
		return &option_table[i];
	i -= option_table_n;
	return i < setting_table_n ? &setting_table[i] : NULL;
}

/* True if a part of a text is a certain word. */
static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

/* True for a blank within a line. */
static bool is_blank_line(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Trims blanks at both ends. */
static void trim(const char **start, const char **end)
{
	while (*start < *end && is_blank_line(**start))
		++*start;
	while (*end > *start && is_blank_line((*end)[-1]))
		--*end;
}

/* Finds out the type of a line. */
static void classify(struct config_line *line)
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
	classify(line);
	return true;
}

/* Finds the setting that the line names; NULL: unknown. */
static const struct option_row *find_setting(const struct config_line *line)
{
	const struct option_row *row;

	for (size_t i = 0; (row = row_at(i)); i++)
		if (!row->barred && is_word(line->name, line->name_len, row->name))
			return row;
	return NULL;
}

/* Parses yes or no, and other common words for them. */
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

/*
 * Applies the value. On failure appends the valid values to `allowed`. "No" undoes only saved
 * settings: the user's must not undo the administrator's.
 */
static bool set(const struct option_row *row, const char *value, struct options *options,
		struct buf *allowed)
{
	bool yes = true;

	if (row->modes && !option_goes(row, options->mode))
		return true;
	if (!row->arg && !parse_bool(value, &yes)) {
		buf_puts(allowed, "yes, no");
		return false;
	}
	if (yes)
		return option_set(row, options, value, allowed);
	if (row->saved)
		*(bool *)((char *)options + row->at) = false;
	return true;
}

/* True if the value is valid; tries it on temporary options. */
static bool is_allowed(const struct option_row *row, const struct config_line *line,
		       struct buf *allowed)
{
	char *value = strndup(line->value, line->value_len);
	struct options trial;
	bool ok;

	if (!value)
		die("out of memory");
	options_default(&trial);
	ok = set(row, value, &trial, allowed);
	if (ok && (trial.list_fields || trial.list_site_fields)) {
		/* "list" is not for a configuration: it prints a list and exits. */
		buf_puts(allowed, "field ids separated by commas");
		ok = false;
	}
	options_free(&trial);
	free(value);
	return ok;
}

/* True if the line is valid; finds its setting, or NULL. Appends the error to `why` (or NULL). */
static bool check_line(const struct config_line *line, const struct option_row **row,
		       struct buf *why)
{
	struct buf allowed = { 0 };
	struct suggestion near;
	bool ok;

	*row = NULL;
	if (line->type != LINE_PAIR) {
		if (line->type == LINE_BROKEN && why)
			buf_puts(why, "it is not NAME = VALUE");
		return line->type == LINE_NOTHING;
	}
	*row = find_setting(line);
	if (!*row)
		return true;
	ok = is_allowed(*row, line, &allowed);
	if (!ok && why) {
		text_escape(why, line->name, line->name_len, TEXT_ASCII);
		buf_puts(why, " does not take '");
		text_escape(why, line->value, line->value_len, TEXT_ASCII);
		buf_puts(why, "'; allowed: ");
		buf_add(why, allowed.data, allowed.len);
		near = suggest_for(line->value, line->value_len);
		suggest_try_list(&near, allowed.data, allowed.len);
		suggest_append(&near, "", why);
	}
	buf_free(&allowed);
	return ok;
}

/* Records an unknown name, once. */
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

/* Checks all lines; applies valid ones if there are options. */
static void take_lines(const char *text, size_t len, char *changed, struct options *options,
		       struct configuration_faults *faults)
{
	struct span rest = { text, text + len };
	struct buf unused = { 0 };
	struct config_line line;

	for (size_t number = 1; next_config_line(&rest, &line); number++) {
		struct buf why = { 0 };
		const struct option_row *row;

		if (!check_line(&line, &row, &why)) {
			if (!faults->broken++) {
				buf_printf(&faults->why, "line %zu: ", number);
				buf_add(&faults->why, why.data, why.len);
			}
		} else if (line.type == LINE_PAIR && !row) {
			note_unknown_name(&line, &faults->unknown);
		} else if (line.type == LINE_PAIR && options) {
			changed[line.value + line.value_len - text] = '\0';
			set(row, line.value, options, &unused);
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

/* True if the setting is written. */
static bool is_saved(const struct option_row *row)
{
	return row->saved || row->save;
}

/* Appends the value. Returns false when there is none. */
static bool append_setting(const struct option_row *row, const struct view_config *view,
			   struct buf *out)
{
	size_t before = out->len;

	if (row->save)
		row->save(view, out);
	else
		buf_puts(out, *(const bool *)((const char *)view + row->at -
					      offsetof(struct options, view))
				      ? "yes"
				      : "no");
	return out->len > before;
}

void configuration_append_names(const struct view_config *view, struct buf *out)
{
	const struct option_row *row;
	const char *before = ": ";
	struct buf value = { 0 };

	for (size_t i = 0; (row = row_at(i)); i++) {
		if (!is_saved(row) || !append_setting(row, view, &value))
			continue;
		buf_printf(out, "%s%s", before, row->name);
		before = ", ";
	}
	buf_free(&value);
}

/* True if the line has a setting to be replaced. */
static bool is_setting(const struct config_line *line)
{
	const struct option_row *row = line->type == LINE_PAIR ? find_setting(line) : NULL;

	return row && is_saved(row);
}

/* True if the line has a preset of that name. */
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

/* Appends a line with a preset. */
static void put_preset(const struct preset *preset, struct buf *out)
{
	buf_puts(out, PRESET " = ");
	preset_append(preset, out);
	buf_putc(out, '\n');
}

void configuration_rewrite(const char *text, size_t len, const struct view_config *view,
			   const struct preset *preset, struct buf *out)
{
	struct span rest = { text, text + len };
	const struct option_row *row;
	struct config_line line;
	bool written = false;

	while (next_config_line(&rest, &line)) {
		if (preset ? is_preset(&line, preset->name) : is_setting(&line)) {
			/* Presets are in the order of their lines. */
			if (preset && !written)
				put_preset(preset, out);
			written = true;
			continue;
		}
		if (!check_line(&line, &row, NULL))
			buf_puts(out, "# ");
		buf_add(out, line.start, line.len);
		buf_putc(out, '\n');
	}
	if (preset && !written)
		put_preset(preset, out);
	if (preset)
		return;
	for (size_t i = 0; (row = row_at(i)); i++) {
		size_t start = out->len;

		if (!is_saved(row))
			continue;
		buf_printf(out, "%s = ", row->name);
		if (append_setting(row, view, out))
			buf_putc(out, '\n');
		else
			out->len = start;
	}
}
