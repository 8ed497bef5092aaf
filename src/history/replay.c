/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "history/rebuild.h"
#include "history/segments.h"

/* Parses a duration with a letter for its unit. False: it is none. */
static bool parse_age(const char *text, uint64_t *ns)
{
	static const char letters[] = "smhd";
	static const uint64_t units[] = { 1, 60, 3600, 86400 };
	const char *end = text + strlen(text), *letter;
	uint64_t number;

	if (!parse_uint(&text, end, &number) || text + 1 != end)
		return false;
	letter = strchr(letters, *text);
	if (!letter || number > INT64_MAX / NSEC_PER_SEC / 86400)
		return false;
	*ns = number * units[letter - letters] * NSEC_PER_SEC;
	return true;
}

/* Whether the calendar has a day. */
static bool is_day(const struct tm *tm)
{
	struct tm day = { .tm_year = tm->tm_year,
			  .tm_mon = tm->tm_mon,
			  .tm_mday = tm->tm_mday,
			  .tm_hour = 12,
			  .tm_isdst = -1 };

	return mktime(&day) != -1 && day.tm_mday == tm->tm_mday;
}

/* Converts a local time to ns (CLOCK_REALTIME). False: it is before 1970. */
static bool convert_tm(struct tm *tm, uint64_t *ns)
{
	time_t seconds;

	tm->tm_isdst = -1;
	seconds = mktime(tm);
	if (seconds < 0)
		return false;
	*ns = (uint64_t)seconds * NSEC_PER_SEC;
	return true;
}

bool replay_time(const char *text, uint64_t end_ns, uint64_t *ns)
{
	static const char *const dated[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
					     "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d" };
	static const char *const timed[] = { "%H:%M:%S", "%H:%M" };
	time_t end = (time_t)(end_ns / NSEC_PER_SEC);
	uint64_t age;
	struct tm tm;

	if (*text == '-') {
		if (!parse_age(text + 1, &age))
			return false;
		*ns = end_ns > age ? end_ns - age : 0;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(dated); i++) {
		const char *rest;

		tm = (struct tm){ 0 };
		rest = strptime(text, dated[i], &tm);
		if (rest && !*rest)
			return is_day(&tm) && convert_tm(&tm, ns);
	}
	for (size_t i = 0; i < ARRAY_SIZE(timed); i++) {
		const char *rest;

		if (!localtime_r(&end, &tm))
			return false;
		tm.tm_sec = 0;
		rest = strptime(text, timed[i], &tm);
		if (!rest || *rest || !convert_tm(&tm, ns))
			continue;
		if (*ns <= end_ns)
			return true;
		tm.tm_mday--;
		return convert_tm(&tm, ns);
	}
	return false;
}

/*
 * Leaves a file of a folder out after an error, and tells so once: others have the rest. 0, or the
 * error where it is the only file, or no fault of the file's.
 */
static int leave_out(struct replay *replay, size_t file, int err)
{
	struct stretch *stretch = replay->files.list[file];

	if (replay->files.n < 2 || err == -EINTR || err == -ENODATA)
		return err;
	if (!stretch->left_out && replay->config.left_out)
		replay->config.left_out(stretch->path, err);
	stretch->left_out = true;
	replay->number = 0;
	return 0;
}

/* Opens the file with an index, and closes the one before. 0 or -errno. */
static int open_file(struct replay *replay, size_t file)
{
	struct stretch *stretch = replay->files.list[file];
	int err;

	stretch_shut(replay->files.list[replay->file]);
	replay->file = file;
	err = stretch->left_out ? 0 : stretch_open(stretch);
	if (err || stretch->left_out)
		return leave_out(replay, file, err);
	replay->number = !err && stretch->archive.last >= stretch->archive.first
				 ? stretch->archive.first
				 : 0;
	return err;
}

/* Returns the file that is open. */
static struct archive *archive_of(const struct replay *replay)
{
	return &replay->files.list[replay->file]->archive;
}

/* Finds the group that was asked for at the end of the file that is open. */
static void find_group(struct replay *replay)
{
	struct archive *archive = archive_of(replay);
	struct moment_sample sample = { 0 };
	struct text_row text;

	if (archive_get(archive, TABLE_SAMPLE, archive->last, &sample) != 1)
		return;
	archive_done(archive, TABLE_SAMPLE);
	if (!sample.cgroup || archive_get(archive, TABLE_TEXT, sample.cgroup, &text) != 1)
		return;
	replay->group = xcalloc(text.value.len + 1, 1);
	memcpy(replay->group, text.value.data, text.value.len);
	archive_done(archive, TABLE_TEXT);
}

