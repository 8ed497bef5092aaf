// SPDX-License-Identifier: GPL-2.0-or-later
/* Intervals of traced threads and sites, and what rows waited beside them. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/util.h"
#include "tests/lib/scene.h"
#include "trace/trace_state.h"

/* A scene, and what was traced beside it. */
struct stage {
	struct scene scene;
	struct trace_state book;
	struct trace_reading reading;
	uint32_t forgotten; /* the slot that was given back last */
};

static int set_up(void **state)
{
	struct stage *stage = xcalloc(1, sizeof(*stage));

	scene_open(&stage->scene);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;

	scene_close(&stage->scene);
	trace_state_free(&stage->book);
	trace_reading_free(&stage->reading);
	free(stage);
	return 0;
}

/* Takes back any slot. */
static bool forget(void *arg, uint32_t slot)
{
	struct stage *stage = arg;

	stage->forgotten = slot;
	return true;
}

/* Takes what was put into the reading, at that time. */
static void take(struct stage *stage, uint64_t read_ns)
{
	stage->reading.read_ns = read_ns;
	trace_state_update(&stage->book, &stage->reading, forget, stage);
	trace_reading_reset(&stage->reading);
}

/* A thread of a process that began then, in a state since then; all it did before is in none. */
struct traced_thread {
	struct trace_thread times;
	struct trace_waiter waiter;
	uint64_t start_ns;
	bool ended;
};

static struct traced_thread thread_of(pid_t tgid, pid_t pid, enum wait_state state,
				      uint64_t since_ns)
{
	return (struct traced_thread){
		.times = { .tgid = tgid,
			   .process_start_ns = SEC(50) + (uint64_t)tgid,
			   .born_ns = SEC(60),
			   .state = (uint8_t)state,
			   .since_ns = since_ns },
		.waiter = { .pid = pid, .tgid = tgid },
		.start_ns = SEC(50) + (uint64_t)pid,
	};
}

/* Puts a thread into the reading, or its end. */
static void put(struct stage *stage, struct traced_thread *thread)
{
	struct trace_end end = { .end = { .last = 1,
					  .process_start_ns = thread->times.process_start_ns },
				 .tgid = thread->times.tgid };

	if (thread->ended) {
		trace_reading_end(&stage->reading, &end);
		return;
	}
	thread->waiter.since_ns = thread->times.since_ns;
	thread->waiter.state = thread->times.state;
	trace_reading_waiter(&stage->reading, &thread->waiter);
}

/* A site of a process, without waits. */
static struct trace_site site_of(pid_t tgid, enum wait_state state)
{
	return (struct trace_site){ .key = { .tgid = tgid,
					     .start_ns = SEC(50) + (uint64_t)tgid,
					     .syscall = -1,
					     .stack = -1,
					     .state = (uint8_t)state },
				    .generation = 7,
				    .stack = -1,
				    .fd = -1,
				    .comm = "reader" };
}

/* The site of the last interval that is of that kind and process; NULL: there is none. */
static const struct site *framed(const struct stage *stage, pid_t tgid, int kind, bool rest)
{
	for (size_t i = 0; i < stage->book.n; i++) {
		const struct site *site = stage->book.order[i];

		if (site->tgid == tgid && site->kind == kind && site->unattributed == rest)
			return site;
	}
	return NULL;
}

/* Has an element tell how its thread spent its time. */
static void tell(struct task_raw *raw, const struct traced_thread *thread)
{
	struct task_times times = { .at_ns = raw->read_ns };

	memcpy(times.states.ns, thread->times.ns, sizeof(times.states.ns));
	if (!thread->ended) {
		times.states.ns[thread->times.state] += raw->read_ns - thread->times.since_ns;
		times.in[thread->times.state] = 1;
	}
	task_raw_set_times(raw, &times);
}

/* Adds a task to the first sample, with its thread. */
static struct task_raw *begin(struct stage *stage, const struct traced_thread *thread)
{
	struct task_raw *raw = scene_add(&stage->scene.samples[0], thread->waiter.tgid,
					 thread->waiter.pid, thread->start_ns);

	tell(raw, thread);
	return raw;
}

/* Adds it to the next one. */
static struct task_raw *go_on(struct stage *stage, unsigned at, const struct task_raw *before,
			      const struct traced_thread *thread)
{
	struct task_raw *raw = scene_again(&stage->scene.samples[at], before);

	tell(raw, thread);
	return raw;
}

/* Builds the frame of a sample and the one before it, with what was traced. */
static void build_at(struct stage *stage, unsigned at)
{
	scene_build(&stage->scene, at, false, 0);
	trace_state_rows(&stage->book, &stage->scene.frame);
	trace_state_sites(&stage->book);
}

/* The same of the first two. */
static void build(struct stage *stage)
{
	build_at(stage, 1);
}

