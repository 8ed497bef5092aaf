/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "view/view_config.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

bool view_set_interval(struct view_config *view, const char *text, struct buf *why)
{
	if (parse_seconds(text, INTERVAL_MIN, INTERVAL_MAX, &view->interval_ns))
		return true;
	buf_puts(why, "seconds from " INTERVAL_RANGE);
	return false;
}

void view_set_fields(struct view_config *view, const char *fields)
{
	char *copy = fields ? xstrdup(fields) : NULL;

	free(view->fields);
	view->fields = copy;
}

bool view_find_user(const char *text, uid_t *uid)
{
	const struct passwd *passwd = getpwnam(text);
	const char *at = text, *end = text + strlen(text);
	uint64_t number;

	if (passwd) {
		*uid = passwd->pw_uid;
		return true;
	}
	/* The largest number stands for no user. */
	if (!parse_uint(&at, end, &number) || at != end || number >= UINT32_MAX)
		return false;
	*uid = (uid_t)number;
	return true;
}

void view_config_free(struct view_config *view)
{
	free(view->fields);
	free(view->query.users);
}
