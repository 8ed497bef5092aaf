// SPDX-License-Identifier: GPL-2.0-or-later
/* The sites of a process, as found by the index and by looking at all of them. */
#include "tests/lib/test.h"

#include <stdlib.h>

#include "base/util.h"
#include "tests/lib/sites.h"
#include "view/finding.h"

#define SITES 500

/* Asserts that the index finds what is there of a process, in order. */
static void check_process(struct site_index *index, const struct trace_frame *trace, pid_t tgid,
			  uint64_t start_ns)
{
	const struct site *site = NULL;

	for (size_t i = 0; i < trace->n; i++) {
		if (trace->sites[i]->tgid != tgid || trace->sites[i]->start_ns != start_ns)
			continue;
		/* Others may be asked about meanwhile. */
		if (i % 2)
			site_index_next(index, tgid + 512, start_ns, NULL);
		site = site_index_next(index, tgid, start_ns, site);
		assert_ptr_equal(site, trace->sites[i]);
	}
	if (site || !trace->n)
		assert_null(site_index_next(index, tgid, start_ns, site));
}

/* Processes with several sites, ids that share a place, ids used again, those that ended. */
TEST(test_finds_all)
{
	struct site sites[SITES] = { 0 };
	struct trace_frame trace = { .sites = SITES_OF(sites, SITES) };
	struct site_index index = { 0 };

	srand(7);
	for (trace.n = 0; trace.n <= SITES; trace.n += 50) {
		for (size_t i = 0; i < trace.n; i++) {
			sites[i].tgid = (pid_t)(rand() % 40 - 1) * 512;
			sites[i].start_ns = (uint64_t)(rand() % 2);
		}
		site_index_begin(&index, &trace);
		for (pid_t tgid = -512; tgid < 40 * 512; tgid += 512)
			for (uint64_t start_ns = 0; start_ns < 2; start_ns++)
				check_process(&index, &trace, tgid, start_ns);
		assert_null(site_index_next(&index, 1, 0, NULL));
	}
	site_index_begin(&index, NULL);
	assert_null(site_index_next(&index, 0, 0, NULL));
	site_index_free(&index);
}
