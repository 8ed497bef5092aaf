/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/source.h"

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

int source_open(struct source *source, const char *name, const struct source_env *env)
{
	bool many = !name && (env->many || env->exact);
	int err = -EINVAL;

	*source = (struct source){ 0 };
	for (const struct source_ops *const *ops = source_registry; many && *ops; ops++) {
		if (!(*ops)->many)
			continue;
		source->refused_many = open_one(source, *ops, env);
		if (!source->refused_many)
			return 0;
	}
	for (const struct source_ops *const *ops = source_registry; *ops; ops++) {
		if (name ? strcmp((*ops)->name, name) != 0 : many && (*ops)->many)
			continue;
		err = open_one(source, *ops, env);
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
