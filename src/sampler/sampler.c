/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sampler/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "frame/notes.h"
#include "kernel/delayacct.h"
#include "kernel/mounts.h"
#include "kernel/proc.h"
#include "kernel/proctask.h"
#include "sampler/sampler_parts.h"

/*
 * Number of tasks above which the bpf source pays within a minute at the default interval: loading
 * a program into the kernel costs 25 ms more than opening taskstats, which then takes 3 us more per
 * task and sample (of a screen: 0.4 ms of 1.7 among 300 tasks, 1.4 of 2.9 among 600).
 */
#define MANY_TASKS 500

/* It pays, too, from this many task starts a second, and from this time and share of a reading. */
#define BIRTHS_MANY 200
#define READING_PART 8
#define READING_LONG_NS (100 * NSEC_PER_MSEC)

/*
 * Determines since when tasks are accounted, if only some processes are read: these alone may not
 * show it. So all are read once for that.
 */
static void learn_from_all(struct sampler *sampler)
{
	const struct sampler_config *config = sampler->config;
	struct source_env env = { .proc = config->proc, .threads = config->threads };
	struct sample all = { 0 }, none = { 0 };
	struct source source;

	if (!config->pids || source_open(&source, sampler->source.ops->name, &env))
		return;
	if (!source.ops->sample(source.state, &none, &all, 0))
		delayacct_mask(&sampler->delayacct, &all);
	sample_free(&all);
	source_close(&source);
}

/* True if there are so many tasks now that a request per task is no longer cheap. */
static bool are_many(void)
{
	struct sysinfo machine;

	return !sysinfo(&machine) && machine.procs > MANY_TASKS;
}

bool sampler_measures(const struct sampler_config *config, const struct delayacct *delayacct)
{
	return config->measure == MEASURE_YES ||
	       (config->measure == MEASURE_AUTO && !delayacct_counts_all(delayacct));
}

/* Opens a source without earlier readings. 0 or -errno. */
static int open_source(struct sampler *sampler, struct source *source)
{
	const struct sampler_config *config = sampler->config;
	struct source_env env = { .proc = config->proc,
				  .threads = config->threads,
				  .pids = config->pids,
				  .npids = config->npids,
				  .measure = sampler_measures(sampler->config, &sampler->delayacct),
				  .many = !config->brief && !config->pids &&
					  (sampler->busy || are_many() || sampler->trace_wanted),
				  .trace =
					  sampler->tracing ? tracing_trace(sampler->tracing) : NULL,
				  .between = config->between,
				  .arg = config->arg };

	return source_open(source, config->source, &env);
}

struct measure *sampler_measuring(const struct sampler *sampler)
{
	const struct source *source = &sampler->source;

	return source->ops->measuring ? source->ops->measuring(source->state) : NULL;
}

/* True if a request per task is no longer cheap: a storm was seen to make readings of 20 s. */
static bool is_busy(const struct sample *prev, const struct sample *cur)
{
	uint64_t passed_ns = cur->begin_ns - prev->begin_ns, took_ns = cur->end_ns - cur->begin_ns;

	return (took_ns > READING_LONG_NS && took_ns > passed_ns / READING_PART) ||
	       (prev->system.forks && cur->system.forks > prev->system.forks &&
		(cur->system.forks - prev->system.forks) * NSEC_PER_SEC > BIRTHS_MANY * passed_ns);
}

/* True if `auto` is to switch to a source for many tasks. It stays: storms recur. */
static bool becomes_busy(struct sampler *sampler, const struct tick *tick)
{
	const struct sampler_config *config = sampler->config;

	if (config->pids || config->brief || sampler->busy || sampler->source.ops->many ||
	    !is_busy(tick->prev, tick->cur))
		return false;
	sampler->busy = true;
	return true;
}

/* Passes the open trace, or none, to the source. */
static void lend_trace(struct sampler *sampler)
{
	const struct source *source = &sampler->source;

	if (source->ops && source->ops->trace)
		source->ops->trace(source->state,
				   sampler->tracing ? tracing_trace(sampler->tracing) : NULL);
}

void sampler_open_tracing(struct sampler *sampler)
{
	struct tracing_config config = { .proc = sampler->config->proc,
					 .sites = sampler->config->trace_sites,
					 .stacks = sampler->config->stacks,
					 .stacks_over_ns = sampler->config->stacks_over_ns,
					 .stacks_later = sampler->config->stacks_later,
					 .debuginfod = sampler->config->debuginfod };

	sampler->trace_refused = tracing_open(&sampler->tracing, &config);
	lend_trace(sampler);
}

