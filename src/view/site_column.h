/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of a table of sites: one row per column. Rows are lines of view/site_lines.h. */
#pragma once

#include "view/column.h"
#include "view/site_lines.h"

/* All columns, in their order. The view's frame says what was traced (info->trace). */
extern const struct column_table site_columns;

/* Those of a text, which ends with a name. */
#define SITE_TEXT_FIELDS "pid,state,time,share,count,avg,max,syscall,on,where,comm"
