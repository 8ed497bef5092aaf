/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/remedies.h"

#include <string.h>

#include "base/util.h"

/* Share of a chain from which a root deserves a remedy. */
#define ROOT_LEAST 0.25

/* The nice value that helps others: half of the way to the lowest priority. */
#define NICE_OF_RIVAL "10"

/* The problem to be solved. */
struct remedy_case {
	const struct frame *frame;
	const struct finding *finding; /* NULL: only the chain */
	const struct chain *chain; /* NULL: not traced */
	const struct row *row; /* the delayed task; NULL: a group, or none */
	const struct task_evidence *evidence; /* its evidence; NULL: none */
	const char *on, *where; /* the target and the function of its wait; NULL: unknown */
	struct buf *means, *how;
};

/* ---- Checks ---------------------------------------------------------------------------------- */

/* The largest root of a kind, of another task than `own` (0: any); NULL: there is none. */
static const struct chain_root *find_root(const struct chain *chain, enum chain_root_kind kind,
					  pid_t own)
{
	for (size_t i = 0; chain && i < chain->nroots; i++) {
		const struct chain_root *root = &chain->roots[i];

		if (root->kind == kind && root->tgid > 0 && root->tgid != own &&
		    root->share >= ROOT_LEAST)
			return root;
	}
	return NULL;
}

/* A stopped task, and how it was stopped. */
struct stop {
	pid_t pid;
	const char *name, *how, *on; /* how: in words; on: the stopping task, NULL: unknown */
};

/* Finds the task whose stop causes the problem. False: unknown. */
static bool find_stop(const struct remedy_case *of, struct stop *out)
{
	const struct finding *finding = of->finding;
	bool own =
		finding && finding->kind && !strcmp(finding->kind, wait_state_table[STATE_STOP].id);
	const struct chain_root *root =
		find_root(of->chain, CHAIN_STOPPED, own || !of->row ? 0 : of->row->task->key.pid);

	if (root) {
		*out = (struct stop){ root->tgid, root->name ? root->name : "it",
				      site_stopped_words(root->site),
				      root->site ? root->site->on : NULL };
		return true;
	}
	if (finding && finding->culprit.kind == CULPRIT_AWAITED)
		*out = (struct stop){ finding->culprit.pid, finding->culprit.name, finding->how,
				      NULL };
	else if (own && of->row && finding->how)
		*out = (struct stop){ of->row->task->key.pid, of->row->task->comm, finding->how,
				      NULL };
	else
		return false;
	return true;
}

static enum remedy_applies check_freezer(struct remedy_case *of)
{
	struct stop stopped;

	if (!find_stop(of, &stopped) || !strstr(stopped.how, WAIT_FROZEN))
		return REMEDY_HELPS_NOT;
	buf_puts(of->means, "cgroup.freeze (v1: freezer.state)");
	buf_printf(of->how, "0 (THAWED) thaws the cgroup of %d %s", (int)stopped.pid, stopped.name);
	return REMEDY_HELPS;
}

static enum remedy_applies check_debugger(struct remedy_case *of)
{
	struct stop stopped;

	if (!find_stop(of, &stopped) || (!stopped.on && !strstr(stopped.how, "debugger")))
		return REMEDY_HELPS_NOT;
	buf_puts(of->means, stopped.on ? stopped.on : "its debugger");
	buf_printf(of->how, "have it continue %d %s, or let go of it", (int)stopped.pid,
		   stopped.name);
	return REMEDY_HELPS;
}

static enum remedy_applies check_stopped(struct remedy_case *of)
{
	struct stop stopped;

	if (!find_stop(of, &stopped))
		return REMEDY_HELPS_NOT;
	buf_printf(of->means, "kill -CONT %d", (int)stopped.pid);
	buf_printf(of->how, "%s is stopped and blocks others", stopped.name);
	return REMEDY_HELPS;
}

static enum remedy_applies check_deadlock(struct remedy_case *of)
{
	const struct chain_root *root = find_root(of->chain, CHAIN_DEADLOCK, 0);

