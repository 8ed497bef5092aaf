/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything about one process on a page: use of its time, its sites, their chain, its threads. */
#pragma once

#include "ui/state/ui.h"

/* Opens the page of a process. Returns reactions. */
unsigned view_process_open(struct ui *ui, const struct ui_task *task);
