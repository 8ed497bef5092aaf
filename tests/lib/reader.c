// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/reader.h"

#include <dirent.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* of the taskstats family */
#define CMD_GET 1
#define ASK_PID 1
#define ASK_TGID 2
#define LISTEN_CPUS 3
#define REPLY_STATS 3
#define REPLY_PID 4
#define REPLY_TGID 5

/* NLA_HDRLEN is signed, and so are the macros made of it */
#define ATTR_HEAD sizeof(struct nlattr)

const char *const reader_kind_names[READER_KINDS] = { "cpu",	"blkio",   "swapin", "reclaim",
						      "thrash", "compact", "wpcopy", "irq" };

struct row_key {
	unsigned int since; /* the version that brought the kind */
	unsigned int at; /* offset of its count; the total follows */
	unsigned int at15; /* the same in version 15 */
};

/* Version 15 alone has max and min after each total; from 16 on they are at the end. */
static const struct row_key places[READER_KINDS] = {
	{ 1, 16, 16 }, /* cpu */
	{ 1, 32, 48 }, /* blkio */
	{ 1, 48, 80 }, /* swapin */
	{ 7, 312, 360 }, /* reclaim */
	{ 9, 328, 392 }, /* thrash */
	{ 11, 352, 432 }, /* compact */
	{ 13, 400, 496 }, /* wpcopy */
	{ 14, 416, 528 }, /* irq */
};

#define MAX_AT16 432
#define SHIFT15 48 /* of all that follows the first three kinds */

static int sock = -1;
static int exits = -1;
static uint16_t family;
static uint32_t seq;

/* A u64 from wherever it lies; 0 past the end. */
static uint64_t u64_at(const unsigned char *p, size_t len, size_t at)
{
	uint64_t v = 0;

	if (at + sizeof(v) <= len)
		memcpy(&v, p + at, sizeof(v));
	return v;
}

/* The same of a u32. */
static uint32_t u32_at(const unsigned char *p, size_t len, size_t at)
{
	uint32_t v = 0;

	if (at + sizeof(v) <= len)
		memcpy(&v, p + at, sizeof(v));
	return v;
}

/* The record of whatever version. */
static void decode(const unsigned char *p, size_t len, struct reader_record *rec)
{
	size_t shift, i;
	uint16_t version;

	memset(rec, 0, sizeof(*rec));
	memcpy(&version, p, sizeof(version));
	rec->version = version;
	shift = version == 15 ? SHIFT15 : 0;
	for (i = 0; i < READER_KINDS; i++) {
		struct reader_kind *k = &rec->kind[i];
		size_t at = version == 15 ? places[i].at15 : places[i].at;
		size_t max = version == 15 ? at + 16 : MAX_AT16 + 16 * i;

		k->valid = version >= places[i].since && at + 16 <= len;
		if (!k->valid)
			continue;
		k->count = u64_at(p, len, at);
		k->ns = u64_at(p, len, at + 8);
		if (version >= 15) {
			k->max_ns = u64_at(p, len, max);
			k->min_ns = u64_at(p, len, max + 8);
		}
	}
	rec->run_ns = u64_at(p, len, 72 + shift);
	if (112 + shift <= len)
		memcpy(rec->comm, p + 80 + shift, sizeof(rec->comm) - 1);
	rec->uid = u32_at(p, len, 120 + shift);
	rec->pid = u32_at(p, len, 128 + shift);
	rec->ppid = u32_at(p, len, 132 + shift);
	rec->etime_us = u64_at(p, len, 144 + shift);
	rec->utime_us = u64_at(p, len, 152 + shift);
	rec->stime_us = u64_at(p, len, 160 + shift);
}

/* Attributes start at multiples of 4. */
static size_t padded(size_t len)
{
	return (len + 3) / 4 * 4;
}

/* The attribute of that type among those of a message or a nest. */
static const struct nlattr *find_attr(const void *start, size_t len, uint16_t type)
{
	const unsigned char *p = start;

	while (len >= ATTR_HEAD) {
		const struct nlattr *a = (const void *)p;
		size_t step = padded(a->nla_len);

		if (a->nla_len < ATTR_HEAD || a->nla_len > len)
			return NULL;
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		if (step >= len)
			return NULL;
		p += step;
		len -= step;
	}
	return NULL;
}

