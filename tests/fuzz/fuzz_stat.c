// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as /proc/PID/stat: no harm; refused without a trace, or with a name from it. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/proctask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proctask_stat stat, untouched;
	const char *text = (const char *)data, *name;
	size_t len;
	int err;

	memset(&stat, 0x5A, sizeof(stat));
	memset(&untouched, 0x5A, sizeof(untouched));
	err = proctask_stat_parse(text, size, &stat);
	if (err) {
		if (err != -EBADMSG || memcmp(&stat, &untouched, sizeof(stat)) != 0)
			abort();
		return 0;
	}
	name = memchr(text, '(', size);
	if (!name || stat.state < '!' || stat.state > '~' || stat.ppid < 0)
		abort();
	if (stat.comm[TASK_COMM_MAX])
		abort();
	/* A NUL, which no name of the kernel has, ends the name that is compared. */
	len = strlen(stat.comm);
	if (len > size || memcmp(stat.comm, name + 1, len) != 0)
		abort();
	return 0;
}
