/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "cgroup/cgroup.h"
#include "kernel/delayacct.h"
#include "kernel/delayacct_switch.h"
#include "kernel/exits.h"
#include "kernel/proctask.h"
#include "kernel/system.h"
#include "model/exit_merge.h"
#include "model/group.h"
#include "model/notes.h"
#include "model/source.h"
#include "model/taskinfo.h"
#include "model/tracing.h"
#include "model/waiting.h"

#define FRAMES 2

/*
 * The number of tasks above which the bpf source pays: asking taskstats for each (3 us) costs more
 * in ten samples than loading a program into the kernel does once (50 ms).
 */
#define MANY_TASKS 2000

/*
 * The number of exit records kept one by one until the next sample, and of those kept by name then.
 */
#define RECORDS_MAX 65536
#define NAMES_MAX (RECORDS_MAX / 2)

struct sampler {
	const struct sampler_config *config;
	struct source source;
	struct system *system;
	struct taskinfo *info;
	struct hierarchy hierarchy; /* without a name: not opened, or there is none */
	bool hierarchy_tried;
	struct waiting_reader *waiting; /* NULL: no waits were wanted yet */
	struct cgroup_reader *groups; /* NULL: no groups were wanted yet, or there are none */
	struct delayacct delayacct;
	struct account_reader accounts;
	struct exits *exits; /* NULL: there is no listener */
	int exits_refused; /* -errno */
	size_t fold_at; /* the number of records above which they are folded; 0: RECORDS_MAX */
	bool resting; /* the next sample opens the listeners */
	bool lost; /* exit records were lost, so identities must be asked for anew */
	bool irq_seen; /* the state that delayacct had at the sample before */
	bool left_on; /* delay accounting was left on by a stalltop that was killed */
	struct exits_stats exits_before; /* the figures at the sample before */
	struct tracing *tracing; /* NULL: waits are not watched */
	struct tracing *stopped; /* what the frame handed out still shows; NULL: nothing */
	bool trace_wanted;
	int trace_refused; /* -errno */
	unsigned needs;
	/*
	 * Used in turn: the sample of the frame handed out (index `now`), the sample before it that
	 * its rows point at, and the sample being filled meanwhile; the frame handed out, and the
	 * next.
	 */
	struct sample samples[SAMPLES];
	struct system_sample systems[SAMPLES];
	struct frame frames[FRAMES];
	struct frame_info infos[FRAMES];
	unsigned now;
	uint64_t ticks;
	struct clocks clocks;
	uint64_t self_ns; /* own CPU time at the last tick */
};

/* Own CPU time, user and system. */
static uint64_t own_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/*
 * Learns since when tasks are accounted, where only some processes are read: these alone may not
 * show it. So all are read once for that.
 */
static void learn_from_all(struct sampler *sampler)
{
	const struct sampler_config *config = sampler->config;
	struct source_env env = { .procfd = config->procfd, .threads = config->threads };
	struct sample all = { 0 }, none = { 0 };
	struct source source;

	if (!config->pids || source_open(&source, sampler->source.ops->name, &env))
		return;
	if (!source.ops->sample(source.state, &none, &all, 0))
		delayacct_mask(&sampler->delayacct, &all);
	sample_free(&all);
	source_close(&source);
}

/* Listens for exiting tasks where exit records have the same counters as the source. */
static void open_exits(struct sampler *sampler)
{
	const struct sampler_config *config = sampler->config;

	if (config->exits && sampler->source.ops->exits)
		sampler->exits_refused =
			exits_open(&sampler->exits, config->threads, config->exit_buffer);
}

/* Whether there are so many tasks now that asking for each is no longer cheap. */
static bool are_many(void)
{
	struct sysinfo machine;

	return !sysinfo(&machine) && machine.procs > MANY_TASKS;
}

