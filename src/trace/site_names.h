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

/* Takes the stacks' addresses from `trace`. Both stay the caller's. */
struct site_names *site_names_open(struct proc *proc, struct trace *trace);

/* Forgets what may have changed, as sockets and mounts; to be called once a reading. */
void site_names_renew(struct site_names *texts);

/* Whether a site's texts are to be made, or again. */
bool site_names_due(const struct traced_site *site);

/*
 * Makes the texts of a site, or makes good what was put off of them. They are valid until then, and
 * until the site is freed, but no longer than `texts`.
 */
void site_names_name(struct site_names *texts, struct traced_site *site);

/* Stops the use of `trace`, which is closed; the texts stay. */
void site_names_stop(struct site_names *texts);

/* All stacks of sites so far; [0] is empty. */
const struct site_stack *site_names_stacks(const struct site_names *texts, size_t *n);

/* Adds a stack, one function a line; its index. */
size_t site_names_add_stack(struct site_names *texts, const char *functions);

/* Whether the kernel hides the names of its functions. */
bool site_names_hidden(const struct site_names *texts);

void site_names_close(struct site_names *texts);
