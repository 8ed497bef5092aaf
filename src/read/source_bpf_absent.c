/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces source_bpf.c when built without BPF. */
#include <errno.h>

#include "base/util.h"
#include "read/source.h"

/* Refuses to open. */
static int absent_open(UNUSED const struct source_env *env, UNUSED void **state)
{
	return -ENOSYS;
}

const struct source_ops source_bpf = {
	.name = "bpf",
	.programs = true,
	.many = true,
	.open = absent_open,
};
