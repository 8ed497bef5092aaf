/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/out_sites.h"

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "out/out.h"
#include "view/chain.h"
#include "view/site_lines.h"

void out_sites_owners(struct site_owners *owners, const struct order *order)
{
	for (size_t i = 0; i < order->passed; i++)
		site_owners_add_row(owners, order->rows[i]);
}

/* Puts the wakers. */
static void put_wakers(struct json *json, const struct site *site)
{
	json_open_array(json, "wakers");
	for (unsigned i = 0; i < SITE_WAKERS; i++) {
		const struct site_waker *waker = &site->wakers[i];

		if (!waker->tgid && !waker->name)
			break;
		json_open_object(json, NULL);
		json_put_counter(json, "pid", waker->tgid, (uint64_t)waker->tgid);
		json_put_text(json, "name", waker->name);
		json_put_uint(json, "ns", waker->ns);
		json_put_uint(json, "count", waker->count);
		json_close(json);
	}
	json_close(json);
}

/* Puts the histogram of waits, without the empty buckets at its end. */
static void put_histogram(struct json *json, const struct site *site)
{
	unsigned n = SITE_BUCKETS;

	while (n && !site->log2_us[n - 1])
		n--;
	json_open_array(json, "log2_us");
	for (unsigned i = 0; i < n; i++)
		json_put_uint(json, NULL, site->log2_us[i]);
	json_close(json);
}

/* Puts the functions of a stack, innermost first. */
static void put_stack(struct json *json, const struct trace_frame *trace, size_t stack)
{
	json_open_array(json, "stack");
	for (size_t i = 0; stack < trace->nstacks && i < trace->stacks[stack].n; i++)
		json_put_text(json, NULL, trace->stacks[stack].functions[i]);
	json_close(json);
}

/* Puts where in the program waits began. */
static void put_code(struct json *json, const struct trace_frame *trace, const struct site *site)
{
	json_open_array(json, "user_stacks");
	for (size_t i = 0; i < site->nuser_stacks; i++) {
		json_open_object(json, NULL);
		json_put_uint(json, "ns", site->user_stacks[i].ns);
		json_put_uint(json, "count", site->user_stacks[i].count);
		put_stack(json, trace, site->user_stacks[i].stack);
		json_close(json);
	}
	json_close(json);
}

/* Puts the time of a rest. */
static void put_rest(struct json *json, const char *name, const struct site *site)
{
	if (site->unknown)
		json_put_null(json, name);
	else
		json_put_int(json, name, site->unattributed_ns);
}

/* Puts a share of 0 to 1, in thousandths. */
static void put_share_json(struct json *json, double share)
{
	json_put_fixed(json, "share", (uint64_t)(share * 1000 + 0.5), 3);
}

