/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The getters of columns that are about groups: rows of the table in column.c name them. */
#ifndef STALLTOP_COLUMN_GROUP_H
#define STALLTOP_COLUMN_GROUP_H

#include "column.h"

column_get_fn column_get_members;
column_get_fn column_get_group;
column_get_fn column_get_worst;
column_get_fn column_get_pressure;
column_get_fn column_get_throttled;
column_get_fn column_get_event;

#endif
