/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chooser of the sort column, among those that are shown and all others. */
#ifndef STALLTOP_UI_VIEW_SORT_H
#define STALLTOP_UI_VIEW_SORT_H

#include "ui/state/ui.h"

/* Opens the chooser. Returns reactions. */
unsigned view_sort_open(struct ui *ui, int arg);

/* Handle the chooser's keys. Return reactions. */
unsigned view_sort_take(struct ui *ui, int arg); /* sorts by the selected column, and leaves */
unsigned view_sort_find_next(struct ui *ui, int arg);

#endif
