/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All about one process on a page: where its time goes, its sites of waits, their chain, its
 * threads. */
#ifndef STALLTOP_UI_VIEW_PROCESS_H
#define STALLTOP_UI_VIEW_PROCESS_H

#include "ui/state/ui.h"

/* Opens the page of a process. Returns reactions. */
unsigned view_process_open(struct ui *ui, const struct ui_task *task);

#endif
