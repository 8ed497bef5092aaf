/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/util.h"
#include "history/store_parts.h"
#include "model/notes.h"

/* Fills the sample's columns of the machine. */
static void put_machine(struct store *store, const struct moment *moment)
{
	const struct system_sample *system = &moment->system;

	store_known(store, system->cpus, system->cpus);
	for (unsigned s = 0; s < CPU_STATES; s++)
		store_known(store, system->cpu_valid, (uint64_t)moment->cpu_ns[s]);
	for (unsigned i = 0; i < ARRAY_SIZE(system->load); i++)
		store_hundredths(store, system->load_valid, system->load[i]);
	store_real(store, system->uptime_valid, system->uptime);
	store_known(store, system->memory_valid, system->memory_total);
	store_known(store, system->memory_valid, system->memory_used);
	store_known(store, system->memory_valid, system->swap_total);
	store_known(store, system->memory_valid, system->swap_used);
	store_int(store, (int64_t)(moment_pressure(moment)->read_ns - moment->begin_ns));
}

/* Writes the sample's own row. */
void store_put_head(struct store *store, const struct moment *moment)
{
	store_begin(store, PUT_SAMPLE);
	store_int(store, store->sample);
	store_int(store, (int64_t)moment->real_ns);
	store_known(store, !(moment->flags & MOMENT_FIRST), moment->interval_ns);
	store_int(store, (int64_t)moment->begin_ns);
	store_int(store, (int64_t)(moment->end_ns - moment->begin_ns));
	store_int(store, moment->flags & MOMENT_WHOLE ? 1 : 0);
	store_int(store, (int64_t)moment->n);
	store_int(store, (int64_t)moment->steady);
	store_int(store, moment->flags & MOMENT_MARKED ? 1 : 0);
	store_int(store, moment->have);
	store_id(store, moment->source);
	store_known(store, moment->head.taskstats_version > 0,
		    (uint64_t)moment->head.taskstats_version);
	store_known(store, moment->head.delayacct != DELAYACCT_UNKNOWN,
		    (uint64_t)moment->head.delayacct);
	store_int(store, moment->head.unknown);
	store_id(store, moment->cgroup);
	store_id(store, moment->hierarchy);
	store_known(store, moment->head.hierarchy_version, moment->head.hierarchy_version);
	store_known(store, moment->head.exits >= 0, (uint64_t)moment->head.exits);
	store_known(store, moment->head.lost >= 0, (uint64_t)moment->head.lost);
	store_int(store, (int64_t)moment->head.others);
	store_real(store, moment->head.self >= 0, moment->head.self);
	put_machine(store, moment);
	store_chars(store, moment_part(moment, PART_READS), moment->bytes[PART_READS], true);
	store_end(store);
}

/* Writes a file that could not be read. */
static void put_file_error(struct store *store, const char *file, int error)
{
	if (!error)
		return;
	store_begin(store, PUT_FILE_ERROR);
	store_int(store, store->sample);
	store_word(store, file);
	store_int(store, error);
	store_end(store);
}

/* Writes the files that could not be read. */
void store_put_file_errors(struct store *store, const struct moment *moment)
{
	for (unsigned r = 0; r < PSI_RESOURCES; r++)
		put_file_error(store, psi_names[r], moment_pressure(moment)->error[r]);
	for (unsigned f = 0; f < SYSTEM_FILES; f++)
		put_file_error(store, system_file_names[f], moment->system.file_error[f]);
}

/* Fills columns by a line of a pressure file. */
static void put_line(struct store *store, const struct psi_line *line)
{
	store_known(store, line->valid, line->avg10);
	store_known(store, line->valid, line->avg60);
	store_known(store, line->valid, line->avg300);
	store_known(store, line->valid, line->total_us);
}

/* Writes pressure that is other than before. */
void store_put_pressures(struct store *store, const struct moment *moment)
{
	for (unsigned i = 0; i < 2 * PSI_RESOURCES; i++) {
		const struct psi *psi = &moment_pressure(moment)->psi[i / 2];

		if (!(moment->psi_new & 1u << i))
			continue;
		store_begin(store, PUT_PRESSURE);
		store_int(store, store->sample);
		store_int(store, i / 2);
		store_int(store, i % 2);
		put_line(store, i % 2 ? &psi->full : &psi->some);
		store_end(store);
	}
}

