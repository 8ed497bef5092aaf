// SPDX-License-Identifier: GPL-2.0-or-later
/* Chains of waits: shares that add up, down to the roots; circles, deadlocks, what is not known. */
#include "tests/lib/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "tests/lib/sites.h"
#include "view/chain.h"

#define MS(n) (UINT64_C(1000000) * (n))

#define FRONT .tgid = 10, .comm = "front", .state = STATE_NET, .kind = -1, .syscall = "recvfrom"
#define SERVER .tgid = 20, .comm = "server", .kind = -1

/* A scene: sites, and links between them in their order. */
struct scene {
	struct site sites[8];
	size_t n;
	struct site_link links[16];
	size_t nlinks;
};

/* What was made of it, for the first site. */
struct made {
	struct trace_frame trace;
	struct chain_index index;
	struct chain chain;
};

static int compare_links(const void *a, const void *b)
{
	return site_link_compare(a, b);
}

static void make(struct made *made, struct scene *scene)
{
	const struct site *first = &scene->sites[0];

	qsort(scene->links, scene->nlinks, sizeof(*scene->links), compare_links);
	*made = (struct made){ .trace = { .sites = SITES_OF(scene->sites, scene->n),
					  .n = scene->n,
					  .links = scene->links,
					  .nlinks = scene->nlinks } };
	chain_index_make(&made->index, &made->trace);
	chain_build(&made->chain, &made->index, &first, 1);
}

static void unmake(struct made *made)
{
	chain_index_free(&made->index);
	chain_free(&made->chain);
}

/* The share of the roots of a kind; they must add up to 1 in all. */
static double share_of(const struct made *made, enum chain_root_kind kind)
{
	double all = 0, share = 0;

	for (size_t i = 0; i < made->chain.nroots; i++) {
		all += made->chain.roots[i].share;
		if (made->chain.roots[i].kind == kind)
			share += made->chain.roots[i].share;
	}
	assert_true(fabs(all - 1) < 1e-6);
	return share;
}

static void assert_share(const struct made *made, enum chain_root_kind kind, double share)
{
	double found = share_of(made, kind);

	if (fabs(found - share) > 1e-6)
		fail_msg("%s: %f, not %f", chain_root_ids[kind], found, share);
}

/* The words of the i-th root. */
static void assert_root(const struct made *made, size_t i, const char *words)
{
	struct buf text = { 0 };

	assert_true(i < made->chain.nroots);
	chain_put_root(&text, &made->chain.roots[i], TEXT_UTF8);
	assert_string_equal(buf_cstr(&text), words);
	buf_free(&text);
}

/* A server that waits for a disk, is queued, and runs. */
TEST(test_disk)
{
	struct scene scene = {
		.sites = { { .id = 1,
			     FRONT,
			     .ns = MS(1000),
			     .count = 10,
			     .wakers = { { 20, "server", MS(1000), 10 } } },
			   { .id = 2,
			     SERVER,
			     .state = STATE_IO,
			     .syscall = "fsync",
			     .on = "/db/journal",
			     .ns = MS(700),
			     .count = 10,
			     .wakers = { { 0, "block", MS(700), 10 } } },
			   { .id = 3,
			     SERVER,
			     .state = STATE_CPU,
			     .on = "812 backup",
			     .ns = MS(200),
			     .count = 10 } },
		.n = 3,
		.links = { { 1, 20, 2, STATE_IO, MS(600), false },
			   { 1, 20, 3, STATE_CPU, MS(250), false },
			   { 1, 20, 0, STATE_RUN, MS(150), false } },
		.nlinks = 3,
	};
	struct made made;
	struct buf text = { 0 };

	make(&made, &scene);
	assert_share(&made, CHAIN_DISK, 0.6);
	assert_share(&made, CHAIN_QUEUE, 0.25);
	assert_share(&made, CHAIN_RUN, 0.15);
	assert_root(&made, 0, "disk I/O of server 20: fsync /db/journal");
	assert_int_equal(made.chain.nsteps, 1);
	assert_int_equal(made.chain.steps[0].n, 3);
	assert_false(made.chain.steps[0].in_part);
	chain_put_waker(&text, &made.chain.steps[0], TEXT_UTF8);
	assert_string_equal(buf_cstr(&text), "server 20 ended 10 waits");
	text.len = 0;
	chain_put_part(&text, &made.chain.parts[1], TEXT_UTF8);
	assert_string_equal(buf_cstr(&text), "run queue behind 812 backup");
	buf_free(&text);
	unmake(&made);
}

