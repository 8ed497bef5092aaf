/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "history/record.h"

/* The tables, letter by letter: files with others are refused. */
#define WAIT_FOR_SQL "CREATE TABLE about(name TEXT PRIMARY KEY, value) WITHOUT ROWID"
#define BLOCK_SQL \
	"CREATE TABLE block(" \
	"first INTEGER PRIMARY KEY, records INTEGER, from_ns INTEGER, to_ns INTEGER, " \
	"tasks INTEGER, waited_ns INTEGER, cpu REAL, memory REAL, io REAL, " \
	"entries BLOB, size INTEGER, data BLOB)"

/* Maximum memory that SQLite may use, and maximum length of a value, while it reads a file. */
#define MEMORY_MAX (UINT64_C(512) << 20)
#define VALUE_MAX (128 << 20)

/* SQLite does so many steps in some 50 us; maximum CPU time of a statement. */
#define STEP 1000
#define STATEMENT_NS (10 * NSEC_PER_SEC)

enum statement { PUT_BLOCK, REMOVE_BLOCKS, LIST_BLOCKS, FIND_BLOCK, STATEMENTS };

static const char *const statement_texts[STATEMENTS] = {
	[PUT_BLOCK] = "INSERT INTO block VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[REMOVE_BLOCKS] = "DELETE FROM block WHERE first >= ?",
	[LIST_BLOCKS] = "SELECT first, records, entries FROM block WHERE first + records > ? ORDER "
			"BY first",
	[FIND_BLOCK] = "SELECT first, records, size, data FROM block WHERE first <= ?"
		       " ORDER BY first DESC LIMIT 1",
};

struct record_file {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	char *path;
	ino_t inode; /* of a created file; 0: it is read */
	dev_t device;
	/* Records that are rows of their own: those from `first` on. */
	uint64_t first, n;
	struct record_entry *entries;
	size_t entries_cap;
	struct buf records;
	struct packer packer;
	/* While a statement runs: when it began, and why it is interrupted. */
	uint64_t began_ns;
	bool spent, ending;
};

/* Converts a result of SQLite. */
static int errno_of(const struct record_file *file, int result)
{
	int system = file->db ? sqlite3_system_errno(file->db) : 0;

	switch (result & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
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
		/* The statement exceeded its limit; the machine has memory left. */
		return file->inode ? -ENOMEM : -EBADMSG;
	case SQLITE_INTERRUPT:
		return file->ending ? -EINTR : -EBADMSG;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_TOOBIG:
		return -EBADMSG;
	default:
		return system ? -system : -EIO;
	}
}

/* Runs statements without results. 0 or -errno. */
static int execute(struct record_file *file, const char *text)
{
	return errno_of(file, sqlite3_exec(file->db, text, NULL, NULL, NULL));
}

/* A prepared statement. NULL: invalid. */
static sqlite3_stmt *prepare_statement(struct record_file *file, enum statement which)
{
	sqlite3_stmt **statement = &file->statements[which];

	if (!*statement &&
	    sqlite3_prepare_v2(file->db, statement_texts[which], -1, statement, NULL))
		return NULL;
	sqlite3_reset(*statement);
	file->began_ns = 0;
	return *statement;
}

/* Runs a statement to its end. 0 or -errno. */
static int finish_statement(struct record_file *file, sqlite3_stmt *statement)
{
	int result = sqlite3_step(statement);

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return errno_of(file, result);
}

/* Opens an existing database, not through a link. 0 or a result of SQLite. */
static int open_database(struct record_file *file, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct buf whole = { 0 };
	int result = SQLITE_CANTOPEN;
	char *folder;

	/* Only the file may not be a link, but SQLite refuses links in its folders, too. */
	buf_printf(&whole, "%.*s.", (int)(name - path), path);
	folder = realpath(buf_cstr(&whole), NULL);
	if (folder) {
		whole.len = 0;
		buf_printf(&whole, "%s/%s", folder, name);
		result = sqlite3_open_v2(buf_cstr(&whole), &file->db,
					 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW |
						 SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX,
					 NULL);
	}
	buf_free(&whole);
	free(folder);
	return result;
}

