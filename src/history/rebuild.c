/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "history/rebuild.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/buf.h"
#include "history/moment.h"
#include "history/store_tables.h"
#include "model/notes.h"

/* Tasks and texts of a file that claims more are not believed. */
#define ELEMENTS_MAX (1 << 22)

/* The most versions of tasks that are remembered. */
#define VERSIONS_MAX (1 << 16)

/* A task of the recording by its number, and where its element is. */
struct version {
	int64_t id;
	pid_t tgid, pid;
	struct task *task; /* a reference */
	bool left; /* its element has left: at `at` of those */
	size_t at;
};

struct delay_fix {
	struct task *task; /* a reference */
	struct counters dropped;
};

/* Orders by number. */
static int compare_versions(const void *a, const void *b)
{
	int64_t x = ((const struct version *)a)->id, y = ((const struct version *)b)->id;

	return (x > y) - (x < y);
}

/* Frees a node of the tree. */
static void free_version(void *version)
{
	task_unref(((struct version *)version)->task);
	free(version);
}

/* The first element that does not come before the order. */
static size_t place_in_order(const struct rebuild *rebuild, uint64_t order)
{
	size_t low = 0, high = rebuild->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (raw_order(&rebuild->elements[middle].raw) < order)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The living element of a thread, or NULL. */
static struct element *find_living(const struct rebuild *rebuild, pid_t tgid, pid_t pid)
{
	size_t at = place_in_order(rebuild, task_order(tgid, pid));

	if (at == rebuild->n || raw_order(&rebuild->elements[at].raw) != task_order(tgid, pid))
		return NULL;
	return &rebuild->elements[at];
}

/* Frees what an element has. */
static void drop_element(struct element *element)
{
	task_unref(element->raw.task);
	free(element->record);
	free(element->proc);
}

/* Reads a text of the recording. NULL where there is none, or no such. */
static char *text_of(struct archive *archive, int64_t id, bool *bad)
{
	sqlite3_stmt *row;
	char *text = NULL;
	const void *bytes;
	size_t len;

	if (!id)
		return NULL;
	row = archive_ask(archive, QUERY_TEXT, id);
	if (archive_row(archive, row) != 1) {
		*bad = true;
		return NULL;
	}
	bytes = sqlite3_column_blob(row, 0);
	len = (size_t)sqlite3_column_bytes(row, 0);
	text = xcalloc(len + 1, 1);
	if (len)
		memcpy(text, bytes, len);
	sqlite3_reset(row);
	return text;
}

/* Reads a text that stays while the rebuild is open. */
static const char *keep_text(struct rebuild *rebuild, struct archive *archive, int64_t id,
			     bool *bad)
{
	char *text = text_of(archive, id, bad);
	const char *kept;
	bool added;

	texts_take(&rebuild->texts, text, &added, &kept);
	free(text);
	return kept;
}

/* Finds a task that is known: of a living element, or one of those that left. */
static struct task *find_task(const struct rebuild *rebuild, pid_t tgid, pid_t pid, uint64_t start)
{
	struct element *element = find_living(rebuild, tgid, pid);

	if (element && element->raw.task->key.start_ns == start)
		return element->raw.task;
	for (size_t i = 0; i < rebuild->nleft + rebuild->nolder; i++) {
		struct task *task = i < rebuild->nleft
					    ? rebuild->left[i].raw.task
					    : rebuild->older[i - rebuild->nleft].raw.task;

		if (task->tgid == tgid && task->key.pid == pid && task->key.start_ns == start)
			return task;
	}
	return NULL;
}

/* Replaces a text of a task. */
static void set_text(char **text, char *by)
{
	free(*text);
	*text = by;
}

/* Takes names and times of a version from its row, which is at the archive's QUERY_TASK. */
static void name_task(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		      struct task *task, bool *bad)
{
	int64_t user = archive_int(row, 4, 0, INT64_MAX, 0, bad);
	int64_t comm = archive_int(row, 5, 0, INT64_MAX, 0, bad);
	int64_t command = archive_int(row, 6, 0, INT64_MAX, 0, bad);
	int64_t cgroup = archive_int(row, 7, 0, INT64_MAX, 0, bad);
	uint64_t start = task->key.start_ns;
	char *name;

	task->ppid = (pid_t)archive_int(row, 2, 0, INT32_MAX, 0, bad);
	task->uid = (uid_t)archive_int(row, 3, 0, UINT32_MAX, 0, bad);
	task->latest_ns = archive_uint(row, 9, start, bad);
	task->start_lo = archive_uint(row, 10, start, bad);
	task->start_hi = archive_uint(row, 11, start, bad);
	sqlite3_reset(row);
	task->user = keep_text(rebuild, archive, user, bad);
	name = text_of(archive, comm, bad);
	task_set_comm(task, name ? name : "", name ? strlen(name) : 0);
	free(name);
	set_text(&task->command, text_of(archive, command, bad));
	set_text(&task->cgroup, text_of(archive, cgroup, bad));
}

/* Reads the version of that number. NULL where there is none. */
static struct version *read_version(struct rebuild *rebuild, struct archive *archive, int64_t id,
				    bool *bad)
{
	sqlite3_stmt *row = archive_ask(archive, QUERY_TASK, id);
	struct version *version;
	struct task *task;
	uint64_t start;
	pid_t tgid, pid;

	if (archive_row(archive, row) != 1) {
		*bad = true;
		return NULL;
	}
	tgid = (pid_t)archive_int(row, 0, 0, INT32_MAX, 0, bad);
	pid = (pid_t)archive_int(row, 1, 0, INT32_MAX, 0, bad);
	start = archive_uint(row, 8, 0, bad);
	task = find_task(rebuild, tgid, pid, start);
	if (task)
		task_ref(task);
	else
		task = task_new((struct task_key){ pid, start }, tgid);
	name_task(rebuild, archive, row, task, bad);
	version = xcalloc(1, sizeof(*version));
	*version = (struct version){ .id = id, .tgid = tgid, .pid = pid, .task = task };
	if (!tsearch(version, &rebuild->versions, compare_versions))
		die("out of memory");
	rebuild->nversions++;
	return version;
}

/* The version of that number. */
static struct version *find_version(struct rebuild *rebuild, struct archive *archive, int64_t id,
				    bool *bad)
{
	struct version key = { .id = id };
	void *found = tfind(&key, &rebuild->versions, compare_versions);

	return found ? *(struct version **)found : read_version(rebuild, archive, id, bad);
}

/* Adds an empty element that left. */
static struct element *add_leaver(struct rebuild *rebuild, struct version *version)
{
	if (rebuild->nleft == rebuild->left_cap) {
		rebuild->left_cap = rebuild->left_cap ? rebuild->left_cap * 2 : 64;
		rebuild->left =
			xreallocarray(rebuild->left, rebuild->left_cap, sizeof(*rebuild->left));
	}
	version->left = true;
	version->at = rebuild->nleft;
	rebuild->left[rebuild->nleft] = (struct element){
		.raw = { .task = task_ref(version->task),
			 .tgid = version->tgid,
			 .pid = version->pid,
			 .counters.members = 1 },
		.version = version->id,
	};
	return &rebuild->left[rebuild->nleft++];
}

/* Makes a place for a living element, or empties the one that has its place. */
static struct element *place_living(struct rebuild *rebuild, const struct version *version)
{
	uint64_t order = task_order(version->tgid, version->pid);
	size_t at = place_in_order(rebuild, order);
	struct element *element;

	if (at < rebuild->n && raw_order(&rebuild->elements[at].raw) == order) {
		drop_element(&rebuild->elements[at]);
	} else {
		if (rebuild->n == rebuild->cap) {
			rebuild->cap = rebuild->cap ? rebuild->cap * 2 : 256;
			rebuild->elements = xreallocarray(rebuild->elements, rebuild->cap,
							  sizeof(*rebuild->elements));
		}
		memmove(&rebuild->elements[at + 1], &rebuild->elements[at],
			(rebuild->n - at) * sizeof(*rebuild->elements));
		rebuild->n++;
	}
	element = &rebuild->elements[at];
	*element = (struct element){ .raw = { .task = task_ref(version->task),
					      .tgid = version->tgid,
					      .pid = version->pid,
					      .counters.members = 1 } };
	return element;
}

/* The element of a task in the sample that is read; NULL, and bad, where there is none. */
static struct element *element_of(struct rebuild *rebuild, struct archive *archive, int64_t id,
				  bool *bad)
{
	struct version *version = find_version(rebuild, archive, id, bad);
	struct element *element = NULL;

	if (version && version->left)
		return &rebuild->left[version->at];
	if (version)
		element = find_living(rebuild, version->tgid, version->pid);
	if (element && element->raw.task == version->task) {
		element->version = id;
		return element;
	}
	*bad = true;
	return NULL;
}

/* The element that the first column of a row names. */
static struct element *row_element(struct rebuild *rebuild, struct archive *archive,
				   sqlite3_stmt *row, bool *bad)
{
	return element_of(rebuild, archive, archive_int(row, 0, 1, INT64_MAX, 0, bad), bad);
}

/* Sets how a task ended. */
static void end_task(struct rebuild *rebuild, struct archive *archive, struct element *element,
		     sqlite3_stmt *row, bool *bad)
{
	struct task *task = element->raw.task;
	int64_t how = archive_int(row, 3, 0, INT64_MAX, 0, bad);

	(void)rebuild;
	element->raw.exited = true;
	task->status = (uint32_t)archive_int(row, 1, 0, UINT32_MAX, 0, bad);
	task->reaper = (pid_t)archive_int(row, 4, 0, INT32_MAX, 0, bad);
	task->mixed = archive_int(row, 5, 0, 1, 0, bad);
	set_text(&task->ended, text_of(archive, how, bad));
}

/* Takes an element that left: what its task was when it lived, if it did. */
static void read_leaver(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			bool *bad)
{
	struct version *version =
		find_version(rebuild, archive, archive_int(row, 0, 1, INT64_MAX, 0, bad), bad);
	const struct element *living;
	struct element *left;

	if (!version || rebuild->nleft >= ELEMENTS_MAX) {
		*bad = true;
		return;
	}
	living = find_living(rebuild, version->tgid, version->pid);
	left = add_leaver(rebuild, version);
	if (living && living->raw.task == version->task) {
		struct task *task = left->raw.task;

		left->raw = living->raw;
		left->raw.task = task;
	}
	left->raw.now.waits = (struct task_waits){ 0 };
	left->raw.was = 0;
	left->read_ns =
		rebuild->begin_ns + (uint64_t)archive_int(row, 6, INT64_MIN, INT64_MAX, 0, bad);
	left->raw.counters.members = (unsigned)archive_int(row, 2, 0, INT32_MAX, 1, bad);
	end_task(rebuild, archive, left, row, bad);
}

/* Reads who left and who has gone. */
static int read_ends(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	sqlite3_stmt *rows = archive_ask(archive, QUERY_ENDED, number);
	bool bad = false;
	int got;

	while ((got = archive_row(archive, rows)) == 1 && !bad)
		if (!archive_null(rows, 6))
			read_leaver(rebuild, archive, rows, &bad);
	sqlite3_reset(rows);
	rows = archive_ask(archive, QUERY_GONE, number);
	while (!got && !bad && (got = archive_row(archive, rows)) == 1) {
		int64_t id = archive_int(rows, 0, 1, INT64_MAX, 0, &bad);
		struct version *version = find_version(rebuild, archive, id, &bad);
		struct element *element =
			version ? find_living(rebuild, version->tgid, version->pid) : NULL;

		got = 0;
		if (element && element->raw.task == version->task)
			element->gone = true;
	}
	return bad ? -EBADMSG : got < 0 ? got : 0;
}

/* Removes elements that have gone; of those that are not met, too. */
static void remove_gone(struct rebuild *rebuild, bool unmet)
{
	size_t kept = 0;

	for (size_t i = 0; i < rebuild->n; i++) {
		struct element *element = &rebuild->elements[i];

		if (element->gone || (unmet && !element->met)) {
			/* It ended in a sample that is passed over: that is to be told. */
			if (element->exited) {
				struct version version = { .task = element->raw.task,
							   .tgid = element->raw.tgid,
							   .pid = element->raw.pid };
				struct element *left = add_leaver(rebuild, &version);
				struct task *task = left->raw.task;

				left->raw = element->raw;
				left->raw.task = task;
				left->raw.exited = true;
				left->read_ns = element->raw.read_ns;
			}
			drop_element(element);
			continue;
		}
		rebuild->elements[kept++] = *element;
	}
	rebuild->n = kept;
}

/* Reads counters that are as they are. */
static void stand(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row, bool *bad)
{
	int64_t id = archive_int(row, 0, 1, INT64_MAX, 0, bad);
	struct version *version = find_version(rebuild, archive, id, bad);
	struct element *element;
	struct task_raw *raw;

	if (!version || rebuild->n >= ELEMENTS_MAX) {
		*bad = true;
		return;
	}
	element = version->left ? &rebuild->left[version->at] : NULL;
	if (!element) {
		element = find_living(rebuild, version->tgid, version->pid);
		if (!element || element->raw.task != version->task)
			element = place_living(rebuild, version);
	}
	raw = &element->raw;
	element->version = id;
	element->met = element->fresh = element->whole = true;
	raw->counters = (struct counters){
		.valid = (uint32_t)archive_int(row, 1, 0, UINT32_MAX, 0, bad),
		.members = (unsigned)archive_int(row, 2, 0, INT32_MAX, 1, bad),
		.run_ns = archive_uint(row, 6, 0, bad),
		.user_ns = archive_uint(row, 7, 0, bad),
		.system_ns = archive_uint(row, 8, 0, bad),
		.life_ns = archive_uint(row, 9, 0, bad),
	};
	raw->single = archive_int(row, 3, 0, 1, 0, bad);
	raw->now = (struct task_now){ .exact = archive_int(row, 4, 0, 1, 0, bad) };
	raw->was = (pid_t)archive_int(row, 5, -1, INT32_MAX, 0, bad);
}

/* Adds a total of a kind. */
static void take_total(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		       bool *bad)
{
	struct element *element = row_element(rebuild, archive, row, bad);
	int64_t kind = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);

	if (!element || kind >= DELAY_KINDS)
		return;
	element->raw.counters.delay[kind].ns = archive_uint(row, 2, 0, bad);
	element->raw.counters.delay[kind].count = archive_uint(row, 3, 0, bad);
}

