/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/util.h"
#include "history/store_tables.h"
#include "model/notes.h"

/* The statements that write: one row a table, in the order of its columns. */
#define PUT_TABLE(X) \
	X(TEXT, "text", 2) \
	X(TASK, "task", 14) \
	X(SAMPLE, "sample", 40) \
	X(FILE_ERROR, "file_error", 3) \
	X(GAP, "gap", 2) \
	X(NOTE, "note", 5) \
	X(ACCOUNT, "account", 10) \
	X(CLOCK, "clock", 5) \
	X(PRESSURE, "pressure", 7) \
	X(ACTIVITY, "activity", 8) \
	X(WAIT, "wait", 6) \
	X(WAITING, "waiting", 6) \
	X(STANDING, "standing", 11) \
	X(TOTAL, "total", 5) \
	X(ENDED, "ended", 11) \
	X(GONE, "gone", 2) \
	X(CHILDREN, "children", 4) \
	X(IMPOSSIBLE, "impossible", 5) \
	X(FIELD, "field", 4) \
	X(CGROUP, "cgroup", 17) \
	X(CGROUP_PRESSURE, "cgroup_pressure", 9) \
	X(ABOUT, "recording", 2) \
	X(KIND, "kind", 2) \
	X(RESOURCE, "resource", 2) \
	X(FIELD_NAME, "field_name", 2)

#define PUT_ENUM(NAME, table, columns) PUT_##NAME,
enum put { PUT_TABLE(PUT_ENUM) PUTS };
#undef PUT_ENUM

static const struct {
	const char *table;
	int columns;
} put_table[PUTS] = {
#define PUT_ROW(NAME, table, columns) [PUT_##NAME] = { table, columns },
	PUT_TABLE(PUT_ROW)
#undef PUT_ROW
};

struct store {
	sqlite3 *db;
	char *path;
	ino_t inode; /* 0: in memory */
	dev_t device;
	sqlite3_stmt *puts[PUTS];
	int64_t sample; /* the number of the last */
	int result; /* of the first call of SQLite that failed since it was cleared */
	/* The row that is being filled. */
	sqlite3_stmt *row;
	int column;
};

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
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	default:
		return system_error ? -system_error : -EIO;
	}
}

/* The error of the last failure. */
static int error_of(const struct store *store)
{
	return store_errno(store->result, store->db ? sqlite3_system_errno(store->db) : 0);
}

/* Runs statements. */
static void execute(struct store *store, const char *statements)
{
	if (!store->result)
		store->result = sqlite3_exec(store->db, statements, NULL, NULL, NULL);
}

/* Begins a row. */
static void begin_row(struct store *store, enum put put)
{
	char text[160] = "";
	size_t len;

	store->column = 0;
	store->row = store->puts[put];
	if (store->row || store->result)
		return;
	snprintf(text, sizeof(text), "INSERT INTO \"%s\" VALUES(?", put_table[put].table);
	len = strlen(text);
	for (int i = 1; i < put_table[put].columns && len + 3 < sizeof(text); i++, len += 2)
		memcpy(text + len, ",?", 3);
	snprintf(text + len, sizeof(text) - len, ")");
	store->result = sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT,
					   &store->puts[put], NULL);
	store->row = store->puts[put];
}

/* Puts an integer into the next column. */
static void put_int(struct store *store, int64_t value)
{
	if (!store->result)
		store->result = sqlite3_bind_int64(store->row, ++store->column, value);
}

/* Leaves the next column NULL. */
static void put_null(struct store *store)
{
	if (!store->result)
		store->result = sqlite3_bind_null(store->row, ++store->column);
}

/* Puts an integer, or NULL where it is not known. */
static void put_known(struct store *store, bool known, uint64_t value)
{
	if (known)
		put_int(store, (int64_t)value);
	else
		put_null(store);
}

/* Puts an id of a text, NULL for none. */
static void put_id(struct store *store, uint32_t id)
{
	put_known(store, id, id);
}

/* Puts a real number. */
static void put_real(struct store *store, bool known, double value)
{
	if (!known)
		put_null(store);
	else if (!store->result)
		store->result = sqlite3_bind_double(store->row, ++store->column, value);
}

