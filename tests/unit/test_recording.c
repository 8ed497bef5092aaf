// SPDX-License-Identifier: GPL-2.0-or-later
/* What is written to files comes back as it was; what is damaged is refused. */
#include "tests/lib/test.h"
#include <errno.h>
#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "tests/lib/ask.h"
#include "tests/lib/player.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

#define SAMPLES_MADE 150

/* Opens a recording to be played. 0 or -errno. */
static int open_player(struct player *player, struct replay **replay,
		       const struct replay_config *config)
{
	char *file;
	int err = replay_open(replay, config, &file);

	*player = (struct player){ 0 };
	if (err)
		free(file);
	else
		player->playback = replay_playback(*replay);
	return err;
}

static void close_player(struct player *player, struct replay *replay)
{
	player_free(player);
	replay_close(replay);
}

/* Records a made-up machine; every so many samples a segment begins, 0: there is one. */
static void record_machine(unsigned seed, unsigned segment, const char *folder)
{
	struct play_machine machine = { .seed = seed };
	struct play_writer writer = { 0 };

	for (unsigned i = 0; i < SAMPLES_MADE; i++) {
		if (!i || (segment && i % segment == 0)) {
			if (i)
				play_end_file(&writer);
			assert_int_equal(
				play_begin_file(&writer,
						scratch_format("%s/stalltop-%03u.db", folder, i)),
				0);
		}
		assert_int_equal(play_write(&writer, play_frame(&machine), NULL, 0), 0);
	}
	play_end_file(&writer);
	play_free(&machine);
}

/* Records and plays a made-up machine. */
static void check_same(unsigned seed, unsigned segment)
{
	const struct replay_config config = { .path = scratch_folder() };
	struct play_machine machine = { .seed = seed };
	struct replay *replay;
	struct player player;
	int err;

	record_machine(seed, segment, scratch_folder());
	assert_int_equal(open_player(&player, &replay, &config), 0);
	for (unsigned i = 0; i < SAMPLES_MADE; i++)
		compare_frames(play_frame(&machine), next_frame(&player, &err), i);
	assert_null(next_frame(&player, &err));
	assert_int_equal(err, -ENODATA);
	close_player(&player, replay);
	play_free(&machine);
}

/* Through blocks, through records that are rows of their own, and over files. */
SCRATCH_TEST(test_same)
{
	for (unsigned seed = 1; seed <= 6; seed++) {
		check_same(seed, seed % 2 ? 0 : 7 * seed);
		scratch_end();
		scratch_begin();
	}
}

/* Full blocks take the place of their records' rows, and a closed file has nothing else. */
SCRATCH_TEST(test_rows)
{
	const char *path = scratch_path("rows.db");
	struct play_machine machine = { .seed = 2 };
	struct play_writer writer = { 0 };

	assert_int_equal(play_begin_file(&writer, path), 0);
	for (unsigned i = 0; i < BLOCK_RECORDS + 10; i++) {
		assert_int_equal(play_write(&writer, play_frame(&machine), NULL, 0), 0);
		assert_int_equal(ask(path, "SELECT sum(records) FROM block"), i + 1);
	}
	assert_int_equal(ask(path, "SELECT count(*) FROM block"), 11);
	play_end_file(&writer);
	assert_int_equal(ask(path, "SELECT count(*) FROM block"), 2);
	assert_int_equal(ask(path, "SELECT max(to_ns) - min(from_ns) FROM block"),
			 ask(path, "SELECT (SELECT to_ns FROM block WHERE first > 1) - from_ns"
				   " FROM block WHERE first = 1"));
	play_free(&machine);
}

/* What limited a task in two samples limits it in both together. */
SCRATCH_TEST(test_bounds_together)
{
	const char *path = scratch_path("bounds.db");
	const struct replay_config config = { .path = path, .interval_ns = 900000000 };
	const struct frame *frame;
	unsigned bounded = 0, both = 0;
	struct replay *replay;
	struct player player;
	int err;

	assert_int_equal(play_record(path, 8, 200), 0);
	assert_int_equal(open_player(&player, &replay, &config), 0);
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
	close_player(&player, replay);
}

