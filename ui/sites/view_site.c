/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/sites/view_site.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ui/table/site_list.h"
#include "ui/term/pager.h"
#include "view/stack_tree.h"

/* Writes the page of one line of sites. */

/* The page's memory, reused from drawing to drawing. */
struct site_page {
	struct pager pager;
	struct site_table table; /* of the sites in the line */
	struct stack_tree stacks;
	bool folded; /* without callers */
	struct buf text;
};

/* Cells of a bucket's bounds, count and share; its bar gets the rest. */
#define BOUND_CELLS 8
#define BUCKET_CELLS (2 * BOUND_CELLS + 3)
#define COUNT_CELLS 8
#define SHARE_CELLS 8

/* Minimum cells for bars. */
#define BAR_LEAST 4

/* Minimum share of the time, in percent, for which a task is named. */
#define NAMED_LEAST 0.1

/* Writes `text` as a line of its own, and clears it. */
static void put_page_line(struct site_page *page, enum style style)
{
	pager_put(&page->pager, 0, page->pager.width, page->text.data, page->text.len, style);
	page->text.len = 0;
	page->pager.line++;
}

/* Appends a time with a suitable unit. */
static void append_time(struct buf *out, double us)
{
	if (us < 1000)
		buf_decimal(out, us, us < 10 ? 1 : 0);
	else if (us < 1e6)
		buf_decimal(out, us / 1e3, us < 1e5 ? 1 : 0);
	else
		buf_decimal(out, us / 1e6, us < 1e8 ? 1 : 0);
	buf_puts(out, us < 1000 ? " us" : us < 1e6 ? " ms" : " s");
}

/* Appends a time given in ns in the same way. */
static void append_ns(struct buf *out, uint64_t ns)
{
	append_time(out, (double)ns / (double)NSEC_PER_USEC);
}

/* Prints a text with a name, if known. */
static void put_known_text(struct site_page *page, const char *name, const char *text)
{
	if (text)
		pager_long(&page->pager, name, text, strlen(text));
}

/* Writes the kind of the waits. */
static void write_what(struct site_page *page, const struct site_line *line)
{
	const struct site *sum = &line->sum;
	struct buf *text = &page->text;

	if (sum->overlaps)
		buf_printf(text, "%s: overlaps other sites and run time; in no sum",
			   sum->kind >= 0 ? site_line_state(line) : "it");
	else if (sum->unattributed)
		buf_printf(text, "%s not attributed to a site", site_line_state(line));
	else if (line->one_state)
		buf_printf(text, "%s: %s", wait_state_table[sum->state].id,
			   wait_state_table[sum->state].help);
	if (text->len)
		put_page_line(page, STYLE_NORMAL);
	put_known_text(page, "system call", sum->syscall);
	put_known_text(page, sum->state == STATE_CPU && line->one_state ? "behind" : "on", sum->on);
	put_known_text(page, "function", sum->where);
}

/* Writes the amount of waiting. */
static void write_waited(struct site_page *page, const struct site_line *line, uint64_t interval_ns)
{
	const struct site *sum = &line->sum;
	uint64_t ns = (uint64_t)site_line_ns(line);
	struct buf *text = &page->text;

	if (sum->unknown) {
		buf_puts(text, "unknown: its context switches were not seen");
		put_page_line(page, STYLE_NORMAL);
		return;
	}
	append_ns(text, ns);
	if (interval_ns) {
		buf_puts(text, ", ");
		buf_decimal(text, (double)ns * 100.0 / (double)interval_ns, 1);
		buf_puts(text, " % of the interval");
	}
	if (sum->unattributed) {
		put_page_line(page, STYLE_NORMAL);
		return;
	}
	buf_printf(text, ", %llu %s", (unsigned long long)sum->count,
		   plural(sum->count, "wait", "waits"));
	if (sum->count) {
		buf_puts(text, ", average ");
		append_ns(text, sum->ns / sum->count);
	}
	if (sum->max_ns) {
		buf_puts(text, ", longest ");
		append_ns(text, sum->max_ns);
	}
	put_page_line(page, STYLE_NORMAL);
	if (sum->kind >= 0 && sum->kind < DELAY_KINDS && !sum->overlaps) {
		buf_puts(text, "accounted: ");
		append_ns(text, sum->kind_ns);
		buf_printf(text, " as %s", delay_table[sum->kind].id);
		put_page_line(page, STYLE_NORMAL);
	}
	if (sum->waiting) {
		buf_printf(text, "%u %s right now, the longest for %s", sum->waiting,
			   sum->waiting == 1 ? "thread waits" : "threads wait",
			   sum->at_least ? "at least " : "");
		append_ns(text, sum->waiting_ns);
		put_page_line(page, site_line_stalls(line) ? STYLE_WARM : STYLE_NORMAL);
	}
}