void sampler_open_process(struct sampler *sampler, pid_t tgid)
{
	if (sampler->tracing)
		tracing_open_process(sampler->tracing, tgid);
}

/* Stops tracing. The frame that was handed out may still show its data. */
static void stop_tracing(struct sampler *sampler)
{
	struct tracing *tracing = sampler->tracing;

	if (!tracing)
		return;
	sampler->tracing = NULL;
	lend_trace(sampler);
	if (sampler->stopped) {
		tracing_close(tracing);
	} else {
		tracing_stop(tracing);
		sampler->stopped = tracing;
	}
}

/* Frees the trace's data, when no frame shows it any more. */
static void close_tracing(struct sampler *sampler)
{
	stop_tracing(sampler);
	tracing_close(sampler->stopped);
	sampler->stopped = NULL;
}

int sampler_adapt_source(struct sampler *sampler, struct tick *tick)
{
	bool measure = sampler_measures(sampler->config, &sampler->delayacct) &&
		       !sampler_measuring(sampler) && !sampler->source.unmeasured;
	bool trace = sampler->tracing && !sampler->source.ops->trace && !sampler->untraced;
	struct source source;

	if (sampler->config->source || !tick->prev)
		return 0;
	if (!becomes_busy(sampler, tick) && !measure && !trace)
		return 0;
	sampler->untraced |= trace;
	if (open_source(sampler, &source))
		return 0;
	sampler->source.unmeasured = source.unmeasured;
	if (source.ops->many) {
		source_close(&sampler->source);
		sampler->source = source;
	} else {
		source_close(&source);
	}
	return 0;
}

/* True if /proc hides tasks: then the first task, which always exists, is not visible. */
static bool hides_tasks(struct proc *proc)
{
	struct buf text = { 0 };
	bool hides = false;

	if (!faccessat(proc->fd, "1", F_OK, 0))
		return false;
	if (!file_read_all(proc->fd, "self/mountinfo", &text, SIZE_MAX))
		hides = mount_hides_tasks((struct span){ text.data, text.data + text.len },
					  "/proc");
	buf_free(&text);
	return hides;
}

int sampler_open(struct sampler **out, const struct sampler_config *config)
{
	struct sampler *sampler;
	int err;

	if (config->playback && config->playback->threads != config->threads)
		return -EOPNOTSUPP;
	sampler = xcalloc(1, sizeof(*sampler));
	sampler->config = config;
	*out = sampler;
	if (config->playback)
		return 0;
	proc_start(config->proc);
	delayacct_open(&sampler->delayacct, config->proc->fd, config->accounted_ns);
	/* Before the source, which reads its maps. If it is refused, the frames say so. */
	sampler_trace(sampler, config->trace);
	err = open_source(sampler, &sampler->source);
	if (err) {
		close_tracing(sampler);
		delayacct_close(&sampler->delayacct);
		free(sampler);
		return err;
	}
	sampler->accounts = (struct account_reader){
		.proc = config->proc,
		.tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK),
	};
	sampler->blocked.proc = config->proc;
	sampler->blocked.read_lag = proctask_clock_lag;
	sampler->bounds = io_bounds_open(config->proc);
	sampler->system = system_open(config->proc->fd);
	sampler->info = taskinfo_open(config->proc, config->threads);
	sampler->left_on = config->delayacct_file &&
			   delayacct_left_on(config->proc->fd, config->delayacct_file);
	sampler->hidden = hides_tasks(config->proc);
	learn_from_all(sampler);
	sampler_open_exits(sampler);
	sampler->self_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	*out = sampler;
	return 0;
}

/* The hierarchy in which tasks are shown; NULL before cgroups are wanted, or if there is none. */
static const struct hierarchy *shown_hierarchy(const struct sampler *sampler)
{
	return sampler->hierarchy.name ? &sampler->hierarchy : NULL;
}

/* Opens the cgroup hierarchy when groups are first wanted. */
static void need_hierarchy(struct sampler *sampler, unsigned needs)
{
	const struct sampler_config *config = sampler->config;
	int err;

	if (!(needs & NEED_CGROUP) || sampler->hierarchy_tried || config->playback)
		return;
	sampler->hierarchy_tried = true;
	err = hierarchy_open(&sampler->hierarchy, config->proc->fd, config->hierarchy);
	if (err)
		debug_log("cgroup hierarchy: %s", strerror(-err));
	taskinfo_set_hierarchy(sampler->info, shown_hierarchy(sampler));
	if (!err)
		sampler->groups = cgroup_reader_open(config->proc->fd, &sampler->hierarchy);
}

