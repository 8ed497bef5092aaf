// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The recipes of doc/scripts.md for batch mode, word by word, on real samples: what each
 * prints is held against a reading of the samples that it was given.
 */
#include "tests/lib/parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECIPES_MAX 16

/* Loads that the samples are of, and no others: other tests may run at the same time. */
static pid_t disk, waiting;

/* The program in the recipes' path: one short sample of the loads, kept for the test to read. */
static const char wrapper[] = "#!/bin/sh\n"
			      "case \"$*\" in\n"
			      "*--when*) set -- \"$@\" --when 'cpu some 500us/2s' ;;\n"
			      "esac\n"
			      "'%s' \"$@\" -n 1 -d 1 -p %d,%d --output '%s/raw' && cat '%s/raw'\n";

/* The whole of a file, as a program's output. */
static void read_output(const char *path, struct e2e_result *r)
{
	struct e2e_proc p;

	e2e_start(&p, NULL, (const char *[]){ "/bin/cat", path, NULL });
	e2e_finish(&p, 20, r);
	assert_int_equal(r->status, 0);
}

/* What the program gave the recipe that was run last. */
static void read_raw(struct e2e_result *r)
{
	read_output(e2e_path("raw"), r);
}

/* Writes the program of the recipes. */
static void make_wrapper(void)
{
	const char *path = e2e_format("%s/stalltop", e2e_path("bin"));
	FILE *f;

	assert_int_equal(mkdir(e2e_path("bin"), 0755), 0);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, wrapper, e2e_stalltop(), (int)disk, (int)waiting, e2e_folder(), e2e_folder());
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

/* Runs a recipe in the test's folder. It must do well. */
static void run_recipe(const char *recipe, struct e2e_result *r)
{
	struct e2e_proc p;

	e2e_start(&p, NULL,
		  (const char *[]){ "/bin/sh", "-c",
				    e2e_format("PATH=%s/bin:$PATH\ncd %s\n%s", e2e_folder(),
					       e2e_folder(), recipe),
				    NULL });
	e2e_finish(&p, 60, r);
	if (r->status || r->err.len)
		fail_msg("status %d, %s\n%s", r->status, r->err.data, recipe);
}

/* The next line of a text that ends with a newline; NULL at its end. */
static char *next_line(char **rest)
{
	char *line = **rest ? strsep(rest, "\n") : NULL;

	assert_true(!line || *rest);
	return line;
}

/* Rows of a table: those that waited for the disk for more than half of the time. */
static void check_disk(const char *recipe)
{
	size_t found = 0;

	/* The load waits for most of the time, but for how much is up to the disk. */
	for (unsigned i = 0; i < 20 && !found; i++) {
		const struct text_sample *sample;
		struct e2e_result r, raw;
		struct text text;
		char *rest, *line;

		run_recipe(recipe, &r);
		read_raw(&raw);
		parse_text(raw.out.data, raw.out.len, &text);
		sample = &text.v[0];
		rest = r.out.data;
		for (size_t row = 0; row < sample->rows; row++) {
			const struct text_row *cells = &sample->row[row];

			if (atof(cells->cell[text_column(sample, "2BLKIO")]) <= 50)
				continue;
			line = next_line(&rest);
			assert_non_null(line);
			assert_string_equal(line, cells->line);
			found++;
		}
		assert_null(next_line(&rest));
	}
	assert_true(found > 0);
}

/* A CSV of all there is to a row. */
static void check_table(const char *recipe)
{
	struct e2e_result r;
	struct csv csv;

	run_recipe(recipe, &r);
	assert_int_equal(r.out.len, 0);
	read_output(e2e_path("waits.csv"), &r);
	parse_csv(r.out.data, r.out.len, &csv);
	assert_true(csv_row(&csv, disk) && csv_row(&csv, waiting));
}

/* The sum of a name's waits for a CPU in the table, in seconds. */
static double cpu_seconds(const struct csv *csv, const char *name)
{
	double sum = 0;

	for (size_t row = 1; row < csv->rows; row++)
		if (!strcmp(csv_cell(csv, row, "comm"), name))
			sum += atof(csv_cell(csv, row, "cpu_ns")) / 1e9;
	return sum;
}

/* Writes a table whose sums are as far apart as they get. */
static void write_table(const char *path)
{
	static const char *const rows[] = { "tiny,9900", "most,3100000000", "two words,2500000",
					    "most,400000000", "least,7" };
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs("time,interval,pid,tgid,ppid,uid,user,comm,state,exited,cpu_count,cpu_ns\r\n", f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *comma = strchr(rows[i], ',');

		fprintf(f, "1.5,1,7,7,1,0,root,%.*s,,0,3%s\r\n", (int)(comma - rows[i]), rows[i],
			comma);
	}
	assert_int_equal(fclose(f), 0);
}

