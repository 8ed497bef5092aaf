// SPDX-License-Identifier: GPL-2.0-or-later
/* What is kept of the past in memory comes back as it was, and stays within its bounds. */
#include "tests/lib/test.h"
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "history/cursor.h"
#include "history/trends.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"

#define MB (UINT64_C(1) << 20)
#define MANY 10000
#define MANY_ACTIVE 500

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(1099511628211);
}

/* All that is shown of a frame's rows, in one number. */
static uint64_t digest(const struct frame *frame)
{
	uint64_t hash = mix(UINT64_C(14695981039346656037), frame->n);

	hash = mix(hash, frame->info->real_ns);
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		hash = mix(hash, (uint64_t)row->task->key.pid);
		hash = mix(hash, row->task->key.start_ns);
		for (const char *c = row->task->comm; *c; c++)
			hash = mix(hash, (unsigned char)*c);
		hash = mix(hash, (uint64_t)row->raw->now.state);
		hash = mix(hash, row->raw->counters.run_ns);
		hash = mix(hash, row->valid);
		hash = mix(hash, row->exited);
		hash = mix(hash, row->interval_ns);
		hash = mix(hash, row->deltas->grown.run_ns);
		for (unsigned kind = 0; kind <= WAIT_DWAIT; kind++)
			hash = mix(hash, row->deltas->waited.ns[kind]);
		hash = mix(hash, row->deltas->waited.total);
	}
	return hash;
}

/* A made-up machine, what is kept of it, and what its frames were. */
struct past_scene {
	struct play_machine machine;
	struct ring *ring;
	struct cursor *past;
	struct sampler_config config;
	uint64_t *digests, *times;
	size_t n, cap;
};

static void open_scene(struct past_scene *scene, unsigned seed, struct ring_limits limits)
{
	*scene = (struct past_scene){ .machine = { .seed = seed } };
	scene->ring = ring_open(&limits);
	scene->past = cursor_open(scene->ring, &scene->config);
}

static int take(struct past_scene *scene)
{
	const struct frame *frame = play_frame(&scene->machine);

	if (scene->n == scene->cap) {
		scene->cap = scene->cap ? scene->cap * 2 : 64;
		scene->digests = xreallocarray(scene->digests, scene->cap, sizeof(uint64_t));
		scene->times = xreallocarray(scene->times, scene->cap, sizeof(uint64_t));
	}
	scene->digests[scene->n] = digest(frame);
	scene->times[scene->n++] = frame->info->real_ns;
	return ring_add(scene->ring, frame, NULL, scene->n % 4);
}

static void close_scene(struct past_scene *scene)
{
	cursor_close(scene->past);
	ring_close(scene->ring);
	play_free(&scene->machine);
	free(scene->digests);
	free(scene->times);
}

/* The number of the frame of that time. */
static size_t number_of(const struct past_scene *scene, uint64_t real_ns)
{
	for (size_t i = 0; i < scene->n; i++)
		if (scene->times[i] == real_ns)
			return i;
	fail_msg("no frame was taken at %llu", (unsigned long long)real_ns);
	return 0;
}

/* Shows a moment, which must be as it was. */
static void check_shown(struct past_scene *scene, const struct position *position)
{
	const struct frame *frame;
	size_t number = number_of(scene, position_entry(position)->real_ns);

	assert_int_equal(cursor_show(scene->past, position, &frame), 0);
	assert_true(frame->info->prev != NULL);
	if (digest(frame) != scene->digests[number])
		fail_msg("moment %zu is not as it was", number);
	cursor_forget_shown(scene->past);
}

/* Goes through all samples backwards, then forwards, then here and there. */
static void check_all(struct past_scene *scene, size_t least)
{
	struct position position, first;
	bool again;
	size_t n = 1;

	assert_true(cursor_last(scene->past, &position));
	assert_int_equal(number_of(scene, position_entry(&position)->real_ns), scene->n - 1);
	check_shown(scene, &position);
	while (cursor_before(scene->past, &position)) {
		check_shown(scene, &position);
		n++;
	}
	assert_true(n >= least);
	assert_true(cursor_first(scene->past, &first));
	assert_ptr_equal(first.segment, position.segment);
	assert_int_equal(first.at, position.at);
	while (cursor_next(scene->past, &position)) {
		check_shown(scene, &position);
		n--;
	}
	assert_int_equal(n, 1);
	for (unsigned i = 0; i < 40; i++) {
		uint64_t time = scene->times[scene->n - 1 - (i * 7919) % least];

		assert_true(cursor_find(scene->past, time, &position, &again));
		assert_false(again);
		assert_int_equal(position_entry(&position)->real_ns, time);
		check_shown(scene, &position);
	}
}

