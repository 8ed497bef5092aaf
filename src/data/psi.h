/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pressure stall information: the text of one pressure file (the system's or a cgroup's). */
#ifndef STALLTOP_DATA_PSI_H
#define STALLTOP_DATA_PSI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The resources that /proc/pressure has files for, in the order they are shown. */
enum psi_resource { PSI_CPU, PSI_MEMORY, PSI_IO, PSI_IRQ, PSI_RESOURCES };

/* File names below /proc/pressure, and the names shown. */
extern const char *const psi_names[PSI_RESOURCES];

/* One line: averages in hundredths of a percent, the stall time since boot in us. */
struct psi_line {
	bool valid;
	uint32_t avg10, avg60, avg300;
	uint64_t total_us;
};

struct psi {
	struct psi_line some, full;
};

/*
 * Parses the text of a pressure file. A line that is missing or malformed is left
 * invalid without harm to the other (irq has no `some`, old kernels no cpu `full`).
 * 0, or -EBADMSG when no line is valid.
 */
int psi_parse(const char *text, size_t len, struct psi *out);

#endif
