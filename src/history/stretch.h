/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stretch of the past: moments that follow on one another, kept in memory or in a file of a
 * recording. The first stands for itself. Those in memory become a database when they are read.
 */
#ifndef STALLTOP_HISTORY_STRETCH_H
#define STALLTOP_HISTORY_STRETCH_H

#include "data/system.h"
#include "history/archive.h"
#include "history/kept.h"
#include "history/store.h"

/* The time waited is not known. */
#define WAITED_UNKNOWN UINT64_MAX

/* A moment, in short. */
struct outline {
	int64_t number; /* of its sample */
	uint64_t real_ns;
	uint64_t begin_ns; /* CLOCK_MONOTONIC, as tasks' starts */
	uint64_t interval_ns; /* 0: there was none before it */
	uint64_t waited_ns; /* of all tasks */
	/* Shares of stalls ("some"), in percent, and the highest of them; negative: not known. */
	float stalls[PSI_RESOURCES];
	float pressure;
};

struct stretch {
	char *path; /* NULL: in memory */
	struct keeper *keeper; /* of those in memory, which outlives it; NULL: a file */
	struct kept_list kept; /* its moments in memory */
	struct store *store; /* the database of these while it is open, */
	const struct kept *stored; /* and the last of them that is in it */
	struct archive archive;
	bool open; /* the archive is */
	bool listed; /* the outlines are known */
	bool threads; /* rows are threads */
	bool torn; /* what was before it is not there any more */
	unsigned pins; /* how many look at it: it must stay */
	struct outline *outlines;
	size_t n, cap;
};

/* Adds a moment at the end. */
void stretch_add(struct stretch *stretch, const struct outline *outline);

/* Has its outlines listed. 0 or -errno. */
int stretch_list(struct stretch *stretch);

/* Opens it to be read, with all moments that it has by now. 0 or -errno. */
int stretch_open(struct stretch *stretch);

/* Closes what is open; its outlines stay. */
void stretch_shut(struct stretch *stretch);

/* Reads the time that all tasks waited in a moment, where it is not known yet. */
void stretch_read_waited(struct stretch *stretch, size_t at);

void stretch_free(struct stretch *stretch);

/* Stretches in the order of time. Zero-initialised: none. */
struct stretches {
	struct stretch **list;
	size_t n;
};

/* Adds an empty one at the end. */
struct stretch *stretches_add(struct stretches *stretches);

/* Removes and frees one. */
void stretches_remove(struct stretches *stretches, size_t at);

/* Frees all. */
void stretches_free(struct stretches *stretches);

#endif
