/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/util.h"
#include "history/encode_parts.h"

/* Finds the number of a text; a new text is added to the moment. */
static uint32_t number_text(struct encoder *encoder, const char *text, const char **kept)
{
	static const char padding[8];
	struct buf *out = &encoder->parts[PART_TEXTS];
	struct moment_text head = { 0 };
	bool added;

	head.id = texts_number(&encoder->texts, text, &added, kept);
	if (!added)
		return head.id;
	head.len = (uint32_t)strlen(text);
	buf_add(out, &head, sizeof(head));
	buf_add(out, text, head.len);
	buf_add(out, padding, -out->len % sizeof(padding));
	return head.id;
}

/* Finds the number of a text where the copy is not needed. */
uint32_t encode_text(struct encoder *encoder, const char *text)
{
	return number_text(encoder, text, NULL);
}

/* Finds the number of a task's text, which most often has not changed. */
uint32_t encode_text_again(struct encoder *encoder, const char **kept, const char *text,
			   uint32_t was)
{
	if (text && *kept && !strcmp(text, *kept))
		return was;
	return number_text(encoder, text, kept);
}

/* Finds a free slot for a task. */
static struct known_task *add_known(struct encoder *encoder, struct task *task)
{
	struct known_task *known;

	while (encoder->free < encoder->nknown && encoder->known[encoder->free].task)
		encoder->free++;
	GROW(encoder->known, encoder->free, encoder->cap);
	if (encoder->free >= encoder->nknown)
		encoder->nknown = encoder->free + 1;
	known = &encoder->known[encoder->free];
	*known = (struct known_task){ .task = task_ref(task) };
	task->recorded[encoder->slot] = (uint32_t)encoder->free;
	return known;
}

/* Frees a slot. */
static void forget_known(struct encoder *encoder, size_t at)
{
	struct known_task *known = &encoder->known[at];

	if (!known->task)
		return;
	known->task->recorded[encoder->slot] = 0;
	task_unref(known->task);
	known->task = NULL;
	if (at < encoder->free)
		encoder->free = at;
}

/* Forgets tasks that recent moments did not have; all: forgets all of them. */
void encode_sweep(struct encoder *encoder, bool all)
{
	for (size_t i = 1; i < encoder->nknown; i++)
		if (all || encoder->known[i].met + 2 < encoder->moments)
			forget_known(encoder, i);
}

/*
 * Finds the number of an element's task as it is now; another: the element gets a number of its
 * own.
 */
uint32_t encode_task(struct encoder *encoder, const struct task_raw *raw, bool another)
{
	struct task *task = raw->task;
	struct known_task *known = task->recorded[encoder->slot] ? encode_known(encoder, task)
								 : add_known(encoder, task);
	const struct moment_task *was = &known->written;
	struct moment_task now = {
		.id = was->id,
		.first = was->first,
		.tgid = raw->tgid,
		.pid = raw->pid,
		.ppid = task->ppid,
		.uid = task->uid,
		.user = encode_text_again(encoder, &known->texts[TEXT_USER], task->user, was->user),
		.comm = encode_text_again(encoder, &known->texts[TEXT_COMM], task->comm, was->comm),
		.command = encode_text_again(encoder, &known->texts[TEXT_COMMAND], task->command,
					     was->command),
		.cgroup = encode_text_again(encoder, &known->texts[TEXT_CGROUP], task->cgroup,
					    was->cgroup),
		.pod = encode_text_again(encoder, &known->texts[TEXT_POD], task->pod, was->pod),
		.container = encode_text_again(encoder, &known->texts[TEXT_CONTAINER],
					       task->container, was->container),
		.start_ns = task->key.start_ns,
		.latest_ns = task->latest_ns,
		.lo_ns = task->start_lo,
		.hi_ns = task->start_hi,
	};

	known->met = encoder->moments;
	if (now.id && !another && !memcmp(&now, &known->written, sizeof(now)))
		return now.id;
	now.id = ++encoder->ntasks;
	if (!now.first)
		now.first = now.id;
	known->written = now;
	buf_add(&encoder->parts[PART_TASKS], &now, sizeof(now));
	return now.id;
}

/*
 * Whether a task's names may have changed since they were recorded. Texts are compared as pointers
 * only.
 */
bool encode_may_be_renamed(const struct encoder *encoder, const struct task_raw *raw, bool still)
{
	const struct known_task *known;

	if (!raw->task->recorded[encoder->slot])
		return true;
	known = encode_known(encoder, raw->task);
	/* A source that knows tells which tasks ran; only these can have got another name. */
	return !still || known->written.ppid != raw->task->ppid ||
	       !known->written.command != !raw->task->command ||
	       !known->written.cgroup != !raw->task->cgroup ||
	       !known->written.pod != !raw->task->pod ||
	       !known->written.container != !raw->task->container;
}

/* Whether the moment has an element of a task already. */
bool encode_is_met(const struct encoder *encoder, const struct task *task)
{
	return task->recorded[encoder->slot] &&
	       encode_known(encoder, task)->met == encoder->moments;
}
