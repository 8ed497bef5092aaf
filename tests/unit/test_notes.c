// SPDX-License-Identifier: GPL-2.0-or-later
/* Which notes say that files of the whole system are missing, and their words. */
#include "tests/lib/test.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "trace/tracing.h"
#include "view/remedies.h"

/* Asserts what the only note of these errors says; NULL: there is none. */
static void check_note(const struct system_sample *system, const char *text)
{
	struct frame_info info = { .system = system };
	struct buf out = { 0 };

	note_system(&info);
	assert_int_equal(info.head.nnotes, text != NULL);
	if (!text)
		return;
	note_append(&out, &info.head.notes[0]);
	assert_string_equal(buf_cstr(&out), text);
	buf_free(&out);
}

/* A kernel without pressure files is one thing, files that cannot be read are another. */
TEST(test_pressure)
{
	struct system_sample system = { 0 };
	struct frame_info info = { .system = &system };

	check_note(&system, NULL);
	system.pressure.error[PSI_IRQ] = -ENOENT;
	check_note(&system, NULL);
	system.pressure.error[PSI_IO] = -EMFILE;
	check_note(&system, "/proc/pressure/io cannot be read (Too many open files): "
			    "its pressure is unknown");
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		system.pressure.error[r] = r == PSI_CPU ? -EOPNOTSUPP : -ENOENT;
	check_note(&system, "no pressure files: pressure is unknown");
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		system.pressure.error[r] = -EMFILE;
	note_system(&info);
	assert_int_equal(info.head.nnotes, PSI_RESOURCES);
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		assert_int_equal(info.head.notes[r].id, NOTE_PSI_MISSING);
	/* Of a group's pressure that is said elsewhere. */
	info = (struct frame_info){ .system = &system, .head.cgroup = "/a" };
	note_system(&info);
	assert_int_equal(info.head.nnotes, 0);
}

/* The other files, each by its name. */
TEST(test_files)
{
	static const char *const texts[SYSTEM_FILES] = {
		"/proc/stat cannot be read (Permission denied): its figures are unknown",
		"/proc/meminfo cannot be read (Permission denied): its figures are unknown",
		"/proc/loadavg cannot be read (Permission denied): its figures are unknown",
	};

	for (unsigned f = 0; f < SYSTEM_FILES; f++) {
		struct system_sample system = { 0 };

		system.file_error[f] = -EACCES;
		check_note(&system, texts[f]);
	}
}

/* Why waits are not traced: each reason has words of its own. */
TEST(test_tracing)
{
	static const struct {
		int error;
		enum note_id id;
		const char *begins;
	} refusals[] = {
		{ -EPERM, NOTE_TRACE_CAP, "waits are not traced: that needs CAP_BPF" },
		{ -ENOENT, NOTE_TRACE_BTF, "waits are not traced: the kernel provides no BTF" },
		{ -ENOSYS, NOTE_TRACE_ABSENT, "waits are not traced: this stalltop was built" },
		{ -EOPNOTSUPP, NOTE_TRACE_KERNEL, "waits are not traced: the kernel lacks" },
		{ -EINVAL, NOTE_TRACE_KERNEL, "waits are not traced: the kernel's verifier" },
		{ -ENXIO, NOTE_TRACE_KERNEL, "waits are not traced: the kernel's types" },
		{ -EACCES, NOTE_TRACE_KERNEL, "waits are not traced: the kernel forbids" },
		{ -ENOEXEC, NOTE_TRACE_KERNEL,
		  "waits are not traced: it needs the kernel's BPF JIT" },
		{ -ENOMEM, NOTE_TRACE_ERROR, "waits are not traced (Cannot allocate memory)" },
	};
	struct buf out = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct note note = tracing_note_of(refusals[i].error);

		assert_int_equal(note.id, refusals[i].id);
		out.len = 0;
		note_append(&out, &note);
		assert_memory_equal(buf_cstr(&out), refusals[i].begins, strlen(refusals[i].begins));
	}
	for (enum note_id id = 0; id < NOTE_IDS; id++)
		assert_true(note_table[id].rank != NOTE_LASTING || remedy_of_note(id));
	out.len = 0;
	remedy_append_note(&out, &(struct note){ .id = NOTE_TRACE_LOST, .value = 3 });
	assert_string_equal(
		buf_cstr(&out),
		"3 waits are not attributed to a site: table full, or its slot busy; a larger "
		"--trace-sites, unless many CPUs wait at few sites");
	buf_free(&out);
}

/* What has just happened comes before what has always been so; last is what is told to who asks. */
TEST(test_order)
{
	/* Behind the first four: older tasks, and without a remedy, which cannot be changed now. */
	static const enum note_id order[] = { NOTE_RECORD_ENDED,    NOTE_LATE,
					      NOTE_DELAYACCT_OFF,   NOTE_EXITS_REFUSED,
					      NOTE_DELAYACCT_OLDER, NOTE_TRACE_ABSENT,
					      NOTE_STALE_STAMP };
	struct frame_info info = { .head.nnotes = 0 };

	assert_int_equal(notes_default_count(&info), 0);
	frame_note(&info, NOTE_STALE_STAMP, 2);
	assert_int_equal(notes_default_count(&info), 0);
	frame_note(&info, NOTE_DELAYACCT_OLDER, 2);
	frame_note(&info, NOTE_TRACE_ABSENT, 0);
	frame_note(&info, NOTE_DELAYACCT_OFF, 0);
	frame_note(&info, NOTE_RECORD_ENDED, ENOSPC);
	frame_note(&info, NOTE_EXITS_REFUSED, EPERM);
	frame_note(&info, NOTE_LATE, 3);
	notes_sort(&info);
	assert_int_equal(info.head.nnotes, ARRAY_SIZE(order));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(info.head.notes[i].id, order[i]);
	assert_int_equal(info.head.notes[0].value, ENOSPC);
	assert_int_equal(notes_default_count(&info), 4);
}
