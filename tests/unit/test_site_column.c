// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of sites: which columns fit, and what their cells say. */
#include "tests/lib/test.h"

#include <string.h>

#include "base/util.h"
#include "view/column_words.h"
#include "view/layout.h"
#include "view/site_lines.h"

#define MS(n) (UINT64_C(1000000) * (n))

static const struct trace_frame trace = { .interval_ns = MS(2000) };

/* The columns of a screen. */
static struct layout layout_of(unsigned width, bool several)
{
	const struct layout_frame shown = {
		.table = &site_columns, .width = width, .of_process = !several, .screen = true
	};
	struct layout layout;

	layout_resolve(&layout, NULL, &shown);
	room_make(&layout, GROUP_PROCESS, NULL, (int)width);
	return layout;
}

/* Asserts the columns for a width. */
static void check_layout(unsigned width, bool several, const char *ids)
{
	struct layout layout = layout_of(width, several);
	struct buf out = { 0 };

	for (size_t i = 0; i < layout.n; i++)
		buf_printf(&out, "%s%s", i ? " " : "", layout.columns[i]->id);
	assert_string_equal(buf_cstr(&out), ids);
	buf_free(&out);
}

/* From the full table to the least; processes only where there are several. */
TEST(test_layout)
{
	check_layout(
		200, true,
		"state class time share count avg max waiting pid comm syscall on where waker");
	check_layout(200, false,
		     "state class time share count avg max waiting syscall on where waker");
	check_layout(80, false, "state time share count syscall on where waker");
	check_layout(80, true, "state time share count comm syscall on waker");
	check_layout(64, false, "state time share syscall on waker");
	check_layout(60, false, "state time share syscall on");
	check_layout(40, false, "state time share on");
	check_layout(40, true, "state time share on");
	check_layout(30, true, "state time on");
}

/* The column of that id, which must be there. */
static const struct column *column_of(const char *id)
{
	const struct column *column = column_in(&site_columns, id, strlen(id));

	assert_non_null(column);
	return column;
}

/* Cells of a column in a layout; 0: it is not there. */
static unsigned cells_of(const struct layout *layout, const char *id)
{
	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i] == column_of(id))
			return layout->cells[i];
	return 0;
}

/* Lines never pass the width, and columns have what they need at least; a long target has the most.
 */
TEST(test_room)
{
	unsigned wants[LAYOUT_MAX] = { 0 };
	struct layout layout;

	for (unsigned width = 32; width <= 300; width++) {
		for (int several = 0; several < 2; several++) {
			unsigned cells = 0;

			layout = layout_of(width, several);
			for (size_t i = 0; i < layout.n; i++) {
				cells += layout.cells[i] + (i != 0);
				assert_true(layout.cells[i] >= room_least(layout.columns[i]));
			}
			assert_true(cells <= width);
			assert_true(cells_of(&layout, "on") >= 18);
		}
	}
	layout = layout_of(200, false);
	for (size_t i = 0; i < layout.n; i++)
		wants[i] = layout.columns[i] == column_of("on") ? 300 : 10;
	room_share(&layout, wants, 200);
	assert_true(cells_of(&layout, "on") > 60);
	/* Where nothing else can give way it is cut. */
	layout = layout_of(30, false);
	assert_int_equal(cells_of(&layout, "on"), 16);
}

/* Asserts a cell of a line with that sum. */
static void check_cell(const char *id, unsigned cells, const struct site *sum, const char *text)
{
	const struct frame_info info = { .trace = &trace };
	const struct frame frame = { .info = &info };
	const struct view view = { .frame = &frame, .charset = TEXT_UTF8 };
	const struct site_line line = site_line_one(&sum);
	struct value value = column_get(column_of(id), &view, &line.row);
	struct buf out = { 0 }, scratch = { 0 };

	column_append(column_of(id), &view, &value, cells, &scratch, &out);
	assert_string_equal(buf_cstr(&out), text);
	buf_free(&out);
	buf_free(&scratch);
}

/* Numbers, and what is not known. */
TEST(test_numbers)
{
	struct site site = { .state = STATE_IO, .kind = -1, .ns = MS(500), .max_ns = MS(120) };

	check_cell("state", 5, &site, "io   ");
	check_cell("time", 7, &site, "  500.0");
	check_cell("share", 6, &site, "  25.0");
	check_cell("count", 5, &site, "    0");
	check_cell("avg", 6, &site, "     -");
	check_cell("max", 6, &site, " 120.0");
	check_cell("waiting", 8, &site, "       -");
	check_cell("pid", 7, &site, "      -");
	site.count = 10000;
	site.tgid = 812;
	check_cell("avg", 6, &site, " 0.050");
	check_cell("pid", 7, &site, "    812");
	/* of several processes that ended */
	site.tgid = -1;
	check_cell("pid", 7, &site, "      -");
	site.ns = UINT64_C(86400000) * 1000000;
	check_cell("time", 7, &site, "  >999k");
}

