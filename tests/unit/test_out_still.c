// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts of rows to which nothing happens are copied: each sample's are as if they had been made. */
#include "tests/lib/test.h"

#include "out/out.h"
#include "tests/lib/recording.h"

#define SAMPLES_MADE 150

/* The next frame of a machine whose waits are not traced. */
static const struct frame *next_frame(struct play_machine *machine)
{
	const struct frame *made = play_frame(machine);
	unsigned at = (machine->turn - 1) % 2;

	machine->infos[at].trace = NULL;
	for (size_t i = 0; i < made->n; i++)
		machine->frames[at].rows[i].traced = NULL;
	return made;
}

/* Puts a machine's samples out twice: by copies, and with what they are copied from forgotten. */
static void check_format(const struct out_ops *ops, unsigned seed, const char *fields)
{
	struct view_config view = { .query.over_ms = -1, .fields = (char *)(uintptr_t)fields };
	const struct out_config config = { .view = &view, .charset = TEXT_UTF8 };
	struct play_machine machine = { .seed = seed, .exact = true, .unbounded = true };
	struct out copied, made;
	size_t copies = 0;

	out_open(&copied, ops, &config);
	out_open(&made, ops, &config);
	for (unsigned i = 0; i < SAMPLES_MADE; i++) {
		const struct frame *frame = next_frame(&machine);

		out_frame(&copied, frame);
		made.texts.n = 0;
		out_frame(&made, frame);
		assert_int_equal(copied.buf.len, made.buf.len);
		assert_memory_equal(copied.buf.data, made.buf.data, made.buf.len);
		assert_int_equal(made.texts.next, 0);
		copies += copied.texts.next;
		/* At times nothing was written. */
		if (play_random(&machine, 9))
			copied.buf.len = made.buf.len = 0;
	}
	assert_int_equal(copies > 20, !fields);
	out_close(&copied);
	out_close(&made);
	play_free(&machine);
}

TEST(test_copies)
{
	static const struct out_ops *const formats[] = { &out_text, &out_csv, &out_json };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		for (unsigned seed = 1; seed <= 7; seed += 2)
			check_format(formats[i], seed, NULL);
}

/* Where a column is of time that passes nothing is copied. */
TEST(test_time)
{
	check_format(&out_csv, 1, "pid,elap");
	check_format(&out_json, 1, "pid,elap");
}
