// SPDX-License-Identifier: GPL-2.0-or-later
/* What is recorded of made-up samples comes back as it was; what is damaged is refused. */
#include "config.h"

#include "tests/lib/test.h"
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/text.h"
#include "history/varint.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

/* A sampler's part of a replay. */
struct player {
	struct replay *replay;
	struct sample samples[3];
	struct system_sample systems[3];
	struct frame frames[2];
	struct frame_info infos[2];
	unsigned turn;
};

/* The next frame; NULL at the end or, with err, where it fails. */
static const struct frame *next_frame(struct player *player, int *err)
{
	struct sample *prev = player->turn ? &player->samples[(player->turn + 2) % 3] : NULL;
	struct sample *cur = &player->samples[player->turn % 3];
	struct frame *frame = &player->frames[player->turn % 2];
	struct frame_info *info = &player->infos[player->turn % 2];
	struct playback playback = replay_playback(player->replay);
	struct playback_moment moment;
	struct frame_options options = { .machine.cpus = 2 };

	*err = playback.next(playback.state, prev, cur, &moment);
	if (*err)
		return NULL;
	player->systems[player->turn % 3] = moment.system;
	frame_build(frame, info, moment.baseline ? NULL : prev, cur, &options);
	playback_trace(&moment, frame, info);
	info->system = &player->systems[player->turn % 3];
	info->head.exits = moment.head.exits;
	info->clocks = moment.clocks;
	for (size_t i = 0; i < moment.head.nnotes; i++)
		frame_note(info, moment.head.notes[i].id, moment.head.notes[i].value);
	player->turn++;
	return frame;
}

static void close_player(struct player *player)
{
	for (unsigned i = 0; i < 3; i++)
		sample_free(&player->samples[i]);
	for (unsigned i = 0; i < 2; i++)
		frame_free(&player->frames[i]);
	replay_close(player->replay);
}

/* Everything that is shown of a row. */
static void compare_rows(const struct row *a, const struct row *b, unsigned sample)
{
	const struct task_raw *x = a->raw, *y = b->raw;

	if (x->pid != y->pid || x->single != y->single || x->exited != y->exited ||
	    x->read_ns != y->read_ns || x->was != y->was ||
	    x->counters.valid != y->counters.valid || x->counters.run_ns != y->counters.run_ns ||
	    x->counters.user_ns != y->counters.user_ns ||
	    memcmp(x->counters.delay, y->counters.delay, sizeof(x->counters.delay)) != 0 ||
	    x->now.state != y->now.state || x->now.threads != y->now.threads ||
	    memcmp(&x->now.waits, &y->now.waits, sizeof(x->now.waits)) != 0)
		fail_msg("sample %u: task %d is another", sample, (int)x->pid);
	if (strcmp(a->task->comm, b->task->comm) != 0 || a->task->ppid != b->task->ppid ||
	    strcmp(a->task->user, b->task->user) != 0 ||
	    text_compare(a->task->pod, b->task->pod) != 0 ||
	    text_compare(a->task->container, b->task->container) != 0 ||
	    a->task->key.start_ns != b->task->key.start_ns ||
	    (a->exited && a->task->status != b->task->status))
		fail_msg("sample %u: task %d is described otherwise", sample, (int)x->pid);
	if (a->valid != b->valid || a->interval_ns != b->interval_ns || a->born != b->born ||
	    memcmp(&a->deltas->waited, &b->deltas->waited, sizeof(a->deltas->waited)) != 0 ||
	    a->deltas->grown.run_ns != b->deltas->grown.run_ns)
		fail_msg("sample %u: task %d did otherwise", sample, (int)x->pid);
}

