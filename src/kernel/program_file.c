/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/program_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "kernel/debug_files.h"

/* Register numbers in unwind tables of x86-64. */
#define REGISTER_BP 6
#define REGISTER_SP 7
#define REGISTER_IP 16

/* Bytes kept of a function's name. */
#define NAME_MAX_BYTES 120

struct program_file {
	Dwfl *dwfl;
	Dwfl_Module *module;
	const struct debug_files *fetched;
	char lacks[BUILD_ID_CHARS]; /* "": nothing */
};

/* Stores a build id in hexadecimal digits; "": there is none, or it is too long. */
static void put_build_id(char id[BUILD_ID_CHARS], Dwfl_Module *module)
{
	const unsigned char *bits;
	GElf_Addr address;
	int n = dwfl_module_build_id(module, &bits, &address);

	*id = '\0';
	for (int i = 0; i < n && 2 * n < BUILD_ID_CHARS; i++)
		snprintf(id + 2 * i, 3, "%02x", bits[i]);
}

/* Finds the file with a program's symbols. Its descriptor, or -1. */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			   const char *file_name, const char *link, GElf_Word sum, char **found)
{
	struct program_file *file = *data;
	const char *path;
	int fd =
		dwfl_standard_find_debuginfo(module, data, name, base, file_name, link, sum, found);

	if (fd >= 0 || !file)
		return fd;
	put_build_id(file->lacks, module);
	path = debug_files_path(file->fetched, file->lacks);
	fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	if (fd >= 0)
		*file->lacks = '\0';
	return fd;
}

/*
 * Finds files with symbols as debuggers do: beside the file, and by its build id below
 * /usr/lib/debug. The library asks no server: DEBUGINFOD_URLS is not set in the process.
 */
static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = find_debug_file,
	.section_address = dwfl_offline_section_address,
};

struct program_file *program_file_open(int fd, const char *path, const struct debug_files *fetched)
{
	struct program_file *file = xcalloc(1, sizeof(*file));
	void **data = NULL;

	file->dwfl = dwfl_begin(&callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	file->fetched = fetched;
	if (file->module &&
	    dwfl_module_info(file->module, &data, NULL, NULL, NULL, NULL, NULL, NULL))
		*data = file;
	if (file->module)
		return file;
	close(fd);
	program_file_close(file);
	return NULL;
}

const char *program_file_lacks(const struct program_file *file)
{
	return *file->lacks ? file->lacks : NULL;
}

/* The address of an offset in the file, as its tables have it, plus what the library adds. */
static bool find_address(struct program_file *file, uint64_t offset, uint64_t *address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(file->module, &bias);
	size_t n = 0;

	if (!elf || elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr head;

		if (!gelf_getphdr(elf, (int)i, &head) || head.p_type != PT_LOAD ||
		    offset < head.p_offset || offset - head.p_offset >= head.p_filesz)
			continue;
		*address = offset - head.p_offset + head.p_vaddr + bias;
		return true;
	}
	return false;
}

/* Appends a text up to a limit, without characters that could be taken for something else. */
static void append_bounded(struct buf *out, const char *text, size_t len)
{
	text_escape(out, text, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES, TEXT_UTF8);
}

bool program_file_name(struct program_file *file, uint64_t offset, bool line, struct buf *out)
{
	const char *name, *version, *source, *slash;
	Dwfl_Line *found;
	GElf_Off within;
	GElf_Sym symbol;
	uint64_t address;
	int number;

	if (!find_address(file, offset, &address))
		return false;
	name = dwfl_module_addrinfo(file->module, address, &within, &symbol, NULL, NULL, NULL);
	if (!name || !*name)
		return false;
	/* The version of a symbol ("read@@GLIBC_2.2.5") does not help to explain a wait. */
	version = strchr(name + 1, '@');
	append_bounded(out, name, version ? (size_t)(version - name) : strlen(name));
	found = line ? dwfl_module_getsrc(file->module, address) : NULL;
	source = found ? dwfl_lineinfo(found, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!source)
		return true;
	slash = strrchr(source, '/');
	source = slash ? slash + 1 : source;
	buf_puts(out, " (");
	append_bounded(out, source, strlen(source));
	buf_printf(out, ":%d)", number);
	return true;
}

/* Reads what locates the caller's stack pointer: a register and an offset. */
static bool take_cfa(Dwarf_Frame *frame, struct frame_rule *rule)
{
	Dwarf_Op *ops;
	size_t n;
	uint64_t reg, distance;

	if (dwarf_frame_cfa(frame, &ops, &n) || n != 1)
		return false;
	if (ops->atom == DW_OP_bregx) {
		reg = ops->number;
		distance = ops->number2;
	} else if (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31) {
		reg = ops->atom - DW_OP_breg0;
		distance = ops->number;
	} else {
		return false;
	}
	if ((reg != REGISTER_SP && reg != REGISTER_BP) || (int64_t)distance < 0 ||
	    distance > INT32_MAX)
		return false;
	rule->base = reg == REGISTER_SP ? RULE_SP : RULE_BP;
	rule->cfa = (int32_t)distance;
	return true;
}

/* Where a register of the caller is saved. */
enum place { PLACE_UNKNOWN, PLACE_LOST, PLACE_SAME, PLACE_SAVED };

/* Reads that; at: offset from the caller's stack pointer. */
static enum place find_saved(Dwarf_Frame *frame, int reg, int64_t *at)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, memory, &ops, &n))
		return PLACE_UNKNOWN;
	if (!n)
		return ops ? PLACE_LOST : PLACE_SAME;
	if (ops[0].atom != DW_OP_call_frame_cfa || n != 2 || ops[1].atom != DW_OP_plus_uconst)
		return PLACE_UNKNOWN;
	*at = (int64_t)ops[1].number;
	return PLACE_SAVED;
}

/* Reads the rule of a frame, if it is a usual one. */
static bool take_rule(Dwarf_Frame *frame, struct frame_rule *rule)
{
	int64_t at = 0;

	*rule = (struct frame_rule){ 0 };
	switch (find_saved(frame, REGISTER_IP, &at)) {
	case PLACE_LOST:
		rule->base = RULE_LAST;
		return true;
	case PLACE_SAVED:
		if (at == -8 && take_cfa(frame, rule))
			break;
		return false;
	default:
		return false;
	}
	switch (find_saved(frame, REGISTER_BP, &at)) {
	case PLACE_SAME:
	case PLACE_LOST:
		return true;
	case PLACE_SAVED:
		rule->bp = (int16_t)at;
		return at == rule->bp;
	default:
		return false;
	}
}

bool program_file_rule(struct program_file *file, uint64_t offset, struct frame_rule *rule)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr bias;
	Dwarf_CFI *table;
	uint64_t address;
	bool found;

	if (!find_address(file, offset, &address))
		return false;
	table = dwfl_module_eh_cfi(file->module, &bias);
	if (!table || dwarf_cfi_addrframe(table, address - bias, &frame)) {
		table = dwfl_module_dwarf_cfi(file->module, &bias);
		if (!table || dwarf_cfi_addrframe(table, address - bias, &frame))
			return false;
	}
	found = take_rule(frame, rule);
	free(frame);
	return found;
}

void program_file_close(struct program_file *file)
{
	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(file);
}
