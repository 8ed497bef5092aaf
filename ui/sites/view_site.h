/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of one line of sites: how long its waits were, their wakers, where in the kernel. */
#pragma once

#include "ui/table/site_list.h"

/* Opens the page on top of the view whose list it is. */
unsigned view_site_open(struct ui *ui, struct site_list *list, uint64_t id);