/* One request with one attribute. */
static int ask(uint16_t to, uint8_t cmd, uint16_t type, const void *data, size_t len)
{
	struct {
		struct nlmsghdr nlh;
		struct genlmsghdr genl;
		unsigned char attr[64];
	} req = { 0 };
	struct nlattr attr = { .nla_type = type };
	size_t n = NLMSG_LENGTH(GENL_HDRLEN) + ATTR_HEAD + padded(len);

	attr.nla_len = (uint16_t)(ATTR_HEAD + len);
	memcpy(req.attr, &attr, sizeof(attr));
	memcpy(req.attr + ATTR_HEAD, data, len);
	req.nlh.nlmsg_len = (uint32_t)n;
	req.nlh.nlmsg_type = to;
	req.nlh.nlmsg_flags = NLM_F_REQUEST;
	req.nlh.nlmsg_seq = ++seq;
	req.genl.cmd = cmd;
	req.genl.version = 1;
	return send(sock, &req, n, 0) == (ssize_t)n ? 0 : -errno;
}

/* The answer to the last request: the attributes' length, or -errno. */
static ssize_t answer(unsigned char *buf, size_t size, const unsigned char **attrs)
{
	for (;;) {
		const struct nlmsghdr *nlh = (const void *)buf;
		ssize_t n = recv(sock, buf, size, 0);

		if (n < 0)
			return -errno;
		if ((size_t)n < sizeof(*nlh) || nlh->nlmsg_len > (size_t)n)
			return -EBADMSG;
		if (nlh->nlmsg_seq != seq)
			continue;
		if (nlh->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *e = (const void *)(buf + NLMSG_HDRLEN);

			return e->error ? e->error : -EBADMSG;
		}
		*attrs = buf + NLMSG_LENGTH(GENL_HDRLEN);
		return (ssize_t)(nlh->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN));
	}
}

/* The number that the kernel gave the taskstats family at boot. */
static int find_family(void)
{
	unsigned char buf[8192] __attribute__((aligned(8)));
	const unsigned char *attrs;
	const struct nlattr *a;
	ssize_t n;
	int err;

	err = ask(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, "TASKSTATS", 10);
	if (err)
		return err;
	n = answer(buf, sizeof(buf), &attrs);
	if (n < 0)
		return (int)n;
	a = find_attr(attrs, (size_t)n, CTRL_ATTR_FAMILY_ID);
	if (!a)
		return -EBADMSG;
	memcpy(&family, (const unsigned char *)a + ATTR_HEAD, sizeof(family));
	return 0;
}

int reader_open(void)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct timeval patience = { .tv_sec = 5 };
	struct reader_record self;
	int err;

	reader_close();
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (sock < 0)
		return -errno;
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(sock, (const void *)&kernel, sizeof(kernel)))
		err = -errno;
	else
		err = find_family();
	if (!err)
		err = reader_pid(getpid(), &self);
	if (err)
		reader_close();
	return err;
}

void reader_close(void)
{
	if (sock >= 0)
		close(sock);
	sock = -1;
}

/* Query by PID or TGID: the record is in a nest, behind the id. */
static int query(uint16_t what, uint16_t nest, pid_t id, struct reader_record *rec)
{
	unsigned char buf[8192] __attribute__((aligned(8)));
	const unsigned char *attrs;
	const struct nlattr *a;
	uint32_t arg = (uint32_t)id;
	ssize_t n;
	int err;

	err = ask(family, CMD_GET, what, &arg, sizeof(arg));
	if (err)
		return err;
	n = answer(buf, sizeof(buf), &attrs);
	if (n < 0)
		return (int)n;
	a = find_attr(attrs, (size_t)n, nest);
	if (a)
		a = find_attr((const unsigned char *)a + ATTR_HEAD, a->nla_len - ATTR_HEAD,
			      REPLY_STATS);
	if (!a || a->nla_len < ATTR_HEAD + 328)
		return -EBADMSG;
	decode((const unsigned char *)a + ATTR_HEAD, a->nla_len - ATTR_HEAD, rec);
	return 0;
}