TEST(comes_back)
{
	struct past_scene scene;

	for (unsigned seed = 1; seed <= 5; seed++) {
		open_scene(&scene, seed, (struct ring_limits){ .bytes = 64 * MB });
		for (unsigned i = 0; i < 70; i++)
			assert_int_equal(take(&scene), 0);
		/* The first frame of all has no interval. */
		check_all(&scene, 69);
		close_scene(&scene);
	}
}

TEST(comes_back_across_segments)
{
	struct past_scene scene;

	/* Twelve seconds, of which a segment has three. */
	open_scene(&scene, 9,
		   (struct ring_limits){ .span_ns = 12 * NSEC_PER_SEC, .bytes = 64 * MB });
	for (unsigned i = 0; i < 90; i++)
		assert_int_equal(take(&scene), 0);
	assert_true(ring_segments(scene.ring)->n >= 4);
	check_all(&scene, 23);
	close_scene(&scene);
}

TEST(time_is_kept_and_no_more)
{
	const uint64_t span = 60 * NSEC_PER_SEC;
	struct past_scene scene;

	open_scene(&scene, 3, (struct ring_limits){ .span_ns = span, .bytes = 64 * MB });
	for (unsigned i = 0; i < 400; i++) {
		struct position first, last;

		assert_int_equal(take(&scene), 0);
		if (i < 150)
			continue;
		assert_true(cursor_first(scene.past, &first) && cursor_last(scene.past, &last));
		assert_true(position_entry(&last)->real_ns - position_entry(&first)->real_ns >=
			    span - 2 * NSEC_PER_SEC);
		assert_true(position_entry(&last)->real_ns - position_entry(&first)->real_ns <=
			    span + span / 3);
	}
	close_scene(&scene);
}

/* Whoever sets the clock on by a quarter of an hour does not make what is kept older. */
TEST(clock_that_is_set_takes_nothing)
{
	const uint64_t span = 60 * NSEC_PER_SEC;
	struct past_scene scene;
	struct position first, last;

	open_scene(&scene, 3, (struct ring_limits){ .span_ns = span, .bytes = 64 * MB });
	for (unsigned i = 0; i < 300; i++) {
		if (i == 280)
			scene.machine.asleep_ns = 900 * NSEC_PER_SEC;
		assert_int_equal(take(&scene), 0);
	}
	assert_true(cursor_first(scene.past, &first) && cursor_last(scene.past, &last));
	assert_true(position_entry(&last)->real_ns - position_entry(&first)->real_ns >
		    900 * NSEC_PER_SEC);
	assert_true(position_entry(&last)->begin_ns - position_entry(&first)->begin_ns >=
		    span - 2 * NSEC_PER_SEC);
	close_scene(&scene);
}

TEST(room_is_bounded)
{
	const uint64_t room = MB / 2;
	struct past_scene scene;
	size_t most = 0;

	open_scene(&scene, 4, (struct ring_limits){ .bytes = room });
	for (unsigned i = 0; i < 900; i++) {
		assert_int_equal(take(&scene), 0);
		assert_true(ring_bytes(scene.ring) <= room);
		if (ring_records(scene.ring) > most)
			most = ring_records(scene.ring);
	}
	/* It was full, and there is still something to look at. */
	assert_true(most < 800);
	check_all(&scene, 20);
	close_scene(&scene);
}

