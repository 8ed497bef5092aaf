/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/freezer.h"

#include <string.h>

#include "base/file.h"
#include "kernel/proctask.h"

bool freezer_holds(struct freezer *freezer, struct proc *proc, pid_t tgid, pid_t tid)
{
	char state[16] = "";
	const char *below;

	if (!freezer->looked)
		freezer->there = !hierarchy_open(&freezer->hierarchy, proc->fd, "freezer");
	freezer->looked = true;
	freezer->text.len = freezer->path.len = 0;
	if (!freezer->there || proctask_cgroup(proc, tgid, tid, &freezer->text) ||
	    hierarchy_path(&freezer->hierarchy, freezer->text.data, freezer->text.len,
			   &freezer->path))
		return false;
	below = hierarchy_below(&freezer->hierarchy, buf_cstr(&freezer->path));
	if (!below)
		return false;
	freezer->text.len = 0;
	buf_printf(&freezer->text, "%s/freezer.state", below);
	return file_read(freezer->hierarchy.fd, buf_cstr(&freezer->text), state,
			 sizeof(state) - 1) > 0 &&
	       !strncmp(state, "FROZEN", strlen("FROZEN"));
}

void freezer_close(struct freezer *freezer)
{
	if (freezer->there)
		hierarchy_close(&freezer->hierarchy);
	buf_free(&freezer->text);
	buf_free(&freezer->path);
}
