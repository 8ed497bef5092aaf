/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "history/record_file.h"

#define PREFIX "stalltop-"
#define SUFFIX ".db"

/* The time in a segment's name, and its length; a dash and a number follow. */
#define TIME_FORMAT "%Y%m%dT%H%M%SZ"
#define TIME_LEN 16
#define NUMBERS 1000

#define SEGMENT_NS (UINT64_C(3600) * NSEC_PER_SEC)

/* Maximum part of the whole per segment, so that removing one removes a small part. */
#define SEGMENT_PARTS 8
#define SEGMENT_LEAST (UINT64_C(256) << 10)

/* Size of a segment's journal: the pages between two checkpoints, and those meanwhile. */
#define JOURNAL_BYTES (UINT64_C(384) << 10)

/*
 * Segments follow each other closely. If two are further apart than GAP_LEAST_NS and a quarter of
 * the age, the clock was another one, or the machine was off. The clock is then not trusted for
 * CLOCK_WAIT_NS, or an eighth of the age if that is shorter.
 */
#define GAP_LEAST_NS (60 * NSEC_PER_SEC)
#define CLOCK_WAIT_NS (600 * NSEC_PER_SEC)

/* Parses a number followed by a letter of `letters`, in the unit of that letter. */
static bool parse_amount(const char *text, size_t len, const char *letters, const uint64_t *units,
			 uint64_t *amount)
{
	const char *at = text, *letter;
	uint64_t number;

	if (!parse_uint(&at, text + len, &number) || at + 1 != text + len)
		return false;
	letter = strchr(letters, *at);
	if (!letter || !*letter || number > INT64_MAX / units[letter - letters])
		return false;
	*amount = number * units[letter - letters];
	return true;
}

bool segment_parse_age(const char *text, size_t len, uint64_t *ns)
{
	static const uint64_t seconds[] = { NSEC_PER_SEC, 60 * NSEC_PER_SEC, 3600 * NSEC_PER_SEC,
					    86400 * NSEC_PER_SEC };

	return parse_amount(text, len, "smhd", seconds, ns);
}

bool segment_parse_limits(const char *text, struct segment_limits *limits)
{
	static const uint64_t bytes[] = { UINT64_C(1) << 10, UINT64_C(1) << 20, UINT64_C(1) << 30,
					  UINT64_C(1) << 40 };
	bool aged = false, sized = false;

	do {
		size_t len = strcspn(text, ",");

		if (!aged && segment_parse_age(text, len, &limits->age_ns) && limits->age_ns)
			aged = true;
		else if (!sized && parse_amount(text, len, "KMGT", bytes, &limits->bytes) &&
			 limits->bytes)
			sized = true;
		else
			return false;
		text += len;
	} while (*text++ == ',');
	return true;
}

bool segment_is_name(const char *name)
{
	size_t len = strlen(name), most = strlen(PREFIX) + strlen(SUFFIX);

	return len > most && !strncmp(name, PREFIX, strlen(PREFIX)) &&
	       !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

bool segment_exists(const char *folder, const char *name)
{
	struct buf path = { 0 };
	struct stat stat;
	bool exists;

	buf_printf(&path, "%s/%s", folder, name);
	exists = !lstat(buf_cstr(&path), &stat);
	buf_free(&path);
	return exists;
}

void segment_name(struct buf *out, uint64_t real_ns, unsigned number)
{
	time_t seconds = (time_t)(real_ns / NSEC_PER_SEC + number / NUMBERS);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), TIME_FORMAT, &tm);
	buf_printf(out, PREFIX "%s-%03u" SUFFIX, text, number % NUMBERS);
}

/* Parses the time and the number in a segment's name. False: not one of our names. */
static bool parse_name(const char *name, uint64_t *real_ns, unsigned *number)
{
	const char *at = name + strlen(PREFIX), *end;
	struct buf again = { 0 };
	struct tm tm = { 0 };
	uint64_t parsed;
	time_t seconds;
	bool ours;

	if (!segment_is_name(name) || strlen(at) < TIME_LEN + strlen("-000"))
		return false;
	end = strptime(at, TIME_FORMAT, &tm);
	at += TIME_LEN + 1;
	seconds = end && end + 1 == at ? timegm(&tm) : -1;
	if (seconds < 0 || !parse_uint(&at, at + strlen("000"), &parsed))
		return false;
	*real_ns = (uint64_t)seconds * NSEC_PER_SEC;
	*number = (unsigned)parsed;
	segment_name(&again, *real_ns, *number);
	ours = !strcmp(name, buf_cstr(&again));
	buf_free(&again);
	return ours;
}

