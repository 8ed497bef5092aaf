/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/trigger_watch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/util.h"
#include "view/findings.h"

/* Appends the event. */
static void append_reasons(struct buf *out, const struct trigger_watch *watch, uint64_t now_ns)
{
	const struct trigger_set *set = watch->triggers;
	const char *before = "";

	for (size_t i = 0; set && i < set->n; i++) {
		const struct trigger *trigger = &set->all[i];
		const char *text = trigger->spec->text;

		/* Lasting pressure may be seen before the kernel reports it. */
		if (!trigger->fired && trigger->lasts_ns != now_ns)
			continue;
		buf_puts(out, before);
		text_escape(out, text, strlen(text), TEXT_ASCII);
		before = ", ";
	}
	if (watch->asked_ns)
		buf_printf(out, "%sSIGUSR1", before);
}

/* Appends the frame's findings, if any. */
static void append_finding(struct buf *out, const struct frame *frame)
{
	const struct view view = { .frame = frame, .charset = TEXT_ASCII };
	struct findings findings = { .n = 0 };

	findings_take(&findings, &view, frame, NULL);
	if (findings.n) {
		buf_puts(out, "; ");
		finding_append(out, &findings, &findings.all[0], 0, TEXT_ASCII);
	}
	findings_free(&findings);
}

/* Reports that the recording begins, with what, and the findings so far. */
static void say_recording(const struct trigger_watch *watch, const struct frame *frame,
			  uint64_t now_ns)
{
	uint64_t since_ns = recorder_since_ns(watch->recorder);
	uint64_t kept_ns = since_ns ? now_ns - since_ns : 0;
	struct buf line = { 0 };

	append_reasons(&line, watch, now_ns);
	append_finding(&line, frame);
	fprintf(stderr, "stalltop: recording from %.0f s before the event: %s\n",
		(double)(kept_ns < watch->before_ns ? kept_ns : watch->before_ns) / 1e9,
		buf_cstr(&line));
	buf_free(&line);
}

void trigger_watch_look(struct trigger_watch *watch, const struct frame *frame)
{
	struct trigger_set *set = watch->triggers;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), until_ns = 0;
	bool lasts;

	if (set) {
		triggers_look(set, now_ns);
		incidents_look(&watch->incidents, set, watch->procfd, frame, now_ns);
		until_ns = triggers_until_ns(set, watch->linger_ns);
	}
	if (*watch->asked) {
		*watch->asked = 0;
		watch->asked_ns = now_ns;
	}
	if (watch->asked_ns && watch->asked_ns + watch->linger_ns > until_ns)
		until_ns = watch->asked_ns + watch->linger_ns;
	/* If nothing is recorded after it, the current sample is still written. */
	lasts = until_ns && until_ns >= now_ns;
	if (lasts && !watch->lasts)
		say_recording(watch, frame, now_ns);
	else if (!lasts && watch->lasts)
		fprintf(stderr, "stalltop: recording stopped\n");
	if (!lasts)
		watch->asked_ns = 0;
	watch->lasts = lasts;
	recorder_incident(watch->recorder, lasts);
}