/* A wait that had begun before tracing is longer than what is known. */
TEST(test_bound)
{
	struct site site = { .kind = -1, .waiting_ns = MS(40200) };

	check_cell("waiting", 8, &site, "    40.2");
	site.at_least = true;
	check_cell("waiting", 8, &site, "  >=40.2");
	site.waiting_ns = MS(123456789);
	check_cell("waiting", 8, &site, "  >=123k");
	site.waiting_ns = 0;
	check_cell("waiting", 8, &site, "       -");
}

/* The rest of a kind has no count. */
TEST(test_unattributed)
{
	struct site site = {
		.unattributed = true, .kind = DELAY_BLKIO, .ns = MS(9), .unattributed_ns = MS(3)
	};

	check_cell("state", 7, &site, "blkio  ");
	check_cell("time", 7, &site, "    3.0");
	check_cell("on", 18, &site, "(unattributed)    ");
	check_cell("count", 5, &site, "    -");
	check_cell("avg", 6, &site, "     -");
	check_cell("max", 6, &site, "     -");
	site.unknown = true;
	check_cell("time", 7, &site, "      -");
	check_cell("share", 7, &site, "      -");
	site.kind = WAIT_DWAIT;
	check_cell("state", 5, &site, "dwait");
	/* Of what has no sites of its own it says where they are. */
	site.kind = DELAY_SWAPIN;
	site.on = SITE_WITHIN;
	check_cell("on", 30, &site, "within other waits and running");
}

/* The end of a path says more than its beginning. Nothing in a name acts on the terminal. */
TEST(test_texts)
{
	struct site site = { .kind = -1, .on = "/var/lib/mysql/ibdata1", .comm = "a\033[2Jb" };

	check_cell("on", 18, &site, "+lib/mysql/ibdata1");
	check_cell("on", 24, &site, "/var/lib/mysql/ibdata1  ");
	site.on = "tcp 10.0.0.1:5432 of a server";
	check_cell("on", 18, &site, "tcp 10.0.0.1:5432+");
	site.on = "/a\n\033]0;x\007";
	check_cell("on", 24, &site, "/a\\x0a\\x1b]0;x\\x07      ");
	check_cell("comm", 8, &site, "a\\x1b[2+");
	check_cell("where", 10, &site, "-         ");
	check_cell("waker", 10, &site, "-         ");
}

/* As a word of a text: no blanks, and the end of a path where it is too long. */
TEST(test_word)
{
	static const char path[] = "/var/lib/mysql/data of an instance/ibdata1";
	const struct value value = value_text(path);
	const struct view view = { .charset = TEXT_UTF8 };
	struct buf out = { 0 }, scratch = { 0 };

	column_append_word(column_of("on"), &view, &value, &scratch, &out);
	assert_string_equal(buf_cstr(&out), "+ata\\x20of\\x20an\\x20instance/ibdata1");
	out.len = 0;
	column_append(column_of("on"), &view, &value, COLUMN_WHOLE, &scratch, &out);
	assert_string_equal(buf_cstr(&out), path);
	buf_free(&out);
	buf_free(&scratch);
}

/* Every column has its words, and room for its head. */
TEST(test_words)
{
	const struct column *column;

	for (size_t i = 0; i < site_columns.n; i++) {
		column = &site_columns.columns[i];
		assert_non_null(column->help);
		assert_string_equal(column_name(column), column->name);
		assert_null(column_words(column));
		assert_true(strlen(column->heading) <= room_least(column));
		assert_ptr_equal(column_of(column->id), column);
	}
	assert_null(column_in(&site_columns, "none", 4));
	assert_string_equal(column_sort_default(&site_columns)->id, "time");
}

/* The time of a line stands out by what is lost; what is waited for something to do is not. */
TEST(test_stalls)
{
	const struct frame_info info = { .trace = &trace };
	const struct frame frame = { .info = &info };
	const struct view view = { .frame = &frame };
	struct site io = { .state = STATE_IO, .kind = -1, .ns = MS(500) };
	const struct site *site = &io;
	struct site_line line = site_line_one(&site);
	struct value share = column_of("time")->stalls(column_of("time"), &view, &line.row);

	assert_true(share.number == 25);
	io.state = STATE_POLL;
	line = site_line_one(&site);
	share = column_of("time")->stalls(column_of("time"), &view, &line.row);
	assert_int_equal(share.type, VALUE_UNSET);
}
