/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and values as the pages of details show them. */
#ifndef STALLTOP_UI_DETAIL_TEXT_H
#define STALLTOP_UI_DETAIL_TEXT_H

#include "ui/term/pager.h"

/*
 * Appends "NAME VALUE" to the line, the value escaped already, or to the next if it does not fit.
 * Returns the next column.
 */
int detail_put_item(struct pager *pager, int column, const char *name, const char *value,
		    size_t len);

/* Does the same with a text that needs no escaping. */
int detail_put_plain(struct pager *pager, int column, const char *name, const char *value);

/* Does the same with a number. */
int detail_put_number(struct pager *pager, int column, const char *name, uint64_t value);

/* Puts raw bytes, which may take several lines, after their name; nothing without bytes. */
void detail_put_long(struct pager *pager, const char *name, const struct buf *raw);

#endif
