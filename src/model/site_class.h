/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The class of a traced site: whether its waits are lost time. */
#ifndef STALLTOP_MODEL_SITE_CLASS_H
#define STALLTOP_MODEL_SITE_CLASS_H

#include "bpf/trace_record.h"
#include "model/traced_sites.h"

/* The class of a site's waits, by its record alone. */
enum wait_about site_about(const struct trace_site *record);

/* Sets site->site.class by all that is known of its waits. */
void site_classify(struct traced_site *site);

/*
 * Tells from their wakers what waits were about, where wakers tell it: for completions of requests,
 * futexes, and events.
 */
void site_judge_wakers(struct traced_site *site);

#endif
