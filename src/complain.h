/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line on standard error that says why the program cannot go on. */
#ifndef STALLTOP_COMPLAIN_H
#define STALLTOP_COMPLAIN_H

#include "batch.h"
#include "text.h"
#include "trigger.h"

/* Says why the source could not be opened; NULL for auto. */
void complain_source(const char *name, int err);

/* Says what batch mode came to grief at; source: as was asked for. */
void complain_batch(const char *source, enum batch_failure failure, int err);

/* Says why the kernel does not watch what is asked for. */
void complain_trigger(const struct trigger_spec *spec, const struct trigger_error *error,
		      enum text_charset charset);

/* Says why there is no such cgroup hierarchy. */
void complain_hierarchy(const char *name, int procfd, int err);

#endif
