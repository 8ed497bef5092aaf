/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of a recording, by its version. */
#include "config.h"

#include <errno.h>

#include "base/util.h"
#include "history/archive.h"
#include "history/packed.h"

/* What is asked, each for the number of a sample, task or text. */
static const char *const query_texts[ARCHIVE_QUERIES] = {
	[QUERY_SAMPLE] =
		"SELECT time_ns, interval_ns, begin_ns, took_ns, whole, tasks, steady, marked, "
		"have,"
		" source, taskstats_version, delayacct, unknown, cgroup, hierarchy,"
		" hierarchy_version, exits, lost, others, self, cpus, user_ns, nice_ns, system_ns,"
		" idle_ns, iowait_ns, irq_ns, softirq_ns, steal_ns, load1, load5, load15, uptime,"
		" memory_kb, memory_used_kb, swap_kb, swap_used_kb, pressure_ns, reads FROM sample"
		" WHERE id = ?",
	[QUERY_TASK] = "SELECT tgid, pid, ppid, uid, user, comm, command, cgroup, start_ns,"
		       " latest_ns, lo_ns, hi_ns FROM task WHERE id = ?",
	[QUERY_TEXT] = "SELECT value FROM text WHERE id = ?",
	[QUERY_ENDED] = "SELECT task, status, members, how, reaper, mixed, left_ns FROM ended"
			" WHERE sample = ? ORDER BY place",
	[QUERY_GONE] = "SELECT task FROM gone WHERE sample = ?",
	[QUERY_WAITING] = "SELECT task, kind, threads, longest_ns, began_ns FROM waiting"
			  " WHERE sample = ? ORDER BY task",
	[QUERY_IMPOSSIBLE] = "SELECT task, kind, ns, waits FROM impossible WHERE sample = ?",
	[QUERY_FIELD] = "SELECT task, field, value FROM field WHERE sample = ?",
	[QUERY_PRESSURE] = "SELECT resource, full, avg10, avg60, avg300, total_us FROM pressure"
			   " WHERE sample = ?",
	[QUERY_FILE_ERROR] = "SELECT file, error FROM file_error WHERE sample = ?",
	[QUERY_GAP] = "SELECT dropped FROM gap WHERE sample = ?",
	[QUERY_NOTE] = "SELECT name, value, error FROM note WHERE sample = ? ORDER BY number",
	[QUERY_ACCOUNT] = "SELECT machine_ns, run_ns, idle_ns, iowait_ns, steal_ns, irq_ns,"
			  " recovered_ns, children_ns, rest_ns FROM account WHERE sample = ?",
	[QUERY_CLOCK] = "SELECT real_ns, from_ns, ahead_ns FROM clock WHERE sample = ?"
			" ORDER BY number",
	[QUERY_CGROUP] = "SELECT path, fresh, have, throttled_ns, throttled, throttled_read_ns,"
			 " event_known, high, max, oom, oom_kill, sleeping, running, stopped,"
			 " uninterruptible, io_wait FROM cgroup WHERE sample = ?",
	[QUERY_CGROUP_PRESSURE] = "SELECT path, resource, full, avg10, avg60, avg300, total_us,"
				  " read_ns FROM cgroup_pressure WHERE sample = ?",
	[QUERY_TIME] = "SELECT time_ns FROM sample WHERE id = ?",
	[QUERY_NEXT] = "SELECT id FROM sample WHERE id > ? ORDER BY id LIMIT 1",
	[QUERY_BEGIN] = "BEGIN",
	[QUERY_END] = "COMMIT",
	[QUERY_PROCESS] = "SELECT tgid, start_ns FROM process WHERE id = ?",
	[QUERY_SITE] = "SELECT process, state, kind, overlaps, rank, comm, syscall, target,"
		       " function, stack, class FROM site WHERE id = ?",
	[QUERY_TRACE] = "SELECT interval_ns, lost, switches, cost FROM trace WHERE sample = ?",
	[QUERY_STATES] = "SELECT task, process, waker, run_ns, cpu_ns, io_ns, dwait_ns, lock_ns,"
			 " net_ns, pipe_ns, poll_ns, timer_ns, child_ns, stop_ns, other_ns,"
			 " park_ns, lost_ns FROM states WHERE sample = ?",
	[QUERY_STOOD_FOR] = "SELECT task, process FROM stood_for WHERE sample = ?"
			    " ORDER BY task, number",
	[QUERY_SITE_WAIT] = "SELECT site, waits, ns, kind_ns, max_ns, waiting, waiting_ns,"
			    " at_least, log2_us FROM site_wait WHERE sample = ?",
	[QUERY_SITE_WAKER] = "SELECT site, number, tgid, name, ns, waits FROM site_waker"
			     " WHERE sample = ?",
	[QUERY_EVIDENCE] = "SELECT task, thread, since_ns, state, class, syscall, target,"
			   " function, known, throttled, quota, memory_limit, memory_used, rival,"
			   " writes, frozen, tracer, tracer_name,"
			   " io_limited FROM evidence WHERE sample = ?",
	[QUERY_UNEXPLAINED] = "SELECT process, kind, ns, comm FROM unexplained WHERE sample = ?",
};

