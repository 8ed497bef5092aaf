/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pattern.h"

#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/util.h"

/* Limits of a pattern: its length, its size once compiled and the depth of its parentheses. */
#define LENGTH_MAX 4096
#define COMPILED_MAX 32768
#define DEPTH 64

/*
 * Backtracking steps that PCRE2 may use per match: STEPS_MAX at first, a millisecond at most. Each
 * match that exceeds the limit halves it, down to about STEPS_MIN: cheap enough for thousands of
 * names.
 */
#define STEPS_MAX 100000
#define STEPS_MIN 4000

/* Limits of a match's memory in KiB, and of its depth: enough for a long command line. */
#define HEAP_MAX 16384
#define BACKTRACKS_MAX 100000

struct pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
	pcre2_jit_stack *stack;
	uint32_t steps; /* the limit of a match's steps */
};

/* A pattern while it is translated from POSIX's syntax to Perl's. */
struct translation {
	struct buf out;
	size_t atom; /* start in `out` of the part that a quantifier would repeat */
	char quantifier; /* first character of that part's quantifier; 0: none */
	size_t open[DEPTH]; /* starts of open parentheses */
	unsigned depth;
};

/* Appends a part that a following quantifier would repeat. */
static void add_atom(struct translation *t, const char *text)
{
	t->atom = t->out.len;
	t->quantifier = 0;
	buf_puts(&t->out, text);
}

/* Appends a literal byte. */
static void add_literal(struct translation *t, char byte)
{
	size_t atom = t->atom;

	add_atom(t, strchr("\\^$.[]|()?*+{}-", byte) ? "\\" : "");
	buf_putc(&t->out, byte);
	/* Continuation bytes of UTF-8 belong to the character's first byte. */
	if (((unsigned char)byte & 0xC0) == 0x80)
		t->atom = atom;
}

/* Takes a backslash and what is after it. Returns the bytes taken. */
static size_t take_escape(struct translation *t, const char *at)
{
	if (at[1] == '<')
		add_atom(t, "\\b(?=\\w)");
	else if (at[1] == '>')
		add_atom(t, "\\b(?<=\\w)");
	else if (at[1] == '`')
		add_atom(t, "\\A");
	else if (at[1] == '\'')
		add_atom(t, "\\z");
	else if (at[1] >= '1' && at[1] <= '9')
		/* Braces separate it from a following digit. */
		add_atom(t, (char[]){ '\\', 'g', '{', at[1], '}', '\0' });
	else if (strchr("bBwWsS", at[1]))
		/* Kept as in Perl; PCRE2 reports a backslash at the end. */
		add_atom(t, (char[]){ '\\', at[1], '\0' });
	else
		add_literal(t, at[1]);
	return at[1] ? 2 : 1;
}

/* Takes "[:alpha:]", "[.a.]" or "[=a=]" in a bracket expression. Bytes taken; 0: none of these. */
static size_t take_class(struct translation *t, const char *at)
{
	const char *end;

	if (*at != '[' || !at[1] || !strchr(":.=", at[1]))
		return 0;
	end = strstr(at + 2, (char[]){ at[1], ']', '\0' });
	if (!end)
		return 0;
	/* PCRE2 knows the classes, and has error messages for elements of several characters. */
	if (at[1] != ':' && end == at + 3)
		add_literal(t, at[2]);
	else
		buf_add(&t->out, at, (size_t)(end + 2 - at));
	return (size_t)(end + 2 - at);
}

/* Translates a bracket expression, in which a backslash is literal. Returns the bytes consumed. */
static size_t take_bracket(struct translation *t, const char *at)
{
	size_t len = 1, start = t->out.len, first;

	buf_putc(&t->out, '[');
	if (at[len] == '^')
		buf_putc(&t->out, at[len++]);
	for (first = len; at[len] && (at[len] != ']' || len == first);) {
		size_t class = take_class(t, at + len);

		if (!class && at[len] == '-')
			buf_putc(&t->out, '-');
		else if (!class)
			add_literal(t, at[len]);
		len += class ? class : 1;
	}
	if (at[len])
		buf_putc(&t->out, at[len++]);
	t->atom = start;
	t->quantifier = 0;
	return len;
}

/* Length of a quantifier at that place ("+", "{2}", "{2,}", "{,3}"); 0: there is none. */
static size_t quantifier(const char *at)
{
	static const char digits[] = "0123456789";
	size_t len;

	if (*at != '{')
		return *at == '*' || *at == '+' || *at == '?';
	len = 1 + strspn(at + 1, digits);
	if (at[len] == ',')
		len += 1 + strspn(at + len + 1, digits);
	return len > 1 && at[len] == '}' ? len + 1 : 0;
}

/* Encloses the part that a quantifier repeats in parentheses. */
static void enclose(struct translation *t)
{
	char *atom;

	buf_puts(&t->out, "(?:)");
	atom = t->out.data + t->atom;
	memmove(atom + 3, atom, t->out.len - t->atom - 4);
	memcpy(atom, "(?:", 3);
	t->out.data[t->out.len - 1] = ')';
}

