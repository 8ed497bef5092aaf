// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recordings whose structure is whole and whose members are odd: every output, and the screen, play
 * or refuse them; nothing raw comes out, and nothing ends by a signal or (in a build with
 * sanitizers) a report. ODD_FILES says how many; ODD_SEED where to begin.
 */
#include "tests/lib/e2e.h"
#include "tests/lib/recording.h"
#include "tests/lib/scratch.h"
#include "tests/lib/screen.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "history/record_parts.h"

#define SAMPLES_MADE 24

static const char *const odd_texts[] = {
	NULL,
	"",
	"\x1b]0;title\x07\x1b[2J",
	"a\nstalltop_forged 1\n# b",
	"\"},{\"a\":\"",
	"=1,2\r\n3",
	"\xff\xfe\x80",
	"\xe2\x80\xae",
	"%s%n%1000000d",
	"../../../etc/passwd",
	"a name that is much longer than any place that there is for it, and goes on and on for a "
	"while so that a line is full of it and a second one as well, and then some more of that",
};

static const uint64_t odd_numbers[] = {
	0,
	1,
	2,
	3,
	7,
	63,
	64,
	255,
	INT32_MAX,
	UINT32_MAX,
	UINT32_MAX - 1ul,
	INT64_MAX,
	UINT64_MAX,
	UINT64_C(1) << 63,
	1ul << 40,
	1000000000ul,
	1795269750ul * 1000000000ul,
};

static const double odd_reals[] = { 0,	    -1,	 -0.5,	   1e308,     -1e308,
				    1e-300, 100, INFINITY, -INFINITY, NAN };

#define ONE_OF(machine, array) ((array)[play_random(machine, ARRAY_SIZE(array))])

/* Sets a member to an odd value, but for those that are not to be. */
static void bend_member(struct play_machine *machine, const struct field *field, char *at)
{
	uint64_t number = ONE_OF(machine, odd_numbers);
	double real = ONE_OF(machine, odd_reals);
	const char *text = ONE_OF(machine, odd_texts);

	/* Those are refused, and with them the rest of the file: a few of them will do. */
	if (field->below && play_random(machine, 300))
		number %= field->below;
	if (field->type == TYPE_BOOL)
		number &= 1;
	if (field->type == TYPE_TEXT)
		memcpy(at, &text, sizeof(text));
	else if (field->type == TYPE_REAL)
		memcpy(at, &real, sizeof(real));
	else
		memcpy(at, &number, field->size);
}

/* Sets some members of a row, whatever they are. */
static void bend(struct play_machine *machine, const struct field_table *table, void *row)
{
	for (unsigned n = play_random(machine, 3); n; n--) {
		const struct field *field =
			&table->fields[play_random(machine, (unsigned)table->n)];

		/* Their order is the structure. */
		if (!strcmp(field->name, "tgid") || !strcmp(field->name, "pid") ||
		    !strcmp(field->name, "n") || !strcmp(field->name, "left"))
			continue;
		bend_member(machine, field,
			    (char *)row + field->offset +
				    play_random(machine, field->n) * (size_t)field->stride);
	}
}

/* Replaces a text that belongs to its owner. */
static void bend_text(struct play_machine *machine, char **text)
{
	free(*text);
	*text = xstrdup(ONE_OF(machine, odd_texts));
}

/* Bends a task's names, and how it ended. */
static void bend_task(struct play_machine *machine, struct task *task)
{
	const char *comm = ONE_OF(machine, odd_texts);

	task_set_comm(task, comm ? comm : "", TASK_COMM_MAX);
	task_set_user(task, shared_text(ONE_OF(machine, odd_texts)));
	task_set_cgroup(task, shared_text(ONE_OF(machine, odd_texts)));
	bend_text(machine, &task->command);
	bend_text(machine, &task->pod);
	bend_text(machine, &task->container);
	bend_text(machine, &task->ended);
	task->uid = (uid_t)ONE_OF(machine, odd_numbers);
	task->ppid = (pid_t)ONE_OF(machine, odd_numbers);
	task->cpu = (uint32_t)ONE_OF(machine, odd_numbers) / 2;
	task->status = (uint32_t)ONE_OF(machine, odd_numbers);
	task->renamed++;
}

