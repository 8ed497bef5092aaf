/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The texts of sites: system call, target, kernel function and stack, each made once, when the site
 * is first shown.
 */
#pragma once

#include "base/util.h"
#include "trace/traced_sites.h"

struct proc;

struct site_names;
struct trace;

/* Reads the stacks' addresses from `trace`. The caller keeps both. */
struct site_names *site_names_open(struct proc *proc, struct trace *trace);

/* Drops cached data that may have changed, such as sockets and mounts; call once per reading. */
void site_names_renew(struct site_names *texts);

/* True if a site's texts are to be made, or made again. */
bool site_names_due(const struct traced_site *site);

/*
 * Makes the texts of a site, or completes postponed ones. They are valid until the next call for
 * it, and until the site is freed, but no longer than `texts`.
 */
void site_names_name(struct site_names *texts, struct traced_site *site);

/* Stops the use of `trace`, which is closed; the texts stay. */
void site_names_stop(struct site_names *texts);

/* All stacks of sites so far; [0] is empty. */
const struct site_stack *site_names_stacks(const struct site_names *texts, size_t *n);

/* Adds a stack, one function per line; returns its index. */
size_t site_names_add_stack(struct site_names *texts, const char *functions);

/* True if the kernel hides the names of its functions. */
bool site_names_hidden(const struct site_names *texts);

void site_names_close(struct site_names *texts);
