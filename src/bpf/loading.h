/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading of any program into the kernel. Within src/bpf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct bpf_map;
struct bpf_object;
struct bpf_program;

/*
 * Forgets refusals of before; what libbpf says from now on goes to the debug log, and to
 * refusal_capture_log(). 0, or -EXDEV in a time namespace with other clocks than the kernel's own,
 * by which programs tell times (time_namespaces(7), 5.6).
 */
int loading_begin(void);

/*
 * Whether a name is among those of the kernel's types and functions. Looks through a megabyte of
 * strings in a fraction of a ms. True, too, where that cannot be read: trying tells.
 */
bool loading_knows(const char *name);

/*
 * Chooses the optional programs ("?tp_btf/...") whose tracepoint this kernel has; hook: of that
 * tracepoint only, NULL: of any. Of switched_state and switched_plain that which fits sched_switch.
 * 0, or -ENOENT: the kernel does not describe its types.
 */
int loading_choose(struct bpf_object *object, const char *hook);

/* Runs a program that is called for each thread, and puts out nothing. 0 or -errno. */
int loading_run_iterator(const struct bpf_program *program);

/* Translates an error of loading into one that refusal_summary() knows. */
int loading_error(int err);

/* The bytes of a map with so many values, as mmap() needs them. */
size_t mapped_bytes(size_t room, size_t value);

/* Maps the values of a map (PROT_ bits). NULL where that fails. */
void *mapped_values(const struct bpf_map *map, size_t room, size_t value, int protection);
