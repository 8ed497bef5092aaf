/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/delayacct.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"

/* Bounds of is_unaccounted(): a small program takes 1 to 2 ms to start, and counts 20 and more. */
#define ENOUGH_RUN (5 * NSEC_PER_MSEC)

/* Whether the kernel's command line has the word. */
static bool boot_parameter(int procfd, const char *word)
{
	char line[4096];
	int n = file_read(procfd, "cmdline", line, sizeof(line) - 1);
	char *rest = line, *token;

	if (n < 0)
		return false;
	line[n] = '\0';
	while ((token = strsep(&rest, " \n")))
		if (!strcmp(token, word))
			return true;
	return false;
}

void delayacct_open(struct delayacct *acct, int procfd, uint64_t floor_ns)
{
	*acct = (struct delayacct){ .state = DELAYACCT_UNKNOWN,
				    .since_ns = UINT64_MAX,
				    .floor_ns = floor_ns };
	acct->fd = file_open(procfd, DELAYACCT_SYSCTL, 0);
	/* Before 5.14 it was on unless booted with nodelayacct; since then only if asked for. */
	if (acct->fd == -ENOENT)
		acct->state = boot_parameter(procfd, "nodelayacct") ? DELAYACCT_OFF : DELAYACCT_ON;
	if (acct->fd == -ENOENT ? acct->state == DELAYACCT_ON : boot_parameter(procfd, "delayacct"))
		acct->since_ns = 0;
	delayacct_read(acct);
	acct->toggled = false;
}

void delayacct_read(struct delayacct *acct)
{
	enum delayacct_state state = DELAYACCT_UNKNOWN;
	char text[8];

	if (acct->fd < 0)
		return;
	if (file_pread(acct->fd, text, sizeof(text)) > 0 && (text[0] == '0' || text[0] == '1'))
		state = text[0] == '1' ? DELAYACCT_ON : DELAYACCT_OFF;
	acct->toggled = state != acct->state;
	if (acct->toggled && acct->state == DELAYACCT_OFF && state == DELAYACCT_ON) {
		acct->floor_ns = clock_ns(CLOCK_MONOTONIC);
		acct->since_ns = acct->floor_ns;
	}
	acct->state = state;
}

/*
 * Whether the task shows that it is accounted. Delays in the sum over a process's threads may be a
 * younger thread's, which tells nothing of the others.
 */
static bool is_accounted(const struct task_raw *raw)
{
	return raw->task->accounted || (raw->single && counters_booked(&raw->counters));
}

/*
 * Whether the task shows that it is not accounted. A process that ran for a few ms has written to
 * pages that were shared with its parent or its file, so wpcopy has counted by then; a kernel
 * thread (a child of kthreadd, 2) has no such pages.
 */
static bool is_unaccounted(const struct task_raw *raw)
{
	return raw->pid == raw->tgid && raw->counters.valid & DELAY_BIT(DELAY_WPCOPY) &&
	       raw->counters.run_ns > ENOUGH_RUN && raw->pid != 2 && raw->task->ppid != 2 &&
	       !counters_booked(&raw->counters);
}

/* Learns from a sample since when tasks are accounted, and whether irq is. */
static void learn(struct delayacct *acct, const struct sample *sample)
{
	for (size_t i = 0; i < sample->n + sample->left; i++) {
		const struct task_raw *raw = sample->raw[i];
		uint64_t start;

		if (sample_unchanged(sample, i))
			continue;
		start = raw->task->key.start_ns;
		acct->irq_seen |= raw->counters.delay[DELAY_IRQ].count != 0;
		/* Accounting since boot is trusted; else it may have been off in between. */
		if (acct->since_ns && acct->state == DELAYACCT_ON && start >= acct->floor_ns &&
		    is_unaccounted(raw))
			acct->floor_ns = start + 1;
	}
	if (acct->since_ns && acct->since_ns < acct->floor_ns)
		acct->since_ns = UINT64_MAX;
	for (size_t i = 0; i < sample->n + sample->left; i++) {
		const struct task_raw *raw = sample->raw[i];
		uint64_t start;

		if (sample_unchanged(sample, i))
			continue;
		start = raw->task->key.start_ns;
		if (start >= acct->floor_ns && start < acct->since_ns && is_accounted(raw))
			acct->since_ns = start;
	}
}

size_t delayacct_mask(struct delayacct *acct, struct sample *sample)
{
	uint32_t irq;
	size_t older = 0;

	learn(acct, sample);
	irq = acct->irq_seen ? 0 : DELAY_BIT(DELAY_IRQ);
	for (size_t i = 0; i < sample->n + sample->left; i++) {
		struct task_raw *raw = sample->raw[i];
		bool unaccounted = sample_unaccounted(sample, i);

		older += unaccounted && acct->state != DELAYACCT_OFF;
		if (sample_unchanged(sample, i))
			continue;
		counters_mask(&raw->counters, irq);
		if (acct->state == DELAYACCT_OFF || unaccounted) {
			counters_mask(&raw->counters, DELAYACCT_KINDS);
		} else if (sample_tells(sample, i)) {
			continue;
		} else if (raw->task->key.start_ns < acct->since_ns && !is_accounted(raw)) {
			counters_mask(&raw->counters, DELAYACCT_KINDS);
			older++;
		}
	}
	return older;
}

int delayacct_set(int procfd, bool on)
{
	int fd = file_open(procfd, DELAYACCT_SYSCTL, O_WRONLY), err = 0;

	if (fd < 0)
		return fd;
	if (write(fd, on ? "1" : "0", 1) != 1)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

void delayacct_close(struct delayacct *acct)
{
	file_close(acct->fd);
	acct->fd = -1;
}
