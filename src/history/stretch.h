/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stretch of the past: consecutive moments, kept in memory or in a file of a recording. The first
 * one is whole. Those in memory become a database when they are read.
 */
#ifndef STALLTOP_HISTORY_STRETCH_H
#define STALLTOP_HISTORY_STRETCH_H

#include "data/system.h"
#include "history/archive.h"
#include "history/kept.h"
#include "history/store.h"

/* The time waited is not known. */
#define WAITED_UNKNOWN UINT64_MAX

/* The outline of a moment: what is known of it without reading it. */
struct outline {
	int64_t number; /* the number of its sample */
	uint64_t real_ns;
	uint64_t begin_ns; /* CLOCK_MONOTONIC, as tasks' starts */
	uint64_t interval_ns; /* 0: there is no interval */
	uint64_t waited_ns; /* what all tasks waited */
	/* Shares of stalls ("some") in percent, and the highest of them; negative: not known. */
	float stalls[PSI_RESOURCES];
	float pressure;
};

struct stretch {
	bool left_out; /* its file cannot be read */
	bool early; /* it was recorded before the part that is to be shown, */
	int64_t early_to; /* or its samples up to this number were */
	char *path; /* the file; NULL: the moments are in memory */
	struct keeper *keeper; /* of the moments in memory, outlives the stretch; NULL: a file */
	struct kept_list kept; /* the moments in memory */
	struct store *store; /* their database while the stretch is open, */
	const struct kept *stored; /* and the last moment that is in it */
	struct archive archive;
	bool open; /* the archive is open */
	bool listed; /* the outlines were read */
	bool threads; /* rows are threads */
	bool torn; /* the moments right before it were removed */
	unsigned pins; /* how many users look at it; it stays while there are any */
	struct outline *outlines;
	size_t n, cap;
};

/* Adds the outline of a moment at the end. */
void stretch_add(struct stretch *stretch, const struct outline *outline);

/* Reads the outlines, if they were not read yet. 0 or -errno. */
int stretch_list(struct stretch *stretch);

/* Opens a stretch for reading, with all moments that it has now. 0 or -errno. */
int stretch_open(struct stretch *stretch);

/* Closes a stretch; its outlines stay. */
void stretch_shut(struct stretch *stretch);

/* Reads the time that all tasks waited in a moment, unless it is known. */
void stretch_read_waited(struct stretch *stretch, size_t at);

/* Stretches in the order of time. Zero-initialised: empty. */
struct stretches {
	struct stretch **list;
	size_t n;
};

/* Adds an empty stretch at the end. */
struct stretch *stretches_add(struct stretches *stretches);

/*
 * Whether a stretch ended before a time (CLOCK_REALTIME), by the name of the file after it: that is
 * of the second in which that file begins, or a later one. False where it has no name of ours.
 */
bool stretches_before(const struct stretches *stretches, size_t at, uint64_t real_ns);

/* Removes and frees a stretch. */
void stretches_remove(struct stretches *stretches, size_t at);

/* Frees all stretches. */
void stretches_free(struct stretches *stretches);

#endif
