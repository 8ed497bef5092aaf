/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "data/wait_state.h"

/* As many sites as a test has, at most. */
#define SITES_MOST 512

static inline const struct site *const *sites_refer(const struct site **to,
						    const struct site *sites, size_t n)
{
	for (size_t i = 0; i < n && i < SITES_MOST; i++)
		to[i] = &sites[i];
	return to;
}

/* The sites of an array as a frame refers to them, until this line is executed again. */
#define SITES_OF(sites, n) \
	({ \
		static const struct site *refer_to[SITES_MOST]; \
		sites_refer(refer_to, sites, n); \
	})
