/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the sentences of findings, from the members set by the patterns. */
#include <math.h>
#include <string.h>

#include "base/util.h"
#include "view/findings_parts.h"

/* Records the rank at which the text from `at` on is dropped for lack of room. */
static void give_way(struct finder *finder, size_t at, unsigned turn)
{
	struct finding *finding = finder->finding;
	size_t len = finder->findings->text.len - at, i = finding->nparts;

	if (!len || i == FINDING_PARTS)
		return;
	/* They stay in order: a part that contains others comes before these. */
	for (at -= finding->at; i && finding->parts[i - 1].at >= at; i--)
		finding->parts[i] = finding->parts[i - 1];
	finding->parts[i] = (struct finding_part){ at, len, turn };
	finding->nparts++;
}

/* Appends "alpha 1", or a group's name. */
static void put_subject(struct finder *finder, const struct row *row)
{
	struct buf *text = &finder->findings->text;
	size_t at;

	if (row->group) {
		buf_puts(text, row->group->label ? row->group->label : "unknown group");
		return;
	}
	buf_puts(text, row->task->comm);
	at = text->len;
	buf_printf(text, " %d", (int)row->task->key.pid);
	give_way(finder, at, 3);
}

/* Appends a share. */
static void put_percent(struct buf *text, double share)
{
	/* A number that rounds to 10 has no decimal. */
	buf_decimal(text, share, share < 9.95 ? 1 : 0);
	buf_puts(text, " %");
}

/* Appends a share of the time: no wait is longer, any excess is an accounting error. */
static void put_of_time(struct finder *finder, double share)
{
	struct buf *text = &finder->findings->text;
	size_t at;

	put_percent(text, share < 100 ? share : 100);
	at = text->len;
	buf_puts(text, " of the time");
	give_way(finder, at, 2);
}

/* Appends the time that the wait has lasted. */
static void put_duration(struct finder *finder)
{
	const struct finding *finding = finder->finding;
	double seconds = (double)finding->ns / (double)NSEC_PER_SEC;
	struct buf *text = &finder->findings->text;

	buf_puts(text, finding->at_least ? ">= " : "");
	buf_decimal(text, seconds, seconds < 9.95 ? 1 : 0);
	buf_puts(text, " s");
}

/*
 * Appends "alpha 1 waits 51 % of the time", or "alpha 1: ~3.2 of 8 threads wait"; "8 alpha wait up
 * to 51 % of the time" if others of its service have enough, too.
 */
static void put_waits(struct finder *finder)
{
	const struct finding *finding = finder->finding;
	struct buf *text = &finder->findings->text;
	uint32_t threads = finding_threads(finder, finding->row);
	double waiting = finding->share / 100 < threads ? finding->share / 100 : threads;

	if (finding->service > 1 && threads == 1) {
		buf_printf(text, "%zu %s wait up to ", finding->service, finding->row->task->comm);
		put_of_time(finder, finding->share);
	} else if (threads == 1 || (finding->row->group && finding->share <= 100)) {
		put_subject(finder, finding->row);
		buf_puts(text, " waits ");
		put_of_time(finder, finding->share);
	} else {
		put_subject(finder, finding->row);
		buf_puts(text, ": ");
		/* An average, unless it is whole. */
		if (fabs(waiting - round(waiting)) >= 0.05)
			buf_putc(text, '~');
		buf_decimal(text, waiting,
			    waiting < 9.95 && fabs(waiting - round(waiting)) >= 0.05);
		buf_printf(text, " of %u threads wait", threads);
	}
}

/* Appends "alpha 1 spends 51 % of the time", or "of its threads' time". */
static void put_spends(struct finder *finder)
{
	const struct finding *finding = finder->finding;
	struct buf *text = &finder->findings->text;
	uint32_t threads = finding_threads(finder, finding->row);
	double share = finding->share <= 100 ? finding->share : finding->share / threads;

	put_subject(finder, finding->row);
	buf_puts(text, " spends ");
	put_percent(text, share < 100 ? share : 100);
	buf_puts(text, threads == 1	       ? " of the time"
		       : finding->share <= 100 ? " of one thread's time"
					       : " of its threads' time");
}

/* Appends the number of others. */
static void put_more(struct finder *finder, size_t n)
{
	struct buf *text = &finder->findings->text;
	size_t at = text->len;

	if (n <= 1)
		return;
	buf_printf(text, " (and %zu %s)", n - 1, plural(n - 1, "other", "others"));
	give_way(finder, at, 1);
}

static void put_others(struct finder *finder)
{
	put_more(finder, finder->finding->n);
}

/* Appends the number of others, without those of its own service, which are counted already. */
static void put_other_services(struct finder *finder)
{
	const struct finding *finding = finder->finding;
	bool told = finding->service && finding_threads(finder, finding->row) == 1;

	put_more(finder, finding->n - (told ? finding->service - 1 : 0));
}