	if (!root)
		return REMEDY_HELPS_NOT;
	buf_printf(of->means, "kill %d", (int)root->tgid);
	buf_puts(of->how, remedies_of(REMEDY_DEADLOCK)->how);
	return REMEDY_HELPS;
}

static enum remedy_applies check_frozen(struct remedy_case *of)
{
	const char *words = wait_words(of->where, of->on);

	if (!words || strcmp(words, "frozen") != 0)
		return REMEDY_HELPS_NOT;
	buf_puts(of->means, "fsfreeze -u");
	buf_printf(of->how,
		   "thaws the file system of %s; check first that no backup or snapshot is in "
		   "progress",
		   of->on);
	return REMEDY_HELPS;
}

static enum remedy_applies check_server(struct remedy_case *of)
{
	const char *server = of->on ? strstr(of->on, " (") : NULL;

	if (!of->on || !wait_for_server(of->where))
		return REMEDY_HELPS_NOT;
	buf_puts(of->means, "umount -f");
	buf_printf(of->how,
		   "aborts requests that the server%s does not answer; better: fix or restart the "
		   "server",
		   server ? server : "");
	return REMEDY_HELPS;
}

#define VFORKED \
	"its parent waits in vfork() until it execs or exits: see why it does neither, or end it"

static enum remedy_applies check_vforked(struct remedy_case *of)
{
	if (!of->on || !wait_for_vforked(of->where))
		return REMEDY_HELPS_NOT;
	buf_puts(of->means, of->on);
	buf_puts(of->how, VFORKED);
	return REMEDY_HELPS;
}

/* Prints a file of a group; if its hierarchy's version is unknown, under both names. */
static void put_group_file(struct buf *means, const struct limiting_group *group, const char *v1,
			   const char *v2)
{
	buf_puts(means, group->version == 1 ? v1 : v2);
	if (!group->version && strcmp(v1, v2) != 0)
		buf_printf(means, " (v1: %s)", v1);
	if (group->name)
		buf_printf(means, " of %s", group->name);
}

/* A limit named as the cause is in a group's file, or the task's own. */
static enum remedy_applies check_limit(struct remedy_case *of)
{
	static const struct {
		const char *v1, *v2, *how;
	} limits[] = {
		[LIMIT_CPU] = { "cpu.cfs_quota_us", "cpu.max",
				"raise the quota, or run fewer threads in parallel" },
		[LIMIT_MEMORY] = { "memory.limit_in_bytes", "memory.max",
				   "raise the limit, or reduce memory use" },
		[LIMIT_DEADLINE] = { "chrt -d --sched-runtime", "chrt -d --sched-runtime",
				     "more runtime per period, or less work in it" },
		[LIMIT_REALTIME] = { "cpu.rt_runtime_us", "cpu.rt_runtime_us",
				     "a larger budget, or a scheduling policy that needs none" },
	};
	enum finding_limit limit = of->finding->limit;
	struct limiting_group group = { 0 };

	if (limit == LIMIT_NONE)
		return of->evidence ? REMEDY_HELPS_NOT : REMEDY_MAY_HELP;
	if (of->evidence && limit != LIMIT_DEADLINE)
		group = limit == LIMIT_MEMORY ? of->evidence->memory_group
					      : of->evidence->cpu_group;
	if (of->finding->row->group)
		group.name = (char *)of->finding->row->group->name;
	if (of->finding->culprit.kind == CULPRIT_READER)
		buf_printf(of->how,
			   "raise the limit, or give %d %s, whose reading evicts the others' "
			   "pages, a cgroup of its own",
			   (int)of->finding->culprit.pid, of->finding->culprit.name);
	else
		buf_puts(of->how, limits[limit].how);
	put_group_file(of->means, &group, limits[limit].v1, limits[limit].v2);
	return REMEDY_HELPS;
}