/* Writes the notes. */
void store_put_notes(struct store *store, const struct moment *moment)
{
	for (size_t i = 0; i < moment->head.nnotes; i++) {
		const struct note *note = &moment->head.notes[i];

		store_begin(store, PUT_NOTE);
		store_int(store, store->sample);
		store_int(store, (int64_t)i);
		store_word(store, note_table[note->id].id);
		store_int(store, (int64_t)note->value);
		store_known(store, note->error, (uint64_t)(int64_t)note->error);
		store_end(store);
	}
}

/* Writes how the machine's time was spent. */
void store_put_account(struct store *store, const struct account *account)
{
	if (!account->valid && !account->recovered_valid)
		return;
	store_begin(store, PUT_ACCOUNT);
	store_int(store, store->sample);
	store_known(store, account->valid, account->machine_ns);
	store_known(store, account->valid, account->run_ns);
	store_known(store, account->valid, account->idle_ns);
	store_known(store, account->valid, account->iowait_ns);
	store_known(store, account->valid, account->steal_ns);
	store_known(store, account->valid, account->irq_ns);
	store_known(store, account->recovered_valid, (uint64_t)account->recovered_ns);
	store_known(store, account->recovered_valid, account->children_ns);
	store_known(store, account->valid, (uint64_t)account->rest_ns);
	store_end(store);
}

/* Writes the clocks, where they changed. */
void store_put_clocks(struct store *store, const struct moment *moment)
{
	const struct clock_sleep *sleeps = moment_part(moment, PART_SLEEPS);
	size_t n = moment->bytes[PART_SLEEPS] / sizeof(*sleeps);

	for (size_t i = 0; i < n && moment->flags & MOMENT_SLEEPS; i++) {
		store_begin(store, PUT_CLOCK);
		store_int(store, store->sample);
		store_int(store, (int64_t)i);
		store_int(store, (int64_t)moment->clock_real_ns);
		store_int(store, (int64_t)sleeps[i].from_ns);
		store_int(store, (int64_t)sleeps[i].ahead_ns);
		store_end(store);
	}
}

/* Writes a group's pressure. */
static void put_group_pressure(struct store *store, const struct moment_group *group)
{
	const struct cgroup_sample *sample = &group->sample;

	for (unsigned i = 0; i < 2 * PSI_RESOURCES; i++) {
		if (!(sample->have & CGROUP_BIT(i / 2)))
			continue;
		store_begin(store, PUT_CGROUP_PRESSURE);
		store_int(store, store->sample);
		store_int(store, group->path);
		store_int(store, i / 2);
		store_int(store, i % 2);
		put_line(store, i % 2 ? &sample->psi[i / 2].full : &sample->psi[i / 2].some);
		store_int(store, (int64_t)sample->read_ns[i / 2]);
		store_end(store);
	}
}

/* Writes what was read of groups. */
void store_put_groups(struct store *store, const struct moment *moment)
{
	const struct moment_group *groups = moment_part(moment, PART_GROUPS);

	for (size_t i = 0; i < moment->bytes[PART_GROUPS] / sizeof(*groups); i++) {
		const struct cgroup_sample *sample = &groups[i].sample;
		bool throttle = sample->have & CGROUP_BIT(CGROUP_THROTTLE);
		bool states = sample->have & CGROUP_BIT(CGROUP_STATES);

		store_begin(store, PUT_CGROUP);
		store_int(store, store->sample);
		store_int(store, groups[i].path);
		store_int(store, groups[i].fresh);
		store_int(store, sample->have);
		store_known(store, throttle, sample->throttled_ns);
		store_known(store, throttle, sample->throttled);
		store_known(store, throttle, sample->read_ns[CGROUP_THROTTLE]);
		store_int(store, sample->event_valid);
		for (unsigned e = 0; e < CGROUP_EVENT_KINDS; e++)
			store_known(store, sample->event_valid & 1u << e, sample->events[e]);
		store_known(store, states, sample->states.sleeping);
		store_known(store, states, sample->states.running);
		store_known(store, states, sample->states.stopped);
		store_known(store, states, sample->states.uninterruptible);
		store_known(store, states, sample->states.io_wait);
		store_end(store);
		put_group_pressure(store, &groups[i]);
	}
}
