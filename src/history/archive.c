/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "history/image.h"
#include "history/pack.h"
#include "history/schema.h"
#include "history/segments.h"
#include "history/store.h"

/* Reads one number by a statement that is used once. 0 or -errno; -ENODATA: it gives none. */
static int ask_number(struct archive *archive, const char *text, int64_t given, int64_t *number)
{
	sqlite3_stmt *statement;
	int result, err = 0;

	archive_guard_begin(&archive->guard);
	result = sqlite3_prepare_v2(archive->db, text, -1, &statement, NULL);
	if (result) {
		err = archive_guard_errno(&archive->guard, result, 0);
		return err == -EIO ? -EBADMSG : err;
	}
	sqlite3_bind_int64(statement, 1, given);
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_INTEGER)
		*number = sqlite3_column_int64(statement, 0);
	else
		err = result == SQLITE_ROW || result == SQLITE_DONE
			      ? -ENODATA
			      : archive_guard_errno(&archive->guard, result, 0);
	sqlite3_finalize(statement);
	return err;
}

/*
 * Lets a file of a later version be read if it says that a reader of this version may: its tables
 * may differ, but it has views with their names. 0 or -errno.
 */
static int allow_views(struct archive *archive)
{
	int64_t least = 0;
	int err = ask_number(archive, "SELECT value FROM recording WHERE name = 'reads_from'", 0,
			     &least);

	if (err)
		return err == -ENODATA ? -EPROTO : err;
	if (least < 1 || least > SCHEMA_VERSION)
		return -EPROTO;
	archive_guard_views(&archive->guard, archive->db);
	return 0;
}

/* Checks that the file is a recording of a known version, and reads what it has. 0 or -errno. */
static int check_recording(struct archive *archive)
{
	int64_t id = 0, threads = 0, strange = 0;
	int err = ask_number(archive, "PRAGMA application_id", 0, &id);

	if (!err && id != SCHEMA_APPLICATION_ID)
		return -EBADMSG;
	if (!err)
		err = ask_number(archive, ARCHIVE_GUARD_TABLES, 0, &strange);
	if (!err && strange)
		return -EBADMSG;
	archive_guard_reads(&archive->guard, archive->db);
	if (!err)
		err = ask_number(archive, "SELECT value FROM recording WHERE name = 'version'", 0,
				 &archive->version);
	if (!err && archive->version < 1)
		return -EBADMSG;
	if (!err && archive->version > SCHEMA_VERSION)
		err = allow_views(archive);
	if (!err)
		err = ask_number(archive, "SELECT value FROM recording WHERE name = 'threads'", 0,
				 &threads);
	archive->threads = threads == 1;
	archive->first = 1;
	archive->last = 0;
	/* The recording may still be empty. */
	if (err == -ENODATA)
		return 0;
	if (!err)
		err = ask_number(archive, "SELECT min(id) FROM sample", 0, &archive->first);
	if (!err)
		err = ask_number(archive, "SELECT max(id) FROM sample", 0, &archive->last);
	return err == -ENODATA ? 0 : err;
}

/* Keeps SQLite from running anything that is in the file, and checks the file. 0 or -errno. */
static int harden(struct archive *archive)
{
	sqlite3_busy_timeout(archive->db, 2000);
	archive_guard_set(&archive->guard, archive->db);
	return check_recording(archive);
}

