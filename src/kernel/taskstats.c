/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/taskstats.h"

#include <errno.h>
#include <linux/taskstats.h>
#include <netlink/attr.h>
#include <string.h>

#include "base/util.h"

/* ac_comm has this many bytes in every version (TS_COMM_LEN). */
#define COMM_SIZE 32
#define COMM_OFFSET 80
#define COMM_OFFSET15 128

/* A record with its version's layout. */
struct record_view {
	const uint8_t *bytes;
	size_t len;
	int version;
	bool v15;
};

/* Looks at the version and chooses the layout. */
static int view_open(struct record_view *view, const uint8_t *record, size_t len)
{
	int version = taskstats_version(record, len);

	if (version < 0)
		return version;
	*view = (struct record_view){ record, len, version, version == 15 };
	return 0;
}

/* Reads size bytes in host order, unaligned; false where the record ends before them. */
static bool read_bytes(const struct record_view *view, size_t offset, void *to, size_t size)
{
	if (offset > view->len || size > view->len - offset)
		return false;
	memcpy(to, view->bytes + offset, size);
	return true;
}

/* Reads a field of the table; false where this record does not have it. */
static bool read_field(const struct record_view *view, enum record_field field, uint64_t *value)
{
	const struct record_row *row = &record_table[field];
	size_t offset = view->v15 ? row->offset15 : row->offset;
	uint8_t byte;
	uint32_t word;

	if (view->version < row->since)
		return false;
	switch (row->type) {
	case RECORD_U8:
	case RECORD_S8:
		if (!read_bytes(view, offset, &byte, sizeof(byte)))
			return false;
		*value = row->type == RECORD_S8 ? (uint64_t)(int8_t)byte : byte;
		return true;
	case RECORD_U32:
		if (!read_bytes(view, offset, &word, sizeof(word)))
			return false;
		*value = word;
		return true;
	case RECORD_U64:
		break;
	}
	return read_bytes(view, offset, value, sizeof(*value));
}

/* The offsets of a kind in this record's layout. */
static const struct delay_place *place_of(const struct record_view *view, enum delay_kind kind)
{
	return view->v15 ? &delay_table[kind].place15 : &delay_table[kind].place;
}

int taskstats_version(const uint8_t *record, size_t len)
{
	uint16_t version;

	if (len < sizeof(version))
		return -EBADMSG;
	memcpy(&version, record, sizeof(version));
	return version < TASKSTATS_OLDEST ? -EPROTONOSUPPORT : version;
}

int taskstats_counters(const uint8_t *record, size_t len, struct counters *counters)
{
	struct record_view view;
	uint64_t user, system;
	int err = view_open(&view, record, len);

	if (err)
		return err;
	counters->valid = 0;
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++) {
		const struct delay_place *place = place_of(&view, kind);
		struct delay_sum *sum = &counters->delay[kind];

		if (view.version >= delay_table[kind].since &&
		    read_bytes(&view, place->count, &sum->count, sizeof(sum->count)) &&
		    read_bytes(&view, place->total, &sum->ns, sizeof(sum->ns)))
			counters->valid |= DELAY_BOTH(DELAY_BIT(kind));
	}
	if (read_field(&view, RECORD_cpu_run_virtual_total, &counters->run_ns))
		counters->valid |= VALID_RUN;
	if (read_field(&view, RECORD_ac_utime, &user) &&
	    read_field(&view, RECORD_ac_stime, &system)) {
		counters->user_ns = user * NSEC_PER_USEC;
		counters->system_ns = system * NSEC_PER_USEC;
		counters->valid |= VALID_TICK;
	}
	return 0;
}

int taskstats_elapsed(const uint8_t *record, size_t len, uint64_t *elapsed_ns)
{
	struct record_view view;
	uint64_t us;
	int err = view_open(&view, record, len);

	if (err)
		return err;
	if (!read_field(&view, RECORD_ac_etime, &us))
		return -EBADMSG;
	*elapsed_ns = us * NSEC_PER_USEC;
	return 0;
}

int taskstats_identity(const uint8_t *record, size_t len, struct taskstats_identity *out)
{
	struct record_view view;
	uint64_t pid, ppid, uid;
	size_t comm;
	int err = view_open(&view, record, len);

	if (err)
		return err;
	comm = view.v15 ? COMM_OFFSET15 : COMM_OFFSET;
	if (comm + COMM_SIZE > len || !read_field(&view, RECORD_ac_pid, &pid) ||
	    !read_field(&view, RECORD_ac_ppid, &ppid) || !read_field(&view, RECORD_ac_uid, &uid))
		return -EBADMSG;
	err = taskstats_elapsed(record, len, &out->elapsed_ns);
	if (err)
		return err;
	out->pid = (pid_t)pid;
	out->ppid = (pid_t)ppid;
	out->uid = (uid_t)uid;
	out->comm = (const char *)record + comm;
	out->comm_len = COMM_SIZE;
	return 0;
}