/* The bounds of a histogram's non-empty buckets, and its sums. */
struct histogram {
	unsigned first, last; /* first > last: all are empty */
	uint64_t most, count;
	double time; /* in us, as far as known from buckets */
};

/* Waits of a bucket, in us, as if they were of its middle length. */
static double bucket_time(const struct site *site, unsigned bucket)
{
	return (double)site->log2_us[bucket] *
	       (site_bucket_from(bucket) + site_bucket_to(site, bucket)) / 2;
}

/* Computes the bounds and sums. */
static struct histogram look_at_buckets(const struct site *site)
{
	struct histogram histogram = { .first = 1 };

	for (unsigned i = 0; i < SITE_BUCKETS; i++) {
		if (!site->log2_us[i])
			continue;
		if (!histogram.count)
			histogram.first = i;
		histogram.last = i;
		histogram.count += site->log2_us[i];
		histogram.time += bucket_time(site, i);
		if (site->log2_us[i] > histogram.most)
			histogram.most = site->log2_us[i];
	}
	return histogram;
}

/* Prints one bucket's line: its bounds, count, share of the time, and a bar by its count. */
static void put_bucket(struct site_page *page, const struct site *site, unsigned bucket,
		       const struct histogram *histogram)
{
	struct pager *pager = &page->pager;
	bool utf8 = pager->term->charset == TEXT_UTF8;
	int at, room = pager->width - BUCKET_CELLS - COUNT_CELLS - SHARE_CELLS - 1;
	uint64_t cells;

	append_time(&pager->cell, site_bucket_from(bucket));
	at = pager_right(pager, 0, BOUND_CELLS, STYLE_NORMAL);
	at = pager_puts(pager, at, " - ", STYLE_DIM);
	append_time(&pager->cell, site_bucket_to(site, bucket));
	at = pager_right(pager, at, BOUND_CELLS, STYLE_NORMAL);
	buf_uint(&pager->cell, site->log2_us[bucket]);
	at = pager_right(pager, at, COUNT_CELLS, STYLE_NORMAL);
	buf_decimal(&pager->cell,
		    histogram->time > 0 ? bucket_time(site, bucket) * 100.0 / histogram->time : 0,
		    1);
	at = pager_right(pager, at, SHARE_CELLS, STYLE_NORMAL);
	if (room < BAR_LEAST)
		return;
	/* Even the smallest number is visible. */
	cells = (site->log2_us[bucket] * (uint64_t)room + histogram->most - 1) / histogram->most;
	for (uint64_t i = 0; i < cells; i++)
		buf_puts(&page->text, utf8 ? "\u2588" : "#");
	pager_put(pager, at + 1, (int)cells, page->text.data, page->text.len, STYLE_NORMAL);
	page->text.len = 0;
}