/* Opens the source, as if nothing had been read before. 0 or -errno. */
static int open_source(struct sampler *sampler)
{
	const struct sampler_config *config = sampler->config;
	struct source_env env = { .procfd = config->procfd,
				  .threads = config->threads,
				  .pids = config->pids,
				  .npids = config->npids,
				  .many = !config->brief && !config->pids && are_many(),
				  .between = config->between,
				  .arg = config->arg };

	return source_open(&sampler->source, config->source, &env);
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
	err = open_source(sampler);
	if (err) {
		free(sampler);
		return err;
	}
	sampler->accounts = (struct account_reader){
		.procfd = config->procfd,
		.tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK),
	};
	sampler->system = system_open(config->procfd);
	sampler->info = taskinfo_open(config->procfd, config->threads);
	delayacct_open(&sampler->delayacct, config->procfd, config->accounted_ns);
	sampler->left_on =
		config->delayacct_file && delayacct_left_on(config->procfd, config->delayacct_file);
	learn_from_all(sampler);
	open_exits(sampler);
	/* Where it is refused, the frames say so. */
	sampler_trace(sampler, config->trace);
	sampler->self_ns = own_cpu_ns();
	*out = sampler;
	return 0;
}

/* The hierarchy that tasks are shown in; NULL before cgroups are wanted, or where there is none. */
static const struct hierarchy *shown_hierarchy(const struct sampler *sampler)
{
	return sampler->hierarchy.name ? &sampler->hierarchy : NULL;
}

/* Opens the cgroup hierarchy when groups are wanted for the first time. */
static void need_hierarchy(struct sampler *sampler, unsigned needs)
{
	const struct sampler_config *config = sampler->config;
	int err;

	if (!(needs & NEED_CGROUP) || sampler->hierarchy_tried || config->playback)
		return;
	sampler->hierarchy_tried = true;
	err = hierarchy_open(&sampler->hierarchy, config->procfd, config->hierarchy);
	if (err)
		debug_log("cgroup hierarchy: %s", strerror(-err));
	taskinfo_set_hierarchy(sampler->info, shown_hierarchy(sampler));
	if (!err)
		sampler->groups = cgroup_reader_open(config->procfd, &sampler->hierarchy);
}

/* Frees all samples and frames. */
static void free_samples(struct sampler *sampler)
{
	for (unsigned i = 0; i < SAMPLES; i++)
		sample_free(&sampler->samples[i]);
	for (unsigned i = 0; i < FRAMES; i++)
		frame_free(&sampler->frames[i]);
}

/* Begins to watch waits; trace_refused says why not. */
static void open_tracing(struct sampler *sampler)
{
	struct tracing_config config = { .procfd = sampler->config->procfd,
					 .sites = sampler->config->trace_sites };

	sampler->trace_refused = tracing_open(&sampler->tracing, &config);
}

/* Ends the watching of waits. The frame that was handed out may still show what was seen. */
static void stop_tracing(struct sampler *sampler)
{
	if (!sampler->tracing)
		return;
	if (sampler->stopped) {
		tracing_close(sampler->tracing);
	} else {
		tracing_stop(sampler->tracing);
		sampler->stopped = sampler->tracing;
	}
	sampler->tracing = NULL;
}

int sampler_trace(struct sampler *sampler, bool on)
{
	if (on == sampler->trace_wanted)
		return sampler->trace_refused;
	sampler->trace_wanted = on;
	sampler->trace_refused = 0;
	/* What is played is past. */
	if (on && sampler->config->playback)
		sampler->trace_refused = -ENODATA;
	else if (on)
		open_tracing(sampler);
	else
		stop_tracing(sampler);
	return sampler->trace_refused;
}

/* Forgets what was traced, when no frame shows it any more. */
static void close_tracing(struct sampler *sampler)
{
	stop_tracing(sampler);
	tracing_close(sampler->stopped);
	sampler->stopped = NULL;
}

int sampler_rest(struct sampler *sampler)
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
	/* The source finds tasks by the sample before: it opens anew, now as there is time. */
	source_close(&sampler->source);
	taskinfo_close(sampler->info);
	sampler->info = taskinfo_open(sampler->config->procfd, sampler->config->threads);
	taskinfo_set_hierarchy(sampler->info, shown_hierarchy(sampler));
	/* This tick and that of the next sample make two: no group's interval spans the pause. */
	if (sampler->groups)
		cgroup_reader_tick(sampler->groups);
	free_samples(sampler);
	sampler->accounts.primed = false;
	sampler->lost = false;
	sampler->ticks = 0;
	return open_source(sampler);
}

void sampler_want(struct sampler *sampler, unsigned needs)
{
	need_hierarchy(sampler, needs);
	sampler->needs = needs;
}

