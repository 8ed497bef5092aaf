// SPDX-License-Identifier: GPL-2.0-or-later
/* Closed segments: they are packed, read as others are, and damage to them does no harm. */
#include "config.h"

#include "tests/lib/test.h"
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "history/archive.h"
#include "history/pack.h"
#include "history/segment_close.h"
#include "history/rows.h"
#include "history/segments.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

#define SEGMENT "stalltop-20261122T100000Z-000.db"
#define PACKED SEGMENT ".zst"

/* Adds a row to a number. */
static void add_up(void *arg, const void *from)
{
	uint64_t *sum = arg;

	*sum = *sum * 31 + ((const struct activity_row *)from)->run_ns;
}

/* All that the recording has of its samples' rows, as a number that tells whether it is the same.
 */
static uint64_t read_through(const char *path)
{
	struct archive archive;
	uint64_t sum = 0;

	assert_int_equal(archive_open(&archive, path), 0);
	for (int64_t n = archive.first; n && n <= archive.last; n = archive_next(&archive, n)) {
		sum = sum * 31 + archive_time(&archive, n);
		assert_int_equal(archive_each(&archive, TABLE_ACTIVITY, n, add_up, &sum), 0);
	}
	archive_close(&archive);
	return sum;
}

/* Whether the file is there. */
static bool is_there(const char *path)
{
	return !access(path, F_OK);
}

