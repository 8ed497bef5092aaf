/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Closes segments: makes them compact files without a journal. */
#ifndef STALLTOP_HISTORY_SEGMENT_CLOSE_H
#define STALLTOP_HISTORY_SEGMENT_CLOSE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Packs a closed segment and removes its unpacked file. tight: see pack_file(). 0 or -errno; after
 * an error the unpacked file is unchanged (-EBUSY: another process packs it).
 */
int segment_pack(const char *folder, const char *name, bool tight);

/*
 * Packs a closed segment in another process, tightly and at leisure. Returns its pid, to be waited
 * for, or a negative number if there is none. It keeps open what the caller has open.
 */
pid_t segment_pack_beside(const char *folder, const char *name);

/*
 * Closes segments that a killed writer left open, and packs those that are not packed. Segments
 * that somebody has open, and the file `but`, stay as they are.
 */
void segments_tidy(const char *folder, const char *but);

#endif
