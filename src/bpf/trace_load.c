/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/trace_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf/trace.skel.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "bpf/loading.h"
#include "kernel/syscalls.h"

/* Bytes of a window, unless pages are larger. */
#define WINDOW_BYTES (UINT64_C(64) << 10)

int windows_open(struct windows *windows, int map, size_t room, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = mapped_bytes(room, size);
	void *base =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return -errno;
	*windows = (struct windows){ .map = map,
				     .base = base,
				     .bytes = bytes,
				     .size = size,
				     .window = page > WINDOW_BYTES ? page : WINDOW_BYTES };
	windows->n = (bytes + windows->window - 1) / windows->window;
	windows->rest = xcalloc(windows->n, sizeof(*windows->rest));
	return 0;
}

/* Bytes of one window: the last may be shorter. */
static size_t window_bytes(const struct windows *windows, size_t at)
{
	size_t left = windows->bytes - at * windows->window;

	return left < windows->window ? left : windows->window;
}

/* Maps the array into a window, or unmaps it. */
static void set_window(struct windows *windows, size_t at, bool shown)
{
	int protection = shown ? PROT_READ | PROT_WRITE : PROT_NONE;
	int flags = MAP_FIXED | (shown ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
	size_t from = at * windows->window;

	if (mmap(windows->base + from, window_bytes(windows, at), protection, flags,
		 shown ? windows->map : -1, shown ? (off_t)from : 0) == MAP_FAILED)
		die("cannot map what is traced: %s", strerror(errno));
	windows->rest[at] = shown ? WINDOW_READINGS : 0;
}

void windows_map(struct windows *windows, size_t first, size_t last)
{
	for (size_t at = first; at <= last; at++)
		if (!windows->rest[at])
			set_window(windows, at, true);
}

void windows_trim(struct windows *windows)
{
	for (size_t at = 0; at < windows->n; at++)
		if (windows->rest[at] && !--windows->rest[at])
			set_window(windows, at, false);
}

void windows_close(struct windows *windows)
{
	if (windows->base)
		munmap(windows->base, windows->bytes);
	free(windows->rest);
	*windows = (struct windows){ 0 };
}

#define SITES_MIN 16U
#define STACKS_MIN 1024U

/* The next power of two. */
static uint32_t round_up(uint32_t n)
{
	uint32_t power = 1;

	while (power < n && power < 1U << 30)
		power *= 2;
	return power;
}

/*
 * The size of a task's kernel stack (THREAD_SIZE of x86-64 and arm64): four pages of 4 kB, or one
 * larger page.
 */
static uint32_t stack_size(void)
{
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	return page > 16384 ? page : 16384;
}

/* Passes the facts about system calls to the programs. */
static void put_calls(struct trace_bpf *bpf)
{
	for (int i = 0; i < syscall_limit() && i < TRACE_CALLS; i++) {
		struct syscall_class class = syscall_classify(i);

		bpf->rodata->classes[i].state = (__u8) class.state;
		bpf->rodata->classes[i].target = (__u8) class.target;
		bpf->rodata->classes[i].argument = (__u8) class.argument;
	}
	for (int i = 0; i < TRACE_CALLS; i++) {
		int native = syscall_native(i);

		bpf->rodata->natives[i] =
			(__u16)(native == SYSCALL_SOCKETCALL ? TRACE_SOCKETCALL : native + 1);
	}
	for (unsigned i = 0; i < TRACE_SOCKET_CALLS; i++)
		bpf->rodata->socket_calls[i] = (__u16)(syscall_of_socketcall(i) + 1);
}

/* Sets sizes and the programs' constants. */
static int set_constants(struct trace_program *program, bool blocked_stacks, bool states_alone)
{
	struct trace_bpf *bpf = program->bpf;
	const struct {
		struct bpf_map *map;
		uint32_t room;
	} maps[] = {
		{ bpf->maps.sites, program->sites },
		{ bpf->maps.links_of_sites, program->sites },
		{ bpf->maps.cpus, program->cpus },
		{ bpf->maps.free_sites, program->sites },
		{ bpf->maps.changed_sites, 2 * program->sites },
		{ bpf->maps.places, program->sites },
		{ bpf->maps.stacks, program->sites < STACKS_MIN ? STACKS_MIN : program->sites },
		{ bpf->maps.chosen, program->user_stacks ? TRACE_CHOSEN : 1 },
		{ bpf->maps.user_rules, program->user_stacks ? TRACE_RULES : 1 },
		{ bpf->maps.user_stacks, program->user_stacks + !program->user_stacks },
		{ bpf->maps.stack_sums, program->user_stacks ? program->sites : 1 },
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(maps) / sizeof(maps[0]); i++)
		err = bpf_map__set_max_entries(maps[i].map, maps[i].room);
	bpf->rodata->site_room = program->sites;
	bpf->rodata->blocked_stacks = blocked_stacks;
	bpf->rodata->states_alone = states_alone;
	bpf->rodata->user_stack_room = program->user_stacks;
	bpf->rodata->stack_size = stack_size();
#ifndef __x86_64__
	bpf->rodata->weak_order = true;
#endif
	put_calls(bpf);
	return err;
}

/* Maps the programs' output. */
static int map_all(struct trace_program *program)
{
	struct trace_bpf *bpf = program->bpf;
	const int both = PROT_READ | PROT_WRITE;
	int err = windows_open(&program->site_slots, bpf_map__fd(bpf->maps.sites), program->sites,
			       sizeof(struct trace_site_slot));

	if (!err)
		err = windows_open(&program->links, bpf_map__fd(bpf->maps.links_of_sites),
				   program->sites, sizeof(struct trace_links));
	if (err)
		return err;
	program->control = (struct trace_control *)&bpf->bss->control;
#define MAP(member, map, room) \
	(program->member = mapped_values(bpf->maps.map, room, sizeof(*program->member), both))
	if (!MAP(cpu, cpus, program->cpus) || !MAP(free_sites, free_sites, program->sites) ||
	    !MAP(changed_sites, changed_sites, 2 * program->sites))
		return -errno;
#undef MAP
	program->ends = (struct end_ring){
		.kept = mapped_values(bpf->maps.ends, TRACE_ENDS, sizeof(struct trace_end),
				      PROT_READ),
		.size = sizeof(struct trace_end),
		.room = TRACE_ENDS,
		.written = (const uint64_t *)&program->control->ends,
	};
	return program->ends.kept ? 0 : -errno;
}

/* Puts all slots but the first into the queue of free ones. */
static void fill_ring(struct trace_program *program)
{
	struct trace_control *control = program->control;

	for (uint32_t slot = 1; slot < program->sites; slot++)
		program->free_sites[slot - 1] = slot;
	control->free_sites.tail = program->sites - 1;
	control->epoch = 1;
}

/* Attaches all but the program that visits the threads: first those that find existing ones. */
static int attach_all(struct trace_program *program)
{
	struct trace_bpf *bpf = program->bpf;
	int err = loading_run_iterator(bpf->progs.each_thread);

	/* The visits are attached while they last. */
	bpf_program__set_autoattach(bpf->progs.each_thread, false);
	bpf_program__set_autoattach(bpf->progs.each_waiter, false);
	if (!err)
		err = trace_bpf__attach(bpf);
	if (err)
		return err;
	/* The end of an interrupt may have been missed, as hooks are attached one by one. */
	for (uint32_t i = 0; i < program->cpus; i++) {
		program->cpu[i].interrupt = 0;
		program->cpu[i].softirq = program->cpu[i].timer = program->cpu[i].ipi = 0;
	}
	program->control->walking = 1;
	err = loading_run_iterator(bpf->progs.each_thread);
	__atomic_store_n(&program->control->walked, 1, __ATOMIC_SEQ_CST);
	if (err)
		return err;
	program->waiters = bpf_program__attach_iter(bpf->progs.each_waiter, NULL);
	err = (int)libbpf_get_error(program->waiters);
	if (err)
		program->waiters = NULL;
	return err;
}

int trace_load(struct trace_program *program, uint32_t sites, uint32_t user_stacks,
	       bool blocked_stacks)
{
	struct trace_bpf *bpf;
	int err = loading_begin();

	*program = (struct trace_program){ .stats = -1 };
	if (err)
		return err;
	program->bpf = bpf = trace_bpf__open();
	if (!bpf)
		return loading_error(-errno);
	program->sites = round_up(sites < SITES_MIN ? SITES_MIN : sites);
	program->user_stacks = sites ? user_stacks : 0;
	program->cpus = (uint32_t)libbpf_num_possible_cpus();
	/* States alone need those of switches, wake-ups and births. */
	err = loading_choose(bpf->obj, sites ? NULL : "sched_switch");
	if (!err)
		err = set_constants(program, blocked_stacks, !sites);
	if (!err)
		err = trace_bpf__load(bpf);
	if (!err)
		err = map_all(program);
	if (!err) {
		fill_ring(program);
		err = attach_all(program);
	}
	debug_log("trace: room for %u sites: %s", program->sites, err ? strerror(-err) : "loaded");
	if (err) {
		trace_unload(program);
		return loading_error(err);
	}
	return 0;
}

int trace_runs(const struct trace_program *program, struct trace_runs *runs)
{
	struct bpf_program *part;

	*runs = (struct trace_runs){ 0, 0 };
	bpf_object__for_each_program(part, program->bpf->obj)
	{
		struct bpf_prog_info info = { 0 };
		__u32 size = sizeof(info);
		int err;

		if (!bpf_program__autoload(part))
			continue;
		err = bpf_obj_get_info_by_fd(bpf_program__fd(part), &info, &size);
		if (err)
			return err;
		runs->runs += info.run_cnt;
		runs->ns += info.run_time_ns;
	}
	return 0;
}

/* Unmaps what map_all() mapped. */
static void unmap_all(struct trace_program *program)
{
#define UNMAP(member, room) \
	do { \
		if (program->member) \
			munmap(program->member, mapped_bytes(room, sizeof(*program->member))); \
	} while (0)
	windows_close(&program->site_slots);
	windows_close(&program->links);
	UNMAP(cpu, program->cpus);
	UNMAP(free_sites, program->sites);
	UNMAP(changed_sites, 2 * program->sites);
#undef UNMAP
	if (program->ends.kept)
		munmap((void *)(uintptr_t)program->ends.kept,
		       mapped_bytes(TRACE_ENDS, sizeof(struct trace_end)));
	end_ring_free(&program->ends);
}

void trace_unload(struct trace_program *program)
{
	if (program->stats >= 0)
		close(program->stats);
	unmap_all(program);
	bpf_link__destroy(program->waiters);
	trace_bpf__destroy(program->bpf);
	*program = (struct trace_program){ .stats = -1 };
}
