/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the command line by the table in options.c, and prints help from that table. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/modes.h"
#include "app/options.h"
#include "base/pattern.h"
#include "base/process.h"
#include "base/text.h"
#include "base/util.h"
#include "out/out.h"
#include "read/source.h"
#include "view/site_lines.h"

/* Parses the value of an option by its type, and lists its possible words. */

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

/* A source, or `auto`. */
static const char *source_word(size_t i, UNUSED const char **help)
{
	if (!i)
		return "auto";
	return source_registry[i - 1] ? source_registry[i - 1]->name : NULL;
}

/* When waits are measured. */
static const char *measure_word(size_t i, UNUSED const char **help)
{
	static const char *const words[] = {
		[MEASURE_AUTO] = "auto",
		[MEASURE_YES] = "yes",
		[MEASURE_NO] = "no",
	};

	return i < ARRAY_SIZE(words) ? words[i] : NULL;
}

/* A theme, or `auto`. */
static const char *theme_word(size_t i, const char **help)
{
	if (!i)
		return "auto";
	if (i > theme_table_n)
		return NULL;
	*help = theme_table[i - 1].help;
	return theme_table[i - 1].name;
}

/* How a condition begins: a resource with pressure in the kernel, or an event. */
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
	[WORDS_MEASURE] = { "measure", measure_word },
	[WORDS_THEME] = { "theme", theme_word },
	[WORDS_PRESSURE] = { "condition", condition_word },
	[WORDS_FILE] = { "file", NULL },
	[WORDS_PIDS] = { "pids", NULL },
	[WORDS_USERS] = { "users", NULL },
	[WORDS_CGROUP] = { "cgroup", NULL },
	[WORDS_HIERARCHY] = { "hierarchy", NULL },
};

/* Sets the member of an option, of any size. */
static void set_option_number(const struct option_row *row, void *member, uint64_t value)
{
	if (row->size == sizeof(uint8_t))
		*(uint8_t *)member = (uint8_t)value;
	else if (row->size == sizeof(uint32_t))
		*(uint32_t *)member = (uint32_t)value;
	else
		*(uint64_t *)member = value;
}

/* Parses an integer. */
static bool take_whole(const struct option_row *row, void *member, const char *arg, struct buf *why)
{
	uint64_t number;

	if (option_parse_whole(arg, row->min, row->max, &number)) {
		set_option_number(row, member, number * (row->unit ? row->unit : 1));
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

/* Parses seconds. */
static bool take_seconds(const struct option_row *row, uint64_t *ns, const char *arg,
			 struct buf *why)
{
	if (parse_seconds(arg, (double)row->min, (double)row->max, ns))
		return true;
	buf_printf(why, "seconds from %llu to %llu", (unsigned long long)row->min,
		   (unsigned long long)row->max);
	return false;
}

/* Parses the name of a file. */
static bool take_file(const char **file, const char *arg, struct buf *why)
{
	*file = arg;
	if (!*arg)
		buf_puts(why, "the name of a file");
	return *arg != '\0';
}

/* Parses a time of a recording. */
static bool take_time(const char **time, const char *arg, struct buf *why)
{
	uint64_t ns;

	*time = arg;
	if (replay_time(arg, clock_ns(CLOCK_REALTIME), false, &ns))
		return true;
	buf_puts(why, "14:02, 14:02:30, \"2026-11-21 14:02\", or -3m before its end (s, m, h, d)");
	return false;
}

/* Parses a word of a list. */
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
			set_option_number(row, (char *)options + row->at, i);
		return true;
	}
	for (size_t i = 0; (word = list->word(i, &help)); i++)
		buf_printf(why, "%s%s", i ? ", " : "", word);
	return false;
}

/* Parses the value by its type. */
static bool take_typed(const struct option_row *row, struct options *options, const char *arg,
		       struct buf *why)
{
	void *member = (char *)options + row->at;