/* The sums of all that was traced in a recording, and of what rows ran, are as if played at once.
 */
SCRATCH_TEST(test_sums)
{
	static const uint64_t intervals[] = { 0, 900000000, 3000000000 };
	const char *path = scratch_path("sums.db");
	uint64_t sums[3][3] = { 0 };

	assert_int_equal(play_record(path, 8, 64), 0);
	for (unsigned i = 0; i < 3; i++) {
		const struct replay_config config = { .path = path,
						      .interval_ns = intervals[i],
						      .whole = true };
		const struct frame *frame;
		struct replay *replay;
		struct player player;
		int err;

		assert_int_equal(open_player(&player, &replay, &config), 0);
		while ((frame = next_frame(&player, &err))) {
			const struct trace_frame *trace = frame->info->trace;

			for (size_t s = 0; trace && s < trace->n; s++) {
				sums[i][0] += trace->sites[s]->ns;
				sums[i][1] += trace->sites[s]->count;
			}
			sums[i][2] += frame->info->ended;
		}
		close_player(&player, replay);
	}
	for (unsigned of = 0; of < 3; of++) {
		assert_true(sums[0][of] > 0);
		assert_int_equal(sums[0][of], sums[1][of]);
		assert_int_equal(sums[0][of], sums[2][of]);
	}
}

/* Plays what there is of a file, until it fails or ends. */
static int play_all(const char *path, const char *from)
{
	const struct replay_config config = { .path = path, .from = from };
	struct replay *replay;
	struct player player;
	int err = open_player(&player, &replay, &config);

	if (err)
		return err;
	while (next_frame(&player, &err))
		;
	close_player(&player, replay);
	return err;
}

/* Fails unless a text is one of those (NULL-terminated) that a made-up machine has, or none. */
static void check_text(const char *text, const char *const *made)
{
	for (; text && *made; made++)
		if (!strcmp(text, *made))
			return;
	if (text)
		fail_msg("a text that nobody wrote: %s", text);
}

/* Fails if a text of a frame is another one than were recorded. */
static void check_texts(const struct frame *frame)
{
	static const char *const users[] = { "someone", NULL }, *const wakers[] = { "7 waker",
										    NULL };
	static const char *const names[] = { "one",
					     "rest",
					     "waker",
					     "read",
					     "futex",
					     "f",
					     "inner+0x1",
					     "middle+0x2",
					     "outer+0x3",
					     "/a\nb\xff",
					     "pipe of 1 writer",
					     "pipe of 2 others",
					     NULL };
	const struct trace_frame *trace = frame->info->trace;

	for (size_t i = 0; i < frame->n; i++) {
		check_text(frame->rows[i].task->user, users);
		check_text(frame->rows[i].traced ? frame->rows[i].traced->waker : NULL, wakers);
	}
	for (size_t i = 0; trace && i < trace->n; i++) {
		const struct site *site = trace->sites[i];

		check_text(site->comm, names);
		check_text(site->syscall, names);
		check_text(site->on, names);
		check_text(site->where, names);
		check_text(site->wakers[0].name, names);
		for (size_t f = 0; f < trace->stacks[site->stack].n; f++)
			check_text(trace->stacks[site->stack].functions[f], names);
	}
}

/* Records 80 samples of 0.5 s in one file; one of so many begins anew. */
static void record_keys(const char *path, unsigned every)
{
	struct play_machine machine = { .seed = 3 };
	struct play_writer writer = { 0 };

	assert_int_equal(play_begin_file(&writer, path), 0);
	for (unsigned i = 0; i < 80; i++) {
		if (i % every == 0)
			record_restart(writer.state, 0);
		assert_int_equal(play_write(&writer, play_frame(&machine), NULL, 0), 0);
	}
	play_end_file(&writer);
	play_free(&machine);
}

