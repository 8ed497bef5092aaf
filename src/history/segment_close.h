/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of segments that are closed: compact files without a journal. */
#ifndef STALLTOP_HISTORY_SEGMENT_CLOSE_H
#define STALLTOP_HISTORY_SEGMENT_CLOSE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Packs a closed segment, so that of its file only the packed one is left. Tight: see pack_file().
 * 0 or -errno; then the file is as it was; -EBUSY: another process packs it.
 */
int segment_pack(const char *folder, const char *name, bool tight);

/*
 * Has a process of its own do that, tightly and at leisure. Its pid, to be waited for, or negative
 * where there is none. It keeps open what the caller has open.
 */
pid_t segment_pack_beside(const char *folder, const char *name);

/*
 * Closes segments that a writer left open when it was killed, and packs what is not packed. What
 * somebody has open stays as it is, and so does the file `but`.
 */
void segments_tidy(const char *folder, const char *but);

#endif