/* Puts a real number in hundredths, as an integer where that says it exactly. */
static void put_hundredths(struct store *store, bool known, double value)
{
	double hundredths = rint(value * 100);

	if (!known)
		put_null(store);
	else if (fabs(hundredths) < 1e15 && hundredths / 100.0 == value)
		put_int(store, (int64_t)hundredths);
	else
		put_real(store, true, value * 100);
}

/* Puts a word of the program's. */
static void put_word(struct store *store, const char *word)
{
	if (!store->result)
		store->result =
			sqlite3_bind_text(store->row, ++store->column, word, -1, SQLITE_STATIC);
}

/* Puts bytes: as a text if they are one, else as a blob. */
static void put_bytes(struct store *store, const char *bytes, size_t len, bool blob)
{
	if (store->result)
		return;
	store->result =
		blob ? sqlite3_bind_blob64(store->row, ++store->column, bytes, len, SQLITE_STATIC)
		     : sqlite3_bind_text64(store->row, ++store->column, bytes, len, SQLITE_STATIC,
					   SQLITE_UTF8);
}

/* Writes the row. */
static void end_row(struct store *store)
{
	int result;

	if (store->result)
		return;
	result = sqlite3_step(store->row);
	sqlite3_reset(store->row);
	if (result != SQLITE_DONE)
		store->result = result;
}

/* Whether bytes are valid UTF-8 without a NUL, which any reader can show as a text. */
static bool is_utf8(const char *bytes, size_t len)
{
	const unsigned char *at = (const unsigned char *)bytes, *end = at + len;

	while (at < end) {
		unsigned more = *at < 0x80 ? 0 : *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
		uint32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
		uint32_t code = more == 3 ? *at & 7 : more == 2 ? *at & 15 : *at & 31;

		if (!*at || (*at >= 0x80 && *at < 0xc2) || *at > 0xf4 || end - at <= more)
			return false;
		at++;
		for (unsigned i = 0; i < more; i++, at++) {
			if ((*at & 0xc0) != 0x80)
				return false;
			code = code << 6 | (*at & 63);
		}
		if (more && (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
			return false;
	}
	return true;
}

/* Writes what is told of the recording: a name and a word. */
static void put_about(struct store *store, const char *name, const char *word)
{
	begin_row(store, PUT_ABOUT);
	put_word(store, name);
	put_word(store, word);
	end_row(store);
}

/* Does the same with a number. */
static void put_about_number(struct store *store, const char *name, int64_t number)
{
	begin_row(store, PUT_ABOUT);
	put_word(store, name);
	put_int(store, number);
	end_row(store);
}

/* Writes a name with its number. */
static void put_name(struct store *store, enum put put, int64_t id, const char *name)
{
	begin_row(store, put);
	put_int(store, id);
	put_word(store, name);
	end_row(store);
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
		put_name(store, PUT_FIELD_NAME, STORE_FIELD_OF(FIELD_RECORD, f),
			 record_table[f].id);
	for (int of = FIELD_MAX; of <= FIELD_STAMP; of++)
		for (int kind = 0; kind < DELAY_KINDS; kind++) {
			snprintf(name, sizeof(name), "%s_%s", delay_table[kind].id, of_kind[of]);
			put_name(store, PUT_FIELD_NAME, STORE_FIELD_OF(of, kind), name);
		}
	for (int of = FIELD_READ; of < FIELD_KINDS; of++)
		put_name(store, PUT_FIELD_NAME, STORE_FIELD_OF(of, 0), alone[of]);
}

/* Writes what does not change. */
static void put_constants(struct store *store, const struct store_about *about)
{
	struct utsname machine = { 0 };
	char boot[64] = "";
	int n = file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof(boot) - 1);

	uname(&machine);
	boot[n > 0 ? strcspn(boot, "\n") : 0] = '\0';
	put_about_number(store, "version", STORE_VERSION);
	put_about(store, "stalltop", about->program);
	put_about(store, "host", machine.nodename);
	put_about(store, "kernel", machine.release);
	put_about(store, "boot", boot);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++)
		put_name(store, PUT_KIND, kind, delay_table[kind].id);
	put_name(store, PUT_KIND, WAIT_BLOCK, "block");
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		put_name(store, PUT_RESOURCE, r, psi_names[r]);
	put_field_names(store);
}