/* Those of what is packed. */
static const struct {
	enum archive_query query;
	enum packed packed;
} packed_queries[] = {
	{ QUERY_STANDING, PACKED_STANDING }, { QUERY_TOTAL, PACKED_TOTAL },
	{ QUERY_ACTIVITY, PACKED_ACTIVITY }, { QUERY_OTHER_WAIT, PACKED_OTHER_WAIT },
	{ QUERY_CHILDREN, PACKED_CHILDREN },
};

/* Before version 3 activity had no waits for a CPU: they were with the others. */
static const char activity_before_3[] =
	"SELECT task, run_ns, user_ns, system_ns, drift_ns, state, threads, NULL, NULL"
	" FROM activity WHERE sample = ?";
static const char waits_before_3[] =
	"SELECT task, kind, waited_ns, waits, ahead_ns FROM wait WHERE sample = ?";

/* Before version 5 who parked waited for a lock. */
static const char states_before_5[] =
	"SELECT task, process, waker, run_ns, cpu_ns, io_ns, dwait_ns, lock_ns, net_ns, pipe_ns,"
	" poll_ns, timer_ns, child_ns, stop_ns, other_ns, 0, NULL FROM states WHERE sample = ?";

/* Before version 6 waits had no class. */
static const char states_before_6[] =
	"SELECT task, process, waker, run_ns, cpu_ns, io_ns, dwait_ns, lock_ns, net_ns, pipe_ns,"
	" poll_ns, timer_ns, child_ns, stop_ns, other_ns, park_ns, NULL FROM states"
	" WHERE sample = ?";
static const char site_before_6[] =
	"SELECT process, state, kind, overlaps, rank, comm, syscall, target, function, stack,"
	" NULL FROM site WHERE id = ?";

/* Prepares one. 0 or -errno. */
static int prepare_query(struct archive *archive, enum archive_query query, const char *text)
{
	int result;

	archive_guard_begin(&archive->guard);
	result = sqlite3_prepare_v3(archive->db, text, -1, SQLITE_PREPARE_PERSISTENT,
				    &archive->queries[query], NULL);
	if (!result)
		return 0;
	return archive_guard_errno(&archive->guard, result, 0) == -EINTR ? -EINTR : -EBADMSG;
}

/* Appends the query of what is packed, or was not yet, or is otherwise by now. */
static void append_packed(const struct archive *archive, enum packed packed, const char *columns,
			  const char *there, struct buf *text)
{
	if (archive->version >= 4 && archive->version <= SCHEMA_VERSION)
		packed_select(packed, columns, there, text);
	else
		packed_select_view(packed, columns, there, text);
}

/* Prepares these queries. 0 or -errno. */
static int prepare_packed(struct archive *archive)
{
	bool apart = archive->version < 3;
	struct buf text = { 0 };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(packed_queries) && !err; i++) {
		enum archive_query query = packed_queries[i].query;

		text.len = 0;
		if (apart && query == QUERY_ACTIVITY)
			buf_puts(&text, activity_before_3);
		else if (apart && query == QUERY_OTHER_WAIT)
			buf_puts(&text, waits_before_3);
		else
			append_packed(archive, packed_queries[i].packed, NULL, "task", &text);
		err = prepare_query(archive, query, buf_cstr(&text));
	}
	text.len = 0;
	if (apart) {
		buf_puts(&text, waits_before_3);
	} else {
		append_packed(archive, PACKED_ACTIVITY, "task,0,cpu_ns,cpu_waits,0", "cpu_ns",
			      &text);
		buf_puts(&text, " UNION ALL ");
		append_packed(archive, PACKED_OTHER_WAIT, NULL, "task", &text);
	}
	buf_puts(&text, " ORDER BY 1");
	if (!err)
		err = prepare_query(archive, QUERY_WAIT, buf_cstr(&text));
	buf_free(&text);
	return err;
}

int archive_prepare(struct archive *archive)
{
	unsigned queries = archive->version < 2 ? QUERY_PROCESS : ARCHIVE_QUERIES;
	int err = 0;

	for (unsigned query = 0; query < queries && !err; query++) {
		const char *text = query_texts[query];

		if (query == QUERY_STATES && archive->version < 6)
			text = archive->version < 5 ? states_before_5 : states_before_6;
		if (query == QUERY_SITE && archive->version < 6)
			text = site_before_6;
		if (query == QUERY_EVIDENCE && archive->version < 6)
			text = NULL;
		if (text)
			err = prepare_query(archive, (enum archive_query)query, text);
	}
	return err ? err : prepare_packed(archive);
}