/* Of a wait in progress only the interval's part counts, whenever it began and is booked. */
TEST_WITH(test_progress, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_IO, SEC(90));
	struct trace_site site = site_of(5, STATE_IO);
	const struct site *shown;

	trace_reading_site(&stage->reading, 3, &site);
	thread.waiter.site = 3;
	thread.waiter.generation = 7;
	put(stage, &thread);
	take(stage, SEC(100));
	assert_false(trace_state_ready(&stage->book));
	put(stage, &thread);
	take(stage, SEC(102));
	trace_state_sites(&stage->book);
	shown = framed(stage, 5, DELAY_BLKIO, false);
	assert_non_null(shown);
	assert_int_equal(shown->ns, SEC(2));
	assert_int_equal(shown->kind_ns, SEC(2));
	assert_int_equal(shown->count, 0);
	assert_int_equal(shown->waiting, 1);
	assert_int_equal(shown->waiting_ns, SEC(12));
	assert_int_equal(shown->max_ns, SEC(12));
	assert_string_equal(shown->comm, "reader");
	/* The wait ends half a second later. */
	site.ns = site.max_ns = SEC(12) + MS(500);
	site.count = 1;
	site.buckets[24] = 1;
	site.wakers[1] = (struct trace_waker){ 0, 1, SEC(12) + MS(500), "virtio0" };
	trace_reading_site(&stage->reading, 3, &site);
	thread.times.ns[STATE_IO] = SEC(12) + MS(500);
	thread.times.state = STATE_RUN;
	thread.times.since_ns = SEC(102) + MS(500);
	thread.waiter.site = 0;
	put(stage, &thread);
	take(stage, SEC(104));
	trace_state_sites(&stage->book);
	shown = framed(stage, 5, DELAY_BLKIO, false);
	assert_int_equal(shown->ns, MS(500));
	assert_int_equal(shown->count, 1);
	assert_int_equal(shown->log2_us[24], 1);
	assert_int_equal(shown->waiting, 0);
	assert_int_equal(shown->max_ns, SEC(12) + MS(500));
	assert_string_equal(shown->wakers[0].name, "virtio0");
	assert_int_equal(shown->wakers[0].tgid, 0);
	assert_null(shown->wakers[1].name);
	/* Then nothing happens there. */
	take(stage, SEC(106));
	trace_state_sites(&stage->book);
	assert_null(framed(stage, 5, DELAY_BLKIO, false));
}

/* Of an interval of 2 s, a thread that was in state io for so long and ran for the rest. */
static void wait_for_io(struct stage *stage, struct traced_thread *thread, uint64_t io_ns)
{
	thread->times.ns[STATE_IO] += io_ns;
	thread->times.ns[STATE_RUN] += SEC(10) - io_ns;
	thread->times.since_ns += SEC(10);
	put(stage, thread);
}

/* Waits for completions are of a disk by who ended them, from the first interval on. */
TEST_WITH(test_rings, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_RUN, SEC(91));
	struct trace_site disk = site_of(5, STATE_POLL), net = site_of(5, STATE_POLL);
	struct task_raw *raw = begin(stage, &thread);

	put(stage, &thread);
	take(stage, SEC(100));
	go_on(stage, 1, raw, &thread);
	disk.key.syscall = net.key.syscall = SYS_io_uring_enter;
	disk.ns = net.ns = MS(650);
	disk.count = net.count = 3;
	disk.wakers[0] = (struct trace_waker){ .ns = MS(650), .count = 3, .name = "block" };
	net.wakers[0] = (struct trace_waker){ .ns = MS(650), .count = 3, .name = "net_rx" };
	trace_reading_site(&stage->reading, 1, &disk);
	trace_reading_site(&stage->reading, 2, &net);
	take(stage, SEC(102));
	build(stage);
	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->kind_ns, MS(650));
	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->state, STATE_IO);
	assert_int_equal(framed(stage, 5, -1, false)->state, STATE_POLL);
}

/*
 * What was waited for I/O is what was traced, whatever the kernel booked; of other kinds sites and
 * the rest add up to what the row waited, and there is no rest where sites have more.
 */