/* Adds what a task did to its counters. */
static void take_activity(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			  bool *bad)
{
	struct element *element = row_element(rebuild, archive, row, bad);
	struct task_raw *raw;
	const unsigned char *state;

	if (!element)
		return;
	raw = &element->raw;
	element->fresh = true;
	if (!element->whole) {
		raw->counters.run_ns += archive_uint(row, 1, 0, bad);
		raw->counters.user_ns += archive_uint(row, 2, 0, bad);
		raw->counters.system_ns += archive_uint(row, 3, 0, bad);
		raw->counters.life_ns +=
			(uint64_t)archive_int(row, 4, INT64_MIN, INT64_MAX, 0, bad);
	}
	state = archive_null(row, 5) ? NULL : sqlite3_column_text(row, 5);
	raw->now.state = state ? (char)*state : '\0';
	raw->now.threads = (uint32_t)archive_int(row, 6, 0, UINT32_MAX, 0, bad);
}

/* Adds what a task waited to its counters. */
static void take_wait(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		      bool *bad)
{
	struct element *element = row_element(rebuild, archive, row, bad);
	int64_t kind = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	uint64_t waited = archive_uint(row, 2, 0, bad);
	uint64_t booked = waited + (uint64_t)archive_int(row, 4, INT64_MIN, INT64_MAX, 0, bad);

	if (!element || kind > WAIT_BLOCK)
		return;
	if (kind == WAIT_BLOCK) {
		element->raw.now.waits.block_ns = booked;
	} else if (!element->whole) {
		element->raw.counters.delay[kind].ns += booked;
		element->raw.counters.delay[kind].count += archive_uint(row, 3, 0, bad);
	}
}