/* Sums of that table, the largest first; of the one before, and of one made for it. */
static void check_sums(const char *recipe)
{
	const char *path = e2e_path("waits.csv");
	struct e2e_result r;
	struct csv csv;

	for (unsigned made = 0; made < 2; made++) {
		double last = INFINITY;
		char *rest, *line;
		size_t n = 0;

		if (made)
			write_table(path);
		run_recipe(recipe, &r);
		rest = r.out.data;
		for (; (line = next_line(&rest)); n++) {
			char *name;
			double seconds = strtod(line, &name);

			assert_true(*name == ' ' && seconds <= last);
			last = seconds;
			read_output(path, &r);
			parse_csv(r.out.data, r.out.len, &csv);
			assert_true(fabs(cpu_seconds(&csv, name + 1) - seconds) < 1e-6);
		}
		assert_true(made ? n == 4 : n >= 1);
	}
}

/* Tasks that waited for more than a second, by JSON: time, pid, name, delay. */
static void check_over(const char *recipe)
{
	struct e2e_result r, raw;
	json_t *tasks, *task;
	struct samples s;
	char *rest;
	size_t i;

	run_recipe(recipe, &r);
	read_raw(&raw);
	parse_json(&raw, &s);
	assert_int_equal(s.n, 1);
	tasks = json_object_get(s.v[0], "tasks");
	task_must(s.v[0], waiting);
	rest = r.out.data;
	json_array_foreach(tasks, i, task)
	{
		char *line = next_line(&rest), *cell = line ? strsep(&line, "\t") : NULL;

		assert_non_null(cell);
		assert_true(strlen(cell) == 20 && cell[10] == 'T' && cell[19] == 'Z');
		assert_int_equal(atoi(strsep(&line, "\t")), member_u64(task, "pid"));
		assert_string_equal(strsep(&line, "\t"), member_text(task, "comm"));
		assert_true(fabs(atof(line) -
				 member_real(json_object_get(task, "fields"), "total")) < 0.001);
	}
	assert_null(next_line(&rest));
}

/* A sample as text, whatever it is of. */
static void check_text(const char *recipe)
{
	struct e2e_result r;
	struct text text;

	run_recipe(recipe, &r);
	parse_text(r.out.data, r.out.len, &text);
	assert_int_equal(text.n, 1);
	assert_true(text.v[0].rows > 0 && text.v[0].rows <= 5);
}

/* The texts of the notes. */
static void check_notes(const char *recipe)
{
	struct e2e_result r, raw;
	struct samples s;
	json_t *note;
	char *rest;
	size_t i;

	run_recipe(recipe, &r);
	read_raw(&raw);
	parse_json(&raw, &s);
	rest = r.out.data;
	json_array_foreach(json_object_get(s.v[0], "notes"), i, note)
		assert_string_equal(next_line(&rest), member_text(note, "text"));
	assert_null(next_line(&rest));
}

/* What tells a recipe from the others, in the order of doc/scripts.md, and what holds for it. */
static const struct {
	const char *part;
	void (*check)(const char *recipe);
} checks[] = {
	{ "$2 > 50", check_disk },   { ">waits.csv", check_table }, { " waits.csv |", check_sums },
	{ "--over", check_over },    { "-g cgroup", check_text },   { "--when", check_text },
	{ ".notes[]", check_notes },
};

/* The recipes: what is between blank lines in the first block of the chapter. */
static size_t read_recipes(const char **recipes)
{
	struct e2e_result r;
	const char *sources = getenv("TESTS_SRCDIR");
	char *at, *end;
	size_t n = 0;

	read_output(e2e_format("%s/../doc/scripts.md", sources ? sources : "tests"), &r);
	at = strstr(r.out.data, "\n## Batch\n");
	assert_non_null(at);
	at = strstr(at, "\n```\n");
	assert_non_null(at);
	at += 5;
	end = strstr(at, "\n```\n");
	assert_non_null(end);
	*end = '\0';
	for (; at; n++) {
		assert_true(n < RECIPES_MAX);
		recipes[n] = at;
		at = strstr(at, "\n\n");
		if (at) {
			*at = '\0';
			at += 2;
		}
	}
	return n;
}

/* Each of them, in its order: one uses what another has written. */
E2E_TEST(test_recipes)
{
	const size_t known = sizeof(checks) / sizeof(*checks);
	const char *recipes[RECIPES_MAX];

	e2e_require();
	assert_int_equal(read_recipes(recipes), known);
	disk = e2e_load(NULL, "load_kind blkio");
	waiting = e2e_load(NULL, "load_kind -w 3 cpu");
	assert_true(disk > 0 && waiting > 0);
	make_wrapper();
	for (size_t i = 0; i < known; i++) {
		assert_non_null(strstr(recipes[i], checks[i].part));
		checks[i].check(recipes[i]);
	}
}
