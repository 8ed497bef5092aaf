/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/address.h"
#include "app/errors.h"
#include "app/options_parts.h"
#include "base/pattern.h"
#include "base/util.h"
#include "model/source.h"
#include "out/out.h"
#include "out/series.h"
#include "view/layout.h"
#include "view/site_column.h"

#define LINGER_NS (10 * NSEC_PER_SEC)
#define LINGER_MAX 86400.0

/* Stands in a row in place of a setter: the option makes a member true. */
#define FLAG(member) .flag = offsetof(struct options, member)

/* Parses a whole number from min to max. */
static bool parse_whole(const char *arg, uint64_t min, uint64_t max, uint64_t *number)
{
	char *end;

	if (*arg < '0' || *arg > '9')
		return false;
	errno = 0;
	*number = strtoull(arg, &end, 10);
	return !*end && !errno && *number >= min && *number <= max;
}

/* -n */
SETTER(set_iterations)
{
	if (parse_whole(arg, 1, UINT64_MAX, &options->view.iterations))
		return true;
	buf_puts(why, "a whole number above 0");
	return false;
}

/* -d */
SETTER(set_interval)
{
	options->paced = true;
	return view_set_interval(&options->view, arg, why);
}

/* The option that lists the columns of a table. */
static const char *how_listed(const struct column_table *table)
{
	return table == &task_columns ? "-F list" : "--site-fields list";
}

/* Takes a column to sort by. */
static bool parse_sort(const struct column_table *table, const char *arg,
		       const struct column **sort, bool *descending, struct buf *why)
{
	bool signed_ = *arg == '+' || *arg == '-';
	const char *id = arg + signed_;

	*sort = column_in(table, id, strlen(id));
	if (!*sort) {
		buf_printf(why, "a field (see %s), optionally with + or - before it",
			   how_listed(table));
		column_ask_near(table, id, strlen(id), why);
		return false;
	}
	*descending = signed_ ? *arg == '-' : column_descends(*sort);
	return true;
}

/* -s */
SETTER(set_sort)
{
	struct query *query = &options->view.query;

	return parse_sort(&task_columns, arg, &query->sort, &query->descending, why);
}

/* --site-sort */
SETTER(set_site_sort)
{
	struct site_choice *sites = &options->view.sites;

	return parse_sort(&site_columns, arg, &sites->sort, &sites->descending, why);
}

/* Whether a list of fields is one. */
static bool check_fields(const struct column_table *table, const char *arg, struct buf *why)
{
	struct buf bad = { 0 };
	size_t sign;

	if (!layout_check_in(table, arg, &bad)) {
		buf_free(&bad);
		return true;
	}
	buf_printf(why,
		   "field ids separated by commas, or the first with + or - before it (see %s)",
		   how_listed(table));
	if (bad.len) {
		buf_puts(why, "; not: ");
		text_escape(why, bad.data, bad.len, TEXT_ASCII);
		sign = *bad.data == '+' || *bad.data == '-';
		column_ask_near(table, bad.data + sign, bad.len - sign, why);
	}
	buf_free(&bad);
	return false;
}

/* -F */
SETTER(set_fields)
{
	if (!strcmp(arg, "list"))
		return options->list_fields = true;
	if (!check_fields(&task_columns, arg, why))
		return false;
	view_set_fields(&options->view, arg);
	return true;
}

/* --site-fields */
SETTER(set_site_fields)
{
	if (!strcmp(arg, "list"))
		return options->list_site_fields = true;
	if (!check_fields(&site_columns, arg, why))
		return false;
	view_set_site_fields(&options->view, arg);
	return true;
}

/* -U */
SETTER(set_unit)
{
	int unit = unit_by_name(arg);

	if (unit >= 0) {
		options->view.unit = (enum unit)unit;
		return true;
	}
	for (int i = 0; i < UNITS; i++)
		buf_printf(why, "%s%s", i ? ", " : "", unit_table[i].id);
	return false;
}

/* -H */
SETTER(set_threads)
{
	(void)arg;
	(void)why;
	options->view.group_by = GROUP_THREAD;
	options->grouped = true;
	return true;
}

