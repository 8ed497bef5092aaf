/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/topics.h"

#include <string.h>

#include "app/options.h"
#include "base/text.h"
#include "base/util.h"
#include "frame/notes.h"
#include "view/column_words.h"
#include "view/findings_parts.h"
#include "view/site_lines.h"

/* Indentation of texts below their names, and of the list's descriptions. */
#define INDENT 4
#define LIST_CELLS 28

/* Manual pages, and their subjects. */
static const struct manual_page {
	const char *topic, *page, *about;
} pages[] = {
	{ "stalltop", "stalltop", "options, keys, columns, privileges, examples, glossary" },
	{ "figures", "stalltop-figures", "what each figure is, and how it is measured" },
	{ "findings", "stalltop-findings", "every finding: meaning and remedy" },
	{ "formats", "stalltop-formats", "text, CSV, JSON, reports" },
	{ "metrics", "stalltop-metrics", "OpenMetrics: scrape, alerts, dashboards" },
	{ "recording", "stalltop-recording", "the file of a recording, and queries" },
};

/* The tour, one line per step: a command or a key, and its effect. */
static const char *const tour[][2] = {
	{ "stalltop -R demo", "plays 72 s of a small site; p pauses" },
	{ "Down, Up", "select a row: its columns say what it waits for" },
	{ "!", "what the sentence above the table means; Esc: back" },
	{ "w", "its waits: call, file or peer, function, waker" },
	{ "C", "the chain of wakers, down to a disk, timer or lock" },
	{ "Enter", "all about it: delays, threads, the kernel's record" },
	{ "[ ] { }", "back and forward in time, by a sample or a minute" },
	{ "g, V", "the same by user, command or cgroup; as a tree" },
	{ "Tab", "hung tasks; waits for CPU, disk or memory" },
	{ "stalltop --why -R demo", "the answer in words (without -R demo: live)" },
};

/* A search, or a look-up of one name, in all texts. */
struct topic_search {
	const char *word;
	struct buf *out;
	bool exact; /* the word is a name: its full text; else one line per text that contains it */
	unsigned found;
	const char *section; /* of the manual, of the text found last */
};

/* The prose of stalltop(1): a paragraph each. */
static const struct {
	const char *section, *text;
} manual[] = {
#include <app/manual_text.h>
};

static void append_wrapped(struct buf *out, const char *text, unsigned left)
{
	buf_printf(out, "%*s", (int)left, "");
	text_wrap(out, text, left, left, TEXT_PRINTED);
}

/* Appends the remedies for a subject. */
static void append_remedy_lines(struct buf *out, enum remedy_subject subject)
{
	struct buf text = { 0 };

	append_wrapped(out, "What to do:", INDENT);
	for (const struct remedy *remedy = remedies_of(subject); remedy->means; remedy++) {
		text.len = 0;
		buf_printf(&text, "%s: ", remedy->means);
		remedy_append(&text, remedy);
		append_wrapped(out, buf_cstr(&text), 2 * INDENT);
	}
	buf_free(&text);
}

/* True if a remedy for a subject contains the word. */
static bool remedies_have(enum remedy_subject subject, const char *word)
{
	for (const struct remedy *remedy = remedies_of(subject); remedy->means; remedy++)
		if (strcasestr(remedy->means, word) || strcasestr(remedy->how, word))
			return true;
	return false;
}

/* A text, with its kind, and its name. */
struct topic_text {
	const char *what, *name, *text;
	const char *more; /* NULL, or the rest of it */
	enum remedy_subject subject; /* its remedy */
	const char *remedy; /* NULL, or the only one */
};

/* Prints a text with that name, or with the word in one of its parts. */
static void take_text(struct topic_search *search, struct topic_text of)
{
	bool has;

	if (search->exact)
		has = !strcasecmp(search->word, of.name);
	else
		has = strcasestr(of.name, search->word) || strcasestr(of.text, search->word) ||
		      (of.more && strcasestr(of.more, search->word)) ||
		      (of.remedy && strcasestr(of.remedy, search->word)) ||
		      remedies_have(of.subject, search->word);
	if (!has)
		return;
	search->found++;
	buf_printf(search->out, "%s %s\n", of.what, of.name);
	append_wrapped(search->out, of.text, INDENT);
	if (search->exact && of.more)
		append_wrapped(search->out, of.more, INDENT);
	if (search->exact && of.remedy) {
		append_wrapped(search->out, "What to do:", INDENT);
		append_wrapped(search->out, of.remedy, 2 * INDENT);
	}
	if (search->exact && of.subject)
		append_remedy_lines(search->out, of.subject);
}

