// SPDX-License-Identifier: GPL-2.0-or-later
/* The view of sites: what a task waited on, by name, with the screen as a person sees it. */
#include "tests/lib/crowd.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"
#include "tests/lib/table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The sanitizers' own functions stand before those that call the library. */
#if defined(LIBDW_BUILT) && !defined(__SANITIZE_ADDRESS__)
#define HAS_NAMES true
#else
#define HAS_NAMES false
#endif

#define BLOCK 4096
#define BLOCKS 1024

/* A child under a name that dies with the test; 0 in the child. */
static pid_t fork_worker(const char *name)
{
	pid_t pid = fork();

	if (pid)
		return scratch_child(pid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, scratch_ours(name));
	return 0;
}

/* A file of some MB; skips where it cannot be read past the page cache. */
static const char *make_file(const char *name)
{
	const char *path = scratch_path(name);
	int fd = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	void *block = NULL;

	if (fd < 0 && errno == EINVAL)
		scratch_skip("no direct I/O in the folder of temporary files");
	assert_true(fd >= 0 && !posix_memalign(&block, BLOCK, BLOCK));
	memset(block, 1, BLOCK);
	for (int i = 0; i < BLOCKS; i++)
		assert_int_equal(pwrite(fd, block, BLOCK, (off_t)i * BLOCK), BLOCK);
	free(block);
	close(fd);
	return path;
}

/* Reads a file for ever, past the page cache, and now and then another; NULL: none. */
static pid_t read_for_ever(const char *name, const char *path, const char *other)
{
	pid_t pid = fork_worker(name);
	void *block = NULL;
	int fds[2];

	if (pid)
		return pid;
	fds[0] = open(path, O_RDONLY | O_DIRECT);
	fds[1] = other ? open(other, O_RDONLY | O_DIRECT) : fds[0];
	if (fds[0] < 0 || fds[1] < 0 || posix_memalign(&block, BLOCK, BLOCK))
		_exit(1);
	for (unsigned i = 0;; i += 7)
		if (pread(fds[i % 8 == 0], block, BLOCK, (off_t)(i % BLOCKS) * BLOCK) != BLOCK)
			_exit(1);
}

/* Reads an empty pipe for ever. */
static pid_t read_pipe(const char *name)
{
	int pipe_fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork_worker(name);
	if (pid) {
		/* The test keeps the other end. */
		close(pipe_fds[0]);
		return pid;
	}
	while (read(pipe_fds[0], &byte, 1) >= 0)
		;
	_exit(1);
}

/* Polls for ever: a daemon that has nothing to do. */
static pid_t poll_for_ever(const char *name)
{
	pid_t pid = fork_worker(name);

	if (pid)
		return pid;
	for (;;)
		poll(NULL, 0, 500);
}

/* Starts, and opens the sites of the task of that name. */
static struct screen *open_sites(int rows, int cols, const char *name)
{
	struct screen *s = screen_start(
		&(struct screen_how){ .rows = rows, .cols = cols, .args = "-d 1 -m ^crowd" });

	screen_await(s, table_has_rows, NULL);
	screen_await(s, table_has_name, name);
	table_select(s, name);
	screen_type(s, "w");
	screen_await_text(s, "waits of process");
	screen_await_text(s, name);
	return s;
}

/* The line with both words; -1: none. */
static int line_with(struct screen *s, const char *a, const char *b)
{
	for (int row = 0; row < screen_rows(s); row++)
		if (strstr(screen_line(s, row), a) && strstr(screen_line(s, row), b))
			return row;
	return -1;
}

/* Whether a line is the first, but for waits for a CPU: on a busy machine these may be more. */
static bool is_first(struct screen *s, int line)
{
	int first = line_with(s, "STATE", "TIME") + 1;

	while (first < line && !strncmp(screen_line(s, first), "cpu ", 4))
		first++;
	return line == first;
}

/* Whether a line begins with a state and has a text. */
struct site_is {
	const char *state, *text;
};

static bool shows_site(struct screen *s, const void *arg)
{
	const struct site_is *is = arg;

	for (int row = 1; row < screen_rows(s); row++) {
		const char *line = screen_line(s, row);

		if (!strncmp(line, is->state, strlen(is->state)) && strstr(line, is->text))
			return true;
	}
	return false;
}

