/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/summary.h"

#include <string.h>
#include <time.h>

#include "base/util.h"

#define KB_PER_GB (1024.0 * 1024.0)

/* Stall shares, in hundredths of a percent, from which pressure is highlighted. */
#define PRESSURE_WARM 1000
#define PRESSURE_HOT 4000

/* Blanks between the parts of a line, and in a line that is too long. */
#define GAP 3
#define GAP_NARROW 2

/* Screen width from which pairs of averages have both decimals of the kernel's. */
#define BOTH_DECIMALS 100

/* Cells of an average in the short form, after its name. */
#define SHORT_WIDTH 6

/* The pressure block: headings and cells of its figures, the first after a name. */
static const struct {
	const char *heading;
	unsigned width;
} pressure_cells[] = {
	{ "some avg10", 20 }, { "avg60", 7 }, { "avg300", 7 }, { "now", 7 },
	{ "full avg10", 13 }, { "avg60", 7 }, { "avg300", 7 }, { "now", 7 },
};

/* Empties the text and begins a line in it. */
static struct summary begin_summary(struct buf *text, unsigned gap)
{
	text->len = 0;
	return (struct summary){ .text = text, .gap = gap };
}

/* Adds a separate figure. Text appended before the next figure is its value. */
static struct summary_figure *add_figure(struct summary *line, unsigned priority, const char *label,
					 const char *unit)
{
	struct summary_figure *figure = &line->figures[line->n++];

	*figure = (struct summary_figure){
		.label = label, .unit = unit, .at = line->text->len, .priority = priority
	};
	return figure;
}

/* Adds a figure joined to the previous one. */
static struct summary_figure *join(struct summary *line, const char *label, const char *unit)
{
	struct summary_figure *figure =
		add_figure(line, line->figures[line->n - 1].priority, label, unit);

	figure->joined = true;
	return figure;
}

/* Adds a figure that is a word; NULL: unknown. */
static void add_word(struct summary *line, unsigned priority, const char *label, const char *word)
{
	add_figure(line, priority, label, NULL)->weight = word ? WEIGHT_WORD : WEIGHT_NORMAL;
	if (!word)
		word = "-";
	text_escape(line->text, word, strlen(word), TEXT_ASCII);
}

const char *summary_value(const struct summary *line, size_t i, size_t *len)
{
	size_t end = i + 1 < line->n ? line->figures[i + 1].at : line->text->len;

	*len = end - line->figures[i].at;
	return line->text->data + line->figures[i].at;
}

struct summary_cells summary_cells(const struct summary *line, size_t i, enum text_charset charset)
{
	const struct summary_figure *figure = &line->figures[i];
	unsigned label = figure->label ? (unsigned)strlen(figure->label) : 0;
	unsigned unit = figure->unit ? (unsigned)strlen(figure->unit) : 0, rest;
	size_t len;
	const char *text = summary_value(line, i, &len);
	struct summary_cells cells = { .before = label, .value = text_width(text, len, charset) };

	rest = cells.value + unit;
	if (!figure->width)
		cells.before += label && rest;
	else if (figure->width > label + rest)
		cells.before = figure->width - rest;
	cells.all = cells.before + rest;
	return cells;
}

unsigned summary_gap(const struct summary *line, size_t i)
{
	const struct summary_figure *figure = &line->figures[i];

	return figure->tight ? 0 : figure->joined ? 1 : i ? line->gap : 0;
}

unsigned summary_width(const struct summary *line, enum text_charset charset)
{
	unsigned width = 0;

	for (size_t i = 0; i < line->n; i++)
		width += summary_gap(line, i) + summary_cells(line, i, charset).all;
	return width;
}

/* Cells of a part: a figure with the figures joined to it. */
static unsigned part_cells(const struct summary *line, size_t i, enum text_charset charset)
{
	unsigned cells = summary_cells(line, i, charset).all;

	while (++i < line->n && line->figures[i].joined)
		cells += summary_gap(line, i) + summary_cells(line, i, charset).all;
	return cells;
}

