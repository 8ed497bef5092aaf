/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/snapshot.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf/snapshot.skel.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/util.h"
#include "bpf/loading.h"
#include "bpf/measure.h"
#include "bpf/refusal.h"
#include "bpf/trace.h"
#include "data/sample.h"

/* Minimum number of entries in the program's memory. */
#define MEMORY_MIN 8192

/* Number of records that are always mapped; the maps have room for more. */
#define MAPPED_MIN 256

/* Unit in which records are unmapped. */
#define PASSED_MIN (UINT64_C(512) << 10)

struct snapshot {
	bool threads;
	enum snapshot_way way;
	const struct measure *measure; /* NULL: waits are not measured */
	const struct trace *trace; /* NULL: they are not traced */
	uint64_t trace_began_ns;
	struct snapshot_bpf *program;
	struct bpf_link *link; /* SNAPSHOT_EACH */
	size_t room; /* entries and records that the maps hold */
	struct snapshot_entry *entries; /* mapped */
	struct snapshot_record *records; /* mapped, as many as needed */
	size_t mapped;
	size_t passed; /* bytes at their front that were unmapped again */
	bool loaded_anew; /* the program's memory is still empty */
	/* SNAPSHOT_EACH: sorted copies. */
	struct snapshot_entry *own_entries;
	struct snapshot_record *own_records;
	size_t own_room;
};

/* Maps so many records, replacing those mapped before. 0 or -errno. */
static int map_records(struct snapshot *snapshot, size_t n)
{
	if (snapshot->records)
		munmap((char *)snapshot->records + snapshot->passed,
		       mapped_bytes(snapshot->mapped, sizeof(*snapshot->records)) -
			       snapshot->passed);
	snapshot->mapped = n;
	snapshot->passed = 0;
	snapshot->records = NULL;
	if (n)
		snapshot->records = mapped_values(snapshot->program->maps.records, n,
						  sizeof(*snapshot->records), PROT_READ);
	return snapshot->records || !n ? 0 : -errno;
}

/* Frees what open_program() allocated. */
static void close_program(struct snapshot *snapshot)
{
	if (snapshot->entries)
		munmap(snapshot->entries, mapped_bytes(snapshot->room, sizeof(*snapshot->entries)));
	map_records(snapshot, 0);
	bpf_link__destroy(snapshot->link);
	snapshot_bpf__destroy(snapshot->program);
	snapshot->entries = NULL;
	snapshot->link = NULL;
	snapshot->program = NULL;
}

/* Sets the maps' sizes. That of the program's memory is a power of two, as its index is masked. */
static int size_maps(struct snapshot *snapshot)
{
	struct snapshot_bpf *program = snapshot->program;
	uint32_t room = (uint32_t)snapshot->room, memory = MEMORY_MIN;
	int err;

	while (memory < 2 * room)
		memory *= 2;
	program->bss->control.mask = memory - 1;
	program->bss->control.threads = snapshot->threads;
	err = bpf_map__set_max_entries(program->maps.entries, room);
	if (!err)
		err = bpf_map__set_max_entries(program->maps.records, room);
	if (!err)
		err = bpf_map__set_max_entries(program->maps.memory, memory);
	return err;
}

/* Passes a map of other programs to the program; fd -1: leaves it out, as a kernel may lack it. */
static int lend_map(struct bpf_map *map, int fd)
{
	return fd < 0 ? bpf_map__set_autocreate(map, false) : bpf_map__reuse_fd(map, fd);
}

/* Passes the measured and traced data to the program. */
static int lend_maps(struct snapshot *snapshot)
{
	const struct measure *measure = snapshot->measure;
	struct snapshot_bpf *program = snapshot->program;
	struct trace_maps maps = { -1, -1 };
	int err;

	program->rodata->measured_kinds = measure ? measure_kinds(measure) : 0;
	program->rodata->makes_late = measure && measure_is_late(measure);
	program->rodata->traced = snapshot->trace;
	if (snapshot->trace)
		maps = trace_maps(snapshot->trace);
	err = lend_map(program->maps.waits, measure ? measure_map(measure) : -1);
	if (!err)
		err = lend_map(program->maps.locals, maps.locals);
	if (!err)
		err = lend_map(program->maps.ended_of, maps.ended);
	return err;
}

/* Maps the program's output, and prepares the program to run. */
static int attach(struct snapshot *snapshot)
{
	struct snapshot_bpf *program = snapshot->program;
	long err;

	snapshot->entries = mapped_values(program->maps.entries, snapshot->room,
					  sizeof(*snapshot->entries), PROT_READ);
	if (!snapshot->entries)
		return -errno;
	if (snapshot->way == SNAPSHOT_WALK)
		return 0;
	snapshot->link = bpf_program__attach_iter(program->progs.each, NULL);
	err = libbpf_get_error(snapshot->link);
	if (err)
		snapshot->link = NULL;
	return (int)err;
}

