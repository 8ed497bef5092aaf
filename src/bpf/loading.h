/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What loading a program into the kernel takes, whichever it is. */
#ifndef STALLTOP_BPF_LOADING_H
#define STALLTOP_BPF_LOADING_H

#include <stddef.h>

struct bpf_map;

/*
 * Has libbpf's messages written to the debug log. 0, or -EOPNOTSUPP in a time namespace with other
 * clocks than the kernel's own, by which programs tell times (time_namespaces(7), 5.6).
 */
int loading_begin(void);

/*
 * Translates an error of loading: -EPERM without the capabilities, -ENOENT without the kernel's
 * types, -ENOMEM, else -EOPNOTSUPP.
 */
int loading_error(int err);

/* The bytes of a map with so many values, as mmap() needs them. */
size_t mapped_bytes(size_t room, size_t value);

/* Maps the values of a map (PROT_ bits). NULL where that fails. */
void *mapped_values(const struct bpf_map *map, size_t room, size_t value, int protection);

#endif
