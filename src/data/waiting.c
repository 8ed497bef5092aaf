/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "data/waiting.h"

#include <stdlib.h>

void task_waiting_free(struct task_waiting *waiting)
{
	if (!waiting)
		return;
	buf_free(&waiting->on);
	buf_free(&waiting->where);
	buf_free(&waiting->stack);
	free(waiting);
}
