/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a configuration has that was written with the defaults. */
#pragma once

/* All lines behind those that a test is about. */
#define STANDARD_REST \
	"group-by = process\nactive = no\ncommand-line = no\nnames = no\nhide-exited = no\n" \
	"tree = no\nall-idle = no\nfold-header = no\n"