/* What was traced of the interval. */
static void compare_traces(const struct frame *live, const struct frame *again, unsigned sample)
{
	const struct trace_frame *a = live->info->trace, *b = again->info->trace;

	if (!a != !b)
		fail_msg("sample %u: traced: %d, %d", sample, a != NULL, b != NULL);
	for (size_t i = 0; a && i < live->n; i++) {
		const struct traced *x = live->rows[i].traced, *y = again->rows[i].traced;

		if (!x != !y || (x && (memcmp(&x->states, &y->states, sizeof(x->states)) != 0 ||
				       x->tgid != y->tgid || x->start_ns != y->start_ns ||
				       !x->waker != !y->waker)))
			fail_msg("sample %u: task %d was traced otherwise", sample,
				 (int)live->rows[i].raw->pid);
	}
	if (!a)
		return;
	assert_int_equal(a->n, b->n);
	assert_true(a->interval_ns == b->interval_ns && a->lost == b->lost &&
		    a->switches == b->switches && a->cost == b->cost);
	for (size_t i = 0; i < a->n; i++) {
		const struct site *x = &a->sites[i], *y = &b->sites[i];
		const struct site_stack *s = &a->stacks[x->stack], *t = &b->stacks[y->stack];
		bool alike = x->id == y->id && x->tgid == y->tgid && x->start_ns == y->start_ns &&
			     x->state == y->state && x->kind == y->kind && x->ns == y->ns &&
			     x->kind_ns == y->kind_ns && x->count == y->count &&
			     x->max_ns == y->max_ns && x->waiting == y->waiting &&
			     x->waiting_ns == y->waiting_ns && x->rest_ns == y->rest_ns &&
			     x->unknown == y->unknown && x->overlaps == y->overlaps &&
			     !x->on == !y->on && (!x->on || !strcmp(x->on, y->on)) &&
			     !x->comm == !y->comm &&
			     !memcmp(x->log2_us, y->log2_us, sizeof(x->log2_us)) &&
			     x->wakers[0].ns == y->wakers[0].ns &&
			     x->wakers[0].tgid == y->wakers[0].tgid;

		if (!x->unattributed)
			alike &= s->n == t->n &&
				 (!s->n || !strcmp(s->functions[s->n - 1], t->functions[t->n - 1]));
		if (!alike)
			fail_msg("sample %u: site %d is another", sample, (int)x->id);
	}
	assert_int_equal(a->nlinks, b->nlinks);
	for (size_t i = 0; i < a->nlinks; i++)
		assert_int_equal(site_link_compare(&a->links[i], &b->links[i]), 0);
}

#define SAMPLES_MADE 60

/* A made-up machine, and how it is recorded. */
struct plan {
	unsigned seed;
	unsigned drop; /* every so many samples one is dropped; 0: none */
	unsigned segment; /* every so many a segment begins; 0: there is one */
	bool exact; /* the source knows when waits began */
	unsigned states; /* as in play_machine */
	bool unbounded, unlinked, unnamed; /* the same */
	const char *change; /* SQL that the first segment is changed by, or NULL */
};

/* Whether the i-th sample begins a segment. */
static bool begins_segment(const struct plan *plan, unsigned i)
{
	return !i || (plan->segment && i % plan->segment == 0);
}

/* Whether it is dropped: never one that begins a segment. */
static bool is_dropped(const struct plan *plan, unsigned i)
{
	return !begins_segment(plan, i) && plan->drop && i % plan->drop == 0;
}

/* Records a made-up machine. */
static void record_machine(const struct plan *plan, const char *folder)
{
	const struct store_about about = { "0" };
	struct play_machine machine = { .seed = plan->seed,
					.exact = plan->exact,
					.states = plan->states,
					.unbounded = plan->unbounded,
					.unlinked = plan->unlinked,
					.unnamed = plan->unnamed };
	struct encoder *encoder = encoder_open(0);
	struct store *store = NULL;

	for (unsigned i = 0; i < SAMPLES_MADE; i++) {
		const struct frame *live;

		if (begins_segment(plan, i)) {
			store_close(store, false);
			assert_int_equal(
				store_create(&store,
					     scratch_format("%s/stalltop-%03u.db", folder, i),
					     &about),
				0);
			encoder_begin_segment(encoder);
		}
		live = play_frame(&machine);
		if (is_dropped(plan, i)) {
			encoder_encode(encoder, live, NULL);
			encoder_drop(encoder);
			continue;
		}
		assert_int_equal(store_put(store, encoder_encode(encoder, live, NULL)), 0);
		encoder_keep(encoder);
	}
	store_close(store, true);
	encoder_close(encoder);
	play_free(&machine);
}

/* Asserts that a frame is as it was live; follows: so is its interval. */
static void compare_frames(const struct frame *live, const struct frame *again, unsigned i,
			   bool follows)
{
	assert_non_null(again);
	assert_int_equal(again->n, live->n);
	assert_int_equal(again->info->real_ns, live->info->real_ns);
	assert_int_equal(again->info->system->pressure.psi[PSI_IO].some.total_us,
			 live->info->system->pressure.psi[PSI_IO].some.total_us);
	assert_true(again->info->head.notes[0].id == NOTE_LATE || !follows);
	assert_true(again->info->stale == live->info->stale || (!follows && i));
	for (size_t r = 0; r < live->n && (follows || i == 0); r++)
		compare_rows(&live->rows[r], &again->rows[r], i);
}

/* old_reads(reads, tasks): the times of reading as they were told before version 4. */
static void old_reads(sqlite3_context *context, int n, sqlite3_value **values)
{
	const unsigned char *at = sqlite3_value_blob(values[0]);
	const unsigned char *end = at + sqlite3_value_bytes(values[0]);
	uint64_t tasks = (uint64_t)sqlite3_value_int64(values[1]), value = 0, run;
	struct buf out = { 0 };

	(void)n;
	for (uint64_t i = 0; i < tasks; i += run) {
		if (!(value & READ_NEXT)) {
			assert_true(varint_take(&at, end, &run));
			i += run;
			if (run)
				varint_append(&out, run << 1 | 1);
			if (i == tasks)
				break;
		}
		assert_true(varint_take(&at, end, &value));
		run = 1;
		if (value & READ_SEVERAL)
			assert_true(varint_take(&at, end, &run));
		varint_append(&out, run << 1);
		varint_append(&out, value >> 2);
	}
	varint_append(&out, 0);
	buf_add(&out, at, (size_t)(end - at));
	sqlite3_result_blob(context, out.data, (int)out.len, SQLITE_TRANSIENT);
	buf_free(&out);
}