/* Notes why the source is not the best one. */
static void note_source(const struct sampler *sampler, struct frame_info *info)
{
	struct note refusal;

	/* Sampling works without it: noted only in the first frame and the first interval. */
	if (sampler->source.refused_many && sampler->ticks < 2)
		frame_note(info, NOTE_NO_BPF, (uint64_t)-sampler->source.refused_many);
	/* The source that was taken instead may know all that there is. */
	if (sampler->source.ops->kinds == DELAY_ALL)
		return;
	if (!sampler->source.refused)
		return;
	refusal = note_of_refusal(sampler->source.refused);
	frame_note(info, refusal.id, refusal.value);
}

/* Replaces the machine's pressure by that of the group that is looked at. */
static void take_pressure(struct sampler *sampler, struct system_sample *system,
			  struct frame_info *info)
{
	const struct cgroup_sample *now = NULL, *before;
	int err = -ENOENT;

	info->cgroup = sampler->config->cgroup;
	if (!info->cgroup)
		return;
	if (sampler->groups)
		err = cgroup_read(sampler->groups, info->cgroup, CGROUP_PRESSURE, &now, &before);
	if (err)
		frame_note(info, NOTE_GROUP_GONE, 0);
	else if (now->error[PSI_CPU] && now->error[PSI_MEMORY] && now->error[PSI_IO])
		frame_note(info, NOTE_GROUP_PSI, (uint64_t)-now->error[PSI_CPU]);
	if (!err)
		system->read_ns = now->read_ns[PSI_CPU];
	for (unsigned r = 0; r < PSI_RESOURCES; r++) {
		bool there = !err && now->have & CGROUP_BIT(r);

		system->psi[r] = there ? now->psi[r] : (struct psi){ 0 };
		system->psi_error[r] = there ? 0 : -ENOENT;
	}
}

/* Notes what is missing in the records of exiting tasks. */
static void note_exits(const struct sampler *sampler, struct frame_info *info)
{
	int err = sampler->exits ? exits_stats(sampler->exits)->error : sampler->exits_refused;

	if (err)
		frame_note(info, NOTE_EXITS_REFUSED, (uint64_t)-err);
	if (info->lost > 0)
		frame_note(info, NOTE_EXITS_LOST, (uint64_t)info->lost);
	if (info->others)
		frame_note(info, NOTE_EXITS_FOLDED, info->others);
	if (sampler->exits && !exits_stats(sampler->exits)->exact)
		frame_note(info, NOTE_EXITS_INEXACT, 0);
}

/*
 * Notes tasks that ended before their cgroup was read and so are not shown, where all is restricted
 * to one cgroup.
 */
static void note_unknown(const struct sampler *sampler, struct frame_info *info)
{
	uint64_t unknown = 0;

	for (size_t i = 0; info->cgroup && i < info->cur->left; i++) {
		const struct task_raw *raw = &info->cur->raw[info->cur->n + i];

		if (!raw->task->cgroup)
			unknown += raw->counters.members;
	}
	if (unknown && sampler->needs & NEED_CGROUP)
		frame_note(info, NOTE_GROUP_UNKNOWN, unknown);
}

/* Notes why waits are not traced, or what is missing of those that are. */
static void note_trace(const struct sampler *sampler, struct frame_info *info)
{
	struct note refusal;

	if (sampler->tracing)
		tracing_note(sampler->tracing, info);
	if (!sampler->trace_refused)
		return;
	refusal = tracing_note_of(sampler->trace_refused);
	frame_note(info, refusal.id, refusal.value);
}

/* Notes what is wrong with the recording. */
static void note_record(const struct record_status *record, struct frame_info *info)
{
	if (record && record->dropped)
		frame_note(info, NOTE_RECORD_DROPPED, record->dropped);
	if (record && record->error)
		frame_note(info, NOTE_RECORD_ENDED, (uint64_t)-record->error);
}

