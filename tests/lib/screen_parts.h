/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of screen.h share. */
#pragma once

#include "tests/lib/job.h"
#include "tests/lib/screen.h"

#include <termios.h>

/* Where the expansion of repeated characters (CSI Pn b) stands. */
enum repeat_state { PLAIN, ESCAPE, NUMBER };

struct screen {
	struct job job;
	int master; /* -1: hung up */
	int slave;
	double started;
	struct termios before;
	VTerm *vt;
	VTermScreen *vts;
	int rows, cols;
	bool alt, cursor;
	char *log;
	size_t len, cap;
	double escape; /* when an Esc was typed that nothing follows yet; 0: none */
	enum repeat_state repeat;
	unsigned int count;
	char last[8]; /* the last character, as written */
	size_t last_len;
};
