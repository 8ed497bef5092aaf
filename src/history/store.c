/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/util.h"
#include "history/rows.h"
#include "history/store_parts.h"

int store_errno(int result, int system_error)
{
	switch (result & 0xff) {
	case SQLITE_OK:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_INTERRUPT: /* a statement took too long */
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	default:
		return system_error ? -system_error : -EIO;
	}
}

/* Returns the error of the last failure. */
static int error_of(const struct store *store)
{
	return store_errno(store->result, store->db ? sqlite3_system_errno(store->db) : 0);
}

/* Runs statements that return no rows. */
static void execute(struct store *store, const char *statements)
{
	if (!store->result)
		store->result = sqlite3_exec(store->db, statements, NULL, NULL, NULL);
}

/* Writes a fact about the recording: a name, with a word or, if that is NULL, a number. */
static void put_about(struct store *store, const char *name, const char *word, int64_t number)
{
	const struct about_row row = { name, word, number };

	store_put_row(store, TABLE_RECORDING, &row);
}

/* Writes a name with its number. */
static void put_name(struct store *store, enum table_id id, unsigned number, const char *name)
{
	const struct named_row row = { number, name };

	store_put_row(store, id, &row);
}

/* Writes the names of fields. */
static void put_field_names(struct store *store)
{
	static const char *const of_kind[] = {
		[FIELD_MAX] = "max", [FIELD_MIN] = "min", [FIELD_STAMP] = "stamp"
	};
	static const char *const alone[] = { [FIELD_READ] = "read_bytes_of_files",
					     [FIELD_WRITTEN] = "written_bytes_of_files",
					     [FIELD_CANCELLED] = "cancelled_bytes_of_files",
					     [FIELD_WHOLE] = "bytes_with_children",
					     [FIELD_CHILDREN_USER] = "children_user_ns",
					     [FIELD_CHILDREN_SYSTEM] = "children_system_ns" };
	char name[64];

	for (int f = 0; f < RECORD_FIELDS; f++)
		put_name(store, TABLE_FIELD_NAME, SCHEMA_FIELD_OF(FIELD_RECORD, f),
			 record_table[f].id);
	for (int of = FIELD_MAX; of <= FIELD_STAMP; of++)
		for (int kind = 0; kind < DELAY_KINDS; kind++) {
			snprintf(name, sizeof(name), "%s_%s", delay_table[kind].id, of_kind[of]);
			put_name(store, TABLE_FIELD_NAME, SCHEMA_FIELD_OF(of, kind), name);
		}
	for (int of = FIELD_READ; of < FIELD_KINDS; of++)
		put_name(store, TABLE_FIELD_NAME, SCHEMA_FIELD_OF(of, 0), alone[of]);
}

/* Writes the tables of names, and facts about the recording. */
static void put_constants(struct store *store, const struct store_about *about)
{
	struct utsname machine = { 0 };
	char boot[64] = "";
	int n = file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof(boot) - 1);

	uname(&machine);
	boot[n > 0 ? strcspn(boot, "\n") : 0] = '\0';
	put_about(store, "version", NULL, SCHEMA_VERSION);
	put_about(store, "reads_from", NULL, SCHEMA_READS_FROM);
	put_about(store, "stalltop", about->program, 0);
	put_about(store, "host", machine.nodename, 0);
	put_about(store, "kernel", machine.release, 0);
	put_about(store, "boot", boot, 0);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		put_name(store, TABLE_KIND, kind, delay_table[kind].id);
	put_name(store, TABLE_KIND, WAIT_DWAIT, "dwait");
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		put_name(store, TABLE_RESOURCE, r, psi_names[r]);
	for (unsigned state = 0; state < WAIT_STATES; state++)
		put_name(store, TABLE_WAIT_STATE, state, wait_state_table[state].id);
	for (unsigned class = 0; class < WAIT_CLASSES; class ++)
		put_name(store, TABLE_WAIT_CLASS, class, wait_class_ids[class]);
	put_field_names(store);
}

/* Makes the file: a new one, no link, which only its owner can read. */
static int make_file(struct store *store, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0640);
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &stat)) {
		store->inode = stat.st_ino;
		store->device = stat.st_dev;
	}
	/* Closing would drop SQLite's locks on the file, but it has none yet. */
	close(fd);
	return 0;
}

/* Makes the tables and views. */
static void create_tables(struct store *store)
{
	struct buf sql = { 0 };

	schema_create(&sql);
	execute(store, buf_cstr(&sql));
	buf_free(&sql);
}

