/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line, taken apart by the table in options.c. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "pattern.h"
#include "util.h"

/* Values of options without a letter, for getopt_long. */
#define LONG_ONLY 256

/* The option that a getopt_long() value stands for. */
static const struct option_row *row_of(int value)
{
	if (value >= LONG_ONLY)
		return &option_table[value - LONG_ONLY];
	for (size_t i = 0; i < option_table_n; i++)
		if (option_table[i].letter == value)
			return &option_table[i];
	return NULL;
}

/* Makes getopt_long's tables from ours. */
static void make_tables(struct option *longs, char *letters)
{
	/* In the order of the words: what comes first and is no option is a mistake. */
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

/* Says which option has no value or is none. */
static int complain(int value, char **argv, struct buf *why)
{
	const char *word = argv[optind - 1];
	/* Of letters in one word the next word may not be reached yet: then it is another's. */
	bool is_long = !strncmp(word, "--", 2) && (value == ':' || !optopt || row_of(optopt));

	buf_puts(why, value == ':' ? "option " : "unknown option ");
	if (is_long)
		text_escape(why, word, strlen(word), TEXT_ASCII);
	else
		buf_printf(why, "-%c", optopt > ' ' && optopt < 127 ? optopt : '?');
	buf_puts(why, value == ':' ? " needs a value" : " (see --help)");
	return -EINVAL;
}

/* Takes one option. */
static int take_option(struct options *options, int value, struct buf *why)
{
	const struct option_row *row = row_of(value);
	struct buf allowed = { 0 };

	if (row->set(options, optarg, &allowed)) {
		buf_free(&allowed);
		return 0;
	}
	buf_printf(why, "--%s does not take '", row->name);
	text_escape(why, optarg, strlen(optarg), TEXT_ASCII);
	buf_puts(why, "'; allowed: ");
	buf_add(why, allowed.data, allowed.len);
	buf_free(&allowed);
	return -EINVAL;
}

/* Takes the first elements off a list when others came behind them. */
static void replace(void *list, size_t *n, size_t old, size_t size)
{
	if (!old || *n == old)
		return;
	*n -= old;
	memmove(list, (char *)list + old * size, *n * size);
}

/* Takes what stands behind "--". */
static int take_command(struct options *options, char **command, struct buf *why)
{
	options->command = command;
	if (*command)
		return 0;
	buf_puts(why, "a command is missing behind --");
	return -EINVAL;
}

/* Takes all options, and the command behind them. 0 or -EINVAL. */
static int take_all(struct options *options, int argc, char **argv, const char *letters,
		    const struct option *longs, struct buf *why)
{
	size_t npids = options->npids, nusers = options->nusers, nwhen = options->when.n;
	int value, err, at = 1;

	optind = 0; /* has getopt_long() start anew */
	/* Undocumented: what the manual's tables are made of. */
	if (argc == 3 && !strcmp(argv[1], "--dump-doc")) {
		options->dump_doc = argv[2];
		return 0;
	}
	opterr = 0;
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (value == '?' || value == ':')
			return complain(value, argv, why);
		err = take_option(options, value, why);
		if (err)
			return err;
		at = optind;
	}
	replace(options->pids, &options->npids, npids, sizeof(*options->pids));
	replace(options->users, &options->nusers, nusers, sizeof(*options->users));
	when_replace(&options->when, nwhen);
	/* Not the value of an option, which may be "--" as well. */
	if (optind > at && !strcmp(argv[at], "--"))
		return take_command(options, argv + optind, why);
	if (optind == argc)
		return 0;
	buf_puts(why, "unexpected argument '");
	text_escape(why, argv[optind], strlen(argv[optind]), TEXT_ASCII);
	buf_puts(why, "' (see --help)");
	return -EINVAL;
}

int options_override(struct options *options, int argc, char **argv, struct buf *why)
{
	struct option *longs = xcalloc(option_table_n + 1, sizeof(*longs));
	char *letters = xcalloc(2 * option_table_n + 3, 1);
	int err;

	make_tables(longs, letters);
	err = take_all(options, argc, argv, letters, longs, why);
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
	pattern_free(options->match);
	free(options->pids);
	free(options->users);
	when_free(&options->when);
}
