/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/completion.h"

#include <string.h>

#include "app/options.h"
#include "base/util.h"

/* Takes a possible word of a value; help may be NULL. */
typedef void word_fn(struct buf *out, const char *word, const char *help);

/* Hands out the words of a list. */
static void each_word(const struct words_row *list, struct buf *out, word_fn *take)
{
	const char *word, *help;

	for (size_t i = 0; help = NULL, (word = list->word(i, &help)); i++)
		take(out, word, help);
}

/*
 * Appends a help's first clause within single quotes; a backslash comes before characters of
 * `special`.
 */
static void append_help(struct buf *out, const char *help, const char *special)
{
	size_t len = strcspn(help, ";");

	for (size_t i = 0; i < len; i++) {
		if (help[i] == '\'') {
			buf_puts(out, "'\\''");
			continue;
		}
		if (strchr(special, help[i]))
			buf_putc(out, '\\');
		buf_putc(out, help[i]);
	}
}

/* Appends a word and a blank. */
static void bash_word(struct buf *out, const char *word, UNUSED const char *help)
{
	buf_puts(out, word);
	buf_putc(out, ' ');
}

/* Ends a list of words, each with a blank after it. */
static void end_list(struct buf *out, const char *end)
{
	if (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_puts(out, end);
}

/* Appends the letter of an option, if it has one, what stands between, and its name. */
static void bash_names(struct buf *out, const struct option_row *row, const char *between)
{
	if (row->letter)
		buf_printf(out, "-%c%s", row->letter, between);
	buf_printf(out, "--%s", row->name);
}

void completion_bash(struct buf *out)
{
	buf_puts(out, "_stalltop_options='");
	for (size_t i = 0; i < option_table_n; i++) {
		bash_names(out, &option_table[i], " ");
		buf_putc(out, ' ');
	}
	end_list(out, "'\n\n# What the value of an option is; nothing where it takes none.\n"
		      "_stalltop_value()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < option_table_n; i++) {
		if (!option_table[i].arg)
			continue;
		buf_putc(out, '\t');
		bash_names(out, &option_table[i], " | ");
		buf_printf(out, ") echo %s ;;\n", words_table[option_table[i].words].name);
	}
	buf_puts(out, "\tesac\n}\n\n# The words that such a value can be.\n"
		      "_stalltop_words()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < ARRAY_SIZE(words_table); i++) {
		if (!words_table[i].word)
			continue;
		buf_printf(out, "\t%s) echo '", words_table[i].name);
		each_word(&words_table[i], out, bash_word);
		end_list(out, "' ;;\n");
	}
	buf_puts(out, "\tesac\n}\n");
}

/* Characters with a meaning for zsh within a specification of _arguments. */
#define ZSH_SPECIAL "[]:\\"

/* Appends a word with its help, as _describe takes them. */
static void zsh_word(struct buf *out, const char *word, const char *help)
{
	buf_printf(out, "\t\t'%s", word);
	if (help) {
		buf_putc(out, ':');
		append_help(out, help, ZSH_SPECIAL);
	}
	buf_puts(out, "'\n");
}

void completion_zsh(struct buf *out)
{
	buf_puts(out, "_stalltop_words() {\n\tcase $1 in\n");
	for (size_t i = 0; i < ARRAY_SIZE(words_table); i++) {
		if (!words_table[i].word)
			continue;
		buf_printf(out, "\t%s) reply=(\n", words_table[i].name);
		each_word(&words_table[i], out, zsh_word);
		buf_puts(out, "\t) ;;\n");
	}
	buf_puts(out, "\tesac\n}\n\n_stalltop_options=(\n");
	for (size_t i = 0; i < option_table_n; i++) {
		const struct option_row *row = &option_table[i];
		const char *sign = row->arg ? "=" : "";

		buf_putc(out, '\t');
		/* --when can be given several times. */
		if (row->words == WORDS_PRESSURE)
			buf_puts(out, "'*'");
		else if (row->letter)
			buf_printf(out, "'(-%c --%s)'{-%c%s,", row->letter, row->name, row->letter,
				   row->arg ? "+" : "");
		buf_printf(out, "--%s%s%s'[", row->name, sign, row->letter ? "}" : "");
		append_help(out, row->help, ZSH_SPECIAL);
		buf_puts(out, "]");
		if (row->arg)
			buf_printf(out, ":%s: _stalltop_value %s", row->arg,
				   words_table[row->words].name);
		buf_puts(out, "'\n");
	}
	buf_puts(out, ")\n");
}

/* Characters with a meaning for fish within single quotes. */
#define FISH_SPECIAL "\\"

/* Appends a word with its help as a line that is printed. */
static void fish_word(struct buf *out, const char *word, const char *help)
{
	buf_printf(out, "\tprintf '%%s\\t%%s\\n' %s '", word);
	if (help) {
		struct buf text = { 0 };

		append_help(&text, help, FISH_SPECIAL);
		buf_add(out, text.data, text.len);
		buf_free(&text);
	}
	buf_puts(out, "'\n");
}

void completion_fish(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(words_table); i++) {
		if (!words_table[i].word)
			continue;
		buf_printf(out, "function __stalltop_%s%s\n",
			   i == WORDS_FIELD || i == WORDS_SITE_FIELD ? "words_" : "",
			   words_table[i].name);
		each_word(&words_table[i], out, fish_word);
		buf_puts(out, "end\n\n");
	}
	for (size_t i = 0; i < option_table_n; i++) {
		const struct option_row *row = &option_table[i];

		buf_puts(out, "complete -c stalltop -n __stalltop_own");
		if (row->letter)
			buf_printf(out, " -s %c", row->letter);
		buf_printf(out, " -l %s", row->name);
		if (row->words == WORDS_FILE)
			buf_puts(out, " -r -F");
		else if (row->arg && row->words == WORDS_NONE)
			buf_puts(out, " -x");
		else if (row->arg)
			buf_printf(out, " -x -a '(__stalltop_%s)'", words_table[row->words].name);
		buf_puts(out, " -d '");
		append_help(out, row->help, FISH_SPECIAL);
		buf_puts(out, "'\n");
	}
}