/* Creates the file: new, no link, readable by its owner only. 0 or -errno. */
static int make_recording(struct record_file *file, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0640);
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &stat)) {
		file->inode = stat.st_ino;
		file->device = stat.st_dev;
	}
	/* Closing would drop SQLite's locks on the file, but it has none yet. */
	close(fd);
	return 0;
}

/* Stores a fact about the recording. */
static int put_about(struct record_file *file, const char *name, const char *value)
{
	char *text = sqlite3_mprintf("INSERT INTO about VALUES(%Q, %Q)", name, value);
	int err = text ? execute(file, text) : -ENOMEM;

	sqlite3_free(text);
	return err;
}

/* Sets up a new database. 0 or -errno. */
static int set_up(struct record_file *file, const char *program)
{
	struct utsname machine = { 0 };
	char text[64];
	int n = file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", text, sizeof(text) - 1), err;
	char boot[64] = "";

	uname(&machine);
	if (n > 0)
		snprintf(boot, sizeof(boot), "%.*s", (int)strcspn(text, "\n"), text);
	snprintf(text, sizeof(text), "PRAGMA application_id=%d", RECORD_FILE_ID);
	sqlite3_busy_timeout(file->db, 5000);
	err = execute(file, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL;"
			    "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=64;"
			    "PRAGMA journal_size_limit=262144; PRAGMA temp_store=MEMORY;"
			    "PRAGMA cache_size=-2048");
	if (!err)
		err = execute(file, text);
	if (!err)
		err = execute(file, "BEGIN;" WAIT_FOR_SQL ";" BLOCK_SQL);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)record_format());
	if (!err)
		err = put_about(file, "format", text);
	if (!err)
		err = put_about(file, "stalltop", program);
	if (!err)
		err = put_about(file, "host", machine.nodename);
	if (!err)
		err = put_about(file, "kernel", machine.release);
	if (!err)
		err = put_about(file, "boot", boot);
	return err ? err : execute(file, "COMMIT");
}

void record_file_remove(int folder, const char *path)
{
	static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
	struct buf whole = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		whole.len = 0;
		buf_printf(&whole, "%s%s", path, endings[i]);
		unlinkat(folder, buf_cstr(&whole), 0);
	}
	buf_free(&whole);
}

int record_file_create(struct record_file **out, const char *path, const char *program)
{
	struct record_file *file = xcalloc(1, sizeof(*file));
	int err = make_recording(file, path);
	bool made = !err;

	file->path = xstrdup(path);
	file->first = 1;
	if (!err)
		err = errno_of(file, open_database(file, path));
	if (!err)
		err = set_up(file, program);
	if (err) {
		file->inode = 0;
		record_file_close(file);
		if (made)
			record_file_remove(AT_FDCWD, path);
		return err;
	}
	*out = file;
	return 0;
}

/* Binds a share; unknown is NULL. */
static void bind_share(sqlite3_stmt *row, int column, double share)
{
	if (share >= 0)
		sqlite3_bind_double(row, column, share);
}

/*
 * Writes the row of some entries and their records, packed, which gives them a checksum: tightly if
 * there are several. 0 or -errno.
 */
