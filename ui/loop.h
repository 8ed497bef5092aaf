/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen's main loop: keyboard, timer, signals, samples. */
#pragma once

#include "ui/state/ui.h"

/* The step at which the screen failed. */
enum ui_failure {
	UI_SOURCE, /* the source could not be opened */
	UI_RECORDING, /* the recording could not be read */
	UI_TERMINAL, /* the terminal could not be taken over (-ENOENT: unknown type, -ENOTTY: it
		      * cannot show a screen) */
	UI_WAIT /* waiting for keys and signals */
};

/*
 * Runs the screen on standard input and output until its user, a signal, the end of the keyboard's
 * input or the number of samples ends it. Returns 0, or -errno with `failure` set; the terminal is
 * restored in any case.
 */
int ui_run(const struct ui_config *config, enum ui_failure *failure);

/* True if a type of terminals is known, and has the required capabilities. */
bool ui_knows_terminal(const char *type);
