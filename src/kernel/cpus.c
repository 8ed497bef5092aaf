/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "kernel/cpus.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"

/* Beyond that a number is no CPU's (CONFIG_NR_CPUS is at most 8192). */
#define CPUS_MAX 65536

unsigned cpus_of_list(const char *list)
{
	const char *end = list + strlen(list);
	uint64_t number, highest = 0;

	for (;;) {
		if (!parse_uint(&list, end, &number) || number >= CPUS_MAX)
			return 0;
		highest = number > highest ? number : highest;
		if (list == end || *list == '\n')
			return (unsigned)highest + 1;
		if (*list != '-' && *list != ',')
			return 0;
		list++;
	}
}

unsigned cpus_possible(void)
{
	char list[1024];
	int n = file_read(AT_FDCWD, "/sys/devices/system/cpu/possible", list, sizeof(list) - 1);
	unsigned cpus = 0;
	long configured;

	if (n > 0) {
		list[n] = '\0';
		cpus = cpus_of_list(list);
	}
	configured = cpus ? 0 : sysconf(_SC_NPROCESSORS_CONF);
	return cpus ? cpus : configured > 0 ? (unsigned)configured : 1;
}
