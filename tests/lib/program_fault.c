// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults that are planted in programs, and what is said of them: who suffers, from what, by whom.
 */
#include "tests/lib/program.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "tests/lib/parse.h"

/* For how long it is looked for, in seconds. */
#define PATIENCE 20
/* The share of the time from which who runs is one of those that others wait behind. */
#define RUNS_MUCH 0.1

/* A process of the machine's, and how long it has run. */
struct passer {
	pid_t pid;
	unsigned long ticks;
	bool ours; /* of the stage */
	char comm[64];
};

struct passers {
	struct passer *v;
	size_t n;
	double at;
};

/* Reads one; false: it is a thread of the kernel, or gone. */
static bool read_passer(pid_t pid, struct passer *passer)
{
	unsigned long user = 0, system = 0;
	char text[512], *end;
	FILE *f = fopen(e2e_format("/proc/%d/stat", (int)pid), "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	int parent = 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	if (!end || !strchr(text, '('))
		return false;
	*end = '\0';
	snprintf(passer->comm, sizeof(passer->comm), "%s", strchr(text, '(') + 1);
	sscanf(end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &parent, &user,
	       &system);
	passer->pid = pid;
	passer->ticks = user + system;
	return parent != 2 && pid != 2;
}

/* All processes now, and which of them are of a stage. */
static void read_passers(struct passers *passers, const struct stage *stage)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	assert_non_null(dir);
	memset(passers, 0, sizeof(*passers));
	passers->at = e2e_now();
	while ((d = readdir(dir))) {
		struct passer passer;

		if (!isdigit((unsigned char)d->d_name[0]) || !read_passer(atoi(d->d_name), &passer))
			continue;
		passer.ours = stage_has(stage, passer.pid);
		passers->v = reallocarray(passers->v, passers->n + 1, sizeof(*passers->v));
		assert_non_null(passers->v);
		passers->v[passers->n++] = passer;
	}
	closedir(dir);
}

/* What is done, and what was seen of it. */
struct look {
	const struct fault *fault;
	struct stage stage;
	struct passers before;
	char **said; /* without figures */
	size_t n;
	bool found;
	const char *lie; /* something false that was said */
};

/* Whether somebody may rightly be named: who is of the stage, or (runs) has run much. */
static bool may_be_named(const struct look *look, const struct passer *passer, bool runs)
{
	struct passer now;
	double seconds = e2e_now() - look->before.at;

	if (passer->ours || stage_has(&look->stage, passer->pid))
		return true;
	if (!runs)
		return false;
	return !read_passer(passer->pid, &now) || now.pid != passer->pid ||
	       (double)(now.ticks - passer->ticks) / (double)sysconf(_SC_CLK_TCK) >
		       seconds * RUNS_MUCH;
}

/* Whether one of the stage is called so, too. */
static bool is_of_stage(const struct look *look, const char *comm)
{
	for (size_t i = 0; i < look->before.n; i++)
		if (look->before.v[i].ours && !strcmp(look->before.v[i].comm, comm))
			return true;
	return false;
}

/* Whether a word is a pid; figures with a point or a unit are none, nor are small ones. */
static bool is_pid(const char *word)
{
	return word && strlen(word) > 2 && strspn(word, "0123456789") == strlen(word);
}