/* Takes max, min and the time of the max of one kind, as far as the record has them. */
static void read_range(const struct record_view *view, enum delay_kind kind,
		       struct task_record *out)
{
	const struct delay_place *place = place_of(view, kind);
	int64_t stamp[2];

	if (view->version < 15)
		return;
	if (read_bytes(view, place->max, &out->max[kind], sizeof(out->max[kind])) &&
	    read_bytes(view, place->min, &out->min[kind], sizeof(out->min[kind])))
		out->range_valid |= DELAY_BIT(kind);
	if (view->version < 17 || !read_bytes(view, place->stamp, stamp, sizeof(stamp)))
		return;
	/* A struct __kernel_timespec of wall-clock time; an impossible value counts as no time. */
	if (stamp[0] < 0 || stamp[0] > INT64_C(0xffffffff) || stamp[1] < 0 ||
	    stamp[1] >= (int64_t)NSEC_PER_SEC)
		return;
	out->stamp[kind] = (uint64_t)stamp[0] * NSEC_PER_SEC + (uint64_t)stamp[1];
	out->stamp_valid |= DELAY_BIT(kind);
}

/* Takes wanted fields; the others are left alone. */
static void read_fields(const struct record_view *view, uint64_t wanted, struct task_record *out)
{
	out->fields_valid = 0;
	for (; wanted; wanted &= wanted - 1) {
		enum record_field field = (enum record_field)__builtin_ctzll(wanted);

		if (read_field(view, field, &out->field[field]))
			out->fields_valid |= RECORD_BIT(field);
	}
}

int taskstats_fields(const uint8_t *record, size_t len, uint64_t wanted, struct task_record *out)
{
	struct record_view view;
	int err = view_open(&view, record, len);

	if (!err)
		read_fields(&view, wanted, out);
	return err;
}

int taskstats_record(const uint8_t *record, size_t len, struct task_record *out)
{
	struct record_view view;
	int err = view_open(&view, record, len);

	if (err)
		return err;
	*out = (struct task_record){ 0 };
	read_fields(&view, (RECORD_BIT(RECORD_FIELDS - 1) << 1) - 1, out);
	for (enum delay_kind kind = 0; kind < DELAY_KINDS; kind++)
		read_range(&view, kind, out);
	return 0;
}

/* Reads one TASKSTATS_TYPE_AGGR_* attribute into part. 0 or -EBADMSG. */
static int read_aggregate(struct nlattr *aggregate, bool tgid, struct taskstats_part *part)
{
	int id_type = tgid ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID;
	struct nlattr *attr;
	bool have_id = false;
	int rest;

	*part = (struct taskstats_part){ .tgid = tgid };
	/* Looks for the type, not a position: some CPUs need a TASKSTATS_TYPE_NULL in between. */
	nla_for_each_nested(attr, aggregate, rest)
	{
		if (nla_type(attr) == id_type) {
			if (nla_len(attr) < (int)sizeof(part->id))
				return -EBADMSG;
			part->id = nla_get_u32(attr);
			have_id = true;
		} else if (nla_type(attr) == TASKSTATS_TYPE_STATS) {
			part->record = nla_data(attr);
			part->len = (size_t)nla_len(attr);
		}
	}
	return have_id && part->record && rest <= 0 ? 0 : -EBADMSG;
}

int taskstats_parts(const void *attributes, size_t len, struct taskstats_part *parts, int max)
{
	struct nlattr *attr;
	int n = 0, rest, err;

	if (len > INT32_MAX)
		return -EBADMSG;
	nla_for_each_attr(attr, (struct nlattr *)attributes, (int)len, rest)
	{
		bool tgid = nla_type(attr) == TASKSTATS_TYPE_AGGR_TGID;

		if (!tgid && nla_type(attr) != TASKSTATS_TYPE_AGGR_PID)
			continue;
		if (n == max)
			return n;
		err = read_aggregate(attr, tgid, &parts[n]);
		if (err)
			return err;
		n++;
	}
	return rest > 0 ? -EBADMSG : n;
}
