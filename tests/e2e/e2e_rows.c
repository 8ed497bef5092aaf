// SPDX-License-Identifier: GPL-2.0-or-later
/* Which rows are shown, in which order, with which columns. */
#include "tests/lib/parse.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* A process that waits for nothing. */
static pid_t idle_load(uid_t uid)
{
	struct e2e_how how = { .uid = uid };

	return e2e_load(&how, "load_sleepers 1");
}

/* -p: one process, several, and their threads. */
E2E_TEST(test_pid)
{
	pid_t pid, other, tids[64];
	json_t *rows;
	size_t n, i;

	e2e_require();
	pid = e2e_load(NULL, "load_kind -w 3 cpu");
	other = idle_load(0);
	rows = parse_rows(e2e_format("-p %d", (int)pid));
	assert_int_equal(json_array_size(rows), 1);
	assert_true(rows_have_pid(rows, pid));
	rows = parse_rows(e2e_format("-p %d,%d", (int)other, (int)pid));
	assert_int_equal(json_array_size(rows), 2);
	assert_true(rows_have_pid(rows, pid) && rows_have_pid(rows, other));
	rows = parse_rows(e2e_format("-H --pid %d", (int)pid));
	n = e2e_threads(pid, tids, 64);
	assert_int_equal(n, 4);
	assert_int_equal(json_array_size(rows), n);
	for (i = 0; i < n; i++) {
		assert_true(rows_have_pid(rows, tids[i]));
		assert_int_equal(member_u64(json_array_get(rows, i), "tgid"), pid);
	}
}

/* -u: by name and by number. */
E2E_TEST(test_user)
{
	static const char *const who[] = { "nobody", "65534" };
	json_t *rows, *row;
	size_t i, j;
	pid_t pid;

	e2e_require();
	pid = idle_load(NOBODY);
	for (i = 0; i < 2; i++) {
		rows = parse_rows(e2e_format("-u %s", who[i]));
		assert_true(rows_have_pid(rows, pid));
		json_array_foreach(rows, j, row)
		{
			assert_int_equal(member_u64(row, "uid"), NOBODY);
			assert_string_equal(member_text(row, "user"), "nobody");
		}
	}
	rows = parse_rows("-u root,nobody");
	assert_true(rows_have_pid(rows, pid) && rows_have_pid(rows, getpid()));
	assert_false(rows_have_pid(parse_rows("-u root"), pid));
}

/* Sees a file of users of its own. */
static int use_passwd(const char *file)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount(file, "/etc/passwd", NULL, MS_BIND, NULL);
}

/* Who has another name in a container, or none, is a number; who has the same, that name. */
E2E_TEST(test_other_names)
{
	static const struct {
		const char *text, *shown;
	} cases[] = { { "root:x:0:0::/:\nwww:x:65534:65534::/:\n", "65534" },
		      { "root:x:0:0::/:\n", "65534" },
		      { "root:x:0:0::/:\nnobody:x:65534:65534::/:\n", "nobody" } };

	e2e_require();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *path = e2e_path(e2e_format("passwd%zu", i));
		const struct e2e_how how = { .hook = use_passwd, .hook_arg = path, .uid = NOBODY };
		FILE *file = fopen(path, "we");
		pid_t pid;

		fputs(cases[i].text, file);
		fclose(file);
		pid = e2e_load(&how, "load_sleepers 1");
		e2e_need(pid ? 0 : -EOPNOTSUPP, "no mount namespace can be had");
		assert_string_equal(
			member_text(json_array_get(parse_rows(e2e_format("-p %d", (int)pid)), 0),
				    "user"),
			cases[i].shown);
	}
}

/* -m: an extended regular expression on the command, which is then there to see. */
E2E_TEST(test_match)
{
	json_t *rows, *row;
	pid_t pid;
	size_t i;

	e2e_require();
	pid = idle_load(0);
	rows = parse_rows("-m load_(sleepers|nothing)");
	assert_true(rows_have_pid(rows, pid));
	json_array_foreach(rows, i, row)
		/* a task without a command line is known by its name */
		if (!strstr(member_text(row, "command"), "load_sleepers") &&
		    !strstr(member_text(row, "comm"), "load_sleepers"))
			fail_msg("%s (%s) matches", member_text(row, "comm"),
				 member_text(row, "command"));
	assert_int_equal(json_array_size(parse_rows("-m no[x]such[x]command")), 0);
	assert_false(rows_have_pid(parse_rows("-m ^load_kind"), pid));
}

/* A row's value by a field that is a number or a text; false if it is unset. */
static bool sort_value(json_t *row, const char *field, double *number, const char **text)
{
	*number = 0;
	*text = "";
	if (!strcmp(field, "pid"))
		*number = (double)member_u64(row, "pid");
	else if (!strcmp(field, "comm"))
		*text = member_text(row, "comm");
	else if (!strcmp(field, "run"))
		*number = (double)member_u64(row, "run_ns") / member_real(row, "interval");
	else if (json_is_null(json_object_get(json_object_get(row, "waited"), field)))
		return false;
	else
		*number = (double)member_u64(json_object_get(row, "waited"), field) /
			  member_real(row, "interval");
	return true;
}

/* Whether a text is of ASCII alone. */
static bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

