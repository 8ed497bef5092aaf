/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cures: what to do against a finding, with the names of what it is about, as is checked to apply;
 * else what the pattern of the finding says in general.
 */
#pragma once

#include "view/chain.h"
#include "view/finding.h"

/*
 * Appends the cure of a finding in a frame: `means` is a command, a file or a task ("fsfreeze -u"),
 * empty where none is named; `how` says on what it acts, or when it is the right one. Both are raw
 * bytes. chain: of the finding's waits; NULL: not traced. finding: NULL: of the chain alone.
 * Nothing is appended where none is known.
 */
void cure_put(struct buf *means, struct buf *how, const struct frame *frame,
	      const struct finding *finding, const struct chain *chain);