/* Half was ended by an interrupt, and the waker's time is known in part. */
TEST(test_known_in_part)
{
	struct scene scene = {
		.sites = { { .id = 1,
			     FRONT,
			     .ns = MS(1000),
			     .count = 10,
			     .wakers = { { 20, "server", MS(500), 5 },
					 { 0, "net_rx", MS(500), 5 } } } },
		.n = 1,
		.links = { { 1, 20, 0, STATE_RUN, MS(100), false },
			   { 1, 20, 0, WAIT_STATES, MS(400), false } },
		.nlinks = 2,
	};
	const struct site_link both[] = { scene.links[0], scene.links[1] };
	struct made made;

	make(&made, &scene);
	assert_share(&made, CHAIN_PEER, 0.5);
	assert_share(&made, CHAIN_RUN, 0.1);
	assert_share(&made, CHAIN_UNEXPLAINED, 0.4);
	assert_true(made.chain.steps[0].in_part);
	unmake(&made);
	/* The other link found no room. */
	scene.links[0] = both[0];
	scene.nlinks = 1;
	make(&made, &scene);
	assert_share(&made, CHAIN_RUN, 0.1);
	assert_share(&made, CHAIN_UNEXPLAINED, 0.4);
	assert_true(made.chain.steps[0].in_part);
	unmake(&made);
	/* Nothing at all is known of it. */
	scene.nlinks = 0;
	make(&made, &scene);
	assert_share(&made, CHAIN_UNEXPLAINED, 0.5);
	assert_root(&made, 1, "unexplained");
	unmake(&made);
	/* Links to sites that are not there, and of wakers that are not. */
	scene.nlinks = 2;
	scene.links[0] = (struct site_link){ 1, 20, 99, STATE_LOCK, MS(100), false };
	scene.links[1] = (struct site_link){ 1, 21, 0, STATE_RUN, MS(100), false };
	make(&made, &scene);
	assert_share(&made, CHAIN_UNEXPLAINED, 0.5);
	unmake(&made);
}

/* Has the waits of a site go on, and none have ended. */
static void wait_on(struct site *site)
{
	memset(site->wakers, 0, sizeof(site->wakers));
	site->count = 0;
	site->waiting = 1;
	site->waiting_ns = MS(5000);
}

/* Two that wait for each other, one after the other; and two that do for ever. */
TEST(test_circles)
{
	struct scene scene = {
		.sites = { { .id = 1,
			     FRONT,
			     .ns = MS(1000),
			     .count = 10,
			     .wakers = { { 20, "server", MS(1000), 10 } } },
			   { .id = 2,
			     SERVER,
			     .state = STATE_NET,
			     .ns = MS(700),
			     .count = 10,
			     .wakers = { { 10, "front", MS(700), 10 } } } },
		.n = 2,
		.links = { { 1, 20, 2, STATE_NET, MS(1000), false },
			   { 2, 10, 1, STATE_NET, MS(700), false } },
		.nlinks = 2,
	};
	struct made made;

	make(&made, &scene);
	assert_share(&made, CHAIN_CIRCLE, 1);
	unmake(&made);
	for (size_t i = 0; i < 2; i++) {
		scene.sites[i].state = STATE_LOCK;
		wait_on(&scene.sites[i]);
		scene.links[i].holds = true;
	}
	make(&made, &scene);
	assert_share(&made, CHAIN_DEADLOCK, 1);
	unmake(&made);
	/* Who holds it runs. */
	scene.nlinks = 1;
	scene.links[0] = (struct site_link){ 1, 20, 0, STATE_RUN, MS(1000), true };
	make(&made, &scene);
	assert_share(&made, CHAIN_RUN, 1);
	assert_root(&made, 0, "server 20 on CPU");
	unmake(&made);
}

/* A wait that goes on and is unlike those that ended is told apart from them; others are not. */
TEST(test_goes_on)
{
	struct scene scene = {
		.sites = { { .id = 1,
			     FRONT,
			     .ns = MS(1000),
			     .count = 10,
			     .waiting = 1,
			     .waiting_ns = MS(600),
			     .wakers = { { 20, "server", MS(400), 10 } } } },
		.n = 1,
		.links = { { 1, 20, 0, STATE_RUN, MS(400), false } },
		.nlinks = 1,
	};
	struct made made;

	make(&made, &scene);
	assert_share(&made, CHAIN_RUN, 0.4);
	assert_share(&made, CHAIN_GOES_ON, 0.6);
	unmake(&made);
	scene.sites[0].waiting_ns = MS(50);
	make(&made, &scene);
	assert_share(&made, CHAIN_RUN, 1);
	unmake(&made);
}

/* Chains that are deeper than is followed, and that fan out, end and still add up. */
TEST(test_depth)
{
	static struct site sites[40];
	static struct site_link links[39 * 3];
	const struct site *first = &sites[0];
	struct made made = {
		.trace = { .sites = SITES_OF(sites, 40), .n = 40, .links = links, .nlinks = 117 }
	};

	for (size_t i = 0; i < 40; i++)
		sites[i] = (struct site){ .id = i + 1,
					  FRONT,
					  .ns = MS(100),
					  .count = 1,
					  .wakers = { { 20, "server", MS(100), 1 } } };
	for (size_t i = 0; i < 117; i++)
		links[i] = (struct site_link){ i / 3 + 1, 20,	  1 + (i / 3 + 1 + i % 3) % 40,
					       STATE_NET, MS(10), false };
	qsort(links, 117, sizeof(*links), compare_links);
	chain_index_make(&made.index, &made.trace);
	chain_build(&made.chain, &made.index, &first, 1);
	assert_share(&made, CHAIN_UNEXPLAINED, 1);
	unmake(&made);
}