/* Whether a word that is a program's name is one of the sentences, too. */
static bool is_said_anyway(const char *word)
{
	static const char *const words[] = { "as", "at", "time", "wait", "write" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* The innocent whom a word is about, by pid or name; NULL: nobody is. */
static const struct passer *innocent_of(const struct look *look, const char *word, bool runs)
{
	if (is_said_anyway(word))
		return NULL;
	for (size_t i = 0; i < look->before.n; i++) {
		const struct passer *passer = &look->before.v[i];
		bool named = is_pid(word) ? atoi(word) == passer->pid
					  : !strcmp(word, passer->comm) && !is_of_stage(look, word);

		if (named && !may_be_named(look, passer, runs))
			return passer;
	}
	return NULL;
}

/* The next word of a text; NULL at its end. */
static const char *next_word(char **rest)
{
	const char *word;

	do
		word = strsep(rest, " ;,()'\"");
	while (word && !*word);
	return word;
}

/* A word of a text that names somebody who has nothing to do with it; NULL: there is none. */
static const char *named_innocent(const struct look *look, const char *text, bool runs)
{
	char *rest = e2e_format("%s", text);
	const char *last = NULL, *word = next_word(&rest), *next;

	for (; word; last = word, word = next) {
		next = next_word(&rest);
		/* Of a name beside a pid the pid says who it is. */
		if (!is_pid(word) && (is_pid(last) || is_pid(next)))
			continue;
		if (innocent_of(look, word, runs))
			return word;
	}
	return NULL;
}

/* Prints what is said, once for all figures. */
static void print_said(struct look *look, const char *line)
{
	char *same = e2e_format("%s", line);

	for (char *p = same; *p; p++)
		if (isdigit((unsigned char)*p))
			*p = '0';
	for (size_t i = 0; i < look->n; i++)
		if (!strcmp(look->said[i], same))
			return;
	look->said = reallocarray(look->said, look->n + 1, sizeof(*look->said));
	assert_non_null(look->said);
	look->said[look->n++] = same;
	fprintf(stderr, "# said: %s | %s\n", look->fault->name, line);
}

/* Judges a finding. */
static void judge(struct look *look, json_t *finding)
{
	const struct fault *fault = look->fault;
	const char *line = finding_line(finding), *text = text_or_none(finding, "text");
	json_t *pid = json_object_get(finding, "pid");
	const char *innocent;

	if (*fault->args != '@' && !finding_names(&look->stage, finding))
		return;
	print_said(look, line);
	/* Who wants a CPU may wait behind anybody who runs. */
	innocent = named_innocent(look, text, program_matches(line, "^cpu"));
	if (innocent) {
		look->lie = e2e_format("an innocent is named (%s): %s", innocent, line);
	} else if (program_matches(text_or_none(finding, "id"), fault->id) &&
		   program_matches(text, fault->subject)) {
		look->found |= program_matches(text, fault->cause) && json_is_integer(pid);
	} else if (!program_matches(line, fault->besides ? fault->besides : "^cpu") &&
		   /* That one is held, or kept waiting, is true of all that the stage stops. */
		   !program_matches(line, "^(held|kept): ")) {
		look->lie = e2e_format("said besides: %s", line);
	}
}

/* Looks at some samples. */
static void take_look(struct look *look)
{
	const char *args = look->fault->args;
	bool asked = *args == '@';
	struct e2e_result r;
	struct samples s;

	args += asked;
	read_passers(&look->before, &look->stage);
	/* Those whom nobody asked about are looked at in turn, some with each sample. */
	e2e_run(&r, NULL, "-b -n %d -d 0.5 -o json%s%s%s", asked ? 3 : 10, args,
		asked ? " -p " : "", asked ? stage_pids(&look->stage) : "");
	check_silent_success(&r);
	parse_json(&r, &s);
	for (size_t i = 0; i < s.n; i++) {
		json_t *finding;
		size_t n;

		json_array_foreach(json_object_get(s.v[i], "findings"), n, finding)
			judge(look, finding);
	}
	free(look->before.v);
}

/* Starts the program and plants the fault; what it lacks, or NULL. */
static const char *plant(struct look *look)
{
	const struct fault *fault = look->fault;
	struct program program = *program_find(fault->program);

	if (fault->needs)
		program.needs =
			e2e_format("%s %s", program.needs ? program.needs : "", fault->needs);
	if (fault->start)
		program.start = fault->start;
	if (fault->ready)
		program.ready = fault->ready;
	stage_make(&look->stage, &program, fault->box);
	if (look->stage.why)
		return look->stage.why;
	stage_start(&look->stage, program.start);
	if (stage_await(&look->stage, program.ready)) {
		if (fault->plant)
			stage_start(&look->stage, fault->plant);
		if (!fault->planted || stage_await(&look->stage, fault->planted))
			return NULL;
	}
	stage_print_log(&look->stage);
	fail_msg("%s: %s", fault->name, look->stage.why);
	return NULL;
}

/* Plants it, and looks at what is said. */
static void fault_check(const struct fault *fault)
{
	struct look look = { .fault = fault };
	const char *missing = plant(&look);
	double until = e2e_now() + PATIENCE;

	if (missing)
		e2e_skip_test(fault->name, missing);
	do {
		take_look(&look);
	} while (!look.found && !look.lie && e2e_now() < until);
	free(look.said);
	if (look.lie)
		fail_msg("%s: %s", fault->name, look.lie);
	if (!look.found)
		fail_msg("%s: no %s of %s with %s", fault->name, fault->id, fault->subject,
			 fault->cause);
}

static void test_fault(void **state)
{
	e2e_require_bpf();
	fault_check(*state);
}

int fault_main(struct fault *faults, size_t n)
{
	struct CMUnitTest *tests = xcalloc(n, sizeof(*tests));
	int failed;

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ faults[i].name, test_fault, e2e_setup, e2e_teardown,
						&faults[i] };
	cmocka_set_test_filter(getenv("PROGRAMS"));
	/* The macro of cmocka's wants an array. */
	failed = _cmocka_run_group_tests("tests", tests, n, e2e_group_setup, e2e_group_teardown);
	free(tests);
	return failed;
}
