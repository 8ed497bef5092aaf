/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/util.h"

/* Maximum size of kallsyms: 5 to 15 MB are usual. */
#define KALLSYMS_BYTES (256 * 1024 * 1024)

/* No function is longer: an address far past one is in data, or in an unloaded module. */
#define FUNCTION_BYTES (1024 * 1024)

/* A function; the name is at that offset of the names. */
struct symbol {
	uint64_t address;
	uint32_t name;
};

struct symbols {
	struct symbol *all; /* by address, each address once */
	size_t n, cap;
	struct buf names;
};

/* Parses an address: hexadecimal digits without 0x. */
static bool take_address(struct span *text, uint64_t *address)
{
	uint64_t value = 0;
	const char *at = text->at;

	for (; at < text->end; at++) {
		const char *digit = memchr("0123456789abcdef", *at, 16);

		if (!digit)
			break;
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)(digit - "0123456789abcdef");
	}
	if (at == text->at)
		return false;
	*address = value;
	text->at = at;
	return true;
}

/*
 * True for names that stacks show: not padding in front of a function (__pfx_, by
 * CONFIG_FUNCTION_PADDING_CFI), nor a mark within one: $x, .L12 (riscv64, 6.12; include/linux/
 * module_symbol.h:is_mapping_symbol()). They have addresses of their own.
 */
static bool is_function(char type, const struct span *name)
{
	static const char *const others[] = { "__pfx_", "$", ".L", "L0" };

	if (!memchr("tTwW", type, 4) || name->at == name->end)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if ((size_t)(name->end - name->at) >= strlen(others[i]) &&
		    !memcmp(name->at, others[i], strlen(others[i])))
			return false;
	return true;
}

/* Adds the symbol of a line "ffffffff81000000 T _stext [module]". */
static void add_line(struct symbols *symbols, struct span line)
{
	struct span name;
	uint64_t address;
	char type;

	if (!take_address(&line, &address) || !address || line.end - line.at < 4 ||
	    line.at[0] != ' ' || line.at[2] != ' ')
		return;
	type = line.at[1];
	line.at += 3;
	if (!take_part(&line, '\t', &name) || !is_function(type, &name))
		return;
	GROW(symbols->all, symbols->n, symbols->cap);
	symbols->all[symbols->n++] = (struct symbol){ address, (uint32_t)symbols->names.len };
	buf_add(&symbols->names, name.at, (size_t)(name.end - name.at));
	buf_putc(&symbols->names, '\0');
}

/* Orders by address, and equal addresses as they came. */
static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Sorts, and keeps the first name of each address. */
static void sort_symbols(struct symbols *symbols)
{
	size_t kept = 0;

	qsort(symbols->all, symbols->n, sizeof(*symbols->all), compare_symbols);
	for (size_t i = 0; i < symbols->n; i++)
		if (!kept || symbols->all[kept - 1].address != symbols->all[i].address)
			symbols->all[kept++] = symbols->all[i];
	symbols->n = kept;
}

struct symbols *symbols_read(int procfd)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));
	struct buf text = { 0 };
	struct span rest, line;

	if (!file_read_all(procfd, "kallsyms", &text, KALLSYMS_BYTES)) {
		rest = (struct span){ text.data, text.data + text.len };
		while (take_line(&rest, &line))
			add_line(symbols, line);
	}
	buf_free(&text);
	if (!symbols->n) {
		symbols_free(symbols);
		return NULL;
	}
	sort_symbols(symbols);
	return symbols;
}

const char *symbol_at(const struct symbols *symbols, uint64_t address, uint64_t *offset)
{
	const struct symbol *symbol;
	size_t behind;

	LOWER_BOUND(behind, symbols->n, symbols->all[behind].address <= address);
	symbol = behind ? &symbols->all[behind - 1] : NULL;
	if (!symbol || address - symbol->address >= FUNCTION_BYTES)
		return NULL;
	*offset = address - symbol->address;
	return symbols->names.data + symbol->name;
}

/* What a function means for a wait. */
enum telling {
	TELLS, /* decisive: the purpose of the wait */
	TELLS_LOCK, /* a lock, about which the caller says more */
	TELLS_NOTHING, /* generic: it waits for its caller, or switches */
	TELLS_ENTRY, /* entry into the kernel */
};

/*
 * Functions less specific than their callers; '*' at the end of a name matches any rest. Names as
 * of kernels 5.10 to 6.18.
 */
