/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/finding.h"

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

void finding_append(struct buf *out, const struct findings *findings, const struct finding *finding,
		    unsigned width, enum text_charset charset)
{
	const char *text = finding_text(findings, finding);
	const char *on = text + finding->on, *rest = on + finding->on_len;
	size_t end = finding->len - finding->on - finding->on_len;
	struct buf whole = { 0 }, target = { 0 };
	unsigned cells, others;

	text_escape(&whole, text, finding->len, charset);
	cells = text_width(whole.data, whole.len, charset);
	if (!width || cells <= width) {
		buf_add(out, whole.data, whole.len);
	} else {
		text_escape(&target, on, finding->on_len, charset);
		others = cells - text_width(target.data, target.len, charset);
		whole.len = 0;
		text_escape(&whole, text, finding->on, charset);
		/* A path's end says more than its beginning; all else is cut where the line ends.
		 */
		if (finding->on_len && *on == '/' && others + TARGET_LEAST <= width)
			text_fit_end(&whole, target.data, target.len, width - others, charset);
		else
			text_escape(&whole, on, finding->on_len, charset);
		text_escape(&whole, rest, end, charset);
		text_fit(out, whole.data, whole.len, width, false, charset);
	}
	buf_free(&whole);
	buf_free(&target);
}

bool finding_wants_target(const struct finding *finding)
{
	return finding->row && finding->row->task && !finding->site &&
	       (finding->ns || (finding->kind && row_wait_state(finding->row) != WAIT_STATES));
}

void findings_free(struct findings *findings)
{
	buf_free(&findings->text);
	*findings = (struct findings){ 0 };
}
