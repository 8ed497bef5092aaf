/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "read/source.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

#define ENTRY(source) &source_##source,
const struct source_ops *const source_registry[] = { SOURCES(ENTRY) NULL };

const struct source_ops *source_by_name(const char *name)
{
	for (const struct source_ops *const *ops = source_registry; *ops; ops++)
		if (!strcmp((*ops)->name, name))
			return *ops;
	return NULL;
}

/* Opens that source. 0 or -errno. */
static int open_one(struct source *source, const struct source_ops *ops,
		    const struct source_env *env)
{
	int err = ops->open(env, &source->state);

	debug_log("source %s: %s", ops->name, err ? strerror(-err) : "open");
	if (!err)
		source->ops = ops;
	return err;
}

/* Why an open source does not measure waits as requested: -errno, or 0. */
static int why_unmeasured(const struct source *source, const struct source_env *env)
{
	if (!env->measure)
		return 0;
	return source->ops->unmeasured ? source->ops->unmeasured(source->state) : -EPROTONOSUPPORT;
}

/*
 * Opens a source for many tasks, or one that measures waits. If it is wanted only for measuring,
 * and cannot, it is closed again. 0 or -errno.
 */
static int open_many(struct source *source, const struct source_ops *ops,
		     const struct source_env *env)
{
	int err = open_one(source, ops, env);

	if (err)
		source->unmeasured = env->measure ? err : 0;
	else
		source->unmeasured = why_unmeasured(source, env);
	if (env->many)
		source->refused_many = err;
	if (err || !source->unmeasured || env->many)
		return err;
	ops->close(source->state);
	source->ops = NULL;
	return source->unmeasured;
}

int source_open(struct source *source, const char *name, const struct source_env *env)
{
	bool many = !name && (env->many || env->measure);
	int err = -EINVAL;

	*source = (struct source){ 0 };
	for (const struct source_ops *const *ops = source_registry; many && *ops; ops++)
		if ((*ops)->many && !open_many(source, *ops, env))
			return 0;
	for (const struct source_ops *const *ops = source_registry; *ops; ops++) {
		if (name ? strcmp((*ops)->name, name) != 0 : many && (*ops)->many)
			continue;
		err = open_one(source, *ops, env);
		if (!err && name)
			source->unmeasured = why_unmeasured(source, env);
		if (!err)
			return 0;
		if (!source->refused)
			source->refused = err;
	}
	return err;
}

void source_close(struct source *source)
{
	if (source->ops)
		source->ops->close(source->state);
	*source = (struct source){ 0 };
}
