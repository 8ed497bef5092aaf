// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * floor [ROUNDS]: the least that the ways to the counters can cost, as CPU time of the
 * kernel's work alone: nothing is decoded, compared or printed. Each pass comes after a
 * second of sleep, as in a monitor: the caches are cold. It prints a line for each pass and
 * round, with tabs between: the pass, CPU time in us, how many tasks it met. A pass that
 * cannot be had prints "-" and the reason.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if BPF_BUILT
#include <bpf/bpf.h>
#include <empty.skel.h>

#include "bpf/snapshot.h"
#endif

#define LIST_BUFFER (256 << 10)
#define PACK 64
#define RECEIVE_BUFFER (1 << 20)
#define REPLY_SIZE 2048
/* NLA_HDRLEN is signed, and so are the macros made of it */
#define ATTR_HEAD sizeof(struct nlattr)

/* A way to the counters. open: 0 or -errno, once; pass: how many tasks it met, or -errno. */
struct way {
	const char *name;
	int (*open)(void);
	long (*pass)(void);
};

/* A request for one process's counters; its size is a multiple of 4. */
struct request {
	struct nlmsghdr head;
	struct genlmsghdr genl;
	struct nlattr attr;
	uint32_t pid;
};

static int procfd = -1;
static char list[LIST_BUFFER] __attribute__((aligned(8)));

static pid_t *pids;
static size_t n_pids, pids_cap;

static int sock = -1;
static uint16_t family;
static struct request requests[PACK];
static char replies[PACK][REPLY_SIZE];

/* ------------------------------------------------------------------- /proc */

static int open_proc(void)
{
	procfd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return procfd < 0 ? -errno : 0;
}

/* Calls `each` for the processes of /proc, or for none. How many there are, or -errno. */
static long walk_proc(void (*each)(pid_t pid))
{
	long got, n = 0;

	if (lseek(procfd, 0, SEEK_SET) < 0)
		return -errno;
	while ((got = syscall(SYS_getdents64, procfd, list, sizeof(list))) > 0) {
		long at = 0;

		while (at < got) {
			const struct dirent64 *entry = (const struct dirent64 *)(list + at);

			at += entry->d_reclen;
			if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
				continue;
			n++;
			if (each)
				each((pid_t)strtol(entry->d_name, NULL, 10));
		}
	}
	return got < 0 ? -errno : n;
}

static long pass_proc(void)
{
	return walk_proc(NULL);
}

/* --------------------------------------------------------------- taskstats */

static void note_pid(pid_t pid)
{
	if (n_pids == pids_cap) {
		pids_cap = pids_cap ? pids_cap * 2 : 1024;
		pids = realloc(pids, pids_cap * sizeof(*pids));
		if (!pids)
			abort();
	}
	pids[n_pids++] = pid;
}

/* The family's number, from the controller's reply to a question for its name. */
static int find_family(void)
{
	struct {
		struct nlmsghdr head;
		struct genlmsghdr genl;
		struct nlattr attr;
		char name[sizeof(TASKSTATS_GENL_NAME) + 2]; /* to a multiple of 4 */
	} ask = {
		.head = { .nlmsg_len = sizeof(ask),
			  .nlmsg_type = GENL_ID_CTRL,
			  .nlmsg_flags = NLM_F_REQUEST },
		.genl = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 },
		.attr = { .nla_len = ATTR_HEAD + sizeof(TASKSTATS_GENL_NAME),
			  .nla_type = CTRL_ATTR_FAMILY_NAME },
		.name = TASKSTATS_GENL_NAME,
	};
	char *reply = replies[0];
	ssize_t got;
	size_t at = NLMSG_HDRLEN + GENL_HDRLEN;

	if (send(sock, &ask, sizeof(ask), 0) < 0)
		return -errno;
	got = recv(sock, reply, REPLY_SIZE, 0);
	if (got < 0)
		return -errno;
	while (at + ATTR_HEAD <= (size_t)got) {
		struct nlattr attr;

		memcpy(&attr, reply + at, sizeof(attr));
		if (attr.nla_type == CTRL_ATTR_FAMILY_ID) {
			memcpy(&family, reply + at + ATTR_HEAD, sizeof(family));
			return 0;
		}
		at += (size_t)NLA_ALIGN(attr.nla_len ? attr.nla_len : (int)ATTR_HEAD);
	}
	return -ENOENT;
}

