// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/load/silent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK 4096

int silent_mount(const char *folder)
{
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0 || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	return mount("silent", folder, "fuse.silent", MS_NOSUID | MS_NODEV, options) ? -1 : fd;
}

/* The answer to a request. */
static void answer(int fd, const struct fuse_in_header *in, int error, const void *data, size_t len)
{
	struct fuse_out_header out = { .len = (uint32_t)(sizeof(out) + len),
				       .error = -error,
				       .unique = in->unique };
	const struct iovec parts[] = { { &out, sizeof(out) }, { (void *)(uintptr_t)data, len } };

	/* Whoever asked may have gone. */
	if (writev(fd, parts, 2) < 0 && errno != ENOENT)
		perror("fuse");
}

/* What it says of its folder (1) and of the one file in it (2). */
static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr attr = { .ino = node,
				  .size = node == 1 ? 0 : 10 * BLOCK,
				  .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644,
				  .nlink = 1 };

	return attr;
}

_Noreturn void silent_serve(int fd, const struct silent *how)
{
	static char request[1 << 17] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const void *)request;
	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
					    .minor = FUSE_KERNEL_MINOR_VERSION,
					    .flags = how->init_flags,
					    .max_write = BLOCK };

	alarm(SILENT_SECONDS);
	while (read(fd, request, sizeof(request)) > 0) {
		struct fuse_entry_out entry = { .nodeid = 2, .attr = attributes(2) };
		struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
		struct fuse_open_out opened = { .fh = 1, .open_flags = how->open_flags };

		if (in->opcode == FUSE_INIT)
			answer(fd, in, 0, &init, sizeof(init));
		else if (in->opcode == FUSE_LOOKUP)
			answer(fd, in, 0, &entry, sizeof(entry));
		else if (in->opcode == FUSE_GETATTR)
			answer(fd, in, 0, &attr, sizeof(attr));
		else if (in->opcode == FUSE_OPEN)
			answer(fd, in, 0, &opened, sizeof(opened));
		else if (in->opcode == FUSE_GETXATTR)
			answer(fd, in, ENOSYS, NULL, 0);
	}
	for (;;)
		pause();
}
