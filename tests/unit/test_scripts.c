// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scripts of made-up machines, and what is said of them: tests/scripts/NAME.txt. A line says what
 * is so, `show` has something printed, and the lines that begin with '|' are what that must be.
 * With GENERATE in the environment these are written. doc/testing.md has the words.
 */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "frame/group.h"
#include "frame/notes.h"
#include "out/out.h"
#include "tests/lib/scene.h"
#include "tests/lib/sites.h"
#include "view/chain.h"

#define TASKS 4
#define ELEMENTS 64
#define SITES 48
#define LINKS 160

/* A machine between two samples of 2 s: tasks alpha 1 to delta 4 do nothing. */
struct machine {
	struct scene scene;
	char names[ELEMENTS][16]; /* as the script has them */
	size_t n, nexited, exited;
	struct traced traced[ELEMENTS];
	struct site sites[SITES];
	size_t nsites;
	struct site_link links[LINKS];
	size_t nlinks;
	struct trace_frame trace;
	struct grouping grouping;
	bool grouped, since_start, first;
	char group[32];
	struct cgroup_sample figures[3]; /* before, now; now of the group above */
	struct group_above above;
	struct note notes[4];
	size_t nnotes;
	uid_t uid;
	struct query query;
	struct view_config config;
	struct findings findings;
	uint64_t later_ns; /* of the sample, after the first ones */
	char *texts[512]; /* of the script, for as long as the machine */
	size_t ntexts;
};

/* The line that is carried out. */
static struct place {
	const char *script;
	unsigned line;
} here;

#define wrong(...) \
	do { \
		print_error("%s:%u: ", here.script, here.line); \
		print_error(__VA_ARGS__); \
		print_error("\n"); \
		fail(); \
	} while (0)

/* A copy of a text that lives as long as the machine. */
static char *keep(struct machine *m, const char *text)
{
	assert_true(m->ntexts < ARRAY_SIZE(m->texts));
	return m->texts[m->ntexts++] = xstrdup(text);
}

