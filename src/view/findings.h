/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what the machine suffers from most, by the figures of a frame and by no others. A finding
 * says what was measured. Where the source does not tell a cause it names none.
 */
#ifndef STALLTOP_VIEW_FINDINGS_H
#define STALLTOP_VIEW_FINDINGS_H

#include "view/finding.h"
#include "view/query.h"

/*
 * Makes the findings of a frame of tasks. view->frame has the rows that are shown: those, or the
 * groups that they were folded into. Only tasks that the query takes count as suffering (NULL:
 * all); the cause is looked for among all. Rows and sites stay those of the frames.
 */
void findings_take(struct findings *findings, const struct view *view, const struct frame *tasks,
		   const struct query *query);

#endif
