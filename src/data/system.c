/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "data/system.h"

#include <errno.h>

#include "base/file.h"

const char *const psi_names[PSI_RESOURCES] = {
	[PSI_CPU] = "cpu",
	[PSI_MEMORY] = "memory",
	[PSI_IO] = "io",
	[PSI_IRQ] = "irq",
};

/* Takes a percentage as the kernel writes it, with two decimals, in hundredths. */
static bool take_percent(struct span *text, uint32_t *hundredths)
{
	uint64_t value;

	if (!take_hundredths(text, &value) || value > UINT32_MAX)
		return false;
	*hundredths = (uint32_t)value;
	return true;
}

/* Takes the rest of the line after the word "some" or "full". */
static void parse_line(struct span text, struct psi_line *out)
{
	struct psi_line line = { .valid = true };

	/* The first line counts, should a kernel ever write a line twice. */
	if (out->valid)
		return;
	if (take_word(&text, " avg10=") && take_percent(&text, &line.avg10) &&
	    take_word(&text, " avg60=") && take_percent(&text, &line.avg60) &&
	    take_word(&text, " avg300=") && take_percent(&text, &line.avg300) &&
	    take_word(&text, " total=") && take_uint(&text, &line.total_us) && text.at == text.end)
		*out = line;
}

int psi_parse(const char *text, size_t len, struct psi *out)
{
	struct span rest = { text, text + len }, line;

	*out = (struct psi){ 0 };
	while (take_line(&rest, &line)) {
		if (take_word(&line, "some"))
			parse_line(line, &out->some);
		else if (take_word(&line, "full"))
			parse_line(line, &out->full);
	}
	return out->some.valid || out->full.valid ? 0 : -EBADMSG;
}

double system_cpu_share(const struct system_sample *before, const struct system_sample *now,
			unsigned states)
{
	uint64_t all = 0, sum = 0;

	if (!now->cpu_valid || !before || !before->cpu_valid)
		return -1;
	for (unsigned s = 0; s < CPU_STATES; s++) {
		/* iowait and idle of a CPU can decrease (proc_stat(5)). */
		uint64_t delta =
			now->cpu_ns[s] > before->cpu_ns[s] ? now->cpu_ns[s] - before->cpu_ns[s] : 0;

		all += delta;
		sum += states & 1u << s ? delta : 0;
	}
	return all ? (double)sum / ((double)all / 100.0) : 0;
}

const char *const cpu_state_names[CPU_STATES] = {
	[CPU_USER] = "user",	   [CPU_NICE] = "nice",	    [CPU_SYSTEM] = "system",
	[CPU_IDLE] = "idle",	   [CPU_IOWAIT] = "iowait", [CPU_IRQ] = "irq",
	[CPU_SOFTIRQ] = "softirq", [CPU_STEAL] = "steal",
};

const char *const system_file_names[SYSTEM_FILES] = {
	[SYSTEM_STAT] = "stat",
	[SYSTEM_MEMINFO] = "meminfo",
	[SYSTEM_LOADAVG] = "loadavg",
};

const char *const cgroup_event_names[CGROUP_EVENT_KINDS] = {
	[CGROUP_EVENT_HIGH] = "high",
	[CGROUP_EVENT_MAX] = "max",
	[CGROUP_EVENT_OOM] = "oom",
	[CGROUP_EVENT_OOM_KILL] = "oom_kill",
};
