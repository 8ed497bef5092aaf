/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "options_when.h"

#include <stdlib.h>
#include <string.h>

#include "trigger_words.h"
#include "util.h"

bool when_add(struct when *when, const char *arg, struct buf *why)
{
	struct trigger_spec spec;
	enum trigger_fault fault;

	if (when->n == TRIGGERS_MAX) {
		buf_printf(why, "%d of them at most", TRIGGERS_MAX);
		return false;
	}
	fault = trigger_parse(arg, &spec);
	if (fault) {
		buf_puts(why, trigger_allowed(fault));
		return false;
	}
	when->specs = xreallocarray(when->specs, when->n + 1, sizeof(spec));
	when->specs[when->n++] = spec;
	return true;
}

void when_replace(struct when *when, size_t old)
{
	if (when->n == old)
		return;
	for (size_t i = 0; i < old; i++)
		trigger_spec_free(&when->specs[i]);
	when->n -= old;
	memmove(when->specs, when->specs + old, when->n * sizeof(*when->specs));
}

void when_free(struct when *when)
{
	for (size_t i = 0; i < when->n; i++)
		trigger_spec_free(&when->specs[i]);
	free(when->specs);
	*when = (struct when){ 0 };
}
