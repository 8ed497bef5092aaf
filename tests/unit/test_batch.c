// SPDX-License-Identifier: GPL-2.0-or-later
/* A batch run goes on when a sample fails for a moment, and ends when it keeps failing. */
#include "tests/lib/test.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "app/batch.h"
#include "base/util.h"
#include "view/findings.h"

/* A sampler whose next samples fail, and what is made of its frames. */
static struct {
	int error;
	unsigned failing; /* so many samples fail */
	unsigned fail_at; /* after so many that did not */
	unsigned taken, failed, put;
	uint64_t skipped;
	struct sample prev;
	struct frame_info info;
	struct frame frame;
	unsigned looks, fired; /* of the watch, and those at which a trigger had fired */
	struct trigger_set *set; /* has fired at each sample; NULL: there is none */
	volatile sig_atomic_t caught, catch_at; /* a signal comes with that failure; 0: none does */
} fake;

int sampler_tick(struct sampler *sampler, uint64_t skipped, const struct frame **out)
{
	(void)sampler;
	fake.skipped += skipped;
	if (fake.taken == fake.fail_at && fake.failed < fake.failing) {
		if (++fake.failed == (unsigned)fake.catch_at)
			fake.caught = 1;
		return fake.error;
	}
	if (fake.set)
		fake.set->all[0].fired = true;
	fake.info.prev = fake.taken++ ? &fake.prev : NULL;
	fake.frame.info = &fake.info;
	*out = &fake.frame;
	return 0;
}

void sampler_want(struct sampler *sampler, unsigned needs)
{
	(void)sampler;
	(void)needs;
}

int sampler_suspend(struct sampler *sampler)
{
	(void)sampler;
	return 0;
}

void sampler_drain(struct sampler *sampler)
{
	(void)sampler;
}

uint64_t sampler_drain_due_ns(const struct sampler *sampler)
{
	(void)sampler;
	return UINT64_MAX;
}

/* For what is linked with it and not called. */
int sampler_open(struct sampler **out, const struct sampler_config *config)
{
	(void)out;
	(void)config;
	return -ENOSYS;
}

void sampler_close(struct sampler *sampler)
{
	(void)sampler;
}

unsigned out_needs(const struct out *out)
{
	(void)out;
	return 0;
}

const struct findings *out_findings(const struct out *out)
{
	assert_non_null(out);
	return NULL;
}

const struct frame *out_grouped(const struct out *out)
{
	(void)out;
	return NULL;
}

void out_prime(struct out *out, const struct frame *frame)
{
	(void)out;
	(void)frame;
}

void out_frame(struct out *out, const struct frame *frame)
{
	(void)out;
	(void)frame;
	fake.put++;
}

int out_flush(struct out *out, int fd, const volatile sig_atomic_t *stop)
{
	(void)out;
	(void)fd;
	(void)stop;
	return 0;
}

void trigger_watch_look(struct trigger_watch *watch, const struct frame *frame)
{
	(void)frame;
	fake.looks++;
	fake.fired += watch->triggers->all[0].fired;
}

void recorder_add(struct recorder *recorder, const struct frame *frame, const struct frame *folded,
		  unsigned found)
{
	(void)recorder;
	(void)frame;
	(void)folded;
	assert_int_equal(found, FINDING_WARNING + 1);
}

/* What is recorded has no output that makes findings: they are made. */
void findings_take(struct findings *findings, const struct view *view, const struct frame *tasks,
		   const struct query *query)
{
	assert_ptr_equal(view->frame, tasks);
	assert_null(query);
	findings->n = 1;
}

unsigned findings_worst(const struct findings *findings)
{
	assert_int_equal(findings->n, 1);
	return FINDING_WARNING + 1;
}

void findings_free(struct findings *findings)
{
	findings->n = 0;
}

const struct record_status *recorder_status(const struct recorder *recorder)
{
	static const struct record_status good;

	(void)recorder;
	return &good;
}

/* Runs for three intervals of 5 ms. 0 or -errno. */
static int run(int error, unsigned failing, unsigned fail_at)
{
	struct view_config view = { .interval_ns = 5 * NSEC_PER_MSEC, .iterations = 3 };
	enum batch_failure failure = BATCH_SOURCE;
	sigset_t none;
	struct out out = { 0 };
	struct batch batch = {
		.out = &out, .view = &view, .caught = &fake.caught, .waiting = &none
	};
	int err;

	memset(&fake, 0, sizeof(fake));
	sigemptyset(&none);
	fake.error = error;
	fake.failing = failing;
	fake.fail_at = fail_at;
	err = batch_run(&batch, &failure);
	if (err)
		assert_int_equal(failure, BATCH_SAMPLE);
	return err;
}

/* What may be there the next time is tried again, at the start and later. */
TEST(test_passing)
{
	static const int errors[] = { -ENOMEM, -EAGAIN, -ENOBUFS, -EINTR };

	for (unsigned at = 0; at < 4; at++) {
		for (unsigned i = 0; i < ARRAY_SIZE(errors); i++) {
			assert_int_equal(run(errors[i], 2, at), 0);
			assert_int_equal(fake.failed, 2);
			assert_int_equal(fake.put, 3);
		}
	}
}

/* Points of the grid that went by are skipped, and said to be. */
TEST(test_skipped)
{
	assert_int_equal(run(-ENOMEM, 1, 1), 0);
	assert_true(fake.skipped > 0);
}

/* What stays, or cannot change, ends the run. */
TEST(test_lasting)
{
	assert_int_equal(run(-EPERM, 1, 1), -EPERM);
	assert_int_equal(fake.failed, 1);
	assert_int_equal(run(-ENOMEM, UINT32_MAX, 1), -ENOMEM);
	assert_in_range(fake.failed, 10, 1000);
	assert_int_equal(fake.put, 0);
}

/* A signal ends it meanwhile. */
TEST(test_caught)
{
	struct view_config view = { .interval_ns = 5 * NSEC_PER_MSEC };
	struct batch batch = { .view = &view, .caught = &fake.caught };
	enum batch_failure failure;
	sigset_t none;

	memset(&fake, 0, sizeof(fake));
	sigemptyset(&none);
	batch.waiting = &none;
	fake.error = -ENOMEM;
	fake.failing = UINT32_MAX;
	fake.catch_at = 2;
	assert_int_equal(batch_run(&batch, &failure), 0);
	assert_int_equal(fake.failed, 2);
}

/* What fired is told before it is put out and forgotten. */
TEST(test_watch)
{
	struct view_config view = { .interval_ns = 5 * NSEC_PER_MSEC, .iterations = 3 };
	const struct trigger_spec spec = { .sort = TRIGGER_HANG };
	struct trigger_set set = { .all[0] = { .spec = &spec, .fd = -1 }, .n = 1 };
	struct trigger_watch watch = { .triggers = &set };
	struct out out = { 0 };
	sigset_t none;
	struct batch batch = { .out = &out,
			       .view = &view,
			       .recorder = (struct recorder *)&fake,
			       .trigger_watch = &watch,
			       .triggers = &set,
			       .caught = &fake.caught,
			       .waiting = &none };
	enum batch_failure failure;

	memset(&fake, 0, sizeof(fake));
	fake.set = &set;
	sigemptyset(&none);
	assert_int_equal(batch_run(&batch, &failure), 0);
	assert_int_equal(fake.put, 3);
	assert_int_equal(fake.looks, 4);
	assert_int_equal(fake.fired, 4);
}