/* Asks for `n` processes in one send; 0, or -errno. The replies wait in the socket. */
static int send_pack(const pid_t *first, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		requests[i] = (struct request){
			.head = { .nlmsg_len = sizeof(struct request),
				  .nlmsg_type = family,
				  .nlmsg_flags = NLM_F_REQUEST },
			.genl = { .cmd = TASKSTATS_CMD_GET, .version = TASKSTATS_GENL_VERSION },
			.attr = { .nla_len = ATTR_HEAD + sizeof(uint32_t),
				  .nla_type = TASKSTATS_CMD_ATTR_TGID },
			.pid = (uint32_t)first[i],
		};
	return send(sock, requests, n * sizeof(struct request), 0) < 0 ? -errno : 0;
}

/* How many of the replies were records, or -errno. The kernel answers within the send. */
static long take_pack(size_t n)
{
	struct mmsghdr messages[PACK] = { 0 };
	struct iovec vectors[PACK];
	long records = 0;
	int got, i;

	for (i = 0; i < (int)n; i++) {
		vectors[i] = (struct iovec){ replies[i], REPLY_SIZE };
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	got = recvmmsg(sock, messages, (unsigned int)n, MSG_DONTWAIT, NULL);
	if (got < 0)
		return -errno;
	for (i = 0; i < got; i++) {
		const struct nlmsghdr *head = (const void *)replies[i];

		if (head->nlmsg_type == family)
			records++;
		else if (head->nlmsg_type == NLMSG_ERROR &&
			 ((const struct nlmsgerr *)NLMSG_DATA(head))->error == -EPERM)
			return -EPERM;
	}
	return records;
}

/* The queries alone, for the processes listed before. */
static long pass_taskstats(void)
{
	long records = 0, got;
	size_t i;

	for (i = 0; i < n_pids; i += PACK) {
		size_t n = n_pids - i < PACK ? n_pids - i : PACK;

		got = send_pack(pids + i, n);
		if (!got)
			got = take_pack(n);
		if (got < 0)
			return got;
		records += got;
	}
	return records;
}

static int open_taskstats(void)
{
	int size = RECEIVE_BUFFER, err;
	long got;

	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (sock < 0)
		return -errno;
	if (setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(sock, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	err = find_family();
	if (!err && procfd < 0)
		err = open_proc();
	if (err)
		return err;
	got = walk_proc(note_pid);
	if (got < 0)
		return (int)got;
	got = pass_taskstats(); /* also touches the buffers once */
	return got < 0 ? (int)got : 0;
}

/* -------------------------------------------------------------------------- */

/* --------------------------------------------------------------------- BPF */

#if BPF_BUILT
static struct empty_bpf *empty;
static struct snapshot *snapshot;

/* What libbpf complains of is said by the error. */
static int be_silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

static int open_empty(void)
{
	libbpf_set_print(be_silent);
	empty = empty_bpf__open_and_load();
	return empty ? 0 : -errno;
}

static long pass_empty(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int err = bpf_prog_test_run_opts(bpf_program__fd(empty->progs.empty), &options);

	return err ? err : (long)empty->bss->met;
}

static int open_walk(void)
{
	return snapshot_open(&snapshot, false, SNAPSHOT_WALK, NULL, NULL);
}

/* Full records of all processes. */
static long pass_walk(void)
{
	struct snapshot_view view;
	int err = snapshot_take(snapshot, SNAPSHOT_WHOLE, &view);

	return err ? err : (long)view.nentries;
}
#endif

/* tests/bench/report.awk knows these names. */
static const struct way ways[] = {
	{ "list", open_proc, pass_proc },
	{ "taskstats", open_taskstats, pass_taskstats },
#if BPF_BUILT
	{ "bpf_empty", open_empty, pass_empty },
	{ "bpf_walk", open_walk, pass_walk },
#endif
};

static double cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int measure(const struct way *way, unsigned long rounds)
{
	int err = way->open();

	while (!err && rounds--) {
		double before;
		long met;

		sleep(1);
		before = cpu_us();
		met = way->pass();
		if (met < 0)
			err = (int)met;
		else
			printf("%s\t%.0f\t%ld\n", way->name, cpu_us() - before, met);
	}
	if (err)
		printf("%s\t-\t%s\n", way->name, strerror(-err));
	return err;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
	size_t i;

	if (!rounds || argc > 2) {
		fputs("usage: floor [ROUNDS]\n", stderr);
		return 2;
	}
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		measure(&ways[i], rounds);
	return 0;
}