TEST_WITH(test_rests, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_RUN, SEC(91));
	struct trace_site disk = site_of(5, STATE_IO), queue = site_of(5, STATE_CPU);
	struct trace_site reclaim = site_of(5, STATE_OTHER);
	struct task_raw *raw = begin(stage, &thread);
	const struct row *row;

	reclaim.key.within = 1 + DELAY_RECLAIM;
	memcpy(raw->task->comm, "waits", 6);
	put(stage, &thread);
	take(stage, SEC(100));
	wait_for_io(stage, &thread, MS(650));
	raw = go_on(stage, 1, raw, &thread);
	raw->counters.run_ns += SEC(2);
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 3, MS(700) };
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 3, MS(100) };
	raw->counters.delay[DELAY_RECLAIM] = (struct delay_sum){ 1, MS(40) };
	raw->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 1, MS(30) };
	disk.ns = MS(650);
	disk.count = 3;
	queue.ns = queue.booked_ns = MS(101);
	queue.count = 3;
	reclaim.ns = MS(40);
	reclaim.count = 1;
	trace_reading_site(&stage->reading, 1, &disk);
	trace_reading_site(&stage->reading, 2, &queue);
	trace_reading_site(&stage->reading, 9, &reclaim);
	take(stage, SEC(102));
	build(stage);
	row = &stage->scene.frame.rows[0];
	assert_int_equal(row->traced->states.ns[STATE_IO], MS(650));
	assert_int_equal(row->deltas->waited.ns[DELAY_BLKIO], MS(650));
	assert_int_equal(row->deltas->grown.delay[DELAY_BLKIO].ns, MS(700));
	assert_int_equal(row->deltas->waited.reason[DELAY_BLKIO], REASON_MEASURED);
	assert_int_equal(row->deltas->waited.reason[DELAY_CPU], REASON_BOOKED);
	assert_int_equal(row->deltas->waited.total, MS(650 + 100 + 40 + 30));
	assert_null(framed(stage, 5, DELAY_BLKIO, true));
	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->ns, MS(650));
	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->kind_ns, MS(650));
	assert_null(framed(stage, 5, DELAY_CPU, true));
	assert_true(framed(stage, 5, DELAY_SWAPIN, true)->unattributed_ns == (int64_t)MS(30));
	assert_string_equal(framed(stage, 5, DELAY_SWAPIN, true)->comm, "waits");
	assert_true(framed(stage, 5, DELAY_SWAPIN, true)->overlaps);
	assert_string_equal(framed(stage, 5, DELAY_SWAPIN, true)->on, SITE_WITHIN);
	assert_null(framed(stage, 5, DELAY_RECLAIM, true));
	assert_true(framed(stage, 5, DELAY_RECLAIM, false)->overlaps);
	assert_null(framed(stage, 5, DELAY_WPCOPY, true));
	/* The longest come first. */
	for (size_t i = 1; i < stage->book.n; i++)
		assert_true(stage->book.order[i - 1]->ns >= stage->book.order[i]->ns);
}

/* A thread waits 650 ms, of which its site, that is not read at the same time, has 640. */
static struct task_raw *take_early_site(struct stage *stage, struct traced_thread *thread,
					struct trace_site *disk)
{
	struct task_raw *raw;

	*thread = thread_of(5, 5, STATE_RUN, SEC(91));
	*disk = site_of(5, STATE_IO);
	put(stage, thread);
	raw = begin(stage, thread);
	take(stage, SEC(100));
	wait_for_io(stage, thread, MS(650));
	raw = go_on(stage, 1, raw, thread);
	raw->counters.run_ns += SEC(2);
	disk->ns = MS(640);
	disk->count = 3;
	trace_reading_site(&stage->reading, 1, disk);
	take(stage, SEC(102));
	build(stage);
	return raw;
}

/* A site that is not read when the threads are has what these waited meanwhile, once. */
TEST_WITH(test_agree, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread;
	struct trace_site disk;
	struct task_raw *raw = take_early_site(stage, &thread, &disk);

	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->ns, MS(650));
	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->kind_ns, MS(650));
	thread.times.ns[STATE_RUN] += MS(1700);
	thread.times.ns[STATE_IO] += MS(300);
	thread.times.since_ns += SEC(2);
	put(stage, &thread);
	raw = go_on(stage, 2, raw, &thread);
	raw->counters.run_ns += SEC(2);
	disk.ns = MS(950);
	disk.count = 4;
	trace_reading_site(&stage->reading, 1, &disk);
	take(stage, SEC(104));
	build_at(stage, 2);
	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->ns, MS(300));
	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->count, 1);
}

/* A site all of whose time is in the interval before is not in this one. */
TEST_WITH(test_agree_empty, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread;
	struct trace_site disk;
	struct task_raw *raw = take_early_site(stage, &thread, &disk);

	thread.times.ns[STATE_RUN] += MS(2000);
	thread.times.since_ns += SEC(2);
	put(stage, &thread);
	raw = go_on(stage, 2, raw, &thread);
	raw->counters.run_ns += SEC(2);
	disk.ns = MS(655);
	trace_reading_site(&stage->reading, 1, &disk);
	take(stage, SEC(104));
	build_at(stage, 2);
	assert_null(framed(stage, 5, DELAY_BLKIO, false));
	disk.count = 4;
	disk.ns = MS(655);
	trace_reading_site(&stage->reading, 1, &disk);
	take(stage, SEC(106));
	trace_state_sites(&stage->book);
	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->count, 1);
}

