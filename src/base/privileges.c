/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/privileges.h"

#include <cap-ng.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/util.h"

/* Capabilities that older headers do not have. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

/* The head of a row. */
#define CAPABILITY(name) CAP_##name, "CAP_" #name

const struct privilege_row privilege_table[] = {
	{ CAPABILITY(NET_ADMIN), PRIVILEGE_COUNTERS, PRIVILEGE_COUNTERS },
	{ CAPABILITY(BPF), PRIVILEGE_PROGRAMS, PRIVILEGE_PROGRAMS },
	{ CAPABILITY(PERFMON), PRIVILEGE_PROGRAMS, PRIVILEGE_PROGRAMS },
	/* /proc mounted with hidepid shows others' tasks to it alone. */
	{ CAPABILITY(SYS_PTRACE), PRIVILEGE_COUNTERS | PRIVILEGE_LOOK,
	  PRIVILEGE_COUNTERS | PRIVILEGE_LOOK },
	/* Stacks; programs before 5.8, which had no capability of their own; the switch. */
	{ CAPABILITY(SYS_ADMIN), PRIVILEGE_LOOK | PRIVILEGE_PROGRAMS | PRIVILEGE_SWITCH,
	  PRIVILEGE_LOOK | PRIVILEGE_PROGRAMS },
	{ CAPABILITY(SYSLOG), PRIVILEGE_LOOK | PRIVILEGE_PROGRAMS,
	  PRIVILEGE_LOOK | PRIVILEGE_PROGRAMS },
	/* Memory for programs before 5.11; windows. */
	{ CAPABILITY(SYS_RESOURCE), PRIVILEGE_PROGRAMS | PRIVILEGE_PRESSURE, PRIVILEGE_PROGRAMS },
	/* Files of others' tasks are readable by their users only. */
	{ CAPABILITY(DAC_READ_SEARCH), PRIVILEGE_LOOK | PRIVILEGE_FILES, 0 },
	{ CAPABILITY(DAC_OVERRIDE), PRIVILEGE_FILES, 0 },
	{ CAPABILITY(CHOWN), PRIVILEGE_FILES, 0 },
	{ CAPABILITY(FOWNER), PRIVILEGE_FILES, 0 },
	{ CAPABILITY(IPC_LOCK), PRIVILEGE_MEMORY, 0 },
	{ CAPABILITY(KILL), PRIVILEGE_ACT, 0 },
	{ CAPABILITY(SYS_NICE), PRIVILEGE_ACT, 0 },
};

const size_t privilege_table_n = ARRAY_SIZE(privilege_table);

bool privileges_foreign(void)
{
	return getauxval(AT_SECURE);
}

/* Whether the program is permitted the capability now. */
static bool is_permitted(int capability)
{
	return capng_have_capability(CAPNG_PERMITTED, (unsigned)capability);
}

/* Has the kernel take over what was chosen. Returns 0 or -errno. */
static int apply_choice(void)
{
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

/* Takes the capabilities that are had for the uses, and no others. Returns 0 or -errno. */
static int keep_capabilities(unsigned uses, bool effective)
{
	const capng_type_t types = effective ? CAPNG_EFFECTIVE | CAPNG_PERMITTED : CAPNG_PERMITTED;
	bool foreign = privileges_foreign(), kept[ARRAY_SIZE(privilege_table)];

	if (capng_get_caps_process())
		return -EPERM;
	for (size_t i = 0; i < ARRAY_SIZE(privilege_table); i++) {
		const struct privilege_row *row = &privilege_table[i];

		kept[i] = (foreign ? row->foreign : row->uses) & uses &&
			  is_permitted(row->capability);
	}
	/* Those that the caller may pass on are not ours to give or take. */
	for (int capability = 0; capability <= CAP_LAST_CAP; capability++)
		capng_update(CAPNG_DROP, CAPNG_EFFECTIVE | CAPNG_PERMITTED, (unsigned)capability);
	for (size_t i = 0; i < ARRAY_SIZE(privilege_table); i++)
		if (kept[i])
			capng_update(CAPNG_ADD, types, (unsigned)privilege_table[i].capability);
	return apply_choice();
}

int privileges_begin(void)
{
	if (getuid() != geteuid() || getgid() != getegid())
		return -EPERM;
	return privileges_foreign() ? keep_capabilities(PRIVILEGE_ALL, false) : 0;
}

int privileges_keep(unsigned uses)
{
	int err = keep_capabilities(uses, true);

	/* Nothing that is started from here on gets any by its file. */
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}

/* Puts foreign privileges in effect, or takes them out. */
static void put_in_effect(bool effective)
{
	if (!privileges_foreign() || capng_get_caps_process())
		return;
	for (int capability = 0; capability <= CAP_LAST_CAP; capability++)
		if (is_permitted(capability))
			capng_update(effective ? CAPNG_ADD : CAPNG_DROP, CAPNG_EFFECTIVE,
				     (unsigned)capability);
	if (apply_choice())
		debug_log("capabilities could not be %s", effective ? "raised" : "lowered");
}

void privileges_rest(void)
{
	put_in_effect(false);
}

void privileges_wake(void)
{
	put_in_effect(true);
}

int privileges_leave(void)
{
	return privileges_foreign() ? keep_capabilities(0, false) : 0;
}
