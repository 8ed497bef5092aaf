/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/address.h"
#include "app/errors.h"
#include "base/pattern.h"
#include "base/users.h"
#include "base/util.h"
#include "history/segments.h"
#include "out/series.h"
#include "read/source.h"
#include "trace/tracing.h"
#include "view/layout.h"
#include "view/site_lines.h"

#define LINGER_NS (10 * NSEC_PER_SEC)

/* The head of a setter, with its parameters. */
#define SETTER(name) static bool name(struct options *options, const char *arg, struct buf *why)

/* The types of options, in their rows: the member that they set, and its valid values. */
#define MEMBER(member) \
	.at = offsetof(struct options, member), .size = sizeof(((struct options *)NULL)->member)
#define BECOMES(member, value) .type = OPTION_FLAG, .constant = (value), MEMBER(member)
#define FLAG(member) BECOMES(member, true)
#define WHOLE(member, least, most) \
	.type = OPTION_WHOLE, .min = (least), .max = (most), MEMBER(member)
#define SECONDS(member, least, most) \
	.type = OPTION_SECONDS, .min = (least), .max = (most), MEMBER(member)
#define FILE_NAME(member) .type = OPTION_FILE, .words = WORDS_FILE, MEMBER(member)
#define TIME(member) .type = OPTION_TIME, MEMBER(member)
#define WORD(list, member) .type = OPTION_WORD, .words = (list), MEMBER(member)
#define PICK(list, function) .type = OPTION_WORD, .words = (list), .pick = (function)
#define MARK(member) .mark = offsetof(struct options, member)

/* The modes in which an option has an effect, and those that ignore it. */
#define IN(modes_of) .modes = (modes_of)
#define PASSED(modes_of) .passed = (modes_of)

/* Groups of modes. */
#define SCREEN MODE_BIT(MODE_SCREEN)
#define RECORD MODE_BIT(MODE_RECORD)
#define COMMAND MODE_BIT(MODE_COMMAND)
#define LISTEN MODE_BIT(MODE_LISTEN)
#define DIFF MODE_BIT(MODE_DIFF)
#define BATCHES (MODE_BIT(MODE_BATCH) | MODE_BIT(MODE_REPLAY_BATCH))
#define SERIES (MODE_BIT(MODE_METRICS) | MODE_BIT(MODE_REPLAY_METRICS))
#define REPLAYS \
	(MODE_BIT(MODE_REPLAY) | MODE_BIT(MODE_REPLAY_BATCH) | MODE_BIT(MODE_REPLAY_METRICS))
#define MACHINE (SCREEN | RECORD | MODE_BIT(MODE_BATCH) | MODE_BIT(MODE_METRICS) | LISTEN)
#define ROWS (SCREEN | MODE_BIT(MODE_REPLAY) | BATCHES)
#define EVERY (MODE_BIT(MODES) - 1)

/* -d */
SETTER(set_interval)
{
	return view_set_interval(&options->view, arg, why);
}

/* The option that lists the columns of a table. */
static const char *how_listed(const struct column_table *table)
{
	return table == &task_columns ? "-F list" : "--site-fields list";
}

/* Parses a column to sort by. */
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

/* True if a list of fields is valid. */
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

/* --cgroup */
SETTER(set_cgroup)
{
	options->view.query.below = options->sampler.cgroup = arg;
	if (*arg == '/')
		return true;
	buf_puts(why, "a path from the root of the hierarchy, such as /system.slice");
	return false;
}

/* Calls take() for each part of a comma-separated list; false if a part or the list is empty. */
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

/* Parses a pid of -p. */
static bool take_pid(struct options *options, const char *part)
{
	struct sampler_config *sampler = &options->sampler;
	uint64_t pid;

	if (!option_parse_whole(part, 1, INT32_MAX, &pid))
		return false;
	sampler->pids = xreallocarray(sampler->pids, sampler->npids + 1, sizeof(pid_t));
	sampler->pids[sampler->npids++] = (pid_t)pid;
	return true;
}

/* -p */
SETTER(set_pids)
{
	options->pids = arg;
	if (each_part(arg, options, take_pid))
		return true;
	buf_puts(why, "process ids separated by commas");
	return false;
}

