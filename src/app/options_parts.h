/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the table of options is made of: setters that have files of their own. */
#ifndef STALLTOP_APP_OPTIONS_PARTS_H
#define STALLTOP_APP_OPTIONS_PARTS_H

#include <stdbool.h>

struct buf;
struct options;

/* The head of a setter, with its parameters. */
#define OPTION_SETTER(name) bool name(struct options *options, const char *arg, struct buf *why)

/* The same, of one that its file alone has. */
#define SETTER(name) static OPTION_SETTER(name)

/* Takes the name of a file. */
bool option_take_file(const char **file, const char *arg, struct buf *why);

/* -w */
OPTION_SETTER(option_set_record);

/* --keep */
OPTION_SETTER(option_set_keep);

/* --before */
OPTION_SETTER(option_set_before);

/* -R */
OPTION_SETTER(option_set_replay);

/* --diff; the second recording follows as a word of its own */
OPTION_SETTER(option_set_diff);

/* --from */
OPTION_SETTER(option_set_from);

/* --to */
OPTION_SETTER(option_set_to);

/* --history */
OPTION_SETTER(option_set_history);

#endif
