/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "data/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* An element and its number of references. */
struct shared_raw {
	struct task_raw raw;
	unsigned refs;
};

_Static_assert(offsetof(struct shared_raw, raw) == 0, "an element is found by its address");

struct task *task_new(struct task_key key, pid_t tgid)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->refs = 1;
	task->key = key;
	task->latest_ns = key.start_ns;
	task->start_lo = key.start_ns;
	task->start_hi = key.start_ns;
	task->tgid = tgid;
	task->fresh = true;
	return task;
}

void task_unref(struct task *task)
{
	if (!task || --task->refs)
		return;
	free(task->command);
	shared_unref(task->cgroup);
	shared_unref(task->user);
	free(task->pod);
	free(task->container);
	free(task->ended);
	free(task->dropped);
	free(task);
}

void task_set_cgroup(struct task *task, char *path)
{
	shared_unref(task->cgroup);
	task->cgroup = path;
}

void task_set_user(struct task *task, char *user)
{
	shared_unref(task->user);
	task->user = user;
}

void task_set_comm(struct task *task, const char *comm, size_t len)
{
	size_t n = strnlen(comm, len < TASK_COMM_MAX ? len : TASK_COMM_MAX);

	if (!task->comm[n] && !memcmp(task->comm, comm, n))
		return;
	task->other |= NEED_COMMAND;
	memcpy(task->comm, comm, n);
	task->comm[n] = '\0';
}

/* Drops the reference to the times of an element. */
static void drop_times(struct task_raw *raw)
{
	if (raw->times && !--raw->times->refs)
		free(raw->times);
	raw->times = NULL;
}

void task_raw_set_times(struct task_raw *raw, const struct task_times *times)
{
	drop_times(raw);
	if (!times)
		return;
	raw->times = xcalloc(1, sizeof(*raw->times));
	*raw->times = *times;
	raw->times->refs = 1;
}

/* The object that contains an element. */
static struct shared_raw *shared_of(struct task_raw *raw)
{
	return (struct shared_raw *)(void *)raw;
}

struct task_raw *task_raw_new(void)
{
	struct shared_raw *shared = xcalloc(1, sizeof(*shared));

	shared->refs = 1;
	return &shared->raw;
}

struct task_raw *task_raw_ref(struct task_raw *raw)
{
	shared_of(raw)->refs++;
	return raw;
}

void task_raw_unref(struct task_raw *raw)
{
	if (!raw || --shared_of(raw)->refs)
		return;
	task_unref(raw->task);
	drop_times(raw);
	free(raw);
}

/* Drops an element's reference. It stays in place, as a spare one, if no other sample has it. */
static void release_raw(struct task_raw **place)
{
	struct task_raw *raw = *place;

	if (shared_of(raw)->refs > 1) {
		shared_of(raw)->refs--;
		*place = NULL;
		return;
	}
	task_unref(raw->task);
	raw->task = NULL;
	drop_times(raw);
}

/* Makes room for n elements. */
static void reserve_places(struct sample *sample, size_t n)
{
	size_t before = sample->cap;

	if (n <= before)
		return;
	RESERVE(sample->raw, n, sample->cap);
	memset(sample->raw + before, 0, (sample->cap - before) * sizeof(*sample->raw));
}

/* The index of the extra of a place, or where it would be inserted. */
static size_t extra_index(const struct sample *sample, size_t place)
{
	size_t at;

	LOWER_BOUND(at, sample->nextras, sample->extras[at]->place < place);
	return at;
}

struct task_extra *sample_extra(const struct sample *sample, size_t place)
{
	size_t at = extra_index(sample, place);

	return at < sample->nextras && sample->extras[at]->place == place ? sample->extras[at]
									  : NULL;
}

struct task_extra *sample_add_extra(struct sample *sample, size_t place)
{
	size_t at = extra_index(sample, place);

	if (at < sample->nextras && sample->extras[at]->place == place)
		return sample->extras[at];
	GROW(sample->extras, sample->nextras, sample->extras_cap);
	memmove(&sample->extras[at + 1], &sample->extras[at],
		(sample->nextras++ - at) * sizeof(struct task_extra *));
	sample->extras[at] = xcalloc(1, sizeof(struct task_extra));
	sample->extras[at]->place = (uint32_t)place;
	return sample->extras[at];
}

/* The texts owned by evidence. */
#define EVIDENCE_TEXTS(evidence) \
	{ \
		&(evidence)->io_limits, &(evidence)->cpu_group.name, \
			&(evidence)->memory_group.name, &(evidence)->io_group.name, \
			&(evidence)->weighed_group.name \
	}

struct task_evidence *evidence_copy(const struct task_evidence *evidence)
{
	struct task_evidence *copy = xcalloc(1, sizeof(*copy));
	char **const texts[] = EVIDENCE_TEXTS(copy);

	*copy = *evidence;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = xstrdup(*texts[i]);
	return copy;
}

