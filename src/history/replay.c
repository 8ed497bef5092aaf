/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/replay.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "history/record.h"
#include "history/segments.h"

#define DAY_NS (86400 * NSEC_PER_SEC)

/* True if the date exists. */
static bool is_day(const struct tm *tm)
{
	struct tm day = { .tm_year = tm->tm_year,
			  .tm_mon = tm->tm_mon,
			  .tm_mday = tm->tm_mday,
			  .tm_hour = 12,
			  .tm_isdst = -1 };

	return mktime(&day) != -1 && day.tm_mday == tm->tm_mday;
}

/*
 * Converts a local time to ns (CLOCK_REALTIME); last: if it occurs twice, as the clock is set back
 * by an hour, the later one. False: it is before 1970.
 */
static bool convert_tm(const struct tm *tm, bool last, uint64_t *ns)
{
	bool any = false;

	for (int dst = -1; dst < 2; dst++) {
		struct tm as = *tm;
		time_t seconds;
		uint64_t found;

		as.tm_isdst = dst;
		seconds = mktime(&as);
		/* A missing time, as in spring, and one outside summer time, changes. */
		if (seconds < 0 || (dst >= 0 && as.tm_isdst != dst))
			continue;
		found = (uint64_t)seconds * NSEC_PER_SEC;
		if (!any || (last ? found > *ns : found < *ns))
			*ns = found;
		any = true;
	}
	return any;
}

/* Parses a part of a second, ".25". */
static uint64_t take_fraction(const char **text)
{
	uint64_t ns = 0, unit = NSEC_PER_SEC;

	if (**text != '.' || !isdigit((unsigned char)(*text)[1]))
		return 0;
	for (++*text; isdigit((unsigned char)**text); ++*text, unit /= 10)
		ns += (uint64_t)(**text - '0') * (unit / 10);
	return ns;
}

/* Parses an offset from UTC, in seconds: "Z", "+02:00", "-0530". False: there is none. */
static bool take_offset(const char **text, int64_t *seconds)
{
	unsigned hours, minutes;
	int used = 0;

	*seconds = 0;
	if (**text == 'Z') {
		++*text;
		return true;
	}
	if ((**text != '+' && **text != '-') ||
	    ((sscanf(*text + 1, "%2u:%2u%n", &hours, &minutes, &used) < 2 || used != 5) &&
	     (sscanf(*text + 1, "%2u%2u%n", &hours, &minutes, &used) < 2 || used != 4)) ||
	    hours > 15 || minutes > 59)
		return false;
	*seconds = (int64_t)(hours * 3600 + minutes * 60) * (**text == '-' ? -1 : 1);
	*text += 1 + used;
	return true;
}

/* Parses seconds since 1970, as JSON has them: "@1795269750", "1795269750.25". */
static bool parse_epoch(const char *text, uint64_t *ns)
{
	const char *at = text + (*text == '@'), *begin = at;
	uint64_t seconds;

	/* A shorter number is more likely a typing error. */
	if (!parse_uint(&at, at + strlen(at), &seconds) || (*text != '@' && at - begin < 9) ||
	    seconds > UINT32_MAX)
		return false;
	*ns = seconds * NSEC_PER_SEC + take_fraction(&at);
	return !*at;
}

/* Parses a time with its date. */
static bool parse_dated(const char *text, bool last, uint64_t *ns)
{
	static const char *const forms[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
					     "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d" };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm tm = { 0 };
		const char *rest = strptime(text, forms[i], &tm);
		uint64_t part;
		int64_t offset;

		if (!rest || (*rest && i == ARRAY_SIZE(forms) - 1))
			continue;
		part = i < 2 ? take_fraction(&rest) : 0;
		if (!is_day(&tm))
			return false;
		if (take_offset(&rest, &offset)) {
			int64_t seconds = (int64_t)timegm(&tm) - offset;

			*ns = (uint64_t)seconds * NSEC_PER_SEC + part;
			return !*rest && seconds >= 0;
		}
		if (*rest)
			continue;
		if (!convert_tm(&tm, last, ns))
			return false;
		*ns += part;
		return true;
	}
	return false;
}

/* Parses a time of the day of end_ns. */
static bool parse_timed(const char *text, uint64_t end_ns, bool last, uint64_t *ns)
{
	static const char *const forms[] = { "%H:%M:%S", "%H:%M" };
	time_t end = (time_t)(end_ns / NSEC_PER_SEC);

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *rest;
		struct tm tm;

		if (!localtime_r(&end, &tm))
			return false;
		tm.tm_sec = 0;
		rest = strptime(text, forms[i], &tm);
		if (rest && !*rest)
			return convert_tm(&tm, last, ns);
	}
	return false;
}

