/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of --why: one answer to one question. What suffers most, why, down to the roots of its
 * chain of waits, what to do about it, and what could not be known; in a page, or a line of JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "model/notes.h"
#include "out/json.h"
#include "out/out.h"
#include "view/chain.h"
#include "view/cure.h"
#include "view/site_lines.h"

/* The page: lines, findings, and roots of each that are named. */
#define LINES_MAX 25
#define FINDINGS_SHOWN 4
#define ROOTS_SHOWN 3
#define NOTES_SHOWN 3

/* The bytes of the answer as JSON, and of a text in it. */
#define JSON_MAX 4000
#define TEXT_MAX 400

/* The least share of a root that is named. */
#define SHARE_LEAST 0.02

/* What is kept from frame to frame. */
struct why {
	struct chain_index index;
	struct chain chain;
	struct site_owners owners; /* whose waits a chain is of */
	struct site_owners asked; /* whose waits are asked about */
	const struct site **sites;
	size_t n, cap;
	struct buf text, means, how;
};

static struct why *why_of(struct out *out)
{
	if (!out->state)
		out->state = xcalloc(1, sizeof(struct why));
	return out->state;
}

/* Whether a finding is about the waits of a site: those of its kind or state. */
static bool is_about(const struct finding *finding, const struct site *site)
{
	if (!finding->kind || site == finding->site)
		return true;
	return !strcmp(wait_state_table[site->state].id, finding->kind) ||
	       (site->kind >= 0 && !strcmp(wait_kind_id((unsigned)site->kind), finding->kind));
}

/* Makes the chain of what a finding's row waited for. False: nothing was, or is traced. */
static bool make_chain(struct why *why, const struct trace_frame *trace,
		       const struct finding *finding)
{
	const struct row *row = finding->row;

	if (!trace || !row)
		return false;
	site_owners_clear(&why->owners);
	site_owners_add_row(&why->owners, row);
	why->n = 0;
	for (size_t i = 0; i < trace->n; i++)
		if (chain_explains(trace->sites[i]) && is_about(finding, trace->sites[i]) &&
		    site_owners_have(&why->owners, trace->sites[i])) {
			GROW(why->sites, why->n, why->cap);
			why->sites[why->n++] = trace->sites[i];
		}
	chain_build(&why->chain, &why->index, why->sites, why->n);
	return why->chain.ns > 0;
}

/* Whether a finding is of something that suffers. */
static bool is_suffering(const struct finding *finding)
{
	return finding->severity >= FINDING_WARNING;
}