/* Parses a user of -u, by name or number. */
static bool take_user(struct options *options, const char *part)
{
	struct query *query = &options->view.query;
	uid_t uid;

	if (!user_find(part, &uid))
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

/* --stacks */
SETTER(set_stacks)
{
	options->sampler.stacks = arg;
	options->sampler.trace = true;
	if (*arg)
		return true;
	buf_puts(why, "process ids and names of commands, separated by commas");
	return false;
}

/* --stacks-over */
SETTER(set_stacks_over)
{
	double ms;

	if (parse_number(arg, &ms) && ms >= 0 && ms <= 1e6) {
		options->sampler.stacks_over_ns = (uint64_t)(ms * 1e6);
		return true;
	}
	buf_puts(why, "milliseconds, 0 to 1000000");
	return false;
}

/* -r */
SETTER(set_rows)
{
	uint64_t rows;

	if (option_parse_whole(arg, 0, SIZE_MAX / 2, &rows)) {
		options->view.query.rows = (size_t)rows;
		options->view.query.no_rows = !rows;
		return true;
	}
	buf_puts(why, "a whole number");
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

/* --listen-names */
SETTER(set_listen_names)
{
	options->listen_names = arg;
	if (*arg && !strpbrk(arg, " /:"))
		return true;
	buf_puts(why, "names of hosts without a port, separated by commas");
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

/* --keep */
SETTER(set_keep)
{
	options->record.segments = true;
	if (segment_parse_limits(arg, &options->record.limits))
		return true;
	buf_puts(why, "an age (s, m, h, d), a size (K, M, G, T), or both: 7d,1G");
	return false;
}

/* --before */
SETTER(set_before)
{
	const uint64_t most_ns = 24 * 3600 * NSEC_PER_SEC;

	if (segment_parse_age(arg, strlen(arg), &options->record.before_ns) &&
	    options->record.before_ns && options->record.before_ns <= most_ns)
		return true;
	buf_puts(why, "a time from 1s to 24h (s, m, h)");
	return false;
}

/* --history */
SETTER(set_history)
{
	if (ring_parse(arg, &options->history))
		return true;
	buf_puts(why, "a time such as 15m or 1h, a size such as 64M, both as in 1h,128M, or 0");
	return false;
}

/* --cgroup-hierarchy; whether it exists is checked when it is opened */
SETTER(set_hierarchy)
{
	options->sampler.hierarchy = arg;
	if (!*arg)
		buf_puts(why, "v2, or a controller or name=NAME of a v1 hierarchy");
	return *arg != '\0';
}

/* Parses a format. */
static void pick_format(struct options *options, size_t place)
{
	options->format = out_registry[place];
}

/* Sets a source; the first value selects automatically. */
static void pick_source(struct options *options, size_t place)
{
	options->sampler.source = place ? source_registry[place - 1]->name : NULL;
}

/* Sets a theme; the first value selects automatically. */
static void pick_theme(struct options *options, size_t place)
{
	options->view.theme.theme = place ? &theme_table[place - 1] : NULL;
}

/* preset */
SETTER(set_preset)
{
	return presets_add(&options->view.presets, arg, why);
}

/* colour */
SETTER(set_colour)
{
	return theme_change(&options->view.theme, arg, why);
}

/* Appends the interval in seconds. */
static void save_delay(const struct view_config *view, struct buf *out)
{
	buf_fixed(out, view->interval_ns, 9);
	while (out->data[out->len - 1] == '0')
		out->len--;
	if (out->data[out->len - 1] == '.')
		out->len--;
}

/* Appends the sort field. */
static void save_sort(const struct view_config *view, struct buf *out)
{
	struct preset_changes shown = view_default(view);

	if (shown.sort)
		buf_printf(out, "%c%s", shown.descending ? '-' : '+', shown.sort->id);
}

/* Appends the fields. */
static void save_fields(const struct view_config *view, struct buf *out)
{
	const char *fields = view_default(view).fields;

	if (fields)
		buf_puts(out, fields);
}

/* Appends the fields of sites. */
static void save_site_fields(const struct view_config *view, struct buf *out)
{
	if (view->sites.fields)
		buf_puts(out, view->sites.fields);
}

/* Appends the order of sites unless it is the default. */
static void save_site_sort(const struct view_config *view, struct buf *out)
{
	if (!site_choice_is_usual(&view->sites))
		buf_printf(out, "%c%s", view->sites.descending ? '-' : '+', view->sites.sort->id);
}

/* Appends the unit. */
static void save_unit(const struct view_config *view, struct buf *out)
{
	buf_puts(out, unit_table[view_default_unit(view)].id);
}

/* Appends the grouping. */
static void save_grouping(const struct view_config *view, struct buf *out)
{
	buf_puts(out, group_table[view_default_group(view)].id);
}

/* Appends nothing: group-by already says it. */
static void save_nothing(UNUSED const struct view_config *view, UNUSED struct buf *out)
{
}

const char *const option_parts[OPTION_PARTS] = {
	[PART_WATCH] = "What to watch",	   [PART_SHOW] = "How to show it",
	[PART_BATCH] = "Without a screen", [PART_PAST] = "Past",
	[PART_TRACING] = "Tracing",	   [PART_OTHER] = "Other",
};

const struct option_row option_table[] = {
	{ 'b', "batch", NULL, "off", "no screen: write samples to standard output", FLAG(batch),
	  IN(BATCHES | SERIES), .barred = true, .part = PART_BATCH,
	  .brief = "no screen: samples as text, or as -o says" },
	{ 'n', "iterations", "N", "endless", "stop after N samples",
	  WHOLE(view.iterations, 1, UINT64_MAX), IN(MACHINE | REPLAYS), .barred = true,
	  .part = PART_BATCH, .brief = "stop after N samples" },
	{ 'd', "delay", "SECONDS", "2", "interval; fractions, " INTERVAL_RANGE, .set = set_interval,
	  MARK(paced), IN(MACHINE | REPLAYS), PASSED(EVERY), .save = save_delay, .part = PART_SHOW,
	  .brief = "interval, 0.05 to 86400 [2]" },
	{ 's', "sort", "FIELD", "total",
	  "sort by FIELD: -FIELD descending, +FIELD ascending; without a sign numbers descend, "
	  "text ascends",
	  .set = set_sort, .words = WORDS_FIELD, IN(ROWS), PASSED(EVERY), .save = save_sort,
	  .part = PART_SHOW, .brief = "sort by a column; +FIELD: ascending" },
	{ 'F', "fields", "LIST", "by width",
	  "comma-separated field ids; +id adds to the defaults, -id removes (an id without a sign "
	  "repeats the last one); list prints all ids, units and meanings",
	  .set = set_fields, .words = WORDS_FIELDS, IN(ROWS), PASSED(RECORD | COMMAND),
	  .save = save_fields, .part = PART_SHOW,
	  .brief = "columns: +id adds, -id drops, list names all" },
	{ 'U', "unit", "UNIT", "percent",
	  "what delay columns show: percent, ms (in the interval), count (waits in it), avg (ms "
	  "per wait), max (longest wait since the task's start, ms), total (ms since its start)",
	  WORD(WORDS_UNIT, view.unit), IN(ROWS), PASSED(EVERY), .save = save_unit,
	  .part = PART_SHOW, .brief = "percent, ms, count, avg, max or total" },
	{ 0, "booked", NULL, "off",
	  "show delays as the kernel accounted them, when a wait ends, not as time waited in the "
	  "interval",
	  FLAG(view.booked), IN(ROWS), PASSED(EVERY), .part = PART_SHOW },
	{ 'H', "threads", NULL, "off", "one row per thread, as -g thread",
	  BECOMES(view.group_by, GROUP_THREAD), MARK(grouped), IN(MACHINE | REPLAYS),
	  PASSED(COMMAND), .save = save_nothing, .part = PART_WATCH, .brief = "a row is a thread" },
	{ 'g', "group-by", "WHAT", "process",
	  "one row per process, thread, user, command or cgroup",
	  WORD(WORDS_GROUPING, view.group_by), MARK(grouped), IN(MACHINE | REPLAYS),
	  PASSED(COMMAND), .save = save_grouping, .part = PART_WATCH,
	  .brief = "a row is a user, command or cgroup" },
	{ 0, "cgroup", "PATH", "all",
	  "only tasks of this cgroup and its descendants; for a recording, the cgroup it was made "
	  "with",
	  .set = set_cgroup, .words = WORDS_CGROUP, IN(MACHINE | REPLAYS), PASSED(COMMAND),
	  .part = PART_WATCH, .brief = "only this cgroup and those below it" },
	{ 'p', "pid", "PID[,PID...]", "all",
	  "only these processes (with -H their threads); no others are read", .set = set_pids,
	  .words = WORDS_PIDS, IN(MACHINE | REPLAYS), .barred = true, .part = PART_WATCH,
	  .brief = "only these processes" },
	{ 'u', "user", "USER[,USER...]", "all", "only these users, by name or number",
	  .set = set_users, .words = WORDS_USERS, IN(MACHINE | REPLAYS), PASSED(COMMAND),
	  .part = PART_WATCH, .brief = "only these users" },
	{ 'm', "match", "REGEX", "all", "rows whose name or command line matches (POSIX extended)",
	  .set = set_match, IN(MACHINE | REPLAYS), PASSED(COMMAND), .part = PART_WATCH,
	  .brief = "only names or command lines that match" },
	{ 0, "over", "MS", "off", "rows with more than MS of total wait in the interval",
	  .set = set_over, IN(ROWS), PASSED(RECORD | COMMAND), .part = PART_SHOW },
	{ 'i', "active", NULL, "off",
	  "hide rows that neither ran, waited nor exited in the interval", FLAG(view.query.active),
	  IN(ROWS), PASSED(RECORD | COMMAND), .saved = true, .part = PART_SHOW,
	  .brief = "hide rows that did nothing" },
	{ 'r', "rows", "N", "all",
	  "at most N rows per sample; 0: with -b, only figures of the machine", .set = set_rows,
	  IN(ROWS | DIFF), PASSED(RECORD | COMMAND), .part = PART_SHOW, .brief = "at most N rows" },
	{ 'x', "no-exits", NULL, "off", "do not receive exit records",
	  BECOMES(sampler.exits, false), IN(MACHINE | COMMAND), PASSED(EVERY), .part = PART_WATCH },
	{ 0, "exit-buffer", "KB", "auto",
	  "receive buffer of each exit record listener (one per CPU)",
	  WHOLE(sampler.exit_buffer, 1, 1 << 20), .unit = 1 << 10, .unit_name = "kB",
	  IN(MACHINE | COMMAND), PASSED(EVERY), .part = PART_WATCH },
	{ 'o', "format", "FORMAT", "text", OUT_FORMAT_NAMES " (with -b)",
	  PICK(WORDS_FORMAT, pick_format), IN(EVERY), .barred = true, .part = PART_BATCH,
	  .brief = "text, csv, json, sqlite, folded ..." },
	{ 0, "output", "FILE", "none",
	  "write to FILE (truncated): with -b samples, with -- COMMAND the report; -o openmetrics "
	  "replaces FILE at each sample, -o sqlite needs a new file",
	  FILE_NAME(output), IN(BATCHES | SERIES | COMMAND), .barred = true, .part = PART_BATCH,
	  .brief = "write to FILE" },
	{ 0, "listen", "WHERE", "off",
	  "no screen: serve metrics (OpenMetrics over HTTP, /metrics) at [ADDRESS]:PORT, without "
	  "ADDRESS for this machine alone and at all addresses of a name, or at the path of a "
	  "Unix socket",
	  .set = set_listen, IN(LISTEN), .barred = true, .part = PART_BATCH,
	  .brief = "metrics over HTTP, for Prometheus" },
	{ 0, "listen-names", "NAMES", "none",
	  "comma-separated names by which clients may also call, such as that of a proxy",
	  .set = set_listen_names, .needs = "listen", IN(LISTEN), .barred = true,
	  .part = PART_BATCH },
	{ 0, "max-series", "N", "500",
	  "metrics: at most N groups get their own series, the rest go to \"other\"",
	  WHOLE(max_series, 1, SERIES_MAX), IN(SERIES | LISTEN), .barred = true,
	  .part = PART_BATCH },
	{ 'w', "record", "PATH", "off",
	  "record samples to a new file, or with --keep to a directory; without -b and a terminal "
	  "only record (see stalltop-recording(5))",
	  FILE_NAME(record.path), IN(MACHINE), .barred = true, .part = PART_PAST,
	  .brief = "record to a file; with --keep to a directory" },
	{ 0, "keep", "AGE,SIZE", "7d,1G",
	  "record to a directory of segments and delete those older than AGE or beyond the total "
	  "SIZE",
	  .set = set_keep, IN(MACHINE), .needs = "record", .barred = true, .part = PART_PAST,
	  .brief = "remove what is older, or beyond the size" },
	{ 0, "before", "TIME", "off",
	  "flight recorder: keep this much (s, m, h) in memory; on --when or SIGUSR1 write it to "
	  "a directory of segments, and what follows for --linger (by default this time). No "
	  "screen",
	  .set = set_before, IN(MACHINE), .needs = "record", .barred = true, .part = PART_PAST },
	{ 'R', "replay", "PATH", "off",
	  "replay a recording (file or directory); demo: the one that comes with stalltop; -d "
	  "merges intervals",
	  FILE_NAME(replay.path), IN(REPLAYS), .barred = true, .part = PART_PAST,
	  .brief = "play a recording, or the demo: -R demo" },
	{ 0, "from", "TIME", "all",
	  "start at this time: 14:02, \"2026-11-21 14:02:30\", the same with Z or +02:00 behind "
	  "it, seconds since 1970 as JSON has them, or -3m before its end",
	  TIME(replay.from), IN(REPLAYS | DIFF), .barred = true, .part = PART_PAST,
	  .brief = "play from 14:02, or -3m before its end" },
	{ 0, "to", "TIME", "all",
	  "stop at this time; if the clock was set back meanwhile, include all between the two "
	  "times",
	  TIME(replay.to), IN(REPLAYS | DIFF), .barred = true, .part = PART_PAST,
	  .brief = "play up to then" },
	{ 0, "history", "SIZE", "15m",
	  "history that the screen keeps in memory ([ goes back): a time (20M at most), a size, "
	  "both as 1h,128M, or 0 for none",
	  .set = set_history, IN(SCREEN), PASSED(EVERY), .part = PART_PAST },
	{ 0, "theme", "NAME", "auto",
	  "colours of the screen: dark, light, any (for dark and light backgrounds), mono "
	  "(without colours); auto: by COLORFGBG, else by the background the terminal reports, "
	  "else any; mono if NO_COLOR is set",
	  PICK(WORDS_THEME, pick_theme), IN(SCREEN | MODE_BIT(MODE_REPLAY)), PASSED(EVERY),
	  .part = PART_SHOW, .brief = "dark, light, any, mono" },
	{ 0, "no-mouse", NULL, "off",
	  "leave the mouse to the terminal, as to select and copy what is shown",
	  FLAG(view.no_mouse), IN(SCREEN | MODE_BIT(MODE_REPLAY)), PASSED(EVERY),
	  .part = PART_SHOW },
	{ 0, "diff", "A B", "off",
	  "compare two recordings, or spans of one (PATH@FROM..TO, times as of --from): which "
	  "waits grew from A to B, by command and kind; text, csv or json",
	  FILE_NAME(diff[0]), IN(DIFF), .barred = true, .part = PART_PAST,
	  .brief = "which waits grew from recording A to B" },
	{ 0, "since-start", NULL, "off", "totals since each task started, from the first sample on",
	  FLAG(sampler.since_start), IN(ROWS), PASSED(RECORD | COMMAND), .part = PART_SHOW },
	{ 0, "when", "PRESSURE", "always",
	  "sample only under this pressure (\"memory some 300ms/2s\", \"cgroup:PATH io full "
	  "1s/4s\"). Screen: show a message. With --before: record then, also for \"hang 30s\" "
	  "and oom. Repeatable (any)",
	  .set = set_when, .words = WORDS_PRESSURE, IN(SCREEN | RECORD | MODE_BIT(MODE_BATCH)),
	  .part = PART_BATCH, .brief = "only under pressure: \"io full 1s/2s\"" },
	{ 0, "linger", "SECONDS", "10",
	  "with --when: continue for this long after the pressure has ended",
	  SECONDS(watch.linger_ns, 0, 86400), MARK(lingers),
	  IN(SCREEN | RECORD | MODE_BIT(MODE_BATCH)), PASSED(EVERY), .part = PART_BATCH },
	{ 0, "bell", NULL, "off", "with --when: ring the terminal's bell too", FLAG(watch.bell),
	  IN(SCREEN), PASSED(EVERY), .part = PART_BATCH },
	{ 0, "source", "SOURCE", "auto",
	  "counter source: taskstats; bpf (a moment to load, low overhead); procfs (unprivileged: "
	  "run, cpu, blkio); auto: procfs if unprivileged; bpf where waits are measured "
	  "(--measure), for more than 500 tasks and from 200 forks/s on; else taskstats",
	  PICK(WORDS_SOURCE, pick_source), IN(MACHINE), PASSED(EVERY), .part = PART_WATCH },
	{ 0, "measure", "WHEN", "auto",
	  "bpf source (auto then prefers it): measure disk, memory and state D waits at context "
	  "switches: yes, no, or auto: unless the kernel counts the delays of all tasks (boot "
	  "parameter delayacct); kernels since 6.12 account disk waits wrongly",
	  WORD(WORDS_MEASURE, sampler.measure), IN(MACHINE | COMMAND), PASSED(EVERY),
	  .part = PART_TRACING, .brief = "measure waits by the clock: auto, yes or no" },
	{ 0, "exact-io", NULL, "off", "the same as --measure=yes, of older versions",
	  BECOMES(sampler.measure, MEASURE_YES), IN(MACHINE | COMMAND), PASSED(EVERY),
	  .part = PART_TRACING },
	{ 0, "enable-delayacct", NULL, "off",
	  "set kernel.task_delayacct=1 while stalltop runs; the last such stalltop to exit "
	  "restores it, unless it was changed since",
	  FLAG(enable_delayacct), IN(MACHINE | COMMAND), .excludes = "readonly", .part = PART_WATCH,
	  .brief = "count delays meanwhile" },
	{ 0, "trace", NULL, "off",
	  "trace every wait with eBPF (CAP_BPF, CAP_PERFMON): time per state, wait targets, wakers",
	  FLAG(sampler.trace), IN(MACHINE | COMMAND), PASSED(EVERY), .part = PART_TRACING,
	  .brief = "every wait: call, file or peer, waker" },
	{ 0, "trace-sites", "N", "16384",
	  "with --trace: room for N wait sites, up to 1048576; 0: states only, at less than half "
	  "the cost",
	  WHOLE(sampler.trace_sites, 0, 1 << 20), IN(MACHINE | COMMAND), PASSED(EVERY),
	  .part = PART_TRACING },
	{ 0, "stacks", "WHICH", "off",
	  "trace, and tell from where in a program its waits begin: of the processes of these pids "
	  "and commands, separated by commas; -o folded and -o pprof write them for flame graphs "
	  "(x86-64)",
	  .set = set_stacks, IN(MACHINE), .barred = true, .part = PART_TRACING,
	  .brief = "from where in a program it waits" },
	{ 0, "stacks-over", "MS", "0", "with --stacks: only of waits that last MS or longer",
	  .set = set_stacks_over, .needs = "stacks", IN(MACHINE), .barred = true,
	  .part = PART_TRACING },
	{ 0, "debuginfod", NULL, "off",
	  "fetch symbols and source lines of programs that lack them from the servers in "
	  "DEBUGINFOD_URLS (debuginfod-find(1)), which learn what runs here",
	  FLAG(sampler.debuginfod), IN(MACHINE), .barred = true, .part = PART_TRACING },
	{ 0, "site-fields", "LIST", "by width",
	  "the same as -F for tables of wait sites; list prints their ids", .set = set_site_fields,
	  .words = WORDS_SITE_FIELDS, IN(ROWS | COMMAND), PASSED(EVERY), .save = save_site_fields,
	  .part = PART_TRACING },
	{ 0, "site-sort", "FIELD", "time", "the same as -s for tables of wait sites",
	  .set = set_site_sort, .words = WORDS_SITE_FIELD, IN(ROWS | COMMAND), PASSED(EVERY),
	  .save = save_site_sort, .part = PART_TRACING },
	{ 0, "cgroup-hierarchy", "NAME", "auto",
	  "the cgroup hierarchy to show: v2, or a controller or name=NAME of a v1 hierarchy; by "
	  "default v2, unless all tasks are in its root: then the v1 hierarchy with the most "
	  "groups",
	  .set = set_hierarchy, .words = WORDS_HIERARCHY, IN(MACHINE), PASSED(EVERY),
	  .part = PART_WATCH },
	{ 0, "readonly", NULL, "off",
	  "read-only screen: no signals, renicing, sysctl or files; users cannot override the "
	  "administrator's setting",
	  FLAG(readonly), IN(SCREEN | MODE_BIT(MODE_REPLAY)), PASSED(EVERY), .part = PART_SHOW },
	{ 0, "debug-log", "FILE", "none", "append a log of what the program does to FILE",
	  FILE_NAME(debug_log), IN(EVERY), .barred = true, .part = PART_OTHER },
	{ 'h', "help", NULL, NULL, "print common options and exit", FLAG(help), IN(EVERY),
	  .barred = true, .part = PART_OTHER, .brief = "this" },
	{ 0, "help-all", NULL, NULL, "print all options in full", FLAG(help_all), IN(EVERY),
	  .barred = true, .part = PART_OTHER, .brief = "all options" },
	{ 0, "why", NULL, NULL,
	  "look for 3 s, and print in at most 25 lines the most delayed tasks, root causes and "
	  "remedies (with -o json as JSON); exit 3: a problem was found",
	  FLAG(why), IN(MODE_BIT(MODE_BATCH) | MODE_BIT(MODE_REPLAY_BATCH)), .barred = true,
	  .part = PART_BATCH, .brief = "in 3 s: problems, root causes, remedies" },
	{ 0, "doctor", NULL, NULL,
	  "show what works on this kernel for this user, what is missing, and remedies (-o json: "
	  "JSON); exit 0: everything works, 1: not",
	  FLAG(doctor), IN(EVERY), .barred = true, .part = PART_OTHER,
	  .brief = "what can be seen here, and how to see the rest" },
	{ 0, "schema", NULL, NULL,
	  "print the JSON Schema of all JSON that stalltop writes, and exit", FLAG(schema),
	  IN(EVERY), .barred = true, .part = PART_OTHER },
	{ 'V', "version", NULL, NULL,
	  "print version, sources built in, kernel and taskstats version, and exit", FLAG(version),
	  IN(EVERY), .barred = true, .part = PART_OTHER,
	  .brief = "version, kernel, what is built in" },
};

const size_t option_table_n = ARRAY_SIZE(option_table);

const struct option_row setting_table[] = {
	{ .name = "command-line", FLAG(view.command_line), .saved = true },
	{ .name = "names", FLAG(view.names), .saved = true },
	{ .name = "hide-exited", FLAG(view.query.no_exited), .saved = true },
	{ .name = "tree", FLAG(view.tree), .saved = true },
	{ .name = "all-idle", FLAG(view.all_idle), .saved = true },
	{ .name = "fold-header", FLAG(view.fold_header), .saved = true },
	{ .name = "preset", .arg = "NAME: FIELDS", .set = set_preset },
	{ .name = "colour", .arg = "STYLE: LOOK", .set = set_colour },
};

const size_t setting_table_n = ARRAY_SIZE(setting_table);

_Static_assert(ARRAY_SIZE(option_table) <= 64, "options.given has a bit for each");

void options_default(struct options *options)
{
	*options = (struct options){
		.view = { .interval_ns = 2 * NSEC_PER_SEC,
			  .query = { .sort = column_sort_default(&task_columns),
				     .descending = true,
				     .over_ms = -1 } },
		.sampler = { .exits = true, .trace_sites = TRACING_SITES },
		.history = RING_DEFAULT,
		.watch = { .linger_ns = LINGER_NS },
		.format = out_registry[0],
		.record = { .limits = SEGMENT_LIMITS_DEFAULT, .program = PACKAGE_VERSION },
	};
}

bool option_parse_whole(const char *arg, uint64_t min, uint64_t max, uint64_t *number)
{
	char *end;

	if (*arg < '0' || *arg > '9')
		return false;
	errno = 0;
	*number = strtoull(arg, &end, 10);
	return !*end && !errno && *number >= min && *number <= max;
}

bool option_given(const struct options *options, const struct option_row *row)
{
	return options->given >> (row - option_table) & 1;
}

bool options_metrics(const struct options *options)
{
	return options_format(options)->series;
}

const struct out_ops *options_format(const struct options *options)
{
	return options->listen ? &out_openmetrics : options->format;
}