/* -g */
SETTER(set_group)
{
	int by = group_by_name(arg);

	if (by >= 0) {
		options->view.group_by = (enum group_by)by;
		options->grouped = true;
		return true;
	}
	for (by = 0; by < GROUP_BYS; by++)
		buf_printf(why, "%s%s", by ? ", " : "", group_table[by].id);
	return false;
}

/* --cgroup */
SETTER(set_cgroup)
{
	options->view.query.below = options->sampler.cgroup = arg;
	if (*arg == '/')
		return true;
	buf_puts(why, "a path from the root of the hierarchy, such as /system.slice");
	return false;
}

/* Calls take() for each part of a comma-separated list; false when a part or the list is empty. */
static bool each_part(const char *arg, struct options *options,
		      bool (*take)(struct options *options, const char *part))
{
	char *copy = xstrdup(arg), *rest = copy, *part;
	bool ok = *arg != '\0';

	while (ok && (part = strsep(&rest, ",")))
		ok = *part && take(options, part);
	free(copy);
	return ok;
}

/* Takes a pid of -p. */
static bool take_pid(struct options *options, const char *part)
{
	struct sampler_config *sampler = &options->sampler;
	uint64_t pid;

	if (!parse_whole(part, 1, INT32_MAX, &pid))
		return false;
	sampler->pids = xreallocarray(sampler->pids, sampler->npids + 1, sizeof(pid_t));
	sampler->pids[sampler->npids++] = (pid_t)pid;
	return true;
}

/* -p */
SETTER(set_pids)
{
	if (each_part(arg, options, take_pid))
		return true;
	buf_puts(why, "process ids separated by commas");
	return false;
}

/* Takes a user of -u, by name or number. */
static bool take_user(struct options *options, const char *part)
{
	struct query *query = &options->view.query;
	uid_t uid;

	if (!view_find_user(part, &uid))
		return false;
	query->users = xreallocarray(query->users, query->nusers + 1, sizeof(uid_t));
	query->users[query->nusers++] = uid;
	return true;
}

/* -u */
SETTER(set_users)
{
	if (each_part(arg, options, take_user))
		return true;
	buf_puts(why, "names of existing users, or user ids, separated by commas");
	return false;
}

/* -m */
SETTER(set_match)
{
	struct buf wrong = { 0 };

	pattern_free(options->match);
	options->pattern = arg;
	options->match = pattern_compile(arg, &wrong);
	options->view.query.match = options->match;
	if (!options->match)
		buf_printf(why, "a POSIX extended regular expression (%s)", buf_cstr(&wrong));
	buf_free(&wrong);
	return options->match;
}

/* --over */
SETTER(set_over)
{
	double *over_ms = &options->view.query.over_ms;

	if (parse_number(arg, over_ms) && *over_ms >= 0)
		return true;
	buf_puts(why, "milliseconds, 0 or more");
	return false;
}

/* -r */
SETTER(set_rows)
{
	uint64_t rows;

	if (parse_whole(arg, 0, SIZE_MAX / 2, &rows)) {
		options->view.query.rows = (size_t)rows;
		options->view.query.no_rows = !rows;
		return true;
	}
	buf_puts(why, "a whole number");
	return false;
}

/* --output */
SETTER(set_output)
{
	return option_take_file(&options->output, arg, why);
}

/* --exit-buffer */
SETTER(set_exit_buffer)
{
	uint64_t kb;

	if (parse_whole(arg, 1, 1 << 20, &kb)) {
		options->sampler.exit_buffer = (size_t)kb << 10;
		return true;
	}
	buf_puts(why, "a whole number of kB from 1 to 1048576");
	return false;
}

/* -x */
SETTER(set_no_exits)
{
	(void)arg;
	(void)why;
	options->sampler.exits = false;
	return true;
}

/* -o */
SETTER(set_format)
{
	options->format = arg;
	if (out_by_name(arg))
		return true;
	for (size_t i = 0; out_registry[i]; i++)
		buf_printf(why, "%s%s", i ? ", " : "", out_registry[i]->name);
	return false;
}

/* --listen */
SETTER(set_listen)
{
	options->listen = arg;
	if (address_is_good(arg))
		return true;
	buf_puts(why, "[ADDRESS]:PORT, such as :9779 (of this machine alone), 0.0.0.0:9779 or "
		      "[::1]:9779, or the path of a Unix socket, with a slash");
	return false;
}

