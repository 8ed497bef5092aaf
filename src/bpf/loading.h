/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading of any program into the kernel. Within src/bpf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct bpf_map;
struct bpf_program;
struct btf;

/*
 * Forgets refusals of before; what libbpf says from now on goes to the debug log, and to
 * refusal_hear(). 0, or -EXDEV in a time namespace with other clocks than the kernel's own, by
 * which programs tell times (time_namespaces(7), 5.6).
 */
int loading_begin(void);

/*
 * Whether a name is among those of the kernel's types and functions. Looks through a megabyte of
 * strings in a fraction of a ms. True, too, where that cannot be read: trying tells.
 */
bool loading_knows(const char *name);

/* The kernel's types, to be freed by btf__free(); NULL: they cannot be read. */
struct btf *loading_types(void);

/* How many arguments a tracepoint has in this kernel; negative: it has no such tracepoint. */
int loading_arguments(const struct btf *btf, const char *tracepoint);

/* Runs a program that is called for each thread, and puts out nothing. 0 or -errno. */
int loading_run_iterator(const struct bpf_program *program);

/* Translates an error of loading into one that refusal_summary() knows. */
int loading_error(int err);

/* The bytes of a map with so many values, as mmap() needs them. */
size_t mapped_bytes(size_t room, size_t value);

/* Maps the values of a map (PROT_ bits). NULL where that fails. */
void *mapped_values(const struct bpf_map *map, size_t room, size_t value, int protection);
