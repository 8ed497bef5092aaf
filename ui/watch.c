/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "ui/watch.h"

#include <string.h>
#include <time.h>

#include "base/util.h"

/* Appends a trigger's name, separated by commas from names before it. */
static void append_trigger_name(struct ui *ui, const struct trigger *trigger)
{
	if (ui->scratch.len)
		buf_puts(&ui->scratch, ", ");
	ui_escape(ui, &ui->scratch, trigger->spec->text);
}

nfds_t watch_fill(const struct ui *ui, struct pollfd *fds)
{
	if (!ui->config->triggers)
		return 0;
	triggers_fill(ui->config->triggers, fds);
	return ui->config->triggers->n;
}

/* Names the triggers whose group has gone since the last check. */
static void name_gone(struct ui *ui, const struct trigger_set *set, const bool *were_gone)
{
	ui->scratch.len = 0;
	for (size_t i = 0; i < set->n; i++)
		if (set->all[i].gone && !were_gone[i])
			append_trigger_name(ui, &set->all[i]);
}

/* Names the triggers that fired after their pressure was over. */
static void name_begun(struct ui *ui, const struct trigger_set *set, const bool *were_over)
{
	ui->scratch.len = 0;
	for (size_t i = 0; i < set->n; i++)
		if (set->all[i].fired && were_over[i])
			append_trigger_name(ui, &set->all[i]);
}

bool watch_take(struct ui *ui, const struct pollfd *fds)
{
	struct trigger_set *set = ui->config->triggers;
	bool gone[TRIGGERS_MAX], over[TRIGGERS_MAX], told;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!set)
		return false;
	for (size_t i = 0; i < set->n; i++) {
		gone[i] = set->all[i].gone;
		over[i] = trigger_until_ns(&set->all[i], ui->config->watch->linger_ns) <= now;
	}
	triggers_forget(set);
	triggers_take(set, fds, now);
	name_gone(ui, set, gone);
	told = ui->scratch.len;
	if (told)
		ui_error(ui, "no longer exists, so not watched any more: %s",
			 buf_cstr(&ui->scratch));
	name_begun(ui, set, over);
	if (ui->scratch.len) {
		ui_say(ui, "pressure: %s", buf_cstr(&ui->scratch));
		if (ui->config->watch->bell)
			term_bell(&ui->term);
		told = true;
	}
	return told;
}
