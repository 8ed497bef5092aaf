/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OpenMetrics: all metrics at each sample, as in a scrape. */
#include "out/out_openmetrics.h"

#include "base/util.h"
#include "view/findings_parts.h"

/* The form in which metrics are written. */
struct metric_writer {
	struct buf *out;
	const struct series *series;
	const struct series_machine *machine;
	const struct findings *findings; /* of the last sample */
	enum exposition exposition;
};

struct family {
	const char *name; /* of counters without _total */
	const char *unit; /* NULL: none */
	const char *type;
	const char *help;
	void (*emit)(const struct metric_writer *writer, const struct family *family);
};

/* True if the family is of counters. */
static bool is_counter(const struct family *family)
{
	return *family->type == 'c';
}

/* Appends the name of the family's samples. */
static void put_metric_name(const struct metric_writer *writer, const struct family *family)
{
	buf_puts(writer->out, family->name);
	if (is_counter(family))
		buf_puts(writer->out, "_total");
}

/* Appends a sample up to its value: the labels of a group, and one more of ours, or none. */
static void begin_metric(const struct metric_writer *writer, const struct family *family,
			 const char *key, const char *value, const struct series_group *group)
{
	struct buf *out = writer->out;

	put_metric_name(writer, family);
	buf_putc(out, '{');
	if (key) {
		buf_puts(out, key);
		buf_puts(out, "=\"");
		buf_puts(out, value);
		buf_puts(out, group ? "\"," : "\"");
	}
	if (group) {
		buf_puts(out, group->labels);
	}
	buf_puts(out, "} ");
}

/* Ends a sample with a number, or with seconds. */
static void end_number(const struct metric_writer *writer, uint64_t number)
{
	buf_uint(writer->out, number);
	buf_putc(writer->out, '\n');
}

static void end_seconds(const struct metric_writer *writer, uint64_t ns)
{
	buf_fixed(writer->out, ns, 9);
	buf_putc(writer->out, '\n');
}

/* Appends a family's only sample of the machine. */
static void put_number(const struct metric_writer *writer, const struct family *family,
		       uint64_t number)
{
	put_metric_name(writer, family);
	buf_putc(writer->out, ' ');
	end_number(writer, number);
}

static void put_seconds(const struct metric_writer *writer, const struct family *family,
			uint64_t ns)
{
	put_metric_name(writer, family);
	buf_putc(writer->out, ' ');
	end_seconds(writer, ns);
}

/* The i-th group. */
static const struct series_group *group_at(const struct metric_writer *writer, size_t i)
{
	return series_at(writer->series, i);
}

/* True if a figure of a kind is known: of the group at any time, and of the machine now. */
static bool knows(const struct metric_writer *writer, const struct series_group *group,
		  uint32_t bit, unsigned kind)
{
	if (kind == WAIT_DWAIT)
		return group->known & VALID_DWAIT;
	return writer->machine->kinds & DELAY_BIT(kind) && group->known & bit;
}

static void emit_delays(const struct metric_writer *writer, const struct family *family)
{
	for (size_t i = 0; i < series_count(writer->series); i++) {
		const struct series_group *group = group_at(writer, i);

		for (unsigned kind = 0; kind < WAIT_KINDS; kind++) {
			if (!knows(writer, group, DELAY_BIT(kind), kind))
				continue;
			begin_metric(writer, family, "kind", wait_kind_id(kind), group);
			end_seconds(writer, group->delay_ns[kind]);
		}
	}
}

static void emit_waits(const struct metric_writer *writer, const struct family *family)
{
	for (size_t i = 0; i < series_count(writer->series); i++) {
		const struct series_group *group = group_at(writer, i);

		for (unsigned kind = 0; kind < DELAY_KINDS; kind++) {
			if (!knows(writer, group, DELAY_COUNT_BIT(kind), kind))
				continue;
			begin_metric(writer, family, "kind", wait_kind_id(kind), group);
			end_number(writer, group->delay_count[kind]);
		}
	}
}

static void emit_run(const struct metric_writer *writer, const struct family *family)
{
	for (size_t i = 0; i < series_count(writer->series); i++) {
		const struct series_group *group = group_at(writer, i);

		if (!(group->known & VALID_RUN))
			continue;
		begin_metric(writer, family, NULL, NULL, group);
		end_seconds(writer, group->run_ns);
	}
}

static void emit_throttled(const struct metric_writer *writer, const struct family *family)
{
	for (size_t i = 0; i < series_count(writer->series); i++) {
		const struct series_group *group = group_at(writer, i);

		if (!group->throttling)
			continue;
		begin_metric(writer, family, NULL, NULL, group);
		end_seconds(writer, group->throttled_ns);
	}
}

