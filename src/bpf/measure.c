/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/measure.h"

#include <bpf/libbpf.h>
#include <bpf/measure.skel.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/util.h"
#include "bpf/loading.h"
#include "bpf/refusal.h"
#include "data/delay.h"

struct measure {
	struct measure_bpf *program;
	struct end_ring ends;
	uint32_t kinds;
};

/*
 * True if task storage may be allocated at a switch: since 6.4 it has its own memory (shown by a
 * member of struct bpf_local_storage_map; later it allocates without locks).
 */
static bool makes_late(void)
{
	return loading_knows("bpf_ma") || loading_knows("use_kmalloc_nolock");
}

/* True if the kernel tracks pressure, and so marks tasks in a memory stall. */
static bool keeps_pressure(void)
{
	char text[16];

	return file_read(AT_FDCWD, "/proc/pressure/memory", text, sizeof(text)) > 0;
}

/* Chooses the programs for this kernel. */
static int choose_programs(struct measure *measure)
{
	struct measure_bpf *bpf = measure->program;
	int err = loading_choose(bpf->obj, NULL);

	if (err)
		return err;
	bpf->rodata->make_late = makes_late();
	bpf_program__set_autoload(bpf->progs.forked, !bpf->rodata->make_late);
	bpf_program__set_autoattach(bpf->progs.begin_with_booked, false);
	measure->kinds = DELAY_BIT(DELAY_BLKIO) | VALID_DWAIT;
	if (bpf_program__autoload(bpf->progs.mm_vmscan_direct_reclaim_begins))
		measure->kinds |= DELAY_BIT(DELAY_RECLAIM);
	if (bpf_program__autoload(bpf->progs.mm_compaction_begins))
		measure->kinds |= DELAY_BIT(DELAY_COMPACT);
	if (keeps_pressure())
		measure->kinds |= DELAY_BIT(DELAY_THRASH);
	return 0;
}

/*
 * Attaches all. Accounted delays are read before waits are watched; threads started meanwhile have
 * none.
 */
static int attach_in_order(struct measure_bpf *bpf)
{
	long err = 0;

	if (bpf_program__autoload(bpf->progs.forked)) {
		bpf->links.forked = bpf_program__attach(bpf->progs.forked);
		err = libbpf_get_error(bpf->links.forked);
	}
	if (!err)
		err = loading_run_iterator(bpf->progs.begin_with_booked);
	return err ? (int)err : measure_bpf__attach(bpf);
}

int measure_open(struct measure **out)
{
	struct measure *measure;
	int err = loading_begin();

	if (err)
		return err;
	measure = xcalloc(1, sizeof(*measure));
	measure->program = measure_bpf__open();
	err = measure->program ? choose_programs(measure) : -errno;
	if (!err)
		err = measure_bpf__load(measure->program);
	if (!err) {
		measure->ends = (struct end_ring){
			.kept = mapped_values(measure->program->maps.ends, MEASURED_ENDS,
					      sizeof(struct measured_end), PROT_READ),
			.size = sizeof(struct measured_end),
			.room = MEASURED_ENDS,
			.written = (const uint64_t *)&measure->program->bss->control.ends,
		};
		err = measure->ends.kept ? attach_in_order(measure->program) : -errno;
	}
	debug_log("measuring: %s", err ? strerror(-err) : "loaded");
	if (err) {
		measure_close(measure);
		return loading_error(err);
	}
	*out = measure;
	return 0;
}

int measure_map(const struct measure *measure)
{
	return bpf_map__fd(measure->program->maps.waits);
}

uint32_t measure_kinds(const struct measure *measure)
{
	return measure->kinds;
}

bool measure_is_late(const struct measure *measure)
{
	return measure->program->rodata->make_late;
}

struct end_ring *measure_ends(struct measure *measure)
{
	return &measure->ends;
}

void measure_close(struct measure *measure)
{
	if (!measure)
		return;
	if (measure->ends.kept)
		munmap((void *)(uintptr_t)measure->ends.kept,
		       mapped_bytes(MEASURED_ENDS, sizeof(struct measured_end)));
	end_ring_free(&measure->ends);
	measure_bpf__destroy(measure->program);
	free(measure);
}
