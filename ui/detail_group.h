/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a group's detail that are about the group itself. */
#ifndef STALLTOP_UI_DETAIL_GROUP_H
#define STALLTOP_UI_DETAIL_GROUP_H

#include "detail.h"
#include "paper.h"

/* Appends which group it is, behind the number of its members. */
void detail_group_name(const struct detail *detail, enum text_charset charset, struct buf *out);

/* Writes the parts. scratch is for texts. */
void detail_group_write(const struct detail *detail, const struct ui *ui, struct paper *paper,
			struct buf *scratch);

#endif