/* Plays a whole recording in intervals of that length. Returns how many there were. */
static unsigned play_whole(const char *path, uint64_t interval_ns,
			   void (*take)(const struct frame *frame, void *arg), void *arg)
{
	const struct replay_config config = { .path = path,
					      .interval_ns = interval_ns,
					      .whole = true };
	const struct frame *frame;
	struct replay *replay;
	struct player player;
	unsigned n = 0;
	int err;

	assert_int_equal(open_player(&player, &replay, &config), 0);
	for (; (frame = next_frame(&player, &err)); n++)
		take(frame, arg);
	assert_int_equal(err, -ENODATA);
	close_player(&player, replay);
	return n;
}

static void take_texts(const struct frame *frame, void *arg)
{
	(void)arg;
	check_texts(frame);
}

/* Texts of an interval with several key records are those that were recorded. */
SCRATCH_TEST(test_texts_together)
{
	static const uint64_t intervals[] = { 0, 3000000000, 12000000000, 100000000000 };
	const char *path = scratch_path("keys.db");

	/* What is freed reads as garbage. */
	mallopt(M_PERTURB, 0x5a);
	record_keys(path, 7);
	for (unsigned i = 0; i < ARRAY_SIZE(intervals); i++)
		assert_true(play_whole(path, intervals[i], take_texts, NULL) > 1);
	mallopt(M_PERTURB, 0);
}

/* A record that cannot be read leaves the frame before it as it is. */
SCRATCH_TEST(test_texts_after_failure)
{
	const char *path = scratch_path("failed.db");
	const struct replay_config config = { .path = path };
	struct play_machine machine = { .seed = 3 };
	const struct frame *frame, *last = NULL;
	struct play_writer writer = { 0 };
	struct record_entry entry = { .key = true, .interval_ns = 500000000 };
	struct replay *replay;
	struct player player;
	int err;

	mallopt(M_PERTURB, 0x5a);
	assert_int_equal(play_begin_file(&writer, path), 0);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(play_write(&writer, play_frame(&machine), NULL, 0), 0);
	entry.real_ns = machine.now_ns + NSEC_PER_SEC;
	assert_int_equal(record_file_put(writer.file, &entry, "\1\1\1\1\1\1", 6), 0);
	play_end_file(&writer);
	play_free(&machine);
	assert_int_equal(open_player(&player, &replay, &config), 0);
	while ((frame = next_frame(&player, &err)))
		last = frame;
	assert_int_equal(err, -EBADMSG);
	assert_non_null(last);
	check_texts(last);
	close_player(&player, replay);
	mallopt(M_PERTURB, 0);
}

/* Records a task that sleeps, and of which more is booked in one interval than that has time for.
 */
static void record_impossible(const char *path)
{
	const struct frame_options options = { .machine.cpus = 2 };
	struct sample samples[2] = { 0 };
	struct play_writer writer = { 0 };
	struct system_sample system = { 0 };
	struct clocks clocks = { 0 };
	struct frame frame = { 0 };

	assert_int_equal(play_begin_file(&writer, path), 0);
	for (unsigned i = 0; i < 12; i++) {
		struct sample *prev = i ? &samples[(i + 1) % 2] : NULL, *cur = &samples[i % 2];
		struct frame_info info = { 0 };
		struct task_raw *raw;

		sample_reset(cur);
		cur->begin_ns = (100 + i / 2) * NSEC_PER_SEC + i % 2 * (NSEC_PER_SEC / 2);
		cur->end_ns = cur->begin_ns + 1000;
		cur->real_ns = cur->begin_ns + UINT64_C(1795269750) * NSEC_PER_SEC;
		raw = sample_add(cur, 5, 5);
		if (prev) {
			*raw = *prev->raw[0];
			task_ref(raw->task);
		} else {
			raw->task = task_new((struct task_key){ 5, NSEC_PER_SEC }, 5);
			raw->single = true;
			raw->counters.valid = DELAY_BOTH(DELAY_ALL) | VALID_RUN;
			raw->now = (struct task_now){ .state = 'S', .exact = true, .threads = 1 };
			raw->counters.life_ns = 99 * NSEC_PER_SEC;
		}
		raw->read_ns = cur->begin_ns;
		raw->counters.life_ns += prev ? NSEC_PER_SEC / 2 : 0;
		raw->counters.delay[DELAY_CPU].count++;
		raw->counters.delay[DELAY_CPU].ns += i == 5 ? 1200000000 : 1000000;
		frame_build(&frame, &info, prev, cur, &options);
		info.system = &system;
		info.clocks = &clocks;
		assert_int_equal(play_write(&writer, &frame, NULL, 0), 0);
	}
	play_end_file(&writer);
	frame_free(&frame);
	for (unsigned i = 0; i < 2; i++)
		sample_free(&samples[i]);
}