/* Waits for such a line. */
static void await_site(struct screen *s, const char *state, const char *text)
{
	const struct site_is is = { state, text };

	screen_await(s, shows_site, &is);
}

/* Waits for such a line, and opens its page: it need not be the one that is selected. */
static void open_site(struct screen *s, const char *state, const char *text)
{
	await_site(s, state, text);
	screen_click(s, line_with(s, state, text), 10, 1);
	screen_type(s, "\r");
}

/* Two of three files are read, one of them more: each is named, with all that is known of it. */
SCREEN_TEST(names_file)
{
	const char *other;
	struct screen *s;

	make_file("innocent");
	other = make_file("other");
	read_for_ever("crowd-reads", make_file("culprit"), other);
	crowd_sleeper("crowd-idle");
	s = open_sites(30, 80, "crowd-reads");
	await_site(s, "io ", "culprit");
	screen_check(s, line_with(s, "STATE", "WHERE") >= 0);
	screen_check(s, line_with(s, "io ", "pread64") >= 0);
	await_site(s, "io ", "/other");
	screen_check(s, !screen_shows(s, "innocent"));
	/* what is waited for a disk stands out, and is the most */
	screen_check(s, is_first(s, line_with(s, "io ", "culprit")));
	/* the page of the file */
	screen_click(s, line_with(s, "io ", "culprit"), 10, 1);
	screen_type(s, "\r");
	screen_await_text(s, "io: waits for block I/O");
	screen_check(s, screen_shows(s, "/culprit"));
	screen_check(s, screen_shows(s, "pread64"));
	screen_check(s, screen_shows(s, "Latency"));
	screen_check(s, screen_shows(s, "p99"));
	screen_type(s, "\033");
	await_site(s, "io ", "culprit");
	/* added up by state, it is no file any more */
	screen_type(s, "g");
	screen_await_text(s, "by state");
	screen_await_no_text(s, "culprit");
	await_site(s, "io ", "pread64");
	screen_check(s, is_first(s, line_with(s, "io ", "pread64")));
	screen_type(s, "\033");
	screen_await(s, table_has_rows, NULL);
	screen_await(s, table_has_name, "crowd-reads");
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
}

/* The sum has it, too, and a narrow screen has the end of its path. */
SCREEN_TEST(names_file_anywhere)
{
	static const int sizes[][2] = { { 10, 40 }, { 24, 80 }, { 40, 200 } };
	struct screen *s;

	read_for_ever("crowd-reads", make_file("culprit"), NULL);
	poll_for_ever("crowd-polls");
	s = screen_start(&(struct screen_how){ .args = "-d 1 -m ^crowd" });
	screen_await(s, table_has_name, "crowd-polls");
	screen_type(s, "S");
	screen_await_text(s, "sum of");
	screen_type(s, "w");
	screen_await_text(s, "waits of 2 tasks, without idle");
	for (unsigned i = 0; i < 3; i++) {
		screen_resize(s, sizes[i][0], sizes[i][1]);
		await_site(s, "io ", "culprit");
		screen_check(s, !shows_site(s, &(struct site_is){ "poll ", "" }));
	}
	screen_type(s, "i");
	await_site(s, "poll ", "-polls");
}

/* Whether all cells of a line look alike, but for what is not known: nothing stands out. */
static bool looks_even(struct screen *s, int row)
{
	struct screen_look first = screen_look(s, row, 0);
	const char *text = screen_line(s, row);

	for (int col = 0; text[col]; col++) {
		struct screen_look look = screen_look(s, row, col);

		if (strchr(" -", text[col]))
			continue;
		if (look.bold != first.bold || look.fg != first.fg || look.bg != first.bg ||
		    look.reverse != first.reverse)
			return false;
	}
	return true;
}

/* A daemon that polls waits for the whole interval, and that is nothing to be alarmed at. */
SCREEN_TEST(leaves_idle_alone)
{
	struct screen *s;
	int row;

	poll_for_ever("crowd-polls");
	s = open_sites(24, 80, "crowd-polls");
	await_site(s, "poll ", "poll");
	row = line_with(s, "STATE", "TIME") + 1;
	screen_check(s, !strncmp(screen_line(s, row), "poll ", 5));
	screen_check(s, looks_even(s, row));
}

