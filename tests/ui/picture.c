// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes the picture of the README: runs the program on a terminal beside some loads, and writes
 * what the screen shows as SVG.
 *   picture FILE.svg
 */
#include "config.h"

#include "tests/lib/box.h"
#include "base/buf.h"
#include "tests/lib/guard.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ROWS 20
#define COLS 116
/* A cell in pixels, how far above its lower edge letters stand, and the margin. */
#define CELL_WIDTH 8.4
#define CELL_HEIGHT 18
#define BASELINE 5
#define MARGIN 8
/* Until the averages over ten seconds are those of the loads. */
#define SETTLE 16.0
#define GROUP_MIB 32

/* The colours of the terminal, where the program chooses none. */
#define FOREGROUND 0x1c1c1cU
#define BACKGROUND 0xfcfcfcU

/* What runs beside the program. Its files lie in the folder that it is started in. */
struct beside {
	bool in_group; /* in a memory cgroup of its own, of GROUP_MIB */
	const char *program; /* NULL: the load of that name */
	const char *const argv[5];
};

static const struct beside loads[] = {
	{ false, NULL, { "load_kind", "-w", "3", "cpu" } },
	{ false, NULL, { "load_kind", "blkio" } },
	{ false, NULL, { "load_kind", "wpcopy" } },
	{ true, NULL, { "load_kind", "reclaim" } },
	{ true, NULL, { "load_kind", "thrash" } },
	{ false, NULL, { "load_hang", "hold" } },
	{ false, "/bin/sh", { "sh", "-c", "while :; do sleep 0.1; done" } },
};

/* Starts a load in the test's folder. One that has no group, but needs it, is left out. */
static void start_load(const struct beside *load)
{
	const char *dir = getenv("TESTS_BUILDDIR");
	const char *program =
		load->program ? load->program
			      : scratch_format("%s/load/%s", dir ? dir : "tests", load->argv[0]);
	const char *folder = scratch_folder();
	char group[300];
	pid_t pid;
	int fd;

	if (load->in_group && box_cgroup(GROUP_MIB, group, sizeof(group)))
		return;
	pid = fork();
	if (pid) {
		scratch_child(pid);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || chdir(folder) ||
	    (load->in_group && write_text(scratch_format("%s/cgroup.procs", group), "0")))
		_exit(1);
	execv(program, (char *const *)load->argv);
	_exit(127);
}

/*
 * The RGB value of one of the 256 colours, a cube and a ramp of greys. The program uses none of
 * the first 16, which are different in every terminal.
 */
static unsigned rgb(int colour, unsigned otherwise)
{
	static const unsigned steps[] = { 0, 95, 135, 175, 215, 255 };
	unsigned cube = (unsigned)colour - 16, grey = 8 + 10 * ((unsigned)colour - 232);

	if (colour < 16)
		return otherwise;
	if (colour >= 232)
		return grey << 16 | grey << 8 | grey;
	return steps[cube / 36] << 16 | steps[cube / 6 % 6] << 8 | steps[cube % 6];
}

/* Whether two cells look the same, so that their characters are written at once. */
static bool looks_like(const struct screen_look *a, const struct screen_look *b)
{
	return a->bold == b->bold && a->reverse == b->reverse && a->fg == b->fg && a->bg == b->bg;
}

/* Appends a character to the text of an element. */
static void put_character(struct buf *svg, uint32_t c)
{
	if (c == UINT32_MAX)
		return; /* behind a wide one */
	if (c >= 0x7F || strchr("<>&", (int)(c ? c : ' ')))
		buf_printf(svg, "&#x%X;", (unsigned)c);
	else
		buf_putc(svg, (char)(c ? c : ' '));
}

/* Writes cells of one look: their background, then what stands in them. */
static void put_run(struct buf *svg, struct screen *s, int row, int from, int to)
{
	struct screen_look look = screen_look(s, row, from);
	unsigned fg = rgb(look.fg, FOREGROUND), bg = rgb(look.bg, BACKGROUND);
	unsigned ink = look.reverse ? bg : fg, paper = look.reverse ? fg : bg;

	if (paper != BACKGROUND)
		buf_printf(svg,
			   "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
			   "fill=\"#%06x\"/>\n",
			   MARGIN + from * CELL_WIDTH, MARGIN + row * CELL_HEIGHT,
			   (to - from) * CELL_WIDTH, CELL_HEIGHT, paper);
	while (to > from && (screen_char(s, row, to - 1) | ' ') == ' ')
		to--;
	while (from < to && (screen_char(s, row, from) | ' ') == ' ')
		from++;
	if (from == to)
		return;
	buf_printf(svg, "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" fill=\"#%06x\"%s>",
		   MARGIN + from * CELL_WIDTH, MARGIN + (row + 1) * CELL_HEIGHT - BASELINE,
		   (to - from) * CELL_WIDTH, ink, look.bold ? " font-weight=\"bold\"" : "");
	for (int col = from; col < to; col++)
		put_character(svg, screen_char(s, row, col));
	buf_puts(svg, "</text>\n");
}

/* Writes the whole screen. */
static void put_screen(struct buf *svg, struct screen *s)
{
	double width = 2 * MARGIN + COLS * CELL_WIDTH;
	int height = 2 * MARGIN + ROWS * CELL_HEIGHT;

	buf_printf(svg,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" "
		   "viewBox=\"0 0 %.0f %d\" xml:space=\"preserve\" font-size=\"14\" "
		   "font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\">\n"
		   "<title>stalltop on a terminal</title>\n"
		   "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#%06x\"/>\n",
		   width, height, width, height, BACKGROUND);
	for (int row = 0; row < ROWS; row++)
		for (int col = 0, to; col < COLS; col = to) {
			struct screen_look look = screen_look(s, row, col), next = look;

			for (to = col + 1; to < COLS; to++) {
				next = screen_look(s, row, to);
				if (!looks_like(&look, &next))
					break;
			}
			put_run(svg, s, row, col, to);
		}
	buf_puts(svg, "</svg>\n");
}

/* Starts the loads and the program, and waits until its figures are theirs. */
static struct screen *show(void)
{
	struct screen *s;

	assert_int_equal(guard_start(), 0);
	assert_int_equal(box_delayacct(true), 0);
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		start_load(&loads[i]);
	/* only their rows: others are of no interest to a reader */
	s = screen_start(&(struct screen_how){
		.rows = ROWS, .cols = COLS, .args = "-i -m ^load_(kind|hang)|^sleep" });
	screen_await_text(s, "COMMAND");
	screen_type(s, "c");
	screen_pump(s, SETTLE);
	return s;
}

int main(int argc, char **argv)
{
	struct buf svg = { 0 };
	struct screen *s;
	FILE *file;
	int err;

	if (argc != 2) {
		fputs("usage: picture FILE.svg\n", stderr);
		return 2;
	}
	screen_setup(NULL);
	s = show();
	put_screen(&svg, s);
	for (int row = 0; row < ROWS; row++)
		puts(screen_line(s, row));
	file = fopen(argv[1], "we");
	err = !file || fwrite(svg.data, 1, svg.len, file) != svg.len;
	if (file && fclose(file))
		err = 1;
	if (err)
		perror(argv[1]);
	screen_teardown(NULL);
	guard_undo(0);
	return err;
}
