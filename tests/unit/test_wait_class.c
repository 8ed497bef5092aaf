// SPDX-License-Identifier: GPL-2.0-or-later
/* What waits mean, by all that is known of them. */
#include "tests/lib/test.h"

#include "data/wait_state.h"

/* The class by these facts. */
static enum wait_class class_by(enum wait_state state, enum wait_purpose about, const char *where)
{
	return wait_class_of(&(struct wait_facts){ state, about, where, false });
}

/* Who has nothing to do has lost nothing. */
TEST(test_parked)
{
	assert_int_equal(class_by(STATE_TIMER, WAIT_FOR_UNKNOWN, "hrtimer_nanosleep"), CLASS_IDLE);
	assert_int_equal(class_by(STATE_POLL, WAIT_FOR_REQUESTS, "ep_poll"), CLASS_IDLE);
	assert_int_equal(class_by(STATE_POLL, WAIT_FOR_EVENTS, NULL), CLASS_IDLE);
	assert_int_equal(class_by(STATE_POLL, WAIT_FOR_IDLE_RING, "io_cqring_wait"), CLASS_IDLE);
	assert_int_equal(class_by(STATE_IO, WAIT_FOR_IDLE_RING, "io_cqring_wait"), CLASS_IDLE);
	assert_int_equal(class_by(STATE_NET, WAIT_FOR_REQUESTS, "inet_csk_accept"), CLASS_IDLE);
	assert_int_equal(class_by(STATE_PIPE, WAIT_FOR_UNKNOWN, "anon_pipe_read"), CLASS_IDLE);
	assert_int_equal(class_by(STATE_OTHER, WAIT_FOR_EVENTS, "n_tty_read"), CLASS_IDLE);
}

/* Somebody works for who waits. */
TEST(test_served)
{
	assert_int_equal(class_by(STATE_IO, WAIT_FOR_UNKNOWN, NULL), CLASS_REMOTE);
	assert_int_equal(class_by(STATE_POLL, WAIT_FOR_DISK_RING, "io_cqring_wait"), CLASS_REMOTE);
	assert_int_equal(class_by(STATE_NET, WAIT_FOR_ANSWER, "sk_wait_data"), CLASS_REMOTE);
	assert_int_equal(class_by(STATE_POLL, WAIT_FOR_ANSWER, "do_sys_poll"), CLASS_REMOTE);
	assert_int_equal(class_by(STATE_CHILD, WAIT_FOR_UNKNOWN, "do_wait"), CLASS_REMOTE);
	assert_int_equal(class_by(STATE_PIPE, WAIT_FOR_UNKNOWN, "anon_pipe_write"), CLASS_REMOTE);
	assert_int_equal(class_by(STATE_DWAIT, WAIT_FOR_FILE, "request_wait_answer"), CLASS_REMOTE);
	/* A server sends what its client does not take. */
	assert_int_equal(class_by(STATE_NET, WAIT_FOR_REQUESTS, "sk_stream_wait_memory"),
			 CLASS_REMOTE);
}

/* Somebody has what it wants, or keeps it from that. */
TEST(test_kept)
{
	struct wait_facts frozen = { STATE_DWAIT, WAIT_FOR_FILE, "percpu_rwsem_wait", true };

	assert_int_equal(class_by(STATE_CPU, WAIT_FOR_UNKNOWN, NULL), CLASS_CONTENDED);
	assert_int_equal(class_by(STATE_LOCK, WAIT_FOR_UNKNOWN, "futex_do_wait"), CLASS_CONTENDED);
	assert_int_equal(class_by(STATE_PARK, WAIT_FOR_TURN, "futex_do_wait"), CLASS_CONTENDED);
	assert_int_equal(class_by(STATE_POLL, WAIT_FOR_TURN, "eventfd_read"), CLASS_CONTENDED);
	assert_int_equal(class_by(STATE_CPU, WAIT_FOR_QUOTA, NULL), CLASS_LIMITED);
	assert_int_equal(class_by(STATE_STOP, WAIT_FOR_UNKNOWN, "do_signal_stop"), CLASS_LIMITED);
	assert_int_equal(wait_class_of(&frozen), CLASS_LIMITED);
	frozen.on_path = false;
	assert_int_equal(wait_class_of(&frozen), CLASS_CONTENDED);
}

/* Where nothing tells no class is guessed; nor is one of a state that there is not. */
TEST(test_unknown)
{
	assert_int_equal(class_by(STATE_DWAIT, WAIT_FOR_UNKNOWN, NULL), CLASS_UNKNOWN);
	assert_int_equal(class_by(STATE_PARK, WAIT_FOR_EVENTS, "futex_do_wait"), CLASS_UNKNOWN);
	assert_int_equal(class_by(STATE_NET, WAIT_FOR_UNKNOWN, NULL), CLASS_UNKNOWN);
	assert_int_equal(class_by(STATE_POLL, WAIT_FOR_UNKNOWN, NULL), CLASS_UNKNOWN);
	assert_int_equal(class_by(STATE_OTHER, WAIT_FOR_UNKNOWN, NULL), CLASS_UNKNOWN);
	assert_int_equal(class_by(STATE_PARK, WAIT_FOR_UNKNOWN, "futex_do_wait"), CLASS_UNKNOWN);
	assert_int_equal(class_by(STATE_PARK, WAIT_FOR_PEERS, "futex_do_wait"), CLASS_UNKNOWN);
	assert_false(wait_is_lost(CLASS_UNKNOWN, STATE_PARK));
	assert_false(wait_is_lost(CLASS_IDLE, STATE_PIPE));
	assert_true(wait_is_lost(CLASS_UNKNOWN, STATE_DWAIT));
	assert_true(wait_is_lost(CLASS_CONTENDED, STATE_PARK));
	assert_int_equal(class_by(WAIT_STATES, WAIT_FOR_UNKNOWN, NULL), CLASS_UNKNOWN);
	assert_false(wait_for_server(NULL));
	assert_false(wait_for_server("jbd2_log_wait_commit"));
	assert_true(wait_for_server("rpc_wait_bit_killable"));
}

/* A state that was left before it was thought takes nothing from the sum. */
TEST(test_take)
{
	struct wait_states now = {
		.ns = { [STATE_RUN] = 100, [STATE_IO] = 40, [STATE_NET] = 700 }
	};
	const struct wait_states before = {
		.ns = { [STATE_RUN] = 90, [STATE_IO] = 70, [STATE_NET] = 100 }
	};

	wait_states_take(&now, &before);
	assert_int_equal(now.ns[STATE_RUN], 10);
	assert_int_equal(now.ns[STATE_IO], 0);
	assert_int_equal(now.ns[STATE_NET], 570);
	assert_int_equal(wait_states_alive(&now), 580);
}