/* Writes the lengths of the waits that ended in the interval. */
static void write_lengths(struct site_page *page, const struct site *site)
{
	struct histogram histogram = look_at_buckets(site);
	struct pager *pager = &page->pager;
	struct buf *text = &page->text;

	pager_part(pager, "Latency");
	if (!histogram.count) {
		buf_puts(text, "no wait ended in the interval");
		put_page_line(page, STYLE_DIM);
		return;
	}
	buf_puts(text, "p50 ");
	append_time(text, site_percentile(site, 0.5));
	buf_puts(text, ", p99 ");
	append_time(text, site_percentile(site, 0.99));
	put_page_line(page, STYLE_NORMAL);
	buf_fill(&pager->cell, ' ', BUCKET_CELLS);
	pager_put(pager, 0, BUCKET_CELLS, pager->cell.data, BUCKET_CELLS, STYLE_DIM);
	pager->cell.len = 0;
	buf_puts(&pager->cell, "waits");
	pager_right(pager, BUCKET_CELLS, COUNT_CELLS, STYLE_DIM);
	buf_puts(&pager->cell, "~time %");
	pager_right(pager, BUCKET_CELLS + COUNT_CELLS, SHARE_CELLS, STYLE_DIM);
	pager->line++;
	for (unsigned i = histogram.first; i <= histogram.last; i++, pager->line++)
		if (pager_shows(pager))
			put_bucket(page, site, i, &histogram);
}

/* Appends a share of the time in percent. */
static void append_percent(struct buf *out, double share)
{
	buf_decimal(out, share, share < 10 ? 1 : 0);
	buf_puts(out, " %");
}

/* Prints the waker of a share of the time. */
static void put_ender(struct site_page *page, const struct site_line *line,
		      const struct site_waker *waker, double share)
{
	enum text_charset charset = page->pager.term->charset;
	bool lock = line->one_state && line->sum.state == STATE_LOCK;
	struct buf *text = &page->text;

	if (lock && waker->tgid) {
		buf_puts(text, "waited ");
		append_percent(text, share);
		buf_puts(text, " for ");
	} else {
		buf_puts(text, waker->tgid ? "woken by " : "woken by interrupt ");
	}
	if (waker->name)
		text_escape(text, waker->name, strlen(waker->name), charset);
	if (waker->tgid)
		buf_printf(text, "%s%d", waker->name ? " " : "", (int)waker->tgid);
	if (lock && waker->tgid) {
		buf_puts(text, " (lock released by)");
	} else {
		buf_putc(text, ' ');
		append_percent(text, share);
	}
	put_page_line(page, STYLE_NORMAL);
}

/* Writes the wakers, with the share of the time that they ended. */
static void write_wakers(struct site_page *page, struct site_list *list,
			 const struct site_line *line)
{
	const struct site_waker *wakers;
	size_t n = site_lines_wakers(&list->sites, line, &wakers);
	double ended = 0, all;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		ended += (double)wakers[i].ns;
	/* A wait that began in earlier intervals may have ended: then it is more. */
	all = (double)line->sum.ns > ended ? (double)line->sum.ns : ended;
	pager_part(&page->pager, "Woken by");
	for (size_t i = 0; i < n && all > 0; i++) {
		double share = (double)wakers[i].ns * 100.0 / all;

		if (share >= NAMED_LEAST || !i)
			put_ender(page, line, &wakers[i], share);
	}
	if (all > 0 && (all - ended) * 100.0 / all >= NAMED_LEAST) {
		buf_puts(&page->text, "in progress or other wakers ");
		append_percent(&page->text, (all - ended) * 100.0 / all);
		put_page_line(page, STYLE_DIM);
	}
}

/* The time that a line's sites of `cpu` share with the i-th: behind the same process. */
static uint64_t time_behind(const struct site_line *line, size_t i, bool *first)
{
	const char *on = line->sites[i]->on;
	uint64_t ns = 0;

	*first = true;
	for (size_t k = 0; k < line->n; k++) {
		const char *other = line->sites[k]->on;

		if (line->sites[k]->state != STATE_CPU ||
		    (on && other ? strcmp(on, other) != 0 : on != other))
			continue;
		*first &= k >= i;
		ns += line->sites[k]->ns;
	}
	return ns;
}

