/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/rebuild_parts.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "history/rows.h"
#include "model/notes.h"

/* Adds counts of two intervals; below 0: not known. */
static int64_t join_counts(int64_t before, int64_t more)
{
	if (before < 0 || more < 0)
		return before > more ? before : more;
	return before + more;
}

/* Computes the share of CPU of two intervals together; negative: not known. */
static double add_share(double before, uint64_t before_ns, double now, uint64_t now_ns)
{
	if (before < 0 || now < 0 || before_ns + now_ns == 0)
		return now;
	return (before * (double)before_ns + now * (double)now_ns) / (double)(before_ns + now_ns);
}

/*
 * Joins the heads of two intervals: sums of what belongs to an interval, the later value of all
 * else.
 */
static struct frame_head join_heads(const struct frame_head *before, uint64_t before_ns,
				    const struct frame_head *now, uint64_t now_ns)
{
	struct frame_head head = *now;

	head.unknown |= before->unknown;
	head.exits = join_counts(before->exits, now->exits);
	head.lost = join_counts(before->lost, now->lost);
	head.others += before->others;
	head.self = add_share(before->self, before_ns, now->self, now_ns);
	return head;
}

/* Sets the machine's pressure where a group's was shown: of I/O alone, if that is known. */
static void set_machine_io(struct rebuild *rebuild, const struct moment_sample *row)
{
	struct psi_reading *machine = &rebuild->machine;

	*machine = (struct psi_reading){ 0 };
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		machine->error[r] = -ENOENT;
	if (!row->machine_known)
		return;
	machine->read_ns = row->begin_ns + (uint64_t)row->machine_ns;
	machine->error[PSI_IO] = 0;
	machine->psi[PSI_IO].some = (struct psi_line){ .valid = true, .total_us = row->machine_us };
}

/* Adds the machine's figures: the CPUs' times grow, and pressure has rows of its own. */
static void add_machine_row(struct rebuild *rebuild, const struct moment_sample *row)
{
	struct system_sample *system = &rebuild->moment.system, before = *system;

	*system = row->system;
	memcpy(system->cpu_ns, before.cpu_ns, sizeof(system->cpu_ns));
	for (int s = 0; s < CPU_STATES; s++)
		system->cpu_ns[s] += (uint64_t)row->cpu_ns[s];
	system->pressure = before.pressure;
	system->pressure.read_ns = row->begin_ns + (uint64_t)row->pressure_ns;
	set_machine_io(rebuild, row);
}

void rebuild_set_head(struct rebuild *rebuild, const struct moment_sample *row)
{
	struct playback_moment *moment = &rebuild->moment;
	struct frame_head head = row->head, before = moment->head;
	bool first = !rebuild->passed;

	if (!first)
		head = join_heads(&before, rebuild->interval_ns, &row->head, row->interval_ns);
	head.source = rebuild_keep_text(rebuild, row->source);
	head.cgroup = rebuild_keep_text(rebuild, row->cgroup);
	head.hierarchy = rebuild_keep_text(rebuild, row->hierarchy);
	if (!head.source)
		head.source = "";
	/* Account and notes have rows of their own. */
	head.account = before.account;
	memcpy(head.notes, before.notes, sizeof(head.notes));
	head.nnotes = before.nnotes;
	moment->head = head;
	moment->baseline = !row->interval_known;
	moment->tasks = (size_t)row->n;
	rebuild->before_ns = rebuild->begin_ns;
	rebuild->real_ns = row->real_ns;
	rebuild->begin_ns = row->begin_ns;
	rebuild->end_ns = row->begin_ns + row->took_ns;
	rebuild->interval_ns = (first ? 0 : rebuild->interval_ns) + row->interval_ns;
	rebuild->whole = row->whole;
	rebuild->steady = (size_t)row->steady;
	rebuild->marked = row->marked;
	rebuild->have = row->have & (NEED_RECORD | NEED_RANGE | NEED_PROC);
	add_machine_row(rebuild, row);
}

/* Sets a line of pressure. */
static void set_psi_line(struct psi psi[PSI_RESOURCES], const struct pressure_row *row)
{
	if (row->resource < PSI_RESOURCES)
		*(row->full ? &psi[row->resource].full : &psi[row->resource].some) = row->line;
}

/* Sets a line of the pressure that was shown. */
static void set_pressure_row(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;

	set_psi_line(rebuild->moment.system.pressure.psi, from);
}

/* Sets the error of a file that could not be read. */
static void set_file_error(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	struct system_sample *system = &rebuild->moment.system;
	const struct file_error_row *row = from;

	for (unsigned r = 0; r < PSI_RESOURCES && row->file; r++)
		if (!strcmp(row->file, psi_names[r]))
			system->pressure.error[r] = row->error;
	for (unsigned f = 0; f < SYSTEM_FILES && row->file; f++)
		if (!strcmp(row->file, system_file_names[f]))
			system->file_error[f] = row->error;
}

/* Adds a note if there is room. */
static void keep_note(struct frame_head *head, struct note note)
{
	if (head->nnotes < NOTES_MAX)
		head->notes[head->nnotes++] = note;
}

