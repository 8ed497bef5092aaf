/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The links of traced sites in an interval: what wakers did while others waited for them, as
 * differences of the kernel program's totals.
 */
#ifndef STALLTOP_MODEL_TRACED_LINKS_H
#define STALLTOP_MODEL_TRACED_LINKS_H

#include "model/traced_sites.h"

/* Those of an interval. Zero-initialised: none. */
struct traced_links {
	struct traced_link *grown; /* by how much each link grew */
	size_t ngrown, grown_cap;
	struct site_link *all; /* made of those by traced_links_settle() */
	size_t n, cap;
};

/* Begins an interval: there are none. */
void traced_links_begin(struct traced_links *links);

/* Adds what the links of a slot grew by, after all sites were read. Copies them. */
void traced_links_update(struct traced_links *links, const struct traced_sites *sites,
			 uint32_t slot, const struct trace_links *record);

/* Makes the links of the interval, in order, between sites that are in it. */
void traced_links_settle(struct traced_links *links, const struct traced_sites *sites);

void traced_links_free(struct traced_links *links);

#endif