/* Loads the program for the snapshot's method and room. */
static int open_program(struct snapshot *snapshot)
{
	struct snapshot_bpf *program = snapshot_bpf__open();
	int err;

	if (!program)
		return -errno;
	snapshot->program = program;
	bpf_program__set_autoload(
		snapshot->way == SNAPSHOT_WALK ? program->progs.walk : program->progs.each, true);
	err = size_maps(snapshot);
	if (!err)
		err = lend_maps(snapshot);
	if (!err)
		err = snapshot_bpf__load(program);
	if (!err)
		err = attach(snapshot);
	snapshot->loaded_anew = true;
	debug_log("snapshot: way %d, room for %zu: %s", (int)snapshot->way, snapshot->room,
		  err ? strerror(-err) : "loaded");
	if (err)
		close_program(snapshot);
	return err;
}

/* The first method to try: the walk, unless the kernel is known to lack what it calls. */
static enum snapshot_way better_way(void)
{
	static const char iterator[] = "bpf_iter_task_new";

	if (loading_knows(iterator))
		return SNAPSHOT_WALK;
	refusal_add("walk", "the kernel lacks bpf_iter_task_new()");
	return SNAPSHOT_EACH;
}

/* Stores the trace. Returns whether it changed. */
static bool take_trace(struct snapshot *snapshot, const struct trace *trace)
{
	uint64_t began_ns = trace ? trace_began_ns(trace) : 0;

	if (trace == snapshot->trace && began_ns == snapshot->trace_began_ns)
		return false;
	snapshot->trace = trace;
	snapshot->trace_began_ns = began_ns;
	return true;
}

int snapshot_open(struct snapshot **out, bool threads, enum snapshot_way way,
		  const struct measure *measure, const struct trace *trace)
{
	struct snapshot *snapshot = xcalloc(1, sizeof(*snapshot));
	struct sysinfo machine;
	int err = loading_begin();

	if (err) {
		free(snapshot);
		return err;
	}
	sysinfo(&machine);
	snapshot->threads = threads;
	snapshot->measure = measure;
	take_trace(snapshot, trace);
	snapshot->room = machine.procs + machine.procs / 2 + 1024u;
	snapshot->way = way == SNAPSHOT_ANY ? better_way() : way;
	err = open_program(snapshot);
	/* Without privileges the other method fails, too. */
	if (err && err != -EPERM && way == SNAPSHOT_ANY && snapshot->way == SNAPSHOT_WALK) {
		snapshot->way = SNAPSHOT_EACH;
		err = open_program(snapshot);
	}
	if (err) {
		free(snapshot);
		return loading_error(err);
	}
	*out = snapshot;
	return 0;
}

/* Runs the program that walks. */
static int run_walk(struct snapshot *snapshot)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_prog_test_run_opts(bpf_program__fd(snapshot->program->progs.walk), &options);
}

/* Has the program called for each thread. It outputs nothing, so the first read() is the last. */
static int run_each(struct snapshot *snapshot)
{
	struct snapshot_control *control = &snapshot->program->bss->control;
	int fd = bpf_iter_create(bpf_link__fd(snapshot->link));
	ssize_t got;
	char none;

	if (fd < 0)
		return fd;
	control->entries = control->records = 0;
	control->begin_ns = 0;
	do {
		got = read(fd, &none, sizeof(none));
	} while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	close(fd);
	return got < 0 ? -errno : 0;
}

/*
 * Order of records: by process, within it the leader's, then that of exited threads, then those of
 * the other threads, whose ids are 2 or more.
 */
static uint64_t record_order(const struct snapshot_record *record)
{
	bool leader = record->pid == record->tgid;

	if (record->part == SNAPSHOT_ENDED)
		return task_order(record->tgid, 1);
	return task_order(record->tgid, leader ? 0 : record->pid);
}

/* Compares records for qsort(). Of equal ids the later reading comes last, as in a walk. */
static int compare_records(const void *a, const void *b)
{
	const struct snapshot_record *x = a, *y = b;

	if (record_order(x) != record_order(y))
		return record_order(x) < record_order(y) ? -1 : 1;
	return (x->read_ns > y->read_ns) - (x->read_ns < y->read_ns);
}

/*
 * Converts records of threads into records of processes, as the walk writes them. The kernel has
 * already added an exiting thread's counters to those of exited threads; without a leader the
 * process is gone.
 */