/* Opens the database; immutable: nobody writes to the file, and it has no journal. 0 or -errno. */
static int open_database(struct archive *archive, const char *path, bool immutable)
{
	struct buf name = { 0 };
	int result;

	buf_puts(&name, "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			buf_printf(&name, "%%%02x", (unsigned char)*path);
		else
			buf_putc(&name, *path);
	buf_puts(&name, immutable ? "?mode=ro&immutable=1" : "?mode=ro");
	result = sqlite3_open_v2(buf_cstr(&name), &archive->db,
				 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE |
					 SQLITE_OPEN_NOMUTEX,
				 NULL);
	buf_free(&name);
	if (result)
		return store_errno(result, archive->db ? sqlite3_system_errno(archive->db) : 0);
	return harden(archive);
}

int archive_borrow(struct archive *archive, sqlite3 *db)
{
	int err;

	*archive = (struct archive){
		.db = db, .borrowed = true, .first = 1, .version = SCHEMA_VERSION
	};
	err = archive_prepare(archive);
	if (err)
		archive_close(archive);
	return err;
}

/* Opens a packed file: the database is its unpacked bytes in memory. 0 or -errno. */
static int open_packed(struct archive *archive, int fd)
{
	void *bytes;
	size_t len;
	int err = pack_map(fd, &bytes, &len);

	if (err)
		return err == -EOPNOTSUPP ? -ENOPKG : err;
	err = image_open(&archive->image, &archive->db, bytes, len);
	return err ? err : harden(archive);
}

/* Opens a file that exists, packed or not. 0 or -errno. */
static int open_named(struct archive *archive, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err = fd < 0 ? -errno : 0;
	bool packed = !err && pack_is_packed(fd);

	if (packed)
		err = open_packed(archive, fd);
	if (fd >= 0)
		close(fd);
	if (packed)
		return err;
	/* SQLite says what is wrong with a file that cannot be opened. */
	err = open_database(archive, path, false);
	/* A journal cannot be shared without the right to write beside the file. */
	if (err && err != -EBADMSG && err != -EACCES && err != -EINTR) {
		archive_close(archive);
		err = open_database(archive, path, true);
	}
	return err;
}

/* The last part of a path. */
static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int archive_open(struct archive *archive, const char *path)
{
	struct buf packed = { 0 };
	struct stat stat_of;
	int err = 0;

	*archive = (struct archive){ 0 };
	if (stat(path, &stat_of)) {
		err = -errno;
		buf_printf(&packed, "%s" PACK_SUFFIX, path);
		if (err == -ENOENT && segment_is_name(file_of(path)) &&
		    !stat(buf_cstr(&packed), &stat_of)) {
			path = buf_cstr(&packed);
			err = 0;
		}
	}
	if (!err)
		err = S_ISREG(stat_of.st_mode) ? open_named(archive, path) : -EBADMSG;
	if (!err)
		err = archive_prepare(archive);
	if (err)
		archive_close(archive);
	buf_free(&packed);
	return err;
}

void archive_close(struct archive *archive)
{
	for (unsigned query = 0; query < ARCHIVE_QUERIES; query++)
		sqlite3_finalize(archive->queries[query]);
	if (!archive->borrowed)
		sqlite3_close(archive->db);
	image_close(archive->image);
	*archive = (struct archive){ 0 };
}

/* Reads the number that a query gives. 0: it gives none, or an impossible one; or -errno. */
static int64_t number_of(struct archive *archive, sqlite3_stmt *row)
{
	int got = archive_row(archive, row);
	int64_t found = got;
	bool bad = false;

	if (got == 1)
		found = archive_int(row, 0, 0, INT64_MAX, 0, &bad);
	sqlite3_reset(row);
	return found;
}

/*
 * Asks a query for the number that belongs to another number. 0: there is none, or it is
 * impossible; or -errno.
 */
static int64_t number_for(struct archive *archive, enum archive_query query, int64_t number)
{
	return number_of(archive, archive_ask(archive, query, number));
}

uint64_t archive_time(struct archive *archive, int64_t number)
{
	int64_t time = number_for(archive, QUERY_TIME, number);

	return time > 0 ? (uint64_t)time : 0;
}

int64_t archive_next(struct archive *archive, int64_t number)
{
	return number_for(archive, QUERY_NEXT, number);
}

int64_t archive_find(struct archive *archive, int64_t after, uint64_t from_ns, uint64_t to_ns)
{
	sqlite3_stmt *row = archive_ask(archive, QUERY_WITHIN, after);

	sqlite3_bind_int64(row, 2, from_ns < INT64_MAX ? (int64_t)from_ns : INT64_MAX);
	sqlite3_bind_int64(row, 3, to_ns < INT64_MAX ? (int64_t)to_ns : INT64_MAX);
	return number_of(archive, row);
}

int64_t archive_before(struct archive *archive, uint64_t time_ns)
{
	int64_t number;

	return !ask_number(archive,
			   "SELECT id FROM sample WHERE time_ns < ? ORDER BY id DESC LIMIT 1",
			   (int64_t)time_ns, &number)
		       ? number
		       : 0;
}

uint64_t archive_latest(struct archive *archive)
{
	int64_t latest;

	return !ask_number(archive, "SELECT max(time_ns) FROM sample", 0, &latest) && latest > 0
		       ? (uint64_t)latest
		       : 0;
}

bool archive_begin(struct archive *archive)
{
	if (!sqlite3_get_autocommit(archive->db))
		return false;
	archive_row(archive, archive->queries[QUERY_BEGIN]);
	return true;
}

void archive_end(struct archive *archive)
{
	if (!sqlite3_get_autocommit(archive->db))
		archive_row(archive, archive->queries[QUERY_END]);
}

int64_t archive_whole(struct archive *archive, int64_t number)
{
	int64_t whole = 0;

	if (ask_number(archive,
		       "SELECT id FROM sample WHERE id <= ? AND whole = 1 ORDER BY id DESC LIMIT 1",
		       number, &whole))
		return 0;
	return whole;
}

/* Whether a folder's entry is a segment. */
static int choose_segment(const struct dirent *entry)
{
	return segment_is_name(entry->d_name);
}

/* Orders by name, whatever the locale. */
static int by_segment_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Whether a name is the packed file of a segment whose unpacked file is there, too: see
 * segment_pack().
 */
static bool is_second(const struct archive_files *files, const char *name)
{
	const char *last = files->n ? file_of(files->paths[files->n - 1]) : NULL;

	return last && segment_is_packed(name) && !strncmp(name, last, strlen(last)) &&
	       !strcmp(name + strlen(last), PACK_SUFFIX);
}

/* A segment in which nothing was committed is at most this large. */
#define BLANK_MOST 8192

/*
 * Whether a segment is empty: a power cut ended its making, or it is being made right now. The
 * other segments of its folder can still be read.
 */
static bool holds_nothing(const char *path)
{
	struct archive archive;
	struct stat stat_of;
	bool blank;

	if (stat(path, &stat_of) || stat_of.st_size > BLANK_MOST)
		return false;
	blank = archive_open(&archive, path) == -EBADMSG;
	archive_close(&archive);
	return blank;
}

/* Adds a segment of a folder, unless it is empty. */
static void add_segment(struct archive_files *files, const char *folder, const char *name)
{
	struct buf path = { 0 };

	buf_printf(&path, "%s/%s", folder, name);
	if (!is_second(files, name) && !holds_nothing(buf_cstr(&path)))
		files->paths[files->n++] = xstrdup(buf_cstr(&path));
	buf_free(&path);
}

int archive_list(struct archive_files *files, const char *path)
{
	struct dirent **entries;
	struct stat stat_of;
	int n;

	*files = (struct archive_files){ 0 };
	if (stat(path, &stat_of))
		return -errno;
	if (!S_ISDIR(stat_of.st_mode)) {
		files->paths = xcalloc(1, sizeof(*files->paths));
		files->paths[files->n++] = xstrdup(path);
		return 0;
	}
	n = scandir(path, &entries, choose_segment, by_segment_name);
	if (n < 0)
		return -errno;
	files->paths = xcalloc((size_t)n + 1, sizeof(*files->paths));
	for (int i = 0; i < n; i++) {
		add_segment(files, path, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return files->n ? 0 : n ? -ENODATA : -ENOENT;
}

void archive_files_free(struct archive_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->paths[i]);
	free(files->paths);
	*files = (struct archive_files){ 0 };
}
