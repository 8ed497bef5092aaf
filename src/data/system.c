/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "data/system.h"

const char *const cpu_state_names[CPU_STATES] = {
	[CPU_USER] = "user",	   [CPU_NICE] = "nice",	    [CPU_SYSTEM] = "system",
	[CPU_IDLE] = "idle",	   [CPU_IOWAIT] = "iowait", [CPU_IRQ] = "irq",
	[CPU_SOFTIRQ] = "softirq", [CPU_STEAL] = "steal",
};

const char *const cgroup_event_names[CGROUP_EVENT_KINDS] = {
	[CGROUP_EVENT_HIGH] = "high",
	[CGROUP_EVENT_MAX] = "max",
	[CGROUP_EVENT_OOM] = "oom",
	[CGROUP_EVENT_OOM_KILL] = "oom_kill",
};