static void gather(struct snapshot *snapshot, struct snapshot_view *view)
{
	struct snapshot_record *records;
	size_t kept = 0, entries = 0;

	if (snapshot->own_room < view->nrecords) {
		snapshot->own_room = view->nrecords * 2;
		snapshot->own_records =
			xreallocarray(snapshot->own_records, snapshot->own_room, sizeof(*records));
		snapshot->own_entries = xreallocarray(snapshot->own_entries, snapshot->own_room,
						      sizeof(*snapshot->own_entries));
	}
	records = snapshot->own_records;
	memcpy(records, view->records, view->nrecords * sizeof(*records));
	qsort(records, view->nrecords, sizeof(*records), compare_records);
	for (size_t i = 0; i < view->nrecords; i++) {
		bool thread = records[i].part == SNAPSHOT_FIRST;
		bool first = thread && (snapshot->threads || records[i].pid == records[i].tgid);

		if (first)
			snapshot->own_entries[entries++] =
				(struct snapshot_entry){ records[i].pid, (uint32_t)kept + 1 };
		else if (!entries || (thread && records[i].exit_state) ||
			 records[i].tgid != snapshot->own_entries[entries - 1].pid)
			continue;
		else if (thread)
			records[i].part = SNAPSHOT_THREAD;
		records[kept++] = records[i];
	}
	view->entries = snapshot->own_entries;
	view->nentries = entries;
	view->records = records;
	view->nrecords = kept;
}

/*
 * Maps the written records. After the first snapshot these are few, and mapped memory counts as
 * ours.
 */
static int fit_records(struct snapshot *snapshot, size_t n)
{
	if (!snapshot->passed && n <= snapshot->mapped &&
	    (snapshot->mapped <= MAPPED_MIN || 4 * n > snapshot->mapped))
		return 0;
	return map_records(snapshot, 2 * n > snapshot->room ? snapshot->room
				     : 2 * n > MAPPED_MIN   ? 2 * n
							    : MAPPED_MIN);
}

/* Takes a snapshot with the present room. -ENOBUFS if it was too small. */
static int take_once(struct snapshot *snapshot, unsigned how, struct snapshot_view *view)
{
	struct snapshot_control *control = &snapshot->program->bss->control;
	int err;

	control->whole = how & SNAPSHOT_WHOLE || snapshot->loaded_anew;
	control->cgroups = (how & SNAPSHOT_CGROUPS) != 0;
	err = snapshot->way == SNAPSHOT_WALK ? run_walk(snapshot) : run_each(snapshot);
	if (err)
		return err;
	if (control->entries > snapshot->room || control->records > snapshot->room)
		return -ENOBUFS;
	snapshot->loaded_anew = false;
	err = fit_records(snapshot, control->records);
	if (err)
		return err;
	*view = (struct snapshot_view){
		.entries = snapshot->entries,
		.nentries = control->entries,
		.records = snapshot->records,
		.nrecords = control->records,
		.begin_ns = control->begin_ns,
		.end_ns = control->end_ns,
	};
	debug_log("snapshot: %zu entries, %zu records, %llu us", view->nentries, view->nrecords,
		  (unsigned long long)((view->end_ns - view->begin_ns) / NSEC_PER_USEC));
	return 0;
}

int snapshot_take(struct snapshot *snapshot, unsigned how, struct snapshot_view *view)
{
	int err = snapshot->program ? 0 : open_program(snapshot);

	if (!err)
		err = take_once(snapshot, how, view);
	/*
	 * The room is too small. The program remembers records that it could not write: so all is
	 * new.
	 */
	while (err == -ENOBUFS) {
		const struct snapshot_control *control = &snapshot->program->bss->control;
		size_t found =
			control->entries > control->records ? control->entries : control->records;

		close_program(snapshot);
		snapshot->room = found + found / 2;
		err = open_program(snapshot);
		if (!err)
			err = take_once(snapshot, how | SNAPSHOT_WHOLE, view);
	}
	if (!err && snapshot->way == SNAPSHOT_EACH)
		gather(snapshot, view);
	return err;
}

void snapshot_pass(struct snapshot *snapshot, size_t record)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = record * sizeof(*snapshot->records) / page * page;

	if (snapshot->way == SNAPSHOT_EACH || bytes < snapshot->passed + PASSED_MIN)
		return;
	munmap((char *)snapshot->records + snapshot->passed, bytes - snapshot->passed);
	snapshot->passed = bytes;
}

void snapshot_trace(struct snapshot *snapshot, const struct trace *trace)
{
	if (!take_trace(snapshot, trace))
		return;
	/*
	 * Loading takes 0.1 s, which must not fall into the next sample's interval. Errors:
	 * snapshot_take().
	 */
	close_program(snapshot);
	if (trace)
		open_program(snapshot);
}

enum snapshot_way snapshot_way(const struct snapshot *snapshot)
{
	return snapshot->way;
}

void snapshot_close(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	close_program(snapshot);
	free(snapshot->own_entries);
	free(snapshot->own_records);
	free(snapshot);
}
