// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records the demo, which `stalltop -R demo` shows: 72 seconds of a small site, in which a
 * file system is frozen at first, and later the CPU quota of a service is used up.
 *
 * demo FOLDER: the recording is a file of the folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/guard.h"
#include "tests/lib/scratch.h"
#include "tests/ui/picture_stage.h"

/* When the incidents are, and how long all takes, in seconds. */
static const struct {
	unsigned at;
	void (*change)(bool on);
	bool on;
} acts[] = {
	{ 0, stage_freeze, true },
	{ 24, stage_freeze, false },
	{ 30, stage_ration, true },
	{ 54, stage_ration, false },
};
#define SAMPLES "24"

/* Records the stage alone to a folder, while the incidents happen. The recorder's exit status. */
static int record(const char *program, const char *path)
{
	char *processes = stage_processes();
	unsigned now = 0;
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl(program, "stalltop", "-w", path, "--keep", "1d,1G", "-b", "--output",
		      "/dev/null", "--trace", "-p", processes, "-F",
		      "+syscall,on,where,cgroup,read,write", "-d", "3", "-n", SAMPLES, NULL);
		_exit(127);
	}
	free(processes);
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		nanosleep(&(struct timespec){ .tv_sec = acts[i].at - now }, NULL);
		now = acts[i].at;
		acts[i].change(acts[i].on);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	const char *program = getenv("STALLTOP");
	int err, status;

	if (argc != 2 || !program) {
		fputs("usage: STALLTOP=PROGRAM demo FOLDER\n", stderr);
		return 2;
	}
	scratch_begin();
	err = stage_open();
	if (err) {
		fprintf(stderr, "demo: %s\n", strerror(-err));
		return 1;
	}
	stage_start();
	stage_ration(false);
	status = record(program, argv[1]);
	scratch_end();
	guard_undo(0);
	return status;
}
