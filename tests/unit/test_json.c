// SPDX-License-Identifier: GPL-2.0-or-later
/* The writer of JSON: what it puts, byte by byte, and that a strict reader takes it. */
#include "tests/lib/test.h"

#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "out/json.h"
#include "tests/lib/scratch.h"

/* A writer and what it wrote. */
struct state {
	struct buf out;
	struct json json;
};

/* Begins a test with an empty writer. */
static int open_state(void **state)
{
	struct state *s = xcalloc(1, sizeof(*s));

	s->json.out = &s->out;
	*state = s;
	return 0;
}

/* See open_state(). */
static int close_state(void **state)
{
	struct state *s = *state;

	buf_free(&s->out);
	free(s);
	return 0;
}

/* Reads what was written, one value on one line, and empties the buffer. */
static json_t *read_back(struct state *s)
{
	const char *text = buf_cstr(&s->out);
	json_error_t error;
	json_t *value = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

	if (!value)
		fail_msg("%s: %.200s", error.text, text);
	assert_int_equal(s->json.depth, 0);
	assert_int_equal(s->out.len, strlen(text));
	assert_ptr_equal(strchr(text, '\n'), text + s->out.len - 1);
	s->out.len = 0;
	return value;
}

/* Asserts what was written, and that it can be read. */
static void check(struct state *s, const char *expected)
{
	assert_string_equal(buf_cstr(&s->out), expected);
	json_decref(read_back(s));
}

/* Commas stand between values and nowhere else, in whatever order levels open and close. */
TEST_WITH(test_nesting, open_state, close_state)
{
	struct state *s = *state;
	struct json *json = &s->json;

	json_open_object(json, NULL);
	json_close(json);
	check(s, "{}\n");
	json_open_array(json, NULL);
	json_close(json);
	check(s, "[]\n");
	json_put_uint(json, NULL, 7);
	check(s, "7\n");

	json_open_object(json, NULL);
	json_put_uint(json, "a", 1);
	json_open_array(json, "b");
	json_close(json);
	json_open_object(json, "c");
	json_close(json);
	json_open_array(json, "d");
	json_put_null(json, NULL);
	json_open_object(json, NULL);
	json_put_bool(json, "x", true);
	json_put_bool(json, "y", false);
	json_close(json);
	json_open_array(json, NULL);
	json_open_array(json, NULL);
	json_close(json);
	json_put_text(json, NULL, ",");
	json_close(json);
	json_close(json);
	json_put_text(json, "e", ",");
	json_close(json);
	check(s, "{\"a\":1,\"b\":[],\"c\":{},\"d\":[null,{\"x\":true,\"y\":false},[[],\",\"]],"
		 "\"e\":\",\"}\n");
}

/* What is outermost ends its line, behind whatever is in the buffer already. */
TEST_WITH(test_lines, open_state, close_state)
{
	struct state *s = *state;

	buf_puts(&s->out, "before,");
	json_open_object(&s->json, NULL);
	json_close(&s->json);
	json_open_array(&s->json, NULL);
	json_put_uint(&s->json, NULL, 1);
	json_close(&s->json);
	assert_string_equal(buf_cstr(&s->out), "before,{}\n[1]\n");
}

/* As many levels as there may be, of objects and arrays in turn. */
TEST_WITH(test_depth, open_state, close_state)
{
	struct state *s = *state;
	json_t *value, *inner;
	unsigned depth = 1;

	for (unsigned i = 0; i < JSON_DEPTH; i++)
		if (i % 3)
			json_open_array(&s->json, i % 3 == 1 ? "deeper" : NULL);
		else
			json_open_object(&s->json, NULL);
	json_put_text(&s->json, JSON_DEPTH % 3 == 1 ? "last" : NULL, "here");
	for (unsigned i = 0; i < JSON_DEPTH; i++)
		json_close(&s->json);
	value = inner = read_back(s);
	for (; !json_is_string(inner); depth++)
		inner = json_is_array(inner) ? json_array_get(inner, 0)
					     : json_object_iter_value(json_object_iter(inner));
	assert_int_equal(depth, JSON_DEPTH + 1);
	assert_string_equal(json_string_value(inner), "here");
	json_decref(value);
}

/* Whole numbers have all their digits. */
TEST_WITH(test_whole, open_state, close_state)
{
	struct state *s = *state;
	struct json *json = &s->json;

	json_open_array(json, NULL);
	json_put_uint(json, NULL, 0);
	json_put_uint(json, NULL, INT64_MAX);
	json_put_int(json, NULL, 0);
	json_put_int(json, NULL, -1);
	json_put_int(json, NULL, INT64_MAX);
	json_put_int(json, NULL, INT64_MIN);
	json_put_counter(json, NULL, true, 12);
	json_put_counter(json, NULL, false, 12);
	json_close(json);
	check(s, "[0,9223372036854775807,0,-1,9223372036854775807,-9223372036854775808,12,null]\n");
	/* The reader's integers end before ours. */
	json_put_uint(json, NULL, UINT64_MAX);
	assert_string_equal(buf_cstr(&s->out), "18446744073709551615\n");
}