/* The task that runs where this one waits; NULL: unknown. Nobody waits for idle CPUs. */
static const struct row *find_rival(const struct remedy_case *of)
{
	if (!of->evidence || !of->evidence->rival || of->finding->while_idle)
		return NULL;
	return frame_of_pid(of->frame, of->evidence->rival);
}

/* True if a means helps that works between tasks which share CPUs in a way: by the running task. */
static enum remedy_applies check_sharing(struct remedy_case *of, enum cpu_sharing sharing)
{
	const struct row *rival = find_rival(of);
	int pid = rival ? (int)rival->task->key.pid : 0;

	if (of->finding->while_idle)
		return REMEDY_HELPS_NOT;
	if (!rival || of->evidence->sharing == SHARING_UNKNOWN)
		return REMEDY_MAY_HELP;
	if (of->evidence->sharing != sharing)
		return REMEDY_HELPS_NOT;
	if (sharing == SHARING_NICE) {
		buf_printf(of->means, "renice " NICE_OF_RIVAL " %d", pid);
		buf_printf(of->how, "has %s make way for it", rival->task->comm);
	} else if (sharing == SHARING_SESSION) {
		buf_printf(of->means, "echo " NICE_OF_RIVAL " > /proc/%d/autogroup", pid);
		buf_printf(of->how,
			   "has the session of %s make way for it: sessions share CPUs first "
			   "(kernel.sched_autogroup_enabled), and nice counts within one only",
			   rival->task->comm);
	} else {
		put_group_file(of->means, &of->evidence->weighed_group, "cpu.shares", "cpu.weight");
		buf_printf(of->how,
			   "more of it: groups share CPUs first, that of %s is another one, and "
			   "nice counts within one only",
			   rival->task->comm);
	}
	return REMEDY_HELPS;
}

static enum remedy_applies check_nice(struct remedy_case *of)
{
	return check_sharing(of, SHARING_NICE);
}

static enum remedy_applies check_session(struct remedy_case *of)
{
	return check_sharing(of, SHARING_SESSION);
}

static enum remedy_applies check_weight(struct remedy_case *of)
{
	return check_sharing(of, SHARING_GROUP);
}

static enum remedy_applies check_pinned(struct remedy_case *of)
{
	if (!of->evidence)
		return of->finding->while_idle ? REMEDY_MAY_HELP : REMEDY_HELPS_NOT;
	if (!of->finding->while_idle || !of->evidence->pinned)
		return REMEDY_HELPS_NOT;
	buf_printf(of->means, "taskset -cp 0-%zu %d", (size_t)of->frame->info->system->cpus - 1,
		   (int)of->row->task->key.pid);
	buf_puts(of->how, "it may not run on all CPUs, and others of them are idle; cpuset.cpus of "
			  "its group may be what keeps it");
	return REMEDY_HELPS;
}

static enum remedy_applies check_io_limit(struct remedy_case *of)
{
	if (!of->evidence || !of->evidence->io_limits)
		return REMEDY_HELPS_NOT;
	put_group_file(of->means, &of->evidence->io_group, "blkio.throttle.*_device", "io.max");
	buf_puts(of->how, "raise or remove the limit: it waits for that, not for the disk");
	return REMEDY_HELPS;
}

static enum remedy_applies check_writer(struct remedy_case *of)
{
	const struct finding_culprit *culprit = &of->finding->culprit;

	if (culprit->kind != CULPRIT_WRITER && culprit->kind != CULPRIT_WRITES_MOST)
		return REMEDY_MAY_HELP;
	/* ionice -c 3 hardly helped beside a bulk writer, with bfq on 6.18 either. */
	put_group_file(of->means, &(struct limiting_group){ .version = 0 },
		       "blkio.throttle.write_bps_device", "io.max");
	buf_printf(of->how, "limit the cgroup of %d %s: it writes most", (int)culprit->pid,
		   culprit->name);
	return REMEDY_HELPS;
}

static enum remedy_applies check_sync(struct remedy_case *of)
{
	const struct site *site = of->finding->site;
	const struct task_waiting *waiting = of->row ? row_waiting(of->frame, of->row) : NULL;
	const char *call = site ? site->syscall : waiting ? waiting->syscall : NULL;