/* Adds up what the first row waited for a CPU. */
static void add_waited(const struct frame *frame, void *sum)
{
	*(uint64_t *)sum += frame->rows[0].deltas->waited.ns[DELAY_CPU];
}

/* What is impossible in a recorded interval is not waited in a longer one that has time for it. */
SCRATCH_TEST(test_impossible_together)
{
	static const uint64_t intervals[] = { 0, 2000000000, 5000000000 };
	const char *path = scratch_path("impossible.db");

	record_impossible(path);
	for (unsigned i = 0; i < ARRAY_SIZE(intervals); i++) {
		uint64_t waited_ns = 0;

		play_whole(path, intervals[i], add_waited, &waited_ns);
		/* Ten or eleven intervals of 1 ms each. */
		assert_in_range(waited_ns, 9000000, 11000000);
	}
}

/* A task that runs does not have its names written anew. */
SCRATCH_TEST(test_names_once)
{
	const char *path = scratch_path("names.db");
	struct play_machine machine = { .seed = 4, .unlinked = true };
	struct play_writer writer = { 0 };
	static char command[5000];
	uint64_t bytes = 0;

	memset(command, 'x', sizeof(command) - 1);
	assert_int_equal(play_begin_file(&writer, path), 0);
	for (unsigned i = 0; i < 30; i++) {
		const struct frame *frame = play_frame(&machine);
		struct buf record = { 0 };

		for (size_t at = 0; at < frame->n; at++) {
			struct task *task = frame->info->cur->raw[frame->rows[at].place]->task;

			/* As one that ran and was looked at. */
			task->renamed++;
			task_set_comm(task, "task", 4);
			if (!task->command)
				task->command = xstrdup(command), task->info |= NEED_COMMAND;
		}
		record_encode(writer.state, frame, NULL, &record);
		bytes += i > 20 ? record.len : 0;
		if (i > 20)
			assert_in_range(record.len, 1, frame->n / 2 * sizeof(command));
		buf_free(&record);
	}
	assert_true(bytes > 0);
	play_end_file(&writer);
	play_free(&machine);
}

/* A start in the middle shows what comes then. */
SCRATCH_TEST(test_from)
{
	const char *path = scratch_path("from.db");
	const struct replay_config config = { .path = path, .from = "-2s" };
	struct replay *replay;
	struct player player;
	unsigned n = 0;
	int err;

	assert_int_equal(play_record(path, 5, 40), 0);
	assert_int_equal(open_player(&player, &replay, &config), 0);
	while (next_frame(&player, &err))
		n++;
	close_player(&player, replay);
	/* The baseline, and intervals of half a second. */
	assert_true(n == 4 || n == 5);
}

