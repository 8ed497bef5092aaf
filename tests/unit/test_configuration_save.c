/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of the configuration: that it is written whole, where it is, and who may write it. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/configuration.h"
#include "base/pattern.h"
#include "base/util.h"
#include "tests/lib/standard.h"
#include "tests/lib/tree.h"

/* A file below a test's tree. */
static char *path_in(const struct tree *tree, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", tree->path, name) > 0);
	return path;
}

/* Asserts what a file holds. */
static void assert_file(const char *path, const char *expected)
{
	char text[4096];
	FILE *file = fopen(path, "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	assert_string_equal(text, expected);
}

/* The number of entries in a directory. */
static int entries(const char *path)
{
	char command[256], line[64] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(line, sizeof(line), pipe));
	pclose(pipe);
	return atoi(line);
}

/* A preset alone is written: what was set besides stays out of the file. */
TREE_TEST(test_save_preset)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "p/stalltop/config");
	struct buf message = { 0 };
	struct view_config view = { .query.sort = column_sort_default(&task_columns) };

	assert_true(view_keep_preset(&view, "mine", &message));
	assert_int_equal(configuration_save_preset(path, view_preset(&view), false, &message),
			 CONFIGURATION_SAVED);
	assert_file(path, "preset = mine: sort=+total, unit=percent, group=process\n");
	assert_int_equal(configuration_save_preset(NULL, view_preset(&view), true, &message),
			 CONFIGURATION_FAILED);
	buf_free(&message);
	view_config_free(&view);
	free(path);
}

/* Directories are made, only its owner may read, and what is there keeps its mode. */
TREE_TEST(test_save)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "a/stalltop/config");
	struct options options;
	struct buf message = { 0 }, text = { 0 };
	struct stat info;

	options_default(&options);
	options.view.unit = UNIT_COUNT;
	assert_int_equal(configuration_save(path, &options.view, false, &message),
			 CONFIGURATION_SAVED);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	configuration_load(path, &options, &text, &message);
	assert_int_equal(options.view.unit, UNIT_COUNT);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(configuration_save(path, &options.view, false, &message),
			 CONFIGURATION_SAVED);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0640);
	options_free(&options);
	buf_free(&message);
	buf_free(&text);
	free(path);
}

/* A link is followed when that was asked for, and not replaced. */
TREE_TEST(test_save_link)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "link"), *real = path_in(tree, "real/file");
	struct options options;
	struct buf message = { 0 };
	struct stat info;

	put_text(tree, "real/file", "# kept\n");
	assert_int_equal(symlinkat("real/file", tree->fd, "link"), 0);
	options_default(&options);
	assert_int_equal(configuration_save(path, &options.view, false, &message),
			 CONFIGURATION_ASK);
	assert_non_null(strstr(buf_cstr(&message), "is a link to "));
	assert_non_null(strstr(buf_cstr(&message), "real/file; write there?"));
	assert_file(real, "# kept\n");
	assert_int_equal(configuration_save(path, &options.view, true, &message),
			 CONFIGURATION_SAVED);
	assert_int_equal(lstat(path, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_file(real, "# kept\ndelay = 2\nsort = -total\nunit = percent\n" STANDARD_REST);
	buf_free(&message);
	free(path);
	free(real);
}

/* The same where the folder is one, and where what it leads to is broken, too. */
TREE_TEST(test_save_linked_folder)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "stalltop/config"), *real = path_in(tree, "etc/config");
	struct options options;
	struct buf message = { 0 };

	put_text(tree, "etc/config", "what\n");
	assert_int_equal(symlinkat("etc", tree->fd, "stalltop"), 0);
	options_default(&options);
	assert_int_equal(configuration_save(path, &options.view, false, &message),
			 CONFIGURATION_ASK);
	assert_non_null(strstr(buf_cstr(&message), "/etc/config; configuration line 1: "));
	assert_file(real, "what\n");
	assert_int_equal(configuration_save(path, &options.view, true, &message),
			 CONFIGURATION_SAVED);
	buf_free(&message);
	free(path);
	free(real);
}

/* Root with another's HOME leaves nothing there that is root's. */
TREE_TEST(test_save_for_owner)
{
	struct tree *tree = *state;
	static const char *const made[] = { ".config", ".config/stalltop",
					    ".config/stalltop/config" };
	char *path = path_in(tree, "home/.config/stalltop/config");
	struct options options;
	struct buf message = { 0 };
	struct stat info;

	if (geteuid()) {
		print_message("only root has another's HOME\n");
		free(path);
		skip();
	}
	put_dir(tree, "home");
	assert_int_equal(fchownat(tree->fd, "home", 65534, 65533, 0), 0);
	options_default(&options);
	assert_int_equal(configuration_save(path, &options.view, false, &message),
			 CONFIGURATION_SAVED);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		char *one = path_in(tree, "home/");

		one = xreallocarray(one, strlen(one) + strlen(made[i]) + 1, 1);
		strcat(one, made[i]);
		assert_int_equal(stat(one, &info), 0);
		assert_true(info.st_uid == 65534 && info.st_gid == 65533);
		free(one);
	}
	buf_free(&message);
	free(path);
}

/* Skips the test, and frees its paths, where no link can be made somebody else's. */
static void require_root(char *path, char *real)
{
	if (!geteuid())
		return;
	print_message("only root can make a link somebody else's\n");
	free(path);
	free(real);
	skip();
}

