/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of a table of sites: one row per column. Rows are lines of view/site_lines.h. */
#ifndef STALLTOP_VIEW_SITE_COLUMN_H
#define STALLTOP_VIEW_SITE_COLUMN_H

#include "view/column.h"
#include "view/site_lines.h"

/* All columns, in their order. The view's frame says what was traced (info->trace). */
extern const struct column_table site_columns;

/* Those of a text, which ends with a name. */
#define SITE_TEXT_FIELDS "pid,state,time,share,count,avg,max,syscall,on,where,comm"

#endif