/* Displays a figure with the figures joined to it. */
static void show(struct summary *line, size_t i)
{
	do
		line->figures[i].hidden = false;
	while (++i < line->n && line->figures[i].joined);
}

void summary_fit(struct summary *line, unsigned width, enum text_charset charset)
{
	unsigned room;

	if (line->gap > GAP_NARROW && summary_width(line, charset) > width)
		line->gap = GAP_NARROW;
	room = width + line->gap;
	for (size_t i = 0; i < line->n; i++)
		line->figures[i].hidden = true;
	for (unsigned priority = 0; priority < SUMMARY_PRIORITIES; priority++) {
		for (size_t i = 0; i < line->n; i++) {
			const struct summary_figure *figure = &line->figures[i];
			unsigned cells;

			if (figure->joined || figure->priority != priority)
				continue;
			cells = part_cells(line, i, charset) + line->gap;
			/* Half a figure, or a figure in another's place, would be misread. */
			if (cells > room && figure->width)
				return;
			if (cells > room && i)
				continue;
			show(line, i);
			room -= cells < room ? cells : room;
		}
	}
}

void summary_append(struct buf *out, const struct summary *line)
{
	for (size_t i = 0; i < line->n; i++) {
		const struct summary_figure *figure = &line->figures[i];
		size_t at, len;
		const char *value = summary_value(line, i, &len);

		if (figure->hidden)
			continue;
		buf_fill(out, ' ', summary_gap(line, i));
		at = out->len;
		if (figure->label)
			buf_puts(out, figure->label);
		buf_fill(out, ' ', summary_cells(line, i, TEXT_ASCII).before - (out->len - at));
		buf_add(out, value, len);
		if (figure->unit)
			buf_puts(out, figure->unit);
	}
}

/* Appends a number that may be unknown. */
static void append_decimal(struct buf *out, bool known, double number, unsigned decimals)
{
	if (known)
		buf_decimal(out, number, decimals);
	else
		buf_putc(out, '-');
}

/* Appends days and hours:minutes. */
static void append_uptime(struct buf *out, double seconds)
{
	uint64_t minutes = (uint64_t)(seconds / 60);

	if (minutes >= 24 * 60)
		buf_printf(out, "%llud", (unsigned long long)(minutes / (24 * 60)));
	buf_printf(out, "%02u:%02u", (unsigned)(minutes / 60 % 24), (unsigned)(minutes % 60));
}

/* The optional parts of a title. */
enum { PART_CLOCK, PART_CGROUP, PART_DELAYS, PART_INTERVAL, PART_STATE, PART_SOURCE, PARTS };

/* The turn of each part: restrictions of all rows first; a pause by key before the usual one. */
static const unsigned char title_priorities[][PARTS] = {
	{ 0, 1, 3, 4, 5, 6 }, /* all tasks */
	{ 2, 1, 3, 4, 5, 6 }, /* of a group, or of a preset */
	{ 0, 1, 5, 4, 2, 6 }, /* all, stopped */
	{ 3, 1, 4, 5, 2, 6 }, /* likewise, stopped */
};

