/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of --why: one answer to one question. The worst problem, why, down to the roots of its
 * wait chain, its remedy, and what could not be determined; as a page, or a line of JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "frame/notes.h"
#include "out/json.h"
#include "out/out.h"
#include "view/chain.h"
#include "view/remedies.h"
#include "view/site_lines.h"
#include "view/stack_tree.h"

/* The page: maximum lines, findings, and named roots of each. */
#define LINES_MAX 25
#define FINDINGS_SHOWN 4
#define ROOTS_SHOWN 3
#define ANSWERS_SHOWN 6
#define NOTES_SHOWN 3

/* Maximum bytes of the answer as JSON, and of a text in it. */
#define JSON_MAX 4000
#define TEXT_MAX 400

/* Minimum share of a root that is named, and of a wait, or of run time. */
#define SHARE_LEAST 0.02
#define WAIT_LEAST 0.05

/* The share from which a root explains a wait. */
#define SHARE_MOST 0.5

/* A selected process without a finding. */
struct answer {
	const struct row *row;
	const struct site *site; /* the wait that explains most; NULL: no site is known */
};

/* State kept from frame to frame. */
struct why {
	struct chain_index index;
	struct chain chain;
	struct site_owners owners; /* the process of a chain */
	struct site_owners asked; /* the selected processes; all: none in particular */
	const struct finding *told[FINDINGS_SHOWN];
	size_t ntold;
	struct answer answers[ANSWERS_SHOWN];
	size_t nanswers;
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

/* True if a finding is about the waits of a site: those of its kind or state. */
static bool is_about(const struct finding *finding, const struct site *site)
{
	if (!finding->kind || site == finding->site)
		return true;
	return !strcmp(wait_state_table[site->state].id, finding->kind) ||
	       (site->kind >= 0 && !strcmp(wait_kind_id((unsigned)site->kind), finding->kind));
}

/* Makes the chain of the waits of a finding's row. False: it has none, or none traced. */
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
		if (chain_explains(&why->index, trace->sites[i]) &&
		    is_about(finding, trace->sites[i]) &&
		    site_owners_have(&why->owners, trace->sites[i])) {
			GROW(why->sites, why->n, why->cap);
			why->sites[why->n++] = trace->sites[i];
		}
	chain_build(&why->chain, &why->index, why->sites, why->n);
	return why->chain.ns > 0;
}

/* Makes the chain of one site's waits. */
static void chain_of(struct why *why, const struct site *site)
{
	why->n = 0;
	GROW(why->sites, why->n, why->cap);
	why->sites[why->n++] = site;
	chain_build(&why->chain, &why->index, why->sites, why->n);
}

/* True if a finding is a problem. */
static bool is_problem(const struct finding *finding)
{
	return finding->severity >= FINDING_WARNING;
}

/* True if a chosen finding is about a site. */
static bool is_reported(const struct why *why, const struct site *site)
{
	for (size_t i = 0; i < why->ntold; i++)
		if (why->told[i]->site == site)
			return true;
	return false;
}

/* True if a chosen finding is about a row. */
static bool is_found(const struct why *why, const struct row *row)
{
	for (size_t i = 0; i < why->ntold; i++)
		if (why->told[i]->row == row)
			return true;
	return false;
}

/*
 * Chooses the findings for the answer: warnings, and all others about selected tasks. Returns the
 * number of warnings.
 */