	if (!call || !strstr(call, "sync"))
		return REMEDY_HELPS_NOT;
	buf_puts(of->means, call);
	buf_puts(of->how, "waits until the disk has the data: call it less often, after larger "
			  "writes, or use a faster disk");
	return REMEDY_HELPS;
}

/* ---- The remedies ---------------------------------------------------------------------------- */

/* clang-format off */
#define R(means, how) { means, how, NULL, NULL }
#define CHECKED(means, how, check, keys) { means, how, check, keys }
#define ON_SCREEN(means, how) { means, how, NULL, "" }
#define UMOUNT \
	CHECKED("umount -f", "aborts requests to the server of a network or FUSE file system that does " \
	  "not answer; better: fix or restart the server", check_server, NULL)
#define MEMORY_LOW \
	R("memory.low", "protects its cgroup's memory from reclaim when the machine is short (see mem " \
	  "and swap)")
#define OTHERS_HIGH \
	R("other groups", "set memory.high on less important groups, to throttle them instead; or end " \
	  "them: hiwater_rss has their peaks")

/* One row per subject, with room for an end. */
static const struct remedy remedies[REMEDY_SUBJECTS][7] = {
	[REMEDY_ALL] = {
		ON_SCREEN("the kinds", "the largest kind names the scarce resource: sort by it (1 to 8) "
		  "and press ? again"),
		ON_SCREEN("w", "shows what the selected row waits for"),
	},
	[REMEDY_CPU] = {
		CHECKED("nice", "a lower nice value gives it more of a contended CPU; or raise that of "
		  "less urgent tasks", check_nice, "F7, F8, r"),
		CHECKED("autogroup", "with kernel.sched_autogroup_enabled, CPU time is first divided "
		  "among sessions: /proc/PID/autogroup has a session's nice value", check_session, NULL),
		CHECKED("cpu.weight", "CPU time is first divided among cgroups by weight; nice acts only "
		  "within one", check_weight, NULL),
		CHECKED("taskset", "the CPUs it is allowed on (affinity, cpuset.cpus) may be busy while "
		  "others are idle", check_pinned, NULL),
		ON_SCREEN("cpu.max", "a throttled group waits even while CPUs are idle (THROT in cgroup "
		  "rows, the detail page): raise the quota; nice does not help"),
	},
	[REMEDY_QUOTA] = {
		CHECKED("cpu.max", "raise the quota, or run fewer threads in parallel; a longer period "
		  "means fewer, longer pauses. On a busy machine a larger quota takes time from other "
		  "groups: set priorities with cpu.weight", check_limit, NULL),
		R("cpu.max.burst", "saves unused quota for later bursts"),
	},
	[REMEDY_RUN] = {
		CHECKED("nice", "on-CPU time is not waiting. If it crowds out others, raise its nice "
		  "value", NULL, "F8"),
		R("cpu.max", "caps its cgroup, even when CPUs are idle"),
	},
	[REMEDY_IO] = {
		CHECKED("io.max", "if its cgroup has an I/O limit, it waits for that, not for the disk: "
		  "raise it", check_io_limit, NULL),
		CHECKED("other groups", "cap the cgroup that saturates the disk (sort by read and write): "
		  "io.max, or blkio.throttle.* of v1; io.latency protects one", check_writer, NULL),
		CHECKED("fsync", "waits until the disk has the data: call it less often, after larger "
		  "writes, or use a faster disk", check_sync, NULL),
		R("ionice", "raise its I/O priority (-c 2 -n 0), or lower that of less urgent tasks (-c 3), "
		  "if the I/O scheduler honours it (bfq); io.weight does so for cgroups"),
		R("memory", "repeated reads of the same data need more page cache: see thrash"),
		ON_SCREEN("w", "shows the files and system calls"),
	},
	[REMEDY_STORAGE] = {
		R("io.max", "the heaviest reader or writer may delay others (blkio): this caps its cgroup"),
		R("ionice", "-c 3 lowers its I/O priority, if the I/O scheduler honours it (bfq)"),
	},
	[REMEDY_MEMORY] = {
		CHECKED("memory.high", "if MHIGH or MMAX rise in its cgroup's row, it is at its own limit: "
		  "raise memory.high or memory.max, or reduce its memory use", check_limit, NULL),
		MEMORY_LOW,
		OTHERS_HIGH,
		R("vm.swappiness", "a lower value swaps programs out later and drops page cache sooner; "
		  "memory.swap.max keeps a group out of swap"),
	},
	[REMEDY_RECLAIM] = {
		CHECKED("memory.high", "above memory.high its cgroup reclaims before each allocation (MHIGH "
		  "counts that): raise it, or memory.max", check_limit, NULL),
		MEMORY_LOW,
		R("watermarks", "a larger vm.watermark_scale_factor makes kswapd reclaim earlier, in the "
		  "background instead of in the allocating task"),
		OTHERS_HIGH,
	},
	[REMEDY_COMPACT] = {
		R("huge pages", "\"defer\" or \"madvise\" in "
		  "/sys/kernel/mm/transparent_hugepage/defrag: then allocations do not stall for huge "
		  "pages"),
		R("compaction", "a larger vm.compaction_proactiveness compacts memory in the background"),
		R("memory", "compaction needs free memory: see reclaim"),
	},
	[REMEDY_WPCOPY] = {
		R("fork", "pages shared since fork() are copied on write: large processes should use "
		  "posix_spawn or vfork, and write less while a forked snapshot lives; without huge "
		  "pages less is copied"),
		R("memory", "the first write to memory only read so far copies the zero page: touch it "
		  "once, or use larger pages"),
	},
	[REMEDY_IRQ] = {
		R("irqbalance", "moves interrupts off its CPU, as /proc/irq/N/smp_affinity does; "
		  "/proc/interrupts and /proc/softirqs count them"),
		R("taskset", "moves the task to CPUs without such interrupts, as cpuset.cpus does"),
	},
	[REMEDY_BLOCKED] = {
		CHECKED("fsfreeze -u", "thaws a frozen file system, as after a backup", check_frozen, NULL),
		UMOUNT,
		CHECKED("its child", VFORKED, check_vforked, NULL),
		R("the function", "the kernel function it sleeps in says what blocks it: a lock, a journal, "
		  "a driver, a server; dmesg has disk errors"),
		R("fewer writers", "writers of one file or directory queue for its lock, whatever their "
		  "priority"),
		ON_SCREEN("w", "shows what it is blocked on: the file, the kernel function and, for locks, "
		  "the waker"),
	},
	[REMEDY_KEPT] = {
		UMOUNT,
		R("the other side", "holds the lock or has to answer: --why -p PID shows what it waits for"),
	},
	[REMEDY_LOCK] = {
		R("the program", "shorten its critical section, or split the lock; priorities help only if "
		  "the holder waits for a CPU"),
		ON_SCREEN("w", "shows the lock and its holder"),
	},
	[REMEDY_PEER] = {
		R("the peer", "has to answer: --why -p PID shows what a local peer waits for"),
		ON_SCREEN("w", "shows the peer that it waits for"),
	},
	[REMEDY_CHILD] = {
		R("the child", "has a row of its own: see what it waits for"),
	},
	[REMEDY_STATE] = {
		CHECKED("cgroup.freeze", "0 (v1: THAWED in freezer.state) thaws a task that "
		  "its cgroup froze", check_freezer, NULL),
		CHECKED("debugger", "a task stopped in a debugger resumes when that continues it",
			check_debugger, NULL),
		CHECKED("kill -CONT", "resumes a task that a signal stopped (T)",
			check_stopped, "k"),
		ON_SCREEN("D", "uninterruptible: it handles no signal (in some calls only KILL) until the "
		  "wait ends. w shows what it waits for"),
		ON_SCREEN("Z", "a zombie: stays until its parent (ppid) reaps it or exits"),
	},
	[REMEDY_DEADLOCK] = {
		CHECKED("kill", "a deadlock lasts until one of its tasks ends; locks that all "
		  "tasks take in the same order cannot deadlock", check_deadlock, NULL),
	},
	[REMEDY_UNCOUNTED] = {
		R("--doctor", "reports what is missing; run as root, or boot with the kernel "
		  "parameter delayacct"),
	},
};