/* How many findings are told, the one for none aside. */
static size_t count_told(const struct findings *findings)
{
	size_t n = 0;

	while (n < findings->n && n < FINDINGS_SHOWN && is_suffering(&findings->all[n]))
		n++;
	return n;
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Appends a text of ours and others, escaped already, as lines after a few cells. */
static void put_wrapped(struct buf *out, const char *lead, unsigned left, struct buf *text)
{
	buf_puts(out, lead);
	text_wrap(out, buf_cstr(text), (unsigned)strlen(lead), left, TEXT_PRINTED);
	text->len = 0;
}

/*
 * Appends the roots of the chain that was made. limited: the finding names a limit as the cause,
 * and nothing is to be said of a queue behind nobody known.
 */
static void put_roots(struct out *out, struct why *why, bool limited)
{
	struct buf *text = &why->text;

	text->len = 0;
	for (size_t i = 0; i < why->chain.nroots && i < ROOTS_SHOWN; i++) {
		const struct chain_root *root = &why->chain.roots[i];

		if (root->share < SHARE_LEAST ||
		    (limited && root->kind == CHAIN_QUEUE && !root->name))
			continue;
		if (text->len)
			buf_puts(text, "; ");
		buf_decimal(text, root->share * 100, 0);
		buf_puts(text, " % ");
		/* Lines are cut at spaces of plain ASCII. */
		chain_put_root(text, root, TEXT_ASCII);
	}
	if (text->len)
		put_wrapped(&out->buf, "   because: ", 12, text);
}

/* Takes the cure of a finding. */
static void take_cure(struct why *why, const struct frame *frame, const struct finding *finding,
		      bool traced)
{
	why->means.len = why->how.len = 0;
	cure_put(&why->means, &why->how, frame, finding, traced ? &why->chain : NULL);
}

/* Appends a raw text, escaped. */
static void put_escaped(struct buf *out, struct buf *raw)
{
	text_escape(out, buf_cstr(raw), raw->len, TEXT_ASCII);
}

/* Appends a finding, the roots of its waits, and what to do. */
static void put_finding(struct out *out, struct why *why, const struct frame *frame, size_t i)
{
	const struct finding *finding = &out->findings.all[i];
	struct buf *text = &why->text;
	char lead[8] = { (char)('1' + i), '.', ' ', '\0' };
	bool traced;

	text->len = 0;
	finding_append(text, &out->findings, finding, 0, TEXT_ASCII);
	put_wrapped(&out->buf, lead, 3, text);
	traced = make_chain(why, frame->info->trace, finding);
	if (traced)
		put_roots(out, why, finding->limit);
	take_cure(why, frame, finding, traced);
	if (!why->means.len)
		return;
	put_escaped(text, &why->means);
	buf_puts(text, ": ");
	put_escaped(text, &why->how);
	put_wrapped(&out->buf, "   do: ", 7, text);
}

/* Whether a page that began there has more lines than it may. */
static bool is_full(const struct buf *out, size_t begin)
{
	size_t n = 0;

	for (size_t i = begin; i < out->len; i++)
		n += out->data[i] == '\n';
	return n > LINES_MAX;
}

/* How much a wait for another task says: for a lock most, for a child, as shells do, least. */
static unsigned weight_of(const struct site *site)
{
	const struct site_waker *waker = &site->wakers[0];

	if (!chain_explains(site) || !wait_is_lost(site->class, site->state) ||
	    (waker->tgid && waker->tgid == site->tgid) || site->state == STATE_CPU ||
	    site->state == STATE_CHILD)
		return 0;
	return site->class == CLASS_CONTENDED ? 2 : waker->tgid ? 1 : 0;
}

/* Finds whose waits are asked about: those that are read and pass the filters. */
static void find_asked(struct why *why, const struct query *query, const struct frame *frame)
{
	site_owners_clear(&why->asked);
	why->asked.all = !frame->info->some && query_takes_all(query);
	for (size_t i = 0; !why->asked.all && i < frame->n; i++)
		if (frame->rows[i].group || query_takes(query, &frame->rows[i]))
			site_owners_add_row(&why->asked, &frame->rows[i]);
}

/*
 * The site where most was waited for other tasks by those that are asked about, half of the
 * interval at least; NULL: none.
 */
static const struct site *find_most(struct why *why, const struct trace_frame *trace)
{
	const struct site *most = NULL;
	unsigned weight = 0;

	for (size_t i = 0; trace && trace->interval_ns && i < trace->n; i++) {
		const struct site *site = trace->sites[i];
		unsigned own = weight_of(site);

		if (!own || site->ns < trace->interval_ns / 2 || own < weight ||
		    (own == weight && most && site->ns <= most->ns) ||
		    !site_owners_have(&why->asked, site))
			continue;
		most = site;
		weight = own;
	}
	return most;
}

/* Appends who waited most for others, which no finding is about. */
static void put_most(struct out *out, struct why *why, const struct trace_frame *trace,
		     const struct site *site)
{
	struct buf *text = &why->text;

	text->len = 0;
	if (site->comm)
		text_escape(text, site->comm, strlen(site->comm), TEXT_ASCII);
	buf_printf(text, " %d waits ", (int)site->tgid);
	buf_decimal(text, (double)site->ns * 100 / (double)trace->interval_ns, 0);
	buf_puts(text, " % of the time: ");
	chain_put_site(text, site, TEXT_ASCII);
	put_wrapped(&out->buf, "-  ", 3, text);
	chain_build(&why->chain, &why->index, &site, 1);
	put_roots(out, why, false);
}

/* Appends what could not be known. */
static void put_unknown(struct buf *out, struct buf *text, const struct frame_info *info)
{
	size_t told = 0;

	for (size_t i = 0; i < info->head.nnotes && told < NOTES_SHOWN; i++) {
		const struct note *note = &info->head.notes[i];

		if (note_table[note->id].rank == NOTE_ASIDE)
			continue;
		text->len = 0;
		note_append(text, note, false);
		put_wrapped(out, told ? "   " : "not known: ", told ? 3 : 11, text);
		told++;
	}
}

/* Whether one of so many findings tells of a site. */
static bool is_told(const struct findings *findings, size_t n, const struct site *site)
{
	for (size_t i = 0; i < n; i++)
		if (findings->all[i].site == site)
			return true;
	return false;
}

/* The finding that says that waits for disks and memory are not known, or NULL. */
static const struct finding *find_uncounted(const struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->all[i].id, "uncounted"))
			return &findings->all[i];
	return NULL;
}