/* A wait that found no room for a site is a rest; what was booked is no matter. */
TEST_WITH(test_lost_time, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_RUN, SEC(91));
	struct task_raw *raw = begin(stage, &thread);

	put(stage, &thread);
	take(stage, SEC(100));
	wait_for_io(stage, &thread, MS(650));
	raw = go_on(stage, 1, raw, &thread);
	raw->counters.run_ns += SEC(2);
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 3, MS(2) };
	take(stage, SEC(102));
	stage->book.lost = 3;
	build(stage);
	assert_true(framed(stage, 5, DELAY_BLKIO, true)->unattributed_ns == (int64_t)MS(650));
	assert_null(framed(stage, 5, DELAY_BLKIO, true)->on);
}

/*
 * Of who was traced it is known what was waited for I/O, though nothing is known of what was
 * booked; of a process whose times are not known, as some threads found no room, the booking
 * stands.
 */
TEST_WITH(test_booking_unknown, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_RUN, SEC(91));
	struct traced_thread one = thread_of(6, 6, STATE_RUN, SEC(91));
	struct task_raw *raw = begin(stage, &thread);
	struct task_raw *many = scene_add(&stage->scene.samples[0], 6, 6, SEC(50) + 6);
	const struct row *row;

	many->now.threads = 3;
	put(stage, &thread);
	put(stage, &one);
	take(stage, SEC(100));
	raw->counters.valid &= ~DELAY_BOTH(DELAY_BIT(DELAY_BLKIO));
	wait_for_io(stage, &thread, MS(650));
	raw = go_on(stage, 1, raw, &thread);
	raw->counters.run_ns += SEC(2);
	many = scene_again(&stage->scene.samples[1], many);
	many->counters.run_ns += SEC(2);
	many->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 3, MS(900) };
	wait_for_io(stage, &one, MS(40));
	take(stage, SEC(102));
	build(stage);
	row = &stage->scene.frame.rows[0];
	assert_false(row->valid & DELAY_BIT(DELAY_BLKIO));
	assert_true(row_waited(row) & DELAY_BIT(DELAY_BLKIO));
	assert_int_equal(row->deltas->waited.ns[DELAY_BLKIO], MS(650));
	assert_int_equal(row->deltas->waited.total, MS(650));
	row = &stage->scene.frame.rows[1];
	assert_null(row->traced);
	assert_int_equal(row->deltas->waited.ns[DELAY_BLKIO], MS(900));
	assert_true(framed(stage, 6, DELAY_BLKIO, true)->unattributed_ns == (int64_t)MS(900));
}

/* A row that was not traced at all has nothing but rests, one that only its sites know has both. */
TEST_WITH(test_untraced, set_up, tear_down)
{
	struct stage *stage = *state;
	struct task_raw *raw = scene_add(&stage->scene.samples[0], 5, 5, SEC(50) + 5);
	struct task_raw *other = scene_add(&stage->scene.samples[0], 6, 6, SEC(50) + 6);
	struct trace_site disk = site_of(6, STATE_IO);

	take(stage, SEC(100));
	raw = scene_again(&stage->scene.samples[1], raw);
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 3, MS(700) };
	scene_again(&stage->scene.samples[1], other);
	disk.ns = MS(7);
	disk.count = 1;
	trace_reading_site(&stage->reading, 1, &disk);
	take(stage, SEC(102));
	build(stage);
	assert_null(stage->scene.frame.rows[0].traced);
	assert_true(framed(stage, 5, DELAY_BLKIO, true)->unattributed_ns == (int64_t)MS(700));
	assert_null(stage->scene.frame.rows[1].traced);
	assert_null(framed(stage, 6, DELAY_BLKIO, true));
}

/* Gives the waits of the interval that are of a state a class, as naming their sites does. */
static void classify(struct stage *stage, enum wait_state state, enum wait_class class)
{
	for (size_t i = 0; i < stage->book.sites.nframed; i++)
		if (stage->book.sites.framed[i]->site.state == state)
			stage->book.sites.framed[i]->site.class = class;
}

/* Who polls for completions of a disk waits for I/O, once that is known. */
TEST_WITH(test_completions, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_POLL, SEC(90));
	struct task_raw *raw = begin(stage, &thread);
	struct trace_site ring = site_of(5, STATE_POLL);
	const struct row *row;

	put(stage, &thread);
	ring.ns = MS(100);
	ring.count = 1;
	trace_reading_site(&stage->reading, 1, &ring);
	take(stage, SEC(100));
	raw = go_on(stage, 1, raw, &thread);
	ring.ns += MS(700);
	ring.count = 9;
	trace_reading_site(&stage->reading, 1, &ring);
	take(stage, SEC(102));
	build(stage);
	row = &stage->scene.frame.rows[0];
	assert_int_equal(row->traced->states.ns[STATE_POLL], SEC(2));
	assert_int_equal(row->deltas->waited.ns[DELAY_BLKIO], 0);
	/* Who ended them told that they were of a disk. */
	assert_int_equal(stage->book.sites.nframed, 1);
	stage->book.sites.framed[0]->disk = true;
	ring.ns += MS(900);
	trace_reading_site(&stage->reading, 1, &ring);
	take(stage, SEC(104));
	go_on(stage, 2, raw, &thread);
	build_at(stage, 2);
	row = &stage->scene.frame.rows[0];
	assert_int_equal(row->traced->states.ns[STATE_POLL], MS(1100));
	assert_int_equal(row->traced->states.ns[STATE_IO], MS(900));
	assert_int_equal(row->deltas->waited.ns[DELAY_BLKIO], MS(900));
	assert_int_equal(framed(stage, 5, DELAY_BLKIO, false)->kind_ns, MS(900));
	assert_null(framed(stage, 5, DELAY_BLKIO, true));
}

