/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/detail/detail_sum.h"

#include <stdio.h>

#include "base/util.h"
#include "view/summary.h"

/* Cells of the names at the left. */
#define NAME_CELLS 10

void detail_group_name(const struct detail *detail, enum text_charset charset, struct buf *out)
{
	const struct ui_group *which = &detail->group.which;

	buf_printf(out, " of %s ", group_table[which->by].id);
	if (which->named)
		text_escape(out, which->name.data, which->name.len, charset);
	else
		buf_puts(out, "-");
	if (which->below)
		buf_puts(out, " and below");
}

/* Writes a line: a name and the contents of `scratch`. */
static void write_line(struct pager *pager, const char *name, const struct buf *scratch,
		       enum style style)
{
	pager_puts(pager, 0, name, STYLE_LABEL);
	pager_put(pager, NAME_CELLS, pager->width - NAME_CELLS, scratch->data, scratch->len, style);
	pager->line++;
}

/* Writes the member that has waited most. */
static void write_worst(const struct detail_group *group, struct pager *pager, struct buf *scratch)
{
	scratch->len = 0;
	if (group->worst.len) {
		buf_printf(scratch, "%d (", (int)group->worst_pid);
		text_escape(scratch, group->worst.data, group->worst.len, pager->term->charset);
		buf_puts(scratch, ") waited most in the interval: ");
		buf_decimal(scratch, (double)group->worst_ns / (double)NSEC_PER_MSEC, 1);
		buf_puts(scratch, " ms");
	} else {
		buf_puts(scratch, "-");
	}
	write_line(pager, "worst", scratch, STYLE_NORMAL);
}

/* Appends counts of tasks by state. */
static void append_states(struct buf *out, const struct cgroup_states *states)
{
	buf_printf(out,
		   "%llu running, %llu sleeping, %llu stopped, %llu uninterruptible, "
		   "%llu in I/O wait",
		   (unsigned long long)states->running, (unsigned long long)states->sleeping,
		   (unsigned long long)states->stopped, (unsigned long long)states->uninterruptible,
		   (unsigned long long)states->io_wait);
}

/* Writes how many members are in each state, and who counted: the program or cgroupstats. */
static void write_states(const struct detail *detail, const struct ui *ui, struct pager *pager,
			 struct buf *scratch)
{
	const struct detail_group *group = &detail->group;

	scratch->len = 0;
	append_states(scratch, &group->states);
	if (group->stateless)
		buf_printf(scratch, ", %zu unknown", group->stateless);
	buf_printf(scratch, " (counted here, %s)",
		   ui->frame->info->threads ? "threads" : "processes");
	write_line(pager, "states", scratch, STYLE_NORMAL);
	if (!(group->now.have & CGROUP_BIT(CGROUP_STATES)))
		return;
	scratch->len = 0;
	append_states(scratch, &group->now.states);
	buf_puts(scratch, " (cgroupstats, threads)");
	write_line(pager, "", scratch, STYLE_NORMAL);
	pager_puts(pager, NAME_CELLS,
		   "since Linux 6.1 cgroupstats omits tasks that sleep for a set "
		   "time or poll",
		   STYLE_DIM);
	pager->line++;
}

/* Writes a line of figures. */
static void write_summary(struct pager *pager, const struct summary *line, enum style style)
{
	summary_append(&pager->cell, line);
	pager_put(pager, 0, pager->width, pager->cell.data, pager->cell.len, style);
	pager->cell.len = 0;
	pager->line++;
}

/* Writes the group's own pressure, in lines like the machine's above the table. */
static void write_pressure(const struct detail_group *group, struct pager *pager,
			   struct buf *scratch)
{
	const struct cgroup_sample *now = &group->now, *before = &group->before;
	struct summary line;
	bool head = false;

	for (enum psi_resource r = 0; r < PSI_RESOURCES; r++) {
		struct psi_pair pair = { .now = &now->psi[r] };

		if (!(now->have & CGROUP_BIT(r)))
			continue;
		if (!head) {
			pager_part(pager, "Pressure of the group");
			line = summary_pressure_head(scratch);
			write_summary(pager, &line, STYLE_DIM);
		}
		head = true;
		if (before->have & CGROUP_BIT(r) && now->read_ns[r] > before->read_ns[r]) {
			pair.before = &before->psi[r];
			pair.interval_ns = now->read_ns[r] - before->read_ns[r];
		}
		line = summary_pressure(scratch, r, &pair);
		write_summary(pager, &line, STYLE_NORMAL);
	}
}

