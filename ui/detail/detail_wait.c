/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ui/detail/detail_wait.h"

#include "base/file.h"
#include "data/wait_state.h"

/* Replaces a text. */
static void copy_text(struct buf *to, const struct buf *from)
{
	to->len = 0;
	buf_add(to, from->data, from->len);
}

/* Makes the system call with its arguments; how many of the six it takes is not known. */
static void take_call(struct buf *call, const struct task_waiting *waiting)
{
	call->len = 0;
	if (waiting->number < 0)
		return;
	if (waiting->syscall)
		buf_puts(call, waiting->syscall);
	else
		buf_printf(call, "system call %d", waiting->number);
	for (unsigned i = 0; i < WAITING_ARGS; i++)
		buf_printf(call, "%s0x%llx", i ? ", " : "(", (unsigned long long)waiting->args[i]);
	buf_putc(call, ')');
}

void detail_wait_take(struct detail_wait *wait, const struct frame *frame, const struct row *row)
{
	const struct task_waiting *waiting = row_waiting(frame, row);

	wait->tid = waiting ? waiting->tid : 0;
	wait->cpu = row->task->cpu;
	if (!waiting)
		return;
	wait->state = waiting->state;
	take_call(&wait->call, waiting);
	copy_text(&wait->on, &waiting->on);
	copy_text(&wait->where, &waiting->where);
	copy_text(&wait->stack, &waiting->stack);
}

void detail_wait_name(const struct detail_wait *wait, struct pager *pager)
{
	if (!wait->tid)
		return;
	pager_long(pager, "sleeps in", wait->where.data, wait->where.len);
	pager_long(pager, "waits on", wait->on.data, wait->on.len);
}

/* Writes the functions of the stack, a line each. */
static void write_stack(const struct buf *stack, struct pager *pager, struct buf *scratch)
{
	const char *name = "stack";
	struct span text = { stack->data, stack->data + stack->len }, line;

	if (!stack->len)
		return;
	while (take_line(&text, &line)) {
		scratch->len = 0;
		text_escape(scratch, line.at, (size_t)(line.end - line.at), pager->term->charset);
		pager_puts(pager, 0, name, STYLE_DIM);
		pager_put(pager, 6, pager->width - 6, scratch->data, scratch->len, STYLE_NORMAL);
		pager->line++;
		name = "";
	}
}

void detail_wait_write(const struct detail_wait *wait, struct pager *pager, struct buf *scratch)
{
	int at = 0;

	if (!wait->tid && !wait->cpu)
		return;
	pager_part(pager, "Waits for");
	if (wait->tid && wait->state < WAIT_STATES)
		at = pager_item_plain(pager, at, "state", wait_state_table[wait->state].id);
	if (wait->tid)
		at = pager_item_number(pager, at, "thread", (uint64_t)wait->tid);
	if (wait->cpu)
		pager_item_number(pager, at, "last on CPU", wait->cpu - 1);
	pager->line++;
	if (!wait->tid)
		return;
	pager_long(pager, "system call", wait->call.data, wait->call.len);
	pager_long(pager, "on", wait->on.data, wait->on.len);
	pager_long(pager, "where", wait->where.data, wait->where.len);
	write_stack(&wait->stack, pager, scratch);
}

void detail_wait_free(struct detail_wait *wait)
{
	buf_free(&wait->call);
	buf_free(&wait->on);
	buf_free(&wait->where);
	buf_free(&wait->stack);
}