/* Bends what was read of an element besides. */
static void bend_extra(struct play_machine *machine, struct task_extra *extra)
{
	struct record_extra row = { .hang = extra->hang, .io = extra->io };

	bend(machine, &record_extra_table, &row);
	extra->hang = row.hang;
	extra->io = row.io;
	if (extra->evidence) {
		struct task_evidence *evidence = extra->evidence;
		char **names[] = { &evidence->io_limits, &evidence->cpu_group.name,
				   &evidence->memory_group.name, &evidence->io_group.name,
				   &evidence->weighed_group.name };

		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			free(*names[i]);
			*names[i] = NULL;
		}
		row.evidence = *evidence;
		bend(machine, &record_extra_table, &row);
		*evidence = row.evidence;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			*names[i] = xstrdup(ONE_OF(machine, odd_texts));
	}
	if (extra->waiting) {
		const char *text = ONE_OF(machine, odd_texts);

		extra->waiting->on.len = 0;
		buf_puts(&extra->waiting->on, text ? text : "");
		buf_cstr(&extra->waiting->on);
		extra->waiting->syscall = ONE_OF(machine, odd_texts);
	}
	if (extra->held)
		strcpy(extra->held->tracer_comm, "\x1b[31mx\n");
}

/* Bends what belongs to a frame as a whole. */
static void bend_head(struct play_machine *machine, struct frame_info *info)
{
	struct system_sample *system = (struct system_sample *)(uintptr_t)info->system;
	struct trace_frame *trace = (struct trace_frame *)(uintptr_t)info->trace;
	struct record_head head = { .frame = info->head, .system = *system };

	if (trace)
		head.trace = *trace;
	for (unsigned i = 0; i < 4; i++)
		bend(machine, &record_head_table, &head);
	/* What is refused ends the file: once in a while. */
	if (play_random(machine, 30)) {
		head.frame.delayacct = DELAYACCT_ON;
		head.frame.hierarchy_version = head.frame.hierarchy ? 2 : 0;
		head.frame.taskstats_version &= 31;
	}
	info->head = head.frame;
	*system = head.system;
	if (trace) {
		trace->interval_ns = head.trace.interval_ns;
		trace->lost = head.trace.lost;
		trace->switches = head.trace.switches;
		trace->cost = head.trace.cost;
	}
	if (!play_random(machine, 3) && info->head.nnotes < NOTES_MAX) {
		struct note note = { .id = (enum note_id)play_random(machine, NOTE_IDS) };

		bend_member(machine, &record_note_table.fields[1], (char *)&note.value);
		note.error = (int)play_random(machine, 200) - 50;
		info->head.notes[info->head.nnotes++] = note;
	}
}

/* Bends sites and links. */
static void bend_trace(struct play_machine *machine, const struct trace_frame *trace)
{
	for (size_t i = 0; i < trace->n; i++) {
		struct record_site row = { .site = *trace->sites[i] };
		struct site *site = (struct site *)(uintptr_t)trace->sites[i];

		if (play_random(machine, 4))
			continue;
		bend(machine, &record_site_table, &row);
		row.site.id = site->id;
		row.site.stack = site->stack;
		row.site.unattributed = site->unattributed;
		/* -1 is no kind. */
		if (row.site.kind >= (int)WAIT_KINDS || row.site.kind < -1)
			row.site.kind = site->kind;
		*site = row.site;
	}
	for (size_t i = 0; i < trace->nlinks; i++)
		if (!play_random(machine, 8))
			bend(machine, &record_link_table,
			     (struct site_link *)(uintptr_t)&trace->links[i]);
}

/* Bends a frame here and there. */
static void bend_frame(struct play_machine *machine, const struct frame *frame)
{
	struct frame_info *info = (struct frame_info *)(uintptr_t)frame->info;
	const struct sample *cur = info->cur;

	for (size_t i = 0; i < cur->n + cur->left; i++) {
		struct task_raw *raw = cur->raw[i];

		if (!play_random(machine, 6))
			bend(machine, &record_raw_table, raw);
		if (play_random(machine, 300) && !isalpha((unsigned char)raw->now.state))
			raw->now.state = 'Z';
		if (!play_random(machine, 12))
			bend_task(machine, cur->raw[i]->task);
	}
	for (size_t i = 0; i < cur->nextras; i++)
		if (!play_random(machine, 3))
			bend_extra(machine, cur->extras[i]);
	for (size_t i = 0; i < frame->n; i++)
		if (frame->rows[i].traced && !play_random(machine, 8)) {
			struct record_traced row = { .states = frame->rows[i].traced->states };
			struct traced *traced = (struct traced *)(uintptr_t)frame->rows[i].traced;

			bend(machine, &record_traced_table, &row);
			traced->states = row.states;
			traced->waker = ONE_OF(machine, odd_texts);
		}
	if (!play_random(machine, 2))
		bend_head(machine, info);
	if (info->trace && !play_random(machine, 2))
		bend_trace(machine, info->trace);
}

