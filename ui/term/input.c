/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/term/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "ui/term/tty.h"
#include "view/theme.h"

#define ESCAPE '\033'
#define BELL '\a'

/* The time within which a key like an arrow must arrive completely; then it counts as Esc. */
#define KEY_WAIT_NS (50 * NSEC_PER_MSEC)

/* The same for a mouse report or an answer, which cannot be mistaken for typed keys. */
#define MOUSE_WAIT_NS (500 * NSEC_PER_MSEC)

/* Maximum bytes of a key or a report. */
#define KEY_MAX 64

/* Maximum bytes of an answer. */
#define ANSWER_MAX 200

/* A key of that length, or an unfinished one if fewer bytes are there. */
static struct input_key key_of(size_t wanted, size_t len)
{
	return (struct input_key){ .state = wanted <= len ? INPUT_WHOLE : INPUT_UNFINISHED,
				   .len = wanted <= len ? wanted : len };
}

/* Finds a character: several bytes in UTF-8. A byte that is not valid UTF-8 is a key by itself. */
static struct input_key find_character(const char *bytes, size_t len, bool utf8)
{
	unsigned char lead = (unsigned char)bytes[0];
	size_t wanted = !utf8 || lead < 0xC2 || lead > 0xF4 ? 1
			: lead < 0xE0			    ? 2
			: lead < 0xF0			    ? 3
							    : 4;

	for (size_t i = 1; i < wanted && i < len; i++)
		if (((unsigned char)bytes[i] & 0xC0) != 0x80)
			return key_of(1, len);
	return key_of(wanted, len);
}

/* Finds a mouse report of xterm's mode 1006: ESC [ < digits and semicolons, M or m. */
static struct input_key find_report(const char *bytes, size_t len)
{
	struct input_key key = { .mouse = true };
	size_t at = 3;

	while (at < len && ((bytes[at] >= '0' && bytes[at] <= '9') || bytes[at] == ';'))
		at++;
	key.len = at;
	if (at > KEY_MAX || (at < len && bytes[at] != 'M' && bytes[at] != 'm'))
		key.state = INPUT_BROKEN;
	else if (at == len)
		key.state = INPUT_UNFINISHED;
	else
		key.len++;
	return key;
}

/* Finds a key that begins with ESC [, ECMA-48's control sequence, and terminals' variants of it. */
static struct input_key find_sequence(const char *bytes, size_t len)
{
	size_t at = 2;

	if (len > 2 && bytes[2] == '<')
		return find_report(bytes, len);
	if (len > 2 && bytes[2] == 'M') {
		/* A report of the older mode; without more bytes it is a key of some terminals. */
		struct input_key key = key_of(6, len);

		key.mouse = len > 3;
		return key;
	}
	/* The Linux console's first function keys. */
	if (len > 2 && bytes[2] == '[')
		return key_of(4, len);
	while (at < len && bytes[at] >= ' ' && bytes[at] <= '?')
		at++;
	/* A byte that cannot belong to the sequence ends it. */
	if (at > KEY_MAX || (at < len && (bytes[at] < ' ' || bytes[at] > '~')))
		return key_of(at, len);
	return key_of(at + 1, len);
}

/* Length of a string sent by the terminal from there: to BEL or Esc and a backslash. */
static struct input_key end_string(struct input_key key, const char *bytes, size_t len, size_t at)
{
	while (at < len && at < ANSWER_MAX && bytes[at] >= ' ' && bytes[at] <= '~')
		at++;
	key.len = at < len ? at : len;
	if (at >= len || (bytes[at] == ESCAPE && at + 1 == len))
		key.state = INPUT_UNFINISHED;
	else if (bytes[at] == BELL)
		key.len++;
	else if (bytes[at] == ESCAPE && bytes[at + 1] == '\\')
		key.len += 2;
	else
		key.state = INPUT_BROKEN;
	if (key.state == INPUT_UNFINISHED)
		key.len = len;
	return key;
}

/* Finds a report of the terminal about itself: Esc, the second byte, and one of `first`. */
static struct input_key find_string(const char *bytes, size_t len, const char *first)
{
	/* Esc and the second may have been typed. */
	if (len == 2)
		return key_of(3, len);
	if (!bytes[2] || !strchr(first, bytes[2]))
		return key_of(1, len);
	return end_string((struct input_key){ .string = true }, bytes, len, 3);
}

/*
 * Finds the answer about the terminal's background. It never counts as keys, even if it is late or
 * malformed.
 */
static struct input_key find_answer(const char *bytes, size_t len)
{
	size_t at = strlen(THEME_ANSWER);
	struct input_key key = { .answer = true };

	if (len == 2 || memcmp(bytes, THEME_ANSWER, len < at ? len : at) != 0)
		return find_string(bytes, len, "0123456789");
	return end_string(key, bytes, len, at);
}