/* Sets up an open database: its settings, tables and constants. */
static void set_up(struct store *store, const struct store_about *about)
{
	char pragma[64];

	snprintf(pragma, sizeof(pragma), "PRAGMA application_id=%d; PRAGMA user_version=%d;",
		 SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
	sqlite3_busy_timeout(store->db, 5000);
	execute(store, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
		       "PRAGMA wal_autocheckpoint=64; PRAGMA journal_size_limit=262144;"
		       "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-2048;");
	execute(store, pragma);
	execute(store, "BEGIN");
	create_tables(store);
	put_constants(store, about);
	execute(store, "COMMIT");
}

int store_open_file(sqlite3 **db, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct buf whole = { 0 };
	int result = SQLITE_CANTOPEN;
	char *folder;

	*db = NULL;
	/* Only the file may not be a link, but SQLite refuses links in its folders, too. */
	buf_printf(&whole, "%.*s.", (int)(name - path), path);
	folder = realpath(buf_cstr(&whole), NULL);
	if (folder) {
		whole.len = 0;
		buf_printf(&whole, "%s/%s", folder, name);
		result = sqlite3_open_v2(buf_cstr(&whole), db,
					 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW |
						 SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX,
					 NULL);
	}
	buf_free(&whole);
	free(folder);
	return result;
}

/* Removes a file that could not be set up, with its journal. */
static void remove_file(const char *path)
{
	static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
	struct buf whole = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		whole.len = 0;
		buf_printf(&whole, "%s%s", path, endings[i]);
		unlink(buf_cstr(&whole));
	}
	buf_free(&whole);
}

int store_create(struct store **out, const char *path, const struct store_about *about)
{
	struct store *store = xcalloc(1, sizeof(*store));
	bool memory = !strcmp(path, ":memory:"), made = false;
	int err = memory ? 0 : make_file(store, path);

	store->path = xstrdup(path);
	if (!err) {
		store->result =
			memory ? sqlite3_open_v2(path, &store->db,
						 SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE |
							 SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY |
							 SQLITE_OPEN_CREATE,
						 NULL)
			       : store_open_file(&store->db, path);
		if (!store->result)
			set_up(store, about);
		err = error_of(store);
		made = !memory;
	}
	if (err) {
		store->result = SQLITE_ERROR;
		store_close(store, false);
		if (made)
			remove_file(path);
		return err;
	}
	*out = store;
	return 0;
}

int store_put(struct store *store, const struct moment *moment)
{
	int err;

	store->result = SQLITE_OK;
	execute(store, "BEGIN");
	store->sample++;
	store_begin_packed(store);
	if (store->sample == 1)
		put_about(store, "threads", NULL, moment->threads);
	store_put_moment(store, moment);
	store_end_packed(store);
	execute(store, "COMMIT");
	err = error_of(store);
	if (!err)
		return 0;
	store->sample--;
	sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* Returns the memory that a database in memory takes. */
static uint64_t memory_bytes(const struct store *store)
{
	static const int parts[] = { SQLITE_DBSTATUS_CACHE_USED, SQLITE_DBSTATUS_SCHEMA_USED,
				     SQLITE_DBSTATUS_STMT_USED };
	uint64_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int now = 0, most = 0;

		if (!sqlite3_db_status(store->db, parts[i], &now, &most, 0) && now > 0)
			bytes += (uint64_t)now;
	}
	return bytes;
}

struct sqlite3 *store_database(const struct store *store)
{
	return store->db;
}

uint64_t store_bytes(const struct store *store)
{
	struct stat stat;

	if (!store->inode)
		return memory_bytes(store);
	return !lstat(store->path, &stat) ? (uint64_t)stat.st_size : 0;
}

bool store_is_there(const struct store *store)
{
	struct stat stat;

	return !store->inode || (!lstat(store->path, &stat) && stat.st_ino == store->inode &&
				 stat.st_dev == store->device);
}

void store_close(struct store *store, bool pack)
{
	if (!store)
		return;
	for (unsigned put = 0; put < TABLES; put++)
		sqlite3_finalize(store->puts[put]);
	/*
	 * Without a journal there is a single file, which can be read in a read-only folder, too.
	 */
	if (store->db && store->inode && !store->result)
		sqlite3_exec(store->db,
			     "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE", NULL,
			     NULL, NULL);
	if (store->db && store->inode && !store->result && pack)
		sqlite3_exec(store->db, "VACUUM", NULL, NULL, NULL);
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}
