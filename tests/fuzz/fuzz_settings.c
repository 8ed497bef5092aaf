/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a configuration: no harm; what is written from it has no broken line, sets
 * what it was written for, and is written the same again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "app/configuration.h"
#include "base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts unless what is written anew sets the same. */
static void check_rewritten(const struct buf *text, const struct view_config *view)
{
	struct configuration_faults faults = { 0 };
	struct options again;
	struct buf out = { 0 }, copy = { 0 };

	configuration_rewrite(text->data, text->len, view, NULL, &out);
	if (out.len != text->len || memcmp(out.data, text->data, out.len) != 0)
		abort();
	buf_add(&copy, text->data, text->len);
	buf_reserve(&copy, 1);
	options_default(&again);
	configuration_apply(copy.data, copy.len, &again, &faults);
	if (faults.broken || again.view.query.sort != view->query.sort ||
	    again.view.query.descending != view->query.descending ||
	    again.view.query.active != view->query.active || again.view.unit != view->unit ||
	    again.view.group_by != view->group_by || again.view.tree != view->tree ||
	    again.view.interval_ns != view->interval_ns || again.list_fields ||
	    !again.view.fields != !view->fields ||
	    (again.view.fields && strcmp(again.view.fields, view->fields) != 0))
		abort();
	options_free(&again);
	configuration_faults_free(&faults);
	buf_free(&out);
	buf_free(&copy);
}

/* Aborts unless a preset that is put into the text is in it, once, and harms nothing. */
static void check_put(const char *text, size_t len, struct view_config *view)
{
	struct configuration_faults faults = { 0 };
	struct buf why = { 0 }, out = { 0 }, again = { 0 };

	if (view_keep_preset(view, "mine", &why)) {
		configuration_rewrite(text, len, NULL, view_preset(view), &out);
		configuration_rewrite(out.data, out.len, NULL, view_preset(view), &again);
		configuration_check(out.data, out.len, &faults);
		if (faults.broken || out.len != again.len ||
		    memcmp(out.data, again.data, out.len) != 0)
			abort();
	}
	configuration_faults_free(&faults);
	buf_free(&why);
	buf_free(&out);
	buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct configuration_faults faults = { 0 };
	struct options options;
	struct buf text = { 0 }, out = { 0 };

	buf_add(&text, data, size);
	buf_reserve(&text, 1);
	options_default(&options);
	configuration_apply(text.data, text.len, &options, &faults);
	configuration_rewrite((const char *)data, size, &options.view, NULL, &out);
	check_rewritten(&out, &options.view);
	check_put((const char *)data, size, &options.view);
	options_free(&options);
	configuration_faults_free(&faults);
	buf_free(&text);
	buf_free(&out);
	return 0;
}
