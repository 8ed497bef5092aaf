// SPDX-License-Identifier: GPL-2.0-or-later
/* Chains that are too long for a script; tests/scripts/chains.txt has all others. */
#include "tests/lib/test.h"

#include <math.h>
#include <stdlib.h>

#include "tests/lib/sites.h"
#include "view/chain.h"

#define MS(n) (UINT64_C(1000000) * (n))

static int compare_links(const void *a, const void *b)
{
	return site_link_compare(a, b);
}

/* Chains that are deeper than is followed, and that fan out, end and still add up. */
TEST(test_depth)
{
	static struct site sites[40];
	static struct site_link links[39 * 3];
	const struct site *first = &sites[0];
	const struct trace_frame trace = {
		.sites = SITES_OF(sites, 40), .n = 40, .links = links, .nlinks = 117
	};
	struct chain_index index = { 0 };
	struct chain chain = { 0 };
	double all = 0;

	for (size_t i = 0; i < 40; i++)
		sites[i] = (struct site){ .id = i + 1,
					  .tgid = 10,
					  .state = STATE_NET,
					  .kind = -1,
					  .ns = MS(100),
					  .count = 1,
					  .wakers = { { 20, "server", MS(100), 1 } } };
	for (size_t i = 0; i < 117; i++)
		links[i] = (struct site_link){ i / 3 + 1, 20,	  1 + (i / 3 + 1 + i % 3) % 40,
					       STATE_NET, MS(10), false };
	qsort(links, 117, sizeof(*links), compare_links);
	chain_index_make(&index, &trace);
	chain_build(&chain, &index, &first, 1);
	for (size_t i = 0; i < chain.nroots; i++) {
		assert_int_equal(chain.roots[i].kind, CHAIN_UNEXPLAINED);
		all += chain.roots[i].share;
	}
	assert_true(fabs(all - 1) < 1e-6);
	chain_index_free(&index);
	chain_free(&chain);
}
