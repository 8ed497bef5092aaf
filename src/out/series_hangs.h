/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tasks that hang at the moment, by name: what an alert is about. */
#ifndef STALLTOP_OUT_SERIES_HANGS_H
#define STALLTOP_OUT_SERIES_HANGS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "model/frame.h"

/* At most this many hung tasks are exported, longest first; and the threshold. */
#define SERIES_HANGS 8
#define SERIES_HANG_NS (10 * NSEC_PER_SEC)

/* A task in uninterruptible sleep. Texts are labels, and empty where not known. */
struct series_hang {
	uint64_t ns;
	pid_t pid;
	enum wait_seen kind;
	char *labels, *comm, *syscall, *on; /* labels: those of its group */
};

/* Those of the last frame, the longest first; zero-initialised: none. */
struct series_hangs {
	struct series_hang all[SERIES_HANGS];
	size_t n;
};

/* Begins a frame. */
void series_hangs_begin(struct series_hangs *hangs);

/* Adds a task's row, if it hangs; labels: those of its group. */
void series_hangs_add(struct series_hangs *hangs, const struct frame *frame, const struct row *row,
		      const char *labels);

void series_hangs_free(struct series_hangs *hangs);

#endif
