/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the words of findings. */
#include <stdarg.h>
#include <string.h>

#include "base/util.h"
#include "view/findings_parts.h"

/* The share of a site's time that a waker must have ended to be named: most of it. */
#define WAKER_LEAST 0.5

const struct site *finding_next_site(const struct finder *finder, const struct row *row,
				     const struct site *site)
{
	if (!row->traced)
		return NULL;
	return site_index_next(&finder->findings->sites, row->traced->tgid, row->traced->start_ns,
			       site);
}

/* The same of threads, which have no sites of their own, and without what lies in other sites. */
static const struct site *next_own_site(const struct finder *finder, const struct row *row,
					const struct site *site)
{
	if (finder->info->threads)
		return NULL;
	do
		site = finding_next_site(finder, row, site);
	while (site && (site->unattributed || site->overlaps));
	return site;
}

const struct site *finding_site(const struct finder *finder, const struct row *row,
				enum wait_state state)
{
	const struct site *site = NULL;

	/* Those with more time come first. */
	do
		site = next_own_site(finder, row, site);
	while (site && site->state != state);
	return site;
}

const struct site *finding_site_now(const struct finder *finder, const struct row *row)
{
	const struct site *longest = NULL, *site = NULL;

	while ((site = next_own_site(finder, row, site))) {
		if (!site->waiting || (site->state != STATE_IO && site->state != STATE_DWAIT &&
				       !wait_for_server(site->where)))
			continue;
		if (!longest || site->waiting_ns > longest->waiting_ns)
			longest = site;
	}
	return longest;
}

/* Appends "alpha 1", or a group's name. */
static void put_who(struct finder *finder, const struct row *row)
{
	struct buf *text = &finder->findings->text;
	size_t at;

	if (row->group) {
		buf_puts(text, row->group->label ? row->group->label : "the unknown group");
		return;
	}
	buf_puts(text, row->task->comm);
	at = text->len;
	buf_printf(text, " %d", (int)row->task->key.pid);
	/* The culprit's stays. */
	if (row == finder->finding->row)
		finding_part(finder, at, text->len, 3);
}

void finding_part(struct finder *finder, size_t at, size_t end, unsigned turn)
{
	struct finding *finding = finder->finding;

	if (finding->nparts < FINDING_PARTS)
		finding->parts[finding->nparts++] =
			(struct finding_part){ at - finding->at, end - at, turn };
}

/* Appends a share. */
static void put_percent(struct buf *text, double share)
{
	/* A number that rounds to 10 has no decimal. */
	buf_decimal(text, share, share < 9.95 ? 1 : 0);
	buf_puts(text, " %");
}

/* No wait is longer than the time: what passes it was booked too much. */
static double of_time(double share)
{
	return share < 100 ? share : 100;
}

void finding_say(struct finder *finder, const char *words, ...)
{
	struct buf *text = &finder->findings->text;
	size_t at;
	va_list args;
	double number;

	va_start(args, words);
	for (; *words; words++) {
		if (*words != '%') {
			buf_putc(text, *words);
			continue;
		}
		switch (*++words) {
		case 'w':
			put_who(finder, va_arg(args, const struct row *));
			break;
		case 'p':
			put_percent(text, va_arg(args, double));
			break;
		case 't':
			at = text->len;
			buf_puts(text, " of the time");
			finding_part(finder, at, text->len, 2);
			break;
		case 'd':
			number = (double)va_arg(args, uint64_t) / (double)NSEC_PER_SEC;
			buf_decimal(text, number, number < 9.95 ? 1 : 0);
			buf_puts(text, " s");
			break;
		case 'z':
			buf_printf(text, "%zu", va_arg(args, size_t));
			break;
		case 's':
			buf_puts(text, va_arg(args, const char *));
			break;
		default:
			buf_decimal(text, va_arg(args, double), (unsigned)(*words - '0'));
		}
	}
	va_end(args);
}

/* Whether two rows are of tasks of one service: of the same name, in the same cgroup. */
static bool is_same_service(const struct row *a, const struct row *b)
{
	if (a->group || b->group || strcmp(a->task->comm, b->task->comm) != 0)
		return false;
	if (a->task->cgroup && b->task->cgroup)
		return !strcmp(a->task->cgroup, b->task->cgroup);
	return a->task->cgroup_id == b->task->cgroup_id;
}

/* How many of the noted rows belong to the service of the largest. */
static size_t of_service(const struct most *most)
{
	size_t n = 0;

	for (size_t i = 0; i < most->n && i < NOTED_MAX; i++)
		n += is_same_service(most->noted[i], most->row);
	return n ? n : 1;
}

void finding_put_waits(struct finder *finder, const struct most *most, double share)
{
	const struct row *row = most->row;
	uint32_t threads = finding_threads(finder, row);
	double waiting = share / 100 < threads ? share / 100 : threads;
	size_t n = of_service(most);

	if (n > 1 && threads == 1) {
		finding_say(finder, "%z %s wait up to %p%t", n, row->task->comm, of_time(share));
		return;
	}
	if (threads == 1 || (row->group && share <= 100)) {
		finding_say(finder, "%w waits %p%t", row, of_time(share));
		return;
	}
	finding_say(finder,
		    waiting < 9.95 ? "%1 of %z threads of %w wait" : "%0 of %z threads of %w wait",
		    waiting, (size_t)threads, row);
}

