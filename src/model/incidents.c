/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/incidents.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"

/* /proc/vmstat is some 5 kB. */
#define VMSTAT_MAX (64 << 10)

bool incidents_parse_kills(const char *text, size_t len, uint64_t *killed)
{
	struct span rest = { text, text + len }, line;

	while (take_line(&rest, &line))
		if (take_word(&line, "oom_kill ") && take_uint(&line, killed))
			return line.at == line.end;
	return false;
}

/* Whether processes were killed since the last look. */
static bool look_at_kills(struct incidents *incidents, int procfd)
{
	uint64_t killed = incidents->killed;
	struct buf text = { 0 };
	bool grown, counted;

	counted = !file_read_all(procfd, "vmstat", &text, VMSTAT_MAX) &&
		  incidents_parse_kills(text.data, text.len, &killed);
	buf_free(&text);
	if (!counted)
		return false;
	grown = incidents->counted && killed > incidents->killed;
	incidents->counted = true;
	incidents->killed = killed;
	return grown;
}

/* Whether a wait of any row became older than that since the sample before. */
static bool is_hung(const struct frame *frame, uint64_t age_ns)
{
	const struct frame_info *info = frame->info;
	uint64_t ns;

	if (!info->prev)
		return false;
	for (size_t i = 0; i < frame->n; i++) {
		const struct row *row = &frame->rows[i];

		if (!row->still && row_wait(frame, row, &ns) && ns >= age_ns &&
		    ns - age_ns < info->cur->end_ns - info->prev->end_ns)
			return true;
	}
	return false;
}

void incidents_look(struct incidents *incidents, struct trigger_set *set, int procfd,
		    const struct frame *frame, uint64_t now_ns)
{
	bool looked = false, killed = false;

	for (size_t i = 0; i < set->n; i++) {
		struct trigger *trigger = &set->all[i];
		bool fires = false;

		if (trigger->spec->sort == TRIGGER_OOM && !looked) {
			killed = look_at_kills(incidents, procfd);
			looked = true;
		}
		if (trigger->spec->sort == TRIGGER_OOM)
			fires = killed;
		else if (trigger->spec->sort == TRIGGER_HANG)
			fires = is_hung(frame, trigger->spec->hang_ns);
		if (!fires)
			continue;
		trigger->fired = true;
		trigger->last_ns = now_ns;
	}
}
