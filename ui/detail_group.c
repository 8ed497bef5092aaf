/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "detail_group.h"

#include "util.h"

void detail_group_name(const struct detail *detail, enum text_charset charset, struct buf *out)
{
	buf_printf(out, " of %s ", group_table[detail->group.by].id);
	if (detail->group.named)
		text_escape(out, detail->group.name.data, detail->group.name.len, charset);
	else
		buf_puts(out, "-");
	if (detail->group.below)
		buf_puts(out, " and below");
}

/* Which member has waited most. */
static void write_worst(const struct detail *detail, struct paper *paper, struct buf *scratch)
{
	int column = paper_puts(paper, 0, "waited most in the interval", STYLE_DIM) + 1;

	scratch->len = 0;
	if (detail->worst.len) {
		buf_printf(scratch, "%d (", (int)detail->worst_pid);
		text_escape(scratch, detail->worst.data, detail->worst.len,
			    paper->term->charset);
		buf_puts(scratch, "), ");
		buf_decimal(scratch, (double)detail->worst_total.ns / (double)NSEC_PER_MSEC, 1);
		buf_puts(scratch, " ms");
	} else {
		buf_puts(scratch, "-");
	}
	paper_put(paper, column, paper->width - column, scratch->data, scratch->len, STYLE_NORMAL);
	paper->line++;
}

void detail_group_write(const struct detail *detail, struct paper *paper, struct buf *scratch)
{
	write_worst(detail, paper, scratch);
}
