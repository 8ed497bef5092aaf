/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a detail that only sums have: about a group, and about the whole machine. */
#ifndef STALLTOP_UI_DETAIL_SUM_H
#define STALLTOP_UI_DETAIL_SUM_H

#include "ui/detail/detail.h"
#include "ui/term/pager.h"

/* Appends the group's name, after the number of its members. */
void detail_group_name(const struct detail *detail, enum text_charset charset, struct buf *out);

/* Writes the parts about the group itself. scratch is for texts. */
void detail_group_write(const struct detail *detail, const struct ui *ui, struct pager *pager,
			struct buf *scratch);

/* Writes how the machine's time was spent in the frame's interval. */
void detail_account_write(const struct account *account, struct pager *pager);

#endif