/* Puts a waker's activity while it was waited for. */
static void put_step(struct json *json, const struct chain *chain, const struct chain_step *step)
{
	json_open_object(json, NULL);
	json_put_uint(json, "depth", step->depth);
	json_put_counter(json, "pid", step->waker.tgid, (uint64_t)step->waker.tgid);
	json_put_text(json, "name", step->waker.name);
	json_put_uint(json, "count", step->waker.count);
	put_share_json(json, step->share);
	json_put_bool(json, "in_part", step->in_part);
	json_open_array(json, "meanwhile");
	for (size_t i = 0; i < step->n; i++) {
		const struct chain_part *part = &chain->parts[step->first + i];

		json_open_object(json, NULL);
		json_put_text(json, "state", wait_state_table[part->state].id);
		json_put_text(json, "syscall", part->site ? part->site->syscall : NULL);
		json_put_text(json, "on", part->site ? part->site->on : NULL);
		put_share_json(json, part->share);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

/* Puts a site's chain, if it lost enough. */
static void put_chain(struct json *json, struct chain *chain, const struct chain_index *index,
		      const struct site *site)
{
	if (!chain_explains(index, site) || site->ns < index->trace->interval_ns / 100) {
		json_put_null(json, "chain");
		return;
	}
	chain_build(chain, index, &site, 1);
	json_open_object(json, "chain");
	json_open_array(json, "roots");
	for (size_t i = 0; i < chain->nroots; i++) {
		const struct chain_root *root = &chain->roots[i];

		json_open_object(json, NULL);
		json_put_text(json, "root", chain_root_ids[root->kind]);
		json_put_counter(json, "pid", root->tgid > 0, (uint64_t)root->tgid);
		json_put_text(json, "name", root->name);
		put_share_json(json, root->share);
		json_close(json);
	}
	json_close(json);
	json_open_array(json, "steps");
	for (size_t i = 0; i < chain->nsteps; i++)
		put_step(json, chain, &chain->steps[i]);
	json_close(json);
	json_close(json);
}

const char *out_site_state(const struct site *site)
{
	if (!site->unattributed)
		return wait_state_table[site->state].id;
	return site->overlaps ? "overlapping" : "unattributed";
}

/* Puts a site. The rest of a kind has its time and nothing else. */
static void put_site_json(struct json *json, const struct trace_frame *trace, uint64_t begin_ns,
			  const struct site *site, struct chain *chain,
			  const struct chain_index *index)
{
	bool rest = site->unattributed, dated = site->on && site->on_ns && begin_ns;
	int64_t after_ns = (int64_t)(site->on_ns - begin_ns);

	json_open_object(json, NULL);
	json_put_counter(json, "pid", site->tgid > 0, (uint64_t)site->tgid);
	json_put_text(json, "comm", site->comm);
	json_put_text(json, "state", out_site_state(site));
	json_put_text(json, "class", rest ? NULL : wait_class_ids[site->class]);
	json_put_text(json, "kind", site->kind < 0 ? NULL : wait_kind_id((unsigned)site->kind));
	json_put_bool(json, "overlaps", site->overlaps);
	json_put_text(json, "syscall", site->syscall);
	json_put_text(json, "on", site->on);
	json_put_real(json, "on_after", dated ? (double)(after_ns / 1000) / 1e6 : NAN);
	json_put_text(json, "where", site->where);
	json_put_counter(json, "count", !rest, site->count);
	if (rest) {
		put_rest(json, "ns", site);
		put_rest(json, "kind_ns", site);
	} else {
		json_put_uint(json, "ns", site->ns);
		json_put_counter(json, "kind_ns", site->kind >= 0, site->kind_ns);
	}
	json_put_counter(json, "max_ns", !rest, site->max_ns);
	json_put_counter(json, "waiting", !rest, site->waiting);
	json_put_counter(json, "waiting_ns", !rest, site->waiting_ns);
	json_put_bool(json, "at_least", site->at_least);
	put_histogram(json, site);
	put_wakers(json, site);
	put_chain(json, chain, index, site);
	put_stack(json, trace, site->stack);
	put_code(json, trace, site);
	json_close(json);
}

/* Orders sites: most time first. */
static int compare_times(const void *a, const void *b)
{
	return site_compare(*(const struct site *const *)a, *(const struct site *const *)b);
}

void out_sites_json(struct json *json, const char *name, const struct trace_frame *trace,
		    uint64_t begin_ns, struct site_owners *owners)
{
	const struct site **all = xcalloc(trace->n + 1, sizeof(struct site *));
	size_t n = 0, ordered = 1;
	struct chain_index index = { 0 };
	struct chain chain = { 0 };

	chain_index_make(&index, trace);
	for (size_t i = 0; i < trace->n; i++)
		if (site_owners_have(owners, trace->sites[i]))
			all[n++] = trace->sites[i];
	/* Mostly they are in order. */
	while (ordered < n && compare_times(&all[ordered - 1], &all[ordered]) <= 0)
		ordered++;
	if (ordered < n)
		qsort(all, n, sizeof(*all), compare_times);
	json_open_array(json, name);
	for (size_t i = 0; i < n; i++)
		put_site_json(json, trace, begin_ns, all[i], &chain, &index);
	json_close(json);
	chain_index_free(&index);
	chain_free(&chain);
	free(all);
}

/* True if a hundredth of the interval or more was lost there. */
static bool is_costly(const struct trace_frame *trace, const struct site_line *line)
{
	return site_line_stalls(line) && site_line_ns(line) >= (int64_t)(trace->interval_ns / 100);
}

/* Selects the lines to be shown: see out_sites_text(). */
static void choose_lines(struct order *order, const struct site_lines *sites,
			 const struct view *view, const struct site_choice *choice, bool lost)
{
	const struct query query = { .sort = choice->sort, .descending = choice->descending };
	const struct trace_frame *trace = view->frame->info->trace;
	bool usual = site_choice_is_usual(choice);

	order_reserve(order, sites->n);
	order->n = 0;
	for (unsigned turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < sites->n; i++)
			if (turn != (usual && lost && is_costly(trace, &sites->lines[i])))
				order->rows[order->n++] = &sites->lines[i].row;
	if (!usual)
		query_order(&query, view, order);
	if (order->n > OUT_SITES)
		order->n = OUT_SITES;
}

void out_sites_text(struct buf *out, const struct view *view, struct site_owners *owners,
		    const struct site_choice *choice, bool lost)
{
	const struct site_lines_query query = { .owners = owners, .by = SITES_BY_SITE };
	bool stacked = view->frame->info->trace->stacked;
	const struct layout_frame shown = { .table = &site_columns,
					    .usual = stacked ? SITE_STACK_FIELDS
							     : SITE_TEXT_FIELDS };
	struct site_lines sites = { 0 };
	struct buf scratch = { 0 };
	struct order order = { 0 };
	struct layout layout;
	struct text_table table = {
		.layout = &layout, .view = view, .whole = true, .out = out, .scratch = &scratch
	};

	layout_resolve(&layout, choice->fields, &shown);
	buf_puts(out, "sites\n");
	text_table_heads(&table);
	site_lines_build(&sites, view->frame->info->trace, &query);
	choose_lines(&order, &sites, view, choice, lost);
	for (size_t i = 0; i < order.n; i++)
		text_table_row(&table, order.rows[i]);
	order_free(&order);
	site_lines_free(&sites);
	buf_free(&scratch);
}

void out_states_json(struct json *json, const char *name, const struct wait_states *states)
{
	if (!states) {
		json_put_null(json, name);
		return;
	}
	json_open_object(json, name);
	for (unsigned state = 0; state < WAIT_STATES; state++) {
		char member[16];

		snprintf(member, sizeof(member), "%s_ns", wait_state_table[state].id);
		json_put_uint(json, member, states->ns[state]);
	}
	json_close(json);
}
