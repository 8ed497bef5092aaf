// SPDX-License-Identifier: GPL-2.0-or-later
/* What an hour of a usual machine takes on the disk: 1,000 tasks, 30 active, a sample each second.
 */
#include "tests/lib/test.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/util.h"
#include "history/record.h"
#include "history/record_file.h"
#include "tests/lib/scratch.h"

#define TASKS 1000
#define ACTIVE 30
#define SECONDS 3600
#define SEGMENT "stalltop-20261122T100000Z-000.db"
#define MB 1e6

static unsigned seed = 1;

/* A number below another. */
static uint64_t below(uint64_t most)
{
	seed = seed * 1103515245 + 12345;
	return (uint64_t)(seed >> 8) * most >> 24;
}

/* A length of time as they are: short ones are as frequent as long ones, by their number of bits.
 */
static uint64_t some_time(uint64_t least, unsigned doublings)
{
	uint64_t base = least << below(doublings);

	return base + below(base);
}

/* Makes the tasks as they are at first. */
static void begin_task(struct task_raw *raw, pid_t pid)
{
	char comm[16];

	raw->task = task_new((struct task_key){ pid, 5000000000 + (uint64_t)pid * 1000 }, pid);
	task_set_user(raw->task, shared_text("someone"));
	snprintf(comm, sizeof(comm), "task-%d", (int)pid % 50);
	task_set_comm(raw->task, comm, strlen(comm));
	raw->task->command = xstrdup(scratch_format("/usr/bin/%s --with some", comm));
	raw->single = true;
	raw->counters.valid = DELAY_BOTH(DELAY_ALL) | VALID_RUN | VALID_TICK;
	raw->now = (struct task_now){ .state = 'S', .exact = true, .threads = 1 };
	raw->counters.run_ns = some_time(1000000, 12);
	raw->counters.life_ns = 3600 * NSEC_PER_SEC;
	raw->counters.delay[DELAY_CPU] = (struct delay_sum){ 100, some_time(1000000, 9) };
	raw->counters.delay[DELAY_BLKIO] = (struct delay_sum){ 10, some_time(1000000, 9) };
}

/* What an active task does: it ran and waited for a CPU, each fourth for a disk, too. */
static void act(struct task_raw *raw)
{
	raw->counters.run_ns += some_time(50000, 9);
	raw->counters.user_ns += below(4) ? 0 : 4000000;
	raw->counters.system_ns += below(8) ? 0 : 4000000;
	raw->counters.delay[DELAY_CPU].count += 1 + below(40);
	raw->counters.delay[DELAY_CPU].ns += some_time(20000, 9);
	raw->now.state = below(12) ? 'S' : 'R';
	if (below(4))
		return;
	raw->counters.delay[DELAY_BLKIO].count += 1 + below(8);
	raw->counters.delay[DELAY_BLKIO].ns += some_time(200000, 8);
}

/* Makes the next sample. Most of those that are active were so before. */
static void next_sample(struct sample *cur, const struct sample *prev, unsigned turn)
{
	sample_reset(cur);
	cur->begin_ns = (5000 + (uint64_t)turn) * NSEC_PER_SEC + below(200000);
	cur->end_ns = cur->begin_ns + 400000 + below(200000);
	cur->real_ns = UINT64_C(1795269750) * NSEC_PER_SEC + cur->begin_ns + below(1000);
	for (pid_t i = 0; i < TASKS; i++) {
		pid_t pid = 1000 + i;
		struct task_raw *raw = sample_add(cur, pid, pid);

		if (!prev) {
			begin_task(raw, pid);
			raw->read_ns = cur->begin_ns + 100000;
			continue;
		}
		*raw = *prev->raw[i];
		task_ref(raw->task);
	}
	if (!prev)
		return;
	sample_mark(cur, 0);
	cur->stable[1] = cur->n;
	memset(cur->marks, MARK_UNCHANGED, cur->n);
	for (unsigned n = 0; n < ACTIVE; n++) {
		size_t i = below(10) ? n * 3 : below(TASKS);
		struct task_raw *raw = cur->raw[i];
		uint64_t read_ns = cur->begin_ns + 100000 + i * 300 + below(200);

		cur->marks[i] = 0;
		raw->counters.life_ns += read_ns - raw->read_ns;
		raw->read_ns = read_ns;
		act(raw);
	}
}