int reader_pid(pid_t pid, struct reader_record *rec)
{
	return query(ASK_PID, REPLY_PID, pid, rec);
}

int reader_tgid(pid_t tgid, struct reader_record *rec)
{
	return query(ASK_TGID, REPLY_TGID, tgid, rec);
}

/* The task's record among the attributes of a message. 0 or -EBADMSG. */
static int task_record(const unsigned char *attrs, size_t len, struct reader_record *rec)
{
	const struct nlattr *a = find_attr(attrs, len, REPLY_PID);

	if (a)
		a = find_attr((const unsigned char *)a + ATTR_HEAD, a->nla_len - ATTR_HEAD,
			      REPLY_STATS);
	if (!a || a->nla_len < ATTR_HEAD + 328)
		return -EBADMSG;
	decode((const unsigned char *)a + ATTR_HEAD, a->nla_len - ATTR_HEAD, rec);
	return 0;
}

int reader_listen(void)
{
	struct reader_record self;
	int err, size = 64 << 20, query_socket = sock;
	char cpus[32];

	snprintf(cpus, sizeof(cpus), "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	/* another socket of the same kind */
	sock = -1;
	err = reader_open();
	exits = sock;
	if (!err && setsockopt(exits, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		err = -errno;
	if (!err)
		err = ask(family, CMD_GET, LISTEN_CPUS, cpus, strlen(cpus) + 1);
	/* a refusal comes before the next answer */
	if (!err)
		err = reader_pid(getpid(), &self);
	sock = query_socket;
	if (err)
		reader_unlisten();
	return err;
}

int reader_next_exit(struct reader_record *rec)
{
	unsigned char buf[8192] __attribute__((aligned(8)));
	const struct nlmsghdr *nlh = (const void *)buf;
	ssize_t n;

	do {
		n = recv(exits, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0)
			return -errno;
	} while ((size_t)n < NLMSG_LENGTH(GENL_HDRLEN) || nlh->nlmsg_type != family);
	return task_record(buf + NLMSG_LENGTH(GENL_HDRLEN), (size_t)n - NLMSG_LENGTH(GENL_HDRLEN),
			   rec);
}

void reader_unlisten(void)
{
	if (exits >= 0)
		close(exits);
	exits = -1;
}

/* Reads a file of each of a process's threads and hands the text to add(). */
static int each_thread(pid_t pid, const char *name, int (*add)(const char *text, uint64_t *sum),
		       uint64_t *sum)
{
	char path[320], text[1024];
	struct dirent *d;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (d = readdir(dir))) {
		size_t n = 0;
		FILE *f;

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", (int)pid, d->d_name, name);
		f = fopen(path, "re");
		if (f) {
			n = fread(text, 1, sizeof(text) - 1, f);
			fclose(f);
		}
		text[n] = '\0';
		err = n ? add(text, sum) : -ESRCH;
	}
	closedir(dir);
	return err;
}

/* Adds a schedstat line to three sums. */
static int add_schedstat(const char *text, uint64_t *sum)
{
	unsigned long long v[3];
	int i;

	if (sscanf(text, "%llu %llu %llu", &v[0], &v[1], &v[2]) != 3)
		return -EBADMSG;
	for (i = 0; i < 3; i++)
		sum[i] += v[i];
	return 0;
}

/* Adds field 42 of a stat line; the name in field 2 may hold anything. */
static int add_blkio(const char *text, uint64_t *sum)
{
	const char *p = strrchr(text, ')');
	int field;

	for (field = 2; p && field < 42; field++)
		p = strchr(p + 1, ' ');
	if (!p)
		return -EBADMSG;
	*sum += strtoull(p + 1, NULL, 10);
	return 0;
}

int reader_schedstat(pid_t pid, uint64_t *run, uint64_t *wait, uint64_t *slices)
{
	uint64_t sum[3] = { 0 };
	int err = each_thread(pid, "schedstat", add_schedstat, sum);

	*run = sum[0];
	*wait = sum[1];
	*slices = sum[2];
	return err;
}

int reader_blkio_ticks(pid_t pid, uint64_t *ticks)
{
	*ticks = 0;
	return each_thread(pid, "stat", add_blkio, ticks);
}
