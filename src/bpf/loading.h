/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading of BPF programs. Used within src/bpf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct bpf_map;
struct bpf_object;
struct bpf_program;

/*
 * Clears earlier refusals; libbpf's messages from now on go to the debug log, and to
 * refusal_capture_log(). 0, or -EXDEV in a time namespace whose clocks are offset from the
 * kernel's, which programs use (time_namespaces(7), 5.6).
 */
int loading_begin(void);

/*
 * True if a name is among the kernel's types and functions. Searches a megabyte of strings in a
 * fraction of a ms. True, too, if it cannot be read: loading then shows it.
 */
bool loading_knows(const char *name);

/*
 * Chooses the optional programs ("?tp_btf/...") whose tracepoint this kernel has; hook: of that
 * tracepoint only, NULL: of any. Of switched_state and switched_plain the one that matches
 * sched_switch. 0, or -ENOENT: the kernel does not describe its types.
 */
int loading_choose(struct bpf_object *object, const char *hook);

/* Runs an iterator program once for each thread; it has no output. 0 or -errno. */
int loading_run_iterator(const struct bpf_program *program);

/* Translates a loading error into one that refusal_summary() knows. */
int loading_error(int err);

/* Bytes of a map with so many values, as mmap() needs them. */
size_t mapped_bytes(size_t room, size_t value);

/* Maps the values of a map (PROT_ bits). NULL if that fails. */
void *mapped_values(const struct bpf_map *map, size_t room, size_t value, int protection);