/* --max-series */
SETTER(set_max_series)
{
	uint64_t max;

	if (parse_whole(arg, 1, SERIES_MAX, &max)) {
		options->max_series = (size_t)max;
		return true;
	}
	buf_printf(why, "a whole number from 1 to %d", SERIES_MAX);
	return false;
}

/* --when */
SETTER(set_when)
{
	struct watch_config *watch = &options->watch;
	struct trigger_spec spec;
	enum trigger_fault fault;

	if (watch->nspecs == TRIGGERS_MAX) {
		buf_printf(why, "at most %d of them", TRIGGERS_MAX);
		return false;
	}
	fault = trigger_parse(arg, &spec);
	if (fault) {
		buf_puts(why, error_of_expression(fault));
		return false;
	}
	watch->specs = xreallocarray(watch->specs, watch->nspecs + 1, sizeof(spec));
	watch->specs[watch->nspecs++] = spec;
	return true;
}

/* --linger */
SETTER(set_linger)
{
	options->lingers = true;
	if (parse_seconds(arg, 0, LINGER_MAX, &options->watch.linger_ns))
		return true;
	buf_puts(why, "seconds from 0 to 86400");
	return false;
}

/* --source */
SETTER(set_source)
{
	options->sampler.source = strcmp(arg, "auto") ? arg : NULL;
	if (!options->sampler.source || source_by_name(arg))
		return true;
	buf_puts(why, "auto");
	for (size_t i = 0; source_registry[i]; i++)
		buf_printf(why, ", %s", source_registry[i]->name);
	return false;
}

/* --trace-sites */
SETTER(set_trace_sites)
{
	uint64_t sites;

	if (parse_whole(arg, 256, 1 << 20, &sites)) {
		options->sampler.trace_sites = (uint32_t)sites;
		return true;
	}
	buf_puts(why, "a whole number from 256 to 1048576");
	return false;
}

/* --cgroup-hierarchy; whether it exists shows only when it is opened */
SETTER(set_hierarchy)
{
	options->sampler.hierarchy = arg;
	if (!*arg)
		buf_puts(why, "v2, or a controller or name=NAME of a v1 hierarchy");
	return *arg != '\0';
}

/* --theme */
SETTER(set_theme)
{
	return theme_choose(&options->view.theme, arg, why);
}

/* --debug-log */
SETTER(set_debug_log)
{
	return option_take_file(&options->debug_log, arg, why);
}