/* Translates a quantifier. A second one repeats the repetition, which Perl would read otherwise. */
static void take_quantifier(struct translation *t, const char *at, size_t len)
{
	char *last;

	if (t->quantifier && t->quantifier != '{' && *at != '{') {
		last = &t->out.data[t->out.len - 1];
		*last = *last == *at ? *at : '*';
		return;
	}
	if (t->quantifier)
		enclose(t);
	buf_putc(&t->out, *at);
	/* PCRE2 before 10.43 needs a number in front of the comma. */
	if (*at == '{' && at[1] == ',')
		buf_putc(&t->out, '0');
	buf_add(&t->out, at + 1, len - 1);
	t->quantifier = *at;
}

/* Takes a parenthesis. 0, or an error of PCRE2. */
static int take_parenthesis(struct translation *t, const char *at)
{
	if (*at == ')' && !t->depth) {
		add_literal(t, *at);
	} else if (*at == ')') {
		add_atom(t, ")");
		t->atom = t->open[--t->depth];
	} else if (t->depth == DEPTH) {
		return PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP;
	} else if (quantifier(at + 1)) {
		/* Refused: PCRE2 would take them for Perl's "(?" and "(*". */
		return PCRE2_ERROR_QUANTIFIER_INVALID;
	} else {
		t->open[t->depth++] = t->out.len;
		add_atom(t, "(");
	}
	return 0;
}

/* Translates a pattern. 0, or an error of PCRE2. */
static int translate(struct translation *t, const char *at)
{
	size_t len;
	int err = 0;

	for (; *at && !err; at += len) {
		len = quantifier(at);
		if (len) {
			take_quantifier(t, at, len);
		} else if (*at == '\\') {
			len = take_escape(t, at);
		} else if (*at == '[') {
			len = take_bracket(t, at);
		} else {
			len = 1;
			if (*at == '(' || *at == ')')
				err = take_parenthesis(t, at);
			else if (strchr("|^$.", *at))
				add_atom(t, (char[]){ *at, '\0' });
			else
				add_literal(t, *at);
		}
	}
	return err;
}

/* Compiles the translated pattern. 0, or an error of PCRE2. */
static int compile(const struct buf *text, pcre2_code **code)
{
	pcre2_compile_context *limits = pcre2_compile_context_create(NULL);
	uint32_t syntax = PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY, utf = 0;
	size_t at, size = 0;
	int err;

	if (!limits)
		die("out of memory");
	pcre2_set_parens_nest_limit(limits, DEPTH);
	/*
	 * Without the search for possible starts of a match: that of 10.46 misses the match of
	 * "a?b\w{2}" in "bé1". It saved 0.01 us per name, and 0.1 us per command line.
	 */
	if (!strcmp(nl_langinfo(CODESET), "UTF-8"))
		utf = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NO_START_OPTIMIZE;
	*code = pcre2_compile((PCRE2_SPTR)text->data, text->len, syntax | utf, &err, &at, limits);
	/* A negative error: the pattern is not UTF-8. Then it is matched as bytes. */
	if (!*code && err < 0)
		*code = pcre2_compile((PCRE2_SPTR)text->data, text->len, syntax, &err, &at, limits);
	pcre2_compile_context_free(limits);
	if (!*code)
		return err;
	pcre2_pattern_info(*code, PCRE2_INFO_SIZE, &size);
	if (size <= COMPILED_MAX)
		return 0;
	pcre2_code_free(*code);
	return PCRE2_ERROR_PATTERN_TOO_LARGE;
}

struct pattern *pattern_compile(const char *text, struct buf *why)
{
	struct translation t = { 0 };
	struct pattern *pattern;
	pcre2_code *code;
	PCRE2_UCHAR words[128];
	int err = PCRE2_ERROR_PATTERN_STRING_TOO_LONG;

	if (strlen(text) <= LENGTH_MAX)
		err = translate(&t, text);
	buf_cstr(&t.out);
	if (!err)
		err = compile(&t.out, &code);
	buf_free(&t.out);
	if (err) {
		pcre2_get_error_message(err, words, sizeof(words));
		buf_puts(why, (const char *)words);
		return NULL;
	}
	pattern = xcalloc(1, sizeof(*pattern));
	*pattern = (struct pattern){ code, pcre2_match_data_create(1, NULL),
				     pcre2_match_context_create(NULL),
				     pcre2_jit_stack_create(1, HEAP_MAX * 1024, NULL), STEPS_MAX };
	if (!pattern->data || !pattern->limits)
		die("out of memory");
	/* Without machine code, or its stack, PCRE2 interprets the pattern. */
	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	pcre2_jit_stack_assign(pattern->limits, NULL, pattern->stack);
	pcre2_set_match_limit(pattern->limits, pattern->steps);
	pcre2_set_depth_limit(pattern->limits, BACKTRACKS_MAX);
	pcre2_set_heap_limit(pattern->limits, HEAP_MAX);
	return pattern;
}

bool pattern_matches(struct pattern *pattern, const char *text)
{
	int found = pcre2_match(pattern->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0,
				pattern->data, pattern->limits);

	if (found < PCRE2_ERROR_NOMATCH && pattern->steps > STEPS_MIN) {
		debug_log("a pattern takes too long: error %d of PCRE2", found);
		pattern->steps /= 2;
		pcre2_set_match_limit(pattern->limits, pattern->steps);
	}
	return found >= 0;
}

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_code_free(pattern->code);
	pcre2_match_data_free(pattern->data);
	pcre2_match_context_free(pattern->limits);
	pcre2_jit_stack_free(pattern->stack);
	free(pattern);
}