/* A reader of an empty pipe is found in the pipe. */
SCREEN_TEST(names_pipe)
{
	struct screen *s;

	read_pipe("crowd-pipes");
	s = open_sites(24, 80, "crowd-pipes");
	open_site(s, "pipe ", "read");
	screen_await_text(s, "waits for a pipe");
	screen_await_text(s, "1 thread waits right now");
}

/* Stops a reader while its page is open: the page stays, with all of the last interval. */
static void stop_reader(struct screen *s, pid_t pid)
{
	assert_int_equal(kill(pid, SIGSTOP), 0);
	screen_await_text(s, "no waits here in the last interval; the last one with");
}

/* Lets a reader go on. */
static void continue_reader(struct screen *s, pid_t pid)
{
	assert_int_equal(kill(pid, SIGCONT), 0);
	screen_await_no_text(s, "no waits here");
}

/* A client that waits for a server, which sleeps 30 ms of each answer's 40 and runs the rest. */
static void ask_for_ever(void)
{
	int ends[2];
	char byte = 'x';

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	if (!fork_worker("crowd-serves"))
		while (read(ends[1], &byte, 1) == 1) {
			struct timespec begun, now, nap = { 0, 30000000 };

			nanosleep(&nap, NULL);
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
			do {
				clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
			} while ((now.tv_sec - begun.tv_sec) * 1000 +
					 (now.tv_nsec - begun.tv_nsec) / 1000000 <
				 10);
			if (write(ends[1], &byte, 1) != 1)
				_exit(1);
		}
	if (!fork_worker("crowd-asks"))
		while (write(ends[0], &byte, 1) == 1)
			if (read(ends[0], &byte, 1) != 1)
				_exit(1);
	close(ends[0]);
	close(ends[1]);
}

/* Why a task waits, of its row, and of the line of its sites: down to what others did. */
SCREEN_TEST(shows_chain)
{
	struct screen *s;

	ask_for_ever();
	s = screen_start(&(struct screen_how){ .args = "-d 1 -m ^crowd" });
	screen_await(s, table_has_rows, NULL);
	screen_await(s, table_has_name, "crowd-asks");
	table_select(s, "crowd-asks");
	screen_type(s, "C");
	screen_await_text(s, "chain of");
	screen_await_text(s, "Root causes");
	screen_await_text(s, "sleep of crowd-serves");
	screen_check(s, line_with(s, "-serves", " on CPU") >= 0);
	screen_check(s, line_with(s, "└─ ", "-serves") >= 0);
	screen_check(s, line_with(s, "Wait chain:", "wakers, and what") >
				line_with(s, "sleep of", "-serves"));
	screen_type(s, "\033");
	screen_await(s, table_has_name, "crowd-asks");
	screen_type(s, "w");
	await_site(s, "net ", "");
	/* Tracing has gone on meanwhile: there is no frame without lines. */
	screen_click(s, line_with(s, "net ", "read"), 10, 1);
	screen_type(s, "C");
	screen_await_text(s, "chain of crowd-asks");
	screen_await_text(s, "sleep of crowd-serves");
}

/* Tracing ends when its last page was left. */
SCREEN_TEST(ends_tracing)
{
	struct screen *s;

	read_for_ever("crowd-reads", make_file("culprit"), NULL);
	s = open_sites(30, 120, "crowd-reads");
	await_site(s, "io ", "culprit");
	/* Where there is room for what it costs. */
	screen_resize(s, 30, 160);
	screen_settle(s);
	screen_type(s, "\x1b");
	/* By the sample that was taken while it was there, then by the next. */
	screen_await_text(s, " trace ");
	screen_await_no_text(s, " trace ");
}

