/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "out/series_label.h"

#include <string.h>

#include "base/text.h"

void series_label(struct buf *out, const char *name)
{
	struct buf text = { 0 };
	size_t at = 0;

	if (!name) {
		buf_puts(out, SERIES_UNKNOWN);
		return;
	}
	/*
	 * A name that looks like a label of ours, or has no label, begins with an escape that no
	 * other name gives.
	 */
	if (!*name || !strcmp(name, SERIES_UNKNOWN) || !strcmp(name, SERIES_REST)) {
		buf_printf(&text, "\\x%02x", (unsigned char)*name);
		name += *name != '\0';
	}
	text_escape(&text, name, strlen(name), TEXT_UTF8);
	for (; at < text.len; at++) {
		if (text.data[at] == '\\' || text.data[at] == '"')
			buf_putc(out, '\\');
		buf_putc(out, text.data[at]);
	}
	buf_free(&text);
}
