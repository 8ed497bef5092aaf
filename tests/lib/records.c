// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lib/records.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>

/* Attribute types of linux/taskstats.h, in its order. */
enum { TYPE_PID = 1, TYPE_TGID, TYPE_STATS, TYPE_AGGR_PID, TYPE_AGGR_TGID, TYPE_NULL };

/* A type that no kernel has yet. */
#define TYPE_UNKNOWN 4000

#define PAIR(kind) uint64_t kind##_count, kind##_delay_total
#define RANGE(kind) uint64_t kind##_delay_max, kind##_delay_min
#define STAMP(kind) int64_t kind##_delay_max_ts[2]

/* What lies between the first delays and the ones added later, in every version. */
#define MIDDLE \
	uint64_t cpu_run_real_total, cpu_run_virtual_total; \
	char ac_comm[32]; \
	uint8_t ac_sched __attribute__((aligned(8))); \
	uint8_t ac_pad[3]; \
	uint32_t ac_uid __attribute__((aligned(8))); \
	uint32_t ac_gid, ac_pid, ac_ppid, ac_btime; \
	uint64_t ac_etime __attribute__((aligned(8))); \
	uint64_t ac_utime, ac_stime, ac_minflt, ac_majflt; \
	uint64_t coremem, virtmem, hiwater_rss, hiwater_vm; \
	uint64_t read_char, write_char, read_syscalls, write_syscalls; \
	uint64_t read_bytes, write_bytes, cancelled_write_bytes; \
	uint64_t nvcsw, nivcsw; \
	uint64_t ac_utimescaled, ac_stimescaled, cpu_scaled_run_real_total

#define HEAD \
	uint16_t version; \
	uint32_t ac_exitcode; \
	uint8_t ac_flag, ac_nice

#define GROUP \
	uint32_t ac_tgid; \
	uint64_t ac_tgetime __attribute__((aligned(8))); \
	uint64_t ac_exe_dev, ac_exe_inode

/* Version 17; 8 to 14 and 16 are what it begins with. */
struct plain {
	HEAD;
	uint64_t cpu_count __attribute__((aligned(8)));
	uint64_t cpu_delay_total;
	PAIR(blkio);
	PAIR(swapin);
	MIDDLE;
	PAIR(freepages); /* up to here version 8 */
	PAIR(thrashing); /* 9 */
	uint64_t ac_btime64; /* 10 */
	PAIR(compact); /* 11 */
	GROUP; /* 12 */
	PAIR(wpcopy); /* 13 */
	PAIR(irq); /* 14 */
	RANGE(cpu); /* 16 */
	RANGE(blkio);
	RANGE(swapin);
	RANGE(freepages);
	RANGE(thrashing);
	RANGE(compact);
	RANGE(wpcopy);
	RANGE(irq);
	STAMP(cpu); /* 17 */
	STAMP(blkio);
	STAMP(swapin);
	STAMP(freepages);
	STAMP(thrashing);
	STAMP(compact);
	STAMP(wpcopy);
	STAMP(irq);
};

/* Version 15 alone. */
struct mixed {
	HEAD;
	uint64_t cpu_count __attribute__((aligned(8)));
	uint64_t cpu_delay_total;
	RANGE(cpu);
	PAIR(blkio);
	RANGE(blkio);
	PAIR(swapin);
	RANGE(swapin);
	MIDDLE;
	PAIR(freepages);
	RANGE(freepages);
	PAIR(thrashing);
	RANGE(thrashing);
	uint64_t ac_btime64;
	PAIR(compact);
	RANGE(compact);
	GROUP;
	PAIR(wpcopy);
	RANGE(wpcopy);
	PAIR(irq);
	RANGE(irq);
};

/* What the headers of those versions come to. */
_Static_assert(sizeof(struct plain) == 688, "version 17");
_Static_assert(sizeof(struct mixed) == 560, "version 15");
_Static_assert(offsetof(struct plain, irq_delay_total) + 8 == 432, "version 14");
_Static_assert(offsetof(struct mixed, read_bytes) == 296, "version 15");

static const uint16_t sizes[] = { 328, 344, 352, 368, 400, 416, 432, 560, 560, 688 };

size_t record_size(unsigned version)
{
	if (version > RECORD_NEWEST)
		version = RECORD_NEWEST;
	return version < RECORD_OLDEST ? sizes[0] : sizes[version - RECORD_OLDEST];
}

/* The next of a series of numbers without a zero byte, no two alike. */
static uint64_t next_number(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state | UINT64_C(0x0101010101010101);
}

void record_fill(struct record_values *values, uint64_t seed)
{
	uint64_t state = seed;

#define FILL(type, name) values->name = (type)next_number(&state);
	RECORD_SCALARS(FILL)
#undef FILL
	/* Times that fit into ns, a pid that is one. */
	values->ac_etime &= 0xffffffffff;
	values->ac_utime &= 0xffffffffff;
	values->ac_stime &= 0xffffffffff;
	values->ac_pid &= 0x3fffff;
	values->ac_ppid &= 0x3fffff;
	memset(values->ac_comm, 0, sizeof(values->ac_comm));
	memcpy(values->ac_comm, "a name of ours", 14);
	for (unsigned i = 0; i < RECORD_KINDS; i++) {
		struct record_delay *delay = &values->delay[i];

		delay->count = next_number(&state);
		delay->total = next_number(&state);
		delay->max = next_number(&state);
		delay->min = next_number(&state);
		delay->stamp_sec = (int64_t)(next_number(&state) & 0x7fffffff);
		delay->stamp_nsec = (int64_t)(next_number(&state) % 1000000000);
	}
}

