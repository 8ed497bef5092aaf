/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/rebuild_parts.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "model/notes.h"

/* Reads the machine's columns of a sample's row. */
static void read_machine(struct rebuild *rebuild, sqlite3_stmt *row, bool *bad)
{
	struct system_sample *system = &rebuild->moment.system;

	system->cpus = (unsigned)archive_int(row, 20, 0, INT32_MAX, 0, bad);
	system->cpu_valid = !archive_null(row, 21);
	for (int s = 0; s < CPU_STATES; s++)
		system->cpu_ns[s] +=
			(uint64_t)archive_int(row, 21 + s, INT64_MIN, INT64_MAX, 0, bad);
	system->load_valid = !archive_null(row, 29);
	for (int i = 0; i < 3; i++)
		system->load[i] = sqlite3_column_double(row, 29 + i) / 100.0;
	system->uptime_valid = !archive_null(row, 32);
	system->uptime = sqlite3_column_double(row, 32);
	system->memory_valid = !archive_null(row, 33);
	system->memory_total = archive_uint(row, 33, 0, bad);
	system->memory_used = archive_uint(row, 34, 0, bad);
	system->swap_total = archive_uint(row, 35, 0, bad);
	system->swap_used = archive_uint(row, 36, 0, bad);
	system->pressure.read_ns =
		rebuild->begin_ns + (uint64_t)archive_int(row, 37, INT64_MIN, INT64_MAX, 0, bad);
}

/* Adds to a count that may be unknown. */
static void add_count(int64_t *count, sqlite3_stmt *row, int column, bool first, bool *bad)
{
	int64_t more = archive_int(row, column, 0, INT64_MAX / 2, -1, bad);

	if (first || *count < 0 || more < 0)
		*count = first ? more : *count > more ? *count : more;
	else
		*count += more;
}

/* The share of CPU of two intervals together; negative: not known. */
static double add_share(double before, uint64_t before_ns, double now, uint64_t now_ns)
{
	if (before < 0 || now < 0 || before_ns + now_ns == 0)
		return now;
	return (before * (double)before_ns + now * (double)now_ns) / (double)(before_ns + now_ns);
}

/* Takes the texts that a row names; the row is not used afterwards. */
void rebuild_read_texts(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			bool *bad)
{
	struct playback_moment *moment = &rebuild->moment;
	int64_t source = archive_int(row, 9, 0, INT64_MAX, 0, bad);
	int64_t cgroup = archive_int(row, 13, 0, INT64_MAX, 0, bad);
	int64_t hierarchy = archive_int(row, 14, 0, INT64_MAX, 0, bad);

	moment->head.source = rebuild_keep_text(rebuild, archive, source, bad);
	moment->head.cgroup = rebuild_keep_text(rebuild, archive, cgroup, bad);
	moment->head.hierarchy = rebuild_keep_text(rebuild, archive, hierarchy, bad);
	if (!moment->head.source)
		moment->head.source = "";
}

/* Reads a sample's own row, up to the blob, which comes when all elements are there. */
void rebuild_read_head(struct rebuild *rebuild, sqlite3_stmt *row, bool *whole, bool *bad)
{
	struct playback_moment *moment = &rebuild->moment;
	bool first = !rebuild->passed;
	uint64_t interval_ns;

	rebuild->before_ns = rebuild->begin_ns;
	rebuild->real_ns = archive_uint(row, 0, 0, bad);
	interval_ns = archive_uint(row, 1, 0, bad);
	moment->baseline = archive_null(row, 1);
	rebuild->begin_ns = archive_uint(row, 2, 0, bad);
	rebuild->end_ns = rebuild->begin_ns + archive_uint(row, 3, 0, bad);
	*whole = archive_int(row, 4, 0, 1, 0, bad);
	moment->tasks = (size_t)archive_uint(row, 5, 0, bad);
	rebuild->steady = (size_t)archive_uint(row, 6, 0, bad);
	rebuild->marked = archive_int(row, 7, 0, 1, 0, bad);
	rebuild->have = (unsigned)archive_int(row, 8, 0, UINT32_MAX, 0, bad) &
			(NEED_RECORD | NEED_RANGE | NEED_PROC);
	moment->head.taskstats_version = (int)archive_int(row, 10, 0, INT32_MAX, 0, bad);
	moment->head.delayacct = archive_null(row, 11)		      ? DELAYACCT_UNKNOWN
				 : archive_int(row, 11, 0, 1, 0, bad) ? DELAYACCT_ON
								      : DELAYACCT_OFF;
	moment->head.unknown = (first ? 0 : moment->head.unknown) |
			       (uint32_t)archive_int(row, 12, 0, UINT32_MAX, 0, bad);
	moment->head.hierarchy_version = (unsigned)archive_int(row, 15, 0, INT32_MAX, 0, bad);
	add_count(&moment->head.exits, row, 16, first, bad);
	add_count(&moment->head.lost, row, 17, first, bad);
	moment->head.others = (first ? 0 : moment->head.others) + archive_uint(row, 18, 0, bad);
	moment->head.self =
		add_share(first ? -1 : moment->head.self, rebuild->interval_ns,
			  archive_null(row, 19) ? -1 : sqlite3_column_double(row, 19), interval_ns);
	rebuild->interval_ns = (first ? 0 : rebuild->interval_ns) + interval_ns;
	read_machine(rebuild, row, bad);
}