void finding_put_spends(struct finder *finder, const struct row *row, double share)
{
	uint32_t threads = finding_threads(finder, row);

	finding_say(finder, "%w spends %p%s", row, of_time(share <= 100 ? share : share / threads),
		    threads == 1   ? " of the time"
		    : share <= 100 ? " of one thread's time"
				   : " of its threads' time");
}

void finding_put_others(struct finder *finder, size_t n)
{
	size_t at = finder->findings->text.len;

	if (n <= 1)
		return;
	finding_say(finder, " (and %z %s)", n - 1, plural(n - 1, "other", "others"));
	finding_part(finder, at, finder->findings->text.len, 1);
}

void finding_put_other_services(struct finder *finder, const struct most *most)
{
	bool together = finding_threads(finder, most->row) == 1;

	finding_put_others(finder, most->n - (together ? of_service(most) - 1 : 0));
}

void finding_put_idle(struct finder *finder)
{
	size_t at = finder->findings->text.len;

	if (finder->idle < FINDING_IDLE)
		return;
	finding_say(finder, ", while %p of the machine is idle", finder->idle);
	finder->finding->while_idle = true;
	finding_part(finder, at, finder->findings->text.len, 2);
}

/* The current wait of the row's task, if it was read and the finding is not about a site. */
static const struct task_waiting *waiting_of(const struct finder *finder,
					     const struct finding *finding)
{
	return finding->site || !finding->row ? NULL
					      : row_waiting(finder->view.frame, finding->row);
}

/* Appends a target that is no path. Who holds a lock says more than its address. */
static void put_target(struct finder *finder, const char *on, size_t len)
{
	struct buf *text = &finder->findings->text;
	const char *held = memmem(on, len, SITE_HELD_BY, strlen(SITE_HELD_BY));
	size_t at = text->len, before = held ? (size_t)(held - on) : 0;

	buf_puts(text, " on ");
	buf_add(text, on, before);
	if (held)
		finding_part(finder, at, text->len, 3);
	buf_add(text, on + before, len - before);
}

bool finding_put_place(struct finder *finder, struct finding *finding)
{
	const struct task_waiting *waiting = waiting_of(finder, finding);
	const struct site *site = finding->site;
	const char *call = site ? site->syscall : waiting ? waiting->syscall : NULL, *on = NULL;
	struct buf *text = &finder->findings->text;
	size_t len = 0;

	if (site && site->on) {
		on = site->on;
		len = strlen(on);
	} else if (waiting && waiting->on.len) {
		on = waiting->on.data;
		len = waiting->on.len;
	}
	if (call)
		buf_printf(text, " in %s%s", strcmp(call, "page fault") ? "" : "a ", call);
	if (on && *on == '/') {
		/* What is known of its server comes after the path, and gives way first. */
		const char *server = memmem(on, len, " (", 2);
		size_t path = server ? (size_t)(server - on) : len;

		buf_puts(text, call ? " of " : " on ");
		finding->on = text->len - finding->at;
		finding->on_len = path;
		buf_add(text, on, len);
		if (server)
			finding_part(finder, text->len - (len - path), text->len, FINDING_TURNS);
	} else if (on) {
		put_target(finder, on, len);
	}
	return call || on;
}

void finding_put_function(struct finder *finder, const struct finding *finding)
{
	const struct task_waiting *waiting = waiting_of(finder, finding);
	const struct site *site = finding->site;
	const char *where = site ? site->where : NULL, *on = site ? site->on : NULL;
	const char *words;

	if (waiting && waiting->where.len) {
		where = waiting->where.data;
		on = waiting->on.len ? waiting->on.data : NULL;
	}
	words = wait_words(where, on);
	if (where)
		finding_say(finder, " (%s)", words ? words : where);
}

void finding_put_site(struct finder *finder, struct finding *finding, double waited_ns)
{
	const struct site *site = finding->site;
	struct buf *text = &finder->findings->text;
	size_t before = text->len;
	double share = waited_ns > 0 && site ? (double)site->ns * 100.0 / waited_ns : 0;

	if (share < FINDING_SITE || (!site->syscall && !site->on)) {
		finding->site = share < FINDING_SITE ? NULL : site;
		return;
	}
	buf_putc(text, ',');
	/* The clocks of the two differ a little. */
	if (share < 99.5)
		finding_say(finder, " %p of it", share);
	if (!finding_put_place(finder, finding))
		text->len = before;
}

void finding_put_waker(struct finder *finder, const struct site *site)
{
	const struct site_waker *waker = site ? &site->wakers[0] : NULL;

	if (!waker || waker->tgid <= 0 || !waker->name ||
	    (double)waker->ns < (double)site->ns * WAKER_LEAST)
		return;
	finding_say(finder, ", most of it ended by %s %z", waker->name, (size_t)waker->tgid);
}
