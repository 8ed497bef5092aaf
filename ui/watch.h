/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells of pressure as it comes: the triggers of --when, on the screen. */
#ifndef STALLTOP_UI_WATCH_H
#define STALLTOP_UI_WATCH_H

#include <poll.h>

#include "ui/ui.h"

/* What to poll for besides: up to TRIGGERS_MAX elements. How many. */
nfds_t watch_fill(const struct ui *ui, struct pollfd *fds);

/*
 * Takes what poll() said of those: a message, and the bell where it is wanted, when pressure
 * begins; none while it goes on. Whether there is something to draw.
 */
bool watch_take(struct ui *ui, const struct pollfd *fds);

#endif
