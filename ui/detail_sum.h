/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a detail that only sums have: on a group, and on the whole machine. */
#ifndef STALLTOP_UI_DETAIL_SUM_H
#define STALLTOP_UI_DETAIL_SUM_H

#include "ui/detail.h"
#include "ui/pager.h"

/* Appends which group it is, behind the number of its members. */
void detail_group_name(const struct detail *detail, enum text_charset charset, struct buf *out);

/* Writes the parts that are about the group itself. scratch is for texts. */
void detail_group_write(const struct detail *detail, const struct ui *ui, struct pager *pager,
			struct buf *scratch);

/* Writes what the machine's time of the frame's interval went to. */
void detail_account_write(const struct account *account, struct pager *pager);

#endif