/* Notes all that degrades the frame. */
static void note_all(const struct sampler *sampler, struct frame_info *info, size_t older,
		     uint64_t skipped)
{
	note_source(sampler, info);
	if (sampler->delayacct.state == DELAYACCT_OFF)
		frame_note(info, NOTE_DELAYACCT_OFF, 0);
	/* This costs little and nothing is missing, so it is noted only at the start, too. */
	if (sampler->left_on && sampler->ticks < 2)
		frame_note(info, NOTE_DELAYACCT_LEFT, 0);
	/* procfs lacks the other delays, and a blkio of 0 alone proves nothing. */
	if (older)
		frame_note(info,
			   sampler->source.ops->kinds == DELAY_ALL ? NOTE_DELAYACCT_OLDER
								   : NOTE_DELAYACCT_UNSURE,
			   older);
	if (sampler->delayacct.toggled)
		frame_note(info, NOTE_DELAYACCT_TOGGLED, 0);
	note_system(info);
	if (info->stale)
		frame_note(info, NOTE_STALE_STAMP, info->stale);
	if (info->cur->unread)
		frame_note_error(info, NOTE_UNREAD, info->cur->unread, info->cur->unread_error);
	note_exits(sampler, info);
	note_trace(sampler, info);
	note_unknown(sampler, info);
	if (skipped)
		frame_note(info, NOTE_LATE, skipped);
	if (sampler->config->triggers && triggers_gone(sampler->config->triggers))
		frame_note(info, NOTE_TRIGGER_GONE, triggers_gone(sampler->config->triggers));
	note_record(sampler->config->record, info);
}

/* Fills in what does not come from the two samples. */
static void describe(struct sampler *sampler, struct frame_info *info, unsigned next)
{
	const struct source_ops *ops = sampler->source.ops;
	uint64_t self_ns = own_cpu_ns();

	info->clocks = &sampler->clocks;
	info->threads = sampler->config->threads;
	info->system = &sampler->systems[next];
	info->system_before = sampler->ticks ? &sampler->systems[sampler->now] : NULL;
	info->source = ops->name;
	info->hierarchy_version = sampler->hierarchy.name ? sampler->hierarchy.version : 0;
	info->hierarchy = sampler->hierarchy.name;
	info->taskstats_version = ops->version ? ops->version(sampler->source.state) : 0;
	info->delayacct = sampler->delayacct.state;
	info->self = info->interval_ns ? 100.0 * (double)(self_ns - sampler->self_ns) /
						 (double)info->interval_ns
				       : -1;
	sampler->self_ns = self_ns;
}

/* Leaves out records of processes that were not asked for. Returns how many remain, in front. */
static size_t keep_asked(const struct sampler_config *config, struct exit_record *records, size_t n)
{
	size_t kept = 0;

	if (!config->pids)
		return n;
	for (size_t i = 0; i < n; i++)
		/* Before version 12 a record does not say its thread group. */
		if (pidlist_has(config->pids, config->npids,
				records[i].tgid ? records[i].tgid : records[i].pid))
			records[kept++] = records[i];
	return kept;
}

/* Whether nothing of the task is left: not even a zombie. */
static bool has_gone(void *arg, pid_t pid)
{
	const struct sampler *sampler = arg;
	char path[16];

	snprintf(path, sizeof(path), "%d", (int)pid);
	return faccessat(sampler->config->procfd, path, F_OK, 0) != 0;
}

/*
 * Brings tasks that exited since the sample before into this one. Returns how many had an
 * impossible delay.
 */
static size_t take_exits(struct sampler *sampler, const struct sample *prev, struct sample *cur,
			 struct frame_info *info)
{
	size_t impossible, kept;
	const struct exits_stats *stats;
	struct exit_batch batch = { .threads = sampler->config->threads,
				    .io = sampler->needs & NEED_IO,
				    .gone = has_gone,
				    .arg = sampler };

	info->exits = info->lost = -1;
	info->others = 0;
	if (!sampler->exits)
		return 0;
	exits_drain(sampler->exits);
	batch.records = exits_records(sampler->exits, &batch.n);
	batch.n = keep_asked(sampler->config, batch.records, batch.n);
	batch.fields = exits_fields(sampler->exits);
	info->others = exit_fold_others(&batch);
	kept = exit_merge(&batch, prev, cur);
	if (kept)
		exits_keep(sampler->exits, kept);
	else
		exits_clear(sampler->exits);
	sampler->fold_at = 0;
	exits_want_fields(sampler->exits, sampler->needs & (NEED_RECORD | NEED_RANGE | NEED_IO));
	stats = exits_stats(sampler->exits);
	if (prev) {
		info->exits = (int64_t)(stats->received - sampler->exits_before.received);
		info->lost = (int64_t)(stats->lost - sampler->exits_before.lost);
	}
	sampler->lost = info->lost > 0;
	impossible = prev ? (size_t)(stats->impossible - sampler->exits_before.impossible) : 0;
	sampler->exits_before = *stats;
	return impossible;
}

