// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/scratch.h"

#include "tests/lib/test.h"
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CHILDREN 256

static char **kept;
static size_t n_kept;
static pid_t children[MAX_CHILDREN];
static size_t n_children;
static char folder[64];
static pid_t test_pid; /* the test's also in its children */

char *scratch_keep(char *text)
{
	assert_non_null(text);
	kept = realloc(kept, (n_kept + 1) * sizeof(*kept));
	assert_non_null(kept);
	kept[n_kept++] = text;
	return text;
}

const char *scratch_format(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	assert_true(n >= 0);
	return scratch_keep(text);
}

const char *scratch_ours(const char *text)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	unsigned int rest = (unsigned int)test_pid;
	char word[] = "crowd", *ours, *at;

	if (!strstr(text, word))
		return text;
	ours = scratch_keep(strdup(text));
	for (size_t i = sizeof(word) - 2; i > 0; i--, rest /= 36)
		word[i] = digits[rest % 36];
	while ((at = strstr(ours, "crowd")))
		memcpy(at, word, sizeof(word) - 1);
	return ours;
}

void scratch_begin(void)
{
	test_pid = getpid();
	snprintf(folder, sizeof(folder), "/tmp/stalltop-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
}

/* Removes what is found. */
static int remove_found(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void scratch_end(void)
{
	while (n_children)
		scratch_kill(children[n_children - 1]);
	while (n_kept)
		free(kept[--n_kept]);
	free(kept);
	kept = NULL;
	nftw(folder, remove_found, 16, FTW_DEPTH | FTW_PHYS);
}

int scratch_set_up(void **state)
{
	(void)state;
	scratch_begin();
	return 0;
}

int scratch_tear_down(void **state)
{
	(void)state;
	scratch_end();
	return 0;
}

const char *scratch_folder(void)
{
	return folder;
}

const char *scratch_path(const char *name)
{
	return scratch_format("%s/%s", folder, name);
}

const char *scratch_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return path;
}

const char *scratch_read(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t len = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &len, 0, f) < 0 && text)
		*text = '\0';
	fclose(f);
	return text ? scratch_keep(text) : "";
}

pid_t scratch_child(pid_t pid)
{
	if (pid <= 0)
		return 0;
	assert_true(n_children < MAX_CHILDREN);
	children[n_children++] = pid;
	return pid;
}

void scratch_forget(pid_t pid)
{
	for (size_t i = 0; i < n_children; i++)
		if (children[i] == pid)
			children[i--] = children[--n_children];
}

/* Whether it has children now. */
static bool has_children(pid_t pid)
{
	char path[64];
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "re");
	c = f ? fgetc(f) : EOF;
	if (f)
		fclose(f);
	return c != EOF;
}

void scratch_kill(pid_t pid)
{
	size_t i = 0;

	while (i < n_children && children[i] != pid)
		i++;
	if (i == n_children)
		return;
	children[i] = children[--n_children];
	/* one that the test has waited for is another's by now */
	if (waitpid(pid, NULL, WNOHANG))
		return;
	/* one that has children of its own ends them before itself */
	kill(pid, SIGTERM);
	for (int ms = 0; ms < 30000; ms++) {
		if (waitpid(pid, NULL, WNOHANG))
			return;
		/* a stopped one, and one that takes no notice */
		if (ms == 20000 || !has_children(pid))
			kill(pid, SIGKILL);
		usleep(1000);
	}
}

int scratch_dying(void (*run)(void), char *text, size_t size)
{
	int ends[2], status;
	size_t len = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		run();
		_exit(98);
	}
	close(ends[1]);
	while (len < size - 1 && (got = read(ends[0], text + len, size - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void scratch_skip_test(const char *test, const char *reason)
{
	printf("# skip: %s: %s\n", test, reason);
	fflush(stdout);
	skip();
}