/* Texts like those of notes: see note_append_text(). */
static const char *const of_notes[NOTE_IDS] = {
	[NOTE_DELAYACCT_OFF] =
		"now, for new tasks: sysctl kernel.task_delayacct=1; at boot: kernel parameter "
		"delayacct, or kernel.task_delayacct=1 in /etc/sysctl.d/50-delayacct.conf",
	[NOTE_DELAYACCT_OLDER] =
		"restart {it|them}, or boot with the kernel parameter delayacct",
	[NOTE_DELAYACCT_UNSURE] =
		"the taskstats source can tell (see no-cap)",
	[NOTE_DELAYACCT_LEFT] =
		"switch it off: sysctl kernel.task_delayacct=0; the next run with --enable-delayacct "
		"also does so when it exits",
	[NOTE_NO_CAP] =
		"run as root in the initial user namespace, or give the program "
		"cap_net_admin (setcap cap_net_admin+ep stalltop)",
	[NOTE_NO_TASKSTATS] =
		"needs a kernel with CONFIG_TASKSTATS and CONFIG_TASK_DELAY_ACCT",
	[NOTE_NO_BPF] =
		"stalltop --version shows the kernel's message",
	[NOTE_UNMEASURED] =
		"stalltop --version shows the kernel's message",
	[NOTE_NO_PSI] =
		"boot with the kernel parameter psi=1 (CONFIG_PSI, 4.20 or later)",
	[NOTE_GROUP_PSI] =
		"only groups of cgroup v2 have pressure, while their cgroup.pressure is 1",
	[NOTE_GROUP_THREADED] =
		"-H counts each thread in its own",
	[NOTE_GROUP_UNKNOWN] =
		"a shorter interval (-d)",
	[NOTE_HIDDEN] =
		"run as root, give the program cap_sys_ptrace, or join the group of the mount option gid",
	[NOTE_EXITS_REFUSED] =
		"needs cap_net_admin; the kernel sends them in the initial user, pid and network "
		"namespaces only",
	[NOTE_EXITS_LOST] =
		"a shorter interval (-d), or a larger --exit-buffer",
	[NOTE_EXITS_FOLDED] =
		"a shorter interval (-d)",
	[NOTE_EXITS_INEXACT] =
		"needs Linux 4.12 or later; a larger --exit-buffer reduces losses",
	[NOTE_LATE] =
		"a longer interval (-d)",
	[NOTE_WAITING_HIDDEN] =
		"run as root, or give the program cap_sys_ptrace and cap_dac_read_search (and "
		"cap_sys_admin for stacks); "
		"with kernel.yama.ptrace_scope=1 your own tasks need that, too",
	[NOTE_TRACE_CAP] =
		"run as root, or give the program both (setcap cap_bpf,cap_perfmon+ep stalltop)",
	[NOTE_TRACE_BTF] =
		"needs a kernel with CONFIG_DEBUG_INFO_BTF",
	[NOTE_TRACE_KERNEL] =
		"stalltop --version shows the kernel's message",
	[NOTE_TRACE_UNRECORDED] =
		"record with --trace, or with the wait sites (w) open",
	[NOTE_TRACE_LOST] =
		"a larger --trace-sites, unless many CPUs wait at few sites",
	[NOTE_TRACE_SOURCE] =
		"leave out --source, or ask for bpf",
	[NOTE_TRACE_SYMBOLS] =
		"set kernel.kptr_restrict to 0 or 1, and give the program CAP_SYSLOG where it is not "
		"root",
	[NOTE_READS_HANG] =
		"thaw the file system, or kill its server or the hung task",
	[NOTE_PROC_SUBSET] =
		"mount /proc without subset=pid, or run outside the container",
	[NOTE_RECORD_DROPPED] =
		"a longer interval (-d), or a recording on another disk",
};

