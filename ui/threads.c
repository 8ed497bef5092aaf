/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

int threads_tick(struct threads *threads, unsigned needs)
{
	int err;

	if (!threads->sampler)
		return 0;
	sampler_want(threads->sampler, needs);
	err = sampler_tick(threads->sampler, 0, &threads->frame);
	if (err)
		threads_close(threads);
	return err;
}

int threads_set(struct threads *threads, const struct sampler_config *like, const pid_t *pids,
		size_t n, unsigned needs)
{
	int err;

	if (n == threads->n && (!n || !memcmp(pids, threads->pids, n * sizeof(*pids))))
		return 0;
	threads_close(threads);
	if (!n)
		return 0;
	threads->pids = xreallocarray(NULL, n, sizeof(*pids));
	memcpy(threads->pids, pids, n * sizeof(*pids));
	threads->n = n;
	threads->config = *like;
	threads->config.threads = true;
	threads->config.pids = threads->pids;
	threads->config.npids = n;
	/* The end of all tasks is listened for already. */
	threads->config.exits = false;
	/* They are few: no key waits for them. */
	threads->config.between = NULL;
	err = sampler_open(&threads->sampler, &threads->config);
	if (err) {
		threads->sampler = NULL;
		threads_close(threads);
		return err;
	}
	return threads_tick(threads, needs);
}

void threads_close(struct threads *threads)
{
	sampler_close(threads->sampler);
	free(threads->pids);
	*threads = (struct threads){ 0 };
}
