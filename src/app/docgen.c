/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/docgen.h"

#include <string.h>
#include <sys/utsname.h>

#include "app/errors.h"
#include "app/options.h"
#include "base/text.h"
#include "base/util.h"
#include "bpf/measure.h"
#include "bpf/refusal.h"
#include "frame/notes.h"
#include "read/source.h"
#include "trace/tracing.h"
#include "view/chain.h"
#include "view/column.h"
#include "view/column_words.h"
#include "view/findings_parts.h"
#include "view/site_lines.h"

/* The parts of the shells' completions derived from the program's tables. */

/* Receives a possible word of a value; help may be NULL. */
typedef void word_fn(struct buf *out, const char *word, const char *help);

/* Passes on the words of a list. */
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

/* Appends the letter of an option, if it has one, a separator, and its name. */
static void bash_names(struct buf *out, const struct option_row *row, const char *between)
{
	if (row->letter)
		buf_printf(out, "-%c%s", row->letter, between);
	buf_printf(out, "--%s", row->name);
}

/* Append the options and the possible words of their values, as text of that shell. */
static void completion_bash(struct buf *out)
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

static void completion_zsh(struct buf *out)
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

static void completion_fish(struct buf *out)
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

/*
 * Appends plain text with roff's special characters escaped. In a note's text N replaces its value,
 * words that depend on it are plural, and its reason is a known one.
 */
static void append_roff(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (!strncmp(text, "%v", 2)) {
			buf_puts(out, "\\fIN\\fP");
			text++;
		} else if (!strncmp(text, "%e", 2)) {
			buf_puts(out, " (\\fIwhy\\fP)");
			text++;
		} else if (*text == '{') {
			text += strcspn(text, "|");
		} else if (*text == '\\') {
			buf_puts(out, "\\e");
		} else if (*text == '-') {
			buf_puts(out, "\\-");
		} else if (*text != '}') {
			buf_putc(out, *text);
		}
	}
}

/* Appends the start of a tagged paragraph. */
static void append_tag(struct buf *out, const char *tag)
{
	buf_puts(out, ".TP\n.B ");
	append_roff(out, tag);
	buf_putc(out, '\n');
}

/* Appends the columns of a table. */
static void document_columns(const struct column_table *table, struct buf *out)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct column *column = &table->columns[i];

		buf_puts(out, ".TP\n.BR ");
		append_roff(out, column->id);
		buf_printf(out, " \" %s", column->heading);
		if (column->digit)
			buf_printf(out, ", key %c", column->digit);
		buf_puts(out, ", ");
		append_roff(out, column->unit
					 ? (strcmp(column->unit, "-") ? column->unit : "(letter)")
					 : "unit by -U");
		buf_puts(out, "\"\n");
		append_roff(out, column->help);
		buf_putc(out, '\n');
	}
}

/* Appends the fields. */
static void append_record_fields(struct buf *out)
{
	document_columns(&task_columns, out);
}

/* Appends the fields of sites. */
static void append_sites_table(struct buf *out)
{
	document_columns(&site_columns, out);
}

/* Appends the remedies for a subject; first: the earlier id with the same ones, or NULL. */
static void append_remedies(struct buf *out, enum remedy_subject subject, const char *first)
{
	struct buf how = { 0 };

	if (first) {
		buf_puts(out, "What to do: as for\n.BR ");
		append_roff(out, first);
		buf_puts(out, " .\n");
		return;
	}
	buf_puts(out, ".RS\n");
	for (const struct remedy *remedy = remedies_of(subject); remedy->means; remedy++) {
		how.len = 0;
		remedy_append(&how, remedy);
		append_tag(out, remedy->means);
		append_roff(out, buf_cstr(&how));
		buf_puts(out, ".\n");
	}
	buf_puts(out, ".RE\n");
	buf_free(&how);
}

