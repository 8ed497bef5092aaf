/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports pressure as it begins: the triggers of --when, on the screen. */
#ifndef STALLTOP_UI_WATCH_H
#define STALLTOP_UI_WATCH_H

#include <poll.h>

#include "ui/state/ui.h"

/* Fills in further descriptors to poll: up to TRIGGERS_MAX elements. Returns their number. */
nfds_t watch_fill(const struct ui *ui, struct pollfd *fds);

/*
 * Takes poll()'s results for those: shows a message, and rings the bell if wanted, when pressure
 * begins, not while it continues. Returns whether to draw.
 */
bool watch_take(struct ui *ui, const struct pollfd *fds);

#endif
