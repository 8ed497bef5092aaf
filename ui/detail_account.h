/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the machine's time went to, below the detail of the sum. */
#ifndef STALLTOP_UI_DETAIL_ACCOUNT_H
#define STALLTOP_UI_DETAIL_ACCOUNT_H

#include "frame.h"
#include "paper.h"

/* Writes the account of the frame's interval. */
void detail_account_write(const struct frame *frame, struct paper *paper);

#endif