/* Says that nothing suffers, and what the findings say instead, as of a storm of short tasks. */
static void put_nothing(struct out *out, struct buf *text)
{
	const struct findings *findings = &out->findings;

	const struct finding *uncounted = find_uncounted(findings);

	text->len = 0;
	if (uncounted) {
		buf_puts(text, "Nothing suffers for want of a CPU; ");
		finding_append(text, findings, uncounted, 0, TEXT_ASCII);
	} else {
		buf_puts(text, "Nothing suffers");
	}
	if (!findings->n && findings->known) {
		buf_puts(text, ": ");
		finding_append(text, findings, &findings->none, 0, TEXT_ASCII);
	}
	buf_putc(text, '.');
	put_wrapped(&out->buf, "", 0, text);
}

/* Appends the page. */
static void put_page(struct out *out, struct why *why, const struct frame *frame)
{
	size_t n = count_told(&out->findings), begin = out->buf.len, before;
	const struct site *most = find_most(why, frame->info->trace);

	if (!n && !most)
		put_nothing(out, &why->text);
	for (size_t i = 0; i < n; i++) {
		before = out->buf.len;
		put_finding(out, why, frame, i);
		if (is_full(&out->buf, begin)) {
			out->buf.len = before;
			break;
		}
	}
	before = out->buf.len;
	if (most && !is_told(&out->findings, n, most))
		put_most(out, why, frame->info->trace, most);
	if (is_full(&out->buf, begin))
		out->buf.len = before;
	before = out->buf.len;
	put_unknown(&out->buf, &why->text, frame->info);
	if (is_full(&out->buf, begin))
		out->buf.len = before;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Puts a text, cut where it is long. */
static void put_cut(struct json *json, struct buf *text, const char *name, const char *value)
{
	text->len = 0;
	if (value)
		buf_add(text, value, strnlen(value, TEXT_MAX));
	json_put_text(json, name, value ? buf_cstr(text) : NULL);
}

/* Puts the roots of the chain that was made. */
static void put_json_roots(struct json *json, struct why *why)
{
	json_open_array(json, "roots");
	for (size_t i = 0; i < why->chain.nroots && i < ROOTS_SHOWN; i++) {
		const struct chain_root *root = &why->chain.roots[i];

		if (root->share < SHARE_LEAST)
			continue;
		why->text.len = 0;
		chain_put_root(&why->text, root, TEXT_UTF8);
		json_open_object(json, NULL);
		json_put_text(json, "root", chain_root_ids[root->kind]);
		json_put_counter(json, "pid", root->tgid > 0, (uint64_t)root->tgid);
		json_put_text(json, "text", buf_cstr(&why->text));
		json_put_fixed(json, "share", (uint64_t)(root->share * 1000 + 0.5), 3);
		json_close(json);
	}
	json_close(json);
}

/* Puts who waited most for others; null: nobody for half of the time. */
static void put_json_most(struct json *json, struct why *why, struct buf *text,
			  const struct trace_frame *trace)
{
	const struct site *site = find_most(why, trace);

	if (!site) {
		json_put_null(json, "waits");
		return;
	}
	json_open_object(json, "waits");
	json_put_counter(json, "pid", site->tgid > 0, (uint64_t)site->tgid);
	json_put_text(json, "comm", site->comm);
	json_put_text(json, "class", wait_class_ids[site->class]);
	json_put_text(json, "syscall", site->syscall);
	put_cut(json, text, "on", site->on);
	json_put_fixed(json, "share", site->ns * 1000 / trace->interval_ns, 3);
	chain_build(&why->chain, &why->index, &site, 1);
	put_json_roots(json, why);
	json_close(json);
}

/* Puts so many findings. */
static void put_json(struct out *out, struct why *why, const struct frame *frame, size_t n)
{
	const struct frame_info *info = frame->info;
	struct json json = { .out = &out->buf };
	struct buf text = { 0 };

	json_open_object(&json, NULL);
	json_put_bool(&json, "suffers", out->suffers);
	json_open_array(&json, "findings");
	for (size_t i = 0; i < n; i++) {
		const struct finding *finding = &out->findings.all[i];
		const struct row *row = finding->row;
		bool traced = make_chain(why, info->trace, finding);

		json_open_object(&json, NULL);
		json_put_text(&json, "id", finding->id);
		json_put_text(&json, "severity", finding_severities[finding->severity]);
		put_cut(&json, &text, "text", finding_text(&out->findings, finding));
		json_put_counter(&json, "pid", row && row->task,
				 row && row->task ? (uint64_t)row->task->key.pid : 0);
		json_put_text(&json, "class",
			      finding->site ? wait_class_ids[finding->site->class] : NULL);
		if (traced)
			put_json_roots(&json, why);
		else
			json_put_null(&json, "roots");
		take_cure(why, frame, finding, traced);
		json_put_text(&json, "means", why->means.len ? buf_cstr(&why->means) : NULL);
		json_put_text(&json, "how", why->means.len ? buf_cstr(&why->how) : NULL);
		json_close(&json);
	}
	json_close(&json);
	put_json_most(&json, why, &text, info->trace);
	json_open_array(&json, "unknown");
	for (size_t i = 0; i < info->head.nnotes && i < NOTES_SHOWN; i++) {
		text.len = 0;
		note_append(&text, &info->head.notes[i], false);
		json_put_text(&json, NULL, buf_cstr(&text));
	}
	json_close(&json);
	json_close(&json);
	buf_free(&text);
}

/* ---- The format ------------------------------------------------------------------------------ */

/* The columns that are asked about show nothing that every sample lacks. */
static unsigned why_needs(UNUSED const struct out_config *config)
{
	return 0;
}

static void why_frame(struct out *out, const struct view *view)
{
	const struct frame *frame = view->frame;
	struct why *why = why_of(out);
	const struct site *most;
	size_t n = count_told(&out->findings), before = out->buf.len;

	if (frame->info->trace)
		chain_index_make(&why->index, frame->info->trace);
	find_asked(why, &out->config->view->query, frame);
	most = find_most(why, frame->info->trace);
	out->suffers |= n || (most && most->class == CLASS_CONTENDED);
	if (!out->config->as_json) {
		put_page(out, why, frame);
		return;
	}
	do {
		out->buf.len = before;
		put_json(out, why, frame, n);
	} while (out->buf.len - before > JSON_MAX && n--);
}

static void why_close(struct out *out)
{
	struct why *why = out->state;

	if (!why)
		return;
	chain_index_free(&why->index);
	chain_free(&why->chain);
	site_owners_free(&why->owners);
	site_owners_free(&why->asked);
	free(why->sites);
	buf_free(&why->text);
	buf_free(&why->means);
	buf_free(&why->how);
	free(why);
}

const struct out_ops out_why = {
	.name = "why",
	.needs = why_needs,
	.frame = why_frame,
	.finds = true,
	.close = why_close,
};
