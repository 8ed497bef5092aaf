/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in for exact.c in a program that was built without it: nothing is ever open. */
#include "config.h"

#include <errno.h>

#include "base/util.h"
#include "bpf/exact.h"

int exact_open(struct exact **out)
{
	*out = NULL;
	return -ENOSYS;
}

void exact_close(UNUSED struct exact *exact)
{
}
