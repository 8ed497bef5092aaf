/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as the labels of series. */
#ifndef STALLTOP_OUT_SERIES_LABEL_H
#define STALLTOP_OUT_SERIES_LABEL_H

#include "base/buf.h"

/* A group whose label is longer (in bytes, escaped) is counted with the rest. */
#define SERIES_LABEL_MAX 512

/* The labels of the rest, and of tasks whose group is not known. */
#define SERIES_REST "other"
#define SERIES_UNKNOWN "-"

/* Appends a name as a label: see SERIES_UNKNOWN and SERIES_REST. */
void series_label(struct buf *out, const char *name);

#endif
