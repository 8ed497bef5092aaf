/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "app/uses.h"

#include <unistd.h>

#include "base/privileges.h"
#include "model/source.h"

bool uses_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

bool uses_no_screen(const struct options *options)
{
	return options->mode != MODE_SCREEN && options->mode != MODE_REPLAY;
}

bool uses_machine(const struct options *options)
{
	return !options->replay.path && !options->diff[0];
}

unsigned uses_of(const struct options *options)
{
	const struct sampler_config *sampler = &options->sampler;
	bool screen = !uses_no_screen(options) && uses_terminal();
	unsigned uses = 0;

	if (uses_machine(options)) {
		uses |= PRIVILEGE_COUNTERS;
		if (sampler->trace || screen ||
		    (!options->command &&
		     (!sampler->source || source_by_name(sampler->source)->programs)))
			uses |= PRIVILEGE_PROGRAMS;
		if (sampler->trace || screen || options->view.fields || options->record.path)
			uses |= PRIVILEGE_LOOK;
		if (options->enable_delayacct || (screen && !options->readonly))
			uses |= PRIVILEGE_SWITCH;
	}
	if (options->record.before_ns)
		uses |= PRIVILEGE_MEMORY;
	if (screen && !options->readonly)
		uses |= PRIVILEGE_ACT;
	if (options->replay.path || options->diff[0] || options->output || options->listen ||
	    (screen && !options->readonly))
		uses |= PRIVILEGE_FILES;
	return uses;
}