static void emit_held(const struct metric_writer *writer, const struct family *family)
{
	for (size_t i = 0; i < series_count(writer->series); i++) {
		const struct series_group *group = group_at(writer, i);

		if (!group->holding)
			continue;
		begin_metric(writer, family, NULL, NULL, group);
		end_seconds(writer, group->held_ns);
	}
}

static void emit_longest(const struct metric_writer *writer, const struct family *family)
{
	static const char *const names[WAITS_SEEN] = {
		[SEEN_CPU] = "cpu", [SEEN_BLKIO] = "blkio", [SEEN_DWAIT] = "dwait"
	};

	for (size_t i = 0; i < series_count(writer->series); i++) {
		const struct series_group *group = group_at(writer, i);

		if (!writer->machine->states_known || !group->present)
			continue;
		for (unsigned kind = 0; kind < WAITS_SEEN; kind++) {
			begin_metric(writer, family, "kind", names[kind], group);
			end_seconds(writer, group->longest_ns[kind]);
		}
	}
}

/* Hung tasks: their number and names now. */
static void emit_hangs(const struct metric_writer *writer, const struct family *family)
{
	const struct series_hangs *hangs = &writer->machine->hangs;

	for (size_t i = 0; i < hangs->n; i++) {
		const struct series_hang *hang = &hangs->all[i];

		put_metric_name(writer, family);
		buf_printf(writer->out,
			   "{kind=\"%s\",%s,pid=\"%d\",command=\"%s\","
			   "syscall=\"%s\",on=\"%s\"} ",
			   hang->kind == SEEN_BLKIO ? "blkio" : "dwait", hang->labels,
			   (int)hang->pid, hang->comm, hang->syscall, hang->on);
		end_seconds(writer, hang->ns);
	}
}

static void emit_tasks(const struct metric_writer *writer, const struct family *family)
{
	for (size_t i = 0; i < series_count(writer->series); i++) {
		const struct series_group *group = group_at(writer, i);

		if (!writer->machine->states_known || !group->present)
			continue;
		for (unsigned state = 0; state < SERIES_STATES_N; state++) {
			const char name[] = { SERIES_STATES[state], '\0' };

			begin_metric(writer, family, "state", name, group);
			end_number(writer, group->tasks[state]);
		}
	}
}

/* A line of a pressure file. */
static void put_pressure_line(const struct metric_writer *writer, const struct family *family,
			      unsigned resource, const char *level, const struct psi_line *line)
{
	struct buf *out = writer->out;

	if (!line->valid)
		return;
	put_metric_name(writer, family);
	buf_printf(out, "{resource=\"%s\",level=\"%s\"} ", psi_names[resource], level);
	buf_fixed(out, line->total_us, 6);
	buf_putc(out, '\n');
}

static void emit_pressure(const struct metric_writer *writer, const struct family *family)
{
	const struct series_machine *machine = writer->machine;

	for (unsigned i = 0; i < PSI_RESOURCES && machine->pressure; i++) {
		put_pressure_line(writer, family, i, "some", &machine->psi[i].some);
		/* That of cpu is a constant. */
		if (i != PSI_CPU)
			put_pressure_line(writer, family, i, "full", &machine->psi[i].full);
	}
}

static void emit_exits(const struct metric_writer *writer, const struct family *family)
{
	if (writer->machine->exits_known)
		put_number(writer, family, writer->machine->exits);
}

static void emit_lost(const struct metric_writer *writer, const struct family *family)
{
	if (writer->machine->exits_known)
		put_number(writer, family, writer->machine->lost);
}

/* One series per pattern: zeros are included, so that alerts see the end. */
static void emit_findings(const struct metric_writer *writer, const struct family *family)
{
	const struct findings *findings = writer->findings;

	for (size_t i = 0; i < finding_patterns_n && findings->known; i++) {
		const struct finding_pattern *pattern = &finding_patterns[i];
		uint64_t n = 0;

		for (size_t k = 0; k < findings->n; k++)
			if (findings->all[k].id == pattern->id)
				n += findings->all[k].n;
		put_metric_name(writer, family);
		buf_printf(writer->out, "{id=\"%s\",severity=\"%s\"} ", pattern->id,
			   finding_severities[pattern->severity]);
		end_number(writer, n);
	}
}

static void emit_delayacct(const struct metric_writer *writer, const struct family *family)
{
	if (writer->machine->delayacct != DELAYACCT_UNKNOWN)
		put_number(writer, family, writer->machine->delayacct == DELAYACCT_ON);
}

static void emit_duration(const struct metric_writer *writer, const struct family *family)
{
	put_seconds(writer, family, writer->machine->duration_ns);
}

static void emit_time(const struct metric_writer *writer, const struct family *family)
{
	put_seconds(writer, family, writer->machine->real_ns);
}

