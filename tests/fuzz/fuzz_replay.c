/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main of a fuzzer where there is no libFuzzer: runs the harness once for
 * each input of its corpora, so that every `make check` holds what fuzzing found.
 * fuzz_NAME takes the inputs of corpus/NAME in the tree and of corpus.made/NAME
 * in the build. Also by hand: fuzz_NAME FILE...
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The harness gets a block of exactly the input's size, so that a sanitizer sees its end. */
static void run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;

	if (file && !fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0) {
		rewind(file);
		data = malloc((size_t)size);
	}
	if (!file || size < 0 || (size && !data) ||
	    fread(data, 1, (size_t)size, file) != (size_t)size) {
		printf("Bail out! can't read %s: %s\n", path, strerror(errno));
		exit(1);
	}
	fclose(file);
	/* The last one named in the log is the one that failed. */
	printf("# %s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
}

/* Runs all files of a folder; how many. One that is not there has none. */
static unsigned run_folder(const char *root, const char *sub, const char *name)
{
	char folder[4096], path[4096 + 256];
	const struct dirent *entry;
	unsigned n = 0;
	DIR *dir;

	if (!root)
		return 0;
	snprintf(folder, sizeof(folder), "%s/%s/%s", root, sub, name);
	dir = opendir(folder);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		run_file(path);
		n++;
	}
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	const char *name = strstr(argv[0], "fuzz_");
	const char *slash = strrchr(argv[0], '/');
	unsigned n = 0;

	for (int i = 1; i < argc; i++)
		run_file(argv[i]);
	if (argc > 1)
		return 0;

	if (slash)
		name = strncmp(slash + 1, "fuzz_", 5) ? NULL : slash + 1;
	if (!name) {
		printf("Bail out! %s is not named fuzz_NAME\n", argv[0]);
		return 1;
	}
	name += strlen("fuzz_");
	printf("1..1\n");
	n += run_folder(getenv("TESTS_SRCDIR"), "fuzz/corpus", name);
	n += run_folder(getenv("TESTS_BUILDDIR"), "fuzz/corpus.made", name);
	printf("%s 1 - %u inputs of %s\n", n ? "ok" : "not ok", n, name);
	return !n;
}
