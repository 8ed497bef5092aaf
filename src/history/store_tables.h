/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording, as doc/stalltop-recording.5 tells them to those who query. Keys are
 * small numbers, and what is 0 or NULL takes one byte: an active task costs about 20 bytes. Waits
 * for a CPU are most often all that a task that ran has, and all booked within the interval: they
 * stand beside what it did, in a third of the room that a row of their own takes.
 */
#ifndef STALLTOP_HISTORY_STORE_TABLES_H
#define STALLTOP_HISTORY_STORE_TABLES_H

/*
 * The version of the tables. A reader of a version reads all files of it and of earlier ones; and
 * of later ones those that say that a reader of its version may (reads_from): they have more, but
 * what it knows is there and means the same, of tasks in the views of those names.
 */
#define STORE_VERSION 6
#define STORE_READS_FROM 4

/* From then on tasks are packed. */
#define STORE_PACKED_SINCE 4

/* From then on there are classes of waits, and evidence. */
#define STORE_EVIDENCE_SINCE 6

/* "STAL", in the head of the file (pragma application_id). */
#define STORE_APPLICATION_ID 0x5354414c

#define STORE_TABLES \
	"CREATE TABLE recording(name TEXT PRIMARY KEY, value) WITHOUT ROWID;" \
	"CREATE TABLE text(id INTEGER PRIMARY KEY, value);" \
	"CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT);" \
	"CREATE TABLE resource(id INTEGER PRIMARY KEY, name TEXT);" \
	"CREATE TABLE field_name(id INTEGER PRIMARY KEY, name TEXT);" \
	"CREATE TABLE task(id INTEGER PRIMARY KEY, first INTEGER, tgid INTEGER, pid INTEGER," \
	" ppid INTEGER, uid INTEGER, user INTEGER, comm INTEGER, command INTEGER," \
	" cgroup INTEGER, start_ns INTEGER, latest_ns INTEGER, lo_ns INTEGER, hi_ns INTEGER);" \
	"CREATE TABLE sample(id INTEGER PRIMARY KEY, time_ns INTEGER, interval_ns INTEGER," \
	" begin_ns INTEGER, took_ns INTEGER, whole INTEGER, tasks INTEGER, steady INTEGER," \
	" marked INTEGER, have INTEGER, source INTEGER, taskstats_version INTEGER," \
	" delayacct INTEGER, unknown INTEGER, cgroup INTEGER, hierarchy INTEGER," \
	" hierarchy_version INTEGER, exits INTEGER, lost INTEGER, others INTEGER, self REAL," \
	" cpus INTEGER, user_ns INTEGER, nice_ns INTEGER, system_ns INTEGER, idle_ns INTEGER," \
	" iowait_ns INTEGER, irq_ns INTEGER, softirq_ns INTEGER, steal_ns INTEGER," \
	" load1 INTEGER, load5 INTEGER, load15 INTEGER, uptime REAL, memory_kb INTEGER," \
	" memory_used_kb INTEGER, swap_kb INTEGER, swap_used_kb INTEGER," \
	" pressure_ns INTEGER, reads BLOB);" \
	"CREATE TABLE file_error(sample INTEGER, file TEXT, error INTEGER," \
	" PRIMARY KEY(sample, file)) WITHOUT ROWID;" \
	"CREATE TABLE gap(sample INTEGER PRIMARY KEY, dropped INTEGER);" \
	"CREATE TABLE note(sample INTEGER, number INTEGER, name TEXT, value INTEGER," \
	" error INTEGER, PRIMARY KEY(sample, number)) WITHOUT ROWID;" \
	"CREATE TABLE account(sample INTEGER PRIMARY KEY, machine_ns INTEGER, run_ns INTEGER," \
	" idle_ns INTEGER, iowait_ns INTEGER, steal_ns INTEGER, irq_ns INTEGER," \
	" recovered_ns INTEGER, children_ns INTEGER, rest_ns INTEGER);" \
	"CREATE TABLE clock(sample INTEGER, number INTEGER, real_ns INTEGER, from_ns INTEGER," \
	" ahead_ns INTEGER, PRIMARY KEY(sample, number)) WITHOUT ROWID;" \
	"CREATE TABLE pressure(sample INTEGER, resource INTEGER, full INTEGER, avg10 INTEGER," \
	" avg60 INTEGER, avg300 INTEGER, total_us INTEGER," \
	" PRIMARY KEY(sample, resource, full)) WITHOUT ROWID;"