/* Writes the tasks that ran while it was queued for a CPU; unknown for sites that are gone. */
static void write_behind(struct site_page *page, const struct site_line *line)
{
	struct buf *text = &page->text;

	if (!line->n || !line->one_state || line->sum.state != STATE_CPU || !line->sum.ns)
		return;
	pager_part(&page->pager, "Who ran instead");
	for (size_t i = 0; i < line->n; i++) {
		const char *on = line->sites[i]->on;
		bool first;
		double share = (double)time_behind(line, i, &first) * 100.0 / (double)line->sum.ns;

		if (!first || (share < NAMED_LEAST && i))
			continue;
		buf_puts(text, "behind ");
		if (on)
			text_escape(text, on, strlen(on), page->pager.term->charset);
		else
			buf_puts(text, "others");
		buf_putc(text, ' ');
		append_percent(text, share);
		put_page_line(page, STYLE_NORMAL);
	}
}

/* Writes the kernel functions, from the waiting one to the system call. */
static void write_functions(struct site_page *page, const struct site_line *line,
			    const struct trace_frame *trace)
{
	const struct site_stack *stack;

	if (!line->sum.stack || line->sum.stack >= trace->nstacks)
		return;
	stack = &trace->stacks[line->sum.stack];
	pager_part(&page->pager, line->n > 1 ? "Stack of the largest site" : "Stack");
	for (size_t i = 0; i < stack->n; i++) {
		text_escape(&page->text, stack->functions[i], strlen(stack->functions[i]),
			    page->pager.term->charset);
		put_page_line(page, STYLE_NORMAL);
	}
}

/* Writes where in the program waits began, and by which callers. */
static void write_user_stacks(struct site_page *page, const struct site_line *line,
			      const struct trace_frame *trace)
{
	struct stack_tree *tree = &page->stacks;
	struct buf *text = &page->text;

	if (!line->n || !line->sites[0]->stacked)
		return;
	stack_tree_build(tree, trace, line->sites, line->n);
	pager_part(&page->pager, page->folded ? "Where in the program (-: its callers)"
					      : "Where in the program, and its callers");
	for (size_t i = 0; i < tree->n; i++) {
		const struct stack_line *at = &tree->lines[i];
		double share = (double)at->ns * 100.0 / (double)tree->ns;

		if (at->caller && page->folded)
			continue;
		if (at->branches)
			append_percent(text, share);
		pager_put(&page->pager, 2 * (int)at->depth, SHARE_CELLS, text->data, text->len,
			  STYLE_NORMAL);
		text->len = 0;
		if (at->function)
			text_escape(text, at->function, strlen(at->function),
				    page->pager.term->charset);
		else
			buf_printf(text, "%zu %s", at->others,
				   plural(at->others, "other", "others"));
		pager_put(&page->pager, 2 * (int)at->depth + SHARE_CELLS, page->pager.width,
			  text->data, text->len, STYLE_NORMAL);
		text->len = 0;
		page->pager.line++;
	}
	if (!tree->n) {
		buf_puts(text, "no wait with a stack in the last interval");
		put_page_line(page, STYLE_DIM);
	}
}

/* Writes the sites in the line. */
static void write_members(struct site_page *page, const struct site_list *list,
			  const struct site_line *line, struct ui *ui)
{
	struct pager *pager = &page->pager;
	struct table_draw draw;

	if (line->n < 2)
		return;
	buf_printf(&page->text, "Sites: %zu", line->n);
	pager_part(pager, buf_cstr(&page->text));
	page->text.len = 0;
	draw = site_table_begin(&page->table, ui, list->sites.several && !line->sum.tgid);
	table_draw_heads(&draw, pager_screen_line(pager));
	pager->line++;
	for (size_t i = 0; i < line->n; i++, pager->line++) {
		const struct site_line one = site_line_one(&line->sites[i]);
		const struct item item = { .row = &one.row, .shown = &one.row, .frame = ui->frame };

		if (pager_shows(pager))
			table_draw_row(&draw, pager_screen_line(pager), &item, ROW_PLAIN);
	}
}

/*
 * Writes the page from its first line on; without a line, that there were no waits. seen_ns: the
 * line is from an earlier interval of that length; 0: from the last one.
 */