bool replay_time(const char *text, uint64_t end_ns, bool last, uint64_t *ns)
{
	uint64_t age;

	if (*text == '-') {
		if (!segment_parse_age(text + 1, strlen(text + 1), &age))
			return false;
		*ns = end_ns > age ? end_ns - age : 0;
		return true;
	}
	if (parse_epoch(text, ns) || parse_dated(text, last, ns))
		return true;
	if (!parse_timed(text, end_ns, last, ns))
		return false;
	/* It was the day before. */
	if (*ns > end_ns)
		return parse_timed(text, end_ns - DAY_NS, last, ns);
	return true;
}

/*
 * Skips a file of a folder after an error, and reports that once: others have the rest. 0, or the
 * error if it is the only file, or no fault of the file's.
 */
static int skip_file(struct replay *replay, size_t file, int err)
{
	struct segment *segment = replay->files.list[file];

	if (replay->files.n < 2 || err == -EINTR || err == -ENODATA)
		return err;
	if (!segment->left_out && replay->config.left_out)
		replay->config.left_out(segment->path, err);
	segment->left_out = true;
	return 0;
}

/* Lists a file's records. 0 or -errno; a skipped file has none. */
static int list_file(struct replay *replay, size_t file)
{
	struct segment *segment = replay->files.list[file];
	int err = segment->left_out ? 0 : segment_list(segment);

	return err ? skip_file(replay, file, err) : 0;
}

/* Finds the group that was selected at the end of a file. */
static void find_shown_group(struct replay *replay, struct segment *segment)
{
	struct segment_reader reader = { .bare = true };

	if (!segment_go(&reader, segment, segment->n - 1) && record_shown_group(reader.state))
		replay->group = xstrdup(record_shown_group(reader.state));
	segment_reader_free(&reader);
}

/*
 * Finds the end of the recording, and the latest time in it: later than the end if the clock was
 * set back. 0 or -errno.
 */
static int find_end(struct replay *replay, uint64_t *end_ns)
{
	for (size_t file = replay->files.n; file-- > 0;) {
		struct segment *segment = replay->files.list[file];
		int err;

		replay->file = file;
		err = list_file(replay, file);
		if (err)
			return err;
		if (!segment->n)
			continue;
		replay->threads = segment->threads;
		*end_ns = segment->entries[segment->n - 1].real_ns;
		for (size_t i = 0; i < segment->n; i++)
			if (segment->entries[i].real_ns > replay->latest_ns)
				replay->latest_ns = segment->entries[i].real_ns;
		/* Names grow with each file, even if the clock was set back. */
		if (segment_time(segment->path) > replay->latest_ns)
			replay->latest_ns = segment_time(segment->path);
		find_shown_group(replay, segment);
		return 0;
	}
	return -ENODATA;
}

/* Parses --from or --to, if given: "-3m" counts from the end. False: not a time. */
static bool parse_limit(const struct replay *replay, const char *text, uint64_t end_ns, bool last,
			uint64_t *ns)
{
	return !text || replay_time(text, *text == '-' ? end_ns : replay->latest_ns, last, ns);
}

/* When the recording begins; 0: unknown. */
static uint64_t recording_begin(struct replay *replay)
{
	const struct segment *first = replay->files.list[0];

	return !list_file(replay, 0) && first->n ? first->entries[0].real_ns : 0;
}

/* A time of day before the part begins is after the end of the recording: all up to that. */
static void mend_end(struct replay *replay)
{
	const char *to = replay->config.to;
	uint64_t ns;

	if (!to || !parse_timed(to, replay->latest_ns, true, &ns) || ns <= replay->latest_ns)
		return;
	if (replay->to_ns < replay->from_ns || replay->to_ns < recording_begin(replay))
		replay->to_ns = ns;
}

/* Marks what was recorded before a part counted from the end, including later times. */
static void mark_early(struct replay *replay)
{
	for (size_t file = replay->files.n; file-- > 0;) {
		struct segment *segment = replay->files.list[file];

		if (list_file(replay, file))
			continue;
		segment->early_to = segment->n;
		while (segment->early_to &&
		       segment->entries[segment->early_to - 1].real_ns >= replay->from_ns)
			segment->early_to--;
		if (!segment->early_to)
			continue;
		while (file-- > 0)
			replay->files.list[file]->early = true;
		return;
	}
}

int replay_begin(struct replay *replay, const struct replay_config *config)
{
	uint64_t end_ns = 0;
	int err;

	*replay = (struct replay){ .config = *config, .to_ns = UINT64_MAX };
	replay->reader.bare = config->bare;
	err = segments_list(&replay->files, config->path);
	if (!err)
		err = find_end(replay, &end_ns);
	if (!err && (!parse_limit(replay, config->to, end_ns, true, &replay->to_ns) ||
		     !parse_limit(replay, config->from, end_ns, false, &replay->from_ns)))
		err = -EINVAL;
	if (!err)
		mend_end(replay);
	if (!err && config->from && *config->from == '-')
		mark_early(replay);
	return err;
}

/* True if a record is in the part to be played. */
static bool is_in_part(const struct replay *replay, const struct segment *segment, size_t at)
{
	return at >= segment->early_to && segment->entries[at].real_ns >= replay->from_ns &&
	       segment->entries[at].real_ns <= replay->to_ns;
}