/* Takes a line of pressure. */
static void take_pressure_row(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			      bool *bad)
{
	int64_t resource = archive_int(row, 0, 0, INT64_MAX, INT64_MAX, bad);
	bool full = archive_int(row, 1, 0, 1, 0, bad);
	struct psi *psi;

	(void)archive;
	if (resource >= PSI_RESOURCES)
		return;
	psi = &rebuild->moment.system.pressure.psi[resource];
	*(full ? &psi->full : &psi->some) = (struct psi_line){
		.valid = !archive_null(row, 5),
		.avg10 = (uint32_t)archive_int(row, 2, 0, UINT32_MAX, 0, bad),
		.avg60 = (uint32_t)archive_int(row, 3, 0, UINT32_MAX, 0, bad),
		.avg300 = (uint32_t)archive_int(row, 4, 0, UINT32_MAX, 0, bad),
		.total_us = archive_uint(row, 5, 0, bad),
	};
}

/* Takes a file that could not be read. */
static void take_file_error(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			    bool *bad)
{
	const char *file = (const char *)sqlite3_column_text(row, 0);
	int error = (int)archive_int(row, 1, -4095, 0, 0, bad);

	(void)archive;
	for (unsigned r = 0; r < PSI_RESOURCES && file; r++)
		if (!strcmp(file, psi_names[r]))
			rebuild->moment.system.pressure.error[r] = error;
	for (unsigned f = 0; f < SYSTEM_FILES && file; f++)
		if (!strcmp(file, system_file_names[f]))
			rebuild->moment.system.file_error[f] = error;
}

/* Adds a note, once; a note of a later version is not known. */
static void take_note(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		      bool *bad)
{
	struct playback_moment *moment = &rebuild->moment;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	struct note note = { .id = NOTE_IDS,
			     .value = (uint64_t)archive_int(row, 1, INT64_MIN, INT64_MAX, 0, bad),
			     .error = (int)archive_int(row, 2, -4095, 4095, 0, bad) };

	(void)archive;
	for (unsigned id = 0; id < NOTE_IDS && name; id++)
		if (!strcmp(note_table[id].id, name))
			note.id = (enum note_id)id;
	for (size_t i = 0; i < moment->head.nnotes; i++)
		if (moment->head.notes[i].id == note.id &&
		    moment->head.notes[i].value == note.value)
			return;
	if (note.id < NOTE_IDS && moment->head.nnotes < NOTES_MAX)
		moment->head.notes[moment->head.nnotes++] = note;
}

/* Takes a count of samples that are missing. */
static void take_gap(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row, bool *bad)
{
	struct playback_moment *moment = &rebuild->moment;
	uint64_t dropped = archive_uint(row, 0, 0, bad);

	(void)archive;
	for (size_t i = 0; i < moment->head.nnotes; i++)
		if (moment->head.notes[i].id == NOTE_RECORD_DROPPED)
			return;
	if (dropped && moment->head.nnotes < NOTES_MAX)
		moment->head.notes[moment->head.nnotes++] =
			(struct note){ .id = NOTE_RECORD_DROPPED, .value = dropped };
}

