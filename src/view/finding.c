/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/finding.h"

#include <stdlib.h>

#include "base/text.h"
#include "base/util.h"

/* The least cells of a target that is shortened: less says nothing. */
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

/* The words without the parts that give way in the first turns; *on: where the target is then. */
static void without_parts(struct buf *out, const struct findings *findings,
			  const struct finding *finding, unsigned turns, size_t *on)
{
	const char *text = finding_text(findings, finding);
	size_t at = 0;

	*on = finding->on;
	for (size_t i = 0; i < finding->nparts; i++) {
		const struct finding_part *part = &finding->parts[i];

		if (part->turn > turns)
			continue;
		buf_add(out, text + at, part->at - at);
		at = part->at + part->len;
		if (part->at < finding->on)
			*on -= part->len;
	}
	buf_add(out, text + at, finding->len - at);
}

/* Appends words in a width, with the target as far as there is room for it. */
static void append_fitted(struct buf *out, const struct buf *words, size_t at, size_t len,
			  unsigned width, enum text_charset charset)
{
	const char *on = words->data + at;
	struct buf whole = { 0 }, target = { 0 };
	unsigned cells, others;

	text_escape(&whole, words->data, words->len, charset);
	cells = text_width(whole.data, whole.len, charset);
	if (cells > width) {
		text_escape(&target, on, len, charset);
		others = cells - text_width(target.data, target.len, charset);
		whole.len = 0;
		text_escape(&whole, words->data, at, charset);
		/* A path's end says more than its beginning; all else is cut where the line ends.
		 */
		if (len && *on == '/' && others + TARGET_LEAST <= width)
			text_fit_end(&whole, target.data, target.len, width - others, charset);
		else
			text_escape(&whole, on, len, charset);
		text_escape(&whole, on + len, words->len - at - len, charset);
		text_fit(out, whole.data, whole.len, width, false, charset);
	} else {
		buf_add(out, whole.data, whole.len);
	}
	buf_free(&whole);
	buf_free(&target);
}

void finding_append(struct buf *out, const struct findings *findings, const struct finding *finding,
		    unsigned width, enum text_charset charset)
{
	struct buf words = { 0 }, escaped = { 0 };
	unsigned turns = 0;
	size_t on;

	do {
		words.len = escaped.len = 0;
		without_parts(&words, findings, finding, turns, &on);
		text_escape(&escaped, words.data, words.len, charset);
	} while (width && text_width(escaped.data, escaped.len, charset) > width &&
		 turns++ < FINDING_TURNS);
	if (width)
		append_fitted(out, &words, on, finding->on_len, width, charset);
	else
		buf_add(out, escaped.data, escaped.len);
	buf_free(&words);
	buf_free(&escaped);
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
	*findings = (struct findings){ 0 };
}
