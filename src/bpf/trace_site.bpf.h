/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites of waits: lookup, creation, and sums. Part of trace.bpf.c. */
#pragma once

#include <bpf/bpf_endian.h>

#include "bpf/trace_call.bpf.h"

/* ---- What is put into a site at its first wait ----------------------------------------------- */

/* Stores the path of a directory entry, from the last component on, each ended by NUL. */
__noinline int put_path(__u32 site, __u64 address)
{
	const struct dentry *entry = (const struct dentry *)address, *parent;
	__u32 zero = 0, at = 0;
	struct text *text = bpf_map_lookup_elem(&texts, &zero);
	struct trace_site_slot *slot = site_at(site);
	long got;

	if (!text || !slot)
		return 0;
	__builtin_memset(text->bytes, 0, TRACE_NAME);
	for (int i = 0; i < COMPONENTS && at < TRACE_NAME; i++) {
		parent = BPF_CORE_READ(entry, d_parent);
		if (i && parent == entry)
			break;
		got = bpf_probe_read_kernel_str(&text->bytes[at & (TRACE_NAME - 1)], TRACE_NAME,
						BPF_CORE_READ(entry, d_name.name));
		if (got <= 0)
			break;
		at += (__u32)got;
		if (parent == entry)
			break;
		entry = parent;
	}
	if (at < TRACE_NAME)
		text->bytes[at & (TRACE_NAME - 1)] = '\0';
	__builtin_memcpy(slot->site.name, text->bytes, TRACE_NAME);
	slot->site.name[TRACE_NAME - 1] = '\0';
	return 0;
}

/* True if an IPv4 address (network order) is a loopback address. */
static __always_inline bool is_loopback(__u32 address)
{
	return *(const __u8 *)&address == 127;
}

static __always_inline void put_inet(struct trace_site *site, const struct sock *sk)
{
	__u32 own = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
	__u32 peer = BPF_CORE_READ(sk, __sk_common.skc_daddr);

	site->protocol = (__u8)BPF_CORE_READ_BITFIELD_PROBED(sk, sk_protocol);
	site->port = BPF_CORE_READ(sk, __sk_common.skc_num);
	site->peer_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (site->family == AF_INET) {
		__builtin_memcpy(site->address, &own, sizeof(own));
		__builtin_memcpy(site->peer, &peer, sizeof(peer));
		site->here = is_loopback(own) || is_loopback(peer) || (own && own == peer);
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		__u64 a[2] = {}, b[2] = {}, loopback = bpf_cpu_to_be64(1); /* ::1 */

		BPF_CORE_READ_INTO(&a, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&b, sk, __sk_common.skc_v6_daddr);
		__builtin_memcpy(site->address, a, sizeof(a));
		__builtin_memcpy(site->peer, b, sizeof(b));
		site->here = ((a[0] | a[1]) && a[0] == b[0] && a[1] == b[1]) ||
			     (!a[0] && a[1] == loopback) || (!b[0] && b[1] == loopback);
	}
}

/* Stores the path that a unix socket, or else its peer, is bound to; '@' for abstract ones. */
static __always_inline void put_unix(struct trace_site *site, const struct unix_sock *sk)
{
	const struct unix_address *address = BPF_CORE_READ(sk, addr);
	const struct unix_sock *peer;

	site->here = true;
	if (!address) {
		peer = (const struct unix_sock *)BPF_CORE_READ(sk, peer);
		address = peer ? BPF_CORE_READ(peer, addr) : NULL;
	}
	if (!address)
		return;
	bpf_probe_read_kernel_str(site->name, TRACE_NAME - 1,
				  (const char *)&address->name[0].sun_path);
	if (!site->name[0]) {
		__u32 length = (__u32)BPF_CORE_READ(address, len) - 2;

		if (length < 2)
			return;
		if (length > TRACE_NAME - 1)
			length = TRACE_NAME - 1;
		bpf_probe_read_kernel(site->name, length & (TRACE_NAME - 1),
				      (const char *)&address->name[0].sun_path);
		site->name[0] = '@';
	}
}

__noinline int put_socket(__u32 at, __u64 address)
{
	const struct file___kernel *file = (const struct file___kernel *)address;
	const struct socket *socket = BPF_CORE_READ(file, private_data);
	const struct sock *sk = BPF_CORE_READ(socket, sk);
	struct trace_site_slot *slot = site_at(at);

	if (!sk || !slot)
		return 0;
	slot->site.family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (slot->site.family == AF_UNIX)
		put_unix(&slot->site, (const struct unix_sock *)sk);
	else if (slot->site.family == AF_INET || slot->site.family == AF_INET6)
		put_inet(&slot->site, sk);
	return 0;
}

/* A wait that begins. */
struct wait {
	struct trace_key key;
	struct call call;
	struct seen_file seen;
	__u64 fault_inode; /* of the file of a page fault; 0: none, or unknown */
	const struct task_struct *task;
};