/* Adds how the machine's time was spent. */
static void read_account(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			 bool *bad)
{
	struct account *account = &rebuild->account;

	(void)archive;
	account->valid = !archive_null(row, 0);
	account->machine_ns = archive_uint(row, 0, 0, bad);
	account->run_ns = archive_uint(row, 1, 0, bad);
	account->idle_ns = archive_uint(row, 2, 0, bad);
	account->iowait_ns = archive_uint(row, 3, 0, bad);
	account->steal_ns = archive_uint(row, 4, 0, bad);
	account->irq_ns = archive_uint(row, 5, 0, bad);
	account->recovered_valid = !archive_null(row, 6);
	account->recovered_ns = archive_int(row, 6, INT64_MIN, INT64_MAX, 0, bad);
	account->children_ns = archive_uint(row, 7, 0, bad);
	account->rest_ns = archive_int(row, 8, INT64_MIN, INT64_MAX, 0, bad);
}

/* Adds two intervals' accounts: what is not known of one is not known of both. */
void rebuild_add_accounts(struct account *sum, const struct account *more, bool first)
{
	if (first) {
		*sum = *more;
		return;
	}
	sum->valid &= more->valid;
	sum->recovered_valid &= more->recovered_valid;
	sum->machine_ns += more->machine_ns;
	sum->run_ns += more->run_ns;
	sum->idle_ns += more->idle_ns;
	sum->iowait_ns += more->iowait_ns;
	sum->steal_ns += more->steal_ns;
	sum->irq_ns += more->irq_ns;
	sum->recovered_ns += more->recovered_ns;
	sum->children_ns += more->children_ns;
	sum->rest_ns += more->rest_ns;
}

/* Reads the clocks where they changed. */
int rebuild_read_clocks(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	sqlite3_stmt *rows = archive_ask(archive, QUERY_CLOCK, number);
	struct clocks *clocks = &rebuild->clocks;
	bool bad = false, first = true;
	int got;

	while ((got = archive_row(archive, rows)) == 1 && !bad) {
		if (first)
			clocks->n = 0;
		first = false;
		clocks->real_ns = (uint64_t)archive_int(rows, 0, INT64_MIN, INT64_MAX, 0, &bad);
		clocks->sleeps =
			xreallocarray(clocks->sleeps, clocks->n + 1, sizeof(*clocks->sleeps));
		clocks->sleeps[clocks->n++] = (struct clock_sleep){
			archive_uint(rows, 1, 0, &bad),
			(uint64_t)archive_int(rows, 2, INT64_MIN, INT64_MAX, 0, &bad),
		};
	}
	sqlite3_reset(rows);
	return bad ? -EBADMSG : got < 0 ? got : 0;
}

/* Samples after which a group that they do not have is forgotten: no frame has its figures. */
#define FORGET_GROUPS 8

/* Orders by path. */
static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct group_reading *)a)->path,
		      ((const struct group_reading *)b)->path);
}

/* The readings of the group with that path, or NULL. */
struct group_reading *rebuild_reading(const struct rebuild *rebuild, const char *path)
{
	const struct group_reading key = { .path = (char *)(uintptr_t)path };
	struct group_reading **node = tfind(&key, &rebuild->group_tree, compare_paths);

	return node ? *node : NULL;
}

/* Forgets those groups that had their last reading before a turn. */
static void forget_groups(struct rebuild *rebuild, uint64_t turn)
{
	struct group_reading **at = &rebuild->groups;

	while (*at) {
		struct group_reading *group = *at;

		if (group->turn >= turn) {
			at = &group->next;
			continue;
		}
		*at = group->next;
		tdelete(group, &rebuild->group_tree, compare_paths);
		free(group->path);
		free(group);
	}
}

void rebuild_begin_groups(struct rebuild *rebuild)
{
	for (struct group_reading *group = rebuild->groups; group; group = group->next) {
		group->before = group->now;
		group->before_valid = group->now_valid && group->turn == rebuild->turn;
		group->now_valid = false;
	}
	if (rebuild->turn > FORGET_GROUPS)
		forget_groups(rebuild, rebuild->turn - FORGET_GROUPS);
}