/* Makes the file, so that it is ours alone, under no other name, and nobody else's to read. */
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
	/* SQLite's locks would go with this descriptor, but it has none yet. */
	close(fd);
	return 0;
}

/* Sets up an open file. */
static void set_up(struct store *store, const struct store_about *about)
{
	char pragma[64];

	snprintf(pragma, sizeof(pragma), "PRAGMA application_id=%d; PRAGMA user_version=%d;",
		 STORE_APPLICATION_ID, STORE_VERSION);
	sqlite3_busy_timeout(store->db, 5000);
	execute(store, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
		       "PRAGMA wal_autocheckpoint=256; PRAGMA journal_size_limit=4194304;"
		       "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-2048;");
	execute(store, pragma);
	execute(store, "BEGIN");
	execute(store, STORE_TABLES);
	execute(store, STORE_VIEWS);
	put_constants(store, about);
	execute(store, "COMMIT");
}

int store_create(struct store **out, const char *path, const struct store_about *about)
{
	struct store *store = xcalloc(1, sizeof(*store));
	bool memory = !strcmp(path, ":memory:");
	int err = memory ? 0 : make_file(store, path);

	store->path = xstrdup(path);
	if (!err) {
		store->result =
			sqlite3_open_v2(path, &store->db,
					SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE |
						(memory ? SQLITE_OPEN_MEMORY | SQLITE_OPEN_CREATE
							: SQLITE_OPEN_NOFOLLOW),
					NULL);
		if (!store->result)
			set_up(store, about);
		err = error_of(store);
		if (err && !memory)
			unlink(path);
	}
	if (err) {
		store->result = SQLITE_ERROR;
		store_close(store, false);
		return err;
	}
	*out = store;
	return 0;
}

/* Writes new texts. */
static void put_texts(struct store *store, const struct moment *moment)
{
	const char *at = moment_part(moment, PART_TEXTS), *end = at + moment->bytes[PART_TEXTS];

	while (at < end) {
		const struct moment_text *text = (const void *)at;
		const char *bytes = at + sizeof(*text);

		begin_row(store, PUT_TEXT);
		put_int(store, text->id);
		put_bytes(store, bytes, text->len, !is_utf8(bytes, text->len));
		end_row(store);
		at = bytes + text->len;
		at += -(at - (const char *)moment) & 7;
	}
}

/* Writes new tasks, and what tasks have become. */
static void put_tasks(struct store *store, const struct moment *moment)
{
	const struct moment_task *tasks = moment_part(moment, PART_TASKS);

	for (size_t i = 0; i < moment->bytes[PART_TASKS] / sizeof(*tasks); i++) {
		const struct moment_task *task = &tasks[i];

		begin_row(store, PUT_TASK);
		put_int(store, task->id);
		put_int(store, task->first);
		put_int(store, task->tgid);
		put_int(store, task->pid);
		put_int(store, task->ppid);
		put_int(store, task->uid);
		put_id(store, task->user);
		put_id(store, task->comm);
		put_id(store, task->command);
		put_id(store, task->cgroup);
		put_int(store, (int64_t)task->start_ns);
		put_known(store, task->latest_ns != task->start_ns, task->latest_ns);
		put_known(store, task->lo_ns != task->start_ns, task->lo_ns);
		put_known(store, task->hi_ns != task->start_ns, task->hi_ns);
		end_row(store);
	}
}

/* Fills the sample's columns of the machine. */
static void put_machine(struct store *store, const struct moment *moment)
{
	const struct system_sample *system = &moment->system;

	put_known(store, system->cpus, system->cpus);
	for (unsigned s = 0; s < CPU_STATES; s++)
		put_known(store, system->cpu_valid, (uint64_t)moment->cpu_ns[s]);
	for (unsigned i = 0; i < ARRAY_SIZE(system->load); i++)
		put_hundredths(store, system->load_valid, system->load[i]);
	put_real(store, system->uptime_valid, system->uptime);
	put_known(store, system->memory_valid, system->memory_total);
	put_known(store, system->memory_valid, system->memory_used);
	put_known(store, system->memory_valid, system->swap_total);
	put_known(store, system->memory_valid, system->swap_used);
	put_int(store, (int64_t)(system->read_ns - moment->begin_ns));
}