static size_t choose_findings(struct why *why, const struct findings *findings)
{
	size_t problems = 0;

	why->ntold = 0;
	for (size_t i = 0; i < findings->n && why->ntold < FINDINGS_SHOWN; i++) {
		const struct finding *finding = &findings->all[i];

		/* A lock with a stopped holder is reported as a stop. */
		if (finding->site && is_reported(why, finding->site))
			continue;
		if (!is_problem(finding) &&
		    (why->asked.all || !finding->row || is_found(why, finding->row)))
			continue;
		why->told[why->ntold++] = finding;
		problems += is_problem(finding);
	}
	return problems;
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Appends an escaped text as lines after a few cells. */
static void put_wrapped(struct buf *out, const char *lead, unsigned left, struct buf *text)
{
	buf_puts(out, lead);
	text_wrap(out, buf_cstr(text), (unsigned)strlen(lead), left, TEXT_PRINTED);
	text->len = 0;
}

/*
 * Appends the roots of the current chain. limited: the finding names a limit as the cause, and a
 * queue behind an unknown task is omitted.
 */
static void put_roots(struct out *out, struct why *why, bool limited)
{
	struct buf *text = &why->text;

	text->len = 0;
	for (size_t i = 0; i < why->chain.nroots && i < ROOTS_SHOWN; i++) {
		const struct chain_root *root = &why->chain.roots[i];

		/* That the wait is in progress is said already. */
		if (root->share < SHARE_LEAST ||
		    (root->kind == CHAIN_GOES_ON && root->site == why->sites[0]) ||
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

/* Appends where in its program most of the waits of some sites began, if known. */
static void put_place(struct out *out, struct why *why, const struct frame *frame,
		      const struct site *const *sites, size_t n)
{
	const char *function = stack_tree_own(frame->info->trace, sites, n, 0);
	struct buf *text = &why->text;

	if (!function)
		return;
	text->len = 0;
	text_escape(text, function, strlen(function), TEXT_ASCII);
	put_wrapped(&out->buf, "   at: ", 7, text);
}

/* Finds the remedy for a finding (NULL: for none), and for the current chain. */
static void take_remedy(struct why *why, const struct frame *frame, const struct finding *finding,
			bool traced)
{
	why->means.len = why->how.len = 0;
	remedies_put(&why->means, &why->how, frame, finding, traced ? &why->chain : NULL);
}

/* Appends a raw text, escaped. */
static void put_escaped(struct buf *out, struct buf *raw)
{
	text_escape(out, buf_cstr(raw), raw->len, TEXT_ASCII);
}

/* Appends the remedy. */
static void put_remedy(struct out *out, struct why *why, const struct frame *frame,
		       const struct finding *finding, bool traced)
{
	struct buf *text = &why->text;

	take_remedy(why, frame, finding, traced);
	if (!why->how.len)
		return;
	text->len = 0;
	put_escaped(text, &why->means);
	buf_puts(text, ": ");
	put_escaped(text, &why->how);
	put_wrapped(&out->buf, "   try: ", 8, text);
}

/* Appends a finding, the roots of its waits, and the remedy. */
static void put_finding(struct out *out, struct why *why, const struct frame *frame, size_t i)
{
	const struct finding *finding = why->told[i];
	struct buf *text = &why->text;
	char lead[8] = { (char)('1' + i), '.', ' ', '\0' };
	bool traced;

	text->len = 0;
	finding_append(text, &out->findings, finding, 0, TEXT_ASCII);
	put_wrapped(&out->buf, lead, 3, text);
	traced = make_chain(why, frame->info->trace, finding);
	if (traced) {
		put_place(out, why, frame, why->sites, why->n);
		put_roots(out, why, finding->limit);
	}
	put_remedy(out, why, frame, finding, traced);
}

/* True if a page that began there exceeds its lines. */
static bool is_full(const struct buf *out, size_t begin)
{
	size_t n = 0;

	for (size_t i = begin; i < out->len; i++)
		n += out->data[i] == '\n';
	return n > LINES_MAX;
}

/* True if both ends of a connection are idle: the task that must act waits for requests, too. */
static bool is_idle_pair(const struct why *why, const struct site *site)
{
	const struct site_link *link = chain_holder(&why->index, site);
	const struct site *other = link ? chain_site(&why->index, link->to) : NULL;

	if (!other || link->state == STATE_STOP)
		return false;
	/* A task that polls many files mostly waits for requests, too. */
	return (other->state == STATE_POLL && other->class == CLASS_UNKNOWN) ||
	       (other->class == CLASS_IDLE &&
		(other->state == STATE_NET || other->state == STATE_POLL ||
		 other->state == STATE_PIPE));
}

/*
 * The weight of a wait for another task: a lock counts most, then a wait in progress for a known
 * task, then waits that tasks ended. A shell's wait for its child counts nothing.
 */
static unsigned peer_wait_weight(const struct why *why, const struct site *site)
{
	const struct site_waker *waker = &site->wakers[0];

	if (!chain_explains(&why->index, site) || !wait_is_lost(site->class, site->state) ||
	    (waker->tgid && waker->tgid == site->tgid) || site->state == STATE_CPU ||
	    site->state == STATE_CHILD || site->state == STATE_STOP)
		return 0;
	if (site->class == CLASS_CONTENDED)
		return 3;
	if (site->waiting_ns >= FINDING_HANG_NS &&
	    (wait_for_taker(site->where) || chain_holder(&why->index, site)))
		return is_idle_pair(why, site) ? 0 : 2;
	/* A reply to a message; a peer of a stream may have nothing to send. */
	if (site->class == CLASS_REMOTE && site->on && !strncmp(site->on, "udp ", 4))
		return 1;
	return waker->tgid ? 1 : 0;
}

/* Finds the selected processes: those that are read and pass the filters. */
static void find_asked(struct why *why, const struct query *query, const struct frame *frame)
{
	site_owners_clear(&why->asked);
	why->asked.all = !frame->info->selected_only && query_takes_all(query);
	for (size_t i = 0; !why->asked.all && i < frame->n; i++)
		if (frame->rows[i].group || query_takes(query, &frame->rows[i]))
			site_owners_add_row(&why->asked, &frame->rows[i]);
}

/*
 * The site with most waits for other tasks, at least half of the interval, if no process is
 * selected; NULL: none.
 */
static const struct site *find_most(struct why *why, const struct trace_frame *trace)
{
	const struct site *most = NULL;
	unsigned weight = 0;

	for (size_t i = 0; why->asked.all && trace && trace->interval_ns && i < trace->n; i++) {
		const struct site *site = trace->sites[i];
		unsigned own = peer_wait_weight(why, site);

		if (!own || site->ns < trace->interval_ns / 2 || own < weight ||
		    (own == weight && most && site->ns <= most->ns))
			continue;
		most = site;
		weight = own;
	}
	return most;
}

/* Appends the time that the wait at a site has lasted: ", for 2.9 s or more". */
static void put_lasting(struct buf *text, const struct site *site)
{
	double seconds = (double)site->waiting_ns / (double)NSEC_PER_SEC;

	if (site->waiting_ns < FINDING_HANG_NS)
		return;
	buf_puts(text, ", for ");
	buf_decimal(text, seconds, seconds < 9.95 ? 1 : 0);
	buf_puts(text, site->at_least ? " s or more" : " s");
}

/* Appends where a process waits, and the roots of that: "shop 41 waits 98 % of the time". */
static void put_process_wait(struct out *out, struct why *why, const struct frame *frame,
			     const struct site *site)
{
	struct buf *text = &why->text;
	double share = (double)site->ns * 100 / (double)frame->info->trace->interval_ns;
	bool lost = chain_explains(&why->index, site);
	bool followed = lost || chain_follows(site);

	text->len = 0;
	if (site->comm)
		text_escape(text, site->comm, strlen(site->comm), TEXT_ASCII);
	buf_printf(text, " %d ", (int)site->tgid);
	/* Whether it is idle is not always known. */
	buf_puts(text, site->state == STATE_TIMER	    ? "waits for its own timer "
		       : site->class == CLASS_IDLE && !lost ? "is idle "
							    : "waits ");
	buf_decimal(text, share < 100 ? share : 100, 0);
	buf_puts(text, " % of the time");
	put_lasting(text, site);
	buf_puts(text, ": ");
	chain_put_site(text, site, TEXT_ASCII);
	put_wrapped(&out->buf, "-  ", 3, text);
	put_place(out, why, frame, &site, 1);
	if (!followed)
		return;
	chain_of(why, site);
	put_roots(out, why, false);
	put_remedy(out, why, frame, NULL, true);
}

/* ---- Processes that are asked about ---------------------------------------------------------- */

/* The wait that explains most of a row's time: one with lost time, else the longest. */
static const struct site *find_site(struct why *why, const struct trace_frame *trace,
				    const struct row *row)
{
	const struct site *most = NULL;
	bool lost = false;

	site_owners_clear(&why->owners);
	site_owners_add_row(&why->owners, row);
	for (size_t i = 0; trace && trace->interval_ns && i < trace->n; i++) {
		const struct site *site = trace->sites[i];
		bool loses;

		if (site->unattributed || site->overlaps ||
		    (double)site->ns < (double)trace->interval_ns * WAIT_LEAST ||
		    !site_owners_have(&why->owners, site))
			continue;
		loses = chain_explains(&why->index, site);
		if (most && (lost || !loses))
			continue;
		most = site;
		lost = loses;
	}
	return most;
}

/* Adds the selected processes without a finding: those that lose time, or the others. */
static void add_answers(struct why *why, const struct out *out, const struct frame *frame,
			bool lost)
{
	for (size_t i = 0; i < out->order.n && why->nanswers < ANSWERS_SHOWN; i++) {
		const struct row *row = out->order.rows[i];
		const struct site *site;

		if (row->group || row->exited || is_found(why, row))
			continue;
		site = find_site(why, frame->info->trace, row);
		if ((site && chain_explains(&why->index, site)) == lost)
			why->answers[why->nanswers++] = (struct answer){ row, site };
	}
}

/* Chooses the processes to answer for. If no wait is traced, the current one is read. */
static void find_answers(struct why *why, struct out *out, const struct frame *frame)
{
	const struct out_config *config = out->config;

	why->nanswers = 0;
	if (why->asked.all)
		return;
	add_answers(why, out, frame, true);
	add_answers(why, out, frame, false);
	for (size_t i = 0; config->fill && i < why->nanswers; i++)
		if (!why->answers[i].site)
			config->fill(config->fill_arg, &why->answers[i].row, 1, NEED_WAITING);
}

/* Appends the identity of a row. */
static void put_row_name(struct buf *text, const struct row *row)
{
	text_escape(text, row->task->comm, strlen(row->task->comm), TEXT_ASCII);
	buf_printf(text, " %d ", (int)row->task->key.pid);
}

/* Appends the time of a process that waits in no traced site. */
static void put_untraced(struct buf *text, const struct frame *frame, const struct row *row)
{
	const struct task_waiting *waiting = row_waiting(frame, row);
	double runs = row->interval_ns
			      ? (double)row->deltas->grown.run_ns * 100 / (double)row->interval_ns
			      : 0;

	put_row_name(text, row);
	if (runs >= WAIT_LEAST * 100) {
		buf_puts(text, "runs ");
		buf_decimal(text, runs, 0);
		buf_puts(text, " % of the time");
		if (!waiting || runs >= 50)
			return;
		buf_puts(text, ", else ");
	} else if (!waiting) {
		buf_puts(text, row_state(row) == 'Z'
				       ? "has exited, and is not yet reaped by its parent"
				       : "sleeps; where is unknown");
		return;
	}
	buf_puts(text, waiting->class == CLASS_IDLE ? "is idle" : "waits");
	if (waiting->syscall)
		buf_printf(text, ": %s", waiting->syscall);
	if (waiting->on.len) {
		buf_puts(text, waiting->syscall ? " " : ": ");
		text_escape(text, waiting->on.data, waiting->on.len, TEXT_ASCII);
	}
	if (waiting->where.len) {
		buf_puts(text, " (");
		text_escape(text, waiting->where.data, waiting->where.len, TEXT_ASCII);
		buf_putc(text, ')');
	}
}

/* Appends the known facts about a selected process. */
static void put_answer(struct out *out, struct why *why, const struct frame *frame,
		       const struct answer *answer)
{
	if (answer->site) {
		put_process_wait(out, why, frame, answer->site);
		return;
	}
	why->text.len = 0;
	put_untraced(&why->text, frame, answer->row);
	put_wrapped(&out->buf, "-  ", 3, &why->text);
}

/* Appends what could not be determined. */
static void put_unknown(struct buf *out, struct buf *text, const struct frame_info *info)
{
	size_t told = 0;

	for (size_t i = 0; i < info->head.nnotes && told < NOTES_SHOWN; i++) {
		const struct note *note = &info->head.notes[i];

		if (note_table[note->id].rank == NOTE_MINOR)
			continue;
		text->len = 0;
		note_append(text, note);
		put_wrapped(out, told ? "   " : "unknown: ", told ? 3 : 9, text);
		told++;
	}
}

/* The finding that waits for disks and memory are unknown, or NULL. */
static const struct finding *uncounted_finding(const struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->all[i].id, "uncounted"))
			return &findings->all[i];
	return NULL;
}

/* Says that no problem was found, and the other findings, such as a storm of short tasks. */
static void put_no_problem(struct out *out, struct buf *text)
{
	const struct findings *findings = &out->findings;

	const struct finding *uncounted = uncounted_finding(findings);

	text->len = 0;
	if (uncounted) {
		buf_puts(text, "No problem found with CPUs; ");
		finding_append(text, findings, uncounted, 0, TEXT_ASCII);
	} else {
		buf_puts(text, "No problem found");
	}
	if (!findings->n && findings->known) {
		buf_puts(text, ": ");
		finding_append(text, findings, &findings->none, 0, TEXT_ASCII);
	}
	buf_putc(text, '.');
	put_wrapped(&out->buf, "", 0, text);
}

/* Appends the page. */
static void append_answer(struct out *out, struct why *why, const struct frame *frame)
{
	size_t begin = out->buf.len, before;
	const struct site *most = find_most(why, frame->info->trace);

	if (!why->ntold && !most && !why->nanswers)
		put_no_problem(out, &why->text);
	for (size_t i = 0; i < why->ntold; i++) {
		before = out->buf.len;
		put_finding(out, why, frame, i);
		if (is_full(&out->buf, begin)) {
			out->buf.len = before;
			break;
		}
	}
	before = out->buf.len;
	if (most && !is_reported(why, most))
		put_process_wait(out, why, frame, most);
	if (is_full(&out->buf, begin))
		out->buf.len = before;
	for (size_t i = 0; i < why->nanswers && !is_full(&out->buf, begin); i++) {
		before = out->buf.len;
		put_answer(out, why, frame, &why->answers[i]);
		if (is_full(&out->buf, begin))
			out->buf.len = before;
	}
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

/* Puts the roots of the current chain. */
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

/* Puts the process with most waits for others, or the first selected one; null: none. */
static void put_json_most(struct json *json, struct why *why, struct buf *text,
			  const struct trace_frame *trace)
{
	const struct site *site = why->nanswers ? why->answers[0].site : find_most(why, trace);

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
	json_put_text(json, "at", stack_tree_own(trace, &site, 1, 0));
	json_put_fixed(json, "share", site->ns * 1000 / trace->interval_ns, 3);
	chain_of(why, site);
	put_json_roots(json, why);
	json_close(json);
}

/* Puts so many findings. */
static void put_answer_json(struct out *out, struct why *why, const struct frame *frame, size_t n)
{
	const struct frame_info *info = frame->info;
	struct json json = { .out = &out->buf };
	struct buf text = { 0 };

	json_open_object(&json, NULL);
	json_put_bool(&json, "suffers", out->problem);
	json_open_array(&json, "findings");
	for (size_t i = 0; i < n; i++) {
		const struct finding *finding = why->told[i];
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
		json_put_text(&json, "at",
			      traced ? stack_tree_own(info->trace, why->sites, why->n, 0) : NULL);
		if (traced)
			put_json_roots(&json, why);
		else
			json_put_null(&json, "roots");
		take_remedy(why, frame, finding, traced);
		json_put_text(&json, "means", why->means.len ? buf_cstr(&why->means) : NULL);
		json_put_text(&json, "how", why->how.len ? buf_cstr(&why->how) : NULL);
		json_close(&json);
	}
	json_close(&json);
	put_json_most(&json, why, &text, info->trace);
	json_open_array(&json, "unknown");
	for (size_t i = 0; i < info->head.nnotes && i < NOTES_SHOWN; i++) {
		text.len = 0;
		note_append(&text, &info->head.notes[i]);
		json_put_text(&json, NULL, buf_cstr(&text));
	}
	json_close(&json);
	json_close(&json);
	buf_free(&text);
}

/* ---- The format ------------------------------------------------------------------------------ */

/* True if the current chain ends at a stopped task, or in a deadlock. */
static bool is_chain_blocked(const struct why *why, pid_t tgid)
{
	const struct chain_root *root = why->chain.nroots ? &why->chain.roots[0] : NULL;

	return root && root->share >= SHARE_MOST && root->tgid != tgid &&
	       (root->kind == CHAIN_STOPPED || root->kind == CHAIN_DEADLOCK);
}

/* True if any process in the answer makes no progress. */
static bool is_any_blocked(struct why *why, const struct frame *frame)
{
	bool blocked = false;

	for (size_t i = 0; i < why->ntold; i++)
		if (make_chain(why, frame->info->trace, why->told[i]) && why->told[i]->row->task)
			blocked |= is_chain_blocked(why, why->told[i]->row->task->key.pid);
	for (size_t i = 0; i < why->nanswers; i++) {
		if (!why->answers[i].site)
			continue;
		chain_of(why, why->answers[i].site);
		blocked |= is_chain_blocked(why, why->answers[i].site->tgid);
	}
	return blocked;
}

/* One interval must suffice to find the writer. */
static unsigned why_needs(UNUSED const struct out_config *config)
{
	return NEED_IO;
}

static void why_frame(struct out *out, const struct view *view)
{
	const struct frame *frame = view->frame;
	struct why *why = why_of(out);
	const struct site *most;
	size_t n, problems, before = out->buf.len;

	if (frame->info->trace)
		chain_index_make(&why->index, frame->info->trace);
	find_asked(why, &out->config->view->query, frame);
	problems = choose_findings(why, &out->findings);
	n = why->ntold;
	find_answers(why, out, frame);
	most = find_most(why, frame->info->trace);
	out->problem |=
		problems || (most && most->class == CLASS_CONTENDED) || is_any_blocked(why, frame);
	if (!out->config->as_json) {
		append_answer(out, why, frame);
		return;
	}
	do {
		out->buf.len = before;
		put_answer_json(out, why, frame, n);
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
