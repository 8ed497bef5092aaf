/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/term/term.h"

#include <termcap.h>

/* The terminal can move its cursor: without that ncurses takes it for unsuitable. */
bool term_is_known(const char *type)
{
	char place[64], *at = place, move[] = "cm";

	return tgetent(NULL, type) == 1 && tgetstr(move, &at);
}