/* Finds what was recovered, where all processes are read and that is wanted. */
static void take_account(struct sampler *sampler, const struct sample *prev,
			 const struct sample *cur, struct frame_info *info)
{
	const struct sampler_config *config = sampler->config;
	enum account_seen seen = !sampler->exits ? ACCOUNT_SEEN_SOME
				 : sampler->lost ? ACCOUNT_SEEN_LOST
						 : ACCOUNT_SEEN_ALL;

	info->account = (struct account){ 0 };
	if (!(sampler->needs & NEED_ACCOUNT) || config->pids || config->threads)
		sampler->accounts.primed = false;
	else
		account_reap(&sampler->accounts, prev, cur, seen, &info->account);
}

/* Sets the rows' run time in the account, and adds the system's figures. */
static void add_account(const struct sampler *sampler, struct frame_info *info)
{
	info->account.run_ns = info->run_ns;
	if (!sampler->config->pids && !info->since_start)
		account_system(&info->account, info->system_before, info->system, info->interval_ns,
			       sampler->delayacct.irq_seen);
}

/* Whether what a source takes over from the sample before may not be true any more. */
static bool is_unsettled(struct sampler *sampler)
{
	bool irq_new = sampler->delayacct.irq_seen != sampler->irq_seen;

	sampler->irq_seen = sampler->delayacct.irq_seen;
	return sampler->lost || irq_new || sampler->delayacct.toggled;
}

/* Brings what was traced into the frame; the frame before is not shown any more. */
static void take_trace(struct sampler *sampler, struct frame *frame, struct frame_info *info)
{
	tracing_close(sampler->stopped);
	sampler->stopped = NULL;
	info->threads = sampler->config->threads;
	if (sampler->tracing)
		info->trace = tracing_frame(sampler->tracing, frame);
}

/* Takes over what was recorded of a frame besides its samples. */
static void take_recorded(struct sampler *sampler, const struct playback_moment *moment,
			  struct frame_info *info, unsigned next)
{
	info->clocks = moment->clocks;
	info->threads = sampler->config->playback->threads;
	info->system = &sampler->systems[next];
	info->system_before = info->prev ? &sampler->systems[sampler->now] : NULL;
	info->cgroup = moment->cgroup;
	info->source = moment->source;
	info->hierarchy_version = moment->hierarchy_version;
	info->hierarchy = moment->hierarchy;
	info->taskstats_version = moment->taskstats_version;
	info->delayacct = moment->delayacct;
	info->exits = moment->exits;
	info->lost = moment->lost;
	info->others = moment->others;
	info->self = moment->self;
	info->account = moment->account;
	for (size_t i = 0; i < moment->nnotes; i++)
		frame_note_error(info, moment->notes[i].id, moment->notes[i].value,
				 moment->notes[i].error);
}

/* Makes the next frame from a recording, as sampler_tick() does from the machine. */
static int play(struct sampler *sampler, const struct frame **out)
{
	const struct playback *playback = sampler->config->playback;
	unsigned next = (sampler->now + 1) % SAMPLES;
	struct sample *cur = &sampler->samples[next];
	struct sample *prev = sampler->ticks ? &sampler->samples[sampler->now] : NULL;
	struct frame *frame = &sampler->frames[sampler->ticks % FRAMES];
	struct frame_info *info = &sampler->infos[sampler->ticks % FRAMES];
	struct playback_moment moment = { 0 };
	struct frame_options options = { .since_start = sampler->config->since_start };
	int err = playback->next(playback->state, prev, cur, &moment);

	if (err)
		return err;
	sampler->systems[next] = moment.system;
	options.unknown = moment.unknown;
	frame_build(frame, info, moment.baseline ? NULL : prev, cur, &options);
	frame->group_by = group_table[playback->threads ? GROUP_THREAD : GROUP_PROCESS].id;
	playback_trace(&moment, frame, info);
	take_recorded(sampler, &moment, info, next);
	sampler->now = next;
	sampler->ticks++;
	*out = frame;
	return 0;
}