/* Sets waits in progress. */
static void take_waiting(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			 bool *bad)
{
	struct element *element = row_element(rebuild, archive, row, bad);
	int64_t kind = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	uint32_t threads = (uint32_t)archive_int(row, 2, 0, UINT32_MAX, 0, bad);
	struct task_waits *waits;
	unsigned seen = kind == DELAY_CPU     ? SEEN_CPU
			: kind == DELAY_BLKIO ? SEEN_BLKIO
			: kind == WAIT_BLOCK  ? SEEN_BLOCK
					      : WAITS_SEEN;

	if (!element || seen == WAITS_SEEN)
		return;
	waits = &element->raw.now.waits;
	waits->first_ns = (uint64_t)archive_int(row, 3, INT64_MIN, INT64_MAX, 0, bad);
	waits->threads[seen] = threads;
	waits->began_ns[seen] =
		(uint64_t)archive_int(row, 4, INT64_MIN, INT64_MAX, (int64_t)waits->first_ns, bad);
	if (!threads)
		waits->first_ns = waits->began_ns[seen] = 0;
}

/* Sets children's times. */
static void take_children(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			  bool *bad)
{
	struct element *element = row_element(rebuild, archive, row, bad);

	if (!element)
		return;
	element->raw.children.user_ns = archive_uint(row, 1, 0, bad);
	element->raw.children.system_ns = archive_uint(row, 2, 0, bad);
}

/* Notes impossible delays: frames so far have found them by themselves. */
static void take_impossible(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			    bool *bad)
{
	struct element *element = row_element(rebuild, archive, row, bad);
	int64_t kind = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	struct delay_fix *fix = rebuild->nfixes ? &rebuild->fixes[rebuild->nfixes - 1] : NULL;

	if (!element || kind >= DELAY_KINDS)
		return;
	if (!fix || fix->task != element->raw.task) {
		rebuild->fixes =
			xreallocarray(rebuild->fixes, rebuild->nfixes + 1, sizeof(*rebuild->fixes));
		fix = &rebuild->fixes[rebuild->nfixes++];
		*fix = (struct delay_fix){ .task = task_ref(element->raw.task) };
	}
	fix->dropped.delay[kind].ns = archive_uint(row, 2, 0, bad);
	fix->dropped.delay[kind].count = archive_uint(row, 3, 0, bad);
}

