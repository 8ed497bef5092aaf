/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/exact.h"

#include <bpf/btf.h>
#include <bpf/exact.skel.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"
#include "bpf/loading.h"
#include "bpf/refusal.h"

struct exact {
	struct exact_bpf *program;
	const struct exact_ended *kept; /* mapped */
	struct exact_ended *ended; /* what was taken last */
	uint64_t taken; /* so many ends were taken since the start */
};

/*
 * Whether the kernel's storage of tasks may be made at a switch: since 6.4 it has memory of its own
 * (a member of struct bpf_local_storage_map says so; later it allocates without locks).
 */
static bool makes_late(void)
{
	return loading_knows("bpf_ma") || loading_knows("use_kmalloc_nolock");
}

/* Chooses the programs for this kernel. */
static int choose_exact(struct exact_bpf *program)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool late = makes_late();

	if (libbpf_get_error(btf))
		return -ENOENT;
	/* prev_state is there since 5.18. */
	bpf_program__set_autoload(loading_arguments(btf, "sched_switch") >= 4
					  ? program->progs.switched_state
					  : program->progs.switched_plain,
				  true);
	btf__free(btf);
	bpf_program__set_autoload(program->progs.forked, !late);
	program->rodata->make_late = late;
	return 0;
}

/* Attaches one of the programs. */
static int attach_one(struct bpf_link **link, const struct bpf_program *program)
{
	long err;

	*link = bpf_program__attach(program);
	err = libbpf_get_error(*link);
	if (err)
		*link = NULL;
	return (int)err;
}

/*
 * Attaches all. What was booked before is read before waits are watched; threads born meanwhile had
 * nothing booked.
 */
static int attach_in_order(struct exact_bpf *program)
{
	int err = 0;

	if (bpf_program__autoload(program->progs.forked))
		err = attach_one(&program->links.forked, program->progs.forked);
	if (!err)
		err = loading_run_iterator(program->progs.meet);
	if (!err)
		err = attach_one(&program->links.waking, program->progs.waking);
	if (!err)
		err = attach_one(&program->links.exited, program->progs.exited);
	if (!err && bpf_program__autoload(program->progs.switched_state))
		err = attach_one(&program->links.switched_state, program->progs.switched_state);
	else if (!err)
		err = attach_one(&program->links.switched_plain, program->progs.switched_plain);
	return err;
}

int exact_open(struct exact **out)
{
	struct exact *exact;
	int err = loading_begin();

	if (err)
		return err;
	exact = xcalloc(1, sizeof(*exact));
	exact->program = exact_bpf__open();
	err = exact->program ? choose_exact(exact->program) : -errno;
	if (!err)
		err = exact_bpf__load(exact->program);
	if (!err) {
		exact->kept = mapped_values(exact->program->maps.ended, EXACT_ENDED,
					    sizeof(*exact->kept), PROT_READ);
		err = exact->kept ? attach_in_order(exact->program) : -errno;
	}
	debug_log("exact waits: %s", err ? strerror(-err) : "loaded");
	if (err) {
		exact_close(exact);
		return loading_error(err);
	}
	*out = exact;
	return 0;
}

int exact_map(const struct exact *exact)
{
	return bpf_map__fd(exact->program->maps.waits);
}

bool exact_is_late(const struct exact *exact)
{
	return exact->program->rodata->make_late;
}

const struct exact_ended *exact_take_ended(struct exact *exact, size_t *n)
{
	uint64_t until = *(volatile __u64 *)&exact->program->bss->control.ended;

	*n = 0;
	if (until - exact->taken > EXACT_ENDED)
		exact->taken = until - EXACT_ENDED;
	if (exact->taken == until)
		return exact->ended;
	if (!exact->ended)
		exact->ended = xcalloc(EXACT_ENDED, sizeof(*exact->ended));
	for (; exact->taken != until; exact->taken++) {
		const struct exact_ended *kept = &exact->kept[exact->taken & (EXACT_ENDED - 1)];
		struct exact_ended *end = &exact->ended[*n];

		*end = *(const volatile struct exact_ended *)kept;
		/* One that is being written, or over which another was. */
		*n += end->sequence == exact->taken + 1 &&
		      *(const volatile __u64 *)&kept->sequence == exact->taken + 1;
	}
	return exact->ended;
}

void exact_close(struct exact *exact)
{
	if (!exact)
		return;
	if (exact->kept)
		munmap((void *)(uintptr_t)exact->kept,
		       mapped_bytes(EXACT_ENDED, sizeof(*exact->kept)));
	exact_bpf__destroy(exact->program);
	free(exact->ended);
	free(exact);
}