/* What the machine has of itself. */
static void next_system(struct system_sample *system, unsigned turn)
{
	*system = (struct system_sample){ .cpu_valid = true,
					  .cpus = 4,
					  .load_valid = true,
					  .memory_valid = true,
					  .uptime_valid = true,
					  .memory_total = 8000000,
					  .swap_total = 0 };
	system->pressure.read_ns = (5000 + (uint64_t)turn) * NSEC_PER_SEC + 300000 + below(100000);
	system->uptime = 5000.5 + turn + (double)below(1000000) / 1e9;
	system->memory_used = 3000000 + below(100000);
	for (unsigned s = 0; s < CPU_STATES; s++)
		system->cpu_ns[s] = (turn * UINT64_C(30) + below(20)) * 10000000;
	for (unsigned i = 0; i < 3; i++)
		system->load[i] = (double)(100 + turn / 5) / 100;
	for (unsigned r = PSI_CPU; r <= PSI_IO; r++) {
		system->pressure.psi[r].some = (struct psi_line){ true, 100, 90, 80, 5000 };
		system->pressure.psi[r].full = (struct psi_line){ true, 0, 0, 0, 4000 };
	}
	system->pressure.psi[PSI_CPU].some =
		(struct psi_line){ true, (uint32_t)below(900), 800 + turn / 60, 700,
				   turn * UINT64_C(20000) + below(9000) };
	system->pressure.psi[PSI_IO].some = (struct psi_line){ true, (uint32_t)(turn / 4 % 90), 10,
							       9, turn / 2 * UINT64_C(2000) };
}

/* How large a file is. */
static double size_of(const char *path)
{
	struct stat stat_of;

	assert_int_equal(stat(path, &stat_of), 0);
	return (double)stat_of.st_size;
}

/* Records an hour. */
static void record_hour(struct record_file *file)
{
	struct record_state *state = record_open();
	struct buf bytes = { 0 };
	struct sample samples[3] = { 0 };
	struct system_sample systems[2];
	struct clocks clocks = { 0 };
	struct frame frame = { 0 };
	struct frame_info info = { 0 };
	const struct frame_options options = { 0 };

	for (unsigned turn = 0; turn < SECONDS; turn++) {
		struct sample *cur = &samples[turn % 2], *prev = &samples[(turn + 1) % 2];
		struct record_entry entry;
		bool key;

		next_sample(cur, turn ? prev : NULL, turn);
		next_system(&systems[turn % 2], turn);
		frame_build(&frame, &info, turn ? prev : NULL, cur, &options);
		info.system = &systems[turn % 2];
		info.clocks = &clocks;
		info.head.source = "bpf";
		info.head.exits = info.head.lost = 0;
		info.head.self = 0.1 + (double)below(1000000) / 1e8;
		info.head.account =
			(struct account){ .valid = true,
					  .machine_ns = 4 * info.interval_ns,
					  .run_ns = below(1000000000),
					  .idle_ns = below(300) * 10000000,
					  .unattributed_ns = (int64_t)below(1000000000) };
		key = record_is_due(state);
		bytes.len = 0;
		record_encode(state, &frame, NULL, &bytes);
		entry = record_entry_of(&frame, key, 0);
		assert_int_equal(record_file_put(file, &entry, bytes.data, bytes.len), 0);
	}
	record_close(state);
	buf_free(&bytes);
	for (unsigned i = 0; i < 2; i++)
		sample_free(&samples[i]);
	frame_free(&frame);
}

SCRATCH_TEST(test_hour)
{
	const char *path = scratch_path(SEGMENT);
	uint64_t began = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	double live, journal, closed;
	struct record_file *file;

	assert_int_equal(record_file_create(&file, path, "0"), 0);
	record_hour(file);
	live = size_of(path);
	journal = size_of(scratch_path(SEGMENT "-wal"));
	record_file_close(file);
	closed = size_of(path);
	print_message(
		"# live %.2f MB and a journal of %.2f, closed %.2f; %.0f us of CPU time a sample\n",
		live / MB, journal / MB, closed / MB,
		(double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began) / 1e3 / SECONDS);
	assert_true(live + journal <= 8 * MB);
}