/* Makes noted impossible delays count. */
static void apply_fixes(struct rebuild *rebuild)
{
	for (size_t i = 0; i < rebuild->nfixes; i++) {
		struct task *task = rebuild->fixes[i].task;

		if (!task->dropped)
			task->dropped = xcalloc(1, sizeof(*task->dropped));
		*task->dropped = rebuild->fixes[i].dropped;
		task_unref(task);
	}
	rebuild->nfixes = 0;
}

/* Sets a bit or clears it. */
static void set_bit(uint32_t *bits, uint32_t bit, bool on)
{
	*bits = on ? *bits | bit : *bits & ~bit;
}

/* Sets a field of a record. */
static void set_record(struct task_record *record, unsigned of, unsigned number, bool known,
		       uint64_t value)
{
	uint32_t bit = DELAY_BIT(number % DELAY_KINDS);

	if (of == FIELD_RECORD && number < RECORD_FIELDS) {
		record->field[number] = value;
		record->fields_valid = known ? record->fields_valid | RECORD_BIT(number)
					     : record->fields_valid & ~RECORD_BIT(number);
	}
	if (of == FIELD_RECORD || number >= DELAY_KINDS)
		return;
	if (of == FIELD_MAX)
		record->max[number] = value;
	if (of == FIELD_MIN)
		record->min[number] = value;
	if (of == FIELD_STAMP)
		record->stamp[number] = value;
	set_bit(of == FIELD_STAMP ? &record->stamp_valid : &record->range_valid, bit, known);
}

/* Sets what was read of files. */
static void set_proc(struct task_proc *proc, unsigned of, bool known, uint64_t value)
{
	switch (of) {
	case FIELD_READ:
		proc->io.read = value;
		break;
	case FIELD_WRITTEN:
		proc->io.written = value;
		break;
	case FIELD_CANCELLED:
		proc->io.cancelled = value;
		break;
	case FIELD_WHOLE:
		proc->io_whole = value;
		break;
	case FIELD_CHILDREN_USER:
		proc->children.user_ns = value;
		break;
	default:
		proc->children.system_ns = value;
	}
	if (of >= FIELD_CHILDREN_USER)
		proc->children_valid = known;
	else
		proc->io_valid = known;
}

/* Sets what was read on demand. */
static void take_field(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		       bool *bad)
{
	struct element *element = row_element(rebuild, archive, row, bad);
	int64_t field = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	bool known = !archive_null(row, 2);
	uint64_t value = (uint64_t)archive_int(row, 2, INT64_MIN, INT64_MAX, 0, bad);
	unsigned of = (unsigned)(field / 64), number = (unsigned)(field % 64);

	if (!element || field >= STORE_FIELD_OF(FIELD_KINDS, 0))
		return;
	if (of <= FIELD_STAMP) {
		if (!element->record)
			element->record = xcalloc(1, sizeof(*element->record));
		set_record(element->record, of, number, known, value);
	} else {
		if (!element->proc)
			element->proc = xcalloc(1, sizeof(*element->proc));
		set_proc(element->proc, of, known, value);
	}
}

/* Reads all rows of a table for a sample. 0 or -errno. */
static int each_row(struct rebuild *rebuild, struct archive *archive, enum archive_query query,
		    int64_t number,
		    void (*take)(struct rebuild *rebuild, struct archive *archive,
				 sqlite3_stmt *row, bool *bad))
{
	sqlite3_stmt *rows = archive_ask(archive, query, number);
	bool bad = false;
	int got;

	while ((got = archive_row(archive, rows)) == 1 && !bad)
		take(rebuild, archive, rows, &bad);
	sqlite3_reset(rows);
	return bad ? -EBADMSG : got < 0 ? got : 0;
}

/* Takes a number from bytes; see varint_append(). False at the end. */
static bool take_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
	unsigned shift = 0;

	*value = 0;
	while (*at < end && shift < 64) {
		unsigned char byte = *(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
		shift += 7;
	}
	return false;
}

