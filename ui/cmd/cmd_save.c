/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that write to the configuration: the settings, or a preset. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "out/out.h"
#include "ui/cmd/cmd.h"
#include "ui/past/history_view.h"
#include "ui/table/table_state.h"

/* Reports the result of writing, or asks first if the file needs a confirmation. */
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

/* Writes the shown preset. Without a file it exists until the program ends. */
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

/* The key that writes the shown frame to a file. */

/* The format for a file's name: by its suffix, else text. */
static const struct out_ops *format_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	const struct out_ops *ops = dot ? out_by_name(dot + 1) : NULL;

	return ops && !ops->open ? ops : out_registry[0];
}

/* Reads data of rows of the frame. */
static void read_shown(void *arg, const struct row *const *rows, size_t n, unsigned needs)
{
	const struct ui *ui = arg;

	sampler_fill(ui->sampler, rows, n, needs);
}

/* Writes the frame in batch mode's format. 0 or -errno. */
static int write_frame(struct ui *ui, const char *path, int fd)
{
	static const volatile sig_atomic_t none;
	struct view_config view = *ui->settings;
	struct out_config config = {
		.view = &view, .charset = ui->config->charset, .fill = read_shown, .fill_arg = ui
	};
	struct buf past = { 0 };
	struct out out;
	int err;

	view.query = ui->query;
	if (ui->history.back) {
		history_append(ui, &past);
		config.past = buf_cstr(&past);
	}
	out_open(&out, format_of(path), &config);
	out_frame(&out, ui->frame);
	err = out_flush(&out, fd, &none);
	out_close(&out);
	buf_free(&past);
	return err;
}

/* Takes the file's name. */
static unsigned take_new_path(struct ui *ui, const char *text, struct buf *error)
{
	int fd, err;

	if (!*text) {
		buf_puts(error, "the name of a new file");
		return REACT_NONE;
	}
	fd = open(text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0666);
	err = fd < 0 ? -errno : write_frame(ui, text, fd);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	ui->scratch.len = 0;
	ui_escape(ui, &ui->scratch, text);
	if (err)
		ui_error(ui, "cannot write %s: %s", buf_cstr(&ui->scratch), strerror(-err));
	else
		ui_say(ui, "written: %s", buf_cstr(&ui->scratch));
	return REACT_REDRAW;
}

COMMAND(cmd_write)
{
	prompt_ask(&ui->prompt, "write this view to a new file (.text, .csv, .json)", "",
		   take_new_path);
	return REACT_REDRAW;
}