int sampler_tick(struct sampler *sampler, uint64_t skipped, const struct frame **out)
{
	unsigned next = (sampler->now + 1) % SAMPLES;
	struct sample *cur = &sampler->samples[next];
	struct sample *prev = sampler->ticks ? &sampler->samples[sampler->now] : NULL;
	struct frame *frame = &sampler->frames[sampler->ticks % FRAMES];
	struct frame_info *info = &sampler->infos[sampler->ticks % FRAMES];
	size_t impossible;
	struct frame_options options = { .since_start = sampler->config->since_start };
	struct sample none = { 0 };
	struct clock_times now;
	size_t older;
	int err;

	if (sampler->config->playback)
		return play(sampler, out);
	if (sampler->resting)
		open_exits(sampler);
	if (sampler->resting && sampler->trace_wanted)
		open_tracing(sampler);
	sampler->resting = false;
	delayacct_read(&sampler->delayacct);
	/* Tasks in records after this drain may have begun after the list: see
	 * exit_merge.c. */
	if (sampler->exits)
		exits_drain(sampler->exits);
	now = clocks_now();
	clocks_read(&sampler->clocks, &now);
	cur->begin_ns = clock_ns(CLOCK_MONOTONIC);
	cur->real_ns = clock_ns(CLOCK_REALTIME);
	system_read(sampler->system, &sampler->systems[next]);
	cur->forks = sampler->systems[next].forks;
	err = sampler->source.ops->sample(sampler->source.state, prev ? prev : &none, cur,
					  sampler->needs |
						  (is_unsettled(sampler) ? NEED_IDENTITY : 0));
	cur->end_ns = clock_ns(CLOCK_MONOTONIC);
	if (err) {
		sample_reset(cur);
		return err;
	}
	if (sampler->tracing)
		tracing_read(sampler->tracing);
	impossible = take_exits(sampler, prev, cur, info);
	take_account(sampler, prev, cur, info);
	older = delayacct_mask(&sampler->delayacct, cur);
	/* The first interval after a switch may book one delay from a stale start stamp. */
	if (sampler->delayacct.toggled)
		options.unknown = DELAYACCT_KINDS;
	taskinfo_update(sampler->info, cur, sampler->needs, sampler->config->between,
			sampler->config->arg);
	frame_build(frame, info, prev, cur, &options);
	info->stale += impossible;
	take_trace(sampler, frame, info);
	frame->group_by = group_table[sampler->config->threads ? GROUP_THREAD : GROUP_PROCESS].id;
	if (sampler->groups)
		cgroup_reader_tick(sampler->groups);
	if (sampler->waiting)
		waiting_renew(sampler->waiting);
	take_pressure(sampler, &sampler->systems[next], info);
	describe(sampler, info, next);
	add_account(sampler, info);
	note_all(sampler, info, older, skipped);
	sampler->now = next;
	sampler->ticks++;
	debug_log("tick %llu: %zu rows, %llu system calls, %llu us",
		  (unsigned long long)sampler->ticks, frame->n,
		  (unsigned long long)sampler_syscalls(sampler),
		  (unsigned long long)((cur->end_ns - cur->begin_ns) / NSEC_PER_USEC));
	*out = frame;
	return 0;
}

void sampler_drain(struct sampler *sampler)
{
	struct exit_batch batch = { .threads = sampler->config->threads,
				    .gone = has_gone,
				    .arg = sampler };

	if (!sampler->exits)
		return;
	exits_drain(sampler->exits);
	batch.records = exits_records(sampler->exits, &batch.n);
	batch.fields = exits_fields(sampler->exits);
	/* In a long interval the number of tasks has no bound. */
	if (batch.n <= (sampler->fold_at ? sampler->fold_at : RECORDS_MAX) || !sampler->ticks)
		return;
	batch.n = exit_fold_kept(&batch, &sampler->samples[sampler->now], NAMES_MAX);
	exits_keep(sampler->exits, batch.n);
	/* The next folding waits until there are twice as many, whatever cannot be folded.
	 */
	sampler->fold_at = batch.n > NAMES_MAX ? 2 * batch.n : RECORDS_MAX;
}

uint64_t sampler_drain_due_ns(const struct sampler *sampler)
{
	return sampler->exits ? exits_due_ns(sampler->exits) : UINT64_MAX;
}

