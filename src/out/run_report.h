/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The waits of a command, as a table and as JSON. */
#ifndef STALLTOP_OUT_RUN_REPORT_H
#define STALLTOP_OUT_RUN_REPORT_H

#include "base/buf.h"
#include "base/text.h"
#include "model/run.h"
#include "view/view_config.h"

/* Appends the result as a table, its sites as chosen, or as a JSON object on a line. */
void run_text(struct buf *out, const struct run_result *result, const struct site_choice *sites,
	      enum text_charset charset);
void run_json(struct buf *out, const struct run_result *result);

#endif