/* Moves to the next file. False: there is none; the last one may grow. */
static bool next_file(struct replay *replay)
{
	if (replay->file + 1 >= replay->files.n)
		return false;
	segment_forget(replay->files.list[replay->file++]);
	replay->at = 0;
	return true;
}

/*
 * Finds the next record of this file or a later one in the part to be played. 0, -ENODATA: there is
 * none, or -errno.
 */
static int find_next_record(struct replay *replay)
{
	for (;;) {
		struct segment *segment = replay->files.list[replay->file];
		bool before = segment->early ||
			      segments_before(&replay->files, replay->file, replay->from_ns);
		int err;

		if (!before && replay->at >= segment->n) {
			err = list_file(replay, replay->file);
			if (err)
				return err;
		}
		for (; !before && !segment->left_out && replay->at < segment->n; replay->at++) {
			if (is_in_part(replay, segment, replay->at))
				return 0;
			replay->apart = true;
		}
		replay->apart |= before;
		if (!next_file(replay))
			return -ENODATA;
	}
}

int replay_open(struct replay **out, const struct replay_config *config, char **file)
{
	struct replay *replay = xcalloc(1, sizeof(*replay));
	int err = replay_begin(replay, config);

	if (!err)
		replay->file = 0;
	if (!err)
		err = find_next_record(replay);
	/* No sample was taken within the selected times. */
	if (err == -ENODATA && replay->latest_ns)
		err = 0;
	if (err) {
		*file = xstrdup(replay_file(replay));
		replay_close(replay);
		return err;
	}
	*out = replay;
	return 0;
}

/* True if enough time has passed since the last sample returned. */
static bool is_sample_due(const struct replay *replay)
{
	const struct segment *segment = replay->files.list[replay->file];
	uint64_t now_ns = record_begin_ns(replay->reader.state);

	/* Up to half a recorded interval may be missing: samples are not taken at exact times. */
	return !replay->given || replay->baseline ||
	       !segment->entries[replay->at - 1].interval_ns ||
	       now_ns + (now_ns - replay->before_ns) / 2 >=
		       replay->given_ns + replay->config.interval_ns;
}

/* Reads the record just found. 0 or -errno. */
static int read_found(struct replay *replay)
{
	struct segment *segment = replay->files.list[replay->file];
	uint64_t before_ns = replay->reader.state ? record_begin_ns(replay->reader.state) : 0;
	int err;

	if (replay->apart) {
		/* Its interval starts with the previous sample. */
		replay->at -= replay->at > 0;
		replay->apart = replay->given = false;
		replay->baseline = true;
		segment_reader_reset(&replay->reader);
		err = segment_go(&replay->reader, segment, replay->at);
	} else {
		err = segment_read(&replay->reader, segment, replay->at);
	}
	replay->before_ns = before_ns;
	replay->at++;
	return err;
}

/* Reads the next record, also of later files. 0, -ENODATA at the end, or -errno. */
static int read_any(struct replay *replay)
{
	for (;;) {
		int err = find_next_record(replay);

		if (!err)
			err = read_found(replay);
		if (!err || err == -ENODATA)
			return err;
		/* A damaged file counts up to the damage. */
		err = skip_file(replay, replay->file, err);
		if (err)
			return err;
	}
}

/* Reads on until a sample is due. 0, -ENODATA at the end, or -errno. */
static int read_on(struct replay *replay)
{
	bool any = false;
	int err;

	do {
		err = find_next_record(replay);
		if (any && replay->apart && replay->config.whole)
			return 0;
		if (!err)
			err = read_any(replay);
		any |= !err;
	} while (!err && !is_sample_due(replay));
	/* The interval ends with the recording, or with the selected times. */
	return err == -ENODATA && any && replay->config.whole ? 0 : err;
}

/* Implements struct playback. */
static int next_sample(void *state, struct sample *prev, struct sample *cur,
		       struct playback_record *result)
{
	struct replay *replay = state;
	int err = read_on(replay);

	if (err)
		return err;
	record_rebuild_sample(replay->reader.state, prev, cur, replay->config.pids,
			      replay->config.npids, result);
	result->baseline |= replay->baseline;
	replay->baseline = false;
	replay->given = true;
	replay->given_ns = cur->begin_ns;
	return 0;
}

/* Implements struct playback. */
static void replay_read_group(void *state, const char *path, const struct cgroup_sample **now,
			      const struct cgroup_sample **before)
{
	const struct replay *replay = state;

	record_group(replay->reader.state, path, now, before);
}

struct playback replay_playback(struct replay *replay)
{
	return (struct playback){ .state = replay,
				  .threads = replay->threads,
				  .next = next_sample,
				  .group = replay_read_group };
}

const char *replay_file(const struct replay *replay)
{
	return replay->file < replay->files.n ? replay->files.list[replay->file]->path
					      : replay->config.path;
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	segment_reader_free(&replay->reader);
	segments_free(&replay->files);
	free(replay->group);
	free(replay);
}
