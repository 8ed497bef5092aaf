/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of a detail: one line each, in blocks of as many columns as fit. */
#pragma once

#include "ui/detail/detail.h"
#include "ui/term/pager.h"

/* Room for a time as text, with its NUL. */
#define DETAIL_TIME 32

/* Writes a time of the wall clock (CLOCK_REALTIME), as strftime(3) formats it. */
void detail_time(char text[DETAIL_TIME], const char *format, uint64_t real_ns);

/* Writes a time span, such as 3d04:05:06. */
void detail_span(char text[DETAIL_TIME], uint64_t ns);

/* Writes the figures, below the title of their part. */
void detail_figures_write(const struct detail *detail, struct pager *pager);

/* The parts of a detail that only sums have: about a group, and about the whole machine. */

/* Appends the group's name, after the number of its members. */
void detail_group_name(const struct detail *detail, enum text_charset charset, struct buf *out);

/* Writes the parts about the group itself. scratch is a buffer for texts. */
void detail_group_write(const struct detail *detail, const struct ui *ui, struct pager *pager,
			struct buf *scratch);

/* Writes the machine's time by use in the frame's interval. */
void detail_account_write(const struct account *account, struct pager *pager);