/* A frame's groups: /a in the samples 5, 6 and 30, anew in 5 and 30; /b in all. */
static const struct frame *fold_some(unsigned n, struct frame *folded)
{
	static struct cgroup_sample now[2], before;
	static struct group_figures figures[2];
	static struct group groups[2];
	static struct row rows[2];

	for (unsigned g = 0; g < 2; g++) {
		now[g] = (struct cgroup_sample){ .event_valid = 4, .events[2] = n };
		figures[g] = (struct group_figures){ .now = &now[g],
						     .before = n == 5 || n == 30 ? NULL : &before };
		groups[g] = (struct group){ .name = g ? "/a" : "/b", .figures = &figures[g] };
		rows[g] = (struct row){ .group = &groups[g] };
	}
	figures[0].before = &before;
	*folded = (struct frame){ .rows = rows, .n = n == 5 || n == 6 || n == 30 ? 2 : 1 };
	return folded;
}

/* Figures of a group are those of the sample, and of the one before where that had them. */
SCRATCH_TEST(test_groups)
{
	const char *path = scratch_path("groups.db");
	const struct replay_config config = { .path = path };
	struct play_machine machine = { .seed = 9 };
	struct play_writer writer = { 0 };
	struct replay *replay;
	struct player player;
	struct frame folded;
	unsigned n = 0;
	int err;

	assert_int_equal(play_begin_file(&writer, path), 0);
	for (unsigned i = 1; i <= 40; i++)
		assert_int_equal(
			play_write(&writer, play_frame(&machine), fold_some(i, &folded), 0), 0);
	play_end_file(&writer);
	play_free(&machine);
	assert_int_equal(open_player(&player, &replay, &config), 0);
	while (next_frame(&player, &err)) {
		const struct playback *playback = &player.playback;
		const struct cgroup_sample *now, *before;

		n++;
		playback->group(playback->state, "/a", &now, &before);
		assert_int_equal(now != NULL, n == 5 || n == 6 || n == 30);
		assert_int_equal(before != NULL, n == 6);
		if (now)
			assert_int_equal(now->events[2], n);
		playback->group(playback->state, "/b", &now, &before);
		assert_non_null(now);
		assert_int_equal(now->events[2], n);
		assert_int_equal(before ? before->events[2] : 0, n - 1);
		playback->group(playback->state, "/c", &now, &before);
		assert_null(now);
	}
	assert_int_equal(n, 40);
	close_player(&player, replay);
}

/* Changes a recording by SQL; then it must be refused or played, and nothing else. */
static void damage(const char *sql, int expected)
{
	const char *path = scratch_path("damaged.db");
	int err;

	remove(path);
	assert_int_equal(play_record(path, 6, 80), 0);
	ask_change(path, sql);
	err = play_all(path, NULL);
	if (err != expected)
		fail_msg("%s: %d, not %d", sql, err, expected);
}

/* What is long only once it is read. */
#define LONG "hex(zeroblob(133000000))"

/* A small file that would take all time and memory there are is refused, and soon. */
SCRATCH_TEST(test_hostile)
{
	struct timespec used;

	damage("ALTER TABLE block RENAME TO was; CREATE TABLE block(first INTEGER PRIMARY KEY, data"
	       " AS (" LONG "))",
	       -EBADMSG);
	damage("CREATE TABLE added(a, b AS (" LONG "))", -EBADMSG);
	damage("PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES('table', 'added',"
	       " 'added', 0, 'CREATE VIRTUAL TABLE added USING added(a)')",
	       -EBADMSG);
	damage("ALTER TABLE block RENAME TO was; CREATE VIEW block AS SELECT * FROM was", -EBADMSG);
	damage("CREATE TRIGGER t AFTER INSERT ON block BEGIN SELECT 1; END", -EBADMSG);
	damage("CREATE INDEX i ON block(tasks)", -EBADMSG);
	damage("UPDATE block SET entries = zeroblob(100000000)", -EBADMSG);
	damage("UPDATE block SET size = 2000000000", -EBADMSG);
	damage("UPDATE block SET data = zeroblob(1000000), size = 200000000", -EBADMSG);
	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used), 0);
	assert_true(used.tv_sec < 20);
}