/* Lost is what was neither run nor waited with nothing to do, also where no site has it. */
TEST_WITH(test_lost, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_POLL, SEC(90));
	struct task_raw *raw = begin(stage, &thread);
	struct trace_site socket = site_of(5, STATE_NET), poll = site_of(5, STATE_POLL);
	const struct row *row;
	uint64_t ns;

	put(stage, &thread);
	take(stage, SEC(100));
	thread.times.ns[STATE_POLL] = SEC(11);
	thread.times.ns[STATE_NET] = MS(500);
	thread.times.ns[STATE_CPU] = MS(100);
	thread.times.ns[STATE_RUN] = MS(400);
	thread.times.state = STATE_RUN;
	thread.times.since_ns = SEC(102);
	put(stage, &thread);
	raw = go_on(stage, 1, raw, &thread);
	raw->counters.run_ns += MS(400);
	socket.ns = MS(500);
	poll.ns = MS(600);
	poll.count = socket.count = 1;
	trace_reading_site(&stage->reading, 1, &socket);
	trace_reading_site(&stage->reading, 2, &poll);
	take(stage, SEC(102));
	classify(stage, STATE_NET, CLASS_REMOTE);
	classify(stage, STATE_POLL, CLASS_IDLE);
	build(stage);
	row = &stage->scene.frame.rows[0];
	/* The wait for a CPU has no site here, nor has 400 ms of the polling. */
	assert_true(row_lost(row, &ns));
	assert_int_equal(ns, MS(600));
	/* The same socket, by which now requests come; the poll is for an answer. */
	classify(stage, STATE_NET, CLASS_IDLE);
	classify(stage, STATE_POLL, CLASS_REMOTE);
	build(stage);
	assert_true(row_lost(row, &ns));
	assert_int_equal(ns, MS(700));
}

/* What was seen of a wait is kept in the interval in which tracing began late. */
TEST_WITH(test_traced_late, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_DWAIT, SEC(90));
	struct task_raw *raw = scene_add(&stage->scene.samples[0], 5, 5, thread.start_ns);

	raw->now.state = 'D';
	put(stage, &thread);
	take(stage, SEC(101) + MS(700));
	raw = go_on(stage, 1, raw, &thread);
	raw->now.waits.dwait_ns = SEC(2);
	take(stage, SEC(102));
	build(stage);
	assert_null(stage->scene.frame.rows[0].traced);
	assert_int_equal(stage->scene.frame.rows[0].deltas->waited.ns[WAIT_DWAIT], SEC(2));
}

/* A wait for a child is not lost: the child's row tells what keeps that. */
TEST_WITH(test_child_is_not_lost, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_CHILD, SEC(90));
	struct trace_site child = site_of(5, STATE_CHILD);
	struct task_raw *raw = begin(stage, &thread);
	uint64_t ns;

	put(stage, &thread);
	take(stage, SEC(100));
	go_on(stage, 1, raw, &thread);
	put(stage, &thread);
	take(stage, SEC(102));
	build(stage);
	assert_int_equal(stage->scene.frame.rows[0].traced->states.ns[STATE_CHILD], SEC(2));
	assert_true(row_lost(&stage->scene.frame.rows[0], &ns));
	assert_int_equal(ns, 0);
	child.ns = SEC(1);
	child.count = 1;
	trace_reading_site(&stage->reading, 1, &child);
	take(stage, SEC(104));
	classify(stage, STATE_CHILD, CLASS_REMOTE);
	go_on(stage, 2, raw, &thread);
	build_at(stage, 2);
	assert_true(row_lost(&stage->scene.frame.rows[0], &ns));
	assert_int_equal(ns, 0);
}

