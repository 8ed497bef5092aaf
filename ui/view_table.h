/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of rows: the view at the bottom of the stack. */
#ifndef STALLTOP_UI_VIEW_TABLE_H
#define STALLTOP_UI_VIEW_TABLE_H

#include "ui/state/view.h"

/* Its state is a struct table. */
extern const struct view_ops view_table;

#endif