/* Writes the sample's own row. */
static void put_head(struct store *store, const struct moment *moment)
{
	begin_row(store, PUT_SAMPLE);
	put_int(store, store->sample);
	put_int(store, (int64_t)moment->real_ns);
	put_known(store, !(moment->flags & MOMENT_FIRST), moment->interval_ns);
	put_int(store, (int64_t)moment->begin_ns);
	put_int(store, (int64_t)(moment->end_ns - moment->begin_ns));
	put_int(store, moment->flags & MOMENT_WHOLE ? 1 : 0);
	put_int(store, (int64_t)moment->n);
	put_int(store, (int64_t)moment->steady);
	put_int(store, moment->flags & MOMENT_MARKED ? 1 : 0);
	put_int(store, moment->have);
	put_id(store, moment->source);
	put_known(store, moment->taskstats_version > 0, (uint64_t)moment->taskstats_version);
	put_known(store, moment->delayacct != DELAYACCT_UNKNOWN, (uint64_t)moment->delayacct);
	put_int(store, moment->unknown);
	put_id(store, moment->cgroup);
	put_id(store, moment->hierarchy);
	put_known(store, moment->hierarchy_version, moment->hierarchy_version);
	put_known(store, moment->exits >= 0, (uint64_t)moment->exits);
	put_known(store, moment->lost >= 0, (uint64_t)moment->lost);
	put_int(store, (int64_t)moment->others);
	put_real(store, moment->self >= 0, moment->self);
	put_machine(store, moment);
	put_bytes(store, moment_part(moment, PART_READS), moment->bytes[PART_READS], true);
	end_row(store);
}

/* Writes a file that could not be read. */
static void put_file_error(struct store *store, const char *file, int error)
{
	if (!error)
		return;
	begin_row(store, PUT_FILE_ERROR);
	put_int(store, store->sample);
	put_word(store, file);
	put_int(store, error);
	end_row(store);
}

/* Fills columns by a line of a pressure file. */
static void put_line(struct store *store, const struct psi_line *line)
{
	put_known(store, line->valid, line->avg10);
	put_known(store, line->valid, line->avg60);
	put_known(store, line->valid, line->avg300);
	put_known(store, line->valid, line->total_us);
}

/* Writes pressure that is other than before. */
static void put_pressures(struct store *store, const struct moment *moment)
{
	for (unsigned i = 0; i < 2 * PSI_RESOURCES; i++) {
		const struct psi *psi = &moment->system.psi[i / 2];

		if (!(moment->psi_new & 1u << i))
			continue;
		begin_row(store, PUT_PRESSURE);
		put_int(store, store->sample);
		put_int(store, i / 2);
		put_int(store, i % 2);
		put_line(store, i % 2 ? &psi->full : &psi->some);
		end_row(store);
	}
}

/* Writes the notes. */
static void put_notes(struct store *store, const struct moment *moment)
{
	for (size_t i = 0; i < moment->nnotes; i++) {
		const struct note *note = &moment->notes[i];

		begin_row(store, PUT_NOTE);
		put_int(store, store->sample);
		put_int(store, (int64_t)i);
		put_word(store, note_table[note->id].id);
		put_int(store, (int64_t)note->value);
		put_known(store, note->error, (uint64_t)(int64_t)note->error);
		end_row(store);
	}
}

/* Writes how the machine's time was spent. */
static void put_account(struct store *store, const struct account *account)
{
	if (!account->valid && !account->recovered_valid)
		return;
	begin_row(store, PUT_ACCOUNT);
	put_int(store, store->sample);
	put_known(store, account->valid, account->machine_ns);
	put_known(store, account->valid, account->run_ns);
	put_known(store, account->valid, account->idle_ns);
	put_known(store, account->valid, account->iowait_ns);
	put_known(store, account->valid, account->steal_ns);
	put_known(store, account->valid, account->irq_ns);
	put_known(store, account->recovered_valid, (uint64_t)account->recovered_ns);
	put_known(store, account->recovered_valid, account->children_ns);
	put_known(store, account->valid, (uint64_t)account->rest_ns);
	end_row(store);
}