/* Neighbours stand in order, and what is unset stands last in both directions. */
static void check_order(const char *sort, const char *field, bool descending)
{
	json_t *rows = parse_rows(e2e_format("-s %s", sort));
	size_t i, n = json_array_size(rows), known = 0;
	const char *last_text = "";
	double last = 0;
	bool unset = false;

	assert_true(n > 3);
	for (i = 0; i < n; i++) {
		const char *text;
		double number;
		bool wrong;

		if (json_is_null(json_object_get(json_array_get(rows, i), "interval")) ||
		    !sort_value(json_array_get(rows, i), field, &number, &text)) {
			unset = true;
			continue;
		}
		/* names of others' tasks, sorted as they are and not as they are escaped */
		if (strchr(text, '\\') || !is_ascii(text))
			continue;
		if (unset)
			fail_msg("-s %s: row %zu is set below one that is not", sort, i);
		/* the interval is printed in us */
		wrong = descending ? number > last * 1.0001 || strcmp(text, last_text) > 0
				   : number * 1.0001 < last || strcmp(text, last_text) < 0;
		if (known++ > 0 && wrong)
			fail_msg("-s %s: row %zu (%f %s) is behind %f %s", sort, i, number, text,
				 last, last_text);
		last = number;
		last_text = text;
	}
	assert_true(known > 1);
}

/* -s: numbers descend and texts ascend unless a sign says otherwise. */
E2E_TEST(test_sort)
{
	e2e_require();
	assert_true(e2e_load(NULL, "load_kind cpu") > 0);
	assert_true(e2e_load(NULL, "load_kind -d %s blkio", e2e_folder()) > 0);
	check_order("cpu", "cpu", true);
	check_order("-cpu", "cpu", true);
	check_order("+cpu", "cpu", false);
	check_order("blkio", "blkio", true);
	check_order("+blkio", "blkio", false);
	check_order("run", "run", true);
	check_order("pid", "pid", true);
	check_order("+pid", "pid", false);
	check_order("comm", "comm", false);
	check_order("-comm", "comm", true);
}

/* The heads that a list of fields gives. */
static const struct text_row *heads_of(const char *fields)
{
	struct text *text = e2e_keep(calloc(1, sizeof(*text)));
	struct e2e_result r;

	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -F %s", fields);
	check_silent_success(&r);
	parse_text(r.out.data, r.out.len, text);
	return &text->v[0].heads;
}

/* Whether a heading is there. */
static bool has_head(const struct text_row *heads, const char *name)
{
	size_t i;

	for (i = 0; i < heads->n; i++)
		if (!strcmp(heads->cell[i], name))
			return true;
	return false;
}

/* -F in text: a list, additions and removals; the command is last in any case. */
E2E_TEST(test_fields)
{
	const struct text_row *heads;

	e2e_require();
	heads = heads_of("comm,pid,run");
	assert_int_equal(heads->n, 3);
	assert_string_equal(heads->cell[0], "PID");
	assert_string_equal(heads->cell[1], "RUN");
	assert_string_equal(heads->cell[2], "COMMAND");
	heads = heads_of("pid,tgid,ppid,user,uid,state,run,usr,sys,total,mem,cpu,blkio,swapin,"
			 "reclaim,thrash,compact,wpcopy,irq,elap,cuser,csys,cgroup,comm");
	assert_int_equal(heads->n, 24);
	assert_string_equal(heads->line + strspn(heads->line, " "), strstr(heads->line, "PID"));
	assert_true(has_head(heads, "8IRQ") && has_head(heads, "9MEM") && has_head(heads, "S"));
	heads = heads_of("+ppid,-user");
	assert_true(has_head(heads, "PPID") && has_head(heads, "0TOTAL"));
	assert_false(has_head(heads, "USER"));
}

/* -F list: every id that the manual names. */
E2E_TEST(test_field_list)
{
	static const char *const ids[] = {
		"pid",	   "tgid",   "ppid",	"user",	  "uid",   "state",  "run",
		"usr",	   "sys",    "total",	"mem",	  "cpu",   "blkio",  "swapin",
		"reclaim", "thrash", "compact", "wpcopy", "irq",   "elap",   "cuser",
		"csys",	   "comm",   "command", "read",	  "write", "cancel",
	};
	struct e2e_result r;
	size_t i;

	e2e_require();
	e2e_run(&r, NULL, "-F list");
	check_silent_success(&r);
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const char *line = strstr(r.out.data, e2e_format("\n%s ", ids[i]));

		/* the list may have a head, and may not */
		if (!line && strncmp(r.out.data, e2e_format("%s ", ids[i]), strlen(ids[i]) + 1))
			fail_msg("\"%s\" does not start a line of -F list", ids[i]);
	}
}

/* What costs a read per task is null until a field asks for it. */
E2E_TEST(test_wanted)
{
	struct e2e_result r;
	struct csv csv;
	json_t *row;
	pid_t pid;

	e2e_require();
	pid = idle_load(0);
	row = json_array_get(parse_rows(e2e_format("-p %d", (int)pid)), 0);
	assert_string_equal(member_text(row, "state"), "S");
	assert_true(json_is_null(json_object_get(row, "command")));
	assert_true(json_is_null(json_object_get(row, "cgroup")));
	row = json_array_get(parse_rows(e2e_format("-p %d -F +state,+command", (int)pid)), 0);
	assert_string_equal(member_text(row, "state"), "S");
	assert_non_null(strstr(member_text(row, "command"), "load_sleepers 1"));
	e2e_run(&r, NULL, "-b -n 1 -d 0.1 -o csv -p %d -F pid,state,elap", (int)pid);
	check_silent_success(&r);
	parse_csv(r.out.data, r.out.len, &csv);
	/* fields beyond those that are always there follow them */
	assert_string_equal(csv.cell[0][26], "run_ns");
	assert_string_equal(csv.cell[0][36], "wait_ns");
	assert_true(csv.columns > 37);
	assert_string_equal(csv_cell(&csv, csv_row(&csv, pid), "state"), "S");
}