static const struct {
	enum telling telling;
	const char *const *names;
} tellings[] = {
	{ TELLS_NOTHING,
	  (const char *const[]){ /* kernel/sched/core.c, kernel/time/timer.c, sleep_timeout.c */
				 "schedule", "__schedule", "preempt_schedule*", "__cond_resched*",
				 "schedule_timeout*", "schedule_hrtimeout*",
				 "schedule_preempt_disabled", "schedule_rtlock*", "schedule_idle",
				 "io_schedule", "io_schedule_timeout", "io_schedule_prepare",
				 "blk_io_schedule", "__switch_to*", "finish_task_switch", "msleep",
				 "msleep_interruptible", "usleep_range*",
				 /* kernel/sched/completion.c, wait.c, wait_bit.c, swait.c */
				 "wait_for_completion*", "__wait_for_common", "wait_for_common*",
				 "do_wait_for_common", "wait_woken", "do_wait_intr*",
				 "__wait_on_bit*", "out_of_line_wait_on_bit*", "bit_wait*",
				 "wait_on_bit*", "swait_*", "prepare_to_wait*", "prepare_to_swait*",
				 "wait_on_commit", "__wait_rcu_gp", "rcuwait_*",
				 /* mm/filemap.c, fs/buffer.c, block/bio.c */
				 "folio_wait_bit*", "folio_put_wait_locked", "wait_on_page_bit*",
				 "__wait_on_buffer", "submit_bio_wait", "bio_await*",
				 /* fs/select.c, kernel/futex/, net/core */
				 "poll_schedule_timeout*", "do_poll", "futex_do_wait",
				 "futex_wait_queue*", "__futex_wait", "sk_wait_data",
				 "__skb_wait_for_more_packets", "__skb_recv_datagram",
				 /* The BPF program that took the stack, and its callers. */
				 "bpf_prog_*", "bpf_get_stack*", "__bpf_get_stack*",
				 "bpf_trace_run*", "__bpf_trace_*", "__traceiter_*",
				 "trace_event_raw_event_*", "bpf_trampoline_*", NULL } },
	{ TELLS_LOCK,
	  (const char *const[]){ /*
				  * kernel/locking, except percpu_rwsem_wait(), in which tasks wait
				  * for a frozen file system
				  */
				 "mutex_lock*",
				 "__mutex_lock*",
				 "ww_mutex_lock*",
				 "__ww_mutex_lock*",
				 "rt_mutex_*",
				 "__rt_mutex_*",
				 "rt_mutex_slowlock*",
				 "rwbase_*",
				 "down",
				 "down_interruptible",
				 "down_killable",
				 "down_timeout",
				 "__down*",
				 "down_read*",
				 "down_write*",
				 "rwsem_down_*",
				 "rwsem_read_trylock",
				 "rt_spin_lock",
				 "rt_read_lock",
				 "rt_write_lock",
				 "rtlock_slowlock*",
				 "__folio_lock*",
				 "__lock_page*",
				 "__lock_buffer",
				 "folio_lock*",
				 NULL } },
	{ TELLS_ENTRY, (const char *const[]){ "do_syscall_64",
					      "x64_sys_call",
					      "entry_SYSCALL*",
					      "entry_SYSENTER*",
					      "entry_INT80*",
					      "do_int80*",
					      "do_fast_syscall_32",
					      "__do_fast_syscall_32",
					      "syscall_*",
					      "__x64_sys_*",
					      "__ia32_sys_*",
					      "__se_sys_*",
					      "__do_sys_*",
					      "__arm64_sys_*",
					      "el0_svc*",
					      "el0t_64*",
					      "el0_sync*",
					      "do_el0_svc",
					      "invoke_syscall*",
					      "__riscv_sys_*",
					      "__s390x_sys_*",
					      "__s390_sys_*",
					      "__do_syscall",
					      "system_call",
					      "do_trap_ecall_u",
					      "ret_from_*",
					      "exit_to_user_mode*",
					      "kthread",
					      "asm_*",
					      "exc_page_fault",
					      "do_user_addr_fault",
					      "secondary_startup*",
					      NULL } },
};

size_t symbol_length(const char *function)
{
	return strcspn(function, ".+ \n");
}

/* True if a row matches a function's name. */
static bool fits_name(const char *function, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (n && name[n - 1] == '*')
		return len >= n - 1 && !memcmp(function, name, n - 1);
	return len == n && !memcmp(function, name, n);
}

/* The meaning of a function for a wait. */
static enum telling telling_of(const char *function)
{
	size_t len = symbol_length(function);

	for (size_t i = 0; i < ARRAY_SIZE(tellings); i++)
		for (const char *const *name = tellings[i].names; *name; name++)
			if (fits_name(function, len, *name))
				return tellings[i].telling;
	return TELLS;
}

bool symbol_is_generic(const char *function)
{
	return telling_of(function) == TELLS_NOTHING;
}

bool symbol_freezes(const char *function)
{
	/* The last has the one before in it; its other uses are no sleep, or state T. */
	static const char *const names[] = { "__refrigerator", "do_freezer_trap", "get_signal" };
	size_t len = symbol_length(function);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (fits_name(function, len, names[i]))
			return true;
	return false;
}

bool symbol_freezes_in_d(const char *function)
{
	/* Callers of the scheduler with TASK_INTERRUPTIBLE | TASK_FREEZABLE, of 6.1 to 7.2. */
	static const char *const names[] = { "do_nanosleep",	"hrtimer_nanosleep*",
					     "common_nsleep*",	"futex_wait*",
					     "__futex_wait",	"futex_do_wait",
					     "do_sigtimedwait", "unix_stream_data_wait",
					     "ep_poll",		"do_epoll_wait",
					     "do_select",	"poll_schedule_timeout*",
					     "do_sys_poll",	"do_poll*" };
	size_t len = symbol_length(function);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (fits_name(function, len, names[i]))
			return true;
	return symbol_freezes(function);
}

bool symbols_fault(const char *const *functions, size_t n)
{
	/* The common part, and the functions leading to it: of x86, of arm64, of others. */
	static const char *const faults[] = { "handle_mm_fault", "do_user_addr_fault",
					      "exc_page_fault",	 "do_mem_abort",
					      "do_page_fault",	 "handle_page_fault" };

	for (size_t i = 0; i < n; i++)
		for (size_t f = 0; f < ARRAY_SIZE(faults); f++)
			if (symbol_length(functions[i]) == strlen(faults[f]) &&
			    !strncmp(functions[i], faults[f], strlen(faults[f])))
				return true;
	return false;
}

size_t symbols_telling(const char *const *functions, size_t n)
{
	size_t lock = n;

	for (size_t i = 0; i < n; i++) {
		enum telling telling = telling_of(functions[i]);

		/* An address without a name may be a program's, which kallsyms leaves out. */
		if (telling == TELLS && symbol_length(functions[i]))
			return i;
		if (telling == TELLS_LOCK && lock == n)
			lock = i;
	}
	return lock;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->all);
	buf_free(&symbols->names);
	free(symbols);
}