/* Writes the clocks, where they changed. */
static void put_clocks(struct store *store, const struct moment *moment)
{
	const struct clock_sleep *sleeps = moment_part(moment, PART_SLEEPS);
	size_t n = moment->bytes[PART_SLEEPS] / sizeof(*sleeps);

	for (size_t i = 0; i < n && moment->flags & MOMENT_SLEEPS; i++) {
		begin_row(store, PUT_CLOCK);
		put_int(store, store->sample);
		put_int(store, (int64_t)i);
		put_int(store, (int64_t)moment->clock_real_ns);
		put_int(store, (int64_t)sleeps[i].from_ns);
		put_int(store, (int64_t)sleeps[i].ahead_ns);
		end_row(store);
	}
}

/* Begins a row of a task. */
static void begin_task_row(struct store *store, enum put put, const struct moment_change *change)
{
	begin_row(store, put);
	put_int(store, store->sample);
	put_int(store, change->task);
}

/* Writes what a task did in the interval. */
static void put_activity(struct store *store, const struct moment_change *change)
{
	const struct task_raw *raw = &change->raw;
	bool done = change->flags & CHANGE_ROW || !(change->flags & CHANGE_WHOLE);
	char state[] = { raw->now.state, '\0' };

	begin_task_row(store, PUT_ACTIVITY, change);
	put_known(store, done && raw->counters.valid & VALID_RUN, change->grown.run_ns);
	put_known(store, done && raw->counters.valid & VALID_TICK, change->grown.user_ns);
	put_known(store, done && raw->counters.valid & VALID_TICK, change->grown.system_ns);
	put_int(store, change->flags & CHANGE_WHOLE ? 0 : change->drift_ns);
	if (!raw->now.state)
		put_null(store);
	else if (!store->result)
		store->result =
			sqlite3_bind_text(store->row, ++store->column, state, 1, SQLITE_TRANSIENT);
	put_known(store, raw->now.threads, raw->now.threads);
	end_row(store);
}

/*
 * Writes what a task waited in the interval. What was booked beyond what was waited is `ahead`; of
 * `block`, which is never booked, what was added up beyond what the interval had room for.
 */
static void put_waits(struct store *store, const struct moment_change *change)
{
	for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
		bool block = kind == WAIT_BLOCK;
		bool known = change->known & (block ? VALID_BLOCK : DELAY_BIT(kind));
		uint64_t waited = known ? change->waited.ns[kind] : 0;
		uint64_t booked =
			block ? change->raw.now.waits.block_ns : change->grown.delay[kind].ns;
		uint64_t waits = block ? 0 : change->grown.delay[kind].count;
		bool counted = !block && change->raw.counters.valid & DELAY_COUNT_BIT(kind);

		if (!waited && !booked && !waits)
			continue;
		/* What the task brought along is in its totals. */
		if (change->flags & CHANGE_WHOLE && !(change->flags & CHANGE_ROW) && !block)
			continue;
		begin_task_row(store, PUT_WAIT, change);
		put_int(store, kind);
		put_known(store, known, waited);
		put_known(store, counted || waits, waits);
		put_int(store, (int64_t)(booked - waited));
		end_row(store);
	}
}

/* Writes the waits in progress, where they are others than before. */
static void put_in_progress(struct store *store, const struct moment_change *change)
{
	static const unsigned kind_of[WAITS_SEEN] = {
		[SEEN_CPU] = DELAY_CPU, [SEEN_BLKIO] = DELAY_BLKIO, [SEEN_BLOCK] = WAIT_BLOCK
	};
	const struct task_waits *waits = &change->raw.now.waits;

	for (unsigned seen = 0; seen < WAITS_SEEN && change->flags & CHANGE_WAITS; seen++) {
		/* A row without threads says that none waits any more. */
		if (!waits->threads[seen] && (waits_all(waits) || seen != SEEN_CPU))
			continue;
		begin_task_row(store, PUT_WAITING, change);
		put_int(store, kind_of[seen]);
		put_int(store, waits->threads[seen]);
		put_int(store, (int64_t)waits->first_ns);
		put_known(store,
			  waits->threads[seen] != 1 || waits->began_ns[seen] != waits->first_ns,
			  waits->began_ns[seen]);
		end_row(store);
	}
}