bool segment_is_our_name(const char *name)
{
	uint64_t real_ns;
	unsigned number;

	return parse_name(name, &real_ns, &number);
}

uint64_t segment_time(const char *path)
{
	const char *slash = strrchr(path, '/');
	uint64_t real_ns;
	unsigned number;

	return parse_name(slash ? slash + 1 : path, &real_ns, &number) ? real_ns : 0;
}

bool segment_is_ours(int folder, const char *name)
{
	struct stat stat;

	return segment_is_our_name(name) && !fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) &&
	       S_ISREG(stat.st_mode) && stat.st_nlink == 1;
}

void segments_go_on(const char *folder, uint64_t *real_ns, unsigned *number)
{
	DIR *dir = opendir(folder);
	uint64_t second_ns = *real_ns / NSEC_PER_SEC * NSEC_PER_SEC, other_ns;
	const struct dirent *entry;
	unsigned other;

	while (dir && (entry = readdir(dir))) {
		if (!parse_name(entry->d_name, &other_ns, &other) || other_ns < second_ns ||
		    (other_ns == second_ns && other < *number))
			continue;
		*real_ns = second_ns = other_ns;
		*number = other + 1;
	}
	if (dir)
		closedir(dir);
}

/* The size from which a segment is full. */
static uint64_t full_bytes(const struct segment_limits *limits)
{
	uint64_t most = limits->bytes / SEGMENT_PARTS;

	return most < SEGMENT_LEAST ? SEGMENT_LEAST : most;
}

bool segment_is_full(const struct segment_limits *limits, uint64_t bytes, uint64_t began_ns,
		     uint64_t now_ns)
{
	uint64_t most = full_bytes(limits), longest = limits->age_ns / SEGMENT_PARTS;

	if (longest > SEGMENT_NS)
		longest = SEGMENT_NS;
	/* A clock that was set back ends a segment, too: times grow within a segment. */
	return bytes >= most || now_ns < began_ns || now_ns - began_ns >= longest;
}

/* A segment in a folder. */
struct segment_file {
	char *name;
	uint64_t bytes, begin_ns, end_ns;
};

/* Orders by name, which is the order of recording: see segments_go_on(). */
static int compare_segments(const void *a, const void *b)
{
	return strcmp(((const struct segment_file *)a)->name,
		      ((const struct segment_file *)b)->name);
}

/*
 * True if a segment has a journal: it is being written, or its writer was killed. *bytes: the
 * journal's size.
 */
static bool has_journal(int folder, const char *name, uint64_t *bytes)
{
	struct buf path = { 0 };
	struct stat stat;
	bool has;

	buf_printf(&path, "%s-wal", name);
	has = !fstatat(folder, buf_cstr(&path), &stat, AT_SYMLINK_NOFOLLOW);
	*bytes = has ? (uint64_t)stat.st_blocks * 512 : 0;
	buf_free(&path);
	return has;
}

/* Lists our own segments of a folder, ordered. Returns how many. */
static size_t list_segments(int folder, struct segment_file **out)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat stat;
	size_t n = 0;

	*out = NULL;
	while (dir && (entry = readdir(dir))) {
		struct segment_file segment = { 0 };
		unsigned number;

		if (!segment_is_ours(folder, entry->d_name) ||
		    !parse_name(entry->d_name, &segment.begin_ns, &number) ||
		    fstatat(folder, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW))
			continue;
		segment.name = xstrdup(entry->d_name);
		has_journal(folder, entry->d_name, &segment.bytes);
		segment.bytes += (uint64_t)stat.st_blocks * 512;
		segment.end_ns = (uint64_t)stat.st_mtim.tv_sec * NSEC_PER_SEC;
		/* If the clock was set back, the name's time is after the segment's start. */
		if (segment.begin_ns > segment.end_ns)
			segment.begin_ns = segment.end_ns;
		*out = xreallocarray(*out, n + 1, sizeof(**out));
		(*out)[n++] = segment;
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (n)
		qsort(*out, n, sizeof(**out), compare_segments);
	return n;
}

