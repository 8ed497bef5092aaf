/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/util.h"

#define LOG_BEGINS "-- BEGIN PROG LOAD LOG --\n"

static struct {
	char words[512];
	int cause;
} refused;

/* Words that identify a cause, in the last line of libbpf or the verifier. */
static const struct {
	const char *needle;
	int cause;
} causes[] = {
	{ "JIT is required", -ENOEXEC },
	{ "CO-RE relocation", -ENXIO },
	{ "unknown func", -EOPNOTSUPP },
	{ "invalid func unknown", -EOPNOTSUPP },
	{ "invalid kernel function call", -EOPNOTSUPP },
	{ "kernel func", -EOPNOTSUPP },
	{ "failed to find kernel BTF type", -EOPNOTSUPP },
	{ "failed to create", -EOPNOTSUPP },
};

void refusal_begin(void)
{
	refused.words[0] = '\0';
	refused.cause = 0;
}

/* True for a last line of the verifier's log without a reason: its statistics. */
static bool is_statistics(const struct span *line)
{
	static const char *const starts[] = { "processed ", "verification time ", "stack depth ",
					      "-- END ", "max_states" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if ((size_t)(line->end - line->at) >= strlen(starts[i]) &&
		    !memcmp(line->at, starts[i], strlen(starts[i])))
			return true;
	return line->at == line->end;
}

/* The last meaningful line of a verifier's log: it has the reason. */
static struct span last_line(const char *log)
{
	struct span rest = { log, log + strlen(log) }, line, last = { log, log };

	while (take_line(&rest, &line))
		if (!is_statistics(&line))
			last = line;
	return last;
}

/* The program's name in a message: libbpf: prog 'NAME': ... */
static struct span program_of(const char *message)
{
	const char *quote = strstr(message, "prog '");
	const char *name = quote ? quote + strlen("prog '") : message;

	return (struct span){ name, quote ? name + strcspn(name, "'\n") : name };
}

/* Adds a reason with its subject. */
static void add_reason(const struct span *name, const struct span *reason)
{
	size_t len = strlen(refused.words), named = (size_t)(name->end - name->at);

	snprintf(refused.words + len, sizeof(refused.words) - len, "%s%.*s%s%.*s", len ? "; " : "",
		 (int)named, name->at, named ? ": " : "", (int)(reason->end - reason->at),
		 reason->at);
}

/* The cause in a reason; 0: unknown. */
static int cause_of(const struct span *reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		if (memmem(reason->at, (size_t)(reason->end - reason->at), causes[i].needle,
			   strlen(causes[i].needle)))
			return causes[i].cause;
	return 0;
}

void refusal_capture_log(const char *message)
{
	static const char prefix[] = "libbpf: ";
	const char *log = strstr(message, LOG_BEGINS);
	struct span name = { message, message }, reason = name;
	int cause;

	if (log) {
		name = program_of(message);
		reason = last_line(log + strlen(LOG_BEGINS));
	} else {
		if (!strncmp(message, prefix, strlen(prefix)))
			reason.at += strlen(prefix);
		reason.end = reason.at + strcspn(reason.at, "\n");
	}
	cause = cause_of(&reason);
	if (!cause && !log)
		return;
	refused.cause = cause ? cause : -EINVAL;
	add_reason(&name, &reason);
}

void refusal_add(const char *program, const char *reason)
{
	add_reason(&(struct span){ program, program + strlen(program) },
		   &(struct span){ reason, reason + strlen(reason) });
	refused.cause = -EOPNOTSUPP;
}

int refusal_cause(void)
{
	return refused.cause;
}

const char *refusal_words(void)
{
	return refused.words;
}

const char *refusal_summary(int err)
{
	switch (err) {
	case -ENOSYS:
		return "not built in: " BPF_MISSING;
	case -EPROTONOSUPPORT:
		return "only the bpf source does";
	case -EPERM:
		return "it needs CAP_BPF and CAP_PERFMON: run as root";
	case -EACCES:
		return "the kernel forbids it even to root (lockdown, or a security module)";
	case -ENOENT:
		return "it needs the kernel's BTF, /sys/kernel/btf/vmlinux "
		       "(CONFIG_DEBUG_INFO_BTF)";
	case -EXDEV:
		return "this time namespace has other clocks than programs in the kernel";
	case -EINVAL:
		return "the kernel's verifier rejects the program";
	case -ENXIO:
		return "the kernel's types are not as the program knows them";
	case -ENOEXEC:
		return "it needs the kernel's BPF JIT (CONFIG_BPF_JIT, sysctl "
		       "net.core.bpf_jit_enable=1)";
	case -EOPNOTSUPP:
		return "the kernel lacks what the program needs";
	default:
		return strerror(-err);
	}
}

void refusal_append(struct buf *out, int err)
{
	buf_puts(out, refusal_summary(err));
	if (!refused.words[0] || !refused.cause || err != refused.cause)
		return;
	buf_puts(out, ": ");
	text_escape(out, refused.words, strlen(refused.words), TEXT_ASCII);
}