static int put_block_row(struct record_file *file, uint64_t first,
			 const struct record_entry *entries, size_t n, const char *records,
			 size_t size)
{
	static const int columns[] = { [PSI_CPU] = 7, [PSI_MEMORY] = 8, [PSI_IO] = 9 };
	sqlite3_stmt *row = prepare_statement(file, PUT_BLOCK);
	const struct record_entry *last = &entries[n - 1];
	uint64_t waited_ns = 0;
	struct buf bytes = { 0 }, packed = { 0 };
	int err;

	if (!row)
		return errno_of(file, sqlite3_errcode(file->db));
	packer_pack(&file->packer, records, size, n > 1, &packed);
	for (size_t i = 0; i < n; i++)
		waited_ns += entries[i].waited_ns;
	for (unsigned r = PSI_CPU; r <= PSI_IO; r++) {
		double most = -1;

		for (size_t i = 0; i < n; i++)
			most = entries[i].stalls[r] > most ? entries[i].stalls[r] : most;
		bind_share(row, columns[r], most);
	}
	record_entries_put(&bytes, entries, n);
	sqlite3_bind_int64(row, 1, (sqlite3_int64)first);
	sqlite3_bind_int64(row, 2, (sqlite3_int64)n);
	sqlite3_bind_int64(row, 3, (sqlite3_int64)(entries->real_ns - entries->interval_ns));
	sqlite3_bind_int64(row, 4, (sqlite3_int64)last->real_ns);
	sqlite3_bind_int64(row, 5, (sqlite3_int64)last->tasks);
	sqlite3_bind_int64(row, 6, (sqlite3_int64)waited_ns);
	sqlite3_bind_blob64(row, 10, bytes.data, bytes.len, SQLITE_STATIC);
	sqlite3_bind_int64(row, 11, (sqlite3_int64)size);
	sqlite3_bind_blob64(row, 12, packed.data, packed.len, SQLITE_STATIC);
	err = finish_statement(file, row);
	buf_free(&bytes);
	buf_free(&packed);
	return err;
}

/* Replaces the records that are rows of their own by a block. 0 or -errno. */
static int put_block(struct record_file *file)
{
	sqlite3_stmt *removal = prepare_statement(file, REMOVE_BLOCKS);
	int err;

	if (!removal)
		return errno_of(file, sqlite3_errcode(file->db));
	sqlite3_bind_int64(removal, 1, (sqlite3_int64)file->first);
	err = finish_statement(file, removal);
	return err ? err
		   : put_block_row(file, file->first, file->entries, file->n, file->records.data,
				   file->records.len);
}

/* Writes the last record, which begins at a byte of `records`, as a row of its own. 0 or -errno. */
static int put_single(struct record_file *file, size_t at)
{
	return put_block_row(file, file->first + file->n - 1, &file->entries[file->n - 1], 1,
			     file->records.data + at, file->records.len - at);
}

int record_file_put(struct record_file *file, const struct record_entry *entry, const void *bytes,
		    size_t len)
{
	size_t before = file->records.len;
	bool full;
	int err;

	GROW(file->entries, file->n, file->entries_cap);
	file->entries[file->n++] = *entry;
	block_add(&file->records, bytes, len);
	full = file->n == BLOCK_RECORDS || file->records.len >= BLOCK_BYTES;
	err = execute(file, "BEGIN");
	if (!err)
		err = full ? put_block(file) : put_single(file, before);
	if (!err)
		err = execute(file, "COMMIT");
	if (err) {
		sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
		file->records.len = before;
		file->n--;
		return err;
	}
	if (full) {
		file->first += file->n;
		file->n = 0;
		file->records.len = 0;
		if (file->records.cap > 4 * BLOCK_BYTES)
			buf_free(&file->records);
	}
	return 0;
}

uint64_t record_file_bytes(const struct record_file *file)
{
	struct stat stat;

	return !lstat(file->path, &stat) ? (uint64_t)stat.st_size : 0;
}

bool record_file_is_there(const struct record_file *file)
{
	struct stat stat;

	return !lstat(file->path, &stat) && stat.st_ino == file->inode &&
	       stat.st_dev == file->device;
}

/* True if a pending signal will end the program. */
static bool is_ending(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) &&
	       (sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1 ||
		sigismember(&waiting, SIGHUP) == 1);
}

/* Interrupts a statement that takes too long, or if the program is to exit. */
static int check_limits(void *arg)
{
	struct record_file *file = arg;
	uint64_t now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!file->began_ns)
		file->began_ns = now_ns;
	file->spent = now_ns - file->began_ns > STATEMENT_NS;
	file->ending = is_ending();
	return file->spent || file->ending;
}

