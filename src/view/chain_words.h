/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains of waits in words. */
#pragma once

#include "base/text.h"
#include "view/chain.h"

/* Append words, with names and targets escaped for that charset. */

/* What is waited for at a site: its system call and target, else its state. */
void chain_put_site(struct buf *out, const struct site *site, enum text_charset charset);

/* What a waker did meanwhile. */
void chain_put_part(struct buf *out, const struct chain_part *part, enum text_charset charset);

/* Who ended waits, and how many. */
void chain_put_waker(struct buf *out, const struct chain_step *step, enum text_charset charset);

void chain_put_root(struct buf *out, const struct chain_root *root, enum text_charset charset);
