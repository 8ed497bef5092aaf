/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of a chain of waits: of a row, or of one line of sites. */
#ifndef STALLTOP_UI_VIEW_CHAIN_H
#define STALLTOP_UI_VIEW_CHAIN_H

#include "ui/table/site_list.h"

/* Opens the page for what the page on top is about. */
unsigned view_chain_open(struct ui *ui, int arg);

/* The same for the selected line of a view of sites. */
unsigned view_chain_line(struct ui *ui, int arg);

#endif