/* Keeps SQLite from executing anything in the file. */
static void harden(struct record_file *file)
{
	sqlite3 *db = file->db;

	sqlite3_busy_timeout(db, 2000);
	sqlite3_hard_heap_limit64((sqlite3_int64)MEMORY_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_progress_handler(db, STEP, check_limits, file);
	sqlite3_exec(db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
}

/* Reads the first value of a query: *number, and whether it equals that text. 0 or -errno. */
static int read_value(struct record_file *file, const char *query, int64_t *number,
		      const char *text, bool *same)
{
	sqlite3_stmt *row = NULL;
	int result, err;

	file->began_ns = 0;
	result = sqlite3_prepare_v2(file->db, query, -1, &row, NULL);
	if (result) {
		err = errno_of(file, result);
		return err == -EIO ? -EBADMSG : err;
	}
	result = sqlite3_step(row);
	err = result == SQLITE_ROW ? 0 : result == SQLITE_DONE ? -EBADMSG : errno_of(file, result);
	if (!err && number)
		*number = sqlite3_column_int64(row, 0);
	if (!err && text) {
		const char *value = (const char *)sqlite3_column_text(row, 0);

		*same = value && !strcmp(value, text);
	}
	sqlite3_finalize(row);
	return err;
}

/* Checks that the file is a recording of this program's format. 0 or -errno. */
static int check_file(struct record_file *file)
{
	int64_t id = 0, ours = 0, all = 0;
	char format[32];
	bool same = false;
	int err = read_value(file, "PRAGMA application_id", &id, NULL, NULL);

	if (!err && id != RECORD_FILE_ID)
		return -EBADMSG;
	if (!err)
		err = read_value(file, "SELECT count(*) FROM sqlite_schema", &all, NULL, NULL);
	if (!err)
		err = read_value(file,
				 "SELECT count(*) FROM sqlite_schema WHERE sql IN ('" WAIT_FOR_SQL
				 "', '" BLOCK_SQL "')",
				 &ours, NULL, NULL);
	if (!err && !all)
		return -EBADMSG;
	/* Recordings of other versions have other tables. */
	if (!err && (all != 2 || ours != 2))
		return read_value(file, "SELECT 1 FROM sqlite_schema WHERE name = 'recording'",
				  &ours, NULL, NULL)
			       ? -EBADMSG
			       : -EPROTO;
	snprintf(format, sizeof(format), "%016llx", (unsigned long long)record_format());
	if (!err)
		err = read_value(file, "SELECT value FROM about WHERE name = 'format'", NULL,
				 format, &same);
	return err ? err : same ? 0 : -EPROTO;
}

/* Opens a file; immutable: it has no writer and no journal. 0 or -errno. */
static int open_to_read(struct record_file *file, const char *path, bool immutable)
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
	result = sqlite3_open_v2(buf_cstr(&name), &file->db,
				 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE |
					 SQLITE_OPEN_NOMUTEX,
				 NULL);
	buf_free(&name);
	if (result)
		return errno_of(file, result);
	harden(file);
	return check_file(file);
}

int record_file_open(struct record_file **out, const char *path)
{
	struct record_file *file = xcalloc(1, sizeof(*file));
	struct stat stat_of;
	int err = stat(path, &stat_of) ? -errno : S_ISREG(stat_of.st_mode) ? 0 : -EBADMSG;

	if (!err)
		err = open_to_read(file, path, false);
	/* A journal cannot be shared without the right to write beside the file. */
	if (err == -EROFS || err == -EIO || err == -ENOENT || err == -EPERM) {
		sqlite3_close(file->db);
		file->db = NULL;
		if (!stat(path, &stat_of))
			err = open_to_read(file, path, true);
	}
	if (err) {
		record_file_close(file);
		return err;
	}
	*out = file;
	return 0;
}

/* Adds the entries of a row from a record on; *from moves past them. False: malformed. */
static bool add_entries(sqlite3_stmt *row, uint64_t *from,
			void (*add)(void *arg, const struct record_entry *entry), void *arg)
{
	struct record_entry entries[BLOCK_RECORDS];
	sqlite3_int64 first = sqlite3_column_int64(row, 0), n = sqlite3_column_int64(row, 1);
	const void *bytes = sqlite3_column_blob(row, 2);
	int len = sqlite3_column_bytes(row, 2);

	if (first < 1 || n < 1 || n > BLOCK_RECORDS || (uint64_t)first > *from || !bytes ||
	    (uint64_t)first + (uint64_t)n <= *from ||
	    !record_entries_get(bytes, (size_t)len, entries, (size_t)n))
		return false;
	while (*from < (uint64_t)first + (uint64_t)n)
		add(arg, &entries[(*from)++ - (uint64_t)first]);
	return true;
}

int record_file_list(struct record_file *file, uint64_t from,
		     void (*add)(void *arg, const struct record_entry *entry), void *arg)
{
	sqlite3_stmt *rows = prepare_statement(file, LIST_BLOCKS);
	uint64_t next = from;
	int result = SQLITE_DONE;
	bool bad = false;

	if (!rows)
		return -EBADMSG;
	sqlite3_bind_int64(rows, 1, (sqlite3_int64)from);
	while (!bad && (result = sqlite3_step(rows)) == SQLITE_ROW)
		bad = !add_entries(rows, &next, add, arg);
	sqlite3_reset(rows);
	/* Rows before the damage are readable. */
	if (bad || errno_of(file, result) == -EBADMSG)
		return next == from && from == 1 ? -EBADMSG : 0;
	return errno_of(file, result);
}

int record_file_read(struct record_file *file, uint64_t number, struct packer *packer,
		     struct buf *records, uint64_t *first)
{
	sqlite3_stmt *row = prepare_statement(file, FIND_BLOCK);
	sqlite3_int64 from, n, size;
	const void *data;
	int result, len, err;
	bool good;

	if (!row)
		return -EBADMSG;
	sqlite3_bind_int64(row, 1, (sqlite3_int64)number);
	result = sqlite3_step(row);
	if (result != SQLITE_ROW) {
		err = errno_of(file, result);
		sqlite3_reset(row);
		return err ? err : -ENODATA;
	}
	from = sqlite3_column_int64(row, 0);
	n = sqlite3_column_int64(row, 1);
	size = sqlite3_column_int64(row, 2);
	data = sqlite3_column_blob(row, 3);
	len = sqlite3_column_bytes(row, 3);
	good = from >= 1 && n >= 1 && n <= BLOCK_RECORDS && data && size >= 0 &&
	       (uint64_t)from + (uint64_t)n > number &&
	       packer_unpack(packer, data, (size_t)len, (size_t)size, records);
	sqlite3_reset(row);
	*first = (uint64_t)from;
	return good ? 0 : -EBADMSG;
}

void record_file_tidy(const char *path)
{
	struct record_file file = { 0 };

	if (!open_database(&file, path))
		sqlite3_exec(file.db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	sqlite3_close(file.db);
}

void record_file_close(struct record_file *file)
{
	if (!file)
		return;
	/* The last records become a block, too; without room for that, they stay rows. */
	if (file->inode && file->n > 1 && !execute(file, "BEGIN")) {
		if (put_block(file) || execute(file, "COMMIT"))
			sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
	}
	for (unsigned i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(file->statements[i]);
	/* Without a journal there is a single file, readable in a read-only folder. */
	if (file->inode)
		sqlite3_exec(file->db,
			     "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE", NULL,
			     NULL, NULL);
	sqlite3_close(file->db);
	packer_free(&file->packer);
	buf_free(&file->records);
	free(file->entries);
	free(file->path);
	free(file);
}