/* Writes a task's counters as they are. */
static void put_standing(struct store *store, const struct moment_change *change)
{
	const struct task_raw *raw = &change->raw;
	const struct counters *counters = &raw->counters;

	begin_task_row(store, PUT_STANDING, change);
	put_int(store, counters->valid);
	put_int(store, counters->members);
	put_int(store, raw->single);
	put_int(store, raw->now.exact);
	put_known(store, raw->was, (uint64_t)(int64_t)raw->was);
	put_int(store, (int64_t)counters->run_ns);
	put_int(store, (int64_t)counters->user_ns);
	put_int(store, (int64_t)counters->system_ns);
	put_int(store, (int64_t)counters->life_ns);
	end_row(store);
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		const struct delay_sum *sum = &counters->delay[kind];

		if (!sum->count && !sum->ns)
			continue;
		begin_task_row(store, PUT_TOTAL, change);
		put_int(store, kind);
		put_int(store, (int64_t)sum->ns);
		put_int(store, (int64_t)sum->count);
		end_row(store);
	}
}

/* Writes how a task ended. */
static void put_end(struct store *store, const struct moment *moment,
		    const struct moment_change *change)
{
	int status = (int)change->status;
	bool left = change->flags & CHANGE_LEFT;

	begin_task_row(store, PUT_ENDED, change);
	put_int(store, change->status);
	put_known(store, !WIFSIGNALED(status), (uint64_t)WEXITSTATUS(status));
	put_known(store, WIFSIGNALED(status), (uint64_t)WTERMSIG(status));
	put_int(store, change->raw.counters.members);
	put_id(store, change->ended);
	put_known(store, change->reaper, (uint64_t)change->reaper);
	put_int(store, change->mixed);
	put_known(store, left, change->place);
	put_known(store, left, change->raw.read_ns - moment->begin_ns);
	end_row(store);
}

/* Writes sums by kind that are not 0. */
static void put_impossible(struct store *store, const struct moment_change *change)
{
	for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
		const struct delay_sum *sum = &change->dropped.delay[kind];

		if (!sum->count && !sum->ns)
			continue;
		begin_task_row(store, PUT_IMPOSSIBLE, change);
		put_int(store, kind);
		put_int(store, (int64_t)sum->ns);
		put_int(store, (int64_t)sum->count);
		end_row(store);
	}
}

/* Writes all that happened to a task. */
static void put_change(struct store *store, const struct moment *moment,
		       const struct moment_change *change)
{
	put_activity(store, change);
	put_waits(store, change);
	put_in_progress(store, change);
	if (change->flags & CHANGE_WHOLE)
		put_standing(store, change);
	if (change->flags & CHANGE_CHILDREN) {
		begin_task_row(store, PUT_CHILDREN, change);
		put_int(store, (int64_t)change->raw.children.user_ns);
		put_int(store, (int64_t)change->raw.children.system_ns);
		end_row(store);
	}
	if (change->raw.exited)
		put_end(store, moment, change);
	if (change->flags & CHANGE_DROPPED)
		put_impossible(store, change);
}

/* Writes what happened to tasks. */
static void put_changes(struct store *store, const struct moment *moment)
{
	const struct moment_change *changes = moment_part(moment, PART_CHANGES);
	const struct moment_field *fields = moment_part(moment, PART_FIELDS);
	const uint32_t *gone = moment_part(moment, PART_GONE);

	for (size_t i = 0; i < moment->bytes[PART_CHANGES] / sizeof(*changes); i++)
		put_change(store, moment, &changes[i]);
	for (size_t i = 0; i < moment->bytes[PART_FIELDS] / sizeof(*fields); i++) {
		begin_row(store, PUT_FIELD);
		put_int(store, store->sample);
		put_int(store, fields[i].task);
		put_int(store, STORE_FIELD_OF(fields[i].of, fields[i].number));
		put_known(store, fields[i].known, fields[i].value);
		end_row(store);
	}
	for (size_t i = 0; i < moment->bytes[PART_GONE] / sizeof(*gone); i++) {
		begin_row(store, PUT_GONE);
		put_int(store, store->sample);
		put_int(store, gone[i]);
		end_row(store);
	}
}