/* Two groups, whose figures are odd, of odd names. */
static const struct frame *fold(struct play_machine *machine, struct frame *folded)
{
	static struct cgroup_sample samples[2];
	static struct group_figures figures[2];
	static struct group groups[2];
	static struct row rows[2];

	for (unsigned g = 0; g < 2; g++) {
		const char *name = ONE_OF(machine, odd_texts);

		bend(machine, &record_group_table, &samples[g]);
		figures[g] = (struct group_figures){ .now = &samples[g], .before = &samples[g] };
		groups[g] = (struct group){ .name = g	   ? "/a"
						    : name ? name
							   : "",
					    .figures = &figures[g] };
		rows[g] = (struct row){ .group = &groups[g] };
	}
	*folded = (struct frame){ .rows = rows, .n = 2 };
	return folded;
}

/* Records an odd machine. */
static void record_odd(const char *path, unsigned seed)
{
	struct play_machine machine = { .seed = seed * 7919 + 1 };
	struct play_writer writer = { 0 };
	struct frame folded;

	remove(path);
	assert_int_equal(play_begin_file(&writer, path), 0);
	for (unsigned i = 0; i < SAMPLES_MADE; i++) {
		const struct frame *frame = play_frame(&machine);

		if (i == SAMPLES_MADE / 2)
			record_restart(writer.state, play_random(&machine, 3));
		if (i && !play_random(&machine, 3))
			bend_frame(&machine, frame);
		assert_int_equal(play_write(&writer, frame, fold(&machine, &folded), 0), 0);
	}
	play_end_file(&writer);
	play_free(&machine);
}

struct output {
	const char *args;
	enum { PLAIN, CSV, JSON, METRICS, NOTHING } form;
};

static const struct output outputs[] = {
	{ "-b -r 30", PLAIN },
	{ "-b -o csv", CSV },
	{ "-b -o json", JSON },
	{ "-b -o openmetrics", METRICS },
	{ "--why", PLAIN },
	{ "--why -o json", JSON },
	{ "-b -g cgroup -d 3", PLAIN },
	{ "-b -o csv -g user -d 2", CSV },
	{ "-b -o json -g command", JSON },
	{ "-b -o openmetrics -g cgroup -d 4", METRICS },
	{ "-b -d 100 -o json", JSON },
	{ "-b -o sqlite --output %s.sqlite", NOTHING },
	{ "-b -r 0", PLAIN },
	{ "-b --trace -r 5 -d 5", PLAIN },
	{ "-b -i -s blkio -F +cgroup,command,container,pod,state,wait,on,syscall,where", PLAIN },
};