/* Reads a group's files. A group that has gone meanwhile has none. */
static void fill_group(struct sampler *sampler, const struct group *group, unsigned needs)
{
	struct group_figures *figures = group->figures;
	unsigned what = (needs & NEED_GROUP_PARTS) >> NEED_GROUP_SHIFT;

	const struct playback *playback = sampler->config->playback;

	if (what && playback && group->name)
		playback->group(playback->state, group->name, &figures->now, &figures->before);
	if (!what || !sampler->groups || !group->name)
		return;
	cgroup_read(sampler->groups, group->name, what, &figures->now, &figures->before);
}

/* Has what waits are on read, from when that is wanted for the first time. */
static struct waiting_reader *need_waiting(struct sampler *sampler, unsigned needs)
{
	if (needs & NEED_SHOWN && !sampler->waiting)
		sampler->waiting = waiting_open(sampler->config->procfd);
	return sampler->waiting;
}

/* Reads what some rows' tasks wait on. */
static void fill_waiting(struct sampler *sampler, const struct row *const *rows, size_t n,
			 unsigned needs)
{
	struct frame_info *info = &sampler->infos[(sampler->ticks - 1) % FRAMES];

	/* What is played is past: who has its pids now is no part of it. */
	if (!(needs & NEED_SHOWN) || sampler->config->playback)
		return;
	waiting_fill(need_waiting(sampler, needs), &sampler->samples[sampler->now], rows, n,
		     sampler->config->threads, needs);
	if (needs & NEED_WAITING && waiting_refused(sampler->waiting))
		frame_note(info, NOTE_WAITING_HIDDEN, 0);
}

void sampler_fill(struct sampler *sampler, const struct row *const *rows, size_t n, unsigned needs)
{
	struct sample *cur = &sampler->samples[sampler->now];

	need_hierarchy(sampler, needs);
	for (size_t i = 0; i < n; i++) {
		if (rows[i]->task && !sampler->config->playback)
			taskinfo_fill(sampler->info, cur, (size_t)(rows[i]->raw - cur->raw), needs);
		else if (rows[i]->group)
			fill_group(sampler, rows[i]->group, needs);
	}
	fill_waiting(sampler, rows, n, needs);
}

/* What reading threads takes from the sampler; their cgroups are in its hierarchy. */
static struct threads_env threads_env(struct sampler *sampler, unsigned needs)
{
	const struct frame_info *last =
		sampler->ticks ? &sampler->infos[(sampler->ticks - 1) % FRAMES] : NULL;

	need_hierarchy(sampler, needs);
	return (struct threads_env){ .procfd = sampler->config->procfd,
				     .tracing = last ? sampler->tracing : NULL,
				     .trace = last ? last->trace : NULL,
				     .source = sampler->source.ops,
				     .delayacct = &sampler->delayacct,
				     .waiting = need_waiting(sampler, needs),
				     .hierarchy = shown_hierarchy(sampler) };
}

int sampler_read_threads(struct sampler *sampler, struct threads *threads, unsigned needs)
{
	struct threads_env env;

	/* Threads that were not recorded are not known. */
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
}

uint64_t sampler_syscalls(const struct sampler *sampler)
{
	if (sampler->config->playback)
		return 0;
	return sampler->source.ops->syscalls(sampler->source.state) +
	       system_syscalls(sampler->system) + taskinfo_syscalls(sampler->info) +
	       sampler->accounts.syscalls +
	       (sampler->waiting ? waiting_syscalls(sampler->waiting) : 0) +
	       (sampler->groups ? cgroup_reader_syscalls(sampler->groups) : 0) +
	       (sampler->exits ? exits_stats(sampler->exits)->syscalls : 0) +
	       (sampler->tracing ? tracing_syscalls(sampler->tracing) : 0) +
	       sampler->ticks; /* and one a tick for delayacct */
}

int sampler_switch_delayacct(const struct sampler *sampler, bool on)
{
	return sampler->config->playback ? -ENODATA : delayacct_set(sampler->config->procfd, on);
}

void sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	if (sampler->config->playback) {
		free_samples(sampler);
		free(sampler);
		return;
	}
	exits_close(sampler->exits);
	close_tracing(sampler);
	source_close(&sampler->source);
	system_close(sampler->system);
	taskinfo_close(sampler->info);
	waiting_close(sampler->waiting);
	cgroup_reader_close(sampler->groups);
	hierarchy_close(&sampler->hierarchy);
	delayacct_close(&sampler->delayacct);
	clocks_free(&sampler->clocks);
	free_samples(sampler);
	free(sampler);
}
