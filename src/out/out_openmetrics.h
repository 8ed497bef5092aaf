/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics by group, in the two formats that scrapers request. */
#pragma once

#include "base/util.h"
#include "out/out.h"
#include "out/series.h"

/* OpenMetrics 1.0, and the older text format of Prometheus (0.0.4). */
enum exposition { EXPOSITION_OPENMETRICS, EXPOSITION_TEXT, EXPOSITIONS };

/* Appends the metrics of the last frame of an output of that format. */
void openmetrics_append(struct buf *buf, const struct out *out, enum exposition exposition);