TEST(what_is_looked_at_stays)
{
	struct past_scene scene;
	struct position first, shown, again;
	struct segment_list *all;

	open_scene(&scene, 5,
		   (struct ring_limits){ .span_ns = 8 * NSEC_PER_SEC, .bytes = 64 * MB });
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(take(&scene), 0);
	all = ring_segments(scene.ring);
	assert_true(cursor_first(scene.past, &first));
	check_shown(&scene, &first);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(take(&scene), 0);
	assert_true(cursor_shown(scene.past, &shown));
	assert_ptr_equal(shown.segment, first.segment);
	assert_ptr_equal(all->list[0], first.segment);
	/* One step on is still there, and many lead over what has gone to what is there. */
	again = shown;
	for (unsigned i = 0; i < 12 && cursor_next(scene.past, &again); i++)
		check_shown(&scene, &again);
	assert_ptr_not_equal(again.segment, first.segment);
	cursor_leave(scene.past);
	cursor_forget_shown(scene.past);
	assert_int_equal(take(&scene), 0);
	assert_int_equal(take(&scene), 0);
	assert_true(all->n <= 6);
	check_all(&scene, 14);
	close_scene(&scene);
}

TEST(too_little_room_ends_it)
{
	struct past_scene scene;
	struct position position;

	open_scene(&scene, 6, (struct ring_limits){ .bytes = 1 << 10 });
	assert_int_equal(take(&scene), -ENOSPC);
	assert_int_equal(take(&scene), -ENOSPC);
	assert_false(cursor_last(scene.past, &position));
	close_scene(&scene);
}

TEST(limits_are_parsed)
{
	struct ring_limits limits;

	assert_true(ring_parse("15m", &limits));
	assert_int_equal(limits.span_ns, 900 * NSEC_PER_SEC);
	assert_int_equal(limits.bytes, RING_BYTES);
	assert_true(ring_parse("64M", &limits));
	assert_int_equal(limits.span_ns, 0);
	assert_int_equal(limits.bytes, 64 * MB);
	assert_true(ring_parse("1h,128M", &limits));
	assert_int_equal(limits.span_ns, 3600 * NSEC_PER_SEC);
	assert_int_equal(limits.bytes, 128 * MB);
	assert_true(ring_parse("0", &limits));
	assert_int_equal(limits.bytes, 0);
	assert_false(ring_parse("", &limits));
	assert_false(ring_parse("15", &limits));
	assert_false(ring_parse("-3m", &limits));
	assert_false(ring_parse("3m,4m", &limits));
	assert_false(ring_parse("none", &limits));
}

/* What was waited in the frames before is what a trend says, in the present and in the past. */
TEST(trends_are_what_was_waited)
{
	struct past_scene scene;
	struct trends trends = { 0 };
	struct {
		struct task_key key;
		double shares[40];
	} of[60] = { 0 };
	uint64_t times[40];
	size_t known = 0;

	open_scene(&scene, 8, (struct ring_limits){ .bytes = 64 * MB });
	for (size_t f = 0; f < 40; f++) {
		const struct frame *frame = play_frame(&scene.machine);

		times[f] = frame->info->real_ns;
		trends_read(&trends, scene.past, times[f]);
		for (size_t i = 0; i < frame->n; i++) {
			const struct row *row = &frame->rows[i];
			size_t t = 0;

			while (t < known && (of[t].key.pid != row->task->key.pid ||
					     of[t].key.start_ns != row->task->key.start_ns))
				t++;
			if (t == known && known < ARRAY_SIZE(of))
				of[known++].key = row->task->key;
			if (t >= known)
				continue;
			of[t].shares[f] = (double)row->deltas->waited.total * 100.0 /
					  (double)frame->info->interval_ns;
			for (size_t m = 0; m < trends.n; m++) {
				double share = trends_of(&trends, m, &row->task->key);

				if (!isnan(share) && fabs(share - of[t].shares[f - 1 - m]) > 1e-6)
					fail_msg("frame %zu, %zu before: %f, not %f", f, m + 1,
						 share, of[t].shares[f - 1 - m]);
			}
			/* From the second frame on there is one before that has an interval. */
			assert_true(f < 11 || trends.n == TRENDS_BEFORE);
		}
		assert_int_equal(ring_add(scene.ring, frame, NULL, 0), 0);
	}
	/* A task that has not begun has no share. */
	assert_true(isnan(trends_of(&trends, 0, &(struct task_key){ 1, UINT64_MAX })));
	trends_free(&trends);
	close_scene(&scene);
}

/* Adds up what was waited in a frame, by kind as the rows have it. */
static struct waited add_up_rows(const struct frame *frame)
{
	struct waited sum = { 0 };

