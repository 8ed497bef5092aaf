/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the value of an option by its type, and lists the words that it can be. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/options.h"
#include "base/util.h"
#include "model/source.h"
#include "out/out.h"
#include "view/site_column.h"

/* A field. */
static const char *field_word(size_t i, const char **help)
{
	if (i >= columns_n)
		return NULL;
	*help = columns[i].help;
	return columns[i].id;
}

/* A field of sites. */
static const char *site_field_word(size_t i, const char **help)
{
	if (i >= site_columns.n)
		return NULL;
	*help = site_columns.columns[i].help;
	return site_columns.columns[i].id;
}

/* A unit. */
static const char *unit_word(size_t i, const char **help)
{
	if (i >= UNITS)
		return NULL;
	*help = unit_table[i].help;
	return unit_table[i].id;
}

/* A grouping. */
static const char *grouping_word(size_t i, const char **help)
{
	if (i >= GROUP_BYS)
		return NULL;
	*help = group_table[i].help;
	return group_table[i].id;
}

/* A format. */
static const char *format_word(size_t i, UNUSED const char **help)
{
	return out_registry[i] ? out_registry[i]->name : NULL;
}

/* A source, or the choice among them. */
static const char *source_word(size_t i, UNUSED const char **help)
{
	if (!i)
		return "auto";
	return source_registry[i - 1] ? source_registry[i - 1]->name : NULL;
}

/* A theme, or the choice among them. */
static const char *theme_word(size_t i, const char **help)
{
	if (!i)
		return "auto";
	if (i > theme_table_n)
		return NULL;
	*help = theme_table[i - 1].help;
	return theme_table[i - 1].name;
}

/* How a condition begins: a resource that the kernel reports pressure of, or an event. */
static const char *condition_word(size_t i, UNUSED const char **help)
{
	static const char *const events[] = { "hang", "oom" };

	if (i < PSI_RESOURCES)
		return psi_names[i];
	i -= PSI_RESOURCES;
	return i < ARRAY_SIZE(events) ? events[i] : NULL;
}

const struct words_row words_table[OPTION_WORDS] = {
	[WORDS_NONE] = { "none", NULL },
	[WORDS_FIELD] = { "field", field_word },
	[WORDS_FIELDS] = { "fields", NULL }, /* those of "field" */
	[WORDS_SITE_FIELD] = { "site_field", site_field_word },
	[WORDS_SITE_FIELDS] = { "site_fields", NULL }, /* those of "site_field" */
	[WORDS_UNIT] = { "unit", unit_word },
	[WORDS_GROUPING] = { "grouping", grouping_word },
	[WORDS_FORMAT] = { "format", format_word },
	[WORDS_SOURCE] = { "source", source_word },
	[WORDS_THEME] = { "theme", theme_word },
	[WORDS_PRESSURE] = { "condition", condition_word },
	[WORDS_FILE] = { "file", NULL },
	[WORDS_PIDS] = { "pids", NULL },
	[WORDS_USERS] = { "users", NULL },
	[WORDS_CGROUP] = { "cgroup", NULL },
	[WORDS_HIERARCHY] = { "hierarchy", NULL },
};

bool option_parse_whole(const char *arg, uint64_t min, uint64_t max, uint64_t *number)
{
	char *end;

	if (*arg < '0' || *arg > '9')
		return false;
	errno = 0;
	*number = strtoull(arg, &end, 10);
	return !*end && !errno && *number >= min && *number <= max;
}

/* Sets the member of an option, whatever its size. */
static void set_number(const struct option_row *row, void *member, uint64_t value)
{
	if (row->size == sizeof(uint8_t))
		*(uint8_t *)member = (uint8_t)value;
	else if (row->size == sizeof(uint32_t))
		*(uint32_t *)member = (uint32_t)value;
	else
		*(uint64_t *)member = value;
}

/* Takes a whole number. */
static bool take_whole(const struct option_row *row, void *member, const char *arg, struct buf *why)
{
	uint64_t number;

	if (option_parse_whole(arg, row->min, row->max, &number)) {
		set_number(row, member, number * (row->unit ? row->unit : 1));
		return true;
	}
	buf_puts(why, "a whole number");
	if (row->unit_name)
		buf_printf(why, " of %s", row->unit_name);
	if (row->max == UINT64_MAX)
		buf_printf(why, " above %llu", (unsigned long long)row->min - 1);
	else
		buf_printf(why, " from %llu to %llu", (unsigned long long)row->min,
			   (unsigned long long)row->max);
	return false;
}

/* Takes seconds. */
static bool take_seconds(const struct option_row *row, uint64_t *ns, const char *arg,
			 struct buf *why)
{
	if (parse_seconds(arg, (double)row->min, (double)row->max, ns))
		return true;
	buf_printf(why, "seconds from %llu to %llu", (unsigned long long)row->min,
		   (unsigned long long)row->max);
	return false;
}

/* Takes the name of a file. */
static bool take_file(const char **file, const char *arg, struct buf *why)
{
	*file = arg;
	if (!*arg)
		buf_puts(why, "the name of a file");
	return *arg != '\0';
}

/* Takes a time of a recording. */
static bool take_time(const char **time, const char *arg, struct buf *why)
{
	uint64_t ns;

	*time = arg;
	if (replay_time(arg, clock_ns(CLOCK_REALTIME), &ns))
		return true;
	buf_puts(why, "14:02, 14:02:30, \"2026-11-21 14:02\", or -3m before its end (s, m, h, d)");
	return false;
}

/* Takes a word of a list. */
static bool take_word(const struct option_row *row, struct options *options, const char *arg,
		      struct buf *why)
{
	const struct words_row *list = &words_table[row->words];
	const char *word, *help;

	for (size_t i = 0; (word = list->word(i, &help)); i++) {
		if (strcmp(word, arg) != 0)
			continue;
		if (row->pick)
			row->pick(options, i);
		else
			set_number(row, (char *)options + row->at, i);
		return true;
	}
	for (size_t i = 0; (word = list->word(i, &help)); i++)
		buf_printf(why, "%s%s", i ? ", " : "", word);
	return false;
}

/* Takes the value as its type says. */
static bool take_typed(const struct option_row *row, struct options *options, const char *arg,
		       struct buf *why)
{
	void *member = (char *)options + row->at;

	switch (row->type) {
	case OPTION_FLAG:
		set_number(row, member, row->constant);
		return true;
	case OPTION_WHOLE:
		return take_whole(row, member, arg, why);
	case OPTION_SECONDS:
		return take_seconds(row, member, arg, why);
	case OPTION_FILE:
		return take_file(member, arg, why);
	case OPTION_TIME:
		return take_time(member, arg, why);
	case OPTION_WORD:
		return take_word(row, options, arg, why);
	case OPTION_OTHER:
		break;
	}
	return row->set(options, arg, why);
}

bool option_set(const struct option_row *row, struct options *options, const char *arg,
		struct buf *why)
{
	if (row->modes)
		options->given |= UINT64_C(1) << (row - option_table);
	if (row->mark)
		*(bool *)((char *)options + row->mark) = true;
	return take_typed(row, options, arg, why);
}

bool option_given(const struct options *options, const struct option_row *row)
{
	return options->given >> (row - option_table) & 1;
}