	switch (row->type) {
	case OPTION_FLAG:
		set_option_number(row, member, row->constant);
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

/* Values of options without a letter, for getopt_long. */
#define LONG_ONLY 256

/* The option of a getopt_long() value. */
static const struct option_row *row_of(int value)
{
	if (value >= LONG_ONLY)
		return &option_table[value - LONG_ONLY];
	for (size_t i = 0; i < option_table_n; i++)
		if (option_table[i].letter == value)
			return &option_table[i];
	return NULL;
}

/* Makes getopt_long's tables from the option table. */
static void make_tables(struct option *longs, char *letters)
{
	/* '+': stops at the first word that is no option, which is an error. */
	*letters++ = '+';
	*letters++ = ':';
	for (size_t i = 0; i < option_table_n; i++) {
		const struct option_row *row = &option_table[i];

		longs[i] = (struct option){ row->name, row->arg != NULL, NULL,
					    row->letter ? row->letter : LONG_ONLY + (int)i };
		if (row->letter)
			*letters++ = row->letter;
		if (row->letter && row->arg)
			*letters++ = ':';
	}
	longs[option_table_n] = (struct option){ 0 };
	*letters = '\0';
}

/* Suggests the option meant by "--" and a name, perhaps with a value. */
static void ask_near(const char *word, struct buf *why)
{
	const char *name = word + strlen("--");
	struct suggestion near = suggest_for(name, strcspn(name, "="));

	for (size_t i = 0; i < option_table_n; i++)
		suggest_try(&near, option_table[i].name, strlen(option_table[i].name));
	suggest_append(&near, "--", why);
}

/* Reports an option without a value, or an unknown one. */
static int explain_word(int value, char **argv, struct buf *why)
{
	const char *word = argv[optind - 1];
	/*
	 * Within a word of several letters optind has not moved yet: then `word` is the previous
	 * one.
	 */
	bool is_long = !strncmp(word, "--", 2) && (value == ':' || !optopt || row_of(optopt));

	buf_puts(why, value == ':' ? "option " : "unknown option ");
	if (is_long)
		text_escape(why, word, strlen(word), TEXT_ASCII);
	else
		buf_printf(why, "-%c", optopt > ' ' && optopt < 127 ? optopt : '?');
	buf_puts(why, value == ':' ? " needs a value" : " (see --help)");
	if (is_long && value != ':')
		ask_near(word, why);
	return -EINVAL;
}

/* Processes one option. */
static int take_option(struct options *options, int value, struct buf *why)
{
	const struct option_row *row = row_of(value);
	struct buf allowed = { 0 };
	struct suggestion near;

	if (option_set(row, options, optarg, &allowed)) {
		buf_free(&allowed);
		return 0;
	}
	buf_printf(why, "--%s does not take '", row->name);
	text_escape(why, optarg, strlen(optarg), TEXT_ASCII);
	buf_puts(why, "'; allowed: ");
	buf_add(why, allowed.data, allowed.len);
	near = suggest_for(optarg, strlen(optarg));
	suggest_try_list(&near, allowed.data, allowed.len);
	suggest_append(&near, "", why);
	buf_free(&allowed);
	return -EINVAL;
}

/* Removes the first elements of a list when new ones follow them. */
static void drop_old_values(void *list, size_t *n, size_t old, size_t size)
{
	if (!old || *n == old)
		return;
	*n -= old;
	memmove(list, (char *)list + old * size, *n * size);
}

/* Frees the triggers' specifications. */
static void free_specs(struct trigger_spec *specs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		trigger_spec_free(&specs[i]);
}

/* The lengths of the lists whose options may be repeated. */
struct counts {
	size_t pids, users, specs;
};

/* Removes the earlier elements of the lists given on the command line. */
static void replace_lists(struct options *options, const struct counts *old)
{
	struct query *query = &options->view.query;
	struct sampler_config *sampler = &options->sampler;
	struct watch_config *watch = &options->watch;

	if (watch->nspecs > old->specs)
		free_specs(watch->specs, old->specs);
	drop_old_values(sampler->pids, &sampler->npids, old->pids, sizeof(*sampler->pids));
	drop_old_values(query->users, &query->nusers, old->users, sizeof(*query->users));
	drop_old_values(watch->specs, &watch->nspecs, old->specs, sizeof(*watch->specs));
}

/* Takes the command after "--". */
static int take_command(struct options *options, char **command, struct buf *why)
{
	options->command = command;
	if (*command)
		return 0;
	buf_puts(why, "a command is missing after --");
	return -EINVAL;
}

/* True if the word at which options end is the second recording of --diff. */
static bool takes_second(const struct options *options, int argc, int at)
{
	return options->diff[0] && !options->diff[1] && optind == at && optind < argc;
}

/* So many words, separated by blanks; the caller frees it. */
static char *join_words(char *const *words, int n)
{
	struct buf text = { 0 };
	char *joined;

	for (int i = 0; i < n; i++)
		buf_printf(&text, "%s%s", i ? " " : "", words[i]);
	joined = xstrdup(buf_cstr(&text));
	buf_free(&text);
	return joined;
}

/* Parses all options, and the command after them. Returns 0 or -EINVAL. */
static int take_all(struct options *options, int argc, char **argv, const char *letters,
		    const struct option *longs, struct buf *why)
{
	const struct counts old = { .pids = options->sampler.npids,
				    .users = options->view.query.nusers,
				    .specs = options->watch.nspecs };
	int value, err, at = 1;

	optind = 0; /* makes getopt_long restart */
	/* Undocumented: prints the source of the manual's tables. */
	if (argc == 3 && !strcmp(argv[1], "--dump-doc")) {
		options->dump_doc = argv[2];
		return 0;
	}
	if (argc >= 2 && !strcmp(argv[1], "help")) {
		options->topic = join_words(argv + 2, argc - 2);
		return 0;
	}
	opterr = 0;
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1 ||
	       takes_second(options, argc, at)) {
		if (value == -1) {
			options->diff[1] = argv[optind];
			at = ++optind;
			continue;
		}
		if (value == '?' || value == ':')
			return explain_word(value, argv, why);
		err = take_option(options, value, why);
		if (err)
			return err;
		at = optind;
	}
	replace_lists(options, &old);
	/* Only a real "--": the value of an option may be "--" as well. */
	if (optind > at && !strcmp(argv[at], "--"))
		return take_command(options, argv + optind, why);
	if (optind == argc)
		return 0;
	buf_puts(why, "unexpected argument '");
	text_escape(why, argv[optind], strlen(argv[optind]), TEXT_ASCII);
	buf_puts(why, "' (see --help)");
	return -EINVAL;
}

/* How long --why watches, unless an interval is given. */
#define WHY_NS (3 * NSEC_PER_SEC)

/* Expands --why. */
static void options_ask_why(struct options *options)
{
	options->why_json = !strcmp(options->format->name, "json");
	options->batch = true;
	options->format = &out_why;
	options->sampler.trace = true;
	/* Where in their code they wait, if the caller may read their files. */
	if (!options->sampler.stacks && !privileges_foreign())
		options->sampler.stacks = options->pids;
	if (!options->paced)
		options->view.interval_ns = WHY_NS;
	if (!options->view.iterations)
		options->view.iterations = 1;
	options->replay.whole = !options->paced;
}

int options_override(struct options *options, int argc, char **argv, struct buf *why)
{
	struct option *longs = xcalloc(option_table_n + 1, sizeof(*longs));
	char *letters = xcalloc(2 * option_table_n + 3, 1);
	int err;

	make_tables(longs, letters);
	err = take_all(options, argc, argv, letters, longs, why);
	if (options_metrics(options) && !options->grouped)
		options->view.group_by = GROUP_CGROUP;
	if (options->why)
		options_ask_why(options);
	options->mode = options_mode(options);
	free(longs);
	free(letters);
	return err;
}

int options_parse(struct options *options, int argc, char **argv, struct buf *why)
{
	options_default(options);
	return options_override(options, argc, argv, why);
}

void options_free(struct options *options)
{
	free(options->topic);
	pattern_free(options->match);
	free(options->sampler.pids);
	free_specs(options->watch.specs, options->watch.nspecs);
	free(options->watch.specs);
	view_config_free(&options->view);
}

/* Widths in cells of an option's names, and of a field's id and unit. */
#define NAMES_CELLS 30
#define ID_CELLS 26
#define UNIT_CELLS 8

/* Appends an option's syntax: its letter, name and argument. */
static void append_names(struct buf *out, const struct option_row *row)
{
	char names[64];

	snprintf(names, sizeof(names), "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
		 row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name,
		 row->arg ? " " : "", row->arg ? row->arg : "");
	buf_printf(out, "  %-*s  ", NAMES_CELLS, names);
}

/* Appends an option with its full description. */
static void append_whole(struct buf *out, struct buf *text, const struct option_row *row)
{
	text->len = 0;
	buf_puts(text, row->help);
	if (row->standard)
		buf_printf(text, " [%s]", row->standard);
	text_wrap(out, buf_cstr(text), NAMES_CELLS + 4, NAMES_CELLS + 4, TEXT_PRINTED);
}

void options_help(struct buf *out, bool all)
{
	struct buf text = { 0 };

	buf_printf(out,
		   "Usage: stalltop [options]\n"
		   "       stalltop [options] -- COMMAND [ARGUMENT...]\n"
		   "       stalltop help [TOPIC]\n%s",
		   all ? "" : "Shows what every task waits for, and who makes it wait.\n");
	for (unsigned part = 0; part < OPTION_PARTS; part++) {
		buf_printf(out, "%s%s\n", all ? "\n" : "", option_parts[part]);
		for (size_t i = 0; i < option_table_n; i++) {
			const struct option_row *row = &option_table[i];

			if (row->part != part || (!all && !row->brief))
				continue;
			append_names(out, row);
			if (all)
				append_whole(out, &text, row);
			else
				buf_printf(out, "%s\n", row->brief);
		}
	}
	buf_free(&text);
}

void options_fields(const struct column_table *table, struct buf *out)
{
	const unsigned left = ID_CELLS + UNIT_CELLS + 2;
	struct buf text = { 0 };

	for (size_t i = 0; i < table->n; i++) {
		const struct column *column = &table->columns[i];

		buf_printf(out, "%-*s %-*s ", ID_CELLS, column->id, UNIT_CELLS,
			   column->unit ? column->unit : "(-U)");
		text.len = 0;
		buf_puts(&text, column->help);
		if (column->since)
			buf_printf(&text, " (record version %u)", column->since);
		text_wrap(out, buf_cstr(&text), left, left, TEXT_PRINTED);
	}
	buf_free(&text);
}
