/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/sites/view_site.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ui/sites/site_page.h"

/* A line as it was seen last: its sum, and the site if it was one only. */
struct seen_line {
	struct site_line line;
	const struct site *site; /* the line's sum */
	uint64_t interval_ns; /* of the frame that had it; 0: none was seen */
	struct buf texts[4 + SITE_WAKERS]; /* the sum's */
};

struct site_view {
	struct site_list *list; /* of the view below */
	uint64_t id;
	struct seen_line seen;
	struct site_page page;
	struct buf title;
};

/* Keeps a text of a frame. */
static void keep_text(struct buf *kept, const char **text)
{
	kept->len = 0;
	if (!*text)
		return;
	buf_puts(kept, *text);
	*text = buf_cstr(kept);
}

/* Keeps a line for when nothing is waited there any more. */
static void keep_line(struct seen_line *seen, const struct site_line *line,
		      const struct trace_frame *trace)
{
	struct site *sum = &seen->line.sum;
	const char **texts[] = { &sum->comm, &sum->syscall, &sum->on, &sum->where };

	seen->line = *line;
	seen->site = sum;
	seen->line.sites = &seen->site;
	seen->line.n = line->n == 1;
	seen->interval_ns = trace->interval_ns;
	sum->waiting = 0;
	sum->waiting_ns = 0;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		keep_text(&seen->texts[i], texts[i]);
	for (size_t i = 0; i < SITE_WAKERS; i++)
		keep_text(&seen->texts[ARRAY_SIZE(texts) + i], &sum->wakers[i].name);
}

/* Whether two texts are the same, or both not known. */
static bool are_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/*
 * The line of the page. A site that was forgotten while nothing waited there comes back with
 * another id: so its contents are compared. NULL: none.
 */
static const struct site_line *find_line(struct site_view *view)
{
	const struct site_lines *sites = &view->list->sites;
	const struct site_line *line = site_lines_find(sites, view->id);
	const struct site *was = &view->seen.line.sum;

	for (size_t i = 0; !line && view->seen.interval_ns && i < sites->n; i++) {
		const struct site_line *other = &sites->lines[i];
		const struct site *sum = &other->sum;

		if (view->list->by != SITES_BY_SITE || sum->state != was->state ||
		    sum->tgid != was->tgid || sum->start_ns != was->start_ns ||
		    sum->kind != was->kind || sum->unattributed != was->unattributed ||
		    sum->overlaps != was->overlaps || !are_same(sum->syscall, was->syscall) ||
		    !are_same(sum->on, was->on) || !are_same(sum->where, was->where))
			continue;
		line = other;
		view->id = line->id;
	}
	return line;
}

/* Names the line: its state, system call, target and function, as far as they are one. */
static void take_site_title(struct site_view *view, const struct ui *ui,
			    const struct site_line *line)
{
	const char *const texts[] = { site_line_state(line), line->sum.syscall, line->sum.on,
				      line->sum.where };
	struct buf *title = &view->title;

	title->len = 0;
	buf_puts(title, "waits");
	if (line->sum.comm) {
		buf_puts(title, " of ");
		ui_escape(ui, title, line->sum.comm);
		if (line->sum.tgid > 0)
			buf_printf(title, " %d", (int)line->sum.tgid);
	}
	buf_putc(title, ':');
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!texts[i])
			continue;
		buf_putc(title, ' ');
		ui_escape(ui, title, texts[i]);
	}
	if (line->sum.unattributed)
		buf_puts(title, " that no site explains");
}

/* Whether something waited there in the interval: the kernel may book a wait after that. */
static bool has_waits(const struct site *sum)
{
	return sum->unattributed || sum->count || sum->ns || sum->waiting;
}

/* Draws the whole view. */
static void site_draw(struct ui *ui, void *state, struct list *list, int height)
{
	struct site_view *view = state;
	const struct site_line *line = find_line(view);
	const struct trace_frame *trace = ui->frame->info->trace;
	struct seen_line *seen = &view->seen;
	struct pager *pager = &view->page.pager;
	uint64_t seen_ns = 0;

	if (!trace)
		seen->interval_ns = 0;
	if (line)
		take_site_title(view, ui, line);
	if (line && trace && has_waits(&line->sum)) {
		keep_line(seen, line, trace);
	} else if (seen->interval_ns) {
		line = &seen->line;
		seen_ns = seen->interval_ns;
	}
	if (height > 0)
		term_put(&ui->term, 0, 0, ui->term.columns, view->title.data, view->title.len,
			 STYLE_HEAD);
	list->plain = true;
	pager_count(pager, &ui->term);
	site_page_write(&view->page, view->list, line, seen_ns, ui);
	list_size(list, pager->line, height > 1 ? (size_t)height - 1 : 0);
	pager_draw(pager, list, 1);
	site_page_write(&view->page, view->list, line, seen_ns, ui);
}

/* The page shows what is traced. */
static bool site_traces(UNUSED struct ui *ui, UNUSED void *state)
{
	return true;
}

/* Frees the state. */
static void site_close(UNUSED struct ui *ui, void *state)
{
	struct site_view *view = state;

	for (size_t i = 0; i < ARRAY_SIZE(view->seen.texts); i++)
		buf_free(&view->seen.texts[i]);
	site_page_free(&view->page);
	buf_free(&view->title);
	free(view);
}

static const struct view_ops view_site = {
	.name = "site",
	.where = WHERE_SITE,
	.traces = site_traces,
	.draw = site_draw,
	.close = site_close,
};

unsigned view_site_open(struct ui *ui, struct site_list *list, uint64_t id)
{
	struct site_view *view = xcalloc(1, sizeof(*view));

	view->list = list;
	view->id = id;
	ui_push(ui, &view_site, view);
	return REACT_REDRAW;
}
