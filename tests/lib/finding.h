/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "tests/lib/e2e.h"

/* Findings of the program: what it says that somebody suffers from. */

#define FINDING_PARTS 3

/* What one of them is to be. */
struct finding_meant {
	const char *id; /* or how it begins, up to a '-' */
	pid_t pid; /* of the process that is looked at */
	const char *parts[FINDING_PARTS]; /* of its words */
};

/*
 * Looks at a process with these arguments until it is found, or the test fails: a machine that has
 * much else to do may keep a load from waiting for what it is to wait for.
 */
void finding_await(const char *args, const struct finding_meant *meant);

/* Looks until there is nothing to find in several samples, one after the other, or the test fails.
 */
void finding_await_none(const char *args);

/* Prints what was found, for who reads why a test failed. */
void finding_print(json_t *sample);