void rebuild_free_groups(struct rebuild *rebuild)
{
	forget_groups(rebuild, UINT64_MAX);
}

/* Finds or makes the readings of the group that the first column names. */
static struct group_reading *group_of_row(struct rebuild *rebuild, struct archive *archive,
					  sqlite3_stmt *row, bool *bad)
{
	char *path = rebuild_text(archive, archive_int(row, 0, 1, INT64_MAX, 0, bad), bad);
	struct group_reading *group = path ? rebuild_reading(rebuild, path) : NULL;

	if (!path || group) {
		free(path);
		return group;
	}
	group = xcalloc(1, sizeof(*group));
	*group = (struct group_reading){ .path = path,
					 .turn = rebuild->turn,
					 .next = rebuild->groups };
	rebuild->groups = group;
	if (!tsearch(group, &rebuild->group_tree, compare_paths))
		die("out of memory");
	return group;
}

/* Takes what was read of a group. */
static void read_group(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		       bool *bad)
{
	struct group_reading *group = group_of_row(rebuild, archive, row, bad);
	struct cgroup_sample *now;

	if (!group)
		return;
	if (archive_int(row, 1, 0, 1, 0, bad))
		group->before_valid = false;
	now = &group->now;
	*now = (struct cgroup_sample){ 0 };
	group->now_valid = true;
	group->turn = rebuild->turn;
	now->have = (unsigned)archive_int(row, 2, 0, CGROUP_ALL, 0, bad);
	now->throttled_ns = archive_uint(row, 3, 0, bad);
	now->throttled = archive_uint(row, 4, 0, bad);
	now->read_ns[CGROUP_THROTTLE] = archive_uint(row, 5, 0, bad);
	now->event_valid = (unsigned)archive_int(row, 6, 0, UINT32_MAX, 0, bad);
	for (int e = 0; e < CGROUP_EVENT_KINDS; e++)
		now->events[e] = archive_uint(row, 7 + e, 0, bad);
	now->states.sleeping = archive_uint(row, 11, 0, bad);
	now->states.running = archive_uint(row, 12, 0, bad);
	now->states.stopped = archive_uint(row, 13, 0, bad);
	now->states.uninterruptible = archive_uint(row, 14, 0, bad);
	now->states.io_wait = archive_uint(row, 15, 0, bad);
}

/* Takes a line of a group's pressure. */
static void take_group_pressure(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
				bool *bad)
{
	struct group_reading *group = group_of_row(rebuild, archive, row, bad);
	int64_t resource = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	bool full = archive_int(row, 2, 0, 1, 0, bad);
	struct psi *psi;

	if (!group || resource >= PSI_RESOURCES)
		return;
	psi = &group->now.psi[resource];
	group->now.read_ns[resource] = archive_uint(row, 7, 0, bad);
	*(full ? &psi->full : &psi->some) = (struct psi_line){
		.valid = !archive_null(row, 6),
		.avg10 = (uint32_t)archive_int(row, 3, 0, UINT32_MAX, 0, bad),
		.avg60 = (uint32_t)archive_int(row, 4, 0, UINT32_MAX, 0, bad),
		.avg300 = (uint32_t)archive_int(row, 5, 0, UINT32_MAX, 0, bad),
		.total_us = archive_uint(row, 6, 0, bad),
	};
}

int rebuild_read_frame(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	static const struct {
		enum archive_query query;
		rebuild_row_taker *take;
	} tables[] = {
		{ QUERY_PRESSURE, take_pressure_row },
		{ QUERY_FILE_ERROR, take_file_error },
		{ QUERY_NOTE, take_note },
		{ QUERY_GAP, take_gap },
		{ QUERY_ACCOUNT, read_account },
		{ QUERY_CGROUP, read_group },
		{ QUERY_CGROUP_PRESSURE, take_group_pressure },
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !err; i++)
		if (!rebuild->bare || tables[i].query < QUERY_CGROUP)
			err = rebuild_each_row(rebuild, archive, tables[i].query, number,
					       tables[i].take);
	return err;
}
