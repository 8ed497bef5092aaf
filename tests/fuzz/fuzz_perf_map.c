// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as the map that a compiler writes for perf: no harm, and no name that acts on a screen.
 */
#include <stdint.h>
#include <stdlib.h>

#include "kernel/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = { 0, 0x1000, 0x7f0000001010, UINT64_MAX };
	struct perf_map map = { 0 };
	struct buf name = { 0 };
	struct frame_rule rule;

	buf_add(&map.text, data, size);
	buf_cstr(&map.text);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		name.len = 0;
		if (!perf_map_name(&map, addresses[i], &name, &rule))
			continue;
		for (size_t at = 0; at < name.len; at++)
			if ((unsigned char)name.data[at] < ' ' || name.data[at] == 0x7f)
				abort();
	}
	perf_map_free(&map);
	buf_free(&name);
	return 0;
}
