/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a configuration: lines `name = value`, named as the long options, and comments (#).
 * Unknown names are kept. Options take values from here as from the command line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "app/options.h"
#include "base/util.h"

/* The faults of a configuration, as escaped text. */
struct configuration_faults {
	size_t broken; /* lines */
	struct buf why; /* the first of them: "line 3: ..." */
	struct buf unknown; /* unknown names, which are kept; each once, ", " between */
};

/*
 * Sets options by the lines of a text. A broken line sets nothing. The text's bytes are changed,
 * and options point into it from then on. It needs room for one more byte past its end.
 */
void configuration_apply(char *text, size_t len, struct options *options,
			 struct configuration_faults *faults);

/*
 * Appends the text with its values replaced by those of `view`: on the line that had them, else at
 * the end. Comments, blank lines and unknown names stay. Broken lines become comments.
 */
void configuration_rewrite(const char *text, size_t len, const struct view_config *view,
			   struct buf *out);

/*
 * Appends the text with one preset more, or in place of those of its name. All else stays, but
 * broken lines become comments.
 */
void configuration_put_preset(const char *text, size_t len, const struct preset *preset,
			      struct buf *out);

/* Finds what is wrong with a text. */
void configuration_check(const char *text, size_t len, struct configuration_faults *faults);

void configuration_faults_free(struct configuration_faults *faults);