/* Appends the growth of a figure whose earlier value may be unknown. */
static void append_growth(struct buf *out, uint64_t now, uint64_t before, bool known)
{
	buf_uint(out, now);
	if (known && now >= before)
		buf_printf(out, " (+%llu)", (unsigned long long)(now - before));
}

/* Writes the effects of the group's limits, since it was made and in the interval. */
static void write_limits(const struct detail_group *group, struct pager *pager, struct buf *scratch)
{
	const struct cgroup_sample *now = &group->now, *before = &group->before;
	unsigned known = before->have & now->have;

	if (now->have & CGROUP_BIT(CGROUP_THROTTLE)) {
		scratch->len = 0;
		append_growth(scratch, now->throttled_ns / NSEC_PER_USEC,
			      before->throttled_ns / NSEC_PER_USEC,
			      known & CGROUP_BIT(CGROUP_THROTTLE));
		buf_puts(scratch, " us in ");
		append_growth(scratch, now->throttled, before->throttled,
			      known & CGROUP_BIT(CGROUP_THROTTLE));
		buf_printf(scratch, " %s, by its CPU limit",
			   plural(now->throttled, "period", "periods"));
		write_line(pager, "throttled", scratch, STYLE_NORMAL);
	}
	if (!(now->have & CGROUP_BIT(CGROUP_EVENTS)))
		return;
	scratch->len = 0;
	for (unsigned e = 0; e < CGROUP_EVENT_KINDS; e++) {
		if (!(now->event_valid & 1u << e))
			continue;
		buf_printf(scratch, "%s%s ", scratch->len ? ", " : "", cgroup_event_names[e]);
		append_growth(scratch, now->events[e], before->events[e],
			      known & CGROUP_BIT(CGROUP_EVENTS) && before->event_valid & 1u << e);
	}
	write_line(pager, "memory", scratch, STYLE_NORMAL);
}

void detail_group_write(const struct detail *detail, const struct ui *ui, struct pager *pager,
			struct buf *scratch)
{
	const struct detail_group *group = &detail->group;

	pager_part(pager, "Group");
	write_worst(group, pager, scratch);
	write_states(detail, ui, pager, scratch);
	write_limits(group, pager, scratch);
	write_pressure(group, pager, scratch);
}

/* Writes one line: a part of the machine's time. */
static void write_share(const struct account *account, struct pager *pager, const char *name,
			bool known, double ns, const char *what)
{
	char text[64];

	pager_puts(pager, 0, name, STYLE_LABEL);
	if (known)
		snprintf(text, sizeof(text), "%12.1f %7.1f", ns / (double)NSEC_PER_MSEC,
			 ns * 100.0 / (double)account->machine_ns);
	else
		snprintf(text, sizeof(text), "%12s %7s", "-", "-");
	pager_puts(pager, 10, text, known && ns * ns >= 1 ? STYLE_NORMAL : STYLE_DIM);
	pager_puts(pager, 33, what, STYLE_DIM);
	pager->line++;
}

void detail_account_write(const struct account *account, struct pager *pager)
{
	pager_part(pager, "Accounted, the whole machine");
	if (!account->valid) {
		pager_puts(pager, 0, "unknown: there is no interval, or not all tasks are read",
			   STYLE_DIM);
		pager->line++;
		return;
	}
	pager_puts(pager, 10, "          ms       %", STYLE_DIM);
	pager->line++;
	write_share(account, pager, "machine", true, (double)account->machine_ns,
		    "CPUs times interval");
	write_share(account, pager, "run", true, (double)account->run_ns, "of all rows");
	write_share(account, pager, "recovered", account->recovered_valid,
		    (double)account->recovered_ns,
		    "of tasks that ended: missing in exit records, seen by their parents");
	write_share(account, pager, "idle", true, (double)account->idle_ns, "");
	write_share(account, pager, "iowait", true, (double)account->iowait_ns, "");
	write_share(account, pager, "steal", true, (double)account->steal_ns, "");
	if (account->irq_ns)
		write_share(account, pager, "irq", true, (double)account->irq_ns,
			    "not counted as run time of tasks");
	write_share(account, pager, "rest", true, (double)account->rest_ns,
		    "what is left over, of either sign");
}
