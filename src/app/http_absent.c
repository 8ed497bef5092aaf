/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces http.c when built without libmicrohttpd: see listener_is_built(). */
#include "app/http.h"

#include <errno.h>

#include "base/util.h"

int http_serve(UNUSED const struct address_sockets *listening, UNUSED int texts,
	       UNUSED const struct http_names *names)
{
	return -ENOSYS;
}