/* Somebody else's link is not followed: it may lead to what only we may write. */
TREE_TEST(test_save_foreign_link)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "link"), *real = path_in(tree, "real/file");
	struct options options;
	struct buf message = { 0 };

	require_root(path, real);
	put_text(tree, "real/file", "unit = ms\n");
	assert_int_equal(symlinkat("real/file", tree->fd, "link"), 0);
	assert_int_equal(fchownat(tree->fd, "link", 65534, 65534, AT_SYMLINK_NOFOLLOW), 0);
	options_default(&options);
	for (int force = 0; force < 2; force++) {
		message.len = 0;
		assert_int_equal(configuration_save(path, &options.view, force, &message),
				 CONFIGURATION_FAILED);
		assert_non_null(strstr(buf_cstr(&message), "is a link of another user"));
	}
	assert_file(real, "unit = ms\n");
	buf_free(&message);
	free(path);
	free(real);
}

/* Nor is one above its folder: a home's owner can have any folder in it lead elsewhere. */
TREE_TEST(test_save_foreign_folder)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "config/stalltop/config"),
	     *real = path_in(tree, "etc/stalltop/config");
	struct options options;
	struct buf message = { 0 };

	require_root(path, real);
	put_text(tree, "etc/stalltop/config", "unit = ms\n");
	assert_int_equal(symlinkat("etc", tree->fd, "config"), 0);
	options_default(&options);
	for (int foreign = 1; foreign >= 0; foreign--) {
		uid_t owner = foreign ? 65534 : 0;

		assert_int_equal(fchownat(tree->fd, "config", owner, owner, AT_SYMLINK_NOFOLLOW),
				 0);
		message.len = 0;
		assert_int_equal(configuration_save(path, &options.view, true, &message),
				 foreign ? CONFIGURATION_FAILED : CONFIGURATION_SAVED);
		if (foreign)
			assert_file(real, "unit = ms\n");
	}
	buf_free(&message);
	free(path);
	free(real);
}

/* A broken file is replaced only when that was asked for. */
TREE_TEST(test_save_broken)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "config");
	struct options options;
	struct buf message = { 0 };

	put_text(tree, "config", "unit = ms\nwhat\nrows = x\n");
	options_default(&options);
	assert_int_equal(configuration_save(path, &options.view, false, &message),
			 CONFIGURATION_ASK);
	assert_string_equal(buf_cstr(&message),
			    "configuration line 2: it is not NAME = VALUE "
			    "(and 1 more); turn such lines into comments and write?");
	assert_file(path, "unit = ms\nwhat\nrows = x\n");
	assert_int_equal(configuration_save(path, &options.view, true, &message),
			 CONFIGURATION_SAVED);
	assert_file(path,
		    "# what\n# rows = x\ndelay = 2\nsort = -total\nunit = percent\n" STANDARD_REST);
	assert_int_equal(entries(tree->path), 1);
	buf_free(&message);
	free(path);
}

/* Where the disk is full the old file stays whole, and nothing is left beside it. */
TREE_TEST(test_save_full)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "config");
	struct rlimit old, small = { 0 };
	struct options options;
	struct buf message = { 0 };
	enum configuration_saved saved;

	put_text(tree, "config", "unit = ms\n# kept\n");
	options_default(&options);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	small.rlim_cur = 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	saved = configuration_save(path, &options.view, false, &message);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(saved, CONFIGURATION_FAILED);
	assert_non_null(strstr(buf_cstr(&message), strerror(EFBIG)));
	assert_non_null(strstr(buf_cstr(&message), path));
	assert_file(path, "unit = ms\n# kept\n");
	assert_int_equal(entries(tree->path), 1);
	buf_free(&message);
	free(path);
}

/* Where no file can be made, or no place is known, it is said. */
TREE_TEST(test_save_nowhere)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "file/stalltop/config");
	struct options options;
	struct buf message = { 0 };

	put_text(tree, "file", "");
	options_default(&options);
	assert_int_equal(configuration_save(path, &options.view, true, &message),
			 CONFIGURATION_FAILED);
	assert_non_null(strstr(buf_cstr(&message), strerror(ENOTDIR)));
	assert_int_equal(configuration_save(NULL, &options.view, false, &message),
			 CONFIGURATION_FAILED);
	buf_free(&message);
	free(path);
}

/* A file that cannot be read is said, and replaced only when that was asked for. */
TREE_TEST(test_unreadable)
{
	struct tree *tree = *state;
	char *path = path_in(tree, "config"), *none = path_in(tree, "none");
	struct options options, standard;
	struct buf message = { 0 }, text = { 0 };

	put_dir(tree, "config");
	options_default(&options);
	standard = options;
	configuration_load(none, &options, &text, &message);
	configuration_load(NULL, &options, &text, &message);
	assert_int_equal(message.len, 0);
	configuration_load(path, &options, &text, &message);
	assert_non_null(strstr(buf_cstr(&message), strerror(EISDIR)));
	assert_memory_equal(&options, &standard, sizeof(options));
	assert_int_equal(configuration_save(path, &options.view, false, &message),
			 CONFIGURATION_ASK);
	assert_int_equal(configuration_save(path, &options.view, true, &message),
			 CONFIGURATION_FAILED);
	buf_free(&message);
	buf_free(&text);
	free(path);
	free(none);
}

/* Where the file is. */
TEST(test_path)
{
	char *path;

	setenv("HOME", "/home/me", 1);
	setenv("XDG_CONFIG_HOME", "/etc/mine", 1);
	path = configuration_path();
	assert_string_equal(path, "/etc/mine/stalltop/config");
	free(path);
	setenv("XDG_CONFIG_HOME", "relative", 1);
	path = configuration_path();
	assert_string_equal(path, "/home/me/.config/stalltop/config");
	free(path);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	assert_null(configuration_path());
}