static void open_machine(struct machine *m)
{
	static const char *const names[TASKS] = { "alpha", "beta", "gamma", "delta" };
	struct system_sample *systems = m->scene.systems;

	memset(m, 0, sizeof(*m));
	scene_open(&m->scene);
	for (pid_t i = 0; i < TASKS; i++) {
		struct task_raw *before = scene_add(&m->scene.samples[0], i + 1, i + 1, SEC(10));

		before->now.state = 'S';
		task_set_comm(before->task, names[i], strlen(names[i]));
		scene_again(&m->scene.samples[1], before);
		strcpy(m->names[m->n++], names[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		systems[i].cpu_valid = systems[i].memory_valid = true;
		systems[i].cpu_ns[CPU_USER] = SEC(4) * i;
		systems[i].memory_total = 1000;
		systems[i].memory_used = 130;
		systems[i].pressure.read_ns = SEC(100) + SEC(2) * i;
	}
	m->query.over_ms = -1;
	m->scene.info.head.delayacct = DELAYACCT_ON;
}

static void close_machine(struct machine *m)
{
	findings_free(&m->findings);
	grouping_free(&m->grouping);
	scene_close(&m->scene);
	while (m->ntexts)
		free(m->texts[--m->ntexts]);
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* A word of a line, KEY=VALUE or KEY; a value with blanks is in double quotes. */
struct word {
	char *key, *value;
};

/* Splits a line in its place. Returns how many. */
static size_t split(char *line, struct word *words, size_t most)
{
	size_t n = 0;

	while (*(line += strspn(line, " "))) {
		bool quoted = false;
		char *to = line;

		assert_true(n < most);
		words[n] = (struct word){ line, NULL };
		for (; *line && (quoted || *line != ' '); line++)
			if (*line == '"') {
				quoted = !quoted;
			} else if (*line == '=' && !words[n].value && !quoted) {
				*to++ = '\0';
				words[n].value = to;
			} else {
				*to++ = *line;
			}
		line += *line == ' ';
		*to = '\0';
		n++;
	}
	return n;
}

/* A number; K, M and G are powers of 1024. */
static double number(const char *text)
{
	char *end;
	double value = strtod(text ? text : "x", &end);

	for (const char *unit = "KMG"; *end && *unit; unit++) {
		value *= 1024;
		if (*end == *unit)
			return value;
	}
	if (*end)
		wrong("no number: %s", text ? text : "");
	return value;
}

static uint64_t ms(const char *text)
{
	return (uint64_t)(number(text) * 1e6);
}

/* The index of a word in a list of ids; `n` where it is not there. */
#define FIND(text, n, id) \
	({ \
		unsigned i = 0; \
		while (i < (n) && strcmp(id, text) != 0) \
			i++; \
		i; \
	})

/* The same of a word that must be there. */
#define INDEX_OF(text, n, id) \
	({ \
		unsigned at = FIND(text, n, id); \
		if (at == (n)) \
			wrong("unknown word: %s", text); \
		at; \
	})

static enum wait_state state_of(const char *text)
{
	return strcmp(text, "unknown") ? INDEX_OF(text, WAIT_STATES, wait_state_table[i].id)
				       : WAIT_STATES;
}

/* The place of a task's element; `n` for none. */
static size_t find_task(const struct machine *m, const char *name)
{
	return FIND(name, (unsigned)m->n, m->names[i]);
}

static pid_t tgid_of(const struct machine *m, size_t task)
{
	return m->scene.samples[1].raw[task]->tgid;
}

/* ---- What is so ------------------------------------------------------------------------------ */

static struct task_extra *extra_of(struct machine *m, size_t task)
{
	return sample_add_extra(&m->scene.samples[1], task);
}

static struct task_evidence *evidence_of(struct machine *m, size_t task)
{
	struct task_extra *extra = extra_of(m, task);

	if (!extra->evidence) {
		extra->evidence = xcalloc(1, sizeof(*extra->evidence));
		extra->evidence->throttled = -1;
		extra->evidence->writes = extra->evidence->reads = -1;
	}
	return extra->evidence;
}

static struct task_waiting *waiting_of(struct machine *m, size_t task)
{
	struct task_extra *extra = extra_of(m, task);

	if (!extra->waiting)
		extra->waiting = xcalloc(1, sizeof(*extra->waiting));
	extra->waiting->tid = m->scene.samples[1].raw[task]->pid;
	return extra->waiting;
}

static void set_text(struct buf *buf, const char *text)
{
	buf->len = 0;
	buf_puts(buf, text);
	buf_cstr(buf);
}

/* NAME or NAME:VERSION of a group that limits. */
static void set_group(struct limiting_group *group, const char *text)
{
	const char *colon = strchr(text, ':');

	free(group->name);
	group->name = colon ? strndup(text, (size_t)(colon - text)) : xstrdup(text);
	group->version = colon ? (unsigned)number(colon + 1) : 0;
}

/* Waits of a kind: MS, or MS/COUNT, added. */
static void add_delay(struct delay_sum *delay, const char *text)
{
	char *slash = strchr(text, '/');
	uint64_t count;

	if (slash)
		*slash = '\0';
	count = slash ? (uint64_t)number(slash + 1) : 3 + ms(text) / MS(10);
	delay->ns += ms(text);
	delay->count += count;
}

/* The thread of a task that has been in a wait that is seen for so long. */
static void add_seen(struct machine *m, struct task_raw *raw, enum wait_seen seen, uint64_t ns)
{
	const struct sample *samples = m->scene.samples;

	waits_add(&raw->now.waits, seen, samples[1].end_ns - ns, samples[1].begin_ns,
		  samples[0].begin_ns);
	if (seen != SEEN_CPU)
		raw->now.state = 'D';
}

/* What a task did, and what it is. False: another word. */
static bool set_task(struct machine *m, size_t task, const char *key, char *value)
{
	struct sample *samples = m->scene.samples;
	struct task_raw *raw = samples[1].raw[task];
	unsigned kind = FIND(key, DELAY_KINDS, delay_table[i].id);

#define IS(word) (!strcmp(key, word))
	if (kind < DELAY_KINDS) {
		add_delay(&raw->counters.delay[kind], value);
	} else if (IS("counts")) {
		raw->counters.delay[DELAY_CPU].count = (uint64_t)number(value);
	} else if (IS("run")) {
		raw->counters.run_ns += ms(value);
	} else if (IS("rest")) {
		memset(raw->counters.delay, 0, sizeof(raw->counters.delay));
		raw->counters.run_ns = 0;
	} else if (IS("single")) {
		raw->single = samples[0].raw[task]->single = true;
	} else if (IS("threads")) {
		raw->now.threads = samples[0].raw[task]->now.threads = (uint32_t)number(value);
	} else if (IS("state")) {
		raw->now.state = *value;
	} else if (IS("uid")) {
		raw->task->uid = (uid_t)number(value);
	} else if (IS("ppid")) {
		raw->task->ppid = (pid_t)number(value);
	} else if (IS("comm")) {
		task_set_comm(raw->task, value, strlen(value));
	} else if (IS("members")) {
		raw->counters.members = (uint32_t)number(value);
	} else if (IS("cgroup")) {
		task_set_cgroup(raw->task, shared_text(value));
		raw->task->info |= NEED_CGROUP;
	} else if (IS("dwait")) {
		add_seen(m, raw, SEEN_DWAIT, ms(value));
	} else if (IS("iowait")) {
		add_seen(m, raw, SEEN_BLKIO, ms(value));
	} else if (IS("queued")) {
		add_seen(m, raw, SEEN_CPU, ms(value));
	} else if (IS("exact")) {
		raw->now.exact = true;
	} else if (IS("written")) {
		samples[1].procs[task].io_valid = strcmp(value, "unknown") != 0;
		if (samples[1].procs[task].io_valid)
			samples[1].procs[task].io.written = (uint64_t)number(value);
	} else {
		return false;
	}
	return true;
}

/* What was read about a task. False: another word. */
static bool set_evidence(struct machine *m, size_t task, const char *key, const char *value)
{
	static const char *const budgets[] = { "quota", "deadline", "realtime", "yield" };
	static const char *const sharings[] = { "unknown", "nice", "session", "group" };
	static const struct {
		const char *key;
		size_t at;
	} groups[] = { { "cpu-group", offsetof(struct task_evidence, cpu_group) },
		       { "memory-group", offsetof(struct task_evidence, memory_group) },
		       { "io-group", offsetof(struct task_evidence, io_group) },
		       { "weighed-group", offsetof(struct task_evidence, weighed_group) } };
	unsigned group = FIND(key, ARRAY_SIZE(groups), groups[i].key);
	struct task_evidence *evidence = evidence_of(m, task);

	if (group < ARRAY_SIZE(groups))
		set_group((struct limiting_group *)((char *)evidence + groups[group].at), value);
	else if (IS("throttled"))
		evidence->throttled = number(value);
	else if (IS("quota"))
		evidence->quota = number(value);
	else if (IS("budget"))
		evidence->budget = INDEX_OF(value, CPU_BUDGETS, budgets[i]);
	else if (IS("rival"))
		evidence->rival = (pid_t)number(value);
	else if (IS("sharing"))
		evidence->sharing = INDEX_OF(value, CPU_SHARINGS, sharings[i]);
	else if (IS("pinned"))
		evidence->pinned = true;
	else if (IS("memory-limit"))
		evidence->memory_limit = (uint64_t)number(value);
	else if (IS("memory-used"))
		evidence->memory_used = (uint64_t)number(value);
	else if (IS("writes"))
		evidence->writes = number(value) / 1024;
	else if (IS("reads"))
		evidence->reads = number(value) / 1024;
	else
		return false;
	if (evidence->io_group.name && !evidence->io_limits)
		evidence->io_limits = xstrdup("8:0 wbps=1048576");
	return true;
}

/* What a task waits for right now, and how it is held. False: another word. */
static bool set_waiting(struct machine *m, size_t task, const char *key, const char *value)
{
	struct sample *cur = &m->scene.samples[1];

	if (IS("in")) {
		waiting_of(m, task)->state = state_of(value);
	} else if (IS("class")) {
		waiting_of(m, task)->class = INDEX_OF(value, WAIT_CLASSES, wait_class_ids[i]);
	} else if (IS("syscall")) {
		waiting_of(m, task)->syscall = keep(m, value);
	} else if (IS("on")) {
		set_text(&waiting_of(m, task)->on, value);
	} else if (IS("where")) {
		set_text(&waiting_of(m, task)->where, value);
	} else if (IS("unread")) {
		waiting_of(m, task)->tid = 0;
	} else if (IS("hang")) {
		extra_of(m, task)->hang.tid = cur->raw[task]->pid;
		extra_of(m, task)->hang.since_ns = cur->end_ns - ms(value);
	} else if (IS("hang-thread")) {
		extra_of(m, task)->hang.tid = (pid_t)number(value);
	} else if (IS("hang-on")) {
		extra_of(m, task)->hang.on = (pid_t)number(value);
	} else if (IS("locked")) {
		extra_of(m, task)->hang.locked = (uint32_t)number(value);
	} else if (IS("frozen")) {
		if (!extra_of(m, task)->held)
			extra_of(m, task)->held = xcalloc(1, sizeof(struct task_stop));
		extra_of(m, task)->held->frozen = number(value) != 0;
	} else {
		return false;
	}
	return true;
}

/* A task that started in the interval; one, or a record of several, that ended in it. */
static void add_task(struct machine *m, const char *name, bool ended)
{
	struct sample *cur = &m->scene.samples[1];
	pid_t pid = (pid_t)m->n + 5;
	struct task_raw *raw;

	assert_true(m->n < ELEMENTS);
	snprintf(m->names[m->n], sizeof(m->names[0]), "%s", name);
	if (!ended) {
		raw = scene_add(cur, pid, pid, SEC(101));
	} else {
		raw = cur->raw[m->n];
		raw->task = task_new((struct task_key){ .pid = pid, .start_ns = SEC(101) }, pid);
		raw->tgid = raw->pid = pid;
		raw->was = -1;
		raw->exited = true;
		raw->read_ns = SEC(102);
		raw->counters.valid = cur->raw[0]->counters.valid;
		raw->counters.members = 1;
		m->exited++;
	}
	task_set_comm(raw->task, name, strlen(name));
	m->n++;
}

/* exited N: makes room for so many that ended, before the first. */
static void reserve_exited(struct machine *m, size_t n)
{
	sample_add_exited(&m->scene.samples[1], n);
	m->nexited = n;
}

/* Those not named by the script are others, each of a name of its own, that hardly ran. */
static void fill_exited(struct machine *m)
{
	while (m->exited < m->nexited) {
		char name[16];

		snprintf(name, sizeof(name), "other%u", (unsigned)m->exited % 1000);
		add_task(m, name, true);
		m->scene.samples[1].raw[m->n - 1]->counters.run_ns = MS(5);
		m->scene.samples[1].raw[m->n - 1]->counters.members = 50;
		m->scene.samples[1].raw[m->n - 1]->task->ppid = 4711;
	}
}

/* NAME:MS[:COUNT] of a waker; a name that no task has is an interrupt's. */
static void add_waker(struct machine *m, struct site *site, char *text)
{
	char *time = strchr(text, ':'), *count = time ? strchr(time + 1, ':') : NULL;
	unsigned at = 0;
	size_t task;

	if (!time)
		wrong("a waker is NAME:MS: %s", text);
	*time++ = '\0';
	if (count)
		*count++ = '\0';
	while (site->wakers[at].name && strcmp(site->wakers[at].name, text) != 0)
		at++;
	assert_true(at < SITE_WAKERS);
	task = find_task(m, text);
	site->wakers[at] =
		(struct site_waker){ .tgid = task < m->n ? tgid_of(m, task) : 0,
				     .name = keep(m, text),
				     .ns = ms(time),
				     .count = count ? (uint64_t)number(count) : site->count };
}

/* What a site is. False: another word. */
static bool set_site(struct machine *m, struct site *site, const char *key, char *value)
{
	if (IS("ms"))
		site->ns = ms(value);
	else if (IS("count"))
		site->count = (uint64_t)number(value);
	else if (IS("state"))
		site->state = state_of(value);
	else if (IS("class"))
		site->class = INDEX_OF(value, WAIT_CLASSES, wait_class_ids[i]);
	else if (IS("syscall"))
		site->syscall = keep(m, value);
	else if (IS("on"))
		site->on = *value ? keep(m, value) : NULL;
	else if (IS("where"))
		site->where = keep(m, value);
	else if (IS("waiting"))
		site->waiting = (uint32_t)number(value);
	else if (IS("lasts"))
		site->waiting_ns = ms(value);
	else if (IS("waker"))
		add_waker(m, site, value);
	else if (IS("no-wakers"))
		memset(site->wakers, 0, sizeof(site->wakers));
	else
		return false;
	return true;
}

/* site TASK STATE MS ...: a new one; site N ...: that one. */
static void do_site(struct machine *m, struct word *words, size_t n)
{
	size_t task = find_task(m, words[1].key), first = 2;
	struct site *site;

	if (task < m->n) {
		const struct task_raw *raw = m->scene.samples[1].raw[task];

		assert_true(m->nsites < SITES && n >= 4);
		site = &m->sites[m->nsites++];
		*site = (struct site){ .id = m->nsites,
				       .tgid = raw->tgid,
				       .start_ns = raw->task->key.start_ns,
				       .comm = raw->task->comm,
				       .state = state_of(words[2].key),
				       .kind = -1,
				       .ns = ms(words[3].key),
				       .count = 10 };
		m->traced[task].states.ns[site->state] += site->ns;
		first = 4;
	} else {
		size_t id = (size_t)number(words[1].key);

		assert_true(id > 0 && id <= m->nsites);
		site = &m->sites[id - 1];
	}
	for (size_t i = first; i < n; i++)
		if (!set_site(m, site, words[i].key, words[i].value))
			wrong("a site has no %s", words[i].key);
}

/* link SITE WAKER TO STATE MS [holds]: what the waker did meanwhile, in site TO or none (0). */
static void do_link(struct machine *m, struct word *words, size_t n)
{
	size_t task = find_task(m, words[2].key);

	assert_true(n >= 6 && m->nlinks < LINKS);
	m->links[m->nlinks++] =
		(struct site_link){ (uint64_t)number(words[1].key),
				    task < m->n ? tgid_of(m, task) : (pid_t)number(words[2].key),
				    (uint64_t)number(words[3].key),
				    state_of(words[4].key),
				    ms(words[5].key),
				    n > 6 };
}

/* What the machine is. */
static void set_machine(struct machine *m, const char *key, const char *value)
{
	struct system_sample *systems = m->scene.systems;
	struct frame_info *info = &m->scene.info;

	if (IS("idle")) {
		systems[1].cpu_ns[CPU_USER] = (uint64_t)(40e6 * (100 - number(value)));
		systems[1].cpu_ns[CPU_IDLE] = (uint64_t)(40e6 * number(value));
	} else if (IS("since-start")) {
		m->since_start = true;
	} else if (IS("first")) {
		m->first = true;
	} else if (IS("cpus")) {
		systems[1].cpus = (unsigned)number(value);
	} else if (IS("memory")) {
		systems[1].memory_valid = strcmp(value, "unknown") != 0;
	} else if (IS("selected")) {
		info->selected_only = number(value) != 0;
	} else if (IS("io")) {
		for (unsigned i = 0; i < 2; i++) {
			sample_extend(&m->scene.samples[i], NEED_IO);
			for (size_t task = 0; task < m->scene.samples[i].n; task++)
				m->scene.samples[i].procs[task].io_valid = true;
		}
	} else if (IS("hangs-read")) {
		m->scene.samples[1].hangs_read = true;
	} else if (IS("interval")) {
		m->scene.samples[1].begin_ns = m->scene.samples[0].begin_ns + ms(value);
		for (size_t i = 0; i < m->n; i++)
			m->scene.samples[1].raw[i]->read_ns = m->scene.samples[1].begin_ns;
	} else if (IS("delayacct")) {
		info->head.delayacct = !strcmp(value, "off")  ? DELAYACCT_OFF
				       : !strcmp(value, "on") ? DELAYACCT_ON
							      : DELAYACCT_UNKNOWN;
	} else if (IS("io-pressure") || IS("cpu-pressure")) {
		unsigned of = IS("io-pressure") ? PSI_IO : PSI_CPU;

		for (unsigned i = 0; i < 2; i++) {
			systems[i].pressure.psi[of].some.valid = true;
			systems[i].pressure.psi[of].some.total_us = 5000 + i * ms(value) / 1000;
		}
	} else if (IS("note")) {
		m->notes[m->nnotes++].id = INDEX_OF(value, NOTE_IDS, note_table[i].id);
	} else {
		wrong("a machine has no %s", key);
	}
}

/* group NAME throttled=MS max=N above=NAME: rows are groups, and that one has these figures. */
static void do_group(struct machine *m, struct word *words, size_t n)
{
	static const struct cgroup_sample group = { .have = CGROUP_BIT(CGROUP_THROTTLE) |
							    CGROUP_BIT(CGROUP_EVENTS),
						    .read_ns = { [CGROUP_THROTTLE] = SEC(1) },
						    .event_valid = 1u << CGROUP_EVENT_MAX };

	m->grouped = true;
	snprintf(m->group, sizeof(m->group), "%s", words[1].key);
	for (unsigned i = 0; i < 3; i++) {
		m->figures[i] = group;
		m->figures[i].read_ns[CGROUP_THROTTLE] = i ? SEC(3) : SEC(1);
	}
	m->above.path = NULL;
	for (size_t i = 2; i < n; i++) {
		const char *key = words[i].key;

		if (IS("throttled"))
			m->figures[1].throttled_ns = ms(words[i].value);
		else if (IS("max"))
			m->figures[1].events[CGROUP_EVENT_MAX] = (uint64_t)number(words[i].value);
		else if (IS("above"))
			m->above.path = keep(m, words[i].value);
		else
			wrong("a group has no %s", key);
	}
	if (m->above.path) {
		m->figures[2].throttled_ns = m->figures[1].throttled_ns;
		m->figures[1].throttled_ns = 0;
		m->above.figures = (struct group_figures){ &m->figures[2], &m->figures[0], NULL };
	}
}

/* filter uid=N over=MS, or nothing. */
static void do_filter(struct machine *m, struct word *words, size_t n)
{
	m->query = (struct query){ .over_ms = -1 };
	for (size_t i = 1; i < n; i++) {
		const char *key = words[i].key;

		if (IS("uid")) {
			m->uid = (uid_t)number(words[i].value);
			m->query.users = &m->uid;
			m->query.nusers = 1;
		} else if (IS("over")) {
			m->query.over_ms = number(words[i].value);
		} else {
			wrong("no filter %s", key);
		}
	}
}

/* ---- What is said ---------------------------------------------------------------------------- */

static int compare_links(const void *a, const void *b)
{
	return site_link_compare(a, b);
}

/* Makes the frame, with what is traced. */
static void build(struct machine *m)
{
	struct frame *frame = &m->scene.frame;
	struct frame_info *info = &m->scene.info;
	enum delayacct_state delayacct = info->head.delayacct;

	fill_exited(m);
	scene_build(&m->scene, 1, m->since_start, 0);
	info->head.delayacct = delayacct;
	info->head.nnotes = m->nnotes;
	memcpy(info->head.notes, m->notes, m->nnotes * sizeof(*m->notes));
	info->interval_ns = m->scene.samples[1].begin_ns - m->scene.samples[0].begin_ns;
	info->prev = m->first ? NULL : &m->scene.samples[0];
	qsort(m->links, m->nlinks, sizeof(*m->links), compare_links);
	m->trace = (struct trace_frame){ .sites = SITES_OF(m->sites, m->nsites),
					 .n = m->nsites,
					 .links = m->links,
					 .nlinks = m->nlinks,
					 .interval_ns = info->interval_ns };
	info->trace = m->nsites ? &m->trace : NULL;
	for (size_t i = 0; m->nsites && i < frame->n && i < m->n; i++) {
		m->traced[i].tgid = m->scene.samples[1].raw[i]->tgid;
		m->traced[i].start_ns = m->scene.samples[1].raw[i]->task->key.start_ns;
		frame->rows[i].traced = &m->traced[i];
	}
}

/* The rows that are shown: tasks, or the groups that they are folded into. */
static const struct frame *fold(struct machine *m)
{
	const struct grouping_options options = { .by = GROUP_CGROUP, .readable = true };
	const struct frame *frame;

	if (!m->grouped)
		return &m->scene.frame;
	frame = group_fold(&m->grouping, &m->scene.frame, &options);
	for (size_t i = 0; i < frame->n; i++)
		if (frame->rows[i].group->name && !strcmp(frame->rows[i].group->name, m->group))
			*frame->rows[i].group->figures =
				(struct group_figures){ &m->figures[1], &m->figures[0],
							m->above.path ? &m->above : NULL };
	return frame;
}

/* Finds what there is in the sample of that time. */
static void take(struct machine *m)
{
	struct view view = { .unit = UNIT_PERCENT, .charset = TEXT_UTF8, .frame = fold(m) };
	uint64_t *begin_ns = &m->scene.samples[1].begin_ns;

	*begin_ns += m->later_ns;
	findings_take(&m->findings, &view, &m->scene.frame, &m->query);
	*begin_ns -= m->later_ns;
}

/* Finds, and appends all findings: what is known of each, and below it its words. */
static void show_findings(struct machine *m, struct buf *out, const struct word *words, size_t n)
{
	static const char *const limits[] = { NULL, "cpu limit", "memory limit", "deadline",
					      "real time" };
	unsigned width = n > 2 && words[2].value ? (unsigned)number(words[2].value) : 0;
	const struct finding *first;

	take(m);
	first = findings_first(&m->findings);
	if (!first)
		buf_puts(out, "nothing is known\n");
	else if (!m->findings.n)
		buf_printf(out, "%s\n", finding_text(&m->findings, first));
	for (size_t i = 0; i < m->findings.n; i++) {
		const struct finding *finding = &m->findings.all[i];

		buf_printf(out, "%s, %s", finding->id, finding_severities[finding->severity]);
		if (finding->kind)
			buf_printf(out, ", %s", finding->kind);
		if (finding->share >= 0)
			buf_printf(out, ", %.3g %%", finding->share);
		if (finding->ns)
			buf_printf(out, ", %.3g s%s", (double)finding->ns / 1e9,
				   finding->at_least ? " or more" : "");
		if (finding->n != 1)
			buf_printf(out, ", %zu of them", finding->n);
		if (finding->row && finding->row->group)
			buf_printf(out, ", group %s", finding->row->group->name);
		if (finding->site)
			buf_printf(out, ", site %u", (unsigned)finding->site->id);
		if (limits[finding->limit])
			buf_printf(out, ", %s", limits[finding->limit]);
		if (finding_wants_target(finding))
			buf_puts(out, ", with a target");
		buf_puts(out, "\n  ");
		finding_append(out, &m->findings, finding, width, TEXT_UTF8);
		buf_putc(out, '\n');
	}
}

/* Appends the chain of a site's waits: its roots, and its steps with their parts. */
static void show_chain(struct machine *m, struct buf *out, const struct word *words, size_t n)
{
	const struct site *site = &m->sites[n > 2 ? (size_t)number(words[2].key) - 1 : 0];
	struct chain_index index = { 0 };
	struct chain chain = { 0 };
	double all = 0;

	chain_index_make(&index, &m->trace);
	chain_build(&chain, &index, &site, 1);
	for (size_t i = 0; i < chain.nroots; i++) {
		buf_printf(out, "%.4g %% %s: ", chain.roots[i].share * 100,
			   chain_root_ids[chain.roots[i].kind]);
		chain_put_root(out, &chain.roots[i], TEXT_UTF8);
		buf_putc(out, '\n');
		all += chain.roots[i].share;
	}
	if (all < 1 - 1e-6 || all > 1 + 1e-6)
		wrong("the shares of all roots are %f", all);
	for (size_t i = 0; i < chain.nsteps; i++) {
		const struct chain_step *step = &chain.steps[i];

		buf_printf(out, "%*s%.4g %% ", (int)step->depth * 2, "", step->share * 100);
		chain_put_waker(out, step, TEXT_UTF8);
		buf_puts(out, step->in_part ? ", known in part\n" : "\n");
		for (size_t part = 0; part < step->n; part++) {
			buf_printf(out, "%*s", (int)step->depth * 2 + 2, "");
			chain_put_part(out, &chain.parts[step->first + part], TEXT_UTF8);
			buf_putc(out, '\n');
		}
	}
	if (chain_holder(&index, site))
		buf_printf(out, "held by %d\n", (int)chain_holder(&index, site)->tgid);
	chain_index_free(&index);
	chain_free(&chain);
}

/* Appends the frame in a format. */
static void show_format(struct machine *m, struct buf *out, const struct word *words, size_t n)
{
	const struct out_ops *format = out_by_name(words[1].key);
	struct out_config config = { .view = &m->config, .charset = TEXT_UTF8 };
	struct out made;

	if (!format)
		wrong("no format %s", words[1].key);
	m->config.query = m->query;
	m->config.unit = UNIT_PERCENT;
	config.as_json = n > 2 && !strcmp(words[2].key, "json");
	out_open(&made, format, &config);
	out_frame(&made, &m->scene.frame);
	buf_add(out, made.buf.data, made.buf.len);
	if (made.problem)
		buf_puts(out, "(exit 3)\n");
	out_close(&made);
}

/* ---- The script ------------------------------------------------------------------------------ */

/* Carries a line out; what it has printed is appended. */
static void carry_out(struct machine *m, char *line, struct buf *out)
{
	struct word words[24];
	size_t n = split(line, words, ARRAY_SIZE(words)), task;
	const char *key = n ? words[0].key : "";

	if (!n)
		return;
	task = find_task(m, key);
	if (IS("site")) {
		do_site(m, words, n);
	} else if (IS("link")) {
		do_link(m, words, n);
	} else if (IS("untraced")) {
		m->nsites = m->nlinks = 0;
		memset(m->traced, 0, sizeof(m->traced));
	} else if (IS("unlinked")) {
		m->nlinks = 0;
	} else if (IS("machine")) {
		for (size_t i = 1; i < n; i++)
			set_machine(m, words[i].key, words[i].value);
	} else if (IS("group")) {
		do_group(m, words, n);
	} else if (IS("filter")) {
		do_filter(m, words, n);
	} else if (IS("samples")) {
		for (double i = number(words[1].key); i > 0; i--) {
			build(m);
			take(m);
			m->later_ns += SEC(2);
		}
	} else if (IS("exited")) {
		reserve_exited(m, (size_t)number(words[1].key));
	} else if (IS("show")) {
		build(m);
		if (!strcmp(words[1].key, "findings"))
			show_findings(m, out, words, n);
		else if (!strcmp(words[1].key, "chain"))
			show_chain(m, out, words, n);
		else
			show_format(m, out, words, n);
	} else {
		if (task == m->n)
			add_task(m, key, m->exited < m->nexited);
		for (size_t i = 1; i < n; i++)
			if (!set_task(m, task, words[i].key, words[i].value) &&
			    !set_waiting(m, task, words[i].key, words[i].value) &&
			    !set_evidence(m, task, words[i].key, words[i].value))
				wrong("a task has no %s", words[i].key);
	}
}

/* Appends a text with '|' before each of its lines. */
static void bar(struct buf *out, const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		if (!i || text->data[i - 1] == '\n')
			buf_puts(out, i + 1 < text->len && text->data[i] != '\n' ? "| " : "|");
		buf_putc(out, text->data[i]);
	}
}

/* Runs a script: each part, below a line that begins with '#', is of a machine of its own. */
static void run_script(const char *name)
{
	const char *tests = getenv("TESTS_SRCDIR");
	struct machine *m = xcalloc(1, sizeof(*m));
	struct buf text = { 0 }, made = { 0 }, said = { 0 }, is = { 0 };
	bool open = false, generate = getenv("GENERATE"), same;
	unsigned asked = 0;
	char path[4096];
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/scripts/%s.txt", tests ? tests : "tests", name);
	file = fopen(path, "re");
	assert_non_null(file);
	here = (struct place){ name, 0 };
	do {
		len = getline(&line, &cap, file);
		if (len > 0 && line[0] == '|') {
			buf_add(&said, line, (size_t)len);
			here.line++;
			continue;
		}
		/* What was printed must be what the script says. */
		text.len = 0;
		bar(&text, &is);
		same = text.len == said.len && !memcmp(buf_cstr(&text), buf_cstr(&said), text.len);
		if (!same && !generate)
			print_error("%s:%u: it is\n%sand was to be\n%s", name, asked,
				    buf_cstr(&text), buf_cstr(&said));
		assert_true(same || generate);
		buf_add(&made, text.data, text.len);
		said.len = is.len = 0;
		if (len <= 0)
			break;
		buf_add(&made, line, (size_t)len);
		asked = ++here.line;
		line[len - 1] = '\0';
		if (line[0] == '#') {
			if (open)
				close_machine(m);
			open_machine(m);
			open = true;
		} else {
			carry_out(m, line, &is);
		}
	} while (len > 0);
	close_machine(m);
	assert_int_equal(fclose(file), 0);
	if (generate) {
		file = fopen(path, "we");
		assert_non_null(file);
		assert_int_equal(fwrite(made.data, 1, made.len, file), made.len);
		assert_int_equal(fclose(file), 0);
	}
	free(m);
	free(line);
	buf_free(&text);
	buf_free(&made);
	buf_free(&said);
	buf_free(&is);
}

/* What is found, and what is not. */
TEST(test_findings)
{
	run_script("findings");
}

/* By what was read of those that suffer: limits of their groups, rivals, rings; who hangs. */
TEST(test_evidence)
{
	run_script("evidence");
}

/* Chains of waits, down to the roots; circles, deadlocks, what is not known. */
TEST(test_chains)
{
	run_script("chains");
}

/* The answer of --why, and what to do. */
TEST(test_why)
{
	run_script("why");
}