/*
 * Finds the end of the recording, and the latest time in it: another one where the clock was set
 * back. 0 or -errno.
 */
static int find_end(struct replay *replay, uint64_t *end_ns)
{
	for (size_t file = replay->files.n; file-- > 0;) {
		int err = open_file(replay, file);

		if (err)
			return err;
		if (replay->files.list[file]->left_out)
			continue;
		replay->threads = archive_of(replay)->threads;
		if (!replay->number)
			continue;
		*end_ns = archive_time(archive_of(replay), archive_of(replay)->last);
		replay->latest_ns = archive_latest(archive_of(replay));
		/* Names grow with each file: of a later time, if the clock was set back. */
		if (segment_time(replay_file(replay)) > replay->latest_ns)
			replay->latest_ns = segment_time(replay_file(replay));
		if (!*end_ns)
			continue;
		find_group(replay);
		return 0;
	}
	return -ENODATA;
}

/* Parses --from or --to, if there is one: "-3m" counts from the end. False: it is no time. */
static bool parse_limit(const struct replay *replay, const char *text, uint64_t end_ns,
			uint64_t *ns)
{
	return !text || replay_time(text, *text == '-' ? end_ns : replay->latest_ns, ns);
}

/* Marks what was recorded before a part that is counted from the end: also what has later times. */
static void mark_early(struct replay *replay)
{
	size_t end = replay->file;

	for (size_t file = replay->files.n; file-- > 0;) {
		struct stretch *stretch = replay->files.list[file];

		if (open_file(replay, file) || !replay->number)
			continue;
		stretch->early_to = archive_before(archive_of(replay), replay->from_ns);
		while (stretch->early_to && file-- > 0)
			replay->files.list[file]->early = true;
		if (stretch->early_to)
			break;
	}
	open_file(replay, end);
}

int replay_begin(struct replay *replay, const struct replay_config *config)
{
	struct archive_files files;
	uint64_t end_ns = 0;
	int err = archive_list(&files, config->path);

	*replay = (struct replay){ .config = *config, .to_ns = UINT64_MAX };
	for (size_t i = 0; i < files.n; i++)
		stretches_add(&replay->files)->path = xstrdup(files.paths[i]);
	archive_files_free(&files);
	if (!err)
		err = find_end(replay, &end_ns);
	if (!err && (!parse_limit(replay, config->to, end_ns, &replay->to_ns) ||
		     !parse_limit(replay, config->from, end_ns, &replay->from_ns)))
		err = -EINVAL;
	if (!err && config->from && *config->from == '-')
		mark_early(replay);
	return err;
}

int replay_read(struct replay *replay, struct stretch *stretch, int64_t number)
{
	int err = stretch_open(stretch);

	if (err)
		return err;
	if (replay->read != stretch)
		rebuild_begin_file(replay->rebuild);
	replay->read = stretch;
	return rebuild_read(replay->rebuild, &stretch->archive, number);
}

int64_t replay_read_up_to(struct replay *replay, struct stretch *stretch, int64_t whole,
			  int64_t number)
{
	while (whole > 0 && whole < number) {
		int err = replay_read(replay, stretch, whole);

		if (err)
			return err;
		replay->rebuild->passed = 0;
		whole = archive_next(&stretch->archive, whole);
	}
	return whole;
}

/*
 * Finds the next sample of the open file after a number that was taken within the times asked for,
 * or none. 0 or -errno.
 */
static int find_next(struct replay *replay, int64_t after)
{
	struct archive *archive = archive_of(replay);
	int64_t next = archive_next(archive, after), number = next;

	if (next > 0 && (replay->from_ns || replay->to_ns != UINT64_MAX))
		number = archive_find(archive, after, replay->from_ns, replay->to_ns);
	replay->apart |= number != next;
	replay->number = number > 0 ? number : 0;
	return number < 0 ? (int)number : 0;
}

/*
 * Opens the first file from an index on that has samples to show. 0 or -errno; -ENODATA: none has.
 */
static int open_next(struct replay *replay, size_t file)
{
	for (; file < replay->files.n; file++) {
		int err = 0;

		if (replay->files.list[file]->early ||
		    stretches_before(&replay->files, file, replay->from_ns)) {
			replay->apart = true;
			continue;
		}
		err = open_file(replay, file);
		replay->apart |= replay->files.list[file]->early_to > 0;
		if (!err && replay->number)
			err = find_next(replay, replay->files.list[file]->early_to);
		if (err)
			err = leave_out(replay, file, err);
		if (err || replay->number)
			return err;
	}
	return -ENODATA;
}