/* A wait that goes on has the reason with it where the kernel's function tells it. */
TEST(test_reasons)
{
	static const struct {
		struct site site;
		const char *words;
	} cases[] = {
		{ { .syscall = "openat",
		    .on = "/mnt/x",
		    .where = "percpu_rwsem_wait",
		    .waiting = 1 },
		  "wait in progress of cp 7: openat /mnt/x (frozen)" },
		{ { .syscall = "openat", .where = "percpu_rwsem_wait", .waiting = 1 },
		  "wait in progress of cp 7: openat" },
		{ { .syscall = "vfork", .where = "kernel_clone", .waiting = 1 },
		  "wait in progress of cp 7: vfork (until its child execs or exits)" },
		{ { .syscall = "flock", .on = "/x", .where = "flock_lock_inode_wait" },
		  "unknown waker of cp 7: flock /x" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct chain_root root = { CHAIN_GOES_ON, "cp", 7, &cases[i].site, 1, NULL };
		struct buf text = { 0 };

		chain_put_root(&text, &root, TEXT_UTF8);
		assert_string_equal(buf_cstr(&text), cases[i].words);
		buf_free(&text);
	}
}

/* A task that is stopped is a root, whoever lets it go on; so is one that is frozen in a wait. */
TEST(test_stopped)
{
	struct scene scene = {
		.sites = { { .id = 1,
			     FRONT,
			     .ns = MS(1000),
			     .count = 10,
			     .wakers = { { 20, "server", MS(1000), 10 } } },
			   { .id = 2,
			     SERVER,
			     .state = STATE_STOP,
			     .ns = MS(700),
			     .count = 10,
			     .wakers = { { 30, "manager", MS(700), 10 } } } },
		.n = 2,
		.links = { { 1, 20, 2, STATE_STOP, MS(600), false },
			   { 1, 20, 0, STATE_RUN, MS(400), false } },
		.nlinks = 2,
	};
	struct made made;

	make(&made, &scene);
	assert_share(&made, CHAIN_STOPPED, 0.6);
	assert_root(&made, 0, "server 20 is stopped");
	scene.sites[1].on = "debugger 40 gdb";
	unmake(&made);
	make(&made, &scene);
	assert_root(&made, 0, "server 20 is stopped by debugger 40 gdb");
	unmake(&made);
	/* What it was frozen in is no reason. */
	wait_on(&scene.sites[0]);
	scene.sites[1].state = STATE_NET;
	scene.sites[1].on = "tcp 10.0.0.1:80";
	scene.links[0] = (struct site_link){ 1, 20, 2, STATE_STOP, MS(1000), true };
	scene.nlinks = 1;
	make(&made, &scene);
	assert_share(&made, CHAIN_STOPPED, 1);
	assert_root(&made, 0, "server 20 is frozen by its cgroup");
	unmake(&made);
}

/* Who must act for a wait to end that goes on: all that it did meanwhile counts. */
TEST(test_holder)
{
	struct scene scene = {
		.sites = { { .id = 1,
			     FRONT,
			     .class = CLASS_REMOTE,
			     .ns = MS(1000),
			     .waiting = 1,
			     .waiting_ns = MS(5000) },
			   { .id = 2, SERVER, .state = STATE_TIMER, .ns = MS(600) } },
		.n = 2,
		.links = { { 1, 20, 2, STATE_TIMER, MS(600), true },
			   { 1, 20, 0, STATE_RUN, MS(250), true },
			   { 1, 20, 0, WAIT_STATES, MS(150), true } },
		.nlinks = 3,
	};
	struct made made;

	make(&made, &scene);
	assert_share(&made, CHAIN_TIMER, 0.6);
	assert_share(&made, CHAIN_RUN, 0.25);
	assert_share(&made, CHAIN_UNEXPLAINED, 0.15);
	assert_int_equal(chain_holder(&made.index, &scene.sites[0])->tgid, 20);
	assert_null(chain_holder(&made.index, &scene.sites[1]));
	unmake(&made);
}

/* Names are escaped. */
TEST(test_names)
{
	const struct site site = { .syscall = "read", .on = "/a\033[2Jb", .state = STATE_IO };
	const struct chain_root root = { CHAIN_DISK, "\033]0;x", 7, &site, 1, NULL };
	struct buf text = { 0 };

	chain_put_root(&text, &root, TEXT_UTF8);
	assert_null(strchr(buf_cstr(&text), '\033'));
	buf_free(&text);
}