static const char *const of_settings[REMEDY_SETTINGS] = {
	[SETTING_PROC] = "mount /proc, and run as root",
	[SETTING_LOCKDOWN] =
		"the kernel is locked down: boot without the kernel parameter lockdown=confidentiality",
	[SETTING_PIDS] = "run on the host, or in its pid namespace (--pid=host, hostPID: true)",
	[SETTING_USERS] = "run on the host, or without a user namespace",
	[SETTING_CGROUPS] = "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
	[SETTING_UNIFIED] = "boot with the kernel parameter systemd.unified_cgroup_hierarchy=1",
	[SETTING_GROUP_PSI] = "write 1 to its cgroup.pressure, or boot with the kernel parameter psi=1",
	[SETTING_CLOCK] = "see /sys/devices/system/clocksource/clocksource0/available_clocksource",
	[SETTING_TERM] = "set TERM, as to xterm-256color, or use -b",
	[SETTING_LOCALE] = "LC_ALL=C.UTF-8",
};
/* clang-format on */

const struct remedy *remedies_of(enum remedy_subject subject)
{
	return remedies[subject];
}

void remedy_append(struct buf *out, const struct remedy *remedy)
{
	buf_puts(out, remedy->how);
	if (remedy->keys && *remedy->keys)
		buf_printf(out, " (%s)", remedy->keys);
}