static void emit_build(const struct metric_writer *writer, const struct family *family)
{
	put_metric_name(writer, family);
	buf_printf(writer->out, "{version=\"%s\",source=\"", PACKAGE_VERSION);
	series_label(writer->out, writer->machine->source);
	buf_puts(writer->out, "\"} 1\n");
}

static const struct family families[] = {
	{ "stalltop_delay_seconds", "seconds", "counter",
	  "Time that tasks of the group waited, waits in progress included, by kind.",
	  emit_delays },
	{ "stalltop_waits", NULL, "counter", "Waits that ended, by kind.", emit_waits },
	{ "stalltop_run_seconds", "seconds", "counter", "Time that tasks of the group ran on CPUs.",
	  emit_run },
	{ "stalltop_throttled_seconds", "seconds", "counter",
	  "Time throttled by the CPU limit of the group.", emit_throttled },
	{ "stalltop_held_seconds", "seconds", "counter",
	  "Time throttled by the CPU limits of the group and its ancestors.", emit_held },
	{ "stalltop_wait_longest_seconds", "seconds", "gauge",
	  "Age of the longest wait in progress.", emit_longest },
	{ "stalltop_hang_seconds", "seconds", "gauge",
	  "Age of a task's uninterruptible sleep, from 10 s on; at most 8 tasks.", emit_hangs },
	{ "stalltop_tasks", NULL, "gauge", "Tasks (processes) by state, as in /proc/PID/stat.",
	  emit_tasks },
	{ "stalltop_pressure_seconds", "seconds", "counter",
	  "Pressure stall time of the machine since boot.", emit_pressure },
	{ "stalltop_exits", NULL, "counter", "Exit records of tasks.", emit_exits },
	{ "stalltop_exits_lost", NULL, "counter",
	  "Lost exit records: the last waits of these tasks are missing.", emit_lost },
	{ "stalltop_findings", NULL, "gauge",
	  "Rows that a pattern of findings was found for in the last interval, by its id.",
	  emit_findings },
	{ "stalltop_delayacct_enabled", NULL, "gauge",
	  "Whether the kernel accounts delays (kernel.task_delayacct).", emit_delayacct },
	{ "stalltop_sample_duration_seconds", "seconds", "gauge", "How long the last sample took.",
	  emit_duration },
	{ "stalltop_sample_timestamp_seconds", "seconds", "gauge",
	  "When the last sample was taken, since 1970.", emit_time },
	/* A gauge, as the text format from before OpenMetrics has no better type. */
	{ "stalltop_build_info", NULL, "gauge", "The program's version, and the counter source.",
	  emit_build },
};

/* Appends the lines above a family's samples. */
static void put_family(const struct metric_writer *writer, const struct family *family)
{
	bool openmetrics = writer->exposition == EXPOSITION_OPENMETRICS;
	const char *suffix = is_counter(family) && !openmetrics ? "_total" : "";

	buf_printf(writer->out, "# TYPE %s%s %s\n", family->name, suffix, family->type);
	if (openmetrics && family->unit)
		buf_printf(writer->out, "# UNIT %s %s\n", family->name, family->unit);
	buf_printf(writer->out, "# HELP %s%s %s\n", family->name, suffix, family->help);
}

/* Appends all metrics. */
static void openmetrics_write(struct buf *to, const struct out *out, enum exposition exposition)
{
	const struct metric_writer writer = { to, out->state, series_machine(out->state),
					      &out->findings, exposition };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		size_t head = to->len, samples;

		put_family(&writer, &families[i]);
		samples = to->len;
		families[i].emit(&writer, &families[i]);
		/* Unknown is no sample: a family without any is left out. */
		if (to->len == samples)
			to->len = head;
	}
	if (exposition == EXPOSITION_OPENMETRICS)
		buf_puts(to, "# EOF\n");
}

void openmetrics_append(struct buf *buf, const struct out *out, enum exposition exposition)
{
	openmetrics_write(buf, out, exposition);
}

/* Throttled time of groups is in their own files. */
static unsigned openmetrics_needs(const struct out_config *config)
{
	return NEED_EVIDENCE |
	       (config->view->group_by == GROUP_CGROUP ? NEED_GROUP(CGROUP_THROTTLE) : 0);
}

/* A sample: its figures are added to the counters, and all are written. */
static void openmetrics_frame(struct out *out, const struct view *view)
{
	size_t max = out->config->max_series;

	if (!out->state)
		out->state = series_open(max ? max : SERIES_DEFAULT);
	series_take(out->state, view->frame);
	openmetrics_write(&out->buf, out, EXPOSITION_OPENMETRICS);
}

static void close_openmetrics(struct out *out)
{
	series_close(out->state);
}

const struct out_ops out_openmetrics = {
	.name = "openmetrics",
	.needs = openmetrics_needs,
	.frame = openmetrics_frame,
	.tree = true,
	.finds = true,
	.series = true,
	.first = openmetrics_frame,
	.close = close_openmetrics,
};