/* Appends the meanings of the columns' headings, and the remedies for high figures. */
static void append_words(struct buf *out)
{
	const char *first[REMEDY_SUBJECTS] = { NULL };

	for (size_t i = 0; i < column_words_n; i++) {
		const struct column_words *words = &column_words_table[i];

		if (!words->more && !words->subject)
			continue;
		buf_puts(out, ".TP\n.BR ");
		append_roff(out, words->id);
		buf_puts(out, " \": ");
		append_roff(out, words->name);
		buf_puts(out, "\"\n");
		if (words->more)
			append_roff(out, words->more);
		else
			append_roff(out, column_by_id(words->id, strlen(words->id))->help);
		buf_puts(out, words->more ? "\n" : ".\n");
		if (words->subject)
			append_remedies(out, words->subject, first[words->subject]);
		if (!first[words->subject])
			first[words->subject] = words->id;
	}
}

/* Appends an option. */
static void append_option(struct buf *out, const struct option_row *row)
{
	buf_puts(out, ".TP\n");
	if (row->letter)
		buf_printf(out, ".BR \\-%c \", \" \\-\\-", row->letter);
	else
		buf_puts(out, ".BR \\-\\-");
	append_roff(out, row->name);
	if (row->arg)
		buf_printf(out, " \" \\fI%s\\fP\"", row->arg);
	buf_putc(out, '\n');
	append_roff(out, row->help);
	if (row->standard) {
		buf_puts(out, " (default: ");
		append_roff(out, row->standard);
		buf_putc(out, ')');
	}
	buf_putc(out, '\n');
}

/* Appends the options, by their parts. */
static void append_options(struct buf *out)
{
	for (unsigned part = 0; part < OPTION_PARTS; part++) {
		buf_puts(out, ".PD\n.SS ");
		append_roff(out, option_parts[part]);
		buf_puts(out, "\n.PD 0\n");
		for (size_t i = 0; i < option_table_n; i++)
			if (option_table[i].part == part)
				append_option(out, &option_table[i]);
	}
	buf_puts(out, ".PD\n");
}

/* Appends the columns of tasks that screens have by default. */
static void append_columns(struct buf *out)
{
	buf_puts(out, ".PD 0\n");
	for (size_t i = 0; i < task_columns.n; i++) {
		const struct column *column = &task_columns.columns[i];

		if (!column->place || column->of_groups)
			continue;
		buf_puts(out, ".TP 12\n.B ");
		append_roff(out, column->heading);
		buf_putc(out, '\n');
		append_roff(out, column->help);
		buf_puts(out, " (");
		append_roff(out, column->id);
		if (column->digit)
			buf_printf(out, ", key %c", column->digit);
		buf_puts(out, ")\n");
	}
	buf_puts(out, ".PD\n");
}

/* Appends the units. */
static void append_units(struct buf *out)
{
	for (unsigned unit = 0; unit < UNITS; unit++) {
		append_tag(out, unit_table[unit].id);
		append_roff(out, unit_table[unit].help);
		buf_putc(out, '\n');
	}
}

/* Appends the notes. */
static void append_notes(struct buf *out)
{
	for (unsigned id = 0; id < NOTE_IDS; id++) {
		const struct note_row *row = &note_table[id];

		append_tag(out, row->id);
		append_roff(out, row->text);
		if (remedy_of_note(id)) {
			buf_puts(out, ". Remedy: ");
			append_roff(out, remedy_of_note(id));
		}
		buf_puts(out, ".\n");
	}
}

/* Appends the patterns of findings. */
static void append_patterns(struct buf *out)
{
	const char *first[REMEDY_SUBJECTS] = { NULL };

	for (size_t i = 0; i < finding_patterns_n; i++) {
		const struct finding_pattern *pattern = &finding_patterns[i];

		buf_printf(out, ".TP\n.BR ");
		append_roff(out, pattern->id);
		buf_printf(out, " \" (%s)\"\n", finding_severities[pattern->severity]);
		append_roff(out, pattern->help);
		buf_puts(out, ".\n.br\nSays: ");
		append_roff(out, pattern->example);
		buf_puts(out, "\n.br\n");
		append_remedies(out, pattern->subject, first[pattern->subject]);
		if (!first[pattern->subject])
			first[pattern->subject] = pattern->id;
	}
}