/* Appends the idle share of the machine, if worth it. */
static void put_idle(struct finder *finder)
{
	struct buf *text = &finder->findings->text;
	size_t at = text->len;

	if (finder->idle < FINDING_IDLE)
		return;
	buf_puts(text, ", while CPUs are ");
	put_percent(text, finder->idle);
	buf_puts(text, " idle");
	give_way(finder, at, 2);
}

/* Appends how much of the machine's memory is in use: little means that a group's limit is low. */
static void put_memory(struct finder *finder)
{
	const struct system_sample *system = finder->info->system;
	struct buf *text = &finder->findings->text;

	if (!system->memory_valid || !system->memory_total)
		return;
	buf_puts(text, ", with ");
	put_percent(text, (double)system->memory_used * 100.0 / (double)system->memory_total);
	buf_puts(text, " of all memory in use");
}

/* The current wait of the row's task, if it was read and the finding is not about a site. */
static const struct task_waiting *waiting_of(const struct finder *finder)
{
	const struct finding *finding = finder->finding;

	return finding->site || !finding->row ? NULL
					      : row_waiting(finder->view.frame, finding->row);
}

/* Appends a target that is no path. A lock holder says more than the lock's address. */
static void put_target(struct finder *finder, const char *on, size_t len)
{
	struct buf *text = &finder->findings->text;
	const char *held = memmem(on, len, SITE_HELD_BY, strlen(SITE_HELD_BY));
	size_t at = text->len, before = held ? (size_t)(held - on) : 0;

	buf_puts(text, " on ");
	buf_add(text, on, before);
	if (held)
		give_way(finder, at, 3);
	buf_add(text, on + before, len - before);
}

/* Appends a path. Its server, if known, comes after it, and is dropped first. */
static void put_path(struct finder *finder, const char *on, size_t len)
{
	struct finding *finding = finder->finding;
	struct buf *text = &finder->findings->text;
	const char *server = memmem(on, len, " (", 2);
	size_t path = server ? (size_t)(server - on) : len;

	finding->on = text->len - finding->at;
	finding->on_len = path;
	buf_add(text, on, path);
	buf_add(text, on + path, len - path);
	give_way(finder, text->len - (len - path), DROP_RANKS);
}

/*
 * Appends " in fsync on /var/mail/q", as far as known of the finding's site, or else of the row's
 * current wait. False: nothing is known.
 */
static bool put_call(struct finder *finder)
{
	const struct task_waiting *waiting = waiting_of(finder);
	const struct site *site = finder->finding->site;
	const char *call = site ? site->syscall : waiting ? waiting->syscall : NULL, *on = NULL;
	struct buf *text = &finder->findings->text;
	size_t len = 0;

	if (site && site->on) {
		on = site->on;
		len = strlen(on);
	} else if (waiting && waiting->on.len) {
		on = waiting->on.data;
		len = waiting->on.len;
	}
	if (call)
		buf_printf(text, " in %s%s", strcmp(call, "page fault") ? "" : "a ", call);
	if (on && *on == '/') {
		buf_puts(text, " on ");
		put_path(finder, on, len);
	} else if (on) {
		put_target(finder, on, len);
	}
	return call || on;
}

/* Appends the place of the row's waits, for that share of them. */
static void put_wait_place(struct finder *finder)
{
	struct finding *finding = finder->finding;
	struct buf *text = &finder->findings->text;
	size_t before = text->len;

	if (finding->place == PLACE_UNKNOWN)
		return;
	if (finding->place == PLACE_NOW) {
		buf_puts(text, ", right now");
	} else if (finding->place == PLACE_PART) {
		buf_putc(text, ',');
		/* The clocks of the two differ a little. */
		if (finding->place_share < 99.5) {
			buf_putc(text, ' ');
			put_percent(text, finding->place_share);
		}
	}
	if (!put_call(finder)) {
		text->len = before;
		if (finding->place == PLACE_OF_WAIT && finding->how)
			buf_puts(text, finding->how);
	}
	finder->place_at = before;
	finder->place_end = text->len;
}

/* Appends " (frozen)", or the kernel function; nothing if unknown. */
static void put_function(struct finder *finder)
{
	const struct task_waiting *waiting = waiting_of(finder);
	const struct site *site = finder->finding->site;
	const char *where = site ? site->where : NULL, *on = site ? site->on : NULL;
	const char *words;

	if (waiting && waiting->where.len) {
		where = waiting->where.data;
		on = waiting->on.len ? waiting->on.data : NULL;
	}
	words = wait_words(where, on);
	if (where)
		buf_printf(&finder->findings->text, " (%s)", words ? words : where);
}

/* Appends the kind of a quota, and its CPUs, if read. */
static void put_quota(struct finder *finder)
{
	const struct finding *finding = finder->finding;
	struct buf *text = &finder->findings->text;
	double cpus = finding->quota_cpus;

	buf_puts(text, finding->how);
	if (cpus <= 0)
		return;
	buf_puts(text, " of ");
	buf_decimal(text, cpus, fabs(cpus * 10 - round(cpus * 10)) < 0.05 ? 1 : 2);
	buf_puts(text, " CPUs");
}

