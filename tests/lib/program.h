/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tests/lib/e2e.h"

/*
 * Programs as they run on a machine, each on a stage of its own: a folder, and a cgroup with which
 * all that it started ends, in whatever way the test does. What is a shell's text has in its
 * environment:
 *
 * D  the stage's folder, where it is started; what it prints is its file "log"
 * S  the folder of the sources of programs (tests/programs)
 * L  the loads (tests/load)
 * A  an address of the loopback network that no other stage has
 * U  a prefix for a command that is to be another user's
 * G  the stage's cgroup, of v2
 * B  what the box made: a mounted file system, or a cgroup; else empty
 */

/* Something that is needed of the machine, undone by the guard. */
enum box {
	BOX_NONE,
	BOX_QUOTA, /* a cgroup of a CPU's 5 % */
	BOX_MEMORY, /* a cgroup of 32 MiB */
	BOX_DISK, /* a cgroup that may read 2 MB/s of the disk that the folder is on */
	BOX_FREEZER, /* a cgroup of the v1 freezer */
	BOX_FROZEN, /* a file system of its own that will be frozen */
};

/* A row of program_table[]. */
struct program {
	const char *name;
	const char *needs; /* commands, parted by spaces; a|b: one of them */
	const char *start; /* shell's text: becomes the program, or what waits for it */
	const char *ready; /* a shell's text that succeeds once it is up */
	/*
	 * What may be said of it when it is asked about (-p) and idle, of "ID: TEXT", as an
	 * extended regular expression; NULL: nothing. Nothing may be said of it otherwise.
	 */
	const char *asked;
	enum box box;
};

extern const struct program program_table[];
extern const size_t program_table_n;

/* The program of that name; fails if there is none. */
const struct program *program_find(const char *name);

/* Where it runs. */
struct stage {
	const struct program *program;
	char group[300], folder[300], box[512];
	enum box kind;
	const char *why; /* why it does not run; NULL: it does */
	unsigned int number;
};

/* Makes a stage; says in why what is missing. */
void stage_make(struct stage *stage, const struct program *program, enum box box);

/* Starts a text on the stage. */
void stage_start(struct stage *stage, const char *text);

/* Waits until a text succeeds there; fails, or says in why, when it does not within 40 s. */
bool stage_await(struct stage *stage, const char *text);

/* The pids of all that run there, parted by commas. */
const char *stage_pids(const struct stage *stage);

/* Whether a process, or a thread of one, runs there. */
bool stage_has(const struct stage *stage, pid_t pid);

/* Prints the end of its log, for who reads why a test failed. */
void stage_print_log(const struct stage *stage);

/* What is said in a sample: a line "ID: TEXT" for each finding. */
const char *finding_line(json_t *finding);

/* Whether a text matches an extended regular expression. */
bool program_matches(const char *text, const char *regex);

/* Whether a finding is about a stage: it names one of its processes. */
bool finding_names(const struct stage *stage, json_t *finding);

/* A fault that is planted in a program: a row of a table of tests. */
struct fault {
	const char *name;
	const char *program; /* of program_table[] */
	const char *needs; /* further commands */
	enum box box;
	const char *start; /* in place of the program's own; NULL: that */
	const char *ready; /* likewise */
	const char *plant; /* a shell's text */
	const char *planted; /* succeeds once it is; NULL: at once */
	const char *args; /* of stalltop; "@" or "@ ...": with -p and the pids of the stage */
	/* All of one finding, as extended regular expressions. */
	const char *id, *subject, *cause;
	/* What else may be said of the stage, of "ID: TEXT"; NULL: that it waits for a CPU. */
	const char *besides;
};

/*
 * A program's main(): plants each, and looks at what is said. PROGRAMS in the environment, a
 * pattern of their names, chooses some of them.
 */
int fault_main(struct fault *faults, size_t n);