/* The signed number that was folded. */
static int64_t unfold(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Takes the times of reading: see add_reads() in encode.c. */
static void take_reads(struct rebuild *rebuild, const unsigned char *at, size_t len)
{
	const unsigned char *end = at + len;
	uint64_t run, value, last_ns = rebuild->begin_ns;
	size_t i = 0;

	for (size_t e = 0; e < rebuild->n; e++)
		rebuild->elements[e].read_ns = rebuild->elements[e].raw.read_ns;
	while (take_varint(&at, end, &run) && run) {
		bool kept = run & 1;

		if (!kept && !take_varint(&at, end, &value))
			return;
		if (!kept)
			last_ns += (uint64_t)unfold(value);
		for (run >>= 1; run && i < rebuild->n; run--, i++)
			if (!kept)
				rebuild->elements[i].read_ns = last_ns;
	}
	for (i = 0; take_varint(&at, end, &run) && take_varint(&at, end, &value);) {
		if (run >= rebuild->n || i + run >= rebuild->n)
			return;
		i += run;
		rebuild->elements[i].before_ns = rebuild->before_ns + (uint64_t)unfold(value);
		rebuild->elements[i].raw.read_ns = rebuild->elements[i].before_ns;
		rebuild->elements[i].corrected = true;
	}
}

/* Lets the time pass for an element: its threads lived on. */
static void live_on(struct element *element)
{
	if (!element->whole)
		element->raw.counters.life_ns += life_growth(&element->raw, element->read_ns);
	element->raw.read_ns = element->read_ns;
}

/* Reads the machine's columns of a sample's row. */
static void read_machine(struct rebuild *rebuild, sqlite3_stmt *row, bool *bad)
{
	struct system_sample *system = &rebuild->moment.system;

	system->cpus = (unsigned)archive_int(row, 20, 0, INT32_MAX, 0, bad);
	system->cpu_valid = !archive_null(row, 21);
	for (int s = 0; s < CPU_STATES; s++)
		system->cpu_ns[s] +=
			(uint64_t)archive_int(row, 21 + s, INT64_MIN, INT64_MAX, 0, bad);
	system->load_valid = !archive_null(row, 29);
	for (int i = 0; i < 3; i++)
		system->load[i] = sqlite3_column_double(row, 29 + i) / 100.0;
	system->uptime_valid = !archive_null(row, 32);
	system->uptime = sqlite3_column_double(row, 32);
	system->memory_valid = !archive_null(row, 33);
	system->memory_total = archive_uint(row, 33, 0, bad);
	system->memory_used = archive_uint(row, 34, 0, bad);
	system->swap_total = archive_uint(row, 35, 0, bad);
	system->swap_used = archive_uint(row, 36, 0, bad);
	system->read_ns =
		rebuild->begin_ns + (uint64_t)archive_int(row, 37, INT64_MIN, INT64_MAX, 0, bad);
}

/* Adds to a count that may be unknown. */
static void add_count(int64_t *count, sqlite3_stmt *row, int column, bool first, bool *bad)
{
	int64_t more = archive_int(row, column, 0, INT64_MAX / 2, -1, bad);

	if (first || *count < 0 || more < 0)
		*count = first ? more : *count > more ? *count : more;
	else
		*count += more;
}

/* The share of CPU of two intervals together; negative: not known. */
static double add_share(double before, uint64_t before_ns, double now, uint64_t now_ns)
{
	if (before < 0 || now < 0 || before_ns + now_ns == 0)
		return now;
	return (before * (double)before_ns + now * (double)now_ns) / (double)(before_ns + now_ns);
}

/* Takes the texts that a row names; the row is not used afterwards. */
static void read_sample_texts(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			      bool *bad)
{
	struct playback_moment *moment = &rebuild->moment;
	int64_t source = archive_int(row, 9, 0, INT64_MAX, 0, bad);
	int64_t cgroup = archive_int(row, 13, 0, INT64_MAX, 0, bad);
	int64_t hierarchy = archive_int(row, 14, 0, INT64_MAX, 0, bad);

	moment->source = keep_text(rebuild, archive, source, bad);
	moment->cgroup = keep_text(rebuild, archive, cgroup, bad);
	moment->hierarchy = keep_text(rebuild, archive, hierarchy, bad);
	if (!moment->source)
		moment->source = "";
}

/* Reads a sample's own row, up to the blob, which comes when all elements are there. */
static void read_head(struct rebuild *rebuild, sqlite3_stmt *row, bool *whole, bool *bad)
{
	struct playback_moment *moment = &rebuild->moment;
	bool first = !rebuild->passed;
	uint64_t interval_ns;

	rebuild->before_ns = rebuild->begin_ns;
	rebuild->real_ns = archive_uint(row, 0, 0, bad);
	interval_ns = archive_uint(row, 1, 0, bad);
	moment->baseline = archive_null(row, 1);
	rebuild->begin_ns = archive_uint(row, 2, 0, bad);
	rebuild->end_ns = rebuild->begin_ns + archive_uint(row, 3, 0, bad);
	*whole = archive_int(row, 4, 0, 1, 0, bad);
	rebuild->steady = (size_t)archive_uint(row, 6, 0, bad);
	rebuild->marked = archive_int(row, 7, 0, 1, 0, bad);
	rebuild->have = (unsigned)archive_int(row, 8, 0, UINT32_MAX, 0, bad) &
			(NEED_RECORD | NEED_RANGE | NEED_PROC);
	moment->taskstats_version = (int)archive_int(row, 10, 0, INT32_MAX, 0, bad);
	moment->delayacct = archive_null(row, 11)		 ? DELAYACCT_UNKNOWN
			    : archive_int(row, 11, 0, 1, 0, bad) ? DELAYACCT_ON
								 : DELAYACCT_OFF;
	moment->unknown = (first ? 0 : moment->unknown) |
			  (uint32_t)archive_int(row, 12, 0, UINT32_MAX, 0, bad);
	moment->hierarchy_version = (unsigned)archive_int(row, 15, 0, INT32_MAX, 0, bad);
	add_count(&moment->exits, row, 16, first, bad);
	add_count(&moment->lost, row, 17, first, bad);
	moment->others = (first ? 0 : moment->others) + archive_uint(row, 18, 0, bad);
	moment->self =
		add_share(first ? -1 : moment->self, rebuild->interval_ns,
			  archive_null(row, 19) ? -1 : sqlite3_column_double(row, 19), interval_ns);
	rebuild->interval_ns = (first ? 0 : rebuild->interval_ns) + interval_ns;
	read_machine(rebuild, row, bad);
}

/* Takes a line of pressure. */
static void take_pressure_row(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			      bool *bad)
{
	int64_t resource = archive_int(row, 0, 0, INT64_MAX, INT64_MAX, bad);
	bool full = archive_int(row, 1, 0, 1, 0, bad);
	struct psi *psi;

	(void)archive;
	if (resource >= PSI_RESOURCES)
		return;
	psi = &rebuild->moment.system.psi[resource];
	*(full ? &psi->full : &psi->some) = (struct psi_line){
		.valid = !archive_null(row, 5),
		.avg10 = (uint32_t)archive_int(row, 2, 0, UINT32_MAX, 0, bad),
		.avg60 = (uint32_t)archive_int(row, 3, 0, UINT32_MAX, 0, bad),
		.avg300 = (uint32_t)archive_int(row, 4, 0, UINT32_MAX, 0, bad),
		.total_us = archive_uint(row, 5, 0, bad),
	};
}

/* Takes a file that could not be read. */
static void take_file_error(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			    bool *bad)
{
	const char *file = (const char *)sqlite3_column_text(row, 0);
	int error = (int)archive_int(row, 1, -4095, 0, 0, bad);

	(void)archive;
	for (unsigned r = 0; r < PSI_RESOURCES && file; r++)
		if (!strcmp(file, psi_names[r]))
			rebuild->moment.system.psi_error[r] = error;
	for (unsigned f = 0; f < SYSTEM_FILES && file; f++)
		if (!strcmp(file, system_file_names[f]))
			rebuild->moment.system.file_error[f] = error;
}

/* Adds a note, once; a note of a later version is not known. */
static void take_note(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		      bool *bad)
{
	struct playback_moment *moment = &rebuild->moment;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	struct note note = { .id = NOTE_IDS,
			     .value = (uint64_t)archive_int(row, 1, INT64_MIN, INT64_MAX, 0, bad),
			     .error = (int)archive_int(row, 2, -4095, 4095, 0, bad) };

	(void)archive;
	for (unsigned id = 0; id < NOTE_IDS && name; id++)
		if (!strcmp(note_table[id].id, name))
			note.id = (enum note_id)id;
	for (size_t i = 0; i < moment->nnotes; i++)
		if (moment->notes[i].id == note.id && moment->notes[i].value == note.value)
			return;
	if (note.id < NOTE_IDS && moment->nnotes < NOTES_MAX)
		moment->notes[moment->nnotes++] = note;
}

/* Takes a count of samples that are missing. */
static void take_gap(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row, bool *bad)
{
	struct playback_moment *moment = &rebuild->moment;
	uint64_t dropped = archive_uint(row, 0, 0, bad);

	(void)archive;
	for (size_t i = 0; i < moment->nnotes; i++)
		if (moment->notes[i].id == NOTE_RECORD_DROPPED)
			return;
	if (dropped && moment->nnotes < NOTES_MAX)
		moment->notes[moment->nnotes++] =
			(struct note){ .id = NOTE_RECORD_DROPPED, .value = dropped };
}

/* Adds how the machine's time was spent. */
static void read_account(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			 bool *bad)
{
	struct account *account = &rebuild->account;

	(void)archive;
	account->valid = !archive_null(row, 0);
	account->machine_ns = archive_uint(row, 0, 0, bad);
	account->run_ns = archive_uint(row, 1, 0, bad);
	account->idle_ns = archive_uint(row, 2, 0, bad);
	account->iowait_ns = archive_uint(row, 3, 0, bad);
	account->steal_ns = archive_uint(row, 4, 0, bad);
	account->irq_ns = archive_uint(row, 5, 0, bad);
	account->recovered_valid = !archive_null(row, 6);
	account->recovered_ns = archive_int(row, 6, INT64_MIN, INT64_MAX, 0, bad);
	account->children_ns = archive_uint(row, 7, 0, bad);
	account->rest_ns = archive_int(row, 8, INT64_MIN, INT64_MAX, 0, bad);
}

/* Adds two intervals' accounts: what is not known of one is not known of both. */
static void add_accounts(struct account *sum, const struct account *more, bool first)
{
	if (first) {
		*sum = *more;
		return;
	}
	sum->valid &= more->valid;
	sum->recovered_valid &= more->recovered_valid;
	sum->machine_ns += more->machine_ns;
	sum->run_ns += more->run_ns;
	sum->idle_ns += more->idle_ns;
	sum->iowait_ns += more->iowait_ns;
	sum->steal_ns += more->steal_ns;
	sum->irq_ns += more->irq_ns;
	sum->recovered_ns += more->recovered_ns;
	sum->children_ns += more->children_ns;
	sum->rest_ns += more->rest_ns;
}

/* Reads the clocks where they changed. */
static int read_clocks(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	sqlite3_stmt *rows = archive_ask(archive, QUERY_CLOCK, number);
	struct clocks *clocks = &rebuild->clocks;
	bool bad = false, first = true;
	int got;

	while ((got = archive_row(archive, rows)) == 1 && !bad) {
		if (first)
			clocks->n = 0;
		first = false;
		clocks->real_ns = (uint64_t)archive_int(rows, 0, INT64_MIN, INT64_MAX, 0, &bad);
		clocks->sleeps =
			xreallocarray(clocks->sleeps, clocks->n + 1, sizeof(*clocks->sleeps));
		clocks->sleeps[clocks->n++] = (struct clock_sleep){
			archive_uint(rows, 1, 0, &bad),
			(uint64_t)archive_int(rows, 2, INT64_MIN, INT64_MAX, 0, &bad),
		};
	}
	sqlite3_reset(rows);
	return bad ? -EBADMSG : got < 0 ? got : 0;
}

/* The readings of the group with that path, or NULL. */
static struct group_reading *find_reading(const struct rebuild *rebuild, const char *path)
{
	for (size_t i = 0; i < rebuild->ngroups; i++)
		if (!strcmp(rebuild->groups[i].path, path))
			return &rebuild->groups[i];
	return NULL;
}

/* Finds or makes the readings of the group that the first column names. */
static struct group_reading *group_of_row(struct rebuild *rebuild, struct archive *archive,
					  sqlite3_stmt *row, bool *bad)
{
	char *path = text_of(archive, archive_int(row, 0, 1, INT64_MAX, 0, bad), bad);
	struct group_reading *group = path ? find_reading(rebuild, path) : NULL;

	if (!path || group) {
		free(path);
		return group;
	}
	rebuild->groups =
		xreallocarray(rebuild->groups, rebuild->ngroups + 1, sizeof(*rebuild->groups));
	group = &rebuild->groups[rebuild->ngroups++];
	*group = (struct group_reading){ .path = path };
	return group;
}

/* Takes what was read of a group. */
static void read_group(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
		       bool *bad)
{
	struct group_reading *group = group_of_row(rebuild, archive, row, bad);
	struct cgroup_sample *now;

	if (!group)
		return;
	if (archive_int(row, 1, 0, 1, 0, bad))
		group->before_valid = false;
	now = &group->now;
	*now = (struct cgroup_sample){ 0 };
	group->now_valid = true;
	group->turn = rebuild->turn;
	now->have = (unsigned)archive_int(row, 2, 0, CGROUP_ALL, 0, bad);
	now->throttled_ns = archive_uint(row, 3, 0, bad);
	now->throttled = archive_uint(row, 4, 0, bad);
	now->read_ns[CGROUP_THROTTLE] = archive_uint(row, 5, 0, bad);
	now->event_valid = (unsigned)archive_int(row, 6, 0, UINT32_MAX, 0, bad);
	for (int e = 0; e < CGROUP_EVENT_KINDS; e++)
		now->events[e] = archive_uint(row, 7 + e, 0, bad);
	now->states.sleeping = archive_uint(row, 11, 0, bad);
	now->states.running = archive_uint(row, 12, 0, bad);
	now->states.stopped = archive_uint(row, 13, 0, bad);
	now->states.uninterruptible = archive_uint(row, 14, 0, bad);
	now->states.io_wait = archive_uint(row, 15, 0, bad);
}

/* Takes a line of a group's pressure. */
static void take_group_pressure(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
				bool *bad)
{
	struct group_reading *group = group_of_row(rebuild, archive, row, bad);
	int64_t resource = archive_int(row, 1, 0, INT64_MAX, INT64_MAX, bad);
	bool full = archive_int(row, 2, 0, 1, 0, bad);
	struct psi *psi;

	if (!group || resource >= PSI_RESOURCES)
		return;
	psi = &group->now.psi[resource];
	group->now.read_ns[resource] = archive_uint(row, 7, 0, bad);
	*(full ? &psi->full : &psi->some) = (struct psi_line){
		.valid = !archive_null(row, 6),
		.avg10 = (uint32_t)archive_int(row, 3, 0, UINT32_MAX, 0, bad),
		.avg60 = (uint32_t)archive_int(row, 4, 0, UINT32_MAX, 0, bad),
		.avg300 = (uint32_t)archive_int(row, 5, 0, UINT32_MAX, 0, bad),
		.total_us = archive_uint(row, 6, 0, bad),
	};
}

/* Begins a sample: what belongs to the one before alone goes. */
static void begin_sample(struct rebuild *rebuild)
{
	apply_fixes(rebuild);
	for (size_t i = 0; i < rebuild->n; i++) {
		struct element *element = &rebuild->elements[i];

		element->exited |= element->raw.exited && rebuild->passed;
		element->raw.exited = false;
		element->raw.was = 0;
		element->block_ns =
			rebuild->passed ? element->block_ns + element->raw.now.waits.block_ns : 0;
		element->raw.now.waits.block_ns = 0;
		element->met = element->gone = element->whole = element->corrected = false;
		if (!rebuild->passed)
			element->fresh = element->exited = false;
	}
	if (!rebuild->passed) {
		rebuild->moment.nnotes = 0;
		for (size_t i = 0; i < rebuild->ngroups; i++) {
			struct group_reading *group = &rebuild->groups[i];

			group->before = group->now;
			group->before_valid = group->now_valid && group->turn == rebuild->turn;
			group->now_valid = false;
		}
		rebuild->turn++;
	}
	memset(rebuild->moment.system.psi_error, 0, sizeof(rebuild->moment.system.psi_error));
	memset(rebuild->moment.system.file_error, 0, sizeof(rebuild->moment.system.file_error));
	rebuild->account = (struct account){ 0 };
}

/* Drops those that had left in samples before the last that was given out. */
static void drop_older(struct rebuild *rebuild)
{
	for (size_t i = 0; i < rebuild->nolder; i++)
		drop_element(&rebuild->older[i]);
	rebuild->nolder = 0;
}

/* Puts those aside that left in samples that were given out. */
static void put_aside(struct rebuild *rebuild)
{
	struct element *older = rebuild->older;
	size_t cap = rebuild->older_cap;

	drop_older(rebuild);
	rebuild->older = rebuild->left;
	rebuild->nolder = rebuild->nleft;
	rebuild->older_cap = rebuild->left_cap;
	rebuild->left = older;
	rebuild->nleft = 0;
	rebuild->left_cap = cap;
}

/* The numbers of those that left may come back as living ones. */
static void free_numbers(struct rebuild *rebuild)
{
	for (size_t i = 0; i < rebuild->nleft; i++) {
		struct version key = { .id = rebuild->left[i].version };
		void *found = tfind(&key, &rebuild->versions, compare_versions);

		if (found)
			(*(struct version **)found)->left = false;
	}
}

/* Forgets the numbers of tasks. */
static void forget_versions(struct rebuild *rebuild)
{
	tdestroy(rebuild->versions, free_version);
	rebuild->versions = NULL;
	rebuild->nversions = 0;
}

/* A row's living element that ended without leaving. */
static void read_end(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row, bool *bad)
{
	struct element *element;

	if (!archive_null(row, 6))
		return;
	element = row_element(rebuild, archive, row, bad);
	if (element)
		end_task(rebuild, archive, element, row, bad);
}

/* Reads what happened to tasks. The order matters: see rebuild_take(). */
static int read_changes(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	static const struct {
		enum archive_query query;
		void (*take)(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			     bool *bad);
	} tables[] = {
		{ QUERY_TOTAL, take_total },
		{ QUERY_ACTIVITY, take_activity },
		{ QUERY_WAIT, take_wait },
		{ QUERY_WAITING, take_waiting },
		{ QUERY_CHILDREN, take_children },
		{ QUERY_ENDED, read_end },
		{ QUERY_IMPOSSIBLE, take_impossible },
		{ QUERY_FIELD, take_field },
		{ QUERY_PRESSURE, take_pressure_row },
		{ QUERY_FILE_ERROR, take_file_error },
		{ QUERY_NOTE, take_note },
		{ QUERY_GAP, take_gap },
		{ QUERY_ACCOUNT, read_account },
		{ QUERY_CGROUP, read_group },
		{ QUERY_CGROUP_PRESSURE, take_group_pressure },
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !err; i++)
		err = each_row(rebuild, archive, tables[i].query, number, tables[i].take);
	return err;
}

/* Forgets waits of those whose waits are others now: their rows say what they are. */
static void clear_waiting(struct rebuild *rebuild, struct archive *archive, sqlite3_stmt *row,
			  bool *bad)
{
	struct element *element = row_element(rebuild, archive, row, bad);

	if (element)
		element->raw.now.waits =
			(struct task_waits){ .block_ns = element->raw.now.waits.block_ns };
}

int rebuild_take(struct rebuild *rebuild, struct archive *archive, int64_t number)
{
	bool bad = false, whole = false, first = !rebuild->passed;
	unsigned char *reads;
	sqlite3_stmt *row;
	size_t len;
	int err;

	free_numbers(rebuild);
	if (first)
		put_aside(rebuild);
	if (first && rebuild->nversions > VERSIONS_MAX)
		forget_versions(rebuild);
	begin_sample(rebuild);
	row = archive_ask(archive, QUERY_SAMPLE, number);
	err = archive_row(archive, row);
	if (err != 1)
		return err ? err : -EBADMSG;
	read_head(rebuild, row, &whole, &bad);
	len = (size_t)sqlite3_column_bytes(row, 38);
	reads = xcalloc(len + 1, 1);
	if (len)
		memcpy(reads, sqlite3_column_blob(row, 38), len);
	read_sample_texts(rebuild, archive, row, &bad);
	sqlite3_reset(row);
	err = bad ? -EBADMSG : read_ends(rebuild, archive, number);
	if (!err) {
		remove_gone(rebuild, false);
		err = each_row(rebuild, archive, QUERY_STANDING, number, stand);
	}
	if (!err) {
		if (whole)
			remove_gone(rebuild, true);
		take_reads(rebuild, reads, len);
		for (size_t i = 0; i < rebuild->n; i++)
			live_on(&rebuild->elements[i]);
		for (size_t i = 0; i < rebuild->nleft; i++)
			live_on(&rebuild->left[i]);
		err = each_row(rebuild, archive, QUERY_WAITING, number, clear_waiting);
	}
	free(reads);
	if (!err)
		err = read_clocks(rebuild, archive, number);
	if (!err)
		err = read_changes(rebuild, archive, number);
	add_accounts(&rebuild->moment.account, &rebuild->account, first);
	rebuild->passed++;
	return err;
}

void rebuild_turn(struct rebuild *rebuild)
{
	forget_versions(rebuild);
}

/* Whether a process is one of those asked for. */
static bool is_wanted(const pid_t *pids, size_t npids, pid_t tgid)
{
	size_t low = 0, high = npids;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pids[middle] < tgid)
			low = middle + 1;
		else
			high = middle;
	}
	return !npids || (low < npids && pids[low] == tgid);
}