/* Frees all samples and frames. */
static void free_samples(struct sampler *sampler)
{
	for (unsigned i = 0; i < SAMPLES; i++)
		sample_free(&sampler->samples[i]);
	frame_free(&sampler->frame);
}

int sampler_trace(struct sampler *sampler, bool on)
{
	if (on == sampler->trace_wanted)
		return sampler->trace_refused;
	sampler->trace_wanted = on;
	sampler->trace_refused = 0;
	/* A playback shows the past. */
	if (on && sampler->config->playback)
		sampler->trace_refused = -ENODATA;
	else if (on)
		sampler_open_tracing(sampler);
	else
		stop_tracing(sampler);
	return sampler->trace_refused;
}

int sampler_suspend(struct sampler *sampler)
{
	if (sampler->config->playback)
		return 0;
	exits_close(sampler->exits);
	sampler->exits = NULL;
	sampler->exits_before = (struct exits_stats){ 0 };
	sampler->resting = true;
	close_tracing(sampler);
	if (!sampler->ticks)
		return 0;
	/* The source finds tasks by the previous sample: reopen it while there is time. */
	source_close(&sampler->source);
	taskinfo_close(sampler->info);
	sampler->info = taskinfo_open(sampler->config->proc, sampler->config->threads);
	taskinfo_set_hierarchy(sampler->info, shown_hierarchy(sampler));
	/* This tick and that of the next sample make two: no group's interval spans the pause. */
	if (sampler->groups)
		cgroup_reader_tick(sampler->groups);
	free_samples(sampler);
	sampler->accounts.primed = false;
	sampler->lost = false;
	sampler->ticks = 0;
	return open_source(sampler, &sampler->source);
}

void sampler_want(struct sampler *sampler, unsigned needs)
{
	need_hierarchy(sampler, needs);
	sampler->needs = needs;
}

/* Reads files of the group with that path. A group removed meanwhile has none. */
static void ask_group(struct sampler *sampler, const char *path, unsigned what,
		      struct group_figures *figures)
{
	const struct playback *playback = sampler->config->playback;

	if (playback)
		playback->group(playback->state, path, &figures->now, &figures->before);
	else if (sampler->groups)
		cgroup_read(sampler->groups, path, what, &figures->now, &figures->before);
}

/* See read_throttling_fn. */
static void read_throttling(void *arg, const char *path, struct group_figures *figures)
{
	ask_group(arg, path, CGROUP_BIT(CGROUP_THROTTLE), figures);
}

/* Reads a group's files, and the throttling of those above it. */
static void fill_group(struct sampler *sampler, const struct group *group, unsigned needs)
{
	unsigned what = (needs & NEED_GROUP_PARTS) >> NEED_GROUP_SHIFT;

	if (!what || !group->name)
		return;
	ask_group(sampler, group->name, what, group->figures);
	sampler_note_threaded(sampler, group->figures->now,
			      &sampler->infos[(sampler->ticks - 1) % INFOS]);
	if (what & CGROUP_BIT(CGROUP_THROTTLE) && group->figures->now &&
	    !group->figures->now->cpu_elsewhere)
		group->figures->above =
			groups_above_read(&sampler->above, group->name, read_throttling, sampler);
}

void sampler_open_exits(struct sampler *sampler)
{
	const struct sampler_config *config = sampler->config;

	if (config->exits && sampler->source.ops->exits)
		sampler->exits_refused =
			exits_open(&sampler->exits, config->threads, false, config->exit_buffer);
}

struct waiting_reader *sampler_waiting(struct sampler *sampler)
{
	if (!sampler->waiting)
		sampler->waiting = waiting_open(sampler->config->proc);
	return sampler->waiting;
}

/* The reader of waits, opened if `needs` asks for it; else NULL or the open one. */
static struct waiting_reader *need_waiting(struct sampler *sampler, unsigned needs)
{
	return needs & NEED_SHOWN ? sampler_waiting(sampler) : sampler->waiting;
}

struct evidence *sampler_evidence(struct sampler *sampler)
{
	if (!sampler->evidence)
		sampler->evidence = evidence_open(sampler->config->proc);
	return sampler->evidence;
}

/* Reads the wait targets of some rows' tasks. */
static void fill_waiting(struct sampler *sampler, const struct row *const *rows, size_t n,
			 unsigned needs)
{
	struct frame_info *info = &sampler->infos[(sampler->ticks - 1) % INFOS];

	/* A playback shows the past: its pids may belong to other tasks now. */
	if (!(needs & NEED_SHOWN) || sampler->config->playback)
		return;
	waiting_fill(need_waiting(sampler, needs), info, rows, n, sampler->config->threads, needs);
	if (needs & NEED_WAITING && waiting_refused(sampler->waiting))
		frame_note(info, NOTE_WAITING_HIDDEN, 0);
}

