/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/stretch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "data/delay.h"
#include "data/sample.h"
#include "data/system.h"
#include "history/rows.h"
#include "history/segments.h"

void stretch_add(struct stretch *stretch, const struct outline *outline)
{
	GROW(stretch->outlines, stretch->n, stretch->cap);
	stretch->outlines[stretch->n++] = *outline;
}

/* Starts a statement; NULL: the file does not have its columns. */
static sqlite3_stmt *ask_own(struct stretch *stretch, const char *text, int64_t number)
{
	sqlite3_stmt *rows;

	archive_guard_begin(&stretch->archive.guard);
	if (sqlite3_prepare_v2(stretch->archive.db, text, -1, &rows, NULL))
		return NULL;
	sqlite3_bind_int64(rows, 1, number);
	return rows;
}

/* Lists the samples of a file. 0 or -errno. */
static int list_samples(struct stretch *stretch)
{
	sqlite3_stmt *rows = ask_own(stretch,
				     "SELECT id, time_ns, interval_ns, begin_ns FROM sample"
				     " ORDER BY id",
				     0);
	bool bad = !rows;
	int got = 0;

	while (!bad && (got = archive_row(&stretch->archive, rows)) == 1) {
		struct outline outline = { .number = archive_int(rows, 0, 1, INT64_MAX, 0, &bad),
					   .real_ns = archive_uint(rows, 1, 0, &bad),
					   .interval_ns = archive_uint(rows, 2, 0, &bad),
					   .begin_ns = archive_uint(rows, 3, 0, &bad),
					   .waited_ns = WAITED_UNKNOWN,
					   .pressure = -1 };

		for (unsigned r = 0; r < PSI_RESOURCES; r++)
			outline.stalls[r] = -1;
		stretch_add(stretch, &outline);
	}
	sqlite3_finalize(rows);
	return bad ? -EBADMSG : got;
}

/* Sets unknown stalls to 0: a resource without a line did not stall. */
static void fill_still(struct outline *outline, const bool known[PSI_RESOURCES])
{
	for (unsigned r = 0; r < PSI_RESOURCES && outline->interval_ns; r++)
		if (known[r] && outline->stalls[r] < 0)
			outline->stalls[r] = 0;
	if (known[0] && outline->interval_ns && outline->pressure < 0)
		outline->pressure = 0;
}

/* Reads the pressure of each sample; there is a line only if its total changed. */
static void list_pressure(struct stretch *stretch)
{
	sqlite3_stmt *rows =
		ask_own(stretch,
			"SELECT sample, resource, total_us FROM pressure WHERE full = 0"
			" ORDER BY sample, resource",
			0);
	uint64_t last[PSI_RESOURCES] = { 0 };
	bool known[PSI_RESOURCES] = { false }, bad = !rows;
	size_t at = 0;

	while (!bad && archive_row(&stretch->archive, rows) == 1) {
		int64_t number = archive_int(rows, 0, 0, INT64_MAX, 0, &bad);
		int64_t resource = archive_int(rows, 1, 0, INT64_MAX, INT64_MAX, &bad);
		uint64_t total = archive_uint(rows, 2, 0, &bad), us;
		struct outline *outline;
		float share;

		while (at < stretch->n && stretch->outlines[at].number < number)
			at++;
		if (bad || at == stretch->n || resource >= PSI_RESOURCES)
			continue;
		outline = &stretch->outlines[at];
		if (known[resource] &&
		    psi_grown(&(struct psi_line){ .valid = true, .total_us = last[resource] },
			      &(struct psi_line){ .valid = true, .total_us = total },
			      outline->interval_ns, &us)) {
			share = (float)((double)us * 1e5 / (double)outline->interval_ns);
			outline->stalls[resource] = share;
			if (share > outline->pressure)
				outline->pressure = share;
		}
		known[resource] = true;
		last[resource] = total;
	}
	sqlite3_finalize(rows);
	for (size_t i = 1; i < stretch->n; i++)
		fill_still(&stretch->outlines[i], known);
}

/* Writes the moments in memory that are not yet in the database into it. 0 or -errno. */
static int store_kept(struct stretch *stretch)
{
	static const struct store_about about = { PACKAGE_VERSION };
	const struct kept *kept = stretch->stored ? stretch->stored->next : stretch->kept.first;
	int err = stretch->store ? 0 : store_create(&stretch->store, ":memory:", &about);

	for (; kept && !err; kept = kept->next) {
		err = store_put(stretch->store, kept_unpack(stretch->keeper, kept));
		if (!err)
			stretch->stored = kept;
	}
	keeper_trim(stretch->keeper);
	if (!err && !stretch->open)
		err = archive_borrow(&stretch->archive, store_database(stretch->store));
	return err;
}

int stretch_open(struct stretch *stretch)
{
	int err = 0;

	if (stretch->keeper)
		err = store_kept(stretch);
	else if (!stretch->open)
		err = archive_open(&stretch->archive, stretch->path);
	if (!err)
		stretch->open = true;
	return err;
}

int stretch_list(struct stretch *stretch)
{
	int err = stretch->listed ? 0 : stretch_open(stretch);

	if (err || stretch->listed)
		return err;
	stretch->listed = true;
	stretch->threads = stretch->archive.threads;
	err = list_samples(stretch);
	if (!err)
		list_pressure(stretch);
	return err;
}

void stretch_shut(struct stretch *stretch)
{
	if (stretch->open)
		archive_close(&stretch->archive);
	stretch->open = false;
	store_close(stretch->store, false);
	stretch->store = NULL;
	stretch->stored = NULL;
}

/* Adds what a task waited. */
static void add_wait_row(void *arg, const void *from)
{
	const struct wait_row *row = from;

	if (wait_in_total(row->kind))
		*(uint64_t *)arg += row->waited_ns;
}

void stretch_read_waited(struct stretch *stretch, size_t at)
{
	struct outline *outline = &stretch->outlines[at];
	uint64_t sum = 0;

	if (outline->waited_ns != WAITED_UNKNOWN || stretch_open(stretch))
		return;
	/* A part of the sum would show a quiet time where there was none. */
	if (!archive_each(&stretch->archive, QUERY_WAITS, outline->number, add_wait_row, &sum))
		outline->waited_ns = sum;
}

/* Frees a stretch, and what it has in memory. */
static void stretch_free(struct stretch *stretch)
{
	stretch_shut(stretch);
	kept_free(&stretch->kept);
	free(stretch->path);
	free(stretch->outlines);
	free(stretch);
}

struct stretch *stretches_add(struct stretches *stretches)
{
	struct stretch *stretch = xcalloc(1, sizeof(*stretch));

	stretches->list =
		xreallocarray(stretches->list, stretches->n + 1, sizeof(struct stretch *));
	stretches->list[stretches->n++] = stretch;
	return stretch;
}

bool stretches_before(const struct stretches *stretches, size_t at, uint64_t real_ns)
{
	const char *next = at + 1 < stretches->n ? stretches->list[at + 1]->path : NULL;
	uint64_t named_ns = next ? segment_time(next) : 0;

	return named_ns && named_ns + NSEC_PER_SEC <= real_ns;
}

void stretches_remove(struct stretches *stretches, size_t at)
{
	stretch_free(stretches->list[at]);
	stretches->n--;
	memmove(stretches->list + at, stretches->list + at + 1,
		(stretches->n - at) * sizeof(struct stretch *));
}

void stretches_free(struct stretches *stretches)
{
	while (stretches->n)
		stretches_remove(stretches, stretches->n - 1);
	free(stretches->list);
	*stretches = (struct stretches){ 0 };
}