static void look_at_columns(struct topic_search *search, const struct column_table *table,
			    const char *what)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < table->n; i++) {
		const struct column *column = &table->columns[i];
		const struct column_words *words = column_words(column);

		text.len = 0;
		buf_printf(&text, "%s: ", column->heading);
		column_append_words(column, &text);
		take_text(search,
			  (struct topic_text){ what, column->id, buf_cstr(&text),
					       words ? words->more : NULL,
					       words ? words->subject : REMEDY_NONE, NULL });
	}
	buf_free(&text);
}

static void look_at_options(struct topic_search *search)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < option_table_n; i++) {
		const struct option_row *row = &option_table[i];

		text.len = 0;
		buf_printf(&text, "--%s%s%s: %s", row->name, row->arg ? " " : "",
			   row->arg ? row->arg : "", row->help);
		take_text(search, (struct topic_text){ "option", row->name, buf_cstr(&text), NULL,
						       REMEDY_NONE, NULL });
	}
	buf_free(&text);
}

/* True if a paragraph begins with names that include the word: "blocked, hung: ...". */
static bool is_named(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (;; text += strspn(text, ", ")) {
		size_t name = strcspn(text, ",:");

		if (name == len && !strncasecmp(text, word, len))
			return strchr(text, ':');
		text += name;
		if (*text != ',')
			return false;
	}
}

static void look_at_manual(struct topic_search *search)
{
	for (size_t i = 0; i < ARRAY_SIZE(manual); i++) {
		const char *section = manual[i].section, *text = manual[i].text;
		bool has = search->exact ? !strcasecmp(search->word, section) ||
						   is_named(text, search->word)
					 : strcasestr(text, search->word) != NULL;

		if (!has)
			continue;
		search->found++;
		if (search->section != section)
			buf_printf(search->out, "stalltop(1), %s\n", section);
		search->section = section;
		append_wrapped(search->out, text, INDENT);
	}
}

/* Searches all texts. */
static void search_topics(struct topic_search *search)
{
	look_at_columns(search, &task_columns, "column");
	look_at_columns(search, &site_columns, "column of sites");
	for (size_t i = 0; i < finding_patterns_n; i++)
		take_text(search, (struct topic_text){ "finding", finding_patterns[i].id,
						       finding_patterns[i].help, NULL,
						       finding_patterns[i].subject, NULL });
	for (unsigned id = 0; id < NOTE_IDS; id++)
		take_text(search,
			  (struct topic_text){ "note", note_table[id].id, note_table[id].text, NULL,
					       REMEDY_NONE, remedy_of_note(id) });
	look_at_options(search);
	look_at_manual(search);
}

/* Appends a line of a list. */
static void append_line(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, "  %-*s ", LIST_CELLS - 3, name);
	text_wrap(out, text, LIST_CELLS, LIST_CELLS, TEXT_PRINTED);
}

static void append_topics(struct buf *out)
{
	buf_puts(out, "Usage: stalltop help TOPIC\n\n");
	append_line(out, "tour", "ten steps through the bundled recording");
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		append_line(out, pages[i].topic, pages[i].about);
	append_line(out, "NAME",
		    "a column (blkio), an option (trace), a finding or note by its id");
	append_line(out, "WORD", "full-text search in all of these and in stalltop(1)");
}

static void append_tour(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(tour); i++) {
		buf_printf(out, "%2zu  ", i + 1);
		buf_printf(out, "%-*s ", LIST_CELLS - 5, tour[i][0]);
		text_wrap(out, tour[i][1], LIST_CELLS, LIST_CELLS, TEXT_PRINTED);
	}
}

const char *topic_page(const char *topic)
{
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		if (!strcmp(pages[i].topic, topic) || !strcmp(pages[i].page, topic))
			return pages[i].page;
	return NULL;
}

bool topic_append(struct buf *out, const char *topic)
{
	struct topic_search search = { .word = topic, .out = out, .exact = true };

	if (!*topic) {
		append_topics(out);
		return true;
	}
	if (!strcmp(topic, "tour")) {
		append_tour(out);
		return true;
	}
	search.word += strspn(topic, "-");
	if (!*search.word)
		search.word = topic;
	search_topics(&search);
	if (!search.found) {
		search.exact = false;
		search_topics(&search);
	}
	return search.found;
}
