/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/view_site.h"

#include <stdlib.h>

#include "base/util.h"
#include "ui/site_page.h"

struct site_view {
	struct site_list *list; /* of the view below */
	uint64_t id;
	struct site_page page;
	struct buf title;
};

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

/* Draws the whole view. */
static void site_draw(struct ui *ui, void *state, struct list *list, int height)
{
	struct site_view *view = state;
	const struct site_line *line = site_lines_find(&view->list->sites, view->id);
	struct pager *pager = &view->page.pager;

	if (line)
		take_site_title(view, ui, line);
	if (height > 0)
		term_put(&ui->term, 0, 0, ui->term.columns, view->title.data, view->title.len,
			 STYLE_HEAD);
	list->plain = true;
	pager_count(pager, &ui->term);
	site_page_write(&view->page, view->list, line, ui);
	list_size(list, pager->line, height > 1 ? (size_t)height - 1 : 0);
	pager_draw(pager, list, 1);
	site_page_write(&view->page, view->list, line, ui);
}

/* The page shows what is traced. */
static bool site_traces(struct ui *ui, void *state)
{
	(void)ui;
	(void)state;
	return true;
}

/* Frees the state. */
static void site_close(struct ui *ui, void *state)
{
	struct site_view *view = state;

	(void)ui;
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
