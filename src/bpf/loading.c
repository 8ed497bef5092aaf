/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "bpf/loading.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/util.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Writes libbpf's messages to the debug log. */
static int log_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char text[512];

	(void)level;
	vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = '\0';
	debug_log("%s", text);
	return 0;
}

/* Whether our clocks are set apart from the kernel's own: "monotonic 1000 0" and the like. */
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
	libbpf_set_print(log_libbpf);
	if (!are_clocks_apart())
		return 0;
	debug_log("no BPF: this time namespace has other clocks than programs in the kernel");
	return -EOPNOTSUPP;
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

/* Whether we have both capabilities for loading, or the older one that 5.8 split them from. */
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

/* Whether the kernel's types can be read (include/uapi/linux/btf.h: BTF_MAGIC). */
static bool has_types(void)
{
	uint16_t magic = 0;

	return file_read(AT_FDCWD, KERNEL_BTF, &magic, sizeof(magic)) == (int)sizeof(magic) &&
	       magic == 0xeb9f;
}

int loading_error(int err)
{
	if (err == -EPERM || !capable())
		return -EPERM;
	if (err == -ENOMEM)
		return err;
	return has_types() ? -EOPNOTSUPP : -ENOENT;
}