/* Appends the options that a configuration cannot have, as a list in a sentence. */
static void append_barred(struct buf *out)
{
	size_t left = 0;

	for (size_t i = 0; i < option_table_n; i++)
		left += option_table[i].barred;
	for (size_t i = 0; i < option_table_n; i++) {
		if (!option_table[i].barred)
			continue;
		left--;
		buf_puts(out, ".BR ");
		append_roff(out, option_table[i].name);
		buf_puts(out, left > 1 ? " ,\n" : left ? "\nand\n" : " ),\n");
	}
}

/* Words in JSON; NULL after the last. */
#define WORDS_OF(name, n, word) \
	static const char *name(unsigned i) \
	{ \
		return i < (n) ? (word) : NULL; \
	}
WORDS_OF(word_kind, WAIT_KINDS, wait_kind_id(i))
WORDS_OF(word_delay, DELAY_KINDS, delay_table[i].id)
WORDS_OF(word_state, WAIT_STATES, wait_state_table[i].id)
WORDS_OF(word_class, WAIT_CLASSES, wait_class_ids[i])
WORDS_OF(word_root, CHAIN_ROOTS, chain_root_ids[i])
WORDS_OF(word_severity, FINDING_SEVERITIES, finding_severities[i])
WORDS_OF(word_reason, WAIT_REASONS, wait_reason_table[i].id)
WORDS_OF(word_grouping, GROUP_BYS, group_table[i].id)
WORDS_OF(word_resource, PSI_RESOURCES, psi_names[i])
WORDS_OF(word_cpu, CPU_STATES, cpu_state_names[i])
#undef WORDS_OF

/*
 * Appends the definitions of the JSON Schema that follow from tables: sets of words, and objects
 * with a member per word.
 */
static void append_schema(struct buf *out)
{
	static const struct {
		const char *name;
		const char *(*word)(unsigned i);
		const char *member, *suffix; /* NULL: a set of words; the type of its members */
	} defs[] = {
		{ "kind", word_kind, NULL, "" },
		{ "state", word_state, NULL, "" },
		{ "class", word_class, NULL, "" },
		{ "root", word_root, NULL, "" },
		{ "severity", word_severity, NULL, "" },
		{ "reason", word_reason, NULL, "" },
		{ "grouping", word_grouping, NULL, "" },
		{ "delays", word_delay, "delay", "" },
		{ "delays_ranged", word_delay, "delay_ranged", "" },
		{ "waited", word_kind, "count_or_null", "" },
		{ "states_known", word_state, "count", "_ns" },
		{ "pressures", word_resource, "pressure", "" },
		{ "cpu_times", word_cpu, "count", "" },
	};

	for (size_t d = 0; d < ARRAY_SIZE(defs); d++) {
		struct buf words = { 0 }, members = { 0 };
		const char *word;

		for (unsigned i = 0; (word = defs[d].word(i)); i++) {
			const char *comma = i ? ", " : "";

			buf_printf(&words, "%s\"%s%s\"", comma, word, defs[d].suffix);
			if (defs[d].member)
				buf_printf(&members, "%s\"%s%s\": {\"$ref\": \"#/$defs/%s\"}",
					   comma, word, defs[d].suffix, defs[d].member);
		}
		if (defs[d].member)
			buf_printf(out,
				   "\t\t\"%s\": {\"type\": \"object\", \"properties\": {%s}, "
				   "\"required\": [%s], \"additionalProperties\": false},\n",
				   defs[d].name, buf_cstr(&members), buf_cstr(&words));
		else
			buf_printf(out,
				   "\t\t\"%s\": {\"enum\": [%s]},\n"
				   "\t\t\"%s_or_null\": {\"enum\": [%s, null]},\n",
				   defs[d].name, buf_cstr(&words), defs[d].name, buf_cstr(&words));
		buf_free(&words);
		buf_free(&members);
	}
}

