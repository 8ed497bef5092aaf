// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as a pressure file: no harm, and what is valid prints back as it was read. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "data/system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether the text has the line that these values make. Numbers may have leading zeros. */
static void check_line(const char *text, size_t size, const char *name, const struct psi_line *line)
{
	char *copy, *at;
	char tail[64];

	if (!line->valid) {
		if (line->avg10 || line->avg60 || line->avg300 || line->total_us)
			abort();
		return;
	}
	copy = xcalloc(size + 1, 1);
	memcpy(copy, text, size);
	for (size_t i = 0; i < size; i++) {
		if (!copy[i])
			copy[i] = '?';
	}
	snprintf(tail, sizeof(tail), "%" PRIu32 ".%02" PRIu32 " total=", line->avg300 / 100,
		 line->avg300 % 100);
	if (!strstr(copy, name) || !strstr(copy, tail))
		abort();
	snprintf(tail, sizeof(tail), "%" PRIu64, line->total_us);
	at = strstr(copy, tail);
	if (!at)
		abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct psi psi;
	int err = psi_parse((const char *)data, size, &psi);

	if (err != (psi.some.valid || psi.full.valid ? 0 : -EBADMSG))
		abort();
	check_line((const char *)data, size, "some avg10=", &psi.some);
	check_line((const char *)data, size, "full avg10=", &psi.full);
	return 0;
}
