/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of rows: the view at the bottom of the stack. */
#pragma once

#include "ui/state/view.h"

/* Its state is a struct table. */
extern const struct view_ops view_table;