/* Any byte of the row of a single record. */
static void damage_single(void)
{
	const char *path = scratch_path("single.db");
	int64_t len = 0;

	for (int64_t at = 1; !len || at <= len; at += len / 7 + 1) {
		remove(path);
		assert_int_equal(play_record(path, 6, 1), 0);
		len = ask(path, "SELECT length(data) FROM block");
		assert_true(len > 7);
		ask_change(path,
			   scratch_format("UPDATE block SET data = CAST(substr(data, 1, %lld) || "
					  "x'5a' || substr(data, %lld) AS BLOB)",
					  (long long)at - 1, (long long)at + 1));
		assert_true(play_all(path, NULL) < 0);
	}
}

SCRATCH_TEST(test_damaged)
{
	damage("DELETE FROM block", -ENODATA);
	damage("DELETE FROM block WHERE first > 1", -ENODATA);
	damage("DELETE FROM block WHERE first = 1", -EBADMSG);
	damage("UPDATE block SET first = first + 1", -EBADMSG);
	damage("UPDATE block SET first = -first", -EBADMSG);
	damage("UPDATE block SET records = records + 1", -EBADMSG);
	damage("UPDATE block SET records = 'x'", -EBADMSG);
	damage("UPDATE block SET records = 1000000000", -EBADMSG);
	damage("UPDATE block SET entries = NULL", -EBADMSG);
	damage("UPDATE block SET entries = substr(entries, 2)", -EBADMSG);
	damage("UPDATE block SET data = NULL", -EBADMSG);
	damage("UPDATE block SET data = substr(data, 1, length(data) - 9)", -EBADMSG);
	damage("UPDATE block SET size = size - 1", -EBADMSG);
	damage("UPDATE block SET size = length(data)", -EBADMSG);
	/* A record that is a row of its own has a checksum, too. */
	damage_single();
	damage("UPDATE block SET tasks = -7, waited_ns = 'x', from_ns = NULL, io = 7", -ENODATA);
	damage("UPDATE block SET data = (SELECT data FROM block b WHERE b.first = 1) WHERE first > "
	       "1",
	       -EBADMSG);
	damage("PRAGMA application_id = 1", -EBADMSG);
	damage("DROP TABLE about", -EBADMSG);
	damage("UPDATE about SET value = 'x' WHERE name = 'format'", -EPROTO);
	damage("DELETE FROM about WHERE name = 'format'", -EBADMSG);
	/* What earlier versions wrote. */
	damage("DROP TABLE block; CREATE TABLE recording(name, value)", -EPROTO);
}

/* The number of the page of a row in the middle of a recording, and how large pages are. */
static long find_page(const char *path, long *size)
{
	static const char query[] =
		"SELECT pageno, pgsize FROM dbstat WHERE name = 'block' AND pagetype = 'overflow'"
		" ORDER BY path LIMIT 1";
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

/* A page that is damaged is told, and not taken for the end. */
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
}

/* Bytes that are damaged anywhere. */
SCRATCH_TEST(test_bytes)
{
	const char *path = scratch_path("bytes.db");
	static char bytes[1 << 20];
	unsigned seed = 1;
	size_t n;

	assert_int_equal(play_record(path, 7, 90), 0);
	for (unsigned round = 0; round < 300; round++) {
		const char *copy = scratch_path("copy.db");
		FILE *file = fopen(path, "r");

		n = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		for (unsigned i = 0; i < 1 + round % 40; i++) {
			seed = seed * 1103515245 + 12345;
			bytes[100 + (seed >> 4) % (n - 100)] = (char)(seed >> 20);
		}
		file = fopen(copy, "w");
		fwrite(bytes, 1, n - (round % 3 ? 0 : (seed >> 8) % n), file);
		fclose(file);
		assert_true(play_all(copy, round % 2 ? "-3s" : NULL) < 0);
	}
}