/* Adds a note that is not there yet; one of a later version is unknown and left out. */
static void add_note(void *arg, const void *from)
{
	struct frame_head *head = &((struct rebuild *)arg)->moment.head;
	const struct noted_row *row = from;
	struct note note = { .id = NOTE_IDS, .value = (uint64_t)row->value, .error = row->error };

	for (unsigned id = 0; id < NOTE_IDS && row->name; id++)
		if (!strcmp(note_table[id].id, row->name))
			note.id = (enum note_id)id;
	for (size_t i = 0; i < head->nnotes; i++)
		if (head->notes[i].id == note.id && head->notes[i].value == note.value)
			return;
	if (note.id < NOTE_IDS)
		keep_note(head, note);
}

/* Adds a note that samples are missing, unless it is there. */
static void add_gap(void *arg, const void *from)
{
	struct frame_head *head = &((struct rebuild *)arg)->moment.head;
	const struct gap_row *row = from;

	for (size_t i = 0; i < head->nnotes; i++)
		if (head->notes[i].id == NOTE_RECORD_DROPPED)
			return;
	if (row->dropped)
		keep_note(head, (struct note){ .id = NOTE_RECORD_DROPPED, .value = row->dropped });
}

/* Sets how the machine's time was spent. */
static void set_account_row(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;

	rebuild->account = *(const struct account *)from;
}

/* Adds the account of another interval; what one of the two does not know is unknown in the sum. */
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

/*
 * Adds a sleep of the clocks. All have rows when any changed; the first row replaces those before.
 */
static void add_clock(void *arg, const void *from)
{
	struct clocks *clocks = &((struct rebuild *)arg)->clocks;
	const struct clock_row *row = from;

	if (!row->number)
		clocks->n = 0;
	clocks->real_ns = (uint64_t)row->real_ns;
	clocks->sleeps = xreallocarray(clocks->sleeps, clocks->n + 1, sizeof(*clocks->sleeps));
	clocks->sleeps[clocks->n++] = (struct clock_sleep){ row->from_ns, (uint64_t)row->ahead_ns };
}

/* A group that this many samples do not have is forgotten: no frame has its figures any more. */
#define FORGET_GROUPS 8

/* Orders by path. */
static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct group_reading *)a)->path,
		      ((const struct group_reading *)b)->path);
}

/* Finds the readings of the group with a path, or NULL. */
struct group_reading *rebuild_reading(const struct rebuild *rebuild, const char *path)
{
	const struct group_reading key = { .path = (char *)(uintptr_t)path };
	struct group_reading **node = tfind(&key, &rebuild->group_tree, compare_paths);

	return node ? *node : NULL;
}

/* Forgets groups that were last seen before a sample. */
static void forget_groups(struct rebuild *rebuild, uint64_t before)
{
	struct group_reading **at = &rebuild->groups;

	while (*at) {
		struct group_reading *group = *at;

		if (group->seen_in >= before) {
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
		group->before_valid = group->now_valid && group->seen_in == rebuild->nsamples;
		group->now_valid = false;
	}
	if (rebuild->nsamples > FORGET_GROUPS)
		forget_groups(rebuild, rebuild->nsamples - FORGET_GROUPS);
}

void rebuild_free_groups(struct rebuild *rebuild)
{
	forget_groups(rebuild, UINT64_MAX);
}

/* Finds or makes the readings of a group. */
static struct group_reading *find_group(struct rebuild *rebuild, uint32_t id)
{
	char *path = rebuild_text(rebuild, id);
	struct group_reading *group = path ? rebuild_reading(rebuild, path) : NULL;

	if (!path || group) {
		free(path);
		return group;
	}
	group = xcalloc(1, sizeof(*group));
	*group = (struct group_reading){ .path = path,
					 .seen_in = rebuild->nsamples,
					 .next = rebuild->groups };
	rebuild->groups = group;
	if (!tsearch(group, &rebuild->group_tree, compare_paths))
		die("out of memory");
	return group;
}

/* Sets what was read of a group. */
static void set_group_row(void *arg, const void *from)
{
	struct rebuild *rebuild = arg;
	const struct moment_group *row = from;
	struct group_reading *group = find_group(rebuild, row->path);

	if (!group)
		return;
	if (row->fresh)
		group->before_valid = false;
	group->now = row->sample;
	group->now_valid = true;
	group->seen_in = rebuild->nsamples;
}

/* Sets a line of a group's pressure. */
static void set_group_pressure(void *arg, const void *from)
{
	const struct pressure_row *row = from;
	struct group_reading *group = find_group(arg, row->path);

	if (!group || row->resource >= PSI_RESOURCES)
		return;
	group->now.read_ns[row->resource] = row->read_ns;
	set_psi_line(group->now.psi, row);
}

int rebuild_read_frame(struct rebuild *rebuild, int64_t number)
{
	/* The last two are about groups, which belong to rows. */
	static const struct archive_reader readers[] = {
		{ TABLE_CLOCK, add_clock },
		{ TABLE_PRESSURE, set_pressure_row },
		{ TABLE_FILE_ERROR, set_file_error },
		{ TABLE_NOTE, add_note },
		{ TABLE_GAP, add_gap },
		{ TABLE_ACCOUNT, set_account_row },
		{ TABLE_CGROUP, set_group_row },
		{ TABLE_CGROUP_PRESSURE, set_group_pressure },
	};

	return archive_each_of(rebuild->archive, readers,
			       ARRAY_SIZE(readers) - (rebuild->bare ? 2 : 0), number, rebuild);
}