/* Marks sequences not typed as several keys: they came at once, with more than two bytes. */
static struct input_key mark_sequence(struct input_key key)
{
	key.sequence = !key.mouse && key.len > 2;
	return key;
}

struct input_key input_first_key(const char *bytes, size_t len, bool utf8)
{
	size_t at = 2;

	if (bytes[0] != ESCAPE)
		return find_character(bytes, len, utf8);
	if (len == 1)
		return key_of(2, len);
	switch (bytes[1]) {
	case '[':
		return mark_sequence(find_sequence(bytes, len));
	case ']':
		return find_answer(bytes, len);
	case 'P':
		return find_string(bytes, len, ">!$+=0123456789");
	case 'O':
		/* Function keys; a digit gives the modifiers held down. */
		while (at < len && bytes[at] >= '0' && bytes[at] <= '9')
			at++;
		return mark_sequence(at > KEY_MAX ? key_of(at, len) : key_of(at + 1, len));
	default:
		/* Esc itself: the bytes after it are a separate key. */
		return key_of(1, len);
	}
}

int input_open(struct input *input, int fd, bool utf8)
{
	int ends[2], err;

	*input = (struct input){ .fd = -1, .to = -1, .utf8 = utf8 };
	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
		return -errno;
	input->to = ends[1];
	input->stream = fdopen(ends[0], "r");
	if (!input->stream) {
		err = -errno;
		close(ends[0]);
		input_close(input);
		return err;
	}
	input->fd = tty_reopen(fd, O_RDONLY, &input->blocks);
	if (input->fd >= 0)
		return 0;
	err = -errno;
	input_close(input);
	return err;
}

void input_close(struct input *input)
{
	if (input->stream)
		fclose(input->stream);
	if (input->to >= 0)
		close(input->to);
	if (input->fd >= 0)
		close(input->fd);
	*input = (struct input){ .fd = -1, .to = -1 };
}

/* True if a read returns at once. */
static bool is_readable(const struct input *input)
{
	struct pollfd fd = { .fd = input->fd, .events = POLLIN };

	return !input->blocks || poll(&fd, 1, 0) == 1;
}

/* Reads the available bytes, as many as fit. */
static void read_input(struct input *input, uint64_t now_ns)
{
	ssize_t n;

	if (input->len == sizeof(input->bytes) || !is_readable(input))
		return;
	n = read(input->fd, input->bytes + input->len, sizeof(input->bytes) - input->len);
	if (n > 0) {
		input->len += (size_t)n;
		input->since_ns = now_ns;
	} else if (!n || (errno != EAGAIN && errno != EINTR)) {
		input->ended = true;
	}
}

/* How long an unfinished key waits for the rest. */
static uint64_t typed_wait(const struct input_key *key)
{
	return key->mouse || key->answer || key->string ? MOUSE_WAIT_NS : KEY_WAIT_NS;
}

/* Parses the colour of an answer. */
static void take_answer(struct input *input, const char *bytes, const struct input_key *key)
{
	size_t begin = strlen(THEME_ANSWER), end = key->len;

	end -= bytes[end - 1] == BELL ? 1 : 2;
	input->answered = true;
	input->background = theme_answer(bytes + begin, end - begin);
}

/* True if ncurses should get it: it would take the bytes of an unknown sequence for keys. */
static bool is_handed_on(const struct input *input, const char *bytes, const struct input_key *key)
{
	char sequence[KEY_MAX + 2] = "";

	if (key->answer || key->string || (key->mouse && key->state != INPUT_WHOLE))
		return false;
	if (!key->sequence)
		return true;
	if (!input->knows || key->len >= sizeof(sequence))
		return false;
	memcpy(sequence, bytes, key->len);
	return input->knows(sequence);
}

bool input_feed(struct input *input, uint64_t now_ns)
{
	size_t at = 0;
	bool any = false;

	read_input(input, now_ns);
	while (at < input->len) {
		const char *first = input->bytes + at;
		struct input_key key = input_first_key(first, input->len - at, input->utf8);

		if (key.state == INPUT_UNFINISHED && now_ns < input->since_ns + typed_wait(&key))
			break;
		/* ncurses would take the missing part of a report from the keys after it. */
		if (key.answer && key.state == INPUT_WHOLE)
			take_answer(input, first, &key);
		else if (is_handed_on(input, first, &key))
			any = write(input->to, first, key.len) > 0 || any;
		at += key.len;
	}
	input->len -= at;
	memmove(input->bytes, input->bytes + at, input->len);
	return any;
}

uint64_t input_due_ns(const struct input *input)
{
	struct input_key key;

	if (!input->len)
		return UINT64_MAX;
	key = input_first_key(input->bytes, input->len, input->utf8);
	return input->since_ns + typed_wait(&key);
}