/* Changes a recording by SQL. */
static void change(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_create_function(db, "old_reads", 2, SQLITE_UTF8, NULL, old_reads, NULL, NULL);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

/* Records and plays a made-up machine; some samples are dropped, some begin segments. */
static void check_same(struct plan plan)
{
	const char *folder = scratch_folder();
	struct play_machine machine = { .seed = plan.seed,
					.exact = plan.exact,
					.states = plan.states,
					.unbounded = plan.unbounded,
					.unlinked = plan.unlinked,
					.unnamed = plan.unnamed };
	const struct replay_config config = { .path = folder };
	struct player player = { 0 };
	const struct frame *live, *again;
	bool follows;
	char *file;
	int err;

	record_machine(&plan, folder);
	if (plan.change)
		change(scratch_format("%s/stalltop-000.db", folder), plan.change);
	assert_int_equal(replay_open(&player.replay, &config, &file), 0);
	for (unsigned i = 0; i < SAMPLES_MADE; i++) {
		live = play_frame(&machine);
		if (is_dropped(&plan, i))
			continue;
		/* Behind a gap the interval is longer. */
		follows = !plan.drop || !i || !is_dropped(&plan, i - 1);
		again = next_frame(&player, &err);
		compare_frames(live, again, i, follows);
		if (follows || i == 0)
			compare_traces(live, again, i);
	}
	assert_null(next_frame(&player, &err));
	assert_int_equal(err, -ENODATA);
	assert_int_equal(machine.bounds > 5, !plan.unbounded);
	close_player(&player);
	play_free(&machine);
}

SCRATCH_TEST(test_same)
{
	for (unsigned seed = 1; seed <= 10; seed++) {
		check_same((struct plan){ .seed = seed });
		scratch_end();
		scratch_begin();
	}
}

/* Where a group is looked at its pressure is what is recorded, and is not taken for the machine's.
 */
SCRATCH_TEST(test_group_pressure)
{
	const char *path = scratch_path("group_pressure.db");
	const struct replay_config config = { .path = path };
	const struct store_about about = { "0" };
	struct play_machine machine = { .seed = 2 };
	struct encoder *encoder = encoder_open(0);
	struct player player = { 0 };
	const struct frame *again;
	struct store *store;
	char *file;
	int err;

	assert_int_equal(store_create(&store, path, &about), 0);
	for (unsigned i = 0; i < 4; i++) {
		const struct frame *live = play_frame(&machine);
		struct frame_info *info = (struct frame_info *)(uintptr_t)live->info;
		struct system_sample *system = (struct system_sample *)(uintptr_t)info->system;

		info->head.cgroup = "/group";
		system->of_group = (struct psi_reading){ .read_ns = machine.now_ns + 5 };
		system->of_group.psi[PSI_IO].some = (struct psi_line){ true, 1, 2, 3, 100 + i };
		system->of_group.error[PSI_IRQ] = -ENOENT;
		assert_ptr_equal(frame_pressure(info), &system->of_group);
		assert_int_equal(store_put(store, encoder_encode(encoder, live, NULL)), 0);
		encoder_keep(encoder);
	}
	store_close(store, false);
	encoder_close(encoder);
	assert_int_equal(replay_open(&player.replay, &config, &file), 0);
	for (unsigned i = 0; i < 4; i++) {
		again = next_frame(&player, &err);
		assert_non_null(again);
		assert_int_equal(again->info->system->of_group.psi[PSI_IO].some.total_us, 100 + i);
		assert_int_equal(again->info->system->of_group.read_ns,
				 again->info->cur->begin_ns + 5);
		assert_int_equal(again->info->system->of_group.error[PSI_IRQ], -ENOENT);
		/* But what of the machine's limits waits is there. */
		assert_int_equal(again->info->system->pressure.error[PSI_MEMORY], -ENOENT);
		assert_int_equal(again->info->system->pressure.error[PSI_IO], 0);
		assert_true(again->info->system->pressure.psi[PSI_IO].some.valid);
		assert_int_equal(again->info->system->pressure.psi[PSI_IO].some.total_us,
				 again->info->cur->begin_ns / 5000);
		assert_int_equal(again->info->system->pressure.read_ns, again->info->cur->begin_ns);
	}
	close_player(&player);
	play_free(&machine);
}

/* What limited a task in two samples limits it in both together. */
SCRATCH_TEST(test_bounds_together)
{
	const char *path = scratch_path("bounds.db");
	const struct replay_config config = { .path = path, .interval_ns = 900000000 };
	struct player player = { 0 };
	const struct frame *frame;
	unsigned bounded = 0, both = 0;
	char *file;
	int err;

	assert_int_equal(play_record(path, 8, SAMPLES_MADE), 0);
	assert_int_equal(replay_open(&player.replay, &config, &file), 0);
	while ((frame = next_frame(&player, &err)))
		for (size_t i = 0; i < frame->n; i++) {
			const struct row *row = &frame->rows[i];
			const struct io_pressure *io = row_io_bound(frame->info, row);

			if (!io)
				continue;
			bounded++;
			both += io->passed_ns == 1000000000;
			assert_true(io->passed_ns == 500000000 || io->passed_ns == 1000000000);
			assert_in_range(io->until_ns, frame->info->cur->begin_ns - 510000000,
					frame->info->cur->begin_ns + 3000000);
			assert_true(io->stalled_ns <= io->passed_ns);
		}
	assert_int_equal(err, -ENODATA);
	assert_in_range(bounded, 5, 1000);
	assert_true(both > 0 && both < bounded);
	close_player(&player);
}

SCRATCH_TEST(test_segments)
{
	for (unsigned seed = 3; seed < 7; seed++) {
		check_same((struct plan){ .seed = seed, .segment = 7 });
		scratch_end();
		scratch_begin();
	}
}

SCRATCH_TEST(test_gaps)
{
	check_same((struct plan){ .seed = 4, .drop = 7 });
	scratch_end();
	scratch_begin();
	check_same((struct plan){ .seed = 5, .drop = 7 });
}

/* Makes a table of a view of the packed rows. */
#define UNPACK(name, columns, key) \
	"CREATE TABLE was AS SELECT * FROM " name "; DROP VIEW " name ";" \
	"DROP TABLE packed_" name ";" \
	"CREATE TABLE " name "(sample INTEGER, task INTEGER, " columns \
	", PRIMARY KEY(sample, task" key ")) WITHOUT ROWID;" \
	"INSERT INTO " name " SELECT * FROM was; DROP TABLE was;"

#define ACTIVITY_3 \
	UNPACK("activity", \
	       "run_ns INTEGER, user_ns INTEGER, system_ns INTEGER, drift_ns INTEGER," \
	       " state TEXT, threads INTEGER, cpu_ns INTEGER, cpu_waits INTEGER", \
	       "")
#define OTHER_WAIT_3 \
	UNPACK("other_wait", "kind INTEGER, waited_ns INTEGER, waits INTEGER, ahead_ns INTEGER", \
	       ", kind")
#define STANDING_3 \
	UNPACK("standing", \
	       "known INTEGER, members INTEGER, single INTEGER, exact INTEGER, was INTEGER," \
	       " run_ns INTEGER, user_ns INTEGER, system_ns INTEGER, life_ns INTEGER", \
	       "")
#define TOTAL_3 UNPACK("total", "kind INTEGER, ns INTEGER, waits INTEGER", ", kind")
#define CHILDREN_3 UNPACK("children", "user_ns INTEGER, system_ns INTEGER", "")

/*
 * Makes a recording what version 7 wrote: what wakers did meanwhile is not known, and containers
 * have no names.
 */
#define VERSION_7 "DROP TABLE site_link; UPDATE recording SET value = 7 WHERE name = 'version';"

/* Makes a recording what version 6 wrote: no group limits what was waited. */
#define VERSION_6 \
	VERSION_7 \
	"DROP TABLE io_bound; UPDATE recording SET value = 6 WHERE name = 'version';"

/* Makes a recording what version 5 wrote: waits have no class. */
#define VERSION_5 \
	VERSION_6 \
	"CREATE TABLE was AS SELECT * FROM states; DROP TABLE states;" \
	"CREATE TABLE states(sample INTEGER, task INTEGER, process INTEGER, waker INTEGER," \
	" run_ns INTEGER, cpu_ns INTEGER, io_ns INTEGER, dwait_ns INTEGER, lock_ns INTEGER," \
	" net_ns INTEGER, pipe_ns INTEGER, poll_ns INTEGER, timer_ns INTEGER, child_ns INTEGER," \
	" stop_ns INTEGER, other_ns INTEGER, park_ns INTEGER, PRIMARY KEY(sample, task))" \
	" WITHOUT ROWID;" \
	"INSERT INTO states SELECT sample, task, process, waker, run_ns, cpu_ns, io_ns, dwait_ns," \
	" lock_ns, net_ns, pipe_ns, poll_ns, timer_ns, child_ns, stop_ns, other_ns, park_ns" \
	" FROM was; DROP TABLE was;" \
	"CREATE TABLE was AS SELECT * FROM site; DROP TABLE site;" \
	"CREATE TABLE site(id INTEGER PRIMARY KEY, process INTEGER, comm INTEGER, state INTEGER," \
	" kind INTEGER, overlaps INTEGER, syscall INTEGER, target INTEGER, function INTEGER," \
	" stack INTEGER, rank INTEGER);" \
	"INSERT INTO site SELECT id, process, comm, state, kind, overlaps, syscall, target," \
	" function, stack, rank FROM was; DROP TABLE was;" \
	"DROP TABLE evidence; DROP TABLE wait_class;" \
	"UPDATE recording SET value = 5 WHERE name = 'version';"

/* Makes a recording what version 4 wrote: nobody parks. */
#define VERSION_4 \
	VERSION_5 \
	"CREATE TABLE was AS SELECT * FROM states; DROP TABLE states;" \
	"CREATE TABLE states(sample INTEGER, task INTEGER, process INTEGER, waker INTEGER," \
	" run_ns INTEGER, cpu_ns INTEGER, io_ns INTEGER, dwait_ns INTEGER, lock_ns INTEGER," \
	" net_ns INTEGER, pipe_ns INTEGER, poll_ns INTEGER, timer_ns INTEGER, child_ns INTEGER," \
	" stop_ns INTEGER, other_ns INTEGER, PRIMARY KEY(sample, task)) WITHOUT ROWID;" \
	"INSERT INTO states SELECT sample, task, process, waker, run_ns, cpu_ns, io_ns, dwait_ns," \
	" lock_ns, net_ns, pipe_ns, poll_ns, timer_ns, child_ns, stop_ns, other_ns FROM was;" \
	"DROP TABLE was;" \
	"UPDATE recording SET value = 4 WHERE name = 'version';"

/* Makes a recording what version 3 wrote: nothing is packed. */
#define VERSION_3 \
	VERSION_4 \
	"DROP VIEW waits; DROP VIEW wait;" \
	"UPDATE sample SET reads = old_reads(reads, tasks);" ACTIVITY_3 OTHER_WAIT_3 STANDING_3 \
		TOTAL_3 CHILDREN_3 "DELETE FROM recording WHERE name = 'reads_from';" \
	"UPDATE recording SET value = 3 WHERE name = 'version';"

/* Makes a recording what version 2 wrote: waits for a CPU are with the others. */
#define VERSION_2 \
	VERSION_3 \
	"CREATE TABLE wait(sample INTEGER, task INTEGER, kind INTEGER, waited_ns INTEGER," \
	" waits INTEGER, ahead_ns INTEGER, PRIMARY KEY(sample, task, kind)) WITHOUT ROWID;" \
	"INSERT INTO wait SELECT sample, task, 0, cpu_ns, cpu_waits, 0 FROM activity" \
	" WHERE cpu_ns IS NOT NULL; INSERT INTO wait SELECT * FROM other_wait;" \
	"DROP TABLE other_wait; CREATE TABLE was AS SELECT * FROM activity; DROP TABLE activity;" \
	"CREATE TABLE activity(sample INTEGER, task INTEGER, run_ns INTEGER, user_ns INTEGER," \
	" system_ns INTEGER, drift_ns INTEGER, state TEXT, threads INTEGER," \
	" PRIMARY KEY(sample, task)) WITHOUT ROWID;" \
	"INSERT INTO activity SELECT sample, task, run_ns, user_ns, system_ns, drift_ns, state," \
	" threads FROM was; DROP TABLE was;" \
	"UPDATE recording SET value = 2 WHERE name = 'version';"

/*
 * Makes a recording what a later version may write: what is packed is elsewhere, and there are
 * columns, tables, kinds, resources and notes that are not known.
 */
#define LATER \
	"ALTER TABLE packed_activity RENAME TO activity_elsewhere;" \
	"ALTER TABLE packed_standing RENAME TO standing_elsewhere;" \
	"INSERT INTO packed_other_wait(key, task1, kind1, waited_ns1, waits1, ahead_ns1)" \
	" SELECT (sample << 24) + 9999, min(task), 99, 5, 5, 5 FROM activity GROUP BY sample;" \
	"ALTER TABLE packed_other_wait RENAME TO other_wait_elsewhere;" \
	"ALTER TABLE sample ADD COLUMN added INTEGER DEFAULT 9;" \
	"ALTER TABLE gone ADD COLUMN added TEXT; CREATE TABLE added(a);" \
	"INSERT INTO kind VALUES(99, 'added'); INSERT INTO resource VALUES(99, 'added');" \
	"INSERT INTO pressure SELECT id, 99, 0, 1, 1, 1, 1 FROM sample;" \
	"INSERT INTO note SELECT id, 99, 'added', 1, NULL FROM sample;" \
	"INSERT INTO recording VALUES('added', 'x');" \
	"UPDATE recording SET value = 10 WHERE name = 'version';"

/* What other versions recorded is shown as it was. */
SCRATCH_TEST(test_versions)
{
	static const char *const changes[] = { VERSION_2, VERSION_3, VERSION_4, VERSION_5,
					       VERSION_6, VERSION_7, LATER };

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		for (unsigned seed = 1; seed <= 2; seed++) {
			/*
			 * How long others had lived was not told exactly before version 4; nobody
			 * parked before version 5; nothing was limited by groups before 7; what
			 * wakers did, and names of containers, came with 8.
			 */
			check_same((struct plan){ .seed = seed,
						  .exact = i < 2,
						  .states = i < 3 ? STATE_PARK : 0,
						  .unbounded = i < 5,
						  .unlinked = i < 6,
						  .unnamed = i < 6,
						  .change = changes[i] });
			scratch_end();
			scratch_begin();
		}
}

/* Plays what there is of a file, until it fails or ends. */
static int play_all(const char *path, const char *from)
{
	const struct replay_config config = { .path = path, .from = from };
	struct player player = { 0 };
	char *file;
	int err = replay_open(&player.replay, &config, &file);

	if (err) {
		free(file);
		return err;
	}
	while (next_frame(&player, &err))
		;
	close_player(&player);
	return err;
}

/* A start in the middle shows what comes then. */
SCRATCH_TEST(test_from)
{
	const char *path = scratch_path("from.db");
	const struct replay_config config = { .path = path, .from = "-2s" };
	struct player player = { 0 };
	unsigned n = 0;
	char *file;
	int err;

	assert_int_equal(play_record(path, 5, 40), 0);
	assert_int_equal(replay_open(&player.replay, &config, &file), 0);
	while (next_frame(&player, &err))
		n++;
	close_player(&player);
	/* The baseline, and intervals of half a second. */
	assert_true(n == 4 || n == 5);
}

/* Figures of a group are those of the sample, and of the one before where that had them. */
SCRATCH_TEST(test_groups)
{
	static const char sql[] =
		"INSERT INTO text VALUES(900001, '/a'), (900002, '/b');"
		"INSERT INTO cgroup(sample, path, fresh, have, event_known, oom)"
		" SELECT id, 900001, id IN (5, 30), 0, 4, id FROM sample WHERE id IN (5, 6, 30);"
		"INSERT INTO cgroup(sample, path, fresh, have, event_known, oom)"
		" SELECT id, 900002, 0, 0, 4, id FROM sample;";
	const char *path = scratch_path("groups.db");
	const struct replay_config config = { .path = path };
	struct player player = { 0 };
	struct playback playback;
	unsigned n = 0;
	char *file;
	int err;

	assert_int_equal(play_record(path, 9, 40), 0);
	change(path, sql);
	assert_int_equal(replay_open(&player.replay, &config, &file), 0);
	playback = replay_playback(player.replay);
	while (next_frame(&player, &err)) {
		const struct cgroup_sample *now, *before;

		n++;
		playback.group(playback.state, "/a", &now, &before);
		assert_int_equal(now != NULL, n == 5 || n == 6 || n == 30);
		assert_int_equal(before != NULL, n == 6);
		if (now)
			assert_int_equal(now->events[2], n);
		playback.group(playback.state, "/b", &now, &before);
		assert_non_null(now);
		assert_int_equal(now->events[2], n);
		assert_int_equal(before ? before->events[2] : 0, n - 1);
		playback.group(playback.state, "/c", &now, &before);
		assert_null(now);
	}
	assert_int_equal(n, 40);
	close_player(&player);
}

/* Changes a recording by SQL; then it must be refused or played, and nothing else. */
static void damage(const char *sql, int expected)
{
	const char *path = scratch_path("damaged.db");
	int err;

	remove(path);
	assert_int_equal(play_record(path, 6, 20), 0);
	change(path, sql);
	err = play_all(path, NULL);
	if (err != expected)
		fail_msg("%s: %d, not %d", sql, err, expected);
}

/* A view without an end; one that SQLite does not take for that. */
#define FOR_EVER \
	"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT 1 AS sample, n AS " \
	"key," \
	" n AS task, n AS user_ns, n AS system_ns FROM r"
#define VERY_LONG \
	"SELECT a.id AS sample, b.id AS task, c.id AS user_ns, d.id AS system_ns" \
	" FROM sample a, sample b, sample c, sample d, sample e, sample f, sample g, sample h" \
	" WHERE b.id + c.id + d.id + e.id + f.id + g.id + h.id < 0"

/* A later version is read where it says that it can be, and its views do no harm. */
SCRATCH_TEST(test_later)
{
	damage(LATER, -ENODATA);
	damage(LATER "UPDATE recording SET value = 9 WHERE name = 'reads_from'", -EPROTO);
	damage(LATER "UPDATE recording SET value = 'x' WHERE name = 'reads_from'", -EPROTO);
	damage(LATER "DELETE FROM recording WHERE name = 'reads_from'", -EPROTO);
	damage(LATER "DROP TABLE gone", -EBADMSG);
	damage(LATER "DROP VIEW children; CREATE VIEW children AS " FOR_EVER, -EBADMSG);
	damage(LATER "DROP VIEW children; CREATE VIEW children AS " VERY_LONG, -EBADMSG);
}

/* What is long only once it is read. */
#define LONG "hex(zeroblob(33000000))"
#define LONG_TEXT \
	"ALTER TABLE text RENAME TO was; CREATE TABLE text(id INTEGER PRIMARY KEY, value " \
	"GENERATED" \
	" ALWAYS AS (" LONG ") %s); INSERT INTO text(id) SELECT id FROM was;"

/* Views each of which has the one before twice: 2^40 of them, or values, before anything is read.
 */
static const char *nested(const char *how)
{
	struct buf sql = { 0 };

	buf_puts(&sql, LATER "ALTER TABLE gone RENAME TO was;"
			     "CREATE VIEW v0 AS SELECT sample, task FROM was;");
	for (unsigned i = 1; i <= 40; i++) {
		buf_printf(&sql, "CREATE VIEW v%u AS ", i);
		buf_printf(&sql, how, i - 1, i - 1);
		buf_putc(&sql, ';');
	}
	buf_puts(&sql, "CREATE VIEW gone AS SELECT sample, task FROM v40;");
	buf_putc(&sql, '\0');
	return scratch_keep(sql.data);
}

/* A small file that would take all time and memory there are is refused, and soon. */
SCRATCH_TEST(test_hostile)
{
	struct timespec used;

	damage(scratch_format(LONG_TEXT, "VIRTUAL"), -EBADMSG);
	damage(scratch_format(LONG_TEXT, "STORED"), -EBADMSG);
	damage("CREATE TABLE added(a, b AS (" LONG "))", -EBADMSG);
	damage("PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES('table', 'added',"
	       " 'added', 0, 'CREATE VIRTUAL TABLE added USING added(a)')",
	       -EBADMSG);
	damage(LATER "ALTER TABLE text RENAME TO was;"
		     "CREATE VIEW text AS SELECT id, " LONG " AS value FROM was",
	       -EBADMSG);
	damage(LATER "ALTER TABLE text RENAME TO was;"
		     "CREATE VIEW text AS SELECT id, printf('%.33000000c', 'x') AS value FROM was",
	       -EBADMSG);
	damage(LATER "ALTER TABLE text RENAME TO was; CREATE TABLE long AS SELECT zeroblob(900000)"
		     " AS b; CREATE VIEW text AS SELECT id, a.b || b.b AS value FROM was, long a,"
		     " long b",
	       -EBADMSG);
	/* Much more than memory has, to be sorted. */
	damage(LATER "ALTER TABLE ended RENAME TO was; CREATE TABLE long AS SELECT zeroblob(900000)"
		     " AS b; CREATE VIEW ended AS SELECT s.id AS sample, t.id AS task, b AS status,"
		     " 1 AS members, 1 AS how, 1 AS reaper, 1 AS mixed, 1 AS left_ns,"
		     " (t.id * u.id) % 97 AS place FROM sample s, task t, task u, task v, long",
	       -EBADMSG);
	damage(nested("SELECT sample, task FROM v%u UNION ALL SELECT sample, task FROM v%u"),
	       -EBADMSG);
	damage(nested("SELECT a.sample, a.task + a.task AS task FROM v%u a WHERE %u > -1"),
	       -EBADMSG);
	/* What later versions may need, they can have. */
	damage(LATER "ALTER TABLE gone RENAME TO was; CREATE VIEW gone AS SELECT"
		     " coalesce(sample, min(1, task)) AS sample, ifnull(task, 1) AS task FROM was",
	       -ENODATA);
	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used), 0);
	assert_true(used.tv_sec < 100);
}

