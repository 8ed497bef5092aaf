// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits in state D that no sample meets, by what the scheduler adds up: kernel.sched_schedstats. */
#include "tests/lib/guard.h"
#include "tests/lib/parse.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

#define SWITCH "/proc/sys/kernel/sched_schedstats"

#define WAITS 10
#define WAIT_US 120000
#define GAP_US 60000
#define SAMPLES_TAKEN 8

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* Waits for a child of vfork(), which does so in state D. How long it took. */
static uint64_t wait_once(void)
{
	uint64_t before_ns = clock_ns(CLOCK_MONOTONIC), after_ns;
	pid_t pid = vfork();

	if (!pid) {
		usleep(WAIT_US);
		_exit(0);
	}
	after_ns = clock_ns(CLOCK_MONOTONIC);
	waitpid(pid, NULL, 0);
	return after_ns - before_ns;
}
#pragma GCC diagnostic pop

/* Waits some times when it is told to, and tells how long that took. */
_Noreturn static void wait_often(int go, int told)
{
	uint64_t sum_ns = 0;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	for (unsigned i = 0; i < WAITS; i++) {
		usleep(GAP_US);
		sum_ns += wait_once();
	}
	if (write(told, &sum_ns, sizeof(sum_ns)) != sizeof(sum_ns))
		_exit(1);
	for (;;)
		pause();
}

/* All of them are there, to some hundredths: a wait ends a little before who waited runs. */
E2E_TEST(test_dwait)
{
	uint64_t own_ns = 0, shown_ns = 0;
	struct e2e_proc p;
	int go[2], told[2];
	pid_t pid;

	e2e_require_bpf();
	if (access(SWITCH, F_OK))
		e2e_skip("the kernel does not add up sleep (no kernel.sched_schedstats)");
	e2e_need(guard_switch(SWITCH, "1"), "kernel.sched_schedstats is not for us to set");
	assert_int_equal(pipe(go) | pipe(told), 0);
	pid = fork();
	if (!pid)
		wait_often(go[0], told[1]);
	guard_push_child(pid);
	e2e_start_stalltop(
		&p, NULL,
		e2e_format("--source bpf -b -o json -d 0.5 -n %d -p %d", SAMPLES_TAKEN, (int)pid));
	for (unsigned i = 0; i < SAMPLES_TAKEN; i++) {
		json_t *sample = parse_json_line(e2e_line(&p, 60)), *waited, *dwait;

		if (!i)
			assert_int_equal(write(go[1], "g", 1), 1);
		waited = json_object_get(task_must(sample, pid), "waited");
		dwait = json_object_get(waited, "dwait");
		assert_true(json_is_integer(dwait));
		shown_ns += (uint64_t)json_integer_value(dwait);
	}
	assert_int_equal(read(told[0], &own_ns, sizeof(own_ns)), sizeof(own_ns));
	printf("# %.1f ms shown of %.1f\n", (double)shown_ns / 1e6, (double)own_ns / 1e6);
	assert_true(own_ns >= WAITS * UINT64_C(1000) * WAIT_US);
	assert_true(shown_ns <= own_ns + own_ns / 50 && shown_ns >= own_ns - own_ns / 10);
	for (unsigned i = 0; i < 2; i++) {
		close(go[i]);
		close(told[i]);
	}
}
