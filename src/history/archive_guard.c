/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/archive_guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/util.h"
#include "history/store.h"

/*
 * The longest value that a recording has: the times at which each of four million tasks was read,
 * more tasks than a kernel has. What a view computes may be no longer than this: it need not be in
 * the file.
 */
#define VALUE_MAX (16 << 20)
#define VIEW_VALUE_MAX (1 << 20)

/* The most memory that SQLite may take; a statement needs about a hundredth of it. */
#define MEMORY_MAX (UINT64_C(256) << 20)

/* SQLite does this many steps in some 50 us if none of them handles a long value. */
#define STEP 1000

/* The most that a statement may take: time on a CPU and, if it reads views, such steps. */
#define STATEMENT_NS (10 * NSEC_PER_SEC)
#define VIEW_STEPS_MAX 100000

/* Whether a signal is pending that ends the program. */
static bool is_ending(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) &&
	       (sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1 ||
		sigismember(&waiting, SIGHUP) == 1);
}

/*
 * Ends a statement that takes too long, or if the program is to end. A progress handler of SQLite.
 */
static int check_limits(void *arg)
{
	struct archive_guard *guard = arg;
	uint64_t now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!guard->began_ns)
		guard->began_ns = now_ns;
	if ((guard->views && ++guard->steps > VIEW_STEPS_MAX) ||
	    now_ns - guard->began_ns > STATEMENT_NS)
		guard->spent = true;
	guard->ending = is_ending();
	return guard->spent || guard->ending;
}

/*
 * Whether views may call a function: only those whose results are never long. Views of this version
 * call none, those of later versions may call these.
 */
static bool is_bounded(const char *function)
{
	static const char *const names[] = { "min",	 "max",	   "count",  "sum", "total",
					     "coalesce", "ifnull", "nullif", "iif", "abs" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(function, names[i]))
			return true;
	return false;
}

/*
 * Lets statements read tables and do nothing else, and read views only if they are needed: a view
 * of the file could run for ever. An authorizer of SQLite.
 */
static int authorize(void *arg, int action, UNUSED const char *a, const char *b,
		     UNUSED const char *db, const char *view)
{
	const struct archive_guard *guard = arg;
	bool allowed = action == SQLITE_SELECT || action == SQLITE_TRANSACTION;

	if (action == SQLITE_FUNCTION)
		allowed = b && is_bounded(b);
	else if (action == SQLITE_READ)
		allowed = !view || guard->views;
	return allowed ? SQLITE_OK : SQLITE_DENY;
}

void archive_guard_set(struct archive_guard *guard, sqlite3 *db)
{
	/*
	 * SQLite does not look at the clock while it prepares a statement, so memory is what bounds
	 * its views then.
	 */
	sqlite3_hard_heap_limit64((sqlite3_int64)MEMORY_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_progress_handler(db, STEP, check_limits, guard);
	/* Sorting stays within these bounds, too. */
	sqlite3_exec(db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
}

void archive_guard_reads(struct archive_guard *guard, sqlite3 *db)
{
	sqlite3_set_authorizer(db, authorize, guard);
}

void archive_guard_views(struct archive_guard *guard, sqlite3 *db)
{
	guard->views = true;
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VIEW_VALUE_MAX);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
}

void archive_guard_begin(struct archive_guard *guard)
{
	guard->steps = 0;
	guard->began_ns = 0;
}

int archive_guard_errno(const struct archive_guard *guard, int result, int system_error)
{
	if ((result & 0xff) == SQLITE_INTERRUPT && guard->ending)
		return -EINTR;
	/* The statement exceeded its limit; the machine has memory left. */
	if ((result & 0xff) == SQLITE_NOMEM &&
	    (uint64_t)sqlite3_memory_highwater(0) > MEMORY_MAX / 2)
		return -EBADMSG;
	return (result & 0xff) == SQLITE_TOOBIG ? -EBADMSG : store_errno(result, system_error);
}