/* A page stays as it was seen last when nothing waits there any more, and says so. */
SCREEN_TEST(keeps_page)
{
	struct screen *s;
	pid_t pid;

	pid = read_for_ever("crowd-reads", make_file("culprit"), NULL);
	s = open_sites(30, 80, "crowd-reads");
	open_site(s, "io ", "culprit");
	screen_await_text(s, "io: waits for block I/O");
	screen_check(s, !screen_shows(s, "no waits here"));
	stop_reader(s, pid);
	/* Of an interval that had hardly begun no wait ended. */
	for (int i = 0; i < 5 && screen_shows(s, "no wait ended"); i++) {
		continue_reader(s, pid);
		screen_await_text(s, "p99");
		stop_reader(s, pid);
	}
	screen_check(s, screen_shows(s, "io: waits for block I/O"));
	screen_check(s, screen_shows(s, "/culprit"));
	screen_check(s, screen_shows(s, "Woken by"));
	screen_check(s, screen_shows(s, "p99"));
	continue_reader(s, pid);
	screen_check(s, screen_shows(s, "/culprit"));
}

/* Nothing in a file's name acts on the terminal. */
SCREEN_TEST(escapes_names)
{
	struct screen *s;

	read_for_ever("crowd-reads", make_file("a\033[2Jb\nc"), NULL);
	s = open_sites(24, 120, "crowd-reads");
	open_site(s, "io ", "\\x1b[2Jb\\x0ac");
	screen_await_text(s, "io: waits for block I/O");
	screen_check(s, screen_shows(s, "\\x1b[2Jb\\x0ac"));
}

/* Types keys one by one. */
static void type_each(struct screen *s, const char *keys)
{
	for (; *keys; keys++) {
		const char key[] = { *keys, '\0' };

		screen_type(s, key);
		screen_settle(s);
	}
}

/* It opens for a thread, from a detail, for a group and below help; on screens of any size. */
SCREEN_TEST(opens_anywhere)
{
	static const int sizes[][2] = { { 1, 20 }, { 3, 10 }, { 5, 40 }, { 8, 30 }, { 24, 80 } };
	static const char *const titles[] = { "waits of process", "waits of command" };
	static const char *const keys[] = { "Hvw", "gggwi" };
	struct screen *s;

	crowd_threads("crowd-main", "crowd-thread");
	poll_for_ever("crowd-polls");
	for (unsigned i = 0; i < 2; i++) {
		s = screen_start(&(struct screen_how){ .args = "-d 1 -m ^crowd" });
		screen_await(s, table_has_rows, NULL);
		type_each(s, keys[i]);
		screen_await_text(s, "STATE");
		screen_await_text(s, "pause");
		type_each(s, "g\rh");
		for (unsigned size = 0; size < 5; size++) {
			screen_resize(s, sizes[size][0], sizes[size][1]);
			screen_settle(s);
		}
		type_each(s, "\033\033");
		screen_await_text(s, titles[i]);
		screen_await_text(s, "by state");
		type_each(s, i ? "\033" : "\033\033");
		screen_await(s, table_has_rows, NULL);
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 5), 0);
	}
}

/* Without sites the views say so, and not that nothing waited. */
SCREEN_TEST(says_states_alone)
{
	pid_t pid = crowd_sleeper("crowd-idle");
	struct screen *s = screen_start(&(struct screen_how){
		.args = scratch_format("-d 0.5 --trace --trace-sites 0 -p %d", (int)pid) });

	screen_await_text(s, "Where it waits");
	screen_await_text(s, "only states are traced");
	screen_type(s, "w");
	screen_await_text(s, "switches/s");
	screen_await_text(s, "only states are traced");
}

/* Without privileges it is said why, and what waits right now is shown. */
SCREEN_TEST(says_why_not)
{
	struct screen *s;

	if (geteuid())
		scratch_skip("needs root");
	crowd_sleeper("crowd-idle");
	s = screen_start(&(struct screen_how){ .args = "-d 1 -m ^crowd", .uid = 65534 });
	screen_await(s, table_has_name, "crowd-idle");
	screen_type(s, "w");
	screen_await_text(s, "waits are not traced");
	screen_await(s, table_has_name, "crowd-idle");
	/* there is nothing to open, nor to group */
	screen_type(s, "\rg\r");
	screen_settle(s);
	screen_check(s, screen_shows(s, "waits are not traced"));
	screen_type(s, "\033");
	screen_await(s, table_has_figures, NULL);
	screen_type(s, "q");
	assert_int_equal(screen_end(s, 5), 0);
	/* the same where it was asked for from the start */
	s = screen_start(&(struct screen_how){ .args = "-d 1 -m ^crowd --trace", .uid = 65534 });
	screen_await(s, table_has_name, "crowd-idle");
	screen_type(s, "w");
	screen_await_text(s, "waits of process");
	screen_await_text(s, "waits are not traced");
}

