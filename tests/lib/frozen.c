// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/frozen.h"

/* Before linux/fs.h: with glibc before 2.36 its macros break the enum of this one. */
#include <sys/mount.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/guard.h"

#define BYTES (16L << 20)

/* Binds a free loop device to the file, until it is unmounted. 0 or -errno. */
static int bind_loop(int image, char device[32])
{
	struct loop_config config = { .fd = (uint32_t)image, .info.lo_flags = LO_FLAGS_AUTOCLEAR };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), fd, n, err;

	n = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
	err = n < 0 ? -EOPNOTSUPP : 0;
	if (control >= 0)
		close(control);
	if (err)
		return err;
	snprintf(device, 32, "/dev/loop%d", n);
	fd = open(device, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* It stays open: without a user the device would be let go of before it is mounted. */
	return ioctl(fd, LOOP_CONFIGURE, &config) ? -errno : fd;
}

/* Makes the file system. 0 or -errno. */
static int make_image(const char *path)
{
	char command[512];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, BYTES))
		err = -errno;
	snprintf(command, sizeof(command), "PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F '%s' 2>&1",
		 path);
	if (!err && system(command))
		err = -EOPNOTSUPP;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Mounts an image that is open, which is closed. 0 or -errno. */
static int mount_open(int image, const char *mount_point)
{
	char device[32];
	int loop, err;

	loop = bind_loop(image, device);
	close(image);
	if (loop < 0)
		return loop;
	guard_push(UNDO_UMOUNT, mount_point, NULL);
	err = mount(device, mount_point, "ext4", 0, NULL) ? -errno : 0;
	close(loop);
	return err;
}

int frozen_mount(const char *folder, char *mount_point, size_t size)
{
	char path[400];
	int image;

	snprintf(path, sizeof(path), "%s/image", folder);
	snprintf(mount_point, size, "%s/frozen", folder);
	if (mkdir(mount_point, 0755) && errno != EEXIST)
		return -errno;
	image = make_image(path);
	return image < 0 ? image : mount_open(image, mount_point);
}

int frozen_mount_image(const char *path, const char *mount_point)
{
	int image = open(path, O_RDWR | O_CLOEXEC);

	if (image < 0)
		return -errno;
	if (mkdir(mount_point, 0755) && errno != EEXIST) {
		close(image);
		return -errno;
	}
	return mount_open(image, mount_point);
}

/* Freezes or thaws. */
static int change(const char *mount_point, unsigned long request)
{
	int fd = open(mount_point, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = ioctl(fd, request, 0) ? -errno : 0;
	close(fd);
	return err;
}

int frozen_freeze(const char *mount_point)
{
	guard_push(UNDO_THAW, mount_point, NULL);
	return change(mount_point, FIFREEZE);
}

int frozen_thaw(const char *mount_point)
{
	return change(mount_point, FITHAW);
}
