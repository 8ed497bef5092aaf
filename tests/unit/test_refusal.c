// SPDX-License-Identifier: GPL-2.0-or-later
/* Why programs were refused, taken from messages as libbpf and kernels were seen to write them. */
#include "tests/lib/test.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "bpf/refusal.h"

/* A program's log: libbpf hands it on in one message. */
#define LOG(program, text) \
	"libbpf: prog '" program "': -- BEGIN PROG LOAD LOG --\n" text "-- END PROG LOAD LOG --\n"

/* What is heard, and the cause and words that are taken from it. */
static const struct {
	const char *heard;
	int cause;
	const char *words;
} rows[] = {
	/* 6.1 */
	{ LOG("each",
	      "82: (0f) r6 += r1\n"
	      "math between ptr_ pointer and register with unbounded min value is not allowed\n"
	      "processed 72 insns (limit 1000000) max_states_per_insn 0 total_states 6 "
	      "peak_states 6 mark_read 3\n"),
	  -EINVAL,
	  "each: math between ptr_ pointer and register with unbounded min value is not allowed" },
	/* 5.10 */
	{ LOG("each", "invalid func unknown#158\n"
		      "processed 1 insns (limit 1000000) max_states_per_insn 0 total_states 0 "
		      "peak_states 0 mark_read 0\n"),
	  -EOPNOTSUPP, "each: invalid func unknown#158" },
	{ "libbpf: map 'locals': failed to create: Invalid argument(-22)\n", -EOPNOTSUPP,
	  "map 'locals': failed to create: Invalid argument(-22)" },
	/* 7.2 */
	{ LOG("walk",
	      "112: <invalid CO-RE relocation>\n"
	      "failed to resolve CO-RE relocation <byte_off> [37] struct task_struct.on_rq\n"
	      "processed 110 insns (limit 1000000) max_states_per_insn 1 total_states 10 "
	      "peak_states 10 mark_read 5\n\n"),
	  -ENXIO,
	  "walk: failed to resolve CO-RE relocation <byte_off> [37] struct task_struct.on_rq" },
	/* s390x without CONFIG_BPF_JIT, as Debian's (6.12) */
	{ LOG("walk", "JIT is required for calling kernel function\n"), -ENOEXEC,
	  "walk: JIT is required for calling kernel function" },
	/* Nothing of these says why. */
	{ "libbpf: prog 'walk': BPF program load failed: Invalid argument\n", 0, "" },
	{ "libbpf: failed to load object 'snapshot_bpf'\n", 0, "" },
	{ "", 0, "" },
	/* A log that was cut. */
	{ "libbpf: prog 'x", 0, "" },
	{ LOG("x", ""), -EINVAL, "x: " },
};

TEST(test_causes)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		refusal_begin();
		refusal_capture_log(rows[i].heard);
		assert_int_equal(refusal_cause(), rows[i].cause);
		assert_string_equal(refusal_words(), rows[i].words);
	}
}

/* Each way that was tried is named; the last one's cause stands. */
TEST(test_ways)
{
	struct buf out = { 0 };

	refusal_begin();
	refusal_add("walk", "the kernel lacks bpf_iter_task_new()");
	refusal_capture_log(rows[0].heard);
	assert_int_equal(refusal_cause(), -EINVAL);
	refusal_append(&out, -EINVAL);
	assert_string_equal(
		buf_cstr(&out),
		"the kernel's verifier rejects the program: walk: the kernel lacks "
		"bpf_iter_task_new(); each: math between ptr_ pointer and register with unbounded "
		"min value is not allowed");
	/* What was said before has nothing to do with missing capabilities. */
	out.len = 0;
	refusal_append(&out, -EPERM);
	assert_string_equal(buf_cstr(&out), "it needs CAP_BPF and CAP_PERFMON: run as root");
	buf_free(&out);
}

/* The kernel's words are bytes from elsewhere: bounded, and escaped where they are shown. */
TEST(test_hostile)
{
	char message[4096] = LOG("p\033[2J", "\033]0;x\a");
	struct buf out = { 0 };

	refusal_begin();
	refusal_capture_log(LOG("p\033[2J", "\033]0;x\a\n"));
	refusal_append(&out, -EINVAL);
	assert_null(strchr(buf_cstr(&out), '\033'));
	assert_non_null(strstr(buf_cstr(&out), "\\x1b]0;x\\x07"));
	buf_free(&out);

	memset(message + strlen("libbpf: prog '"), 'a', sizeof(message) - 64);
	for (unsigned i = 0; i < 9; i++)
		refusal_capture_log(message);
	memset(message, 'a', sizeof(message) - 1);
	memcpy(message + 100, "failed to create", 16);
	for (unsigned i = 0; i < 9; i++)
		refusal_capture_log(message);
	assert_true(strlen(refusal_words()) < 600);
}
