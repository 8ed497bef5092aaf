/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "detail_account.h"

#include <stdio.h>

#include "util.h"

/* One line: a part of the machine's time. */
static void write_line(const struct account *account, struct paper *paper, const char *name,
		       bool known, double ns, const char *what)
{
	char text[64];

	paper_puts(paper, 0, name, STYLE_LABEL);
	if (known)
		snprintf(text, sizeof(text), "%12.1f %7.1f", ns / (double)NSEC_PER_MSEC,
			 ns * 100.0 / (double)account->machine_ns);
	else
		snprintf(text, sizeof(text), "%12s %7s", "-", "-");
	paper_puts(paper, 10, text, known && ns * ns >= 1 ? STYLE_NORMAL : STYLE_DIM);
	paper_puts(paper, 33, what, STYLE_DIM);
	paper->line++;
}

void detail_account_write(const struct frame *frame, struct paper *paper)
{
	const struct account *account = &frame->account;

	paper_part(paper, "Accounted, the whole machine");
	if (!account->valid) {
		paper_puts(paper, 0, "not known: there is no interval, or not all tasks are read",
			   STYLE_DIM);
		paper->line++;
		return;
	}
	paper_puts(paper, 10, "          ms       %", STYLE_DIM);
	paper->line++;
	write_line(account, paper, "machine", true, (double)account->machine_ns,
		   "CPUs times interval");
	write_line(account, paper, "run", true, (double)account->run_ns, "of all rows");
	write_line(account, paper, "recovered", account->recovered_valid,
		   (double)account->recovered_ns,
		   "of tasks that ended: what their records lack, by their parents' books");
	write_line(account, paper, "idle", true, (double)account->idle_ns, "");
	write_line(account, paper, "iowait", true, (double)account->iowait_ns, "");
	write_line(account, paper, "steal", true, (double)account->steal_ns, "");
	if (account->irq_ns)
		write_line(account, paper, "irq", true, (double)account->irq_ns,
			   "kept out of the tasks' run time");
	write_line(account, paper, "rest", true, (double)account->rest_ns,
		   "what is left over, of either sign");
}