static void site_page_write(struct site_page *page, struct site_list *list,
			    const struct site_line *line, uint64_t seen_ns, struct ui *ui)
{
	const struct trace_frame *trace = ui->frame->info->trace;

	page->text.len = 0;
	if (!line || !trace || seen_ns) {
		buf_puts(&page->text, "no waits here in the last interval");
		if (line && trace)
			buf_puts(&page->text, "; the last one with any:");
		put_page_line(page, STYLE_DIM);
	}
	if (!line || !trace)
		return;
	write_what(page, line);
	write_waited(page, line, seen_ns ? seen_ns : trace->interval_ns);
	if (!line->sum.unattributed) {
		write_behind(page, line);
		write_user_stacks(page, line, trace);
		write_wakers(page, list, line);
		write_lengths(page, &line->sum);
		write_functions(page, line, trace);
	}
	write_members(page, list, line, ui);
}

static void site_page_free(struct site_page *page)
{
	site_table_free(&page->table);
	stack_tree_free(&page->stacks);
	buf_free(&page->text);
	buf_free(&page->pager.cell);
}

/* A line as last seen: its sum, and the site if it was only one. */
struct seen_line {
	struct site_line line;
	const struct site *site; /* the line's sum */
	uint64_t interval_ns; /* of its frame; 0: none was seen */
	struct buf texts[4 + SITE_WAKERS]; /* the sum's */
};

struct site_view {
	struct site_list *list; /* of the view below */
	uint64_t id;
	struct seen_line seen;
	struct site_page page;
	struct buf title;
};

/* Copies a text of a frame. */
static void keep_text(struct buf *kept, const char **text)
{
	kept->len = 0;
	if (!*text)
		return;
	buf_puts(kept, *text);
	*text = buf_cstr(kept);
}

/* Stores a line for when there are no more waits. */
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
	sum->stacked = false;
	sum->user_stacks = NULL;
	sum->nuser_stacks = sum->nwaker_stacks = 0;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		keep_text(&seen->texts[i], texts[i]);
	for (size_t i = 0; i < SITE_WAKERS; i++)
		keep_text(&seen->texts[ARRAY_SIZE(texts) + i], &sum->wakers[i].name);
}

/*
 * The line of the page. A site that was dropped while it had no waits returns with another id: so
 * its contents are compared. NULL: none.
 */
static const struct site_line *find_page_line(struct site_view *view)
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
		    sum->overlaps != was->overlaps || text_compare(sum->syscall, was->syscall) ||
		    text_compare(sum->on, was->on) || text_compare(sum->where, was->where))
			continue;
		line = other;
		view->id = line->id;
	}
	return line;
}

/* Names the line: its state, system call, target and function, as far as they are equal. */
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
		buf_puts(title, " not attributed to a site");
}

/* True if there were waits in the interval: the kernel may account a wait after that. */
static bool has_waits(const struct site *sum)
{
	return sum->unattributed || sum->count || sum->ns || sum->waiting;
}

/* Draws the whole view. */
static void site_draw(struct ui *ui, void *state, struct list *list, int height)
{
	struct site_view *view = state;
	const struct site_line *line = find_page_line(view);
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

/* The page shows traced data. */
static bool site_traces(UNUSED struct ui *ui, UNUSED void *state)
{
	return true;
}

/* The process of its line. */
static pid_t site_process(const void *state)
{
	const struct site_view *view = state;
	pid_t tgid = view->seen.line.sum.tgid;

	return tgid > 0 ? tgid : 0;
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
	.process = site_process,
	.draw = site_draw,
	.close = site_close,
};

COMMAND(view_site_fold)
{
	struct site_view *view = ui_page(ui)->state;

	view->page.folded = !view->page.folded;
	return REACT_REDRAW;
}

unsigned view_site_open(struct ui *ui, struct site_list *list, uint64_t id)
{
	struct site_view *view = xcalloc(1, sizeof(*view));

	view->list = list;
	view->id = id;
	ui_push(ui, &view_site, view);
	return REACT_REDRAW;
}
