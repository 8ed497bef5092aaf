/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the shells' completions that come from the program's tables. */
#ifndef STALLTOP_APP_COMPLETION_H
#define STALLTOP_APP_COMPLETION_H

#include "base/buf.h"

/* Append the options and the words that their values can be, as text of that shell. */
void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);
void completion_fish(struct buf *out);

#endif
