/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/finding.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

void site_index_begin(struct site_index *index, const struct trace_frame *trace)
{
	index->trace = trace;
	index->made = false;
}

/* Inserts all sites into the index; last to first, so that the first come first. */
static void make_index(struct site_index *index)
{
	const struct trace_frame *trace = index->trace;

	for (index->places = 64; index->places < trace->n;)
		index->places *= 2;
	if (index->places_cap < index->places) {
		index->places_cap = index->places;
		index->first =
			xreallocarray(index->first, index->places_cap, sizeof(*index->first));
	}
	if (index->next_cap < trace->n) {
		index->next_cap = trace->n * 2;
		index->next = xreallocarray(index->next, index->next_cap, sizeof(*index->next));
	}
	memset(index->first, 0, index->places * sizeof(*index->first));
	for (size_t i = trace->n; i-- > 0;) {
		uint32_t *first =
			&index->first[(size_t)trace->sites[i]->tgid & (index->places - 1)];

		index->next[i] = *first;
		*first = (uint32_t)i + 1;
	}
	index->last = 0;
	index->made = true;
}

const struct site *site_index_next(struct site_index *index, pid_t tgid, uint64_t start_ns,
				   const struct site *site)
{
	const struct trace_frame *trace = index->trace;
	bool passed = !site;
	uint32_t at;

	if (!trace)
		return NULL;
	if (!index->made)
		make_index(index);
	at = site && index->last && trace->sites[index->last - 1] == site
		     ? index->last
		     : index->first[(size_t)tgid & (index->places - 1)];
	for (; at; at = index->next[at - 1]) {
		const struct site *next = trace->sites[at - 1];

		if (passed && next->tgid == tgid && next->start_ns == start_ns) {
			index->last = at;
			return next;
		}
		passed |= next == site;
	}
	return NULL;
}

void site_index_free(struct site_index *index)
{
	free(index->first);
	free(index->next);
	*index = (struct site_index){ 0 };
}

/* Minimum cells of a shortened target: less is meaningless. */
#define TARGET_LEAST 10

const char *const finding_severities[FINDING_SEVERITIES] = { "info", "warning", "critical" };

const struct finding *findings_first(const struct findings *findings)
{
	if (findings->n)
		return &findings->all[0];
	return findings->known ? &findings->none : NULL;
}

const char *finding_text(const struct findings *findings, const struct finding *finding)
{
	return findings->text.data + finding->at;
}

/* The words, and the path in them: of length 0 if there is none. */
struct words {
	struct buf text;
	size_t on, on_len;
};

/* The words without the parts dropped in the first turns. */
static void without_parts(struct words *out, const struct findings *findings,
			  const struct finding *finding, unsigned turns)
{
	const char *text = finding_text(findings, finding);
	size_t at = 0;

	out->text.len = 0;
	out->on = finding->on;
	out->on_len = finding->on_len;
	for (size_t i = 0; i < finding->nparts; i++) {
		const struct finding_part *part = &finding->parts[i];

		/* A part within another is gone with it. */
		if (part->turn > turns || part->at < at)
			continue;
		buf_add(&out->text, text + at, part->at - at);
		at = part->at + part->len;
		if (at <= finding->on)
			out->on -= part->len;
		else if (part->at < finding->on)
			out->on_len = 0;
	}
	buf_add(&out->text, text + at, finding->len - at);
}

/* Display width of a part of the sentence. */
static unsigned width_of_part(const struct buf *text, size_t at, size_t len,
			      enum text_charset charset)
{
	struct buf escaped = { 0 };
	unsigned cells;

	text_escape(&escaped, text->data + at, len, charset);
	cells = text_width(escaped.data, escaped.len, charset);
	buf_free(&escaped);
	return cells;
}

/* True if the words fit, with a shortened path if permitted. */
static bool have_room(const struct words *words, unsigned width, bool shortened,
		      enum text_charset charset)
{
	unsigned cells = width_of_part(&words->text, 0, words->text.len, charset);

	if (cells <= width || !shortened || !words->on_len)
		return cells <= width;
	return cells - width_of_part(&words->text, words->on, words->on_len, charset) +
		       TARGET_LEAST <=
	       width;
}

/* Appends words in a width, with as much of the path as fits. */
static void append_fitted(struct buf *out, const struct words *words, unsigned width,
			  enum text_charset charset)
{
	const struct buf *text = &words->text;
	size_t behind = words->on + words->on_len;
	unsigned cells = width_of_part(text, 0, text->len, charset);
	unsigned target = width_of_part(text, words->on, words->on_len, charset);
	struct buf whole = { 0 }, escaped = { 0 };

	if (cells <= width || !target || cells - target + TARGET_LEAST > width) {
		text_escape(&whole, text->data, text->len, charset);
	} else {
		/* The end of a path matters more than its beginning. */
		text_escape(&whole, text->data, words->on, charset);
		text_escape(&escaped, text->data + words->on, words->on_len, charset);
		text_fit_end(&whole, escaped.data, escaped.len, width - (cells - target), charset);
		text_escape(&whole, text->data + behind, text->len - behind, charset);
	}
	if (cells <= width)
		buf_add(out, whole.data, whole.len);
	else
		text_fit(out, whole.data, whole.len, width, false, charset);
	buf_free(&whole);
	buf_free(&escaped);
}

bool finding_append(struct buf *out, const struct findings *findings, const struct finding *finding,
		    unsigned width, enum text_charset charset)
{
	struct words words = { 0 };
	unsigned turns = 0;
	bool whole;

	without_parts(&words, findings, finding, turns);
	while (width && turns < DROP_RANKS &&
	       !have_room(&words, width, turns == DROP_RANKS - 1, charset))
		without_parts(&words, findings, finding, ++turns);
	whole = !width || have_room(&words, width, false, charset);
	if (width)
		append_fitted(out, &words, width, charset);
	else
		text_escape(out, words.text.data, words.text.len, charset);
	buf_free(&words.text);
	return whole;
}

bool finding_wants_target(const struct finding *finding)
{
	return finding->row && finding->row->task && !finding->site &&
	       (finding->ns || (finding->kind && row_wait_state(finding->row) != WAIT_STATES));
}

void findings_free(struct findings *findings)
{
	site_index_free(&findings->sites);
	buf_free(&findings->text);
	free(findings->past);
	free(findings->ended);
	*findings = (struct findings){ 0 };
}