/* A bar of the letter, in the row of that name. */
struct bar_is {
	const char *name;
	char letter;
};

/* The first cell of the letter in the row's bar; -1: it has none. */
static int bar_cell(struct screen *s, const struct bar_is *is, int *line)
{
	const struct table_head *head;
	struct table t;

	if (!table_read(s, &t) || !(head = table_head(&t, "STATES")))
		return -1;
	*line = table_find_name(s, &t, is->name);
	for (int col = head->start; *line >= 0 && col <= head->end; col++)
		if (screen_line(s, *line)[col] == is->letter)
			return col;
	return -1;
}

static bool shows_bar(struct screen *s, const void *is)
{
	int line;

	return bar_cell(s, is, &line) >= 0;
}

/* How the letter looks in the row's bar, once it is there. */
static struct screen_look look_of_bar(struct screen *s, const char *name, char letter)
{
	const struct bar_is is = { name, letter };
	int line, cell;

	screen_await(s, shows_bar, &is);
	cell = bar_cell(s, &is, &line);
	return screen_look(s, line, cell);
}

/* What its letters mean is above the heads, at any width, looks as they do, and is in help. */
static void check_legend(struct screen *s, const struct table *t)
{
	struct screen_look bar = look_of_bar(s, "crowd-spins", 'r');
	struct screen_look legend = screen_look(s, t->head - 1, 0);

	screen_check(s, !strncmp(screen_line(s, t->head - 1), "r running c runnable ", 21));
	screen_check(s, legend.bg == bar.bg && legend.fg == bar.fg);
	screen_resize(s, 24, 200);
	screen_await_text(s, "r running  c runnable  i in block I/O  b blocked  l on locks ");
	screen_resize(s, 24, 120);
	screen_await_text(s,
			  "r run  c cpu  i io  b dwait  l lock  n net  p pipe  . poll  t timer ");
	screen_resize(s, 24, 80);
	screen_await_text(s,
			  "r run c cpu i io b dwait l lock n net p pipe . poll t timer w child ");
	screen_type(s, "?");
	screen_await_text(s, "queued for a CPU, or throttled");
	screen_type(s, "q\t");
	screen_await_no_text(s, "r run c cpu");
}

/* The preset of states has them, by tracing; what is not idle has colours, where there are any. */
SCREEN_TEST(shows_states)
{
	static const char *const plain[] = { "NO_COLOR=1", NULL };
	struct screen *s;
	struct table t;
	int line;

	crowd_sleeper("crowd-idle");
	poll_for_ever("crowd-polls");
	crowd_spinner("crowd-spins", 0);
	for (unsigned i = 0; i < 2; i++) {
		s = screen_start(&(struct screen_how){ .rows = 24,
						       .cols = 158,
						       .args = "-d 1 -m ^crowd",
						       .env = i ? plain : NULL });
		screen_await(s, table_has_name, "crowd-polls");
		screen_type(s, "\033[Z");
		screen_await_text(s, "preset states");
		screen_await(s, table_has_head, "SPOLL");
		screen_await_text(s, "..........");
		table_must(s, &t);
		line = table_find_name(s, &t, "crowd-polls");
		screen_check(s, line >= 0 && table_number(s, &t, line, "SPOLL") > 90);
		/* The selected row has colours of its own. */
		table_select(s, "crowd-idle");
		screen_check(s, (look_of_bar(s, "crowd-spins", 'r').fg ==
				 look_of_bar(s, "crowd-polls", '.').fg) == (i == 1));
		check_legend(s, &t);
	}
}

