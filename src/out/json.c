/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/json.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "base/util.h"
#include "frame/notes.h"
#include "view/remedies.h"

/* Digits of a double: enough for a time in us, and few values show rounding noise. */
#define REAL_DIGITS 16

void json_out_of_turn(void)
{
	die("JSON: a value out of turn");
}

/* Counts the bytes before `at` as appended. */
static void set_length(struct json *json, const char *at)
{
	json->out->len = (size_t)(at - json->out->data);
}

char *json_digits(struct json *json, char *at, uint64_t value)
{
	set_length(json, at);
	buf_uint(json->out, value);
	return json->out->data + json->out->len;
}

/* Opens a level. */
static void open_level(struct json *json, const char *name, bool object)
{
	char *at = json_begin(json, name);

	if (json->depth == JSON_DEPTH)
		die("JSON: more than %d levels", JSON_DEPTH);
	json->objects = json->objects << 1 | object;
	json->depth++;
	*at++ = object ? '{' : '[';
	set_length(json, at);
}

void json_open_object(struct json *json, const char *name)
{
	open_level(json, name, true);
}

void json_open_array(struct json *json, const char *name)
{
	open_level(json, name, false);
}

void json_close(struct json *json)
{
	char *at = buf_reserve(json->out, 2);

	if (!json->depth)
		die("JSON: nothing to close");
	at -= at[-1] == ',';
	*at++ = json->objects & 1 ? '}' : ']';
	json->objects >>= 1;
	json->depth--;
	json_end(json, at);
}

void json_put_int(struct json *json, const char *name, int64_t value)
{
	char *at = json_begin(json, name);

	if (value < 0)
		*at++ = '-';
	json_end(json, json_digits(json, at, value < 0 ? -(uint64_t)value : (uint64_t)value));
}

void json_put_bool(struct json *json, const char *name, bool value)
{
	char *at = json_begin(json, name);

	memcpy(at, value ? "true" : "false", 5);
	json_end(json, at + (value ? 4 : 5));
}

/* Begins a value of any length: the caller appends it to the buffer and calls end_long(). */
static void begin_long(struct json *json, const char *name)
{
	set_length(json, json_begin(json, name));
}

/* Ends a value begun by begin_long(). */
static void end_long(struct json *json)
{
	json_end(json, buf_reserve(json->out, 1));
}

void json_put_real(struct json *json, const char *name, double value)
{
	struct buf *out = json->out;
	size_t at;

	if (!isfinite(value)) {
		json_put_null(json, name);
		return;
	}
	begin_long(json, name);
	at = out->len;
	buf_printf(out, "%.*g", REAL_DIGITS, value);
	/* Readers distinguish numbers with a fraction from whole numbers. */
	if (!memchr(out->data + at, '.', out->len - at) &&
	    !memchr(out->data + at, 'e', out->len - at))
		buf_add(out, ".0", 2);
	end_long(json);
}

void json_put_fixed(struct json *json, const char *name, uint64_t value, unsigned decimals)
{
	struct buf *out = json->out;

	begin_long(json, name);
	buf_fixed(out, value, decimals);
	while (out->data[out->len - 1] == '0' && out->data[out->len - 2] != '.')
		out->len--;
	end_long(json);
}

/* Puts a backslash before each byte appended from `at` on that JSON requires to be escaped. */
static void quote_from(struct buf *out, size_t at)
{
	size_t n = 0, i;

	for (i = at; i < out->len; i++)
		n += out->data[i] == '"' || out->data[i] == '\\';
	buf_reserve(out, n);
	out->len += n;
	while (n) {
		char c = out->data[--i];

		out->data[i + n] = c;
		if (c == '"' || c == '\\')
			out->data[i + --n] = '\\';
	}
}

/* Bytes that need no escape in a text. */
static const bool is_plain[256] = { [' ' ... '!'] = true,
				    ['#' ... '['] = true,
				    [']' ... '~'] = true };

void json_put_text(struct json *json, const char *name, const char *bytes)
{
	struct buf *out = json->out;
	size_t at, n = 0;

	if (!bytes) {
		json_put_null(json, name);
		return;
	}
	begin_long(json, name);
	buf_putc(out, '"');
	at = out->len;
	/* Most texts need no escaping. */
	while (is_plain[(unsigned char)bytes[n]])
		n++;
	if (!bytes[n]) {
		buf_add(out, bytes, n);
		buf_putc(out, '"');
		end_long(json);
		return;
	}
	/* Leaves neither control bytes nor invalid UTF-8. */
	text_escape(out, bytes, n + strlen(bytes + n), TEXT_UTF8);
	quote_from(out, at);
	buf_putc(out, '"');
	end_long(json);
}

void json_put_seconds(struct json *json, const char *name, bool valid, uint64_t ns)
{
	if (valid)
		json_put_fixed(json, name, ns / NSEC_PER_USEC, 6);
	else
		json_put_null(json, name);
}

void json_put_exit(struct json *json, int status)
{
	bool signaled = WIFSIGNALED(status);

	json_put_counter(json, "exit_code", !signaled, (uint64_t)WEXITSTATUS(status));
	json_put_counter(json, "signal", signaled, (uint64_t)WTERMSIG(status));
}

/* Writes a text of a known length; returns the place after it. */
#define WRITE(at, text) ((char *)memcpy(at, text, sizeof(text) - 1) + sizeof(text) - 1)

/* Writes a counter, null if invalid; returns the place after it. */
static char *write_counter(struct json *json, char *at, bool valid, uint64_t value)
{
	if (!valid)
		return WRITE(at, "null");
	if (value >= 10)
		return json_digits(json, at, value);
	*at = (char)('0' + value);
	return at + 1;
}

/* Appends the delays of one kind, like json_put_counter(): there are many of them. */
static void put_delay(struct json *json, enum delay_kind kind, const struct delay_sum *sum,
		      uint32_t valid, const struct task_record *record)
{
	bool range = record && record->range_valid & DELAY_BIT(kind);
	char *at;

	set_length(json, json_begin(json, delay_table[kind].id));
	at = buf_reserve(json->out,
			 4 * JSON_SHORT + sizeof("{\"count\":,\"ns\":,\"max_ns\":,\"min_ns\":},"));
	at = WRITE(at, "{\"count\":");
	at = write_counter(json, at, valid & DELAY_COUNT_BIT(kind), sum->count);
	at = WRITE(at, ",\"ns\":");
	at = write_counter(json, at, true, sum->ns);
	if (record) {
		at = WRITE(at, ",\"max_ns\":");
		at = write_counter(json, at, range, record->max[kind]);
		at = WRITE(at, ",\"min_ns\":");
		at = write_counter(json, at, range, record->min[kind]);
	}
	*at++ = '}';
	json_end(json, at);
}

void json_put_delays(struct json *json, const char *name, const struct delay_sum *delays,
		     uint32_t valid, const struct task_record *record)
{
	json_open_object(json, name);
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++)
		if (valid & DELAY_BIT(kind))
			put_delay(json, kind, &delays[kind], valid, record);
		else
			json_put_null(json, delay_table[kind].id);
	json_close(json);
}

void json_put_notes(struct json *json, const char *name, const struct note *notes, size_t n)
{
	struct buf text = { 0 };

	json_open_array(json, name);
	for (size_t i = 0; i < n; i++) {
		text.len = 0;
		remedy_append_note(&text, &notes[i]);
		json_open_object(json, NULL);
		json_put_text(json, "id", note_table[notes[i].id].id);
		json_put_text(json, "text", buf_cstr(&text));
		json_close(json);
	}
	json_close(json);
	buf_free(&text);
}
