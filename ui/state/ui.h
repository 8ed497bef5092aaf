/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen's state: its configuration, the changes by keys, and the display. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clocks.h"
#include "base/util.h"
#include "history/trends.h"
#include "sampler/sampler.h"
#include "sampler/target.h"
#include "ui/state/prompt.h"
#include "ui/state/view.h"
#include "ui/term/term.h"
#include "view/findings.h"
#include "view/view_config.h"

/* Whether the screen looks back, and at what: the state of history.c. */

struct frame;
struct sampler;

/* The speeds of a playback are powers of two. */
#define HISTORY_SLOWEST (-3)
#define HISTORY_FASTEST 6

struct history_view {
	struct ring *ring; /* NULL: no history is kept */
	bool ring_ended; /* no more samples are stored after an error */
	struct cursor *past; /* NULL: nothing to look back at */
	bool replay; /* all frames are recorded ones, without a present */
	bool back; /* the screen shows a sample of the past */
	uint64_t left_ns; /* the time of the present when it was left (CLOCK_REALTIME) */
	bool timeline; /* even while it shows the present */
	bool playing;
	int speed; /* a power of two */
	uint64_t play_due_ns; /* CLOCK_MONOTONIC; while playing: when the next sample is due */
	struct trends trends; /* of the shown frame */
	uint64_t trends_ns; /* the time of that frame; 0: not taken */
	bool trends_follow; /* they belong to the next frame */
	unsigned jumps; /* counts all moves except those to the next sample */
	/* The present, while the past is shown: */
	struct findings live_findings;
	struct sampler *live;
	const struct frame *live_frame;
	const struct frame
		*untaken; /* the last frame, until it is stored and recorded; NULL: it is */
};

/* The parameters of a function that runs a command: see struct command. Few need all of them. */
#define COMMAND(name) unsigned name(UNUSED struct ui *ui, UNUSED int arg)

struct ring_limits;
struct recorder;

/* The configuration of the screen. The caller keeps all of it while ui_run() runs. */
struct ui_config {
	struct view_config *view; /* the initial settings; changed by keys */
	const struct sampler_config *sampler; /* except threads, between and arg */
	const char *pattern; /* the text of view->query.match; NULL: no filter */
	enum text_charset charset;
	struct trigger_set *triggers; /* pressure to report; NULL: none */
	const struct ring_limits *history; /* the history to be kept */
	struct cursor *past; /* a recording to show in place of the machine; NULL: none */
	struct recorder *recorder; /* samples are recorded by that; NULL: they are not */
	const struct watch_config *watch; /* pressure back within linger_ns is reported once */
	bool readonly; /* keys that act are disabled */
	const char *message; /* shown at first, escaped text; NULL: none */
	/* Write the configuration, or a preset to it (configuration_save()); and its path. */
	enum configuration_saved (*save)(const char *path, const struct view_config *view,
					 bool force, struct buf *message);
	enum configuration_saved (*save_preset)(const char *path, const struct preset *preset,
						bool force, struct buf *message);
	const char *path;
};

/* Maximum pages on the stack: table, detail, sites, a site, help. */
#define UI_PAGES 6

/* A group, from frame to frame. No group when zero-initialised. */
struct ui_group {
	enum group_by by;
	uint64_t id;
	bool named;
	struct buf name; /* raw bytes, if it has a name */
	bool below; /* with the members of all groups below: the group belongs to a tree */
};

/* The task that commands act on: its identity and its name. */
struct ui_task {
	struct task_key key;
	pid_t tgid;
	bool thread; /* a row of one thread */
	char comm[TASK_COMM_MAX + 1]; /* raw bytes */
};

/* The target of a signal or a nice value. */
struct ui_target {
	struct ui_task task;
	struct target who; /* the same task, as identified when it was selected */
	int value;
};

struct selected;
struct table;

struct ui {
	const struct ui_config *config;
	struct view_config *settings; /* copied from config: changed by keys and written by W */
	struct term term;
	struct prompt prompt;
	struct page pages[UI_PAGES]; /* pages[0] is the table */
	unsigned depth; /* number of pages; the last is on top */

