// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/uptime.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#if defined(PROCPS_LIBPROC2)
#include <libproc2/misc.h>
#elif defined(PROCPS_LIBPROCPS)
#include <proc/sysinfo.h>
#include <unistd.h>
#else
#include "base/file.h"
#endif

#include "base/util.h"

#if defined(PROCPS_LIBPROC2)

int uptime_read(UNUSED int procfd, double *seconds)
{
	int result = procps_uptime(seconds, NULL);

	return result < 0 ? result : 0;
}

#elif defined(PROCPS_LIBPROCPS)

int uptime_read(UNUSED int procfd, double *seconds)
{
	/* uptime() ends the program where it can't open the file. */
	if (access("/proc/uptime", R_OK))
		return -errno;
	return uptime(seconds, NULL) ? 0 : -EBADMSG;
}

#else

int uptime_read(int procfd, double *seconds)
{
	char text[64];
	int len = file_read(procfd, "uptime", text, sizeof(text));
	struct span rest = { text, text + len };
	uint64_t hundredths;

	if (len < 0)
		return len;
	if (!take_hundredths(&rest, &hundredths) || !take_word(&rest, " "))
		return -EBADMSG;
	/* One division gives the nearest double, as strtod() would. */
	*seconds = (double)hundredths / 100.0;
	return 0;
}

#endif