/* Numbers with a fraction always show one, and nothing that JSON does not know. */
TEST_WITH(test_real, open_state, close_state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0.0" },
		{ -0.0, "-0.0" },
		{ 3, "3.0" },
		{ 0.1, "0.1" },
		{ -2.5, "-2.5" },
		{ 0.1 + 0.2, "0.3" },
		{ 1763697602.123456, "1763697602.123456" },
		{ 1e15, "1000000000000000.0" },
		{ 1e16, "1e+16" },
		{ 1e-5, "1e-05" },
		{ DBL_MAX, "1.797693134862316e+308" },
		{ DBL_MIN, "2.225073858507201e-308" },
		{ NAN, "null" },
		{ INFINITY, "null" },
		{ -INFINITY, "null" },
	};
	struct state *s = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		json_put_real(&s->json, NULL, cases[i].value);
		assert_int_equal(s->out.len, strlen(cases[i].text) + 1);
		assert_memory_equal(s->out.data, cases[i].text, s->out.len - 1);
		/* The largest of 16 digits is above the largest there is. */
		if (cases[i].value == DBL_MAX)
			s->out.len = 0;
		else
			json_decref(read_back(s));
	}
}

/* Decimals are exact, and no more than are needed. */
TEST_WITH(test_fixed, open_state, close_state)
{
	struct state *s = *state;
	struct json *json = &s->json;

	json_open_array(json, NULL);
	json_put_fixed(json, NULL, 0, 2);
	json_put_fixed(json, NULL, 1140, 2);
	json_put_fixed(json, NULL, 7, 2);
	json_put_fixed(json, NULL, 100, 2);
	json_put_fixed(json, NULL, 1000000, 1);
	json_put_fixed(json, NULL, UINT64_MAX, 9);
	json_put_seconds(json, NULL, true, UINT64_C(1763697602123456789));
	json_put_seconds(json, NULL, true, 999);
	json_put_seconds(json, NULL, true, 2 * NSEC_PER_SEC);
	json_put_seconds(json, NULL, false, 2 * NSEC_PER_SEC);
	json_close(json);
	check(s, "[0.0,11.4,0.07,1.0,100000.0,18446744073.709551615,1763697602.123456,0.0,2.0,"
		 "null]\n");
}

/* Asserts that a text comes back as text_escape() has it. */
static void check_text(struct state *s, const char *bytes)
{
	struct buf escaped = { 0 };
	json_t *value;

	text_escape(&escaped, bytes, strlen(bytes), TEXT_UTF8);
	json_put_text(&s->json, NULL, bytes);
	for (size_t i = 0; i + 1 < s->out.len; i++)
		assert_true((unsigned char)s->out.data[i] >= ' ');
	value = read_back(s);
	assert_true(json_is_string(value));
	assert_string_equal(json_string_value(value), buf_cstr(&escaped));
	json_decref(value);
	buf_free(&escaped);
}

/* Texts that somebody else chose: control bytes, quotes, what is no UTF-8. */
TEST_WITH(test_text, open_state, close_state)
{
	struct state *s = *state;
	struct json *json = &s->json;

	json_open_object(json, NULL);
	json_put_text(json, "none", NULL);
	json_put_text(json, "empty", "");
	json_put_text(json, "quotes", "\"a\"\"");
	json_put_text(json, "backslash", "\\\"\\");
	json_put_text(json, "control", "\b\t\n\r\x01\x1f\x7f");
	json_put_text(json, "torn", "\xff\xc3(\xe2\x82");
	json_put_text(json, "kept", "\xc3\xa4\xe6\xbc\xa2\xf0\x9f\x90\xa2");
	json_put_text(json, "hidden", "\xe2\x80\xae\xc2\x85");
	json_close(json);
	check(s, "{\"none\":null,\"empty\":\"\",\"quotes\":\"\\\"a\\\"\\\"\","
		 "\"backslash\":\"\\\\\\\\\\\"\\\\\\\\\","
		 "\"control\":\"\\\\x08\\\\x09\\\\x0a\\\\x0d\\\\x01\\\\x1f\\\\x7f\","
		 "\"torn\":\"\\\\xff\\\\xc3(\\\\xe2\\\\x82\","
		 "\"kept\":\"\xc3\xa4\xe6\xbc\xa2\xf0\x9f\x90\xa2\","
		 "\"hidden\":\"\\\\u{202e}\\\\u{0085}\"}\n");
}