SCRATCH_TEST(test_damaged)
{
	damage("UPDATE task SET pid = -1 WHERE id = 3", -EBADMSG);
	damage("UPDATE task SET pid = 'x' WHERE id = 3", -EBADMSG);
	damage("DELETE FROM task WHERE id = 5", -EBADMSG);
	damage("DELETE FROM text", -EBADMSG);
	damage("UPDATE text SET value = zeroblob(10000000)", -ENODATA);
	damage("UPDATE sample SET reads = zeroblob(1000000)", -ENODATA);
	damage("UPDATE sample SET reads = randomblob(1000)", -ENODATA);
	damage("UPDATE sample SET steady = 1000000000, marked = 1", -ENODATA);
	damage("UPDATE sample SET have = 0", -ENODATA);
	damage("UPDATE sample SET begin_ns = NULL, time_ns = 7", -ENODATA);
	damage("UPDATE sample SET interval_ns = -1", -EBADMSG);
	damage("UPDATE packed_other_wait SET kind1 = 99 + kind1", -ENODATA);
	damage("UPDATE packed_other_wait SET task2 = 100000 + task2", -EBADMSG);
	damage("UPDATE packed_other_wait SET waits1 = 'x'", -EBADMSG);
	damage("DELETE FROM packed_standing WHERE key >> 24 = 1", -EBADMSG);
	damage("UPDATE packed_activity SET run_ns1 = 9223372036854775807", -ENODATA);
	damage("UPDATE packed_activity SET cpu_ns1 = 9223372036854775807", -ENODATA);
	damage("UPDATE packed_activity SET key = key + (1 << 24) WHERE key >> 24 = 20", -ENODATA);
	damage("INSERT INTO field SELECT 2, task, 5, 7 FROM activity WHERE sample = 2", -ENODATA);
	damage("UPDATE note SET name = 'of a later version'", -ENODATA);
	damage("DROP TABLE packed_other_wait", -EBADMSG);
	damage("DELETE FROM site", -EBADMSG);
	damage("DELETE FROM process", -EBADMSG);
	damage("UPDATE site SET state = state + 20, kind = kind + 20", -ENODATA);
	damage("UPDATE site_wait SET log2_us = '[1,' || site || ',x', waiting = 4294967295",
	       -ENODATA);
	damage("UPDATE site_wait SET log2_us = zeroblob(100)", -ENODATA);
	damage("UPDATE site_wait SET waiting = -1", -EBADMSG);
	damage("UPDATE trace SET interval_ns = 0", -ENODATA);
	damage("DELETE FROM trace WHERE sample % 2", -ENODATA);
	damage("UPDATE site_waker SET number = 9 WHERE number = 0", -ENODATA);
	damage("UPDATE site_waker SET tgid = 'x' WHERE number = 0", -EBADMSG);
	damage("INSERT INTO stood_for SELECT sample, task, 1, 1 FROM states", -ENODATA);
	/* A recording of version 1 has no tables of what is traced. */
	damage(VERSION_2
	       "DROP VIEW sites; DROP TABLE trace; DROP TABLE states; DROP TABLE stood_for; "
	       "DROP TABLE site; DROP TABLE site_wait; DROP TABLE site_waker; DROP TABLE process; "
	       "DROP TABLE unexplained; UPDATE recording SET value = 1 WHERE name = 'version'",
	       -ENODATA);
	damage("DROP TABLE packed_children; CREATE VIEW packed_children AS " FOR_EVER, -EBADMSG);
	damage("PRAGMA application_id = 1", -EBADMSG);
	damage("DELETE FROM sample", -ENODATA);
}