/* Adds the time of a past sample, so that it is not mistaken for the present. */
static void add_past(struct summary *line, const char *past, const struct frame_info *info)
{
	time_t seconds = (time_t)(info->real_ns / NSEC_PER_SEC);
	struct summary_figure *figure = join(line, NULL, NULL);
	struct tm tm;

	figure->weight = WEIGHT_HOT;
	if (localtime_r(&seconds, &tm))
		buf_printf(line->text, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		buf_putc(line->text, '-');
	buf_printf(line->text, "  %s", past);
}

/* The row of that table for the title. */
static const unsigned char *title_priority(const struct title *title)
{
	bool named = title->of_group || title->preset;

	return title_priorities[(title->paused || title->held) * 2 + named];
}

/* Adds the group whose members are shown. */
static void add_group(struct summary *line, const struct title *title, enum text_charset charset)
{
	struct summary_figure *name;

	join(line, "in", NULL)->weight = WEIGHT_WORD;
	buf_puts(line->text, group_table[title->by].id);
	name = join(line, NULL, title->below ? " and below" : NULL);
	name->weight = title->name ? WEIGHT_WORD : WEIGHT_NORMAL;
	if (title->name)
		text_escape(line->text, title->name, strlen(title->name), charset);
	else
		buf_putc(line->text, '-');
}

/* Adds time of day, uptime and load; in the first turn they are joined to the program's name. */
static void add_clock(struct summary *line, unsigned priority, const struct frame_info *info)
{
	const struct system_sample *system = info->system;
	time_t seconds = (time_t)(info->real_ns / NSEC_PER_SEC);
	struct tm tm;

	add_figure(line, priority, NULL, NULL)->joined = !priority;
	if (localtime_r(&seconds, &tm))
		buf_printf(line->text, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		buf_putc(line->text, '-');
	join(line, "up", NULL);
	if (system->uptime_valid)
		append_uptime(line->text, system->uptime);
	else
		buf_putc(line->text, '-');
	for (unsigned i = 0; i < (system->load_valid ? ARRAY_SIZE(system->load) : 1); i++) {
		join(line, i ? NULL : "load", NULL);
		append_decimal(line->text, system->load_valid, system->load[i], 2);
	}
}

/* How delays are known; NULL: unknown. */
static const char *delays_known(const struct frame_info *info)
{
	if (info->head.measured)
		return "measured";
	if (info->head.delayacct == DELAYACCT_UNKNOWN)
		return NULL;
	return info->head.delayacct == DELAYACCT_ON ? "counted" : "not counted";
}

/*
 * Adds the source of the counters, and how delays are known; to a plain title only a limited
 * source, and that they are unknown.
 */
static void add_source(struct summary *line, const unsigned char *priority, bool plain,
		       const struct frame_info *info)
{
	bool few = info->head.source && !strcmp(info->head.source, "procfs");

	if (plain) {
		if (few)
			add_word(line, priority[PART_SOURCE], NULL, info->head.source);
		if (info->head.delayacct == DELAYACCT_OFF && !info->head.measured && !few)
			add_word(line, priority[PART_DELAYS], "delays", delays_known(info));
		return;
	}
	add_word(line, priority[PART_SOURCE], NULL, info->head.source);
	if (info->head.taskstats_version > 0) {
		join(line, NULL, NULL)->weight = WEIGHT_WORD;
		buf_printf(line->text, "v%d", info->head.taskstats_version);
	}
	add_word(line, priority[PART_DELAYS], "delays", delays_known(info));
}

/* Adds the kind of the groups if rows are groups; for cgroups also their hierarchy. */
static void add_rows(struct summary *line, unsigned priority, enum group_by by,
		     const struct frame_info *info)
{
	if (!group_folds(by))
		return;
	add_word(line, priority, "by", group_table[by].id);
	if (by != GROUP_CGROUP)
		return;
	buf_puts(line->text, info->head.hierarchy_version == 1 ? " (v1 " : " (");
	if (info->head.hierarchy_version)
		text_escape(line->text, info->head.hierarchy, strlen(info->head.hierarchy),
			    TEXT_ASCII);
	else
		buf_putc(line->text, '-');
	buf_putc(line->text, ')');
}

struct summary summary_title(struct buf *text, const struct view *view, const struct title *title)
{
	const unsigned char *priority = title_priority(title);
	const struct frame_info *info = view->frame->info;
	bool folded = group_folds(title->rows), stopped = title->paused || title->held;
	struct summary line = begin_summary(text, GAP);
	unsigned unit_priority = priority[PART_STATE];

	add_figure(&line, 0, NULL, NULL)->weight = WEIGHT_NAME;
	buf_puts(text, "stalltop");
	if (title->past)
		add_past(&line, title->past, info);
	if (title->preset) {
		join(&line, "preset", NULL)->weight = WEIGHT_WORD;
		buf_puts(text, title->preset);
	}
	if (title->of_group)
		add_group(&line, title, view->charset);
	if (!title->past)
		add_clock(&line, priority[PART_CLOCK], info);
	if (title->filter) {
		add_word(&line, priority[PART_STATE], "filter", "");
		buf_puts(text, title->filter);
	}
	add_figure(&line, priority[PART_INTERVAL], title->plain ? "every" : NULL, " s");
	/* Unmeasured figures are not shown: the first sample has no interval. */
	if (info->interval_ns)
		buf_decimal(text, (double)info->interval_ns / (double)NSEC_PER_SEC, 2);
	else
		buf_putc(text, '-');
	add_source(&line, priority, title->plain, info);
	add_rows(&line, priority[PART_STATE], title->rows, info);
	if (info->head.cgroup) {
		add_word(&line, priority[PART_CGROUP], "cgroup", "");
		text_escape(text, info->head.cgroup, strlen(info->head.cgroup), view->charset);
	}
	/* Follows the source if the line already names the kind of rows, or their group. */
	if (!title->of_group && !stopped && (folded || info->head.cgroup))
		unit_priority = SUMMARY_PRIORITIES - 1;
	if (view->unit == UNIT_PERCENT && title->plain)
		add_word(&line, unit_priority, "waits in", "% of time");
	if (view->unit != UNIT_PERCENT)
		add_word(&line, unit_priority, "unit", unit_table[view->unit].id);
	if (title->paused)
		add_word(&line, priority[PART_STATE], NULL, "paused");
	if (title->held)
		add_word(&line, priority[PART_STATE], NULL, "order held");
	return line;
}

double summary_cpu_share(const struct frame_info *info, unsigned states)
{
	return system_cpu_share(info->system_before, info->system, states);
}

/* Adds the CPU states, in percent of all CPU time. */
static void add_cpu(struct summary *line, const struct frame_info *info)
{
	static const struct {
		const char *unit;
		unsigned priority;
		unsigned states;
	} shares[] = {
		{ " user", 1, 1u << CPU_USER | 1u << CPU_NICE },
		{ " system", 1, 1u << CPU_SYSTEM | 1u << CPU_IRQ | 1u << CPU_SOFTIRQ },
		{ " idle", 1, 1u << CPU_IDLE },
		{ " iowait", 3, 1u << CPU_IOWAIT },
		{ " stolen", 3, 1u << CPU_STEAL },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(shares); i++) {
		double share = summary_cpu_share(info, shares[i].states);

		add_figure(line, shares[i].priority, i ? NULL : "cpu", shares[i].unit)->joined =
			i && shares[i].priority == shares[i - 1].priority;
		append_decimal(line->text, share >= 0, share, 1);
	}
}

/* Adds an amount of a total in GB, with the unit once. */
static struct summary_figure *add_gigabytes(struct summary *line, const char *label, bool known,
					    uint64_t used, uint64_t total)
{
	struct summary_figure *figure = add_figure(line, 3, label, known && total ? "G" : NULL);

	if (known && total) {
		buf_decimal(line->text, (double)used / KB_PER_GB, 1);
		buf_putc(line->text, '/');
		buf_decimal(line->text, (double)total / KB_PER_GB, 1);
	} else {
		buf_puts(line->text, known ? "0/0" : "-");
	}
	return figure;
}

/* Appends a count that may be unknown. */
static void append_count(struct buf *out, int64_t count)
{
	if (count < 0)
		buf_putc(out, '-');
	else
		buf_uint(out, (uint64_t)count);
}

/* Adds how many of the rows are in states, started and exited. */
static void add_counts(struct summary *line, const struct frame_info *info)
{
	/* Counts the rows' own kind: exit records are for single threads. */
	size_t exited = info->head.exits >= 0 ? info->ended : info->gone;

	join(line, NULL, " running,");
	append_count(line->text, info->states_known ? (int64_t)info->running : -1);
	join(line, NULL, " blocked");
	append_count(line->text, info->states_known ? (int64_t)info->blocked : -1);
	add_figure(line, 2, NULL, " new,");
	append_count(line->text, info->prev ? (int64_t)info->born : -1);
	join(line, NULL, " exited,");
	append_count(line->text, info->prev ? (int64_t)exited : -1);
	join(line, NULL, " lost");
	append_count(line->text, info->head.lost);
}

struct summary summary_tasks(struct buf *text, const struct view *view)
{
	const struct frame_info *info = view->frame->info;
	const struct system_sample *system = info->system;
	struct summary line = begin_summary(text, GAP);

	add_figure(&line, 0, info->threads ? "threads" : "tasks", info->bare ? NULL : ",");
	buf_uint(text, info->bare ? info->tasks : info->cur->n);
	if (!info->bare)
		add_counts(&line, info);
	add_cpu(&line, info);
	add_gigabytes(&line, "mem", system->memory_valid, system->memory_used,
		      system->memory_total);
	add_gigabytes(&line, "swap", system->memory_valid, system->swap_used, system->swap_total)
		->joined = true;
	add_figure(&line, 2, "self", info->head.self >= 0 ? " %" : NULL);
	append_decimal(text, info->head.self >= 0, info->head.self, 1);
	if (info->trace) {
		join(&line, "trace", info->trace->cost >= 0 ? " %" : NULL);
		append_decimal(text, info->trace->cost >= 0, info->trace->cost, 1);
	}
	return line;
}

struct psi_pair summary_pressure_of(const struct frame_info *info, enum psi_resource resource)
{
	const struct psi_reading *now = frame_pressure(info), *before = frame_pressure_before(info);

	return (struct psi_pair){
		.now = &now->psi[resource],
		.before = before ? &before->psi[resource] : NULL,
		.interval_ns = before && now->read_ns > before->read_ns
				       ? now->read_ns - before->read_ns
				       : 0,
	};
}

/* Gives the figures of a line their cells in the pressure block. */
static struct summary place_figure(struct summary line)
{
	for (size_t i = 0; i < line.n; i++)
		line.figures[i].width = pressure_cells[i].width;
	return line;
}

struct summary summary_pressure_head(struct buf *text)
{
	struct summary line = begin_summary(text, 0);

	for (size_t i = 0; i < ARRAY_SIZE(pressure_cells); i++)
		add_word(&line, 0, i ? NULL : "pressure", pressure_cells[i].heading);
	return place_figure(line);
}

/* The weight of a stall share, as displayed, in hundredths of a percent. */
static enum weight pressure_weight(uint64_t share)
{
	if (share >= PRESSURE_HOT)
		return WEIGHT_HOT;
	if (share >= PRESSURE_WARM)
		return WEIGHT_WARM;
	return share ? WEIGHT_NORMAL : WEIGHT_ZERO;
}

/* Adds one average. */
static struct summary_figure *add_average(struct summary *line, const char *label, bool valid,
					  uint32_t average)
{
	struct summary_figure *figure = add_figure(line, 0, label, NULL);

	figure->weight = pressure_weight(valid ? average : 0);
	if (valid)
		buf_fixed(line->text, average, 2);
	else
		buf_putc(line->text, '-');
	return figure;
}

/* The stall share of the interval in percent, from the file's total; below 0: unknown. */
static double stalled_share(const struct psi_line *now, const struct psi_line *before,
			    uint64_t interval_ns)
{
	uint64_t us;

	if (!psi_grown(before, now, interval_ns, &us))
		return -1;
	return (double)us * 1000.0 * 100.0 / (double)interval_ns;
}

double summary_stalled(const struct psi_pair *pair, bool full)
{
	const struct psi *now = pair->now, *before = pair->before;

	return stalled_share(full ? &now->full : &now->some,
			     !before ? NULL
			     : full  ? &before->full
				     : &before->some,
			     pair->interval_ns);
}

/* Adds the stall share of the interval. */
static void add_now(struct summary *line, const struct psi_line *now, const struct psi_line *before,
		    uint64_t interval_ns)
{
	struct summary_figure *figure = add_figure(line, 0, NULL, NULL);
	double stalled = stalled_share(now, before, interval_ns);
	struct value share = stalled < 0 ? value_unset() : value_number(stalled);

	/* Rounds as displayed, in tenths. */
	if (share.type == VALUE_NUMBER)
		figure->weight = pressure_weight((uint64_t)(share.number * 10 + 0.5) * 10);
	else
		figure->weight = WEIGHT_ZERO;
	value_append(line->text, &share, FORMAT_SHARE, 0);
}

/* Adds the four figures of a line of the file. */
static void add_psi(struct summary *line, const char *label, const struct psi_line *now,
		    const struct psi_line *before, uint64_t interval_ns)
{
	add_average(line, label, now->valid, now->avg10);
	add_average(line, NULL, now->valid, now->avg60);
	add_average(line, NULL, now->valid, now->avg300);
	add_now(line, now, before, interval_ns);
}

struct summary summary_pressure(struct buf *text, enum psi_resource resource,
				const struct psi_pair *pair)
{
	const struct psi *now = pair->now, *before = pair->before;
	struct summary line = begin_summary(text, 0);

	add_psi(&line, psi_names[resource], &now->some, before ? &before->some : NULL,
		pair->interval_ns);
	add_psi(&line, NULL, &now->full, before ? &before->full : NULL, pair->interval_ns);
	return place_figure(line);
}

/* Adds a share to a pair, in cells wide enough for 100 %: the second after a slash. */
static void add_to_pair(struct summary *line, unsigned priority, const char *label, double percent,
			unsigned decimals)
{
	struct summary_figure *figure = add_figure(line, priority, label ? label : "/", NULL);
	double scale = decimals > 1 ? 100 : 10;
	/* Rounds as displayed. */
	uint64_t shown = percent > 0 ? (uint64_t)(percent * scale + 0.5) : 0;

	figure->joined = figure->tight = !label;
	figure->width = (label ? (unsigned)strlen(label) + 1 : 1) + decimals + 3;
	figure->weight = pressure_weight(shown * (decimals > 1 ? 1 : 10));
	append_decimal(line->text, percent >= 0, percent,
		       decimals - (shown >= (uint64_t)(100 * scale)));
}

struct summary summary_pressure_pairs(struct buf *text, enum psi_resource resource,
				      const struct psi_pair *pair, unsigned width)
{
	static const char *const names[] = { "cpu", "mem", "io ", "irq" };
	static const char *const labels[] = { "avg10", "avg60", "avg300", "now" };
	static const unsigned char priorities[] = { 0, 2, 3, 1 };
	unsigned decimals = width >= BOTH_DECIMALS ? 2 : 1;
	struct summary line = begin_summary(text, 1);

	add_word(&line, 0, names[resource], "some/full");
	for (unsigned i = 0; i < ARRAY_SIZE(labels); i++) {
		for (unsigned full = 0; full < 2; full++) {
			const struct psi_line *now = full ? &pair->now->full : &pair->now->some;
			const uint32_t averages[] = { now->avg10, now->avg60, now->avg300 };
			bool average = i < ARRAY_SIZE(averages);
			double share = !average	    ? summary_stalled(pair, full)
				       : now->valid ? averages[i] / 100.0
						    : -1;

			add_to_pair(&line, priorities[i], full ? NULL : labels[i], share,
				    average ? decimals : 1);
		}
	}
	return line;
}

struct summary summary_pressure_short(struct buf *text, const struct frame_info *info, bool brief)
{
	struct summary line = begin_summary(text, GAP_NARROW);

	add_word(&line, 0, NULL, brief ? "avg10" : "some avg10");
	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		const struct psi_reading *pressure = frame_pressure(info);
		const struct psi_line *some = &pressure->psi[r].some;

		if (!pressure->error[r] && r != PSI_IRQ)
			add_average(&line, psi_names[r], some->valid, some->avg10)->width =
				(unsigned)strlen(psi_names[r]) + SHORT_WIDTH;
	}
	return line;
}
