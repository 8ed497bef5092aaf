/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "procsystem.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "util.h"

/* Moves *at behind a word that stands there. */
static bool take_word(const char **at, const char *end, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(end - *at) < len || memcmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

/* Takes a number behind blanks. At the very end of the text it may have been cut. */
static bool take_number(const char **at, const char *end, uint64_t *value)
{
	while (*at < end && **at == ' ')
		++*at;
	return parse_uint(at, end, value) && *at < end;
}

/* The line behind this one, or the end. */
static const char *next_line(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline + 1 : end;
}

int procsystem_stat_parse(const char *text, size_t len, struct procsystem_stat *out)
{
	const char *at = text, *end = text + len;
	struct procsystem_stat stat = { .cpus = 0 };

	if (!take_word(&at, end, "cpu "))
		return -EBADMSG;
	for (unsigned i = 0; i < PROCSYSTEM_STATES; i++)
		if (!take_number(&at, end, &stat.ticks[i]))
			return -EBADMSG;
	for (at = next_line(at, end); take_word(&at, end, "cpu"); at = next_line(at, end))
		stat.cpus++;
	/* In between is the line of interrupts, which may be long. */
	while (at < end && !take_word(&at, end, "processes "))
		at = next_line(at, end);
	if (!stat.cpus || (at < end && !take_number(&at, end, &stat.forks)))
		return -EBADMSG;
	*out = stat;
	return 0;
}

int procsystem_memory_parse(const char *text, size_t len, struct procsystem_memory *out)
{
	enum { TOTAL, FREE, AVAILABLE, SWAP_TOTAL, SWAP_FREE, FIELDS };
	/* In the order that the kernel has them. */
	static const char *const names[FIELDS] = { "MemTotal:", "MemFree:", "MemAvailable:",
						   "SwapTotal:", "SwapFree:" };
	const char *end = text + len;
	uint64_t kb[FIELDS] = { 0 };

	for (unsigned next = 0; text < end && next < FIELDS; text = next_line(text, end)) {
		for (unsigned i = next; i < FIELDS; i++) {
			if (!take_word(&text, end, names[i]))
				continue;
			if (!take_number(&text, end, &kb[i]))
				return -EBADMSG;
			next = i + 1;
			break;
		}
	}
	if (!kb[TOTAL])
		return -EBADMSG;
	/* In containers the one may be the container's and the other the machine's. */
	if (!kb[AVAILABLE] || kb[AVAILABLE] > kb[TOTAL])
		kb[AVAILABLE] = kb[FREE] < kb[TOTAL] ? kb[FREE] : kb[TOTAL];
	if (kb[SWAP_FREE] > kb[SWAP_TOTAL])
		kb[SWAP_FREE] = kb[SWAP_TOTAL];
	*out = (struct procsystem_memory){ .total = kb[TOTAL],
					   .used = kb[TOTAL] - kb[AVAILABLE],
					   .swap_total = kb[SWAP_TOTAL],
					   .swap_used = kb[SWAP_TOTAL] - kb[SWAP_FREE] };
	return 0;
}

int procsystem_load_parse(const char *text, size_t len, double out[3])
{
	const char *at = text, *end = text + len;
	double load[3];

	for (unsigned i = 0; i < ARRAY_SIZE(load); i++) {
		uint64_t whole, part;
		const char *decimals;

		if (!take_number(&at, end, &whole) || !take_word(&at, end, "."))
			return -EBADMSG;
		decimals = at;
		if (!take_number(&at, end, &part) || at - decimals != 2)
			return -EBADMSG;
		/* One division: the number next to the text's, as if it were read by strtod(). */
		load[i] = ((double)whole * 100.0 + (double)part) / 100.0;
	}
	memcpy(out, load, sizeof(load));
	return 0;
}