/* Writes a group's pressure. */
static void put_group_pressure(struct store *store, const struct moment_group *group)
{
	const struct cgroup_sample *sample = &group->sample;

	for (unsigned i = 0; i < 2 * PSI_RESOURCES; i++) {
		if (!(sample->have & CGROUP_BIT(i / 2)))
			continue;
		begin_row(store, PUT_CGROUP_PRESSURE);
		put_int(store, store->sample);
		put_int(store, group->path);
		put_int(store, i / 2);
		put_int(store, i % 2);
		put_line(store, i % 2 ? &sample->psi[i / 2].full : &sample->psi[i / 2].some);
		put_int(store, (int64_t)sample->read_ns[i / 2]);
		end_row(store);
	}
}

/* Writes what was read of groups. */
static void put_groups(struct store *store, const struct moment *moment)
{
	const struct moment_group *groups = moment_part(moment, PART_GROUPS);

	for (size_t i = 0; i < moment->bytes[PART_GROUPS] / sizeof(*groups); i++) {
		const struct cgroup_sample *sample = &groups[i].sample;
		bool throttle = sample->have & CGROUP_BIT(CGROUP_THROTTLE);
		bool states = sample->have & CGROUP_BIT(CGROUP_STATES);

		begin_row(store, PUT_CGROUP);
		put_int(store, store->sample);
		put_int(store, groups[i].path);
		put_int(store, groups[i].fresh);
		put_int(store, sample->have);
		put_known(store, throttle, sample->throttled_ns);
		put_known(store, throttle, sample->throttled);
		put_known(store, throttle, sample->read_ns[CGROUP_THROTTLE]);
		put_int(store, sample->event_valid);
		for (unsigned e = 0; e < CGROUP_EVENT_KINDS; e++)
			put_known(store, sample->event_valid & 1u << e, sample->events[e]);
		put_known(store, states, sample->states.sleeping);
		put_known(store, states, sample->states.running);
		put_known(store, states, sample->states.stopped);
		put_known(store, states, sample->states.uninterruptible);
		put_known(store, states, sample->states.io_wait);
		end_row(store);
		put_group_pressure(store, &groups[i]);
	}
}

/* Writes what belongs to the sample as a whole. */
static void put_all(struct store *store, const struct moment *moment)
{
	put_texts(store, moment);
	put_tasks(store, moment);
	if (store->sample == 1)
		put_about_number(store, "threads", moment->threads);
	put_head(store, moment);
	if (moment->dropped) {
		begin_row(store, PUT_GAP);
		put_int(store, store->sample);
		put_int(store, (int64_t)moment->dropped);
		end_row(store);
	}
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		put_file_error(store, psi_names[r], moment->system.psi_error[r]);
	for (unsigned f = 0; f < SYSTEM_FILES; f++)
		put_file_error(store, system_file_names[f], moment->system.file_error[f]);
	put_pressures(store, moment);
	put_notes(store, moment);
	put_account(store, &moment->account);
	put_clocks(store, moment);
	put_changes(store, moment);
	put_groups(store, moment);
}

int store_put(struct store *store, const struct moment *moment)
{
	int err;

	store->result = SQLITE_OK;
	execute(store, "BEGIN");
	store->sample++;
	put_all(store, moment);
	execute(store, "COMMIT");
	err = error_of(store);
	if (!err)
		return 0;
	store->sample--;
	sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

uint64_t store_bytes(const struct store *store)
{
	struct stat stat;

	return store->inode && !lstat(store->path, &stat) ? (uint64_t)stat.st_size : 0;
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
	for (unsigned put = 0; put < PUTS; put++)
		sqlite3_finalize(store->puts[put]);
	/* Without a journal the file is one alone, and can be read from a read-only place. */
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