/* The text of the file in the folder of the test; NULL: there is none. */
static const char *text_of(const char *path)
{
	static char text[4096];
	FILE *file = fopen(path, "r");
	size_t n;

	if (!file)
		return NULL;
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

/* State is sorted by, then the other way round. */
static void sort_sites(struct screen *s)
{
	type_each(s, "<");
	screen_await_text(s, "\342\226\262");
	screen_check(s, line_with(s, "pipe ", "-reads") < line_with(s, "poll ", "-polls"));
	type_each(s, "R");
	screen_await_text(s, "\342\226\274");
	screen_check(s, line_with(s, "pipe ", "-reads") > line_with(s, "poll ", "-polls"));
}

/* The selection goes with what is searched for. */
static void search_sites(struct screen *s)
{
	type_each(s, "L");
	screen_type(s, "-reads\r");
	screen_settle(s);
	screen_type(s, "\r");
	screen_await_text(s, "pipe: waits for a pipe");
	type_each(s, "\033L");
	screen_type(s, "nobody\r");
	screen_await_text(s, "not found: nobody");
}

/* Without the second field, and with the class, of which the list has the meaning. */
static void choose_site_fields(struct screen *s)
{
	type_each(s, "f");
	screen_await_text(s, "fields of sites:");
	screen_type(s, "time");
	screen_settle(s);
	screen_type(s, " ");
	screen_type(s, "class");
	screen_settle(s);
	screen_type(s, " ");
	screen_await_text(s, "[x] class");
	type_each(s, "q");
	screen_await_text(s, "CLASS");
	screen_await_no_text(s, "TIME");
	screen_await_text(s, "parked");
	type_each(s, "?");
	screen_await_text(s, "the state in which it waited");
}

/* A narrow screen scrolls what does not fit. */
static void scroll_fields(struct screen *s)
{
	screen_resize(s, 24, 40);
	screen_await_no_text(s, "CLASS");
	for (unsigned i = 0; i < 12; i++)
		screen_key(s, VTERM_KEY_RIGHT);
	screen_await_text(s, "CLASS");
}

/* Fields, order and search are those of the table, by the same keys; W keeps them. */
SCREEN_TEST(chooses_fields)
{
	const char *home = scratch_format("%s/home", scratch_folder());
	const char *config = scratch_format("%s/stalltop/config", home);
	const struct screen_how how = {
		.rows = 24, .cols = 150, .args = "-d 1 -m ^crowd", .config_home = home
	};
	struct screen *s;

	poll_for_ever("crowd-polls");
	read_pipe("crowd-reads");
	s = screen_start(&how);
	screen_await(s, table_has_name, "crowd-polls");
	screen_await(s, table_has_name, "crowd-reads");
	type_each(s, "Swi");
	screen_await_text(s, "waits of 2 tasks");
	await_site(s, "poll ", "-polls");
	await_site(s, "pipe ", "-reads");
	screen_await_text(s, "TIME");
	sort_sites(s);
	search_sites(s);
	choose_site_fields(s);
	type_each(s, "qW");
	screen_await_text(s, "stalltop/config");
	screen_check(s, strstr(text_of(config), "\nsite-sort = -state\n"));
	screen_check(s, strstr(text_of(config), "\nsite-fields = state,"));
	scroll_fields(s);
	type_each(s, "\033\033q");
	assert_int_equal(screen_end(s, 5), 0);
	s = screen_start(&how);
	screen_await(s, table_has_name, "crowd-polls");
	type_each(s, "Sw");
	screen_await_text(s, "\342\226\274");
	screen_await_text(s, "CLASS");
	screen_check(s, !screen_shows(s, "TIME"));
}

/* Sites of a recording are shown as when it was made; where there are none, it says so. */
SCREEN_TEST(shows_recorded)
{
	static const char *const traces[] = { "--trace", "" };
	read_pipe("crowd-pipes");
	for (size_t i = 0; i < 2; i++) {
		const char *path = scratch_format("%s/sites-%zu.db", scratch_folder(), i);
		const char *args = scratch_format("-d 0.2 -m ^crowd %s -w %s", traces[i], path);
		struct screen *s =
			screen_start(&(struct screen_how){ .rows = 24, .cols = 160, .args = args });

		screen_await(s, table_has_figures, NULL);
		if (*traces[i])
			screen_await_text(s, "trace");
		screen_pump(s, 1);
		screen_type(s, "q");
		assert_int_equal(screen_end(s, 10), 0);
		args = scratch_format("-d 0.1 -m ^crowd-pipes -R %s", path);
		s = screen_start(&(struct screen_how){ .rows = 24, .cols = 100, .args = args });
		screen_await(s, table_has_figures, NULL);
		screen_type(s, "w");
		if (*traces[i])
			await_site(s, "pipe ", "read");
		else
			screen_await_text(s, "waits were not traced");
		screen_type(s, "q");
	}
}

/* Whether functions of programs are known. */
static bool has_functions(void)
{
	struct utsname kernel;

	return !uname(&kernel) && !strcmp(kernel.machine, "x86_64") && HAS_NAMES;
}

/* Starts a process that waits for a lock, and one that holds it for most of the time. */
static void start_lock(pid_t *waits, const char *waiter, const char *holder)
{
	const char *path = scratch_path("lock");

	*waits = scratch_child(fork());
	if (!*waits) {
		int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, scratch_ours(waiter));
		for (;; flock(fd, LOCK_UN), usleep(1000))
			flock(fd, LOCK_EX);
	}
	if (!scratch_child(fork())) {
		int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, scratch_ours(holder));
		for (;; flock(fd, LOCK_UN), usleep(1000)) {
			flock(fd, LOCK_EX);
			usleep(40000);
		}
	}
}