	for (size_t i = 0; i < frame->n; i++) {
		const struct waited *waited = &frame->rows[i].deltas->waited;

		for (unsigned kind = 0; kind < WAIT_KINDS; kind++)
			sum.ns[kind] += waited->ns[kind];
		sum.total += waited->total;
	}
	return sum;
}

/* Adds a frame's waits to the sums of the test. */
static void take_waits(void *arg, UNUSED size_t i, const struct frame *frame)
{
	*(struct waited *)arg = add_up_rows(frame);
}

/* What is read of samples has each kind, and adds up to what the entry says. */
TEST(all_kinds_are_added_up)
{
	bool seen[WAIT_KINDS] = { false };
	struct past_scene scene;

	open_scene(&scene, 3, (struct ring_limits){ .bytes = 64 * MB });
	for (unsigned f = 0; f < 80; f++) {
		const struct frame *frame = play_frame(&scene.machine);
		struct waited sum = add_up_rows(frame), again = { 0 };
		struct position position;

		assert_int_equal(ring_add(scene.ring, frame, NULL, 0), 0);
		if (!f)
			continue;
		assert_int_equal(cursor_earlier(scene.past, UINT64_MAX, &position, 1), 1);
		assert_int_equal(position_entry(&position)->waited_ns, sum.total);
		cursor_walk(scene.past, &position, 1, take_waits, &again);
		for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
			if (again.ns[kind] != sum.ns[kind])
				fail_msg("frame %u, kind %u: %ju, not %ju", f, kind,
					 (uintmax_t)again.ns[kind], (uintmax_t)sum.ns[kind]);
			seen[kind] |= sum.ns[kind] > 0;
		}
	}
	for (unsigned kind = 0; kind < WAIT_KINDS; kind++)
		if (!seen[kind])
			fail_msg("nothing was waited of kind %u", kind);
	close_scene(&scene);
}

/* A recording may be written of the same frames: neither disturbs the other. */
TEST(a_recording_goes_beside)
{
	const char *path = scratch_path("beside.db");
	const struct replay_config config = { .path = path };
	struct play_writer writer = { 0 };
	struct past_scene scene;
	struct cursor *kept;
	char *file;

	assert_int_equal(play_begin_file(&writer, path), 0);
	open_scene(&scene, 17,
		   (struct ring_limits){ .span_ns = 60 * NSEC_PER_SEC, .bytes = 64 * MB });
	for (unsigned i = 0; i < 60; i++) {
		assert_int_equal(take(&scene), 0);
		assert_int_equal(play_write(&writer, &scene.machine.frame, NULL, 0), 0);
	}
	play_end_file(&writer);
	check_all(&scene, 59);
	kept = scene.past;
	assert_int_equal(cursor_open_recording(&scene.past, &config, &file), 0);
	cursor_configure(scene.past, &scene.config);
	check_all(&scene, 59);
	cursor_close(scene.past);
	scene.past = kept;
	close_scene(&scene);
}

TEST(recordings_are_gone_to)
{
	const char *path = scratch_path("past.db");
	const struct replay_config config = { .path = path };
	struct play_machine machine = { .seed = 12 };
	struct past_scene scene = { .machine = { .seed = 13 } };
	const struct sampler_config sampler = { 0 };
	char *file;

	assert_int_equal(play_record(path, 12, 50), 0);
	for (unsigned i = 0; i < 50; i++) {
		const struct frame *frame = play_frame(&machine);

		scene.digests = xreallocarray(scene.digests, scene.n + 1, sizeof(uint64_t));
		scene.times = xreallocarray(scene.times, scene.n + 1, sizeof(uint64_t));
		scene.digests[scene.n] = digest(frame);
		scene.times[scene.n++] = frame->info->real_ns;
	}
	assert_int_equal(cursor_open_recording(&scene.past, &config, &file), 0);
	cursor_configure(scene.past, &sampler);
	check_all(&scene, 49);
	close_scene(&scene);
	play_free(&machine);
}

TEST(damaged_recordings_are_refused)
{
	const struct replay_config none = { .path = "/nonexistent/x" };
	const char *path = scratch_file(scratch_path("no.db"),
					"this is no recording, although it is long enough\n");
	const struct replay_config bad = { .path = path };
	struct cursor *past;
	char *file;

	assert_int_equal(cursor_open_recording(&past, &none, &file), -ENOENT);
	free(file);
	assert_int_equal(cursor_open_recording(&past, &bad, &file), -EBADMSG);
	assert_string_equal(file, path);
	free(file);
}

