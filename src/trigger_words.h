/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words for what is wrong with triggers on pressure. */
#ifndef STALLTOP_TRIGGER_WORDS_H
#define STALLTOP_TRIGGER_WORDS_H

#include "buf.h"
#include "trigger.h"

/* What an expression must be where it is not. */
const char *trigger_allowed(enum trigger_fault fault);

/* Appends why a trigger could not be opened, and what would help: part of one line. */
void trigger_explain(struct buf *out, const struct trigger_spec *spec,
		     const struct trigger_error *error);

#endif
