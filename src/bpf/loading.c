/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/loading.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"
#include "bpf/refusal.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Lines written of a program's verifier log: the reason is at its end. */
#define LOG_LINES 20

/* The start of the last so many lines of a text. */
static const char *last_lines(const char *text, unsigned lines)
{
	const char *at = text + strlen(text);

	while (at > text && lines) {
		at--;
		if (at > text && at[-1] == '\n')
			lines--;
	}
	return at;
}

/* Passes on libbpf's messages. It reports each relocation, too: at debug level. */
static int libbpf_print(enum libbpf_print_level level, const char *format, va_list arguments)
{
	struct span rest, line;
	char *text;

	if (level == LIBBPF_DEBUG || vasprintf(&text, format, arguments) < 0)
		return 0;
	refusal_capture_log(text);
	rest.at = last_lines(text, LOG_LINES);
	rest.end = text + strlen(text);
	while (take_line(&rest, &line))
		debug_log("%.*s", (int)(line.end - line.at), line.at);
	free(text);
	return 0;
}

/* True if our clocks are offset from the kernel's: "monotonic 1000 0" and the like. */
static bool are_clocks_apart(void)
{
	char text[256];
	int len = file_read(AT_FDCWD, "/proc/self/timens_offsets", text, sizeof(text));
	struct span rest = { text, text + (len > 0 ? len : 0) }, line;

	while (take_line(&rest, &line))
		for (; line.at < line.end; line.at++)
			if (*line.at >= '1' && *line.at <= '9')
				return true;
	return false;
}

int loading_begin(void)
{
	refusal_begin();
	libbpf_set_print(libbpf_print);
	return are_clocks_apart() ? -EXDEV : 0;
}

size_t mapped_bytes(size_t room, size_t value)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (room * value + page - 1) / page * page;
}

void *mapped_values(const struct bpf_map *map, size_t room, size_t value, int protection)
{
	void *values =
		mmap(NULL, mapped_bytes(room, value), protection, MAP_SHARED, bpf_map__fd(map), 0);

	return values == MAP_FAILED ? NULL : values;
}

/* True if we have both capabilities for loading, or the one that they were split from in 5.8. */
static bool capable(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
	uint64_t effective;

	if (syscall(SYS_capget, &header, sets))
		return false;
	effective = sets[0].effective | (uint64_t)sets[1].effective << 32;
	return effective >> CAP_SYS_ADMIN & 1 ||
	       (effective >> CAP_BPF & 1 && effective >> CAP_PERFMON & 1);
}

/* The kernel's types, as it describes them (BTF). */
struct types {
	void *data; /* NULL: unreadable */
	size_t size;
	bool mapped;
};

/* Reads so many bytes from the beginning, all of them or none. */
static bool read_whole(int fd, char *to, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t got = pread(fd, to + at, size - at, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

/* Frees what open_types() allocated. */
static void close_types(struct types *types)
{
	if (types->mapped)
		munmap(types->data, types->size);
	else
		free(types->data);
	types->data = NULL;
}

/*
 * Maps the types (6.16 and later), or reads them, which takes a system call per page. If there are
 * any, their header is valid.
 */
static struct types open_types(void)
{
	int fd = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	const struct btf_header *header;
	struct types types = { 0 };
	struct stat stat_of;

	if (fd < 0)
		return types;
	if (!fstat(fd, &stat_of) && stat_of.st_size >= (off_t)sizeof(*header)) {
		types.size = (size_t)stat_of.st_size;
		types.data = mmap(NULL, types.size, PROT_READ, MAP_PRIVATE, fd, 0);
		types.mapped = types.data != MAP_FAILED;
		if (!types.mapped) {
			types.data = xcalloc(1, types.size);
			if (!read_whole(fd, types.data, types.size))
				close_types(&types);
		}
	}
	close(fd);
	header = types.data;
	if (header && (header->magic != BTF_MAGIC ||
		       (uint64_t)header->hdr_len + header->str_off + header->str_len > types.size))
		close_types(&types);
	return types;
}

/* True if the kernel's types can be read. */
static bool has_types(void)
{
	struct types types = open_types();
	bool has = types.data;

	close_types(&types);
	return has;
}

bool loading_knows(const char *name)
{
	struct types types = open_types();
	const struct btf_header *header = types.data;
	bool known = true;

	/* Each string ends with a NUL, and the first is empty. */
	if (header)
		known = memmem((const char *)types.data + header->hdr_len + header->str_off,
			       header->str_len, name, strlen(name) + 1) != NULL;
	close_types(&types);
	return known;
}

/* The kernel's types, to be freed by btf__free(); NULL: unreadable. */
static struct btf *read_types(void)
{
	struct types types = open_types();
	struct btf *btf = types.data ? btf__new(types.data, (__u32)types.size) : NULL;

	close_types(&types);
	return libbpf_get_error(btf) ? NULL : btf;
}

/* Number of arguments of a tracepoint in this kernel; negative: no such tracepoint. */
static int arguments_of(const struct btf *btf, const char *tracepoint)
{
	const struct btf_type *type;
	char typedef_name[64];
	int id;

	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF);
	type = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
	type = type ? btf__type_by_id(btf, type->type) : NULL; /* a pointer to a function */
	type = type ? btf__type_by_id(btf, type->type) : NULL;
	/* The first is the tracepoint's own. */
	return type && btf_is_func_proto(type) ? btf_vlen(type) - 1 : -1;
}

int loading_choose(struct bpf_object *object, const char *hook)
{
	struct btf *btf = read_types();
	struct bpf_program *program;
	const char *other;

	if (!btf)
		return -ENOENT;
	/* The fourth argument, prev_state, is there since 5.18. */
	other = arguments_of(btf, "sched_switch") >= 4 ? "switched_plain" : "switched_state";
	bpf_object__for_each_program(program, object)
	{
		const char *point = strchr(bpf_program__section_name(program), '/');

		if (point && !bpf_program__autoload(program) && (!hook || !strcmp(point + 1, hook)))
			bpf_program__set_autoload(
				program, arguments_of(btf, point + 1) >= 0 &&
						 strcmp(bpf_program__name(program), other) != 0);
	}
	btf__free(btf);
	return 0;
}

int loading_run_iterator(const struct bpf_program *program)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int err = (int)libbpf_get_error(link), fd;
	ssize_t got;
	char none;

	if (err)
		return err;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		bpf_link__destroy(link);
		return fd;
	}
	do {
		got = read(fd, &none, sizeof(none));
	} while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	err = got < 0 ? -errno : 0;
	close(fd);
	bpf_link__destroy(link);
	return err;
}

int loading_error(int err)
{
	if (!capable())
		return -EPERM;
	if (err == -ENOMEM)
		return err;
	if (!has_types())
		return -ENOENT;
	if (refusal_cause())
		return refusal_cause();
	return err == -EPERM ? -EACCES : -EOPNOTSUPP;
}