int replay_open(struct replay **out, const struct replay_config *config, char **file)
{
	struct replay *replay = xcalloc(1, sizeof(*replay));
	int err = replay_begin(replay, config);

	replay->rebuild = xcalloc(1, sizeof(*replay->rebuild));
	replay->rebuild->bare = config->bare;
	if (!err)
		err = open_next(replay, 0);
	/* No sample was taken within the times asked for. */
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

/* Whether enough time has passed since the last sample made. */
static bool is_due(const struct replay *replay)
{
	const struct rebuild *rebuild = replay->rebuild;

	/* Up to half a recorded interval may be missing: samples are not taken at exact times. */
	return !replay->given || rebuild->moment.baseline ||
	       rebuild->begin_ns + (rebuild->begin_ns - rebuild->before_ns) / 2 >=
		       replay->given_ns + replay->config.interval_ns;
}

/*
 * Goes to the sample before the next one, after others were passed over: its interval begins there.
 * Reads what that one builds on. 0 or -errno.
 */
static int lead_up(struct replay *replay)
{
	struct archive *archive = archive_of(replay);
	int64_t number = replay->number, whole;

	replay->apart = replay->given = false;
	replay->baseline = true;
	replay->read = NULL;
	replay->rebuild->passed = 0;
	if (number <= archive->first)
		return 0;
	whole = archive_whole(archive, number - 1);
	number = whole > 0 ? replay_read_up_to(replay, replay->files.list[replay->file], whole,
					       number - 1)
			   : -EBADMSG;
	replay->number = number > 0 ? number : 0;
	return number < 0 ? (int)number : 0;
}

/* Reads the next sample of the file, and finds the one after it. 0 or -errno. */
static int read_next(struct replay *replay)
{
	struct archive *archive = archive_of(replay);
	bool begun = archive_begin(archive);
	int err;

	err = replay->apart ? lead_up(replay) : 0;
	if (!err)
		err = replay_read(replay, replay->files.list[replay->file], replay->number);
	if (!err)
		err = find_next(replay, replay->number);
	if (begun)
		archive_end(archive);
	return err;
}

/* Reads the next sample there is, also of later files. 0, -ENODATA at the end, or -errno. */
static int read_any(struct replay *replay)
{
	int err;

	do {
		err = replay->number ? 0 : open_next(replay, replay->file + 1);
		if (!err)
			err = read_next(replay);
		/* What was read of a file up to where it is damaged counts. */
		if (err && err != -ENODATA)
			err = leave_out(replay, replay->file, err);
		else if (!err)
			return 0;
	} while (!err);
	return err;
}

/* Reads on until a sample is to be made. 0, -ENODATA at the end, or -errno. */
static int read_on(struct replay *replay)
{
	bool any = false;
	int err;

	do {
		if (any && replay->apart && replay->config.whole)
			return 0;
		err = read_any(replay);
		any |= !err;
	} while (!err && !is_due(replay));
	/* The interval ends with the recording, or with the times asked for. */
	return err == -ENODATA && any && replay->config.whole ? 0 : err;
}

/* Implements struct playback. */
static int next_sample(void *state, struct sample *prev, struct sample *cur,
		       struct playback_moment *moment)
{
	struct replay *replay = state;
	int err = read_on(replay);

	if (err)
		return err;
	rebuild_give(replay->rebuild, prev, cur, replay->config.pids, replay->config.npids, moment);
	moment->baseline |= replay->baseline;
	replay->baseline = false;
	replay->given = true;
	replay->given_ns = cur->begin_ns;
	return 0;
}

/* Implements struct playback. */
static void give_group(void *state, const char *path, const struct cgroup_sample **now,
		       const struct cgroup_sample **before)
{
	const struct replay *replay = state;

	rebuild_group(replay->rebuild, path, now, before);
}

struct playback replay_playback(struct replay *replay)
{
	return (struct playback){ .state = replay,
				  .threads = replay->threads,
				  .next = next_sample,
				  .group = give_group };
}

const char *replay_file(const struct replay *replay)
{
	return replay->file < replay->files.n ? replay->files.list[replay->file]->path
					      : replay->config.path;
}

void replay_close(struct replay *replay)
{
	stretches_free(&replay->files);
	rebuild_free(replay->rebuild);
	free(replay->group);
	free(replay->rebuild);
	free(replay);
}
