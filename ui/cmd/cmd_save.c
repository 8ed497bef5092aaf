/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that write to the configuration: the settings, or a preset. */
#include "config.h"

#include "base/util.h"
#include "ui/cmd/cmd.h"
#include "ui/table/table_state.h"

/* Says what became of writing, or asks first where the file is not to be replaced unasked. */
static unsigned report(struct ui *ui, enum configuration_saved saved, struct buf *message,
		       prompt_done_fn *anyway)
{
	switch (saved) {
	case CONFIGURATION_SAVED:
		ui_say(ui, "%s", buf_cstr(message));
		break;
	case CONFIGURATION_ASK:
		prompt_confirm(&ui->prompt, buf_cstr(message), anyway);
		break;
	case CONFIGURATION_FAILED:
		ui_error(ui, "%s", buf_cstr(message));
	}
	return REACT_REDRAW;
}

static prompt_done_fn save_anyway, save_preset_anyway;

/* Writes the settings. */
static unsigned save_settings(struct ui *ui, bool force)
{
	struct buf message = { 0 };
	unsigned reactions;

	reactions = report(ui, ui->config->save(ui->config->path, ui->settings, force, &message),
			   &message, save_anyway);
	buf_free(&message);
	return reactions;
}

/* Writes the settings over a broken file. */
static unsigned save_anyway(struct ui *ui, UNUSED const char *text, UNUSED struct buf *error)
{
	return save_settings(ui, true);
}

COMMAND(cmd_save)
{
	return save_settings(ui, false);
}

/* Writes the preset that is shown. Without a file it is one until the program ends. */
static unsigned save_preset(struct ui *ui, bool force)
{
	const struct preset *preset = view_preset(ui->settings);
	struct buf message = { 0 };
	unsigned reactions;

	buf_printf(&message, "preset %s: ", preset->name);
	reactions = report(ui, ui->config->save_preset(ui->config->path, preset, force, &message),
			   &message, save_preset_anyway);
	buf_free(&message);
	return reactions;
}

/* Writes the preset to a broken file. */
static unsigned save_preset_anyway(struct ui *ui, UNUSED const char *text, UNUSED struct buf *error)
{
	return save_preset(ui, true);
}

/* Takes the preset's name, and shows it from now on. */
static unsigned take_preset_name(struct ui *ui, const char *text, struct buf *error)
{
	if (!view_keep_preset(ui->settings, text, error))
		return REACT_NONE;
	return save_preset(ui, false) | REACT_RELAYOUT | REACT_RESORT;
}

COMMAND(cmd_save_preset)
{
	const struct preset *preset = view_preset(ui->settings);

	prompt_ask(&ui->prompt, "save fields and order as a preset, named",
		   ui->settings->presets.now ? preset->name : "", take_preset_name);
	return REACT_REDRAW;
}