/* Behind those that are packed: see packed.h. */
#define STORE_TASK_TABLES \
	"CREATE TABLE waiting(sample INTEGER, task INTEGER, kind INTEGER, threads INTEGER," \
	" longest_ns INTEGER, began_ns INTEGER, PRIMARY KEY(sample, task, kind)) WITHOUT ROWID;" \
	"CREATE TABLE ended(sample INTEGER, task INTEGER, status INTEGER, exit_code INTEGER," \
	" signal INTEGER, members INTEGER, how INTEGER, reaper INTEGER, mixed INTEGER," \
	" place INTEGER, left_ns INTEGER, PRIMARY KEY(sample, task)) WITHOUT ROWID;" \
	"CREATE TABLE gone(sample INTEGER, task INTEGER," \
	" PRIMARY KEY(sample, task)) WITHOUT ROWID;" \
	"CREATE TABLE impossible(sample INTEGER, task INTEGER, kind INTEGER, ns INTEGER," \
	" waits INTEGER, PRIMARY KEY(sample, task, kind)) WITHOUT ROWID;" \
	"CREATE TABLE field(sample INTEGER, task INTEGER, field INTEGER, value INTEGER," \
	" PRIMARY KEY(sample, task, field)) WITHOUT ROWID;" \
	"CREATE TABLE cgroup(sample INTEGER, path INTEGER, fresh INTEGER, have INTEGER," \
	" throttled_ns INTEGER, throttled INTEGER, throttled_read_ns INTEGER," \
	" event_known INTEGER, high INTEGER, max INTEGER, oom INTEGER, oom_kill INTEGER," \
	" sleeping INTEGER, running INTEGER, stopped INTEGER, uninterruptible INTEGER," \
	" io_wait INTEGER, PRIMARY KEY(sample, path)) WITHOUT ROWID;" \
	"CREATE TABLE cgroup_pressure(sample INTEGER, path INTEGER, resource INTEGER," \
	" full INTEGER, avg10 INTEGER, avg60 INTEGER, avg300 INTEGER, total_us INTEGER," \
	" read_ns INTEGER, PRIMARY KEY(sample, path, resource, full)) WITHOUT ROWID;"

/* Since version 6: what explains those that suffer most. */
#define STORE_EVIDENCE_TABLES \
	"CREATE TABLE wait_class(id INTEGER PRIMARY KEY, name TEXT);" \
	"CREATE TABLE evidence(sample INTEGER, task INTEGER, thread INTEGER, since_ns INTEGER," \
	" state INTEGER, class INTEGER, syscall INTEGER, target INTEGER, function INTEGER," \
	" known INTEGER, throttled REAL, quota REAL, memory_limit INTEGER," \
	" memory_used INTEGER, rival INTEGER, writes REAL, frozen INTEGER, tracer INTEGER," \
	" tracer_name INTEGER, io_limited INTEGER, PRIMARY KEY(sample, task)) WITHOUT ROWID;"

/* Since version 2: what is traced. */
#define STORE_TRACE_TABLES \
	"CREATE TABLE wait_state(id INTEGER PRIMARY KEY, name TEXT);" \
	"CREATE TABLE process(id INTEGER PRIMARY KEY, tgid INTEGER, start_ns INTEGER);" \
	"CREATE TABLE site(id INTEGER PRIMARY KEY, process INTEGER, comm INTEGER, state INTEGER," \
	" kind INTEGER, overlaps INTEGER, syscall INTEGER, target INTEGER, function INTEGER," \
	" stack INTEGER, rank INTEGER, class INTEGER);" \
	"CREATE TABLE trace(sample INTEGER PRIMARY KEY, interval_ns INTEGER, lost INTEGER," \
	" switches INTEGER, cost REAL);" \
	"CREATE TABLE states(sample INTEGER, task INTEGER, process INTEGER, waker INTEGER," \
	" run_ns INTEGER, cpu_ns INTEGER, io_ns INTEGER, dwait_ns INTEGER, lock_ns INTEGER," \
	" net_ns INTEGER, pipe_ns INTEGER, poll_ns INTEGER, timer_ns INTEGER, child_ns INTEGER," \
	" stop_ns INTEGER, other_ns INTEGER, park_ns INTEGER, lost_ns INTEGER," \
	" PRIMARY KEY(sample, task)) WITHOUT ROWID;" \
	"CREATE TABLE stood_for(sample INTEGER, task INTEGER, number INTEGER, process INTEGER," \
	" PRIMARY KEY(sample, task, number)) WITHOUT ROWID;" \
	"CREATE TABLE site_wait(sample INTEGER, site INTEGER, waits INTEGER, ns INTEGER," \
	" kind_ns INTEGER, max_ns INTEGER, waiting INTEGER, waiting_ns INTEGER," \
	" at_least INTEGER, log2_us TEXT, PRIMARY KEY(sample, site)) WITHOUT ROWID;" \
	"CREATE TABLE site_waker(sample INTEGER, site INTEGER, number INTEGER, tgid INTEGER," \
	" name INTEGER, ns INTEGER, waits INTEGER," \
	" PRIMARY KEY(sample, site, number)) WITHOUT ROWID;" \
	"CREATE TABLE unexplained(sample INTEGER, process INTEGER, kind INTEGER, ns INTEGER," \
	" comm INTEGER, PRIMARY KEY(sample, process, kind)) WITHOUT ROWID;"