/* What a row waited uninterruptibly is what was traced, also where no reading met it waiting. */
TEST_WITH(test_dwait, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_POLL, SEC(90));
	struct task_raw *raw = begin(stage, &thread);
	struct trace_site lock = site_of(5, STATE_DWAIT);
	const struct row *row;

	put(stage, &thread);
	take(stage, SEC(100));
	thread.times.ns[STATE_POLL] = SEC(11);
	thread.times.ns[STATE_DWAIT] = MS(300);
	thread.times.since_ns = SEC(101) + MS(300);
	put(stage, &thread);
	raw = go_on(stage, 1, raw, &thread);
	lock.ns = MS(300);
	lock.count = 2;
	lock.wakers[0] = (struct trace_waker){ 812, 1, MS(200), "postgres" };
	lock.wakers[1] = (struct trace_waker){ 9, 1, MS(100), "cat" };
	trace_reading_site(&stage->reading, 1, &lock);
	take(stage, SEC(102));
	build(stage);
	row = &stage->scene.frame.rows[0];
	assert_true(row->valid & VALID_DWAIT);
	assert_int_equal(row->deltas->waited.ns[WAIT_DWAIT], MS(300));
	assert_int_equal(row->deltas->waited.total, MS(300));
	assert_int_equal(row->traced->states.ns[STATE_DWAIT], MS(300));
	assert_int_equal(row->traced->states.ns[STATE_POLL], MS(1700));
	assert_string_equal(row->traced->waker, "812 postgres");
	assert_null(framed(stage, 5, WAIT_DWAIT, true));
	/* In the next interval it polls, and nobody woke it. */
	take(stage, SEC(104));
	go_on(stage, 2, raw, &thread);
	build_at(stage, 2);
	row = &stage->scene.frame.rows[0];
	assert_ptr_equal(row->deltas, &no_deltas);
	assert_true(row->valid & VALID_DWAIT);
	assert_int_equal(row->traced->states.ns[STATE_POLL], SEC(2));
	assert_null(row->traced->waker);
	/* Sums have the members' states. */
	{
		struct deltas deltas = { 0 };
		struct row sum = { .deltas = &deltas };

		row_add(&sum, &deltas, row);
		row_add(&sum, &deltas, row);
		assert_int_equal(sum.traced->states.ns[STATE_POLL], SEC(4));
		assert_int_equal(wait_states_alive(&sum.traced->states), SEC(4));
	}
}

/* Of a process of which switches went unseen nothing is told: it seems to run on. */
TEST_WITH(test_unseen, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_RUN, SEC(90));
	struct task_raw *raw = begin(stage, &thread);

	put(stage, &thread);
	take(stage, SEC(100));
	raw = go_on(stage, 1, raw, &thread);
	raw->counters.run_ns += SEC(2);
	take(stage, SEC(102));
	build(stage);
	assert_non_null(stage->scene.frame.rows[0].traced);
	assert_int_equal(stage->scene.frame.rows[0].traced->states.ns[STATE_RUN], SEC(2));
	/* The scheduler says that it slept. */
	take(stage, SEC(104));
	go_on(stage, 2, raw, &thread);
	build_at(stage, 2);
	assert_null(stage->scene.frame.rows[0].traced);
}

/*
 * Where switches of a process went unseen, its sites may be wrong: how much of a kind no site
 * explains is not known then, but for kinds that have no site.
 */
TEST_WITH(test_hidden, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread sleeper = thread_of(5, 5, STATE_CPU, SEC(90));
	struct traced_thread runner = thread_of(6, 6, STATE_RUN, SEC(90));
	struct trace_site ready = site_of(5, STATE_CPU), queue = site_of(6, STATE_CPU);
	struct task_raw *slept = begin(stage, &sleeper);
	struct task_raw *ran = begin(stage, &runner);

	trace_reading_site(&stage->reading, 3, &ready);
	sleeper.waiter.site = 3;
	sleeper.waiter.generation = 7;
	put(stage, &sleeper);
	put(stage, &runner);
	take(stage, SEC(100));
	/* The kernel booked little of what seems to be a wait that goes on. */
	slept = go_on(stage, 1, slept, &sleeper);
	slept->counters.delay[DELAY_CPU] = (struct delay_sum){ 1, MS(2) };
	/* The other seems to run, and did not. */
	ran = go_on(stage, 1, ran, &runner);
	ran->counters.delay[DELAY_CPU] = (struct delay_sum){ 3, MS(100) };
	ran->counters.delay[DELAY_SWAPIN] = (struct delay_sum){ 1, MS(30) };
	queue.ns = queue.booked_ns = MS(50);
	queue.count = 3;
	trace_reading_site(&stage->reading, 4, &queue);
	put(stage, &sleeper);
	take(stage, SEC(102));
	build(stage);
	assert_true(framed(stage, 5, DELAY_CPU, true)->unknown);
	assert_int_equal(framed(stage, 5, DELAY_CPU, true)->unattributed_ns, 0);
	assert_null(stage->scene.frame.rows[1].traced);
	assert_true(framed(stage, 6, DELAY_CPU, true)->unknown);
	assert_int_equal(framed(stage, 6, DELAY_CPU, true)->unattributed_ns, 0);
	assert_int_equal(framed(stage, 6, DELAY_CPU, true)->ns, 0);
	assert_false(framed(stage, 6, DELAY_SWAPIN, true)->unknown);
	assert_true(framed(stage, 6, DELAY_SWAPIN, true)->unattributed_ns == (int64_t)MS(30));
}

