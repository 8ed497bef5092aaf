/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces program_file.c when built without libdw: no file can be read. */
#include "kernel/program_file.h"

#include <unistd.h>

struct program_file *program_file_open(int fd, UNUSED const char *path,
				       UNUSED const struct debug_files *fetched)
{
	close(fd);
	return NULL;
}

bool program_file_name(UNUSED struct program_file *file, UNUSED uint64_t offset, UNUSED bool line,
		       UNUSED struct buf *out)
{
	return false;
}

const char *program_file_lacks(UNUSED const struct program_file *file)
{
	return NULL;
}

bool program_file_rule(UNUSED struct program_file *file, UNUSED uint64_t offset,
		       UNUSED struct frame_rule *rule)
{
	return false;
}

void program_file_close(UNUSED struct program_file *file)
{
}
