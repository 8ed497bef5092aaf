// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "history/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"

struct image {
#ifndef HAVE_SQLITE3_DESERIALIZE
	sqlite3_vfs vfs; /* the first member: what SQLite hands back */
#endif
	void *bytes;
	size_t len;
};

#ifdef HAVE_SQLITE3_DESERIALIZE

static int open_bytes(struct image *image, sqlite3 **db)
{
	sqlite3_int64 len = (sqlite3_int64)image->len;

	if (sqlite3_open_v2(":memory:", db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_PRIVATECACHE,
			    NULL))
		return -ENOMEM;
	if (sqlite3_deserialize(*db, "main", image->bytes, len, len, SQLITE_DESERIALIZE_READONLY))
		return -EBADMSG;
	return 0;
}

#else

/*
 * A file that cannot change, in a file system of our own (sqlite.org/vfs.html): before 3.36 SQLite
 * reads a database from memory only if it was built for that.
 */
struct image_file {
	sqlite3_file file;
	const struct image *image;
};

static int read_bytes(sqlite3_file *file, void *to, int amount, sqlite3_int64 at)
{
	const struct image *image = ((const struct image_file *)file)->image;
	size_t wanted = (size_t)amount, got = 0;

	if (at >= 0 && (sqlite3_uint64)at < image->len)
		got = image->len - (size_t)at;
	if (got > wanted)
		got = wanted;
	if (got)
		memcpy(to, (const char *)image->bytes + at, got);
	memset((char *)to + got, 0, wanted - got);
	return got == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int get_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)((const struct image_file *)file)->image->len;
	return SQLITE_OK;
}

/* Locks, or syncs, the file: nobody else has it and nobody writes to it, so nothing is to do. */
static int do_nothing(UNUSED sqlite3_file *file)
{
	return SQLITE_OK;
}

static int do_lock(sqlite3_file *file, UNUSED int lock)
{
	return do_nothing(file);
}

static int see_lock(sqlite3_file *file, int *reserved)
{
	*reserved = 0;
	return do_nothing(file);
}

static int refuse_write(UNUSED sqlite3_file *file, UNUSED const void *from, UNUSED int amount,
			UNUSED sqlite3_int64 at)
{
	return SQLITE_READONLY;
}

static int refuse_size(UNUSED sqlite3_file *file, UNUSED sqlite3_int64 size)
{
	return SQLITE_READONLY;
}

static int refuse_control(UNUSED sqlite3_file *file, UNUSED int what, UNUSED void *argument)
{
	return SQLITE_NOTFOUND;
}

static int sync_nothing(sqlite3_file *file, UNUSED int flags)
{
	return do_nothing(file);
}

/* Returns the usual sector size. */
static int sector_size(UNUSED sqlite3_file *file)
{
	return 0;
}

/* Says that the file needs no journal and no locks. */
static int characteristics(UNUSED sqlite3_file *file)
{
	return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = do_nothing,
	.xRead = read_bytes,
	.xWrite = refuse_write,
	.xTruncate = refuse_size,
	.xSync = sync_nothing,
	.xFileSize = get_size,
	.xLock = do_lock,
	.xUnlock = do_lock,
	.xCheckReservedLock = see_lock,
	.xFileControl = refuse_control,
	.xSectorSize = sector_size,
	.xDeviceCharacteristics = characteristics,
};

/* Opens the image; a temporary file of a large sort is opened as always. */
static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got)
{
	struct image_file *opened = (struct image_file *)file;

	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return sqlite3_vfs_find(NULL)->xOpen(sqlite3_vfs_find(NULL), name, file, flags,
						     got);
	opened->file.pMethods = &methods;
	opened->image = (const struct image *)vfs;
	if (got)
		*got = flags;
	return SQLITE_OK;
}

static int full_name(UNUSED sqlite3_vfs *vfs, const char *name, int size, char *full)
{
	sqlite3_snprintf(size, full, "%s", name);
	return SQLITE_OK;
}

static int open_bytes(struct image *image, sqlite3 **db)
{
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
	int result;

	if (!usual)
		return -ENOMEM;
	image->vfs = *usual;
	image->vfs.pNext = NULL;
	image->vfs.zName = "stalltop-image";
	image->vfs.xOpen = open_file;
	image->vfs.xFullPathname = full_name;
	if (image->vfs.szOsFile < (int)sizeof(struct image_file))
		image->vfs.szOsFile = (int)sizeof(struct image_file);
	/* The file system is found by its name from now on. */
	result = sqlite3_vfs_register(&image->vfs, 0);
	if (!result)
		result = sqlite3_open_v2("image", db,
					 SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE |
						 SQLITE_OPEN_NOMUTEX,
					 image->vfs.zName);
	sqlite3_vfs_unregister(&image->vfs);
	return result ? -ENOMEM : 0;
}

#endif

int image_open(struct image **out, sqlite3 **db, void *bytes, size_t len)
{
	struct image *image = *out = xcalloc(1, sizeof(*image));

	image->bytes = bytes;
	image->len = len;
	return open_bytes(image, db);
}

void image_close(struct image *image)
{
	if (!image)
		return;
	munmap(image->bytes, image->len);
	free(image);
}