void evidence_free(struct task_evidence *evidence)
{
	if (evidence) {
		char **const texts[] = EVIDENCE_TEXTS(evidence);

		for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
			free(*texts[i]);
	}
	free(evidence);
}

void sample_drop_extras(struct sample *sample)
{
	while (sample->nextras) {
		struct task_extra *extra = sample->extras[--sample->nextras];

		if (extra->waiting) {
			buf_free(&extra->waiting->on);
			buf_free(&extra->waiting->where);
			buf_free(&extra->waiting->stack);
		}
		evidence_free(extra->evidence);
		free(extra->waiting);
		free(extra->held);
		free(extra);
	}
	sample->hangs_read = false;
}

void sample_remove_exited(struct sample *sample)
{
	sample_drop_extras(sample);
	for (size_t i = sample->n; i < sample->n + sample->left; i++)
		release_raw(&sample->raw[i]);
	free(sample->records);
	free(sample->procs);
	sample->records = NULL;
	sample->procs = NULL;
	sample->have = 0;
	sample->left = 0;
	sample->unread = 0;
	sample->unread_error = 0;
}

void sample_count_unread(struct sample *sample, int error)
{
	sample->unread++;
	sample->unread_error = error;
}

void waits_add(struct task_waits *waits, enum wait_seen kind, uint64_t since_ns, uint64_t read_ns,
	       uint64_t before_ns)
{
	uint64_t later_ns = since_ns > before_ns ? since_ns : before_ns;

	if (kind == SEEN_DWAIT && read_ns > later_ns)
		waits->dwait_ns += read_ns - later_ns;
	if (!waits_all(waits) || since_ns < waits->first_ns)
		waits->first_ns = since_ns;
	waits->began_ns[kind] += since_ns;
	waits->threads[kind]++;
}

void waits_of_thread(struct task_waits *waits, enum wait_seen kind, pid_t tid, uint64_t since_ns)
{
	if (kind == SEEN_CPU || (waits->tid && waits->tid_ns <= since_ns))
		return;
	waits->tid = tid;
	waits->tid_ns = since_ns;
}

void waits_go_on(struct task_waits *waits, uint64_t read_ns, uint64_t before_ns)
{
	waits->dwait_ns = waits->threads[SEEN_DWAIT] * (read_ns - before_ns);
}

void sample_reset(struct sample *sample)
{
	sample_remove_exited(sample);
	for (size_t i = 0; i < sample->n; i++)
		release_raw(&sample->raw[i]);
	free(sample->marks);
	sample->marks = NULL;
	sample->n = 0;
	sample->pass = 0;
	memset(sample->stable, 0, sizeof(sample->stable));
}

void sample_truncate(struct sample *sample, size_t n)
{
	for (size_t i = n; i < sample->n; i++)
		release_raw(&sample->raw[i]);
	if (n < sample->n)
		sample->n = n;
}

void sample_mark(struct sample *sample, size_t n)
{
	sample->marks = xreallocarray(sample->marks, sample->n + 1, sizeof(*sample->marks));
	memset(sample->marks + n, 0, sample->n - n);
}

/* Each of these bits repeated for eight marks. */
#define EIGHT(bits) ((bits)*UINT64_C(0x0101010101010101))

/* The first element from i on whose marks in mask are not only MARK_UNCHANGED. */
static size_t next_other(const struct sample *sample, size_t i, uint8_t mask)
{
	size_t n = sample->marks ? sample->n : 0, all = sample->n + sample->left;
	uint64_t marks;

	for (; i + sizeof(marks) <= n; i += sizeof(marks)) {
		memcpy(&marks, sample->marks + i, sizeof(marks));
		if ((marks & EIGHT(mask)) != EIGHT(MARK_UNCHANGED))
			break;
	}
	while (i < n && (sample->marks[i] & mask) == MARK_UNCHANGED)
		i++;
	return i < all ? i : all;
}

size_t sample_next_changed(const struct sample *sample, size_t i)
{
	return next_other(sample, i, MARK_UNCHANGED);
}

size_t sample_next_busy(const struct sample *sample, size_t i)
{
	return next_other(sample, i, MARK_UNCHANGED | MARK_WAITS);
}

size_t sample_count_unaccounted(const struct sample *sample)
{
	size_t n = sample->marks ? sample->n : 0, i = 0, found = 0;
	uint64_t marks;

	for (; i + sizeof(marks) <= n; i += sizeof(marks)) {
		memcpy(&marks, sample->marks + i, sizeof(marks));
		found += (size_t)__builtin_popcountll(marks & EIGHT(MARK_UNACCOUNTED));
	}
	for (; i < n; i++)
		found += (sample->marks[i] & MARK_UNACCOUNTED) != 0;
	return found;
}

struct task_raw *sample_touch(struct sample *sample, size_t i)
{
	if (sample_has_marks(sample, i))
		sample->marks[i] &= (uint8_t)~MARK_UNCHANGED;
	return sample_own(sample, i);
}