/* The kinds in the order of the manual, under the kernel's names: X(index, name). */
/* clang-format off */
#define KINDS(X) \
	X(0, cpu) X(1, blkio) X(2, swapin) X(3, freepages) X(4, thrashing) X(5, compact) \
	X(6, wpcopy) X(7, irq)
/* clang-format on */

size_t record_make(uint8_t *to, unsigned version, const struct record_values *values)
{
	struct plain plain = { .version = (uint16_t)version };
	struct mixed mixed = { .version = (uint16_t)version };

#define COPY(type, name) plain.name = mixed.name = values->name;
	RECORD_SCALARS(COPY)
#undef COPY
	memcpy(plain.ac_comm, values->ac_comm, sizeof(plain.ac_comm));
	memcpy(mixed.ac_comm, values->ac_comm, sizeof(mixed.ac_comm));
#define COPY(i, name) \
	plain.name##_count = mixed.name##_count = values->delay[i].count; \
	plain.name##_delay_total = mixed.name##_delay_total = values->delay[i].total; \
	plain.name##_delay_max = mixed.name##_delay_max = values->delay[i].max; \
	plain.name##_delay_min = mixed.name##_delay_min = values->delay[i].min; \
	plain.name##_delay_max_ts[0] = values->delay[i].stamp_sec; \
	plain.name##_delay_max_ts[1] = values->delay[i].stamp_nsec;
	KINDS(COPY)
#undef COPY
	memcpy(to, version == 15 ? (const void *)&mixed : &plain, record_size(version));
	return record_size(version);
}

#define PLACE(version, name) \
	((version) == 15 ? (struct record_place){ offsetof(struct mixed, name), \
						  sizeof(((struct mixed *)0)->name) } \
			 : (struct record_place){ offsetof(struct plain, name), \
						  sizeof(((struct plain *)0)->name) })

bool record_scalar(const struct record_values *values, unsigned version, const char *name,
		   uint64_t *value, struct record_place *place)
{
#define FIND(type, member) \
	if (!strcmp(name, #member)) { \
		*value = values->member; \
		*place = PLACE(version, member); \
		return true; \
	}
	RECORD_SCALARS(FIND)
#undef FIND
	return false;
}

/* The place, or none where a record of that version has ended before it. */
static struct record_place within(unsigned version, struct record_place place)
{
	if (place.offset + place.size > record_size(version))
		return (struct record_place){ 0, 0 };
	return place;
}

struct record_kind_places record_kind(unsigned version, unsigned kind)
{
	struct record_kind_places places = { 0 };

#define FIND(i, name) \
	if (kind == i) { \
		places.count = within(version, PLACE(version, name##_count)); \
		places.total = within(version, PLACE(version, name##_delay_total)); \
		places.max = within(version, PLACE(version, name##_delay_max)); \
		places.min = within(version, PLACE(version, name##_delay_min)); \
		if (version >= 17) \
			places.stamp = (struct record_place){ \
				offsetof(struct plain, name##_delay_max_ts), 16 \
			}; \
	}
	KINDS(FIND)
#undef FIND
	return places;
}

struct record_place record_comm(unsigned version)
{
	return PLACE(version, ac_comm);
}

size_t record_attribute(uint8_t *to, unsigned type, const void *data, size_t len)
{
	struct nlattr attr = { (uint16_t)(sizeof(attr) + len), (uint16_t)type };
	size_t padded = (sizeof(attr) + len + 3) & ~(size_t)3;

	memset(to, 0, padded);
	memcpy(to, &attr, sizeof(attr));
	if (len)
		memcpy(to + sizeof(attr), data, len);
	return padded;
}

size_t record_attributes(uint8_t *to, const struct record_message *message)
{
	uint8_t nested[4096];
	size_t n = 0, len = 0;

	if (message->unknown)
		n += record_attribute(nested, TYPE_UNKNOWN, "odd", 3);
	n += record_attribute(nested + n, message->tgid ? TYPE_TGID : TYPE_PID, &message->id,
			      sizeof(message->id));
	if (message->pad)
		n += record_attribute(nested + n, TYPE_NULL, NULL, 0);
	n += record_attribute(nested + n, TYPE_STATS, message->record, message->len);
	if (message->unknown) {
		n += record_attribute(nested + n, TYPE_UNKNOWN + 1, "later", 5);
		len = record_attribute(to, TYPE_UNKNOWN, "a", 1);
	}
	len += record_attribute(to + len, message->tgid ? TYPE_AGGR_TGID : TYPE_AGGR_PID, nested,
				n);
	if (message->unknown)
		len += record_attribute(to + len, TYPE_UNKNOWN + 2, "bytes", 5);
	return len;
}

size_t record_message(uint8_t *to, const struct record_message *message)
{
	struct nlmsghdr header = { .nlmsg_type = message->type,
				   .nlmsg_seq = message->seq,
				   .nlmsg_pid = message->port };
	struct genlmsghdr generic = { .cmd = message->cmd, .version = 1 };
	size_t len = sizeof(header) + sizeof(generic);

	len += record_attributes(to + len, message);
	header.nlmsg_len = (uint32_t)len;
	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), &generic, sizeof(generic));
	return len;
}

size_t record_error(uint8_t *to, uint32_t seq, int error)
{
	struct nlmsghdr header = { .nlmsg_len = sizeof(header) + sizeof(struct nlmsgerr),
				   .nlmsg_type = NLMSG_ERROR,
				   .nlmsg_seq = seq };
	struct nlmsgerr body = { .error = error };

	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), &body, sizeof(body));
	return header.nlmsg_len;
}