const struct option_row option_table[] = {
	{ 'b', "batch", NULL, "off", "no screen: write samples to standard output", FLAG(batch),
	  .barred = true },
	{ 'n', "iterations", "N", "endless", "stop after N samples", .set = set_iterations,
	  .barred = true },
	{ 'd', "delay", "SECONDS", "2", "interval; fractions, " INTERVAL_RANGE,
	  .set = set_interval },
	{ 's', "sort", "FIELD", "total",
	  "sort field: -FIELD descending, +FIELD ascending; without a sign numbers descend, "
	  "texts ascend",
	  .set = set_sort, .words = WORDS_FIELD },
	{ 'F', "fields", "LIST", "by width",
	  "field ids separated by commas; +id adds to the default, -id takes away from it, and ids "
	  "without a sign go on as the one before; list prints every id with its unit and meaning",
	  .set = set_fields, .words = WORDS_FIELDS },
	{ 'U', "unit", "UNIT", "percent",
	  "what delay columns show: percent, ms (in the interval), count (waits in it), avg (ms "
	  "per wait), max (longest wait since the task's start, ms), total (ms since its start)",
	  .set = set_unit, .words = WORDS_UNIT },
	{ 0, "booked", NULL, "off",
	  "delay columns show what the kernel booked in the interval, in place of what was waited",
	  FLAG(view.booked) },
	{ 'H', "threads", NULL, "off", "one row per thread, as -g thread", .set = set_threads },
	{ 'g', "group-by", "WHAT", "process",
	  "one row per process, thread, user, command or cgroup", .set = set_group,
	  .words = WORDS_GROUPING },
	{ 0, "cgroup", "PATH", "all", "only tasks of this control group and those below it",
	  .set = set_cgroup, .words = WORDS_CGROUP },
	{ 'p', "pid", "PID[,PID...]", "all",
	  "only these processes (with -H their threads); no others are read", .set = set_pids,
	  .words = WORDS_PIDS, .barred = true },
	{ 'u', "user", "USER[,USER...]", "all", "only these users, by name or number",
	  .set = set_users, .words = WORDS_USERS },
	{ 'm', "match", "REGEX", "all", "rows whose name or command line matches (POSIX extended)",
	  .set = set_match },
	{ 0, "over", "MS", "off", "rows with more than MS of total delay in the interval",
	  .set = set_over },
	{ 'i', "active", NULL, "off",
	  "hide rows with no delay, no run time and no exit in the interval",
	  FLAG(view.query.active) },
	{ 'r', "rows", "N", "all",
	  "at most N rows per sample; 0: with -b, what is of the machine alone", .set = set_rows },
	{ 'x', "no-exits", NULL, "off", "do not listen for exiting tasks", .set = set_no_exits },
	{ 0, "exit-buffer", "KB", "auto",
	  "receive buffer of each listener for exiting tasks (there is one per CPU)",
	  .set = set_exit_buffer },
	{ 'o', "format", "FORMAT", "text", "text, csv, json, openmetrics (with -b)",
	  .set = set_format, .words = WORDS_FORMAT, .barred = true },
	{ 0, "output", "FILE", "none",
	  "write to FILE, which is emptied first: with -b the samples, in place of standard "
	  "output; with -- COMMAND the report, in place of standard error; with -o openmetrics "
	  "FILE is replaced whole at each sample",
	  .set = set_output, .words = WORDS_FILE, .barred = true },
	{ 0, "listen", "WHERE", "off",
	  "no screen: answer with metrics (OpenMetrics over HTTP, /metrics) at [ADDRESS]:PORT, "
	  "without ADDRESS for this machine alone, or at the path of a Unix socket",
	  .set = set_listen, .barred = true },
	{ 0, "max-series", "N", "500",
	  "of metrics: at most N groups have series of their own, the rest add to one named other",
	  .set = set_max_series, .barred = true },
	{ 'w', "record", "PATH", "off",
	  "record what is sampled: to a new file, or with --keep to a folder; without -b and "
	  "without a terminal nothing else is done (see stalltop-recording(5))",
	  .set = option_set_record, .words = WORDS_FILE, .barred = true },
	{ 0, "keep", "AGE,SIZE", "7d,1G",
	  "record to a folder of segments, and remove old ones: those that ended longer ago, or "
	  "are beyond the size of all together",
	  .set = option_set_keep, .barred = true },
	{ 0, "before", "TIME", "off",
	  "keep samples in memory, for this time (s, m, h), and record them only when something "
	  "happens: what --when names, or SIGUSR1; with what comes after it, as long as --linger "
	  "says (here as long as before). To a folder of segments, without a screen",
	  .set = option_set_before, .barred = true },
	{ 'R', "replay", "PATH", "off",
	  "show a recording, a file or a folder, in place of the machine; -d: coarser intervals "
	  "than recorded",
	  .set = option_set_replay, .words = WORDS_FILE, .barred = true },
	{ 0, "from", "TIME", "all",
	  "of a recording: from this time on; 14:02, \"2026-11-21 14:02:30\", or -3m before its "
	  "end",
	  .set = option_set_from, .barred = true },
	{ 0, "to", "TIME", "all", "of a recording: up to this time", .set = option_set_to,
	  .barred = true },
	{ 0, "history", "SIZE", "15m",
	  "what the screen keeps in memory to look back at ([ goes back): a time (in 20M at most), "
	  "a "
	  "size, both as in 1h,128M, or 0 for nothing",
	  .set = option_set_history },
	{ 0, "theme", "NAME", "auto",
	  "colours of the screen: dark, light, any (for dark and light backgrounds), mono (without "
	  "colours); auto: by COLORFGBG, else by the background that the terminal tells, else any, "
	  "and "
	  "mono where NO_COLOR is set",
	  .set = set_theme, .words = WORDS_THEME },
	{ 0, "diff", "A B", "off",
	  "compare two recordings, or spans of one (PATH@FROM..TO, times as of --from): what waits "
	  "more in B than in A, by command and kind; text, csv or json",
	  .set = option_set_diff, .words = WORDS_FILE, .barred = true },
	{ 0, "since-start", NULL, "off",
	  "cumulative figures since each task's start, from the first reading on",
	  FLAG(sampler.since_start) },
	{ 0, "when", "PRESSURE", "always",
	  "take samples only while there is such pressure, for example \"memory some 300ms/2s\" or "
	  "\"cgroup:PATH io full 1s/4s\"; on the screen: show a message when it begins; with "
	  "--before: record when there is, or when a task has waited for so long (\"hang 30s\"), "
	  "or "
	  "a process was killed for want of memory (oom); may be given several times, then any of "
	  "them counts",
	  .set = set_when, .words = WORDS_PRESSURE },
	{ 0, "linger", "SECONDS", "10",
	  "with --when: go on for this long after the pressure has ended", .set = set_linger },
	{ 0, "bell", NULL, "off", "with --when: ring the terminal's bell too", FLAG(watch.bell) },
	{ 0, "source", "SOURCE", "auto",
	  "where counters come from: taskstats; bpf (takes a moment to start, then costs little "
	  "per sample); procfs (run "
	  "time, cpu and blkio only; needs no privileges); auto: taskstats for up to 2000 tasks or "
	  "a single interval, bpf for more tasks, procfs without privileges",
	  .set = set_source, .words = WORDS_SOURCE },
	{ 0, "exact-io", NULL, "off",
	  "with the bpf source, which auto then prefers: measure what tasks wait for storage and "
	  "in "
	  "state D by small programs at the kernel's switches, as kernels since 6.12 book that "
	  "wrongly",
	  FLAG(sampler.exact) },
	{ 0, "enable-delayacct", NULL, "off",
	  "switch kernel.task_delayacct on while stalltop runs; the last of those that run with it "
	  "puts the switch back at its end, unless somebody else has changed it",
	  FLAG(enable_delayacct) },
	{ 0, "trace", NULL, "off",
	  "watch every wait, by programs in the kernel (needs CAP_BPF and CAP_PERFMON): how "
	  "threads "
	  "spend all their time, on what they wait, and who ends it",
	  FLAG(sampler.trace) },
	{ 0, "trace-sites", "N", "16384",
	  "with --trace: room for so many sites of waits, from 256 to 1048576",
	  .set = set_trace_sites },
	{ 0, "site-fields", "LIST", "by width",
	  "the same as -F for tables of sites of waits; list prints their ids",
	  .set = set_site_fields, .words = WORDS_SITE_FIELDS },
	{ 0, "site-sort", "FIELD", "time", "the same as -s for tables of sites of waits",
	  .set = set_site_sort, .words = WORDS_SITE_FIELD },
	{ 0, "cgroup-hierarchy", "NAME", "auto",
	  "the cgroup hierarchy to show: v2, or a controller or name=NAME of a v1 hierarchy; by "
	  "default v2, unless all tasks are in its root: then the v1 hierarchy with the most "
	  "groups",
	  .set = set_hierarchy, .words = WORDS_HIERARCHY },
	{ 0, "readonly", NULL, "off",
	  "nothing can be done from the screen but look: no signal, nice value, switch or written "
	  "file; where the administrator's configuration says so, nobody can undo it",
	  FLAG(readonly) },
	{ 0, "debug-log", "FILE", "none", "append a log of what the program does to FILE",
	  .set = set_debug_log, .words = WORDS_FILE, .barred = true },
	{ 'h', "help", NULL, NULL, "print this and exit", FLAG(help), .barred = true },
	{ 'V', "version", NULL, NULL,
	  "print version, sources built in, kernel and taskstats version, and exit", FLAG(version),
	  .barred = true },
};

const size_t option_table_n = ARRAY_SIZE(option_table);

bool option_set(const struct option_row *row, struct options *options, const char *arg,
		struct buf *why)
{
	if (row->set)
		return row->set(options, arg, why);
	return *(bool *)((char *)options + row->flag) = true;
}

void options_default(struct options *options)
{
	*options = (struct options){
		.view = { .interval_ns = 2 * NSEC_PER_SEC,
			  .query = { .sort = column_sort_default(&task_columns),
				     .descending = true,
				     .over_ms = -1 } },
		.sampler = { .exits = true },
		.history = LOOKBACK_DEFAULT,
		.watch = { .linger_ns = LINGER_NS },
		.format = out_registry[0]->name,
		.record = { .limits = SEGMENT_LIMITS_DEFAULT, .program = PACKAGE_VERSION },
	};
}