/* Every byte, and texts of any bytes, across growths of the buffer. */
TEST_WITH(test_any_text, open_state, close_state)
{
	struct state *s = *state;
	char text[1024];

	srandom(17);
	for (int byte = 1; byte < 256; byte++)
		check_text(s, (char[]){ (char)byte, 0 });
	for (unsigned round = 0; round < 2000; round++) {
		size_t len = (size_t)random() % sizeof(text);

		for (size_t i = 0; i < len; i++)
			text[i] = (char)(round % 2 ? "\"\\a\n"[random() % 4] : 1 + random() % 255);
		text[len] = '\0';
		buf_free(&s->out);
		check_text(s, text);
	}
}

/* Delays by kind: what is not valid is null. */
TEST_WITH(test_delays, open_state, close_state)
{
	struct delay_sum delays[DELAY_KINDS] = {
		[DELAY_CPU] = { 3, 51200 }, [DELAY_BLKIO] = { 9, UINT64_C(1) << 62 }
	};
	struct task_record record = { .range_valid = DELAY_BIT(DELAY_CPU) };
	uint32_t valid = DELAY_BOTH(DELAY_BIT(DELAY_CPU)) | DELAY_BIT(DELAY_BLKIO);
	struct state *s = *state;

	record.max[DELAY_CPU] = 40000;
	record.min[DELAY_CPU] = 7;
	json_open_object(&s->json, NULL);
	json_put_delays(&s->json, "short", delays, valid, NULL);
	json_put_delays(&s->json, "long", delays, valid, &record);
	json_close(&s->json);
	check(s, "{\"short\":{\"cpu\":{\"count\":3,\"ns\":51200},"
		 "\"blkio\":{\"count\":null,\"ns\":4611686018427387904},"
		 "\"swapin\":null,\"reclaim\":null,\"thrash\":null,\"compact\":null,"
		 "\"wpcopy\":null,\"irq\":null},"
		 "\"long\":{\"cpu\":{\"count\":3,\"ns\":51200,\"max_ns\":40000,\"min_ns\":7},"
		 "\"blkio\":{\"count\":null,\"ns\":4611686018427387904,\"max_ns\":null,"
		 "\"min_ns\":null},"
		 "\"swapin\":null,\"reclaim\":null,\"thrash\":null,\"compact\":null,"
		 "\"wpcopy\":null,\"irq\":null}}\n");
}

/* Ends of processes, and notes. */
TEST_WITH(test_rest, open_state, close_state)
{
	const struct note notes[] = { { .id = NOTE_NO_PSI },
				      { .id = NOTE_UNREAD, .value = 2, .error = -EMFILE },
				      { .id = NOTE_UNREAD, .value = 1 } };
	struct state *s = *state;

	json_open_object(&s->json, NULL);
	json_put_exit(&s->json, 3 << 8);
	json_put_notes(&s->json, "notes", notes, 3);
	json_put_notes(&s->json, "none", NULL, 0);
	json_close(&s->json);
	check(s, "{\"exit_code\":3,\"signal\":null,\"notes\":[{\"id\":\"no-psi\",\"text\":"
		 "\"no pressure files: pressure is unknown; boot with the kernel parameter psi=1 "
		 "(CONFIG_PSI, 4.20 or later)\"},{\"id\":\"unread\",\"text\":"
		 "\"2 tasks could not be read (Too many open files) and are not shown\"},"
		 "{\"id\":\"unread\",\"text\":"
		 "\"1 task could not be read and is not shown\"}],\"none\":[]}\n");
	json_open_object(&s->json, NULL);
	json_put_exit(&s->json, 9);
	json_close(&s->json);
	check(s, "{\"exit_code\":null,\"signal\":9}\n");
}

/* Begins a writer of its own, whose calls must not come to an end. */
static struct json *doomed(void)
{
	static struct buf out;
	static struct json json = { .out = &out };

	return &json;
}

/* Puts a member that has no name. */
static void put_nameless(void)
{
	json_open_object(doomed(), NULL);
	json_put_null(doomed(), NULL);
}

/* Puts a name into an array. */
static void put_named(void)
{
	json_open_object(doomed(), NULL);
	json_open_array(doomed(), "array");
	json_put_text(doomed(), "name", "text");
}

/* Puts a name that belongs to nothing. */
static void put_named_outermost(void)
{
	json_open_array(doomed(), "array");
}

/* Closes once too often. */
static void close_twice(void)
{
	json_open_array(doomed(), NULL);
	json_close(doomed());
	json_close(doomed());
}

/* Opens one level too many. */
static void open_too_deep(void)
{
	for (unsigned i = 0; i <= JSON_DEPTH; i++)
		json_open_array(doomed(), NULL);
}

/* Whoever calls out of turn gets no broken JSON, but an end. */
TEST(test_misuse)
{
	void (*const cases[])(void) = { put_nameless, put_named, put_named_outermost, close_twice,
					open_too_deep };
	char text[256];

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(scratch_dying(cases[i], text, sizeof(text)), 1);
		assert_memory_equal(text, "stalltop: JSON: ", 16);
	}
}
