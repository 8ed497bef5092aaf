/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the waits of a traced site are about, and so what they mean: its class. */
#ifndef STALLTOP_MODEL_SITE_CLASS_H
#define STALLTOP_MODEL_SITE_CLASS_H

#include "bpf/trace_record.h"
#include "model/traced_sites.h"

/* What the waits of a site are about, by its record alone. */
enum wait_about site_about(const struct trace_site *record);

/* Sets site->site.class by all that is known of its waits. */
void site_classify(struct traced_site *site);

/*
 * Tells by who ended the waits of the interval what they were about, where that tells it: those for
 * completions of requests.
 */
void site_judge_wakers(struct traced_site *site);

#endif