/* Whether the page of the process says that it waits for the other to let go of the lock. */
static bool tells_lock(struct screen *s, const void *arg)
{
	int time = screen_find(s, "Time", 0), sites = screen_find(s, "Where it waits", 0);

	(void)arg;
	return time > 0 && screen_find(s, "on CPU ", time) == time + 1 &&
	       screen_find(s, "blocked ", time) == time + 1 &&
	       screen_find(s, " lock ", time) == time + 1 &&
	       strstr(screen_line(s, time + 2), "llllllllllll") && sites > time &&
	       screen_find(s, "flock", sites) > sites &&
	       screen_find(s, "Root causes", sites) > sites &&
	       screen_find(s, scratch_ours("sleep of crowd-holds"), sites) > sites;
}

/* Who asks for one process gets its page: where its time goes, on what, and why; Esc: the table. */
SCREEN_TEST(opens_only_process)
{
	struct screen *s;
	pid_t waits;

	start_lock(&waits, "crowd-waits", "crowd-holds");
	s = screen_start(&(struct screen_how){
		.rows = 40, .cols = 110, .args = scratch_format("-d 1 -p %d", waits) });
	screen_await(s, tells_lock, NULL);
	/* And from where in its program the other waits meanwhile. */
	if (has_functions()) {
		screen_await_text(s, "clock_nanosleep at ");
		screen_await_text(s, " (ui_sites.c:");
	}
	screen_type(s, "\x1b");
	screen_await(s, table_has_name, "crowd-waits");
	screen_check(s, !screen_shows(s, "Root causes"));
}

/*
 * Of the process that is open: in the table where in its program it waits, and on the page of a
 * site who calls that.
 */
SCREEN_TEST(names_functions)
{
	char path[PATH_MAX];
	struct screen *s;
	pid_t pid;

	if (!has_functions())
		scratch_skip("no functions of programs here");
	assert_non_null(
		realpath(scratch_format("%s/load/load_stack", getenv("TESTS_BUILDDIR")), path));
	pid = fork_worker("crowd-code");
	if (!pid) {
		close(STDOUT_FILENO);
		execl(path, path, "1000000", (char *)NULL);
		_exit(1);
	}
	s = screen_start(&(struct screen_how){
		.rows = 40, .cols = 160, .args = scratch_format("-d 1 -p %d", pid) });
	screen_await_text(s, "wait_in_poll (load_");
	screen_type(s, "w");
	screen_await_text(s, "waits of process");
	screen_await_text(s, "wait_in_poll (load_");
	/* The first line is of the thread that waits most. */
	screen_type(s, "\r");
	screen_await_text(s, "Where in the program, and its callers");
	screen_await_text(s, "answer (load_stack.c:");
	/* Without callers there is the function alone in which they wait. */
	screen_type(s, "-");
	screen_await_text(s, "Where in the program (-: its callers)");
	screen_await_no_text(s, "answer (load_stack.c:");
	screen_type(s, "-");
	screen_await_text(s, "answer (load_stack.c:");
}
