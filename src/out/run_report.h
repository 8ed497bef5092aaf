/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The waits of a command, as a table and as JSON. */
#ifndef STALLTOP_OUT_RUN_REPORT_H
#define STALLTOP_OUT_RUN_REPORT_H

#include "model/run.h"
#include "out/out.h"

/* Appends the result as a table, or as a JSON object on a line, to out->buf. */
void run_text(struct out *out, const struct run_result *result);
void run_json(struct out *out, const struct run_result *result);

#endif