/* A directory entry of an inode, any of them; 0: there is none. */
static __always_inline __u64 entry_of(__u64 address)
{
	const struct inode *inode = (const struct inode *)address;
	const struct hlist_node *node = BPF_CORE_READ(inode, i_dentry.first);

	if (!node)
		return 0;
	if (bpf_core_field_exists(struct dentry, d_u.d_alias))
		return (__u64)node - bpf_core_field_offset(struct dentry, d_u.d_alias);
	if (bpf_core_field_exists(struct dentry___flat, d_alias))
		return (__u64)node - bpf_core_field_offset(struct dentry___flat, d_alias);
	return 0;
}

/* Writes a readable target of the wait. */
static __always_inline void describe(struct trace_site *site, __u32 at, const struct wait *wait)
{
	const struct file___kernel *file = wait->seen.file;
	const struct task_struct *task = wait->task;

	BPF_CORE_READ_INTO(&site->comm, task, group_leader, comm);
	if (wait->fault_inode) {
		site->mode = wait->seen.mode;
		put_path(at, entry_of(wait->fault_inode));
		return;
	}
	if (wait->call.class.target != CALL_FD)
		return;
	site->fd = (__s32)wait->call.argument;
	if (!file)
		return;
	site->mode = wait->seen.mode;
	if ((wait->seen.mode & S_IFMT) == S_IFSOCK)
		put_socket(at, (__u64)file);
	else
		put_path(at, (__u64)BPF_CORE_READ(file, f_path.dentry));
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static __always_inline bool same_key(const struct trace_key *a, const struct trace_key *b)
{
	const __u64 *x = (const __u64 *)a, *y = (const __u64 *)b;

	_Static_assert(sizeof(*a) == 5 * sizeof(*x), "five words");
	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3] && x[4] == y[4];
}

/* Begins to write a site, unless another CPU does. */
static __always_inline bool try_lock(struct trace_site_slot *slot)
{
	__u32 version = *(volatile __u32 *)&slot->version;

	return !(version & 1) &&
	       __sync_val_compare_and_swap(&slot->version, version, version + 1) == version;
}

/* Locks a slot once others have released it. 0: they did not. */
__noinline int await_lock(__u32 at)
{
	struct trace_site_slot *slot = site_at(at);

	if (!slot)
		return 0;
	for (int i = 0; i < PATIENCE; i++) {
		bpf_ktime_get_ns(); /* takes time: more attempts would cost the verifier more */
		if (try_lock(slot))
			return 1;
	}
	return 0;
}

/* Locks a site for writing, on any CPU; false: others wrote all the time. */
static __always_inline bool lock_site(struct trace_site_slot *slot, __u32 at)
{
	return at && (try_lock(slot) || await_lock(at));
}

/* Creates a site; its slot is 0 without room. */
static __always_inline struct site_ref make_site(const struct trace_key *key, __u64 now)
{
	struct site_ref ref = {}, *there;
	struct trace_cpu *cpu = this_cpu();
	struct trace_site_slot *slot;
	struct trace_links *links;
	__u32 at;

	if (!cpu)
		return ref;
	at = cpu->spare ?: take_free(&control.free_sites, &free_sites, site_room);
	slot = site_at(at);
	links = bpf_map_lookup_elem(&links_of_sites, &at);
	if (!at || !slot || !links)
		return ref;
	cpu->spare = 0;
	begin_write(&slot->version);
	__builtin_memset(&slot->site.count, 0,
			 sizeof(slot->site) - __builtin_offsetof(struct trace_site, count));
	__builtin_memset(links, 0, sizeof(*links));
	slot->site.generation++;
	slot->site.key = *key;
	slot->site.stack = slot->site.fd = -1;
	slot->site.last_ns = now;
	ref.slot = at;
	ref.generation = (__u32)slot->site.generation;
	end_write(&slot->version);
	if (!bpf_map_update_elem(&places, key, &ref, BPF_NOEXIST))
		return ref;
	/* Another CPU created it meanwhile. */
	cpu->spare = at;
	there = bpf_map_lookup_elem(&places, key);
	ref.slot = there ? there->slot : 0;
	ref.generation = there ? there->generation : 0;
	return ref;
}

/* Finds the site of a key that is not the recent one. */
__noinline int find_other_site(struct recent *recent, const struct trace_key *of, __u64 now)
{
	struct trace_key key; /* before 6.2 a key must be on the caller's own stack */
	struct site_ref *there;

	if (!recent || !of)
		return 0;
	key = *of;
	there = bpf_map_lookup_elem(&places, &key);
	if (there) {
		recent->ref.slot = there->slot;
		recent->ref.generation = there->generation;
	} else {
		recent->ref = make_site(&key, now);
	}
	recent->key = key;
	return 0;
}