/*
 * True if the clock can be trusted: the segments lead up to now, or have continued for some time
 * since a gap. A clock that is ahead for a few seconds would make all segments look old.
 */
static bool is_plausible(const struct segment_file *segments, size_t n,
			 const struct segment_limits *limits, uint64_t now_ns)
{
	uint64_t gap_ns = limits->age_ns / 4, wait_ns = limits->age_ns / SEGMENT_PARTS;
	uint64_t since_ns = 0, last_ns = 0;

	if (gap_ns < GAP_LEAST_NS)
		gap_ns = GAP_LEAST_NS;
	if (wait_ns > CLOCK_WAIT_NS)
		wait_ns = CLOCK_WAIT_NS;
	for (size_t i = 0; i < n; i++) {
		/* A segment from a time when the clock was ahead proves nothing. */
		if (segments[i].end_ns > now_ns + GAP_LEAST_NS)
			continue;
		if (segments[i].end_ns - segments[i].begin_ns > gap_ns)
			since_ns = segments[i].end_ns;
		else if (!last_ns || segments[i].begin_ns > last_ns + gap_ns)
			since_ns = segments[i].begin_ns;
		last_ns = segments[i].end_ns;
	}
	return now_ns <= last_ns + gap_ns && now_ns >= since_ns + wait_ns;
}

/*
 * Bytes of a file system: free ones, those that should be free, and those that segments may always
 * keep.
 */
struct room {
	uint64_t free, wanted, share;
};

/* Reads the room of a file system. If that fails, it counts as sufficient. */
static struct room folder_room(int folder, uint64_t most)
{
	struct room room = { .free = UINT64_MAX, .wanted = SEGMENT_FREE_BYTES, .share = most / 2 };
	struct statvfs space;
	uint64_t part;

	if (fstatvfs(folder, &space))
		return room;
	part = (uint64_t)space.f_blocks * space.f_frsize / SEGMENT_FREE_PART;
	room.free = (uint64_t)space.f_bavail * space.f_frsize;
	if (part < room.wanted)
		room.wanted = part;
	if (part < room.share)
		room.share = part;
	return room;
}

bool segments_have_room(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct room room;

	if (fd < 0)
		return true;
	room = folder_room(fd, 0);
	close(fd);
	return room.free >= room.wanted / SEGMENT_LAST_PART;
}

unsigned segments_prune(const char *folder, const char *but, const struct segment_limits *limits,
			uint64_t now_ns)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct segment_file *segments;
	uint64_t bytes = 0, growth = 0, grown = full_bytes(limits) + JOURNAL_BYTES;
	unsigned removed = 0;
	bool plausible;
	size_t n;

	if (fd < 0)
		return 0;
	n = list_segments(fd, &segments);
	plausible = is_plausible(segments, n, limits, now_ns);
	for (size_t i = 0; i < n; i++) {
		bytes += segments[i].bytes;
		/* The one being written may become as large until the next check. */
		if (!strcmp(segments[i].name, but) && segments[i].bytes < grown)
			growth += grown - segments[i].bytes;
	}
	for (size_t i = 0; i < n; i++) {
		struct room room = folder_room(fd, limits->bytes);
		bool old = segments[i].end_ns + limits->age_ns < now_ns;

		if (strcmp(segments[i].name, but) != 0 &&
		    ((old && plausible) || bytes + growth > limits->bytes ||
		     (room.free < room.wanted && bytes > room.share))) {
			record_file_remove(fd, segments[i].name);
			bytes -= segments[i].bytes;
			removed++;
		}
		free(segments[i].name);
	}
	free(segments);
	close(fd);
	return removed;
}

void segments_tidy(const char *folder, const char *but)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct segment_file *segments;
	uint64_t bytes;
	size_t n;

	if (fd < 0)
		return;
	n = list_segments(fd, &segments);
	for (size_t i = 0; i < n; i++) {
		struct buf path = { 0 };

		buf_printf(&path, "%s/%s", folder, segments[i].name);
		if (strcmp(segments[i].name, but) != 0 && has_journal(fd, segments[i].name, &bytes))
			record_file_tidy(buf_cstr(&path));
		buf_free(&path);
		free(segments[i].name);
	}
	free(segments);
	close(fd);
}