void docgen_schema(struct buf *out)
{
	static const char *const lines[] = {
#include <app/schema_text.h>
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		buf_puts(out, lines[i]);
}

bool docgen_append(struct buf *out, const char *name)
{
	static const struct {
		const char *name;
		void (*append)(struct buf *out);
	} tables[] = { { "fields", append_record_fields }, { "options", append_options },
		       { "sites", append_sites_table },	   { "units", append_units },
		       { "notes", append_notes },	   { "findings", append_patterns },
		       { "words", append_words },	   { "barred", append_barred },
		       { "columns", append_columns },	   { "bash", completion_bash },
		       { "zsh", completion_zsh },	   { "fish", completion_fish },
		       { "schema", append_schema } };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(tables[i].name, name) != 0)
			continue;
		tables[i].append(out);
		return true;
	}
	return false;
}

/* Appends "name: words", followed by more in brackets, wrapped. */
static void put_found(struct buf *out, const char *name, const char *words, struct buf *bracket)
{
	struct buf line = { 0 };

	buf_printf(&line, bracket->len ? "%s: %s (%s)" : "%s: %s", name, words, buf_cstr(bracket));
	text_wrap(out, buf_cstr(&line), 0, 2, TEXT_PRINTED);
	buf_free(&line);
	buf_free(bracket);
}

/* Appends a description of a source on this kernel, or why it cannot be used. */
static void put_source(struct buf *out, const struct source_ops *ops, const struct source_env *env)
{
	struct source source;
	struct buf words = { 0 }, why = { 0 };
	int err = source_open(&source, ops->name, env);

	if (err)
		error_of_source(&why, ops->name, err);
	else if (ops->describe)
		ops->describe(source.state, &words);
	if (err || words.len)
		put_found(out, ops->name, err ? "unavailable" : buf_cstr(&words), &why);
	buf_free(&words);
	source_close(&source);
}

/* Appends whether waits can be measured. */
static void put_measuring(struct buf *out)
{
	struct measure *measure = NULL;
	struct buf why = { 0 };
	int err = measure_open(&measure);

	if (err)
		refusal_append(&why, err);
	put_found(out, "measure", err ? "unavailable" : "loaded", &why);
	measure_close(measure);
}

/* Appends whether waits can be traced. */
static void put_tracing(struct buf *out, struct proc *proc)
{
	struct tracing_config config = { .proc = proc };
	struct tracing *tracing = NULL;
	struct buf why = { 0 };
	int err = tracing_open(&tracing, &config);

	if (err)
		refusal_append(&why, err);
	put_found(out, "trace", err ? "unavailable" : "loaded", &why);
	tracing_close(tracing);
}

/* Appends what the program was built without, and why. The bpf source says so by itself. */
static void put_missing_parts(struct buf *out)
{
	static const struct {
		const char *what, *why;
	} parts[] = {
		{ "metrics over HTTP", MICROHTTPD_MISSING },
		{ "libproc2 or libprocps", PROCPS_MISSING },
		{ "functions of programs", LIBDW_MISSING },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct buf why = { 0 };

		buf_puts(&why, parts[i].why);
		if (why.len)
			put_found(out, parts[i].what, "not built in", &why);
		buf_free(&why);
	}
}

void docgen_version(struct buf *out, struct proc *proc)
{
	struct source_env env = { .proc = proc };
	struct utsname kernel;

	buf_printf(out, "stalltop %s\nsources:", PACKAGE_VERSION);
	for (size_t i = 0; source_registry[i]; i++)
		buf_printf(out, " %s", source_registry[i]->name);
	buf_putc(out, '\n');
	if (!uname(&kernel))
		buf_printf(out, "kernel: %s %s\n", kernel.sysname, kernel.release);
	for (size_t i = 0; source_registry[i]; i++)
		put_source(out, source_registry[i], &env);
	put_measuring(out);
	put_tracing(out, proc);
	put_missing_parts(out);
}
