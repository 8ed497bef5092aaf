/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "data/trigger.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"

#define GROUP_PREFIX "cgroup:"

#define WINDOW_MIN_US 500000
#define WINDOW_MAX_US 10000000

/* Maximum age of a hang: a day. */
#define HANG_MAX_US (UINT64_C(86400) * 1000000)

/* True for a blank between words. */
static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Removes the last word of a text. False: it has none. */
static bool last_word(struct span *text, struct span *word)
{
	while (text->end > text->at && is_blank(text->end[-1]))
		text->end--;
	*word = (struct span){ text->end, text->end };
	while (word->at > text->at && !is_blank(word->at[-1]))
		word->at--;
	text->end = word->at;
	return word->at < word->end;
}

/* us per unit; 0: unknown unit. */
static uint64_t unit_us(const struct span *unit)
{
	static const struct {
		const char *name;
		uint64_t us;
	} units[] = { { "us", 1 }, { "ms", 1000 }, { "s", 1000000 } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (is_text(unit, units[i].name))
			return units[i].us;
	return 0;
}

/*
 * Parses a number with its unit, a whole number of us. A number that is far too large stays too
 * large without overflow.
 */
static bool parse_time(struct span text, uint64_t *us)
{
	const char *decimals = NULL;
	uint64_t whole, scale;

	if (!take_uint(&text, &whole))
		return false;
	if (take_word(&text, ".")) {
		decimals = text.at;
		while (text.at < text.end && *text.at >= '0' && *text.at <= '9')
			text.at++;
		if (text.at == decimals)
			return false;
	}
	scale = unit_us(&text);
	if (!scale)
		return false;
	*us = (whole < UINT32_MAX ? whole : UINT32_MAX) * scale;
	for (; decimals && *decimals >= '0' && *decimals <= '9'; decimals++) {
		scale /= 10;
		if (!scale && *decimals != '0')
			return false;
		*us += (uint64_t)(*decimals - '0') * scale;
	}
	return true;
}

/* Parses threshold and window. */
static enum trigger_fault parse_times(struct span text, struct trigger_spec *spec)
{
	uint64_t threshold, window;
	struct span part;

	if (!take_part(&text, '/', &part) || !parse_time(part, &threshold) ||
	    !parse_time(text, &window))
		return TRIGGER_BAD_TIME;
	if (window < WINDOW_MIN_US || window > WINDOW_MAX_US)
		return TRIGGER_BAD_WINDOW;
	if (!threshold || threshold > window)
		return TRIGGER_BAD_THRESHOLD;
	spec->threshold_us = (uint32_t)threshold;
	spec->window_us = (uint32_t)window;
	return TRIGGER_GOOD;
}

/* Parses the resource and the level (some or full). */
static enum trigger_fault parse_pressure(const struct span *resource, const struct span *level,
					 struct trigger_spec *spec)
{
	unsigned r = 0;

	while (r < PSI_RESOURCES && !is_text(resource, psi_names[r]))
		r++;
	if (r == PSI_RESOURCES)
		return TRIGGER_BAD_RESOURCE;
	spec->resource = (enum psi_resource)r;
	spec->full = is_text(level, "full");
	if (!spec->full && !is_text(level, "some"))
		return TRIGGER_BAD_LEVEL;
	return r == PSI_IRQ && !spec->full ? TRIGGER_BAD_IRQ : TRIGGER_GOOD;
}

/* True if a path has a component "..": a group above the root cannot be meant. */
static bool climbs(struct span path)
{
	struct span part;

	while (take_part(&path, '/', &part))
		if (is_text(&part, ".."))
			return true;
	return false;
}

/* Parses the text before the pressure: empty, or a group, whose name may have blanks. */
static enum trigger_fault parse_group(struct span text, struct trigger_spec *spec)
{
	size_t len;

	while (text.end > text.at && is_blank(text.end[-1]))
		text.end--;
	if (text.at == text.end)
		return TRIGGER_GOOD;
	if (!take_word(&text, GROUP_PREFIX))
		return TRIGGER_BAD_FORM;
	if (text.at == text.end || is_blank(*text.at) || climbs(text))
		return TRIGGER_BAD_GROUP;
	while (take_word(&text, "/"))
		;
	len = (size_t)(text.end - text.at);
	spec->group = xcalloc(len + 1, 1);
	memcpy(spec->group, text.at, len);
	return TRIGGER_GOOD;
}

/* Parses an expression without a pressure: "oom", or "hang" and an age. False: neither. */
static bool parse_event(struct span text, struct trigger_spec *spec, enum trigger_fault *fault)
{
	uint64_t age_us;
	struct span age;

	*fault = TRIGGER_GOOD;
	if (!last_word(&text, &age))
		return false;
	while (text.end > text.at && is_blank(text.end[-1]))
		text.end--;
	if (text.at == text.end && is_text(&age, "oom")) {
		spec->sort = TRIGGER_OOM;
		return true;
	}
	if (text.at == text.end ? !is_text(&age, "hang") : !is_text(&text, "hang"))
		return false;
	spec->sort = TRIGGER_HANG;
	if (!parse_time(age, &age_us) || !age_us || age_us > HANG_MAX_US)
		*fault = TRIGGER_BAD_HANG;
	else
		spec->hang_ns = age_us * NSEC_PER_USEC;
	return true;
}

/* Parses an expression of pressure. */
static enum trigger_fault parse_kernels(struct span rest, struct trigger_spec *spec)
{
	struct span resource, level, times;
	enum trigger_fault fault;

	if (!last_word(&rest, &times) || !last_word(&rest, &level) || !last_word(&rest, &resource))
		return TRIGGER_BAD_FORM;
	fault = parse_group(rest, spec);
	if (!fault)
		fault = parse_pressure(&resource, &level, spec);
	return fault ? fault : parse_times(times, spec);
}

enum trigger_fault trigger_parse(const char *text, struct trigger_spec *spec)
{
	struct span rest = { text, text + strlen(text) };
	enum trigger_fault fault;

	*spec = (struct trigger_spec){ 0 };
	while (rest.at < rest.end && is_blank(*rest.at))
		rest.at++;
	if (!parse_event(rest, spec, &fault))
		fault = parse_kernels(rest, spec);
	if (fault)
		trigger_spec_free(spec);
	else
		spec->text = xstrdup(text);
	return fault;
}

void trigger_spec_free(struct trigger_spec *spec)
{
	free(spec->text);
	free(spec->group);
	*spec = (struct trigger_spec){ 0 };
}