/* Of two processes with one pid each row has its own. */
TEST_WITH(test_reuse, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread first = thread_of(5, 5, STATE_POLL, SEC(90));
	struct traced_thread second = thread_of(5, 5, STATE_TIMER, SEC(101));
	struct task_raw *raw;

	first.start_ns = first.times.process_start_ns = SEC(50);
	put(stage, &first);
	begin(stage, &first);
	take(stage, SEC(100));
	first.ended = 1;
	first.times.ns[STATE_POLL] = SEC(11);
	first.times.since_ns = SEC(101);
	put(stage, &first);
	second.start_ns = second.times.process_start_ns = second.times.born_ns = SEC(101);
	put(stage, &second);
	take(stage, SEC(102));
	tell(scene_add(&stage->scene.samples[1], 5, 5, SEC(101) + MS(3)), &second);
	sample_add_exited(&stage->scene.samples[1], 1);
	raw = stage->scene.samples[1].raw[1];
	*raw = *stage->scene.samples[0].raw[0];
	task_ref(raw->task);
	raw->exited = true;
	raw->read_ns = SEC(101);
	raw->times = NULL;
	tell(raw, &first);
	build(stage);
	assert_int_equal(stage->scene.frame.rows[0].traced->states.ns[STATE_TIMER], SEC(1));
	assert_int_equal(wait_states_alive(&stage->scene.frame.rows[0].traced->states), SEC(1));
	assert_int_equal(stage->scene.frame.rows[1].traced->states.ns[STATE_POLL], SEC(1));
}

/* Idle sites are forgotten, those where somebody waits are not; a process takes its own along. */
TEST_WITH(test_forget, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_IO, SEC(90));
	struct trace_site site = site_of(5, STATE_IO), idle = site_of(5, STATE_POLL);

	site.last_ns = idle.last_ns = SEC(99);
	trace_reading_site(&stage->reading, 3, &site);
	trace_reading_site(&stage->reading, 4, &idle);
	thread.waiter.site = 3;
	thread.waiter.generation = 7;
	put(stage, &thread);
	take(stage, SEC(100));
	traced_sites_forget(&stage->book.sites, 0, forget, stage);
	assert_int_equal(stage->forgotten, 0);
	take(stage, SEC(102));
	traced_sites_forget(&stage->book.sites, SEC(5), forget, stage);
	assert_int_equal(stage->forgotten, 0);
	traced_sites_forget(&stage->book.sites, SEC(1), forget, stage);
	assert_int_equal(stage->forgotten, 4);
	assert_int_equal(stage->book.sites.n, 1);
	thread.ended = 1;
	put(stage, &thread);
	take(stage, SEC(104));
	take(stage, SEC(106));
	assert_int_equal(stage->forgotten, 4);
	take(stage, SEC(108));
	assert_int_equal(stage->forgotten, 3);
	assert_int_equal(stage->book.sites.n, 0);
	/* The slot is another site's now. */
	site.generation = 8;
	site.key.tgid = 9;
	trace_reading_site(&stage->reading, 3, &site);
	take(stage, SEC(110));
	assert_int_equal(stage->book.sites.n, 1);
	site.generation = 9;
	trace_reading_site(&stage->reading, 3, &site);
	take(stage, SEC(112));
	assert_int_equal(stage->book.sites.n, 1);
	assert_int_equal(stage->book.sites.slots[3]->site.id, 4);
}

/* The sites of processes that end. */
struct whole {
	uint64_t ns, count;
	size_t n, sites;
};

static void add_whole(void *arg, pid_t tgid, uint64_t polled_ns, const struct site *sites, size_t n)
{
	struct whole *whole = arg;

	assert_int_equal(tgid, 5);
	assert_int_equal(polled_ns, 0);
	for (size_t i = 0; i < n; i++) {
		whole->ns += sites[i].ns;
		whole->count += sites[i].count;
	}
	whole->n++;
	whole->sites += n;
}

/* A process leaves once, with all that it has done in several intervals. */
TEST_WITH(test_leave, set_up, tear_down)
{
	struct stage *stage = *state;
	struct traced_thread thread = thread_of(5, 5, STATE_RUN, SEC(60));
	struct trace_site site = site_of(5, STATE_IO);
	struct whole whole = { 0 };

	stage->book.leave = add_whole;
	stage->book.arg = &whole;
	put(stage, &thread);
	take(stage, SEC(100));
	site.ns = SEC(1);
	site.count = 2;
	trace_reading_site(&stage->reading, 3, &site);
	take(stage, SEC(102));
	site.ns = SEC(3);
	site.count = 5;
	trace_reading_site(&stage->reading, 3, &site);
	thread.times.ns[STATE_RUN] = SEC(41);
	thread.times.ns[STATE_IO] = SEC(3);
	thread.ended = 1;
	put(stage, &thread);
	take(stage, SEC(104));
	assert_int_equal(whole.n, 0);
	trace_state_leave(&stage->book);
	for (unsigned i = 0; i < 4; i++)
		take(stage, SEC(106 + i));
	assert_int_equal(whole.n, 1);
	assert_int_equal(whole.sites, 1);
	assert_int_equal(whole.ns, SEC(3));
	assert_int_equal(whole.count, 5);
}