void sampler_fill(struct sampler *sampler, const struct row *const *rows, size_t n, unsigned needs)
{
	struct sample *cur = &sampler->samples[sampler->now];

	need_hierarchy(sampler, needs);
	for (size_t i = 0; i < n; i++) {
		if (rows[i]->task && !sampler->config->playback)
			taskinfo_fill(sampler->info, cur, rows[i]->place, needs);
		else if (rows[i]->group)
			fill_group(sampler, rows[i]->group, needs);
	}
	fill_waiting(sampler, rows, n, needs);
	if (needs & NEED_LIMITS && !sampler->config->playback)
		evidence_fill(sampler_evidence(sampler),
			      &sampler->infos[(sampler->ticks - 1) % INFOS], rows, n);
}

/* What the sampler passes to the reader of threads; their cgroups are in its hierarchy. */
static struct threads_env threads_env(struct sampler *sampler, unsigned needs)
{
	const struct frame_info *last =
		sampler->ticks ? &sampler->infos[(sampler->ticks - 1) % INFOS] : NULL;

	need_hierarchy(sampler, needs);
	return (struct threads_env){ .proc = sampler->config->proc,
				     .tracing = last ? sampler->tracing : NULL,
				     .trace = last ? last->trace : NULL,
				     .source = sampler->source.ops,
				     .measuring = sampler_measuring(sampler),
				     .delayacct = &sampler->delayacct,
				     .waiting = need_waiting(sampler, needs),
				     .hierarchy = shown_hierarchy(sampler),
				     .idle = last ? last->machine.idle : 0 };
}

int sampler_read_threads(struct sampler *sampler, struct threads *threads, unsigned needs)
{
	struct threads_env env;

	/* Threads that were not recorded are unknown. */
	if (sampler->config->playback)
		return -ENODATA;
	env = threads_env(sampler, needs);
	return threads_read(threads, &env, needs);
}

void sampler_fill_threads(struct sampler *sampler, const struct threads *threads,
			  const struct row *const *rows, size_t n, unsigned needs)
{
	struct threads_env env;

	if (sampler->config->playback)
		return;
	env = threads_env(sampler, needs);
	threads_fill(threads, &env, rows, n, needs);
	if (needs & NEED_LIMITS)
		evidence_fill(sampler_evidence(sampler), threads->frame->info, rows, n);
}

int sampler_switch_delayacct(const struct sampler *sampler, bool on)
{
	return sampler->config->playback ? -ENODATA : delayacct_set(sampler->config->proc->fd, on);
}

void sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	groups_above_free(&sampler->above);
	if (sampler->config->playback) {
		free_samples(sampler);
		free(sampler);
		return;
	}
	exits_close(sampler->exits);
	/* First, as it reads the trace. */
	source_close(&sampler->source);
	close_tracing(sampler);
	system_close(sampler->system);
	taskinfo_close(sampler->info);
	waiting_close(sampler->waiting);
	blocked_scan_free(&sampler->blocked);
	evidence_close(sampler->evidence);
	io_bounds_close(sampler->bounds);
	cgroup_reader_close(sampler->groups);
	hierarchy_close(&sampler->hierarchy);
	delayacct_close(&sampler->delayacct);
	clocks_free(&sampler->clocks);
	free_samples(sampler);
	free(sampler);
}

/* Conditions that degrade a frame. */

void sampler_note_clock(const struct tick *tick)
{
	if (tick->prev && tick->prev->real_ns > tick->cur->real_ns)
		frame_note(tick->info, NOTE_CLOCK_BACK, 0);
}

void sampler_note_threaded(const struct sampler *sampler, const struct cgroup_sample *group,
			   struct frame_info *info)
{
	if (group && group->threaded && !sampler->config->threads)
		frame_note(info, NOTE_GROUP_THREADED, 0);
}

/* Notes why the source is not the best one. */
static void note_source(const struct sampler *sampler, struct frame_info *info)
{
	struct note refusal;

	/*
	 * Sampling works without it: noted only in the first frame and the first interval.
	 */
	if (sampler->source.refused_many && sampler->ticks < 2)
		frame_note(info, NOTE_NO_BPF, (uint64_t)-sampler->source.refused_many);
	/* The source taken instead may know everything. */
	if (sampler->source.ops->kinds == DELAY_ALL)
		return;
	if (!sampler->source.refused)
		return;
	refusal = note_of_refusal(sampler->source.refused);
	frame_note(info, refusal.id, refusal.value);
}

