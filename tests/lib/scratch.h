/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "tests/lib/test.h"

/* What a test makes and what is gone after it: texts, files, children. */

void scratch_begin(void);
void scratch_end(void);
/* The same around a test of cmocka. */
int scratch_set_up(void **state);
int scratch_tear_down(void **state);
#define SCRATCH_TEST(name) TEST_WITH(name, scratch_set_up, scratch_tear_down)

/* Text that lives as long as the test. */
const char *scratch_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same with memory of malloc(). */
char *scratch_keep(char *text);

/*
 * Every "crowd" in a text becomes another word, one for each run of a test, so that runs
 * beside each other do not see each other's tasks. Done by crowd.h, screen.h and table.h to
 * all they are given.
 */
const char *scratch_ours(const char *text);

/* An empty folder that is removed with all in it. */
const char *scratch_folder(void);
/* A path in that folder. */
const char *scratch_path(const char *name);

/* A file of the test's in that folder, or elsewhere; the path. */
const char *scratch_file(const char *path, const char *text);
/* The whole of a file, or NULL when there is none. */
const char *scratch_read(const char *path);

/* A child that is killed; 0 stands for none. */
pid_t scratch_child(pid_t pid);
/* It lives on beyond the test: whoever says so ends it. */
void scratch_forget(pid_t pid);
/* Ends it before the test's end. */
void scratch_kill(pid_t pid);

/* Runs a function that must die in a child; its standard error and exit status. */
int scratch_dying(void (*run)(void), char *text, size_t size);

/* Says why in the form the build wants, and leaves the test. */
#define scratch_skip(reason) scratch_skip_test(__func__, reason)
void scratch_skip_test(const char *test, const char *reason);
