// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "psi.h"

#include <errno.h>
#include <string.h>

#include "util.h"

const char *const psi_names[PSI_RESOURCES] = {
	[PSI_CPU] = "cpu",
	[PSI_MEMORY] = "memory",
	[PSI_IO] = "io",
	[PSI_IRQ] = "irq",
};

/* Moves *at behind a word that stands there. */
static bool take_word(const char **at, const char *end, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(end - *at) < len || memcmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

/* Takes a percentage as the kernel writes it, with two decimals, in hundredths. */
static bool take_percent(const char **at, const char *end, uint32_t *hundredths)
{
	uint64_t whole, part;
	const char *decimals;

	if (!parse_uint(at, end, &whole) || !take_word(at, end, "."))
		return false;
	decimals = *at;
	if (!parse_uint(at, end, &part) || *at - decimals != 2)
		return false;
	if (whole > (UINT32_MAX - part) / 100)
		return false;
	*hundredths = (uint32_t)(whole * 100 + part);
	return true;
}

/* Takes all that follows the word "some" or "full", up to the line's end. */
static void parse_line(const char *at, const char *end, struct psi_line *out)
{
	struct psi_line line = {.valid = true};

	/* The first one counts, should a kernel ever write a line twice. */
	if (out->valid)
		return;
	if (take_word(&at, end, " avg10=") && take_percent(&at, end, &line.avg10) &&
	    take_word(&at, end, " avg60=") && take_percent(&at, end, &line.avg60) &&
	    take_word(&at, end, " avg300=") && take_percent(&at, end, &line.avg300) &&
	    take_word(&at, end, " total=") && parse_uint(&at, end, &line.total_us) && at == end)
		*out = line;
}

int psi_parse(const char *text, size_t len, struct psi *out)
{
	const char *end = text + len;

	*out = (struct psi){0};
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		if (take_word(&text, line_end, "some"))
			parse_line(text, line_end, &out->some);
		else if (take_word(&text, line_end, "full"))
			parse_line(text, line_end, &out->full);
		text = newline ? newline + 1 : end;
	}
	return out->some.valid || out->full.valid ? 0 : -EBADMSG;
}