/* What is asked for most, with names in place of numbers. */
#define STORE_VIEWS \
	"CREATE VIEW wait AS SELECT sample, task, 0 AS kind, cpu_ns AS waited_ns," \
	" cpu_waits AS waits, 0 AS ahead_ns FROM activity WHERE cpu_ns IS NOT NULL" \
	" UNION ALL SELECT sample, task, kind, waited_ns, waits, ahead_ns FROM other_wait;" \
	"CREATE VIEW tasks AS SELECT t.id AS task, t.first, t.tgid, t.pid, t.ppid, t.uid," \
	" u.value AS user, n.value AS comm, c.value AS command, g.value AS cgroup, t.start_ns" \
	" FROM task t LEFT JOIN text u ON u.id = t.user LEFT JOIN text n ON n.id = t.comm" \
	" LEFT JOIN text c ON c.id = t.command LEFT JOIN text g ON g.id = t.cgroup;" \
	"CREATE VIEW waits AS SELECT w.sample, s.time_ns, s.interval_ns, t.task, t.first," \
	" t.tgid, t.pid, t.user, t.comm, t.command, t.cgroup, k.name AS kind, w.waited_ns," \
	" w.waited_ns + w.ahead_ns AS booked_ns, w.waits FROM wait w" \
	" JOIN sample s ON s.id = w.sample JOIN tasks t ON t.task = w.task" \
	" JOIN kind k ON k.id = w.kind;" \
	"CREATE VIEW endings AS SELECT e.sample, s.time_ns, t.task, t.first, t.tgid, t.pid," \
	" t.user, t.comm, t.command, t.cgroup, e.exit_code, e.signal, e.members FROM ended e" \
	" JOIN sample s ON s.id = e.sample JOIN tasks t ON t.task = e.task;" \
	"CREATE VIEW pressures AS SELECT p.sample, s.time_ns, r.name AS resource," \
	" CASE p.full WHEN 1 THEN 'full' ELSE 'some' END AS level, p.avg10 / 100.0 AS avg10," \
	" p.avg60 / 100.0 AS avg60, p.avg300 / 100.0 AS avg300, p.total_us FROM pressure p" \
	" JOIN sample s ON s.id = p.sample JOIN resource r ON r.id = p.resource;" \
	"CREATE VIEW sites AS SELECT w.sample, s.time_ns, t.interval_ns, i.id AS site, p.tgid," \
	" n.value AS comm, z.name AS state, k.name AS kind, c.value AS syscall," \
	" g.value AS target, f.value AS function, h.value AS stack, w.waits, w.ns, w.kind_ns," \
	" w.max_ns, w.waiting, w.waiting_ns, w.log2_us FROM site_wait w" \
	" JOIN sample s ON s.id = w.sample JOIN trace t ON t.sample = w.sample" \
	" JOIN site i ON i.id = w.site JOIN process p ON p.id = i.process" \
	" JOIN wait_state z ON z.id = i.state LEFT JOIN kind k ON k.id = i.kind" \
	" LEFT JOIN text n ON n.id = i.comm LEFT JOIN text c ON c.id = i.syscall" \
	" LEFT JOIN text g ON g.id = i.target LEFT JOIN text f ON f.id = i.function" \
	" LEFT JOIN text h ON h.id = i.stack;"

/* Numbers of fields: those of the record, then the longest, shortest ... of each kind. */
#define STORE_FIELD_OF(of, number) ((of)*64 + (number))

#endif
