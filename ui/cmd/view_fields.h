/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The field chooser: which columns the table shows, and in which order. */
#pragma once

#include "ui/state/ui.h"

/* Opens the chooser. Choices take effect at once. Returns reactions. */
unsigned view_fields_open(struct ui *ui);

/* Handle the chooser's keys. Return reactions. */
unsigned view_fields_toggle(struct ui *ui, int arg); /* shows or hides the field */
unsigned view_fields_shift(struct ui *ui, int by); /* moves it, up when negative */
unsigned view_fields_default(struct ui *ui, int arg); /* returns to the default fields */
unsigned view_fields_find_next(struct ui *ui, int arg); /* selects the next that was typed */

/* The chooser of the sort column, among the shown columns and all others. */

/* Opens the chooser. Returns reactions. */
unsigned view_sort_open(struct ui *ui, int arg);

/* Handle the chooser's keys. Return reactions. */
unsigned view_sort_take(struct ui *ui, int arg); /* sorts by the selected column, and leaves */
unsigned view_sort_find_next(struct ui *ui, int arg);
