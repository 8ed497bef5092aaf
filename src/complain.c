/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "complain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "notes.h"
#include "source.h"
#include "trigger_words.h"

/* What would help where a source could not be opened; NULL: nothing to add. */
static const char *source_remedy(const char *name, int err)
{
	const struct source_ops *ops = name ? source_by_name(name) : NULL;

	if (ops && ops->explain)
		return ops->explain(err);
	if (err == -EPERM || err == -EACCES)
		return note_table[NOTE_NO_CAP].remedy;
	return err == -ENOENT ? note_table[NOTE_NO_TASKSTATS].remedy : NULL;
}

void complain_source(const char *name, int err)
{
	const char *remedy = source_remedy(name, err);

	fprintf(stderr, "stalltop: source %s cannot be used: %s%s%s\n", name ? name : "auto",
		strerror(-err), remedy ? "; " : "", remedy ? remedy : "");
}

void complain_batch(const char *source, enum batch_failure failure, int err)
{
	switch (failure) {
	case BATCH_SOURCE:
		complain_source(source, err);
		break;
	case BATCH_SAMPLE:
		fprintf(stderr, "stalltop: cannot take a sample: %s\n", strerror(-err));
		break;
	case BATCH_WRITE:
		fprintf(stderr, "stalltop: cannot write to standard output: %s\n", strerror(-err));
		break;
	case BATCH_TRIGGERS:
		fprintf(stderr, "stalltop: nothing is left to wait for: all groups that --when "
			"names have gone\n");
		break;
	}
}

void complain_trigger(const struct trigger_spec *spec, const struct trigger_error *error,
		      enum text_charset charset)
{
	struct buf line = { 0 };

	buf_puts(&line, "stalltop: cannot watch '");
	text_escape(&line, spec->text, strlen(spec->text), charset);
	buf_puts(&line, "': ");
	trigger_explain(&line, spec, error);
	fprintf(stderr, "%s\n", buf_cstr(&line));
	buf_free(&line);
}

void complain_hierarchy(const char *name, int procfd, int err)
{
	struct buf names = { 0 }, line = { 0 };

	buf_puts(&line, "--cgroup-hierarchy: ");
	if (err == -EINVAL && !hierarchy_names(procfd, &names) && names.len) {
		buf_puts(&line, "there is no '");
		text_escape(&line, name, strlen(name), TEXT_ASCII);
		buf_puts(&line, "' here; there are: ");
		text_escape(&line, names.data, names.len, TEXT_ASCII);
	} else {
		buf_printf(&line, "cannot read /proc/self/cgroup: %s", strerror(-err));
	}
	fprintf(stderr, "stalltop: %s\n", buf_cstr(&line));
	buf_free(&names);
	buf_free(&line);
}