/* Clears the element at a place, which is spare or released. */
static struct task_raw *begin_raw(struct task_raw **place, pid_t tgid, pid_t pid)
{
	if (!*place)
		*place = task_raw_new();
	**place = (struct task_raw){ .tgid = tgid, .pid = pid, .counters.members = 1 };
	return *place;
}

struct task_raw *sample_add(struct sample *sample, pid_t tgid, pid_t pid)
{
	reserve_places(sample, sample->n + 1);
	return begin_raw(&sample->raw[sample->n++], tgid, pid);
}

void sample_add_shared(struct sample *sample, struct task_raw *raw)
{
	struct task_raw **place;

	reserve_places(sample, sample->n + 1);
	place = &sample->raw[sample->n++];
	free(*place);
	shared_of(raw)->refs++;
	*place = raw;
}

void sample_share(struct sample *sample, size_t i, struct task_raw *raw)
{
	struct task_raw **place = &sample->raw[i];

	shared_of(raw)->refs++;
	release_raw(place);
	free(*place);
	*place = raw;
}

struct task_raw *sample_own(struct sample *sample, size_t i)
{
	struct task_raw **place = &sample->raw[i], *shared = *place;

	if (shared_of(shared)->refs == 1)
		return shared;
	shared_of(shared)->refs--;
	*place = task_raw_new();
	**place = *shared;
	if (shared->task)
		task_ref(shared->task);
	if (shared->times)
		shared->times->refs++;
	return *place;
}

struct task_raw *sample_renew(struct sample *sample, size_t i)
{
	struct task_raw **place = &sample->raw[i];
	pid_t tgid = (*place)->tgid, pid = (*place)->pid;

	release_raw(place);
	return begin_raw(place, tgid, pid);
}

/* Resizes an array parallel to the elements, the new part zeroed. */
static void *extend(void *array, size_t size, size_t from, size_t to)
{
	array = xreallocarray(array, to + 1, size);
	memset((char *)array + from * size, 0, (to - from) * size);
	return array;
}

void sample_add_exited(struct sample *sample, size_t n)
{
	size_t all = sample->n + n;

	reserve_places(sample, all);
	for (size_t i = sample->n; i < all; i++)
		begin_raw(&sample->raw[i], 0, 0)->counters.members = 0;
	if (sample->records)
		sample->records = extend(sample->records, sizeof(*sample->records), sample->n, all);
	if (sample->procs)
		sample->procs = extend(sample->procs, sizeof(*sample->procs), sample->n, all);
	sample->left = n;
}

void sample_extend(struct sample *sample, unsigned needs)
{
	if (needs & (NEED_RECORD | NEED_RANGE) && !sample->records)
		sample->records = xcalloc(sample->n + sample->left + 1, sizeof(*sample->records));
	if (needs & NEED_PROC && !sample->procs)
		sample->procs = xcalloc(sample->n + sample->left + 1, sizeof(*sample->procs));
	sample->have |= needs & (NEED_RECORD | NEED_RANGE | NEED_PROC);
}

void sample_compact(struct sample *sample)
{
	size_t kept = 0;

	for (size_t i = 0; i < sample->n; i++) {
		if (!sample->raw[i]->task)
			continue;
		if (kept != i) {
			struct task_raw *spare = sample->raw[kept];

			sample->raw[kept] = sample->raw[i];
			sample->raw[i] = spare;
			if (sample->records)
				sample->records[kept] = sample->records[i];
			if (sample->procs)
				sample->procs[kept] = sample->procs[i];
		}
		kept++;
	}
	sample->n = kept;
}

size_t sample_place(const struct sample *sample, pid_t tgid, pid_t pid)
{
	uint64_t order = task_order(tgid, pid);
	size_t at;

	LOWER_BOUND(at, sample->n, raw_order(sample->raw[at]) < order);
	return at < sample->n && raw_order(sample->raw[at]) == order ? at : NO_PLACE;
}

size_t sample_index(const struct sample *sample, const struct task_raw *raw)
{
	size_t at = sample_place(sample, raw->tgid, raw->pid);

	if (at != NO_PLACE && sample->raw[at] == raw)
		return at;
	for (at = sample->n; at < sample->n + sample->left; at++)
		if (sample->raw[at] == raw)
			return at;
	return NO_PLACE;
}

struct task_raw *sample_find(const struct sample *sample, pid_t tgid, pid_t pid)
{
	size_t at = sample_place(sample, tgid, pid);

	return at == NO_PLACE ? NULL : sample->raw[at];
}

void sample_free(struct sample *sample)
{
	sample_reset(sample);
	free(sample->extras);
	for (size_t i = 0; i < sample->cap; i++)
		free(sample->raw[i]);
	free(sample->raw);
	*sample = (struct sample){ 0 };
}
