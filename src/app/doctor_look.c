/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "app/doctor.h"
#include "base/file.h"
#include "base/privileges.h"
#include "base/util.h"
#include "bpf/exact.h"
#include "cgroup/hierarchy.h"
#include "kernel/delayacct_switch.h"
#include "kernel/proc.h"
#include "model/sampler.h"
#include "model/source.h"

/* The inodes of the first namespaces (include/linux/proc_ns.h). */
#define FIRST_USERS 0xeffffffdUL
#define FIRST_PIDS 0xeffffffcUL

/* Between the two samples: long enough for an exit listener to be refused. */
#define INTERVAL_NS (200 * NSEC_PER_MSEC)

/* Reads the first line of a file of the kernel's; "" where it cannot be read. */
static void read_word(char *word, const char *path)
{
	int len = file_read(AT_FDCWD, path, word, DOCTOR_WORD - 1);

	word[len > 0 ? len : 0] = '\0';
	word[strcspn(word, "\n")] = '\0';
}

/* Leaves of "a [b] c" what is in brackets, as files of choices have it. */
static void keep_chosen(char *word)
{
	const char *begin = strchr(word, '['), *end = begin ? strchr(begin, ']') : NULL;
	size_t len;

	if (!end)
		return;
	len = (size_t)(end - begin) - 1;
	memmove(word, begin + 1, len);
	word[len] = '\0';
}

/* Whether a namespace of this process is not the machine's first. */
static bool is_guest(int procfd, const char *name, unsigned long first)
{
	struct stat stat_of;

	return !fstatat(procfd, name, &stat_of, 0) && (unsigned long)stat_of.st_ino != first;
}

/* Takes two samples with all that can be asked for, and keeps what their notes say. */
static void sample(struct doctor_facts *facts, struct proc *proc)
{
	const struct sampler_config config = { .privileges = PRIVILEGE_ALL,
					       .proc = proc,
					       .exits = true,
					       .delayacct_file = DELAYACCT_FILE,
					       .trace = true };
	const struct timespec interval = { 0, INTERVAL_NS };
	struct sampler *sampler = NULL;
	const struct frame *frame = NULL;

	facts->error = sampler_open(&sampler, &config);
	if (!facts->error)
		facts->error = sampler_tick(sampler, 0, &frame);
	if (!facts->error) {
		nanosleep(&interval, NULL);
		facts->error = sampler_tick(sampler, 0, &frame);
	}
	if (!facts->error) {
		const struct frame_head *head = &frame->info->head;

		snprintf(facts->source, sizeof(facts->source), "%s", head->source);
		facts->taskstats_version = head->taskstats_version;
		memcpy(facts->notes, head->notes, head->nnotes * sizeof(*head->notes));
		facts->nnotes = head->nnotes;
	}
	if (sampler)
		sampler_close(sampler);
}

/* Tries what a sample uses only at times. */
static void try_programs(struct doctor_facts *facts, struct proc *proc)
{
	const struct source_env env = { .proc = proc };
	struct source source;
	struct exact *exact = NULL;

	facts->bpf = source_open(&source, "bpf", &env);
	source_close(&source);
	facts->exact = exact_open(&exact);
	exact_close(exact);
}

/* Looks at the groups. */
static void look_at_hierarchy(struct doctor_facts *facts, int procfd)
{
	struct hierarchy hierarchy = { .fd = -1 };

	if (hierarchy_open(&hierarchy, procfd, NULL))
		return;
	facts->hierarchy = hierarchy.fd >= 0 ? hierarchy.version : 0;
	/* The root has none before 6.1. */
	facts->group_pressure = !access("/proc/pressure/cpu", R_OK);
	hierarchy_close(&hierarchy);
}

/*
 * Whether the system calls of others' tasks can be read: of the first two processes, which are
 * others' but for root's (some machines protect the first). 0 or -errno.
 */
static int look_at_call(int procfd)
{
	static const char *const files[] = { "2/syscall", "1/syscall" };
	char word[DOCTOR_WORD];
	int got = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		got = file_read(procfd, files[i], word, sizeof(word));
		if (got != -EACCES && got != -EPERM)
			return 0;
	}
	return got;
}

void doctor_look(struct doctor_facts *facts, struct proc *proc, bool utf8)
{
	struct utsname kernel;

	*facts = (struct doctor_facts){ .uid = (unsigned)geteuid(),
					.utf8 = utf8,
					.terminal = getenv("TERM") };
	if (!uname(&kernel)) {
		snprintf(facts->release, sizeof(facts->release), "%s", kernel.release);
		snprintf(facts->machine, sizeof(facts->machine), "%s", kernel.machine);
	}
	sample(facts, proc);
	try_programs(facts, proc);
	look_at_hierarchy(facts, proc->fd);
	facts->waiting = look_at_call(proc->fd);
	facts->guest_pids = is_guest(proc->fd, "self/ns/pid", FIRST_PIDS);
	facts->guest_users = is_guest(proc->fd, "self/ns/user", FIRST_USERS);
	read_word(facts->lockdown, "/sys/kernel/security/lockdown");
	keep_chosen(facts->lockdown);
	read_word(facts->clock, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}
