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

void site_judge_wakers(struct traced_site *site)
{
	const struct site_waker *waker = &site->site.wakers[0];

	if (!syscall_completes(site->now.key.syscall) || !waker->name)
		return;
	site->about = is_no_disk(waker, site->site.tgid) ? ABOUT_IDLE_RING : ABOUT_DISK_RING;
	/* From the next interval on: this one's figures are in use by now. */
	site->disk = site->about == ABOUT_DISK_RING;
	site_classify(site);
}
