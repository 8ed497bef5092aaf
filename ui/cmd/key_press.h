/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effect of a key or the mouse: it answers a prompt, or runs the command of the view on top. */
#ifndef STALLTOP_UI_KEY_PRESS_H
#define STALLTOP_UI_KEY_PRESS_H

#include "ui/state/ui.h"

/*
 * Handles one key. What acts on tasks, the machine or files does so with the caller's privileges
 * alone, and not at all in a past or where all is read-only. Returns REACT_ bits.
 */
unsigned key_press(struct ui *ui, const struct term_key *key);

#endif