/* Memory in use, of what malloc() gives. */
static uint64_t in_use(void)
{
#ifdef HAVE_MALLINFO2
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#else
	/* glibc before 2.33; of less than 4 GB. */
	struct mallinfo info = mallinfo();

	return (uint64_t)(unsigned)info.uordblks + (unsigned)info.hblkhd;
#endif
}

/* The most memory that was resident so far, in kB; 0: not known. */
static unsigned long resident_most(void)
{
	const char *text = scratch_read("/proc/self/status");
	const char *at = text ? strstr(text, "VmHWM:") : NULL;

	return at ? strtoul(at + 6, NULL, 10) : 0;
}

/* Makes the next sample of many tasks, some of which do something. */
static void next_of_many(struct sample *cur, const struct sample *prev, unsigned turn)
{
	sample_reset(cur);
	cur->begin_ns = (1000 + 2 * (uint64_t)turn) * NSEC_PER_SEC;
	cur->end_ns = cur->begin_ns + 1000000;
	cur->real_ns = UINT64_C(1795269750) * NSEC_PER_SEC + cur->begin_ns;
	for (unsigned i = 0; i < MANY; i++) {
		pid_t pid = (pid_t)(1000 + i);
		struct task_raw *raw = sample_add(cur, pid, pid);
		char comm[16];

		if (prev) {
			*raw = *prev->raw[i];
			task_ref(raw->task);
		} else {
			raw->task = task_new((struct task_key){ pid, 5000000 + i }, pid);
			task_set_user(raw->task, shared_text("someone"));
			snprintf(comm, sizeof(comm), "task-%u", i);
			task_set_comm(raw->task, comm, strlen(comm));
			raw->task->command = xstrdup("/usr/bin/some-program --with some --options");
			task_set_cgroup(raw->task, shared_text("/system.slice/some.service"));
			raw->single = true;
			raw->counters.valid = DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK;
			raw->now = (struct task_now){ .state = 'S', .exact = true, .threads = 1 };
			raw->counters.run_ns = 1000000000 + i;
			raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 100 + i, 9000000 };
			raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 10 + i, 7000000 };
		}
		raw->read_ns = cur->begin_ns;
		if (i % (MANY / MANY_ACTIVE) == turn % 3) {
			raw->counters.run_ns += 3000000 + i * 7 + turn;
			raw->counters.user_ns += turn % 4 ? 0 : 4000000;
			raw->counters.delay[DELAY_CPU].count += 9;
			raw->counters.delay[DELAY_CPU].ns += 150000 + i * 3;
			if (i % 3 == 0) {
				raw->counters.delay[DELAY_BLKIO].count += 2;
				raw->counters.delay[DELAY_BLKIO].ns += 1500000 + i;
			}
		}
	}
}

/* 10,000 tasks of which 500 do something, for longer than what is kept at the usual interval. */
TEST(many_tasks_cost_little)
{
	struct sample samples[2] = { 0 };
	struct system_sample system = { .cpus = 2 };
	struct clocks clocks = { 0 };
	struct frame frame = { 0 };
	struct frame_info info = { 0 };
	const struct frame_options options = { 0 };
	struct ring *ring;
	uint64_t before, most = 0, most_told = 0, span = 0, took = 0, longest = 0;
	struct sampler_config config = { 0 };
	struct cursor *past;
	struct position first, last;
	unsigned long resident;

	next_of_many(&samples[0], NULL, 0);
	next_of_many(&samples[1], &samples[0], 1);
	frame_build(&frame, &info, &samples[0], &samples[1], &options);
	resident = resident_most();
	before = in_use();
	ring = ring_open(&RING_DEFAULT);
	past = cursor_open(ring, &config);
	for (unsigned turn = 0; turn < 700; turn++) {
		struct sample *prev = turn ? &samples[(turn + 1) % 2] : NULL;
		struct sample *cur = &samples[turn % 2];
		uint64_t now;

		next_of_many(cur, prev ? prev : &samples[1], turn);
		frame_build(&frame, &info, prev, cur, &options);
		info.system = &system;
		info.clocks = &clocks;
		info.head.source = "made";
		info.head.exits = info.head.lost = -1;
		now = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		assert_int_equal(ring_add(ring, &frame, NULL, 0), 0);
		now = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - now;
		took += now;
		longest = now > longest ? now : longest;
		now = in_use() - before;
		most = now > most ? now : most;
		if (ring_bytes(ring) > most_told)
			most_told = ring_bytes(ring);
	}
	assert_true(cursor_first(past, &first) && cursor_last(past, &last));
	span = position_entry(&last)->real_ns - position_entry(&first)->real_ns;
	print_message("# %.1f MB at most, told as %.1f; %llu s are kept in %zu moments\n",
		      (double)most / (double)MB, (double)most_told / (double)MB,
		      (unsigned long long)(span / NSEC_PER_SEC), ring_records(ring));
	print_message("# %lu kB more were resident at a time\n", resident_most() - resident);
	print_message("# a moment takes %llu us of CPU time, with all tasks %llu\n",
		      (unsigned long long)(took / 700000), (unsigned long long)(longest / 1000));
	assert_true(most < 32 * MB);
	assert_true(span >= 600 * NSEC_PER_SEC);
	cursor_close(past);
	ring_close(ring);
	for (unsigned i = 0; i < 2; i++)
		sample_free(&samples[i]);
	frame_free(&frame);
	clocks_free(&clocks);
}

