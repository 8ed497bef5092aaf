/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `stalltop help TOPIC` says: the tour, manual pages, columns, findings, notes, options. */
#pragma once

#include <stdbool.h>

#include "base/util.h"

/* The manual page of a topic; NULL: it has none. */
const char *topic_page(const char *topic);

/*
 * Appends the text of a topic; for "" the list of topics. A word that names nothing is searched for
 * in all texts. False: not found.
 */
bool topic_append(struct buf *out, const char *topic);