/*
 * Notes for which tasks delays are not accounted, or since when, and why they are not measured
 * either.
 */
static void note_counts(const struct sampler *sampler, size_t older, struct frame_info *info)
{
	int unmeasured = sampler->source.unmeasured;
	bool off = sampler->delayacct.state == DELAYACCT_OFF;

	if (info->head.measured)
		return;
	if (off)
		frame_note_error(info, NOTE_DELAYACCT_OFF, 0, unmeasured);
	else if (unmeasured && sampler->config->measure == MEASURE_YES)
		frame_note_error(info, NOTE_UNMEASURED, 0, unmeasured);
	/* procfs lacks the other delays, and a blkio of 0 alone proves nothing. */
	if (older)
		frame_note_error(info,
				 sampler->source.ops->kinds == DELAY_ALL ? NOTE_DELAYACCT_OLDER
									 : NOTE_DELAYACCT_UNSURE,
				 older, unmeasured);
	if (sampler->delayacct.toggled)
		frame_note(info, NOTE_DELAYACCT_TOGGLED, 0);
}

/* Notes missing data in the records of exiting tasks. */
static void note_exits(const struct sampler *sampler, struct frame_info *info)
{
	int err = sampler->exits ? exits_stats(sampler->exits)->error : sampler->exits_refused;

	if (err)
		frame_note(info, NOTE_EXITS_REFUSED, (uint64_t)-err);
	if (info->head.lost > 0)
		frame_note(info, NOTE_EXITS_LOST, (uint64_t)info->head.lost);
	if (info->head.others)
		frame_note(info, NOTE_EXITS_FOLDED, info->head.others);
	if (sampler->exits && !exits_stats(sampler->exits)->exact)
		frame_note(info, NOTE_EXITS_INEXACT, 0);
}

/*
 * Notes tasks that exited before their cgroup was read and so are not shown, if all is restricted
 * to one cgroup.
 */
static void note_unknown(const struct sampler *sampler, struct frame_info *info)
{
	uint64_t unknown = 0;

	for (size_t i = 0; info->head.cgroup && i < info->cur->left; i++) {
		const struct task_raw *raw = info->cur->raw[info->cur->n + i];

		if (!raw->task->cgroup)
			unknown += raw->counters.members;
	}
	if (unknown && sampler->needs & NEED_CGROUP)
		frame_note(info, NOTE_GROUP_UNKNOWN, unknown);
}

/* Notes why waits are not traced, or what the trace lacks. */
static void note_trace(const struct sampler *sampler, struct frame_info *info)
{
	struct note refusal;

	if (sampler->tracing)
		tracing_note(sampler->tracing, info);
	if (sampler->tracing && !sampler->source.ops->trace)
		frame_note(info, NOTE_TRACE_SOURCE, 0);
	if (!sampler->trace_refused)
		return;
	refusal = tracing_note_of(sampler->trace_refused);
	frame_note(info, refusal.id, refusal.value);
}

/* Notes faults of the recording. */
static void note_record(const struct record_status *record, struct frame_info *info)
{
	if (record && record->dropped)
		frame_note(info, NOTE_RECORD_DROPPED, record->dropped);
	if (record && record->error)
		frame_note(info, NOTE_RECORD_ENDED, (uint64_t)-record->error);
}

void sampler_note(const struct sampler *sampler, const struct tick *tick)
{
	struct frame_info *info = tick->info;

	note_record(sampler->config->record, info);
	note_source(sampler, info);
	note_counts(sampler, tick->older, info);
	/* This costs little and nothing is missing, so it is noted only at the start, too. */
	if (sampler->left_on && sampler->ticks < 2)
		frame_note(info, NOTE_DELAYACCT_LEFT, 0);
	note_system(info);
	if (info->stale)
		frame_note(info, NOTE_STALE_STAMP, info->stale);
	if (info->cur->unread)
		frame_note_error(info, NOTE_UNREAD, info->cur->unread, info->cur->unread_error);
	if (sampler->hidden)
		frame_note(info, NOTE_HIDDEN, 0);
	if (proc_hangs(sampler->config->proc))
		frame_note(info, NOTE_READS_HANG, proc_hangs(sampler->config->proc));
	note_exits(sampler, info);
	note_trace(sampler, info);
	note_unknown(sampler, info);
	if (tick->skipped)
		frame_note(info, NOTE_LATE, tick->skipped);
	if (sampler->config->triggers && triggers_gone(sampler->config->triggers))
		frame_note(info, NOTE_TRIGGER_GONE, triggers_gone(sampler->config->triggers));
	notes_sort(info);
}
