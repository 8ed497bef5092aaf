/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "data/system.h"

#include <errno.h>

#include "base/file.h"
#include "base/util.h"

const char *const psi_names[PSI_RESOURCES] = {
	[PSI_CPU] = "cpu",
	[PSI_MEMORY] = "memory",
	[PSI_IO] = "io",
	[PSI_IRQ] = "irq",
};

/* Parses a percentage with two decimals, as the kernel writes it, in hundredths. */
static bool take_percent(struct span *text, uint32_t *hundredths)
{
	uint64_t value;

	if (!take_hundredths(text, &value) || value > UINT32_MAX)
		return false;
	*hundredths = (uint32_t)value;
	return true;
}

/* Parses the rest of the line after the word "some" or "full". */
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

/* Error of counters in such a time, in ns: readings are not taken at one moment. */
static uint64_t counter_slack(uint64_t passed_ns)
{
	return passed_ns / 4 + 50 * NSEC_PER_MSEC;
}

/* True if some counter can have grown by so much in the time that passed. */
static bool can_grow(uint64_t grown_ns, uint64_t passed_ns)
{
	return grown_ns <= passed_ns + counter_slack(passed_ns);
}

bool psi_grown(const struct psi_line *before, const struct psi_line *now, uint64_t passed_ns,
	       uint64_t *us)
{
	if (!before || !before->valid || !now->valid || !passed_ns ||
	    now->total_us < before->total_us)
		return false;
	*us = now->total_us - before->total_us;
	return *us <= UINT64_MAX / NSEC_PER_USEC && can_grow(*us * NSEC_PER_USEC, passed_ns);
}

bool system_cpu_grown(const struct system_sample *before, const struct system_sample *now,
		      uint64_t ns[CPU_STATES])
{
	uint64_t passed_ns, all_ns, sum = 0;
	unsigned cpus;

	if (!before || !before->cpu_valid || !now->cpu_valid)
		return false;
	passed_ns = now->pressure.read_ns - before->pressure.read_ns;
	cpus = now->cpus > before->cpus ? now->cpus : before->cpus;
	all_ns = passed_ns * cpus;
	for (unsigned s = 0; s < CPU_STATES; s++) {
		uint64_t was = before->cpu_ns[s], is = now->cpu_ns[s];

		/* iowait and idle of a CPU can decrease a little (proc_stat(5)). */
		if (all_ns && is < was &&
		    ((s != CPU_IDLE && s != CPU_IOWAIT) || was - is > counter_slack(all_ns)))
			return false;
		ns[s] = is > was ? is - was : 0;
		if (all_ns && !can_grow(ns[s], all_ns))
			return false;
		sum += ns[s];
	}
	return !all_ns || can_grow(sum, all_ns);
}

double system_cpu_share(const struct system_sample *before, const struct system_sample *now,
			unsigned states)
{
	uint64_t ns[CPU_STATES], all = 0, sum = 0;

	if (!system_cpu_grown(before, now, ns))
		return -1;
	for (unsigned s = 0; s < CPU_STATES; s++) {
		all += ns[s];
		sum += states & 1u << s ? ns[s] : 0;
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