/* The number of a page of samples in the middle of a recording, and how large pages are. */
static long find_page(const char *path, long *size)
{
	static const char query[] =
		"SELECT pageno, pgsize FROM dbstat WHERE name = 'sample' AND pagetype = 'leaf'"
		" ORDER BY path LIMIT 1 OFFSET 1";
	sqlite3_stmt *row;
	sqlite3 *db;
	long page = 0;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (!sqlite3_prepare_v2(db, query, -1, &row, NULL) && sqlite3_step(row) == SQLITE_ROW) {
		page = (long)sqlite3_column_int64(row, 0);
		*size = (long)sqlite3_column_int64(row, 1);
	}
	sqlite3_finalize(row);
	sqlite3_close(db);
	return page;
}

/* A page of samples that is damaged is told, and not taken for the end. */
SCRATCH_TEST(test_damaged_page)
{
	const char *path = scratch_path("page.db");
	long page, size = 0;
	FILE *file;

	assert_int_equal(play_record(path, 8, 100), 0);
	page = find_page(path, &size);
	if (!page)
		scratch_skip("SQLite is built without dbstat");
	file = fopen(path, "r+");
	assert_int_equal(fseek(file, (page - 1) * size, SEEK_SET), 0);
	for (long i = 0; i < size; i++)
		putc(0xff, file);
	fclose(file);
	assert_int_equal(play_all(path, NULL), -EBADMSG);
	/* What that needs of the samples before cannot be read. */
	assert_int_equal(play_all(path, "-1s"), -EBADMSG);
}

/* Bytes that are damaged anywhere. */
SCRATCH_TEST(test_bytes)
{
	const char *path = scratch_path("bytes.db");
	static char bytes[1 << 20];
	unsigned seed = 1;
	size_t n;

	assert_int_equal(play_record(path, 7, 15), 0);
	for (unsigned round = 0; round < 60; round++) {
		const char *copy = scratch_path("copy.db");
		FILE *file = fopen(path, "r");

		n = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		for (unsigned i = 0; i < 40; i++) {
			seed = seed * 1103515245 + 12345;
			bytes[100 + (seed >> 4) % (n - 100)] = (char)(seed >> 20);
		}
		file = fopen(copy, "w");
		fwrite(bytes, 1, n - (round % 3 ? 0 : (seed >> 8) % n), file);
		fclose(file);
		assert_true(play_all(copy, round % 2 ? "-3s" : NULL) < 0);
	}
}