/* Puts the links of a site's slot into the reading. */
static void put_links(struct stage *stage, uint32_t slot, const struct trace_link *links, size_t n)
{
	struct trace_links all = { 0 };

	memcpy(all.all, links, n * sizeof(*links));
	trace_reading_links(&stage->reading, slot, &all);
}

/* What wakers did meanwhile: what it grew by, to sites that are still the ones that were meant. */
TEST_WITH(test_links, set_up, tear_down)
{
	struct stage *stage = *state;
	struct trace_site lock = site_of(5, STATE_LOCK), disk = site_of(9, STATE_IO);
	struct trace_link links[] = {
		{ .tgid = 9, .site = 2, .generation = 7, .state = STATE_IO, .ns = MS(300) },
		{ .tgid = 9, .state = STATE_RUN, .ns = MS(100) },
		/* Too little to be told, of a slot that is used for another site, too long ago. */
		{ .tgid = 9, .state = STATE_CPU, .ns = 1 },
		{ .tgid = 9, .site = 2, .generation = 6, .state = STATE_IO, .ns = MS(5) },
		{ .tgid = 9, .state = WAIT_STATES, .ns = MS(50) },
	};
	const struct traced_links *all = &stage->book.links;
	struct traced_thread threads[] = { thread_of(5, 5, STATE_RUN, SEC(90)),
					   thread_of(9, 9, STATE_RUN, SEC(90)) };

	trace_reading_site(&stage->reading, 1, &lock);
	trace_reading_site(&stage->reading, 2, &disk);
	put(stage, &threads[0]);
	put(stage, &threads[1]);
	take(stage, SEC(100));
	lock.count = disk.count = 1;
	lock.ns = disk.ns = MS(400);
	trace_reading_site(&stage->reading, 1, &lock);
	put_links(stage, 1, links, ARRAY_SIZE(links));
	trace_reading_site(&stage->reading, 2, &disk);
	take(stage, SEC(101));
	trace_state_sites(&stage->book);
	assert_int_equal(all->n, 4);
	assert_int_equal(all->all[0].ns, MS(300));
	assert_int_equal(all->all[0].tgid, 9);
	assert_int_equal(all->all[0].state, STATE_IO);
	assert_true(all->all[0].site && all->all[0].to && all->all[0].site != all->all[0].to);
	assert_int_equal(all->all[1].state, STATE_RUN);
	assert_int_equal(all->all[1].to, 0);
	assert_int_equal(all->all[2].state, WAIT_STATES);
	assert_int_equal(all->all[3].to, 0);
	/* The next interval has what it grew by; one that began anew has all of it. */
	links[0].ns += MS(7);
	links[1].ns = MS(3);
	lock.count++;
	lock.ns += MS(10);
	trace_reading_site(&stage->reading, 1, &lock);
	put_links(stage, 1, links, 2);
	take(stage, SEC(102));
	trace_state_sites(&stage->book);
	assert_int_equal(all->n, 2);
	assert_int_equal(all->all[0].ns, MS(7));
	/* Nobody waited at the disk in this interval. */
	assert_int_equal(all->all[0].to, 0);
	assert_int_equal(all->all[1].ns, MS(3));
	take(stage, SEC(103));
	trace_state_sites(&stage->book);
	assert_int_equal(all->n, 0);
}

/* Children of one name share links, which name the site of the last of them. */
TEST_WITH(test_links_of_children, set_up, tear_down)
{
	struct stage *stage = *state;
	struct trace_site parent = site_of(5, STATE_CHILD);
	struct trace_link link = {
		.tgid = 9, .site = 2, .generation = 7, .state = STATE_PIPE, .ns = MS(300)
	};
	struct traced_thread thread = thread_of(5, 5, STATE_RUN, SEC(90));
	const struct traced_links *all = &stage->book.links;

	trace_reading_site(&stage->reading, 1, &parent);
	put(stage, &thread);
	take(stage, SEC(100));
	for (unsigned i = 1; i <= 2; i++) {
		parent.count++;
		parent.ns += MS(300);
		trace_reading_site(&stage->reading, 1, &parent);
		put_links(stage, 1, &link, 1);
		take(stage, SEC(100 + i));
		trace_state_sites(&stage->book);
		assert_int_equal(all->n, 1);
		assert_int_equal(all->all[0].ns, i == 1 ? MS(300) : MS(20));
		link.site = 3;
		link.ns += MS(20);
	}
}