/* Sentences on the cause of a row's wait. */
static const char *const culprit_sentences[CULPRITS] = {
	[CULPRIT_FILE] = "; %a behind %c",
	[CULPRIT_LIMIT] = ", throttled by its cgroup",
	[CULPRIT_WRITER] = "; %c writes %r MB/s",
	[CULPRIT_READER] = "; %c reads %r MB/s",
	[CULPRIT_WRITES_MOST] = "; %c writes most, %r kB/s",
	[CULPRIT_BEHIND] = ", %a behind %b",
	[CULPRIT_RUNS_MOST] = "; %c runs most, %a",
	[CULPRIT_RUNS_THERE] = "; %c runs on it, %a",
	[CULPRIT_STARTS] = "; %c spawns %r %s/s, %a CPU",
	[CULPRIT_RAN_MOST] = "; %c: %r/s, %a CPU",
	[CULPRIT_ENDED] = ", mostly woken by %c",
	[CULPRIT_DEBUGGER] = "%c",
};

/* Appends the culprit, which matters more than the place. */
static void put_culprit(struct finder *finder)
{
	const struct finding *finding = finder->finding;
	struct buf *text = &finder->findings->text;
	size_t at = finder->place_at, end = text->len;

	if (finding->culprit.kind == CULPRIT_NONE)
		return;
	if (end > at && end == finder->place_end)
		give_way(finder, at, DROP_RANKS);
	finding_put(finder, culprit_sentences[finding->culprit.kind]);
}

/* Appends "812 postgres" as it is: its name says more than its pid. */
static void put_behind(struct finder *finder, const char *who)
{
	struct buf *text = &finder->findings->text;
	size_t number = strspn(who, "0123456789 ");

	buf_add(text, who, number);
	give_way(finder, text->len - number, DROP_RANKS);
	buf_puts(text, who + number);
}

/* Parts of sentences, by their letters. */
static void (*const parts['Z' - 'A' + 1])(struct finder *finder) = {
	['C' - 'A'] = put_culprit, ['E' - 'A'] = put_spends,	     ['F' - 'A'] = put_function,
	['I' - 'A'] = put_idle,	   ['O' - 'A'] = put_others,	     ['P' - 'A'] = put_wait_place,
	['Q' - 'A'] = put_quota,   ['S' - 'A'] = put_other_services, ['U' - 'A'] = put_memory,
	['W' - 'A'] = put_waits,   ['D' - 'A'] = put_duration,
};

/* Appends the number or the name of a letter. */
static void put_value(struct finder *finder, char letter)
{
	const struct finding *finding = finder->finding;
	const struct finding_culprit *culprit = &finding->culprit;
	struct buf *text = &finder->findings->text;

	switch (letter) {
	case 'a':
		put_percent(text, culprit->share);
		break;
	case 'b':
		put_behind(finder, culprit->name);
		break;
	case 'c':
		buf_puts(text, culprit->name);
		if (culprit->pid)
			buf_printf(text, " %d", (int)culprit->pid);
		break;
	case 'h':
		buf_puts(text, finding->how);
		break;
	case 'i':
		buf_decimal(text, (double)finding->ns / (double)NSEC_PER_MSEC, 0);
		break;
	case 'k':
		buf_puts(text, finder->info->threads ? "thread" : "task");
		buf_puts(text, plural(finding->n, "", "s"));
		break;
	case 'm':
		buf_decimal(text, (double)finding->limit_bytes / (1024 * 1024), 1);
		break;
	case 'n':
		buf_printf(text, "%zu", finding->n);
		break;
	case 'p':
		put_of_time(finder, finding->share);
		break;
	case 'r':
		buf_decimal(text, culprit->rate, 0);
		break;
	case 's':
		buf_puts(text, culprit->of);
		break;
	case 'w':
		put_subject(finder, finding->row);
		break;
	case 'x':
		buf_decimal(text, finding->times, 0);
		buf_puts(text, plural((uint64_t)finding->times, " time", " times"));
		break;
	}
}

/* Appends one of two words, "{is|are}", depending on the number. Returns the text after it. */
static const char *put_choice(struct finder *finder, const char *words)
{
	const char *middle = strchr(words, '|'), *end = strchr(words, '}');
	struct buf *text = &finder->findings->text;

	if (finder->finding->n == 1)
		buf_add(text, words, (size_t)(middle - words));
	else
		buf_add(text, middle + 1, (size_t)(end - middle - 1));
	return end + 1;
}

void finding_put(struct finder *finder, const char *sentence)
{
	while (*sentence) {
		if (*sentence == '%') {
			if (sentence[1] >= 'A' && sentence[1] <= 'Z')
				parts[sentence[1] - 'A'](finder);
			else
				put_value(finder, sentence[1]);
			sentence += 2;
		} else if (*sentence == '{') {
			sentence = put_choice(finder, sentence + 1);
		} else {
			buf_putc(&finder->findings->text, *sentence++);
		}
	}
}

void finding_put_news(struct finder *finder, const char *words)
{
	size_t at = finder->findings->text.len;

	buf_puts(&finder->findings->text, words);
	give_way(finder, at, 2);
}
