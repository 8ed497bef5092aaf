/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of one line of sites: lengths of its waits, their wakers, kernel functions. */
#pragma once

#include "ui/table/site_list.h"

/* Opens the page on top of the view with the list. */
unsigned view_site_open(struct ui *ui, struct site_list *list, uint64_t id);

/* Hides the callers of the functions in which waits began, or shows them again. */
COMMAND(view_site_fold);
