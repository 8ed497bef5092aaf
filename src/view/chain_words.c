/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/chain_words.h"

#include <string.h>

#include "base/util.h"

/* Appends a raw text. */
static void put_raw(struct buf *out, const char *raw, enum text_charset charset)
{
	text_escape(out, raw, strlen(raw), charset);
}

/* Appends the name of a task and its number, as far as they are known. */
static void put_task(struct buf *out, const char *name, pid_t tgid, enum text_charset charset)
{
	if (name)
		put_raw(out, name, charset);
	if (tgid > 0)
		buf_printf(out, "%s%d", name ? " " : "", (int)tgid);
}

/* Appends a wait for a CPU: behind whom. */
static void put_queue(struct buf *out, const struct site *site, enum text_charset charset)
{
	if (site && site->on && !strcmp(site->on, SITE_THROTTLED)) {
		buf_puts(out, "throttled by its group's quota");
		return;
	}
	buf_puts(out, "run queue");
	if (!site || !site->on)
		return;
	buf_puts(out, " behind ");
	put_raw(out, site->on, charset);
}

void chain_put_site(struct buf *out, const struct site *site, enum text_charset charset)
{
	const char *words;

	if (site->state == STATE_CPU) {
		put_queue(out, site, charset);
		return;
	}
	if (site->syscall)
		put_raw(out, site->syscall, charset);
	else
		buf_puts(out,
			 site->state == STATE_IO ? "block I/O" : wait_state_table[site->state].id);
	if (site->on || (!site->syscall && site->where)) {
		buf_puts(out, site->on ? " " : " in ");
		put_raw(out, site->on ? site->on : site->where, charset);
	}
	words = site->state == STATE_STOP ? "stopped" : wait_words(site->where, site->on);
	if (words)
		buf_printf(out, " (%s)", words);
}

void chain_put_part(struct buf *out, const struct chain_part *part, enum text_charset charset)
{
	if (part->state == STATE_RUN)
		buf_puts(out, "ran");
	else if (part->state == STATE_CPU)
		put_queue(out, part->site, charset);
	else if (part->site)
		chain_put_site(out, part->site, charset);
	else
		buf_puts(out, wait_state_table[part->state].id);
}

void chain_put_waker(struct buf *out, const struct chain_step *step, enum text_charset charset)
{
	const struct site_waker *waker = &step->waker;

	put_task(out, waker->name, waker->tgid, charset);
	if (!waker->count)
		buf_puts(out, step->of->state == STATE_CHILD ? " has not ended" : " holds it");
	else
		buf_printf(out, " %s %llu %s", step->of->state == STATE_LOCK ? "released" : "ended",
			   (unsigned long long)waker->count, plural(waker->count, "wait", "waits"));
}

/* Appends a wait of a task without any other's help. */
static void put_own(struct buf *out, const char *what, const struct chain_root *root,
		    enum text_charset charset)
{
	buf_puts(out, what);
	if (root->tgid > 0 || root->name) {
		buf_puts(out, " of ");
		put_task(out, root->name, root->tgid, charset);
	}
	if (root->site) {
		buf_puts(out, ": ");
		chain_put_site(out, root->site, charset);
	}
}

void chain_put_root(struct buf *out, const struct chain_root *root, enum text_charset charset)
{
	switch (root->kind) {
	case CHAIN_RUN:
		put_task(out, root->name, root->tgid, charset);
		buf_puts(out, " ran");
		break;
	case CHAIN_QUEUE:
		put_queue(out, root->site, charset);
		break;
	case CHAIN_QUOTA:
		buf_puts(out, "quota of the group of ");
		put_task(out, root->name, root->tgid, charset);
		break;
	case CHAIN_DISK:
		put_own(out, "disk", root, charset);
		break;
	case CHAIN_PEER:
		put_own(out, "remote peer", root, charset);
		break;
	case CHAIN_TIMER:
		put_own(out, "timer", root, charset);
		break;
	case CHAIN_INTERRUPT:
		buf_puts(out, "interrupt ");
		put_task(out, root->name, 0, charset);
		break;
	case CHAIN_CIRCLE:
		put_own(out, "wait for each other", root, charset);
		break;
	case CHAIN_DEADLOCK:
		put_own(out, "deadlock", root, charset);
		break;
	case CHAIN_GOES_ON:
		put_own(out,
			root->site && root->site->waiting ? "wait in progress"
							  : "wait with an unknown waker",
			root, charset);
		break;
	default:
		buf_puts(out, "unexplained");
		break;
	}
}