/* Gives an element out, into the place of the sample. */
static void give_element(const struct rebuild *rebuild, const struct element *element,
			 struct sample *cur, size_t at, bool several)
{
	struct task_raw *raw = &cur->raw[at];

	*raw = element->raw;
	task_ref(raw->task);
	raw->exited |= element->exited;
	if (several) {
		raw->now.waits.block_ns += element->block_ns;
		if (raw->read_ns < cur->begin_ns && !raw->exited)
			raw->read_ns = cur->begin_ns;
	}
	(void)rebuild;
	if (cur->records && element->record)
		cur->records[at] = *element->record;
	if (cur->procs && element->proc)
		cur->procs[at] = *element->proc;
}

/* Takes over what only frames know, and corrects times of reading in the sample before. */
static void tie(const struct rebuild *rebuild, struct sample *prev, struct sample *cur)
{
	size_t at = 0;

	for (size_t i = 0; prev && i < cur->n; i++) {
		uint64_t order = raw_order(&cur->raw[i]);

		while (at < prev->n && raw_order(&prev->raw[at]) < order)
			at++;
		if (at < prev->n && raw_order(&prev->raw[at]) == order &&
		    prev->raw[at].task == cur->raw[i].task)
			cur->raw[i].ran_ns = prev->raw[at].ran_ns;
	}
	at = 0;
	for (size_t i = 0; prev && i < rebuild->n && rebuild->passed == 1; i++) {
		const struct element *element = &rebuild->elements[i];
		struct task_raw *raw;

		if (!element->corrected)
			continue;
		raw = sample_find(prev, element->raw.tgid, element->raw.pid);
		if (raw)
			raw->read_ns = element->before_ns;
	}
}

