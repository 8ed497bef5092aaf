/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of recordings, and of what the screen keeps to look back at. */
#include "config.h"

#include "app/options_parts.h"

#include <string.h>
#include <time.h>

#include "app/options.h"
#include "base/util.h"
#include "history/segments.h"

bool option_take_file(const char **file, const char *arg, struct buf *why)
{
	*file = arg;
	if (!*arg)
		buf_puts(why, "the name of a file");
	return *arg != '\0';
}

OPTION_SETTER(option_set_record)
{
	return option_take_file(&options->record.path, arg, why);
}

OPTION_SETTER(option_set_keep)
{
	options->record.segments = true;
	if (segment_parse_limits(arg, &options->record.limits))
		return true;
	buf_puts(why, "an age (s, m, h, d), a size (K, M, G, T), or both: 7d,1G");
	return false;
}

OPTION_SETTER(option_set_before)
{
	const uint64_t most_ns = 24 * 3600 * NSEC_PER_SEC;

	if (segment_parse_age(arg, strlen(arg), &options->record.before_ns) &&
	    options->record.before_ns <= most_ns)
		return true;
	buf_puts(why, "a time from 1s to 24h (s, m, h)");
	return false;
}

OPTION_SETTER(option_set_replay)
{
	return option_take_file(&options->replay.path, arg, why);
}

OPTION_SETTER(option_set_diff)
{
	return option_take_file(&options->diff[0], arg, why);
}

/* Takes a time of a recording; when that ends shows later. */
static bool take_time(const char **time, const char *arg, struct buf *why)
{
	uint64_t ns;

	*time = arg;
	if (replay_time(arg, clock_ns(CLOCK_REALTIME), &ns))
		return true;
	buf_puts(why, "14:02, 14:02:30, \"2026-11-21 14:02\", or -3m before its end (s, m, h, d)");
	return false;
}

OPTION_SETTER(option_set_from)
{
	return take_time(&options->replay.from, arg, why);
}

OPTION_SETTER(option_set_to)
{
	return take_time(&options->replay.to, arg, why);
}

OPTION_SETTER(option_set_history)
{
	if (lookback_parse(arg, &options->history))
		return true;
	buf_puts(why, "a time such as 15m or 1h, a size such as 64M, both as in 1h,128M, or 0");
	return false;
}