/* A packed segment is read as it was, by its new name and by its old one, and is smaller. */
SCRATCH_TEST(test_packed)
{
	const char *path = scratch_path(SEGMENT), *packed = scratch_path(PACKED);
	struct archive_files files;
	struct stat before, after;
	uint64_t sum;

	if (!pack_is_built())
		scratch_skip("zstd is not built in");
	assert_int_equal(play_record(path, 1, 60), 0);
	assert_int_equal(stat(path, &before), 0);
	sum = read_through(path);
	assert_int_equal(segment_pack(scratch_folder(), SEGMENT, false), 0);
	assert_false(is_there(path));
	assert_int_equal(stat(packed, &after), 0);
	assert_true(after.st_size < before.st_size / 2);
	assert_int_equal(after.st_mode & 07137, 0);
	assert_int_equal(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
	assert_true(read_through(packed) == sum);
	/* Who listed the folder before finds it all the same. */
	assert_true(read_through(path) == sum);
	assert_int_equal(archive_list(&files, scratch_folder()), 0);
	assert_int_equal(files.n, 1);
	archive_files_free(&files);
	/* Packing that was cut short before its last step: the segment is there once. */
	assert_int_equal(play_record(path, 1, 60), 0);
	assert_int_equal(archive_list(&files, scratch_folder()), 0);
	assert_int_equal(files.n, 1);
	assert_true(read_through(files.paths[0]) == sum);
	archive_files_free(&files);
}

/* A process of its own packs tightly. */
SCRATCH_TEST(test_beside)
{
	const char *path = scratch_path(SEGMENT), *packed = scratch_path(PACKED);
	struct stat fast, tight;
	int status;
	uint64_t sum;
	pid_t pid;

	if (!pack_is_built())
		scratch_skip("zstd is not built in");
	assert_int_equal(play_record(path, 1, 300), 0);
	sum = read_through(path);
	assert_int_equal(segment_pack(scratch_folder(), SEGMENT, false), 0);
	assert_int_equal(stat(packed, &fast), 0);
	assert_int_equal(unlink(packed), 0);
	assert_int_equal(play_record(path, 1, 300), 0);
	pid = segment_pack_beside(scratch_folder(), SEGMENT);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(stat(packed, &tight), 0);
	assert_true(tight.st_size < fast.st_size);
	assert_false(is_there(path));
	assert_true(read_through(packed) == sum);
}

/* What another process packs right now is left to it. */
SCRATCH_TEST(test_reserved)
{
	const char *path = scratch_path(SEGMENT), *unfinished = scratch_path(PACKED ".new");
	int other;

	if (!pack_is_built())
		scratch_skip("zstd is not built in");
	assert_int_equal(play_record(path, 1, 10), 0);
	other = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX), 0);
	assert_int_equal(close(open(unfinished, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
	assert_int_equal(segment_pack(scratch_folder(), SEGMENT, false), -EBUSY);
	segments_tidy(scratch_folder(), "");
	assert_true(is_there(path));
	assert_true(is_there(unfinished));
	assert_false(is_there(scratch_path(PACKED)));
	close(other);
	segments_tidy(scratch_folder(), "");
	assert_false(is_there(path));
	assert_false(is_there(unfinished));
	assert_true(is_there(scratch_path(PACKED)));
}

/* What cannot be packed stays as it is. */
SCRATCH_TEST(test_unpacked)
{
	assert_true(segment_pack(scratch_folder(), SEGMENT, false) < 0);
	assert_true(segment_pack(scratch_path("none"), SEGMENT, false) < 0);
	assert_false(is_there(scratch_path(PACKED)));
	assert_false(is_there(scratch_path(PACKED ".new")));
}

/* Reads a whole file. */
static void take_file(const char *path, struct buf *bytes)
{
	assert_int_equal(file_read_all(AT_FDCWD, path, bytes, 16 << 20), 0);
}

/* Writes bytes to a file. */
static void put_file(const char *path, const char *bytes, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

/* A file that is cut off, changed anywhere, or made to be larger than any: one error. */
SCRATCH_TEST(test_damaged)
{
	const char *path = scratch_path(SEGMENT), *packed = scratch_path(PACKED);
	struct archive archive;
	struct buf bytes = { 0 };

	if (!pack_is_built())
		scratch_skip("zstd is not built in");
	assert_int_equal(play_record(path, 2, 20), 0);
	assert_int_equal(segment_pack(scratch_folder(), SEGMENT, false), 0);
	take_file(packed, &bytes);
	for (size_t len = 4; len < bytes.len; len += bytes.len / 50) {
		put_file(packed, bytes.data, len);
		assert_int_equal(archive_open(&archive, packed), -EBADMSG);
	}
	for (size_t at = 4; at < bytes.len; at += bytes.len / 100) {
		bytes.data[at] = (char)(bytes.data[at] ^ 0x41);
		put_file(packed, bytes.data, bytes.len);
		bytes.data[at] = (char)(bytes.data[at] ^ 0x41);
		/* Every byte counts: the frame has a checksum. */
		assert_int_equal(archive_open(&archive, packed), -EBADMSG);
	}
	/* Nothing in it; and no database. */
	put_file(packed, "\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00", 9);
	assert_int_equal(archive_open(&archive, packed), -EBADMSG);
	put_file(scratch_path("text"), "no database at all", 18);
	assert_int_equal(segment_pack(scratch_folder(), "text", false), 0);
	assert_int_equal(archive_open(&archive, scratch_path("text.zst")), -EBADMSG);
	buf_free(&bytes);
}

/* A small file that would become a very large one is refused before it is. */
SCRATCH_TEST(test_bomb)
{
	const char *path = scratch_path(SEGMENT), *packed = scratch_path(PACKED);
	struct archive archive;
	struct buf bytes = { 0 }, bomb = { 0 };

	if (!pack_is_built())
		scratch_skip("zstd is not built in");
	assert_int_equal(play_record(path, 2, 20), 0);
	assert_int_equal(segment_pack(scratch_folder(), SEGMENT, false), 0);
	take_file(packed, &bytes);
	put_file(scratch_path("zeros"), "", 0);
	assert_int_equal(truncate(scratch_path("zeros"), 400 << 20), 0);
	assert_int_equal(segment_pack(scratch_folder(), "zeros", false), 0);
	take_file(scratch_path("zeros.zst"), &bomb);
	assert_true(bomb.len < 100 << 10);
	assert_int_equal(archive_open(&archive, scratch_path("zeros.zst")), -EBADMSG);
	/* Behind what is a recording. */
	buf_add(&bytes, bomb.data, bomb.len);
	put_file(packed, bytes.data, bytes.len);
	assert_int_equal(archive_open(&archive, packed), -EBADMSG);
	buf_free(&bytes);
	buf_free(&bomb);
}

/* What a killed writer left is closed and packed; what is written, or is none, stays. */
SCRATCH_TEST(test_tidy)
{
	static const char other[] = "stalltop-20261122T110000Z-000.db";
	static const char none[] = "stalltop-20261122T120000Z-000.db";
	const struct store_about about = { "0" };
	struct store *store;
	sqlite3 *db;
	struct buf bytes = { 0 };

	if (!pack_is_built())
		scratch_skip("zstd is not built in");
	/* A copy of files that are open is what a kill leaves. */
	assert_int_equal(store_create(&store, scratch_path("open.db"), &about), 0);
	take_file(scratch_path("open.db-wal"), &bytes);
	put_file(scratch_path(SEGMENT "-wal"), bytes.data, bytes.len);
	bytes.len = 0;
	take_file(scratch_path("open.db"), &bytes);
	put_file(scratch_path(SEGMENT), bytes.data, bytes.len);
	store_close(store, false);
	put_file(scratch_path(none), "none", 4);
	put_file(scratch_path(PACKED ".new"), "half", 4);
	assert_int_equal(store_create(&store, scratch_path(other), &about), 0);
	segments_tidy(scratch_folder(), "");
	assert_true(is_there(scratch_path(PACKED)));
	assert_false(is_there(scratch_path(SEGMENT)));
	assert_false(is_there(scratch_path(SEGMENT "-wal")));
	assert_false(is_there(scratch_path(PACKED ".new")));
	assert_true(is_there(scratch_path(other)));
	assert_true(is_there(scratch_path(none)));
	/* It can go on. */
	store_close(store, true);
	assert_int_equal(sqlite3_open_v2(scratch_path(other), &db, SQLITE_OPEN_READONLY, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "SELECT * FROM recording", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	segments_tidy(scratch_folder(), other);
	assert_true(is_there(scratch_path(other)));
	segments_tidy(scratch_folder(), "");
	assert_false(is_there(scratch_path(other)));
	read_through(scratch_path(PACKED));
	buf_free(&bytes);
}

/* The folder may be reached by a link, as a service's is; a file may not be one. */
SCRATCH_TEST(test_link)
{
	const struct store_about about = { "0" };
	const char *folder = scratch_path("link");
	struct store *store;
	struct buf path = { 0 };

	assert_int_equal(mkdir(scratch_path("real"), 0700), 0);
	assert_int_equal(symlink("real", folder), 0);
	buf_printf(&path, "%s/" SEGMENT, folder);
	assert_int_equal(store_create(&store, buf_cstr(&path), &about), 0);
	store_close(store, false);
	assert_true(is_there(scratch_path("real/" SEGMENT)));
	if (pack_is_built()) {
		segments_tidy(folder, "");
		assert_true(is_there(scratch_path("real/" PACKED)));
		assert_false(is_there(scratch_path("real/" SEGMENT)));
	}
	path.len = 0;
	buf_printf(&path, "%s/other", folder);
	assert_int_equal(symlink("elsewhere", buf_cstr(&path)), 0);
	assert_int_equal(store_create(&store, buf_cstr(&path), &about), -EEXIST);
	assert_false(is_there(scratch_path("real/elsewhere")));
	buf_free(&path);
}

/* A segment that a power cut left empty does not hide the others. */
SCRATCH_TEST(test_blank)
{
	struct archive_files files;
	sqlite3 *db;

	assert_int_equal(play_record(scratch_path(SEGMENT), 1, 10), 0);
	put_file(scratch_path("stalltop-20261122T110000Z-000.db"), "", 0);
	assert_int_equal(sqlite3_open(scratch_path("stalltop-20261122T120000Z-000.db"), &db), 0);
	assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	assert_int_equal(archive_list(&files, scratch_folder()), 0);
	assert_int_equal(files.n, 1);
	archive_files_free(&files);
	unlink(scratch_path(SEGMENT));
	assert_int_equal(archive_list(&files, scratch_folder()), -ENODATA);
	archive_files_free(&files);
}

/* Packed segments count, and go, as others do. */
SCRATCH_TEST(test_names)
{
	struct segment_limits limits = { .age_ns = UINT64_C(1) << 62, .bytes = 1 };

	assert_true(segment_is_name(SEGMENT) && segment_is_name(PACKED));
	assert_true(segment_is_packed(PACKED));
	assert_false(segment_is_packed(SEGMENT));
	assert_false(segment_is_name(PACKED ".new"));
	assert_false(segment_is_name("stalltop-.db.zst") && segment_is_name("stalltop-.db"));
	put_file(scratch_path(PACKED), "1", 1);
	assert_true(segment_exists(scratch_folder(), SEGMENT));
	assert_int_equal(segments_prune(scratch_folder(), "", &limits, 1), 1);
	assert_false(is_there(scratch_path(PACKED)));
	assert_false(segment_exists(scratch_folder(), SEGMENT));
}
