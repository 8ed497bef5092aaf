/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/site_class.h"

#include <netinet/in.h>
#include <string.h>

#include "base/util.h"
#include "kernel/syscalls.h"

enum wait_about site_about(const struct trace_site *record)
{
	if (record->key.target == TRACE_THROTTLED)
		return ABOUT_QUOTA;
	if (record->key.target == TRACE_SOCKET)
		return record->protocol == IPPROTO_TCP && !record->peer_port ? ABOUT_REQUESTS
									     : ABOUT_UNKNOWN;
	if (record->key.syscall < 0)
		return ABOUT_EVENTS;
	switch (syscall_classify(record->key.syscall).target) {
	case SYSCALL_PATH:
	case SYSCALL_PATH_AT:
		return ABOUT_FILE;
	case SYSCALL_SIGNAL:
		return ABOUT_EVENTS;
	default:
		return ABOUT_UNKNOWN;
	}
}

void site_classify(struct traced_site *site)
{
	const struct wait_facts facts = { .state = site->site.state,
					  .about = site->about,
					  .where = site->site.where,
					  .on_path = site->site.on && *site->site.on == '/' };

	site->site.class = wait_class_of(&facts);
}

/* Whether who ended waits for completions tells that they were not of a disk. */
static bool is_no_disk(const struct site_waker *waker, pid_t tgid)
{
	static const char *const interrupts[] = { "timer", "hrtimer", "net_tx", "net_rx" };

	for (size_t i = 0; !waker->tgid && i < ARRAY_SIZE(interrupts); i++)
		if (!strcmp(waker->name, interrupts[i]))
			return true;
	/* Its own threads are workers, which do for it what would block. */
	return waker->tgid && waker->tgid != tgid;
}

/* Whether a site is a futex, or a file of events that is read, as an eventfd is. */
static bool is_of_word(const struct trace_key *key)
{
	return key->state == STATE_PARK ||
	       (key->state == STATE_POLL && key->target == TRACE_FILE && key->syscall >= 0 &&
		syscall_classify(key->syscall).state != STATE_POLL);
}

/*
 * What waits for a word or an event are about, by those who ended most of them: a task that neither
 * waited there nor was asked by others to wake has work for it, and a timeout is none.
 */
static enum wait_about about_word(const struct trace_site *record)
{
	static const enum wait_about abouts[RELATIONS] = {
		[RELATION_NONE] = ABOUT_EVENTS,
		[RELATION_TURN] = ABOUT_TURN,
		[RELATION_ASKED] = ABOUT_PEERS,
	};
	unsigned most = RELATION_NONE;

	for (unsigned i = 1; i < RELATIONS; i++)
		if (record->relations[i] > record->relations[most])
			most = i;
	return record->count ? abouts[most] : ABOUT_UNKNOWN;
}

void site_judge_wakers(struct traced_site *site)
{
	const struct site_waker *waker = &site->site.wakers[0];

	if (is_of_word(&site->now.key)) {
		site->about = about_word(&site->now);
		site_classify(site);
		return;
	}
	if (!syscall_completes(site->now.key.syscall) || !waker->name)
		return;
	site->about = is_no_disk(waker, site->site.tgid) ? ABOUT_IDLE_RING : ABOUT_DISK_RING;
	/* From the next interval on: this one's figures are in use by now. */
	site->disk = site->about == ABOUT_DISK_RING;
	site_classify(site);
}