/* Runs the program; its standard output becomes the text. Returns the exit status, or 128 + N. */
static int run(const char *args, const char *out, const char *err)
{
	const char *const command =
		scratch_format("exec '%s/../stalltop' %s >'%s' 2>'%s' </dev/null",
			       getenv("TESTS_BUILDDIR"), args, out, err);
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		const struct rlimit seconds = { 20, 20 };

		setrlimit(RLIMIT_CPU, &seconds);
		setenv("ASAN_OPTIONS", "exitcode=99", 1);
		setenv("UBSAN_OPTIONS", "halt_on_error=1:exitcode=99:print_stacktrace=1", 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The first byte that no terminal may get, but for a record's end; NULL: there is none. */
static const char *find_raw(const char *text)
{
	for (; *text; text++)
		if ((*(const unsigned char *)text < ' ' && *text != '\n' &&
		     strncmp(text, "\r\n", 2) != 0) ||
		    *text == 0x7f)
			return text;
	return NULL;
}

/* How many cells a record of CSV has; *text moves behind it. */
static unsigned count_cells(const char **text)
{
	bool quoted = false;
	unsigned n = 1;

	for (; **text && (quoted || **text != '\n'); ++*text) {
		quoted ^= **text == '"';
		n += !quoted && **text == ',';
	}
	*text += **text == '\n';
	return n;
}

/* Whether a text is what its form is to be; why: what is wrong. */
static bool is_whole(const char *text, const struct output *output, const char **why)
{
	size_t at = 0, len = strlen(text);

	*why = find_raw(text) ? "a raw control character" : NULL;
	if (output->form == CSV) {
		const char *next = text;
		unsigned cells = count_cells(&next);

		while (*next && !*why)
			if (count_cells(&next) != cells)
				*why = "a record with more or fewer cells than the first";
	}
	while (output->form == JSON && at < len && !*why) {
		json_error_t error;
		json_t *json = json_loadb(text + at, len - at,
					  JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL, &error);

		if (!json)
			*why = scratch_format("no JSON: %s", error.text);
		json_decref(json);
		at += json ? (size_t)error.position : 0;
		at += strspn(text + at, "\n");
	}
	for (const char *line = text; output->form == METRICS && *line && !*why;) {
		if (strncmp(line, "# ", 2) != 0 && strncmp(line, "stalltop_", 9) != 0)
			*why = "a line that is no metric";
		if (!strncmp(line, "stalltop_forged", 15))
			*why = "a forged metric";
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : "";
	}
	return !*why;
}

/* Puts a recording out; its text must be whole. Returns whether it was played. */
static bool put(const char *path, unsigned seed, const struct output *output)
{
	const char *out = scratch_path("out"), *err = scratch_path("err"), *why;
	char args[300];
	int status;

	snprintf(args, sizeof(args), output->args, path);
	remove(scratch_format("%s.sqlite", path));
	status = run(scratch_format("-R '%s' %s", path, args), out, err);
	if (status != 0 && status != 1 && status != 3)
		fail_msg("ODD_SEED=%u, %s: status %d\n%s", seed, args, status, scratch_read(err));
	if (find_raw(scratch_read(err)))
		fail_msg("ODD_SEED=%u, %s: a raw control character in: %s", seed, args,
			 scratch_read(err));
	if (!is_whole(scratch_read(out), output, &why))
		fail_msg("ODD_SEED=%u, %s: %s\n%s", seed, args, why,
			 find_raw(scratch_read(out)) ? find_raw(scratch_read(out)) - 60 : "");
	return status != 1;
}

/* A number of the environment. */
static unsigned setting(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* Each file goes to two of the outputs, in turn. */
SCRATCH_TEST(outputs_are_whole)
{
	unsigned files = setting("ODD_FILES", 200), first = setting("ODD_SEED", 1), played = 0;

	for (unsigned seed = first; seed < first + files; seed++) {
		const char *path = scratch_path("odd.db");

		record_odd(path, seed);
		for (unsigned i = 0; i < 2; i++)
			played += put(path, seed, &outputs[(2 * seed + i) % ARRAY_SIZE(outputs)]);
		scratch_end();
		scratch_begin();
	}
	printf("# %u of %u were played\n", played, 2 * files);
	assert_true(played > files / 2);
}

/* The screen plays them, and goes through its views. */
SCREEN_TEST(screen_stays_whole)
{
	static const char *const keys[] = { "w",  "\x1b", "C",	"\x1b",	      "g",    "g",
					    "g",  "V",	  "g",	"\r",	      "\x1b", "]]",
					    "[[", "{",	  "}",	"0123456789", "!",    "\x1b",
					    "?",  "\x1b", "\t", "//x\r",      "q" };
	unsigned files = setting("ODD_FILES", 200) / 40, first = setting("ODD_SEED", 1);

	setenv("ASAN_OPTIONS", "exitcode=99", 1);
	setenv("UBSAN_OPTIONS", "halt_on_error=1:exitcode=99:print_stacktrace=1", 1);
	for (unsigned seed = first; seed < first + files; seed++) {
		const char *path = scratch_path("odd.db");
		struct screen *s;
		int status;

		record_odd(path, seed);
		s = screen_start(&(struct screen_how){ .args = scratch_format("-R %s", path),
						       .rows = 30,
						       .cols = seed % 2 ? 80 : 200 });
		screen_settle(s);
		for (unsigned i = 0; i < ARRAY_SIZE(keys); i++) {
			screen_type(s, keys[i]);
			screen_settle(s);
		}
		status = screen_end(s, 10);
		if (status != 0 && status != 1)
			fail_msg("ODD_SEED=%u: status %d", seed, status);
		screen_teardown(state);
		screen_setup(state);
	}
}