void rebuild_give(struct rebuild *rebuild, struct sample *prev, struct sample *cur,
		  const pid_t *pids, size_t npids, struct playback_moment *moment)
{
	bool several = rebuild->passed > 1;
	size_t left = 0;

	sample_reset(cur);
	cur->begin_ns = rebuild->begin_ns;
	cur->end_ns = rebuild->end_ns;
	cur->real_ns = rebuild->real_ns;
	for (size_t i = 0; i < rebuild->n; i++)
		if (is_wanted(pids, npids, rebuild->elements[i].raw.tgid))
			sample_add(cur, 0, 0);
	for (size_t i = 0; i < rebuild->nleft; i++)
		left += is_wanted(pids, npids, rebuild->left[i].raw.tgid);
	sample_leave(cur, left);
	sample_extend(cur, rebuild->have);
	cur->have = rebuild->have;
	if (rebuild->marked && !several) {
		sample_mark(cur, 0);
		cur->stable[1] =
			npids || !prev || rebuild->steady > cur->n || rebuild->steady > prev->n
				? 0
				: rebuild->steady;
	}
	for (size_t i = 0, at = 0; i < rebuild->n; i++) {
		const struct element *element = &rebuild->elements[i];

		if (!is_wanted(pids, npids, element->raw.tgid))
			continue;
		if (cur->marks)
			cur->marks[at] = element->fresh ? 0 : (uint8_t)MARK_UNCHANGED;
		give_element(rebuild, element, cur, at++, several);
	}
	for (size_t i = 0, at = cur->n; i < rebuild->nleft; i++)
		if (is_wanted(pids, npids, rebuild->left[i].raw.tgid))
			give_element(rebuild, &rebuild->left[i], cur, at++, false);
	tie(rebuild, prev, cur);
	/* A frame looks at the same places in both samples: a damaged file may claim too many. */
	for (size_t i = 0; i < cur->stable[1]; i++)
		if (cur->raw[i].task != prev->raw[i].task)
			cur->stable[1] = i;
	*moment = rebuild->moment;
	moment->clocks = &rebuild->clocks;
	rebuild->passed = 0;
}

void rebuild_group(const struct rebuild *rebuild, const char *path,
		   const struct cgroup_sample **now, const struct cgroup_sample **before)
{
	const struct group_reading *group = find_reading(rebuild, path);

	*now = group && group->now_valid ? &group->now : NULL;
	*before = *now && group->before_valid ? &group->before : NULL;
}

void rebuild_free(struct rebuild *rebuild)
{
	apply_fixes(rebuild);
	free(rebuild->fixes);
	forget_versions(rebuild);
	put_aside(rebuild);
	drop_older(rebuild);
	for (size_t i = 0; i < rebuild->n; i++)
		drop_element(&rebuild->elements[i]);
	free(rebuild->elements);
	free(rebuild->left);
	free(rebuild->older);
	for (size_t i = 0; i < rebuild->ngroups; i++)
		free(rebuild->groups[i].path);
	free(rebuild->groups);
	texts_free(&rebuild->texts);
	clocks_free(&rebuild->clocks);
	*rebuild = (struct rebuild){ 0 };
}
