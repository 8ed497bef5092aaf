// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names are bytes that anybody may choose: nothing of them reaches the terminal
 * raw, columns stay straight, and two names never look alike, as each can be
 * had back from what is shown.
 */
#include "tests/lib/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

/* 15 bytes of each count. */
static const char *const names[] = {
	"plain",
	"\x1b]0;x\x07", /* sets a terminal's title */
	"\\x1b]0;x\\x07", /* and who only looks like that */
	"\x1b[2J\x1b[31m",
	"\xc2\x9b"
	"31m", /* C1 in UTF-8 */
	"\x9b"
	"31m", /* and as a byte */
	"\\x9b31m",
	"\\u{9b}31m",
	"a\xe2\x80\xae"
	"b", /* right-to-left override */
	"a\\u{202e}b",
	"a\xe2\x81\xa6"
	"b", /* isolate */
	"a\xd8\x9c"
	"b", /* Arabic letter mark */
	"a\xe2\x80\x8b"
	"b", /* zero-width space */
	"a\xe2\x80\x8d"
	"b", /* joiner */
	"a\xef\xbb\xbf"
	"b", /* byte-order mark */
	"a\xc2\xad"
	"b", /* soft hyphen */
	"a\xe2\x80\xa8"
	"b", /* line separator */
	"a\xcd\x8f"
	"b", /* grapheme joiner */
	"a\xf3\xa0\x81\x81"
	"b", /* tag */
	"a\xef\xb8\x8f"
	"b", /* variation selector */
	"ab",
	"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", /* wide */
	"wide\xe6\xbc\xa2\xe5\xad\x97",
	"aaaaaaaaaaaaaa\xe6\xbc\xa2", /* cut within a character */
	"aaaaaaaaaaaaa\xcc\x81", /* a combining character at the cut */
	"aaaaaaaaaaaaaa\xcc\x81", /* and cut within it */
	"aaaaaaaaaaaa\xe2\x80\x8b", /* zero width at the cut */
	"\xcc\x81"
	"first", /* combining with nothing */
	"e\xcc\x81",
	"\xc3\xa9",
	"\xff\xfe",
	"\xc0\xaf", /* overlong */
	"\xed\xa0\x80", /* surrogate */
	"\xf4\x90\x80\x80", /* past the last character */
	"\\",
	"\\\\",
	"back\\slash",
	"new\nline",
	"carriage\rret",
	"tab\there",
	"tab\\there",
	"del\x7f",
	"a,\"b\",c",
	"'quote'; #",
	" a ",
	"a",
	"=1+1",
	"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", /* joined emoji */
	"-",
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

/* Starts a process for each name. */
static void start_names(pid_t *pids)
{
	char args[4096], *p = args;
	const char *line;
	size_t i, j;
	int used;

	p += sprintf(p, "load_names");
	for (i = 0; i < N_NAMES; i++) {
		*p++ = ' ';
		for (j = 0; names[i][j]; j++)
			p += sprintf(p, "%02x", (unsigned char)names[i][j]);
	}
	assert_true(e2e_load(NULL, "%s", args) > 0);
	line = e2e_load_line();
	for (i = 0; i < N_NAMES; i++, line += used)
		assert_int_equal(sscanf(line, "%d%n", &pids[i], &used), 1);
}

/* The character at a place; its length, or 0 for what is no UTF-8. */
static size_t next_char(const unsigned char *p, uint32_t *c)
{
	size_t n = p[0] < 0x80	 ? 1
		   : p[0] < 0xc2 ? 0
		   : p[0] < 0xe0 ? 2
		   : p[0] < 0xf0 ? 3
		   : p[0] < 0xf5 ? 4
				 : 0,
	       i;

	*c = n <= 1 ? p[0] : p[0] & (0x7fU >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	if ((n == 3 && *c < 0x800) || (n == 4 && *c < 0x10000) || *c > 0x10ffff ||
	    (*c >= 0xd800 && *c < 0xe000))
		return 0;
	return n;
}

/* Controls, and characters that show nothing or turn the line around. */
static bool is_hidden(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{ 0, 0x1f },	    { 0x7f, 0x9f },	  { 0xad, 0xad },     { 0x34f, 0x34f },
		{ 0x61c, 0x61c },   { 0x115f, 0x1160 },	  { 0x180b, 0x180f }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f },	  { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff },
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

/* All of an output is UTF-8 and shows what it holds, line ends excepted. */
static void check_clean(const struct e2e_text *out, const char *allowed)
{
	const unsigned char *p = (const void *)out->data;
	const unsigned char *end = p + out->len;
	uint32_t c;
	size_t n;

	for (; p < end; p += n) {
		n = next_char(p, &c);
		if (!n)
			fail_msg("a raw byte %02x after %.40s", *p, (const char *)p - 20);
		if (is_hidden(c) && (c >= 0x80 || !c || !strchr(allowed, (int)c)))
			fail_msg("raw U+%04X before \"%.40s\"", c, (const char *)p + n);
	}
}

/* A character as UTF-8. */
static char *put_char(char *out, unsigned int c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		if (c < 0x10000) {
			*out++ = (char)(0xe0 | c >> 12);
		} else {
			*out++ = (char)(0xf0 | c >> 18);
			*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/* The bytes that a shown name stands for. */
static const char *unescape(const char *shown)
{
	char *name = e2e_keep(calloc(1, strlen(shown) * 4 + 1)), *out = name;
	unsigned int c;
	int n;

	while (*shown) {
		n = 0;
		if (*shown != '\\') {
			*out++ = *shown++;
		} else if (shown[1] == '\\') {
			*out++ = '\\';
			shown += 2;
		} else if (sscanf(shown, "\\x%2x%n", &c, &n) == 1 && n == 4) {
			*out++ = (char)c;
			shown += n;
		} else if (sscanf(shown, "\\u{%x}%n", &c, &n) == 1 && n > 4) {
			out = put_char(out, c);
			shown += n;
		} else {
			fail_msg("an escape that stands for nothing: %s", shown);
		}
	}
	return name;
}

/* What is shown of a name gives back its bytes: so no two are shown alike. */
static void check_name(const char *shown, size_t i)
{
	char name[16];
	const char *got = unescape(shown);

	/* as the kernel keeps it */
	snprintf(name, sizeof(name), "%.15s", names[i]);
	if (strcmp(got, name))
		fail_msg("name %zu is shown as \"%s\"", i, shown);
}

/* JSON and CSV, in whatever locale. */
E2E_TEST(test_machine_formats)
{
	static const char *const locales[] = { "C.UTF-8", "C" };
	struct e2e_how how = { 0 };
	struct e2e_result r;
	struct samples s;
	struct csv csv;
	pid_t pids[N_NAMES];
	size_t i, k;

	e2e_require();
	start_names(pids);
	for (k = 0; k < 2; k++) {
		how.locale = locales[k];
		e2e_run(&r, &how, "-b -n 1 -d 0.2 -o json");
		check_silent_success(&r);
		check_clean(&r.out, "\n");
		parse_json(&r, &s);
		for (i = 0; i < N_NAMES; i++)
			check_name(member_text(task_must(s.v[0], pids[i]), "comm"), i);
		e2e_run(&r, &how, "-b -n 1 -d 0.2 -o csv");
		check_silent_success(&r);
		check_clean(&r.out, "\r\n");
		parse_csv(r.out.data, r.out.len, &csv);
		for (i = 0; i < N_NAMES; i++)
			check_name(csv_cell(&csv, csv_row(&csv, pids[i]), "comm"), i);
	}
}

/* Where on the screen a place of a line is, in cells. */
static int column_of(const char *line, const char *place)
{
	wchar_t wide[1024];
	char part[1024];
	size_t n;

	assert_true((size_t)(place - line) < sizeof(part));
	snprintf(part, sizeof(part), "%.*s", (int)(place - line), line);
	n = mbstowcs(wide, part, 1024);
	assert_true(n != (size_t)-1);
	return wcswidth(wide, n);
}

/* What stands at and behind a column of the screen. */
static const char *text_at(const char *line, int column)
{
	const char *p = line;

	while (*p && column_of(line, p) < column)
		for (p++; (*p & 0xc0) == 0x80; p++)
			;
	return p;
}

/* Text: the name starts where its heading does, in every row. */
static void check_text(const char *locale, const char *fields)
{
	struct e2e_how how = { .locale = locale };
	struct e2e_result r;
	struct text text;
	pid_t pids[N_NAMES];
	const char *head;
	size_t i, j;
	int column;

	start_names(pids);
	e2e_run(&r, &how, "-b -n 1 -d 0.2%s", fields);
	check_silent_success(&r);
	check_clean(&r.out, "\n");
	parse_text(r.out.data, r.out.len, &text);
	head = text.v[0].heads.line;
	column = column_of(head, strstr(head, "COMMAND"));
	for (i = 0; i < text.v[0].rows; i++) {
		const struct text_row *row = &text.v[0].row[i];
		const char *name = text_at(row->line, column);
		int pid = atoi(row->cell[text_column(&text.v[0], "PID")]);

		/* the cell before ends in a space, and what follows is the name */
		if (column_of(row->line, name) != column || name[-1] != ' ')
			fail_msg("a row is not straight: %s", row->line);
		for (j = 0; j < N_NAMES; j++)
			if (pids[j] == pid)
				check_name(name, j);
	}
	for (j = 0; j < N_NAMES; j++)
		assert_non_null(text_cell(&text.v[0], pids[j], "PID"));
}

/* The default columns. */
E2E_TEST(test_text)
{
	e2e_require();
	check_text("C.UTF-8", "");
}

/* The same without UTF-8: what cannot be shown is escaped. */
E2E_TEST(test_text_c_locale)
{
	e2e_require();
	check_text("C", "");
}

/* Columns of all sorts before the name. */
E2E_TEST(test_text_fields)
{
	e2e_require();
	check_text("C.UTF-8", " -F pid,user,state,elap,run,cpu,irq,ppid,comm");
}

/* Command lines are as little to be trusted as names. */
E2E_TEST(test_command_line)
{
	static const char *const formats[] = { "json", "csv", "text" };
	static const char *const ends[] = { "\n", "\r\n", "\n" };
	/* stops itself: a shell that waits for a child would leave that behind */
	const char *argv[] = { "/bin/sh", "-c", "kill -STOP $$",
			       "\x1b]0;x\x07 \xe2\x80\xae\xff\n\t\\x1b", NULL };
	struct e2e_result r;
	struct e2e_proc p;
	siginfo_t info;
	size_t i;

	e2e_require();
	e2e_start(&p, NULL, argv);
	/* until it has become a shell, and stopped itself */
	assert_int_equal(waitid(P_PID, (id_t)p.pid, &info, WSTOPPED | WNOWAIT), 0);
	for (i = 0; i < 3; i++) {
		e2e_run(&r, NULL, "-b -n 1 -d 0.1 -o %s -F pid,command -p %d", formats[i],
			(int)p.pid);
		check_silent_success(&r);
		check_clean(&r.out, ends[i]);
		if (!strstr(r.out.data, "]0;x"))
			fail_msg("no command line in: %s", r.out.data);
	}
	e2e_kill(p.pid);
	close(p.out);
	close(p.err);
}

TESTS_WITHIN(test_in_utf8, NULL)