/* Finds the site of a key, or creates it; a slot of 0: no room. */
static __always_inline void find_site(struct recent *recent, const struct trace_key *key, __u64 now)
{
	struct site_ref ref = recent->ref;
	struct trace_site_slot *slot;

	if (ref.slot && same_key(&recent->key, key)) {
		slot = site_at(ref.slot);
		if (slot && (__u32)slot->site.generation == ref.generation)
			return;
	}
	find_other_site(recent, key, now);
}

static __always_inline __u32 log2_of(__u64 n)
{
	__u32 log = 0;

	if (n >> 32) {
		n >>= 32;
		log = 32;
	}
	if (n >> 16) {
		n >>= 16;
		log += 16;
	}
	if (n >> 8) {
		n >>= 8;
		log += 8;
	}
	if (n >> 4) {
		n >>= 4;
		log += 4;
	}
	if (n >> 2) {
		n >>= 2;
		log += 2;
	}
	return log + (n >> 1 ? 1 : 0);
}

/* The bucket of a wait, by powers of two of microseconds: the first is below one. */
static __always_inline __u32 bucket_of(__u64 ns)
{
	__u32 log, bucket;

	if (ns < 1000)
		return 0;
	log = log2_of(ns); /* 9 at least */
	bucket = ns >= (__u64)1000 << (log - 9) ? log - 8 : log - 9;
	return bucket < TRACE_BUCKETS ? bucket : TRACE_BUCKETS - 1;
}

/* The waker of a wait. */
struct waker {
	__s32 tgid; /* 0: an interrupt */
	__u32 relation; /* enum trace_relation; RELATIONS: not determined */
	union {
		char name[TRACE_COMM];
		__u64 words[TRACE_COMM / 8];
	};
};

static __always_inline bool has_name(const struct trace_waker *waker, const __u64 *words)
{
	const __u64 *name = (const __u64 *)waker->name;

	return waker->count && name[0] == words[0] && name[1] == words[1];
}

/*
 * Adds a wait to its waker's; without room that replaces the waker with the least time. Interrupts
 * and children, which are many, are distinguished by name.
 */
static __always_inline void add_waker(struct trace_site *site, const struct waker *waker, __u64 ns)
{
	struct trace_waker *at = NULL;
	bool named = !waker->tgid || site->key.state == STATE_CHILD;

	for (int i = 0; i < TRACE_WAKERS; i++) {
		struct trace_waker *known = &site->wakers[i];

		if (named ? has_name(known, waker->words) && !known->tgid == !waker->tgid
			  : known->count && known->tgid == waker->tgid) {
			known->count++;
			known->ns += ns;
			return;
		}
		if (!at || known->ns < at->ns)
			at = known;
	}
	at->tgid = waker->tgid;
	at->count = 1;
	at->ns = ns;
	((__u64 *)at->name)[0] = waker->words[0];
	((__u64 *)at->name)[1] = waker->words[1];
}

/*
 * Adds a wait to a site (struct site_word). booked_ns: of one for a CPU. Returns whether the site
 * exists.
 */
__noinline int add_ended(__u64 word, __u64 now, __u64 ns, __u64 booked_ns,
			 const struct waker *waker)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
	struct trace_site_slot *slot = site_at(ref.slot);
	__u32 bucket = bucket_of(ns), relation;

	if (!slot || !lock_site(slot, ref.slot))
		return 0;
	if ((__u32)slot->site.generation != ref.generation) {
		end_write(&slot->version);
		return 0;
	}
	slot->site.count++;
	slot->site.ns += ns;
	slot->site.booked_ns += booked_ns;
	if (ns > slot->site.max_ns)
		slot->site.max_ns = ns;
	slot->site.last_ns = now;
	if (bucket < TRACE_BUCKETS)
		slot->site.buckets[bucket]++;
	if (waker) {
		add_waker(&slot->site, waker, ns);
		relation = waker->relation;
		KEEP(relation);
		if (relation < RELATIONS)
			slot->site.relations[relation]++;
	}
	list_site(slot, ref.slot);
	end_write(&slot->version);
	return 1;
}

static __always_inline bool add_wait_at(struct site_ref ref, __u64 now, __u64 ns, __u64 booked_ns,
					const struct waker *waker)
{
	struct site_word word = { .ref = ref };

	return add_ended(word.word, now, ns, booked_ns, waker);
}

/* Adds a late part to a wait that ended. */
static __always_inline void add_late(struct site_ref ref, __u64 ns)
{
	struct trace_site_slot *slot = site_at(ref.slot);

	if (!slot || !lock_site(slot, ref.slot))
		return;
	if ((__u32)slot->site.generation == ref.generation) {
		slot->site.ns += ns;
		list_site(slot, ref.slot);
	}
	end_write(&slot->version);
}

static __always_inline void count_lost_wait(void)
{
	struct trace_cpu *cpu = this_cpu();

	if (cpu)
		cpu->lost_waits++;
}