/* Takes all that there is, in order. Returns how many; *lost: those that are missing between them.
 */
static unsigned take_all(struct past_scene *scene, uint64_t *lost, bool goes_on)
{
	const struct record_entry *first;
	const void *bytes;
	uint64_t missing, last = 0;
	unsigned n = 0;
	size_t len;

	*lost = 0;
	for (; (first = ring_first(scene->ring, &bytes, &len, &missing)); n++) {
		size_t number = number_of(scene, first->real_ns);

		/* The first stands for itself, and so does what follows a gap. */
		if ((!n && !goes_on) || missing)
			assert_true(first->key && record_is_key(bytes, len));
		if (n)
			assert_int_equal(number, last + missing + 1);
		assert_int_equal(first->found, (number + 1) % 4);
		last = number;
		*lost += missing;
		ring_take(scene->ring);
	}
	assert_int_equal(ring_records(scene->ring), 0);
	return n;
}

/* What is to be written comes in its order; while it is held nothing is too old. */
TEST(held_records_come_in_order)
{
	struct past_scene scene;
	uint64_t lost;
	unsigned kept;

	open_scene(&scene, 7,
		   (struct ring_limits){ .span_ns = 10 * NSEC_PER_SEC, .bytes = 64 * MB });
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(take(&scene), 0);
	/* Of 50 s those of ten, and a little more. */
	kept = (unsigned)ring_records(scene.ring);
	assert_in_range(kept, 20, 27);
	ring_pin_segments(scene.ring, true);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(take(&scene), 0);
	assert_int_equal(ring_records(scene.ring), kept + 100);
	assert_int_equal(take_all(&scene, &lost, false), kept + 100);
	assert_int_equal(lost, 0);
	/* It goes on behind what was taken. */
	assert_int_equal(take(&scene), 0);
	assert_int_equal(take_all(&scene, &lost, true), 1);
	ring_begin(scene.ring);
	ring_pin_segments(scene.ring, false);
	for (unsigned i = 0; i < 60; i++)
		assert_int_equal(take(&scene), 0);
	assert_in_range(take_all(&scene, &lost, false), 20, 27);
	assert_int_equal(lost, 0);
	close_scene(&scene);
}

/* What has no room goes by segments, and is told. */
TEST(held_records_that_go_are_told)
{
	const uint64_t room = MB;
	struct past_scene scene;
	uint64_t lost;
	unsigned n;

	open_scene(&scene, 8, (struct ring_limits){ .span_ns = 10 * NSEC_PER_SEC, .bytes = room });
	ring_pin_segments(scene.ring, true);
	for (unsigned i = 0; i < 900; i++) {
		assert_int_equal(take(&scene), 0);
		assert_true(ring_bytes(scene.ring) <= room);
	}
	n = take_all(&scene, &lost, false);
	assert_true(n > 20 && n < 900);
	/* Those before the first are told with it. */
	assert_int_equal(n + lost, 900);
	close_scene(&scene);
}

TESTS_WITHIN(scratch_set_up, scratch_tear_down)