	struct sampler_config sampler_config;
	char *hierarchy; /* for sampler_config, chosen by a key; NULL: the initial one */
	struct sampler *sampler; /* of the frame: the machine's, or one of the past */
	const struct frame *frame; /* the shown one; NULL before the first */
	struct history_view history;
	uint64_t seen_ns; /* time by which it had been taken, CLOCK_BOOTTIME */
	int trace_error; /* -errno: why waits cannot be traced; 0: they are, or need not be */
	bool tracing; /* a view, or the configuration, needs traced waits */
	bool paused, held; /* switched by the keys p and O */
	struct ticker ticker;
	uint64_t samples; /* samples shown that have an interval */
	/* The first reading of the recording's size, from which its size per hour is computed. */
	uint64_t recorded_ns, recorded_bytes; /* CLOCK_MONOTONIC; 0: none yet */
	bool recorded_said; /* the size per hour was reported */
	bool all_notes; /* all are shown, not only the first; by a key */
	/* Lines reserved for notes: the table does not move when notes come and go. */
	size_t note_room;
	uint64_t note_room_until_ns; /* CLOCK_MONOTONIC */
	uint64_t finding_room_until_ns; /* until then the finding has two lines, */
	int finding_columns; /* on a screen as wide as then */

	struct query query; /* from the settings' query, for the current rows */
	struct pattern *match, *find;
	/* The command line's selection; NULL: all. */
	struct pattern *asked;
	uid_t *asked_users;
	size_t asked_nusers;
	char *pattern; /* of match; NULL, like match: no filter */
	char *wanted; /* of find; NULL, like find: no search yet */
	bool opened; /* members of a group are shown instead of the groups: */
	struct ui_group group;

	struct findings findings; /* of the rows, until they are due to be made again */
	bool findings_due; /* the rows were remade */
	int finding_line, finding_end; /* on the screen; -1: not there */

	struct ui_target target;
	struct table *table; /* the table view's state: rows, layout, selection */
	struct selected *selected; /* see view_table.c */

	/* The result of the last key, instead of the footer; escaped text. */
	struct buf message;
	enum style message_style;
	uint64_t message_until_ns; /* CLOCK_MONOTONIC; 0: no message */
	uint64_t message_least_ns; /* CLOCK_MONOTONIC: until then keys do not remove it */

	struct buf scratch; /* buffer for drawing functions, between two calls */
	unsigned pending; /* reactions postponed to the end of a sample */
	bool quit;
};

/* The view for columns: frame, unit, charset. There must be a frame. */
struct view ui_view(const struct ui *ui);

/* True if the table's rows are groups. */
static inline bool ui_folds(const struct ui *ui)
{
	return group_folds(ui->settings->group_by) && !ui->opened;
}

/* The grouping of the table's rows. */
static inline enum group_by ui_rows_are(const struct ui *ui)
{
	if (ui_folds(ui) || ui->settings->group_by == GROUP_THREAD)
		return ui->settings->group_by;
	return GROUP_PROCESS;
}

/* Copies the identity of one of the table's groups. */
void ui_take_group(const struct ui *ui, struct ui_group *to, const struct group *group);

/* Restricts a query to the members of a group; the query then points to the group's name. */
void ui_only_group(struct ui_group *group, struct query *query);

/* Puts a view on top. `state` is passed to its functions and freed by its close(). */
void ui_push(struct ui *ui, const struct view_ops *ops, void *state);

/* Leaves the topmost view unless it is the table. */
void ui_pop(struct ui *ui);

/* The page on top. */
struct page *ui_page(struct ui *ui);

/*
 * Shows a line instead of the footer: for the time needed to read it, or until a key comes when it
 * may have been seen.
 */
void ui_say(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Does the same for an error. */
void ui_error(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Removes the line; unless at once, only if it may have been seen. */
void ui_say_no_more(struct ui *ui, bool at_once);

/* Appends a raw name as escaped text in the screen's charset. */
void ui_escape(const struct ui *ui, struct buf *out, const char *name);

/* True if the screen has a line for the words of the sort column. */
bool ui_has_words(const struct ui *ui);

/* Appends these: the heading spelled out, its meaning, and the key for more. */
void ui_append_words(const struct ui *ui, const struct column *column, struct buf *out);

/* The table of the view on top, or of the first below that has one. */
struct table_view ui_table_view(struct ui *ui);

/* Sorts it by a column in its usual direction; reverses the direction if it is the sort column. */
unsigned ui_sort_by(struct ui *ui, const struct column *column);
