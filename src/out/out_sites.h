/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sites of traced waits, for all formats that include them. */
#pragma once

#include "out/json.h"
#include "view/query.h"
#include "view/site_lines.h"
#include "view/view_config.h"

/* Number of lines in text. */
#define OUT_SITES 10

/* Adds the processes of the rows that passed the filters: for groups the members'. */
void out_sites_owners(struct site_owners *owners, const struct order *order);

/*
 * Puts the sites of these processes as an array, most time first, each with its histogram, wakers
 * and stack; with one of state "unattributed" for the rest of each kind of each process. begin_ns:
 * when the sample was taken (CLOCK_MONOTONIC); 0: there is none.
 */
void out_sites_json(struct json *json, const char *name, const struct trace_frame *trace,
		    uint64_t begin_ns, struct site_owners *owners);

/*
 * Appends a table of the largest sites of these processes, most time first, as traced in the view's
 * frame; in the columns and the order of `choice`. `lost`: sites that lost a hundredth of the
 * interval or more come first, as most tasks are just idle; not if another order was chosen. Each
 * cell is a word, except the last.
 */
void out_sites_text(struct buf *out, const struct view *view, struct site_owners *owners,
		    const struct site_choice *choice, bool lost);

/* Puts time by state as an object of "STATE_ns"; null for NULL. */
void out_states_json(struct json *json, const char *name, const struct wait_states *states);

/* The id of a site's state; of a rest without a site, its meaning. */
const char *out_site_state(const struct site *site);