const char *remedy_of_note(enum note_id id)
{
	return of_notes[id];
}

const char *remedy_of_setting(enum remedy_setting setting)
{
	return of_settings[setting];
}

void remedy_append_note(struct buf *out, const struct note *note)
{
	note_append(out, note);
	if (!of_notes[note->id])
		return;
	buf_puts(out, "; ");
	note_append_text(out, of_notes[note->id], note);
}

/* Prints the first remedy that helps; general: else the first that may. False: none. */
static bool put_first(struct remedy_case *of, enum remedy_subject subject, bool general)
{
	const struct remedy *may = NULL;

	for (const struct remedy *remedy = remedies_of(subject); remedy->means; remedy++) {
		enum remedy_applies applies = remedy->check  ? remedy->check(of)
					      : remedy->keys ? REMEDY_HELPS_NOT
							     : REMEDY_MAY_HELP;

		if (applies == REMEDY_HELPS)
			return true;
		if (applies == REMEDY_MAY_HELP && !may)
			may = remedy;
	}
	if (!general || !may)
		return false;
	buf_puts(of->means, may->means);
	buf_puts(of->how, may->how);
	return true;
}

/* Takes the place of the task's wait. */
static void take_place(struct remedy_case *of)
{
	const struct task_waiting *waiting = of->row ? row_waiting(of->frame, of->row) : NULL;

	if (of->finding->site) {
		of->on = of->finding->site->on;
		of->where = of->finding->site->where;
	} else if (waiting && waiting->where.len) {
		of->on = waiting->on.len ? waiting->on.data : NULL;
		of->where = waiting->where.data;
	}
}

void remedies_put(struct buf *means, struct buf *how, const struct frame *frame,
		  const struct finding *finding, const struct chain *chain)
{
	struct remedy_case of = {
		.frame = frame, .finding = finding, .chain = chain, .means = means, .how = how
	};

	if (finding && finding->row && finding->row->task && !finding->row->group) {
		of.row = finding->row;
		of.evidence = row_evidence(frame, of.row);
	}
	if (put_first(&of, REMEDY_STATE, false) || put_first(&of, REMEDY_DEADLOCK, false) ||
	    !finding)
		return;
	take_place(&of);
	put_first(&of, finding->subject, finding->severity > FINDING_INFO);
}
