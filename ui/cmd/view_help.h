/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help: the keys, units and fields, made from the program's tables. */
#pragma once

#include "ui/state/ui.h"

/* Opens help, which starts with the keys of the view on top. Returns reactions. */
unsigned view_help_open(struct ui *ui, bool of_column);
