/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches every wait, in the kernel: at each context switch and wake-up a thread's time is added to
 * the state that it was in, and to the site that it waited in. All of it lies in arrays that
 * trace.c has mapped. Compiled once for kernels from 5.12 on (CO-RE, see kernel_types.h); what a
 * kernel lacks is not known there.
 *
 * A thread's slot is written by whom the scheduler lets: by the CPU that switches it out or in, and
 * by who wakes it while it sleeps (task->pi_lock). A wake-up may come just before the switch that
 * it answers has been seen (kernel/sched/core.c:try_to_wake_up waits for on_cpu after the
 * tracepoint), and the kernel may leave a hook out, as where it would run within itself. What went
 * unseen is told by the scheduler's own figures when the thread is switched the next time.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/kernel_types.h"
#include "bpf/trace_record.h"

/* Not all arguments of a tracepoint are used. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

/* include/linux/sched.h */
#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED 0x4
#define TASK_TRACED 0x8
#define TASK_DEAD 0x80
#define TASK_NOLOAD 0x400
#define TASK_RTLOCK_WAIT 0x1000
#define TASK_FROZEN 0x8000
#define PF_KTHREAD 0x200000
#define TS_COMPAT 0x2 /* arch/x86/include/asm/thread_info.h */

#define S_IFMT 0xf000
#define S_IFSOCK 0xc000
#define S_IFIFO 0x1000
#define ANON_INODE_FS_MAGIC 0x09041934 /* include/uapi/linux/magic.h */

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10

/* enum syscall_target of kernel/syscalls.h */
enum { CALL_NOTHING, CALL_FD, CALL_PATH, CALL_FUTEX, CALL_CHILD };

/* A waiter gives up a site that another CPU writes after so many looks. */
#define PATIENCE 512

/* How much of a site is set: a thread that another task looks at has no stack to keep. */
enum { FILLED_BUT_STACK = 1, FILLED };

#define COMPONENTS 12 /* of a path are read at most */

/* Set before the program is loaded. */
const volatile __u32 thread_room, site_room; /* powers of two */
const volatile bool blocked_stacks;
const volatile bool weak_order; /* stores of this machine may overtake each other */
const volatile struct trace_class classes[TRACE_CALLS];

struct trace_control control;

#define MAPPED_ARRAY(name, what) \
	struct { \
		__uint(type, BPF_MAP_TYPE_ARRAY); \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1); \
		__type(key, __u32); \
		__type(value, what); \
	} name SEC(".maps")

MAPPED_ARRAY(threads, struct trace_thread_slot);
MAPPED_ARRAY(sites, struct trace_site_slot);
MAPPED_ARRAY(cpus, struct trace_cpu);
/* Slots; of 64 bits, as the elements of an array are at least that far apart. */
MAPPED_ARRAY(free_threads, __u64);
MAPPED_ARRAY(free_sites, __u64);
/* Two lists each, of thread_room and site_room. */
MAPPED_ARRAY(changed_threads, __u64);
MAPPED_ARRAY(changed_sites, __u64);

/* Where a site is; the generation tells whether it still is. */
struct site_ref {
	__u32 slot, generation;
};

/* As a function returns it. */
struct site_word {
	union {
		struct site_ref ref;
		__u64 word;
	};
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct trace_key);
	__type(value, struct site_ref);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, TRACE_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

/* Of a path; a component is read behind what there is. */
struct text {
	char bytes[2 * TRACE_NAME];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct text);
} texts SEC(".maps");

/* The site of a thread's last wait of a sort, so that the next one of the same finds it. */
struct recent {
	struct trace_key key;
	struct site_ref ref;
};

/* What is known of a thread besides its slot. */
struct local {
	__u32 slot; /* 0: none; SLOT_TAKEN: is being made */
	__u8 lost; /* it found no room, which has been counted */
	__u8 gone; /* it ended, or the reader cannot see it */
	__u8 throttled; /* it is queued as its group's quota is used up */
	__u8 unused;
	__u64 arrived_ns; /* when it was switched in last, or born; 0: before it was seen */
	__u64 blkio_ns; /* booked before the wait */
	__u64 run_delay_ns; /* the same for queues */
	__u64 run_ns; /* its run time when it was switched in */
	struct site_ref io; /* the site of a wait of io, to be booked when it is switched in */
	__u64 io_ns; /* and how long that wait was */
	struct recent sleep, queue;
	__u64 within_ns[2]; /* when reclaim, compaction began; 0: not in it */
	__u64 within_booked_ns;
};

#define SLOT_TAKEN 0xffffffff

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct local);
} locals SEC(".maps");

static __always_inline struct trace_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline struct trace_thread_slot *thread_at(__u32 slot)
{
	return bpf_map_lookup_elem(&threads, &slot);
}

static __always_inline struct trace_site_slot *site_at(__u32 slot)
{
	return bpf_map_lookup_elem(&sites, &slot);
}

static __always_inline struct local *local_of(struct task_struct *task, __u64 how)
{
	return bpf_task_storage_get(&locals, task, NULL, how);
}

/* Has the compiler keep a value in its register, as the verifier knows its bounds there only. */
#define KEEP(value) asm volatile("" : "+r"(value))

/* ---- Slots: versions, lists of what changed, free ones ------------------------------------- */

/* Begins to write what one CPU writes at a time. A full barrier: the epoch is read after it. */
static __always_inline void begin_write(__u32 *version)
{
	__sync_lock_test_and_set(version, *version + 1);
}

static __always_inline void end_write(__u32 *version)
{
	barrier();
	if (weak_order)
		__sync_lock_test_and_set(version, *version + 1);
	else
		*(volatile __u32 *)version = *version + 1;
}

/* Puts a slot that is being written on the epoch's list, once. */
#define LIST(part, slot_, at) \
	do { \
		__u32 epoch_ = *(volatile __u32 *)&control.epoch, i_; \
		__u64 *element_; \
		if ((slot_)->epoch == epoch_) \
			break; \
		(slot_)->epoch = epoch_; \
		i_ = __sync_fetch_and_add(&control.changed[epoch_ & 1].part##s, 1); \
		if (i_ >= part##_room) \
			break; \
		i_ += (epoch_ & 1) * part##_room; \
		element_ = bpf_map_lookup_elem(&changed_##part##s, &i_); \
		if (element_) \
			*(volatile __u64 *)element_ = (at); \
	} while (0)

/* Takes a free slot; 0: there is none. */
static __always_inline __u32 take_free(struct trace_ring *ring, void *map, __u32 room)
{
	for (int i = 0; i < 8; i++) {
		__u32 head = *(volatile __u32 *)&ring->head, tail = *(volatile __u32 *)&ring->tail;
		__u32 at = head & (room - 1), taken;
		__u64 *slot;

		if (head == tail)
			return 0;
		slot = bpf_map_lookup_elem(map, &at);
		if (!slot)
			return 0;
		taken = (__u32) * (volatile __u64 *)slot;
		if (__sync_val_compare_and_swap(&ring->head, head, head + 1) == head)
			return taken;
	}
	return 0;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static __always_inline long upid_at(struct upid *upid, const struct pid *pid, __u32 level)
{
	return bpf_probe_read_kernel(upid, sizeof(*upid),
				     (const char *)&pid->numbers + level * sizeof(*upid));
}

/* The number of a task in the reader's namespace; 0: it is not in there. */
static __always_inline int pid_of(const struct task_struct *task)
{
	const struct pid *pid;
	struct upid upid = {};
	int number;

	if (!control.reader_level) {
		number = task->pid;
		/* One load for both would be of different sorts of memory. */
		KEEP(number);
		return number;
	}
	pid = task->thread_pid;
	if (!pid || pid->level < control.reader_level ||
	    upid_at(&upid, pid, control.reader_level) || (__u64)upid.ns != control.reader_ns)
		return 0;
	return upid.nr;
}

/* Whose pids are meant: those of who runs this. */
static __always_inline void meet_reader(void)
{
	const struct task_struct *self = bpf_get_current_task_btf();
	const struct pid *pid = self->thread_pid;
	struct upid upid = {};

	if (!pid)
		return;
	control.reader_level = pid->level;
	if (control.reader_level)
		upid_at(&upid, pid, control.reader_level);
	control.reader_ns = (__u64)upid.ns;
}

/* Whether a queued task waits for its group's quota: by tasks (6.18 and later), or by queues. */
static __always_inline bool is_throttled(const struct task_struct *task, bool waking)
{
	const struct cfs_rq *queue;

	if (bpf_core_field_exists(task->throttled))
		return !waking && task->throttled;
	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->throttle_count))
		return false;
	queue = task->se.cfs_rq;
	return queue && queue->throttle_count > 0;
}

/* The system call that a sleeping task is in and its arguments. */
struct call {
	__s32 number; /* -1: none */
	struct trace_class class;
	__u64 argument; /* the one that the class names */
};

static __always_inline __u64 argument_of(const struct pt_regs *regs, __u32 i)
{
	if (bpf_core_field_exists(regs->orig_ax))
		return i == 0 ? regs->di : i == 1 ? regs->si : i == 2 ? regs->dx : regs->r8;
	if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->orig_x0)) {
		const struct pt_regs___arm64 *arm = (const void *)regs;

		return i == 0	? arm->orig_x0
		       : i == 1 ? arm->regs[1]
		       : i == 2 ? arm->regs[2]
				: arm->regs[4];
	}
	return 0;
}

static __always_inline __s32 number_of_call(const struct pt_regs *regs)
{
	if (bpf_core_field_exists(regs->orig_ax))
		return (__s32)regs->orig_ax;
	if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->syscallno))
		return ((const struct pt_regs___arm64 *)regs)->syscallno;
	return -1;
}

/*
 * Finds the system call of a task by its registers of entry. Calls of 32-bit programs have numbers
 * of their own, and threads of the kernel make none.
 */
static __always_inline void find_call(struct call *call, struct task_struct *task)
{
	const struct pt_regs *regs;
	__u32 number;

	call->number = -1;
	call->class.state = STATE_OTHER;
	call->class.target = CALL_NOTHING;
	call->argument = 0;
	if (task->flags & PF_KTHREAD ||
	    !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return;
	if (bpf_core_field_exists(task->thread_info.status) && task->thread_info.status & TS_COMPAT)
		return;
	regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	call->number = number_of_call(regs);
	number = (__u32)call->number;
	if (number >= TRACE_CALLS)
		return;
	call->class.state = classes[number].state;
	call->class.target = classes[number].target;
	if (call->class.target != CALL_NOTHING)
		call->argument = argument_of(regs, classes[number].argument);
}

/* ---- Files ----------------------------------------------------------------------------------- */

struct seen_file {
	const struct file___kernel *file; /* NULL: there is none */
	__u64 ino;
	__u32 dev, mode;
	bool anonymous; /* an eventfd, timerfd, epoll and so on */
};

/*
 * Reads the inode of an open file; by the faster way where the kernel has it (6.2). fast: may a
 * program be loaded that has a call of what the kernel lacks (5.16).
 */
static __always_inline void read_inode(struct seen_file *seen, const struct file___kernel *file,
				       bool fast)
{
	const struct inode *inode;

	if (fast && bpf_rdonly_cast) {
		file = bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file___kernel));
		inode = file->f_inode;
		seen->ino = inode->i_ino;
		seen->mode = inode->i_mode;
		seen->dev = inode->i_sb->s_dev;
		seen->anonymous = inode->i_sb->s_magic == ANON_INODE_FS_MAGIC;
		return;
	}
	inode = BPF_CORE_READ(file, f_inode);
	seen->ino = BPF_CORE_READ(inode, i_ino);
	seen->mode = BPF_CORE_READ(inode, i_mode);
	seen->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	seen->anonymous = BPF_CORE_READ(inode, i_sb, s_magic) == ANON_INODE_FS_MAGIC;
}

static __always_inline void find_file(struct seen_file *seen, const struct task_struct *task,
				      __u64 fd, bool fast)
{
	const struct files_struct *files = task->files;
	const struct fdtable *table;
	const struct file___kernel *file = NULL;

	seen->file = NULL;
	if (!files)
		return;
	table = files->fdt;
	/* int: the upper half of the register is anything. */
	if ((__u32)fd >= table->max_fds ||
	    bpf_probe_read_kernel(&file, sizeof(file), &table->fd[(__u32)fd]) || !file)
		return;
	seen->file = file;
	read_inode(seen, file, fast);
}

/* ---- What is put into a site at its first wait ----------------------------------------------- */

/*
 * Puts a file's path, from the last component on, each ended by NUL. This and other functions are
 * global so that the verifier checks them once, and not at each call with all that led there.
 */
__noinline int put_path(__u32 site, __u64 address)
{
	const struct file___kernel *file = (const struct file___kernel *)address;
	const struct dentry *entry = BPF_CORE_READ(file, f_path.dentry), *parent;
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

/* Whether an IPv4 address (network order) is one of the loopback. */
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

/* Puts the path that a unix socket, or else its peer, is bound to; '@' for the abstract ones. */
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

/* Puts what tells people what the wait is on. */
static __always_inline void describe(struct trace_site *site, __u32 at,
				     const struct task_struct *task, const struct call *call,
				     const struct seen_file *seen)
{
	bpf_probe_read_kernel(site->comm, sizeof(site->comm), task->group_leader->comm);
	if (!call || call->class.target != CALL_FD)
		return;
	site->fd = (__s32)call->argument;
	if (!seen->file)
		return;
	site->mode = seen->mode;
	if ((seen->mode & S_IFMT) == S_IFSOCK)
		put_socket(at, (__u64)seen->file);
	else
		put_path(at, (__u64)seen->file);
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static __always_inline bool same_key(const struct trace_key *a, const struct trace_key *b)
{
	const __u64 *x = (const __u64 *)a, *y = (const __u64 *)b;

	_Static_assert(sizeof(*a) == 5 * sizeof(*x), "five words");
	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3] && x[4] == y[4];
}

/* Begins to write a site, which any CPU may do; 0: others did all the time. */
__noinline int lock_site(__u32 at)
{
	struct trace_site_slot *slot = site_at(at);

	if (!at || !slot)
		return 0;
	for (int i = 0; i < PATIENCE; i++) {
		__u32 version = *(volatile __u32 *)&slot->version;

		if (!(version & 1) &&
		    __sync_val_compare_and_swap(&slot->version, version, version + 1) == version)
			return 1;
	}
	return 0;
}

/* Makes a site; where there is no room its slot is 0. Returns a struct site_ref. */
__noinline __u64 make_site(const struct trace_key *key, __u64 now)
{
	struct site_word word = {};
	struct site_ref *there;
	struct trace_cpu *cpu = this_cpu();
	struct trace_site_slot *slot;
	__u32 at;

	if (!cpu || !key)
		return 0;
	at = cpu->spare ?: take_free(&control.free_sites, &free_sites, site_room);
	slot = site_at(at);
	if (!at || !slot)
		return 0;
	cpu->spare = 0;
	begin_write(&slot->version);
	__builtin_memset(&slot->site.count, 0,
			 sizeof(slot->site) - __builtin_offsetof(struct trace_site, count));
	slot->site.generation++;
	slot->site.key = *key;
	slot->site.stack = slot->site.fd = -1;
	slot->site.last_ns = now;
	word.ref.slot = at;
	word.ref.generation = (__u32)slot->site.generation;
	end_write(&slot->version);
	if (!bpf_map_update_elem(&places, key, &word.ref, BPF_NOEXIST))
		return word.word;
	/* Another CPU made it meanwhile. */
	cpu->spare = at;
	there = bpf_map_lookup_elem(&places, key);
	word.ref.slot = there ? there->slot : 0;
	word.ref.generation = there ? there->generation : 0;
	return word.word;
}

/* Finds the site of a key, or makes it. */
static __always_inline struct site_ref find_site(struct recent *recent, const struct trace_key *key,
						 __u64 now)
{
	struct site_ref *there, ref = recent->ref;
	struct site_word made;
	struct trace_site_slot *slot;

	if (ref.slot && same_key(&recent->key, key)) {
		slot = site_at(ref.slot);
		if (slot && (__u32)slot->site.generation == ref.generation)
			return ref;
	}
	there = bpf_map_lookup_elem(&places, key);
	if (there) {
		ref.slot = there->slot;
		ref.generation = there->generation;
	} else {
		made.word = make_site(key, now);
		ref = made.ref;
	}
	recent->key = *key;
	recent->ref = ref;
	return ref;
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

/* By powers of two of microseconds: the first is below one. */
static __always_inline __u32 bucket_of(__u64 ns)
{
	__u32 log, bucket;

	if (ns < 1000)
		return 0;
	log = log2_of(ns); /* 9 at least */
	bucket = ns >= (__u64)1000 << (log - 9) ? log - 8 : log - 9;
	return bucket < TRACE_BUCKETS ? bucket : TRACE_BUCKETS - 1;
}

/* Who ends a wait. */
struct waker {
	__s32 tgid; /* 0: an interrupt */
	union {
		char name[TRACE_COMM];
		__u64 words[TRACE_COMM / 8];
	};
};

/* Adds a wait that someone ended, in ref of who ended the least where there is no room. */
static __always_inline void add_waker(struct trace_site *site, const struct waker *waker, __u64 ns)
{
	struct trace_waker *at = NULL;

	for (int i = 0; i < TRACE_WAKERS; i++) {
		struct trace_waker *known = &site->wakers[i];
		const __u64 *words = (const __u64 *)known->name;

		if (known->count && known->tgid == waker->tgid &&
		    (waker->tgid || (words[0] == waker->words[0] && words[1] == waker->words[1]))) {
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
 * Adds a wait to a site (struct site_word). kind_ns: what is booked of it already. Whether there
 * is such a site.
 */
__noinline int add_ended(__u64 word, __u64 now, __u64 ns, __u64 kind_ns, const struct waker *waker)
{
	struct site_ref ref = ((struct site_word){ .word = word }).ref;
	struct trace_site_slot *slot = site_at(ref.slot);
	__u32 bucket = bucket_of(ns);

	if (!slot || !lock_site(ref.slot))
		return 0;
	if ((__u32)slot->site.generation != ref.generation) {
		end_write(&slot->version);
		return 0;
	}
	slot->site.count++;
	slot->site.ns += ns;
	slot->site.kind_ns += kind_ns;
	if (ns > slot->site.max_ns)
		slot->site.max_ns = ns;
	slot->site.last_ns = now;
	if (bucket < TRACE_BUCKETS)
		slot->site.buckets[bucket]++;
	if (waker)
		add_waker(&slot->site, waker, ns);
	LIST(site, slot, ref.slot);
	end_write(&slot->version);
	return 1;
}

static __always_inline bool add_wait_at(struct site_ref ref, __u64 now, __u64 ns, __u64 kind_ns,
					const struct waker *waker)
{
	struct site_word word = { .ref = ref };

	return add_ended(word.word, now, ns, kind_ns, waker);
}

/* Adds what the kernel booked of a wait after it ended. */
static __always_inline void add_booked(struct site_ref ref, __u64 ns)
{
	struct trace_site_slot *slot = site_at(ref.slot);

	if (!slot || !lock_site(ref.slot))
		return;
	if ((__u32)slot->site.generation == ref.generation) {
		slot->site.kind_ns += ns;
		LIST(site, slot, ref.slot);
	}
	end_write(&slot->version);
}

static __always_inline void count_lost_wait(void)
{
	struct trace_cpu *cpu = this_cpu();

	if (cpu)
		cpu->lost_waits++;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/*
 * Moves a thread to a state, in a site or none. What passed since was spent in the one before.
 * WAIT_STATES: it has ended; from then on the slot is the reader's.
 */
static __always_inline void set_state(struct trace_thread_slot *slot, __u32 at, __u32 state,
				      __u64 now, struct site_ref ref)
{
	__u32 was = slot->thread.state;

	KEEP(was);
	begin_write(&slot->version);
	if (now < slot->thread.since_ns)
		now = slot->thread.since_ns;
	if (was < WAIT_STATES)
		slot->thread.ns[was] += now - slot->thread.since_ns;
	slot->thread.since_ns = now;
	if (state < WAIT_STATES)
		slot->thread.state = (__u8)state;
	else
		slot->thread.ended = 1;
	slot->thread.site = ref.slot;
	slot->thread.generation = ref.generation;
	slot->thread.attached = 0;
	LIST(thread, slot, at);
	end_write(&slot->version);
}

/* Puts who a thread is. */
static __always_inline void identify(struct trace_thread *thread, const struct task_struct *task)
{
	const struct task_struct *leader = task->group_leader;

	thread->pid = pid_of(task);
	thread->tgid = pid_of(leader);
	thread->start_ns = task->start_time;
	thread->process_start_ns = leader->start_time;
}

/* Gives a thread a slot, in which it is not seen yet. 0: there is none. */
static __always_inline __u32 make_thread(struct local *local, const struct task_struct *task,
					 __u64 now)
{
	struct trace_thread_slot *slot;
	struct trace_cpu *cpu;
	__u32 at;

	if (!pid_of(task)) {
		local->gone = 1;
		return 0;
	}
	at = take_free(&control.free_threads, &free_threads, thread_room);
	slot = thread_at(at);
	if (!at || !slot) {
		cpu = this_cpu();
		if (!local->lost && cpu)
			cpu->lost_threads++;
		local->lost = 1;
		return 0;
	}
	__builtin_memset(&slot->thread, 0, sizeof(slot->thread));
	identify(&slot->thread, task);
	slot->thread.born_ns = slot->thread.since_ns = now;
	return at;
}

/*
 * The slot of a thread, made where it has none yet: then it has been in that state for no time.
 * NULL: it has none.
 */
static __always_inline struct local *know(struct task_struct *task, __u32 state, __u64 now)
{
	struct local *local = local_of(task, 0);
	__u32 at;

	if (local && local->slot)
		return local->slot != SLOT_TAKEN ? local : NULL;
	if (!local)
		local = local_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!local || local->gone || __sync_val_compare_and_swap(&local->slot, 0, SLOT_TAKEN) != 0)
		return NULL;
	at = make_thread(local, task, now);
	local->run_delay_ns = task->sched_info.run_delay;
	local->run_ns = task->se.sum_exec_runtime;
	if (at) {
		struct trace_thread_slot *slot = thread_at(at);
		struct site_ref none = {};

		if (slot) {
			slot->thread.state = (__u8)state;
			set_state(slot, at, state, now, none);
		}
	}
	__sync_lock_test_and_set(&local->slot, at);
	return at ? local : NULL;
}

/* ---- A wait begins --------------------------------------------------------------------------- */

/* What a descriptor says of who sleeps on it. */
static __always_inline __u32 state_by_file(const struct seen_file *seen)
{
	if (!seen->file)
		return STATE_OTHER;
	if ((seen->mode & S_IFMT) == S_IFSOCK)
		return STATE_NET;
	if ((seen->mode & S_IFMT) == S_IFIFO)
		return STATE_PIPE;
	return seen->anonymous ? STATE_POLL : STATE_OTHER;
}

/* The state that a task sleeps in, by the scheduler's. */
static __always_inline __u32 sleep_of(const struct task_struct *task, __u32 bits,
				      const struct call *call, const struct seen_file *seen)
{
	__u32 state = STATE_OTHER;

	if (bits & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN))
		return STATE_STOP;
	if (bits & TASK_INTERRUPTIBLE) {
		state = call->class.state;
		if (state == STATE_OTHER && call->class.target == CALL_FD)
			state = state_by_file(seen);
		if (state != STATE_OTHER)
			return state;
	}
	if (BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait))
		return STATE_IO;
	if ((bits & TASK_UNINTERRUPTIBLE && !(bits & TASK_NOLOAD)) || bits & TASK_RTLOCK_WAIT)
		return STATE_BLOCK;
	return state;
}

/* Puts what the wait is on into its key. */
static __always_inline void put_target(struct trace_key *key, const struct call *call,
				       const struct seen_file *seen)
{
	if (call->class.target == CALL_FD && seen->file) {
		key->target = (seen->mode & S_IFMT) == S_IFSOCK ? TRACE_SOCKET : TRACE_FILE;
		key->ino = seen->ino;
		key->dev = seen->dev;
	} else if (call->class.target == CALL_FUTEX && key->state == STATE_LOCK) {
		key->target = TRACE_FUTEX;
		key->ino = call->argument;
	} else if (call->class.target == CALL_CHILD && key->state == STATE_CHILD) {
		key->target = TRACE_CHILD;
		key->ino = (__u64)(__s64)(__s32)call->argument;
	}
}

/* Completes a site that is waited in for the first time. */
static __always_inline void complete(struct site_ref ref, const struct task_struct *task,
				     const struct call *call, const struct seen_file *seen,
				     __s32 stack, __u8 filled)
{
	struct trace_site_slot *slot = site_at(ref.slot);

	if (!slot || !lock_site(ref.slot))
		return;
	if ((__u32)slot->site.generation == ref.generation) {
		if (!slot->site.filled)
			describe(&slot->site, ref.slot, task, call, seen);
		slot->site.filled = filled;
		slot->site.stack = stack;
		LIST(site, slot, ref.slot);
	}
	end_write(&slot->version);
}

/*
 * Finds the site of the wait that a task begins, and its state. context: NULL where the task is not
 * the current one, so that its stack cannot be kept.
 */
static __always_inline __u32 enter_site(void *context, struct task_struct *task,
					struct local *local, const struct trace_thread *thread,
					__u32 bits, __u64 now, bool fast)
{
	struct trace_key key = {};
	struct seen_file seen = {};
	struct trace_site_slot *slot;
	struct call call;
	bool stacks_tell;
	__u8 filled = context ? FILLED : FILLED_BUT_STACK;

	find_call(&call, task);
	if (call.class.target == CALL_FD)
		find_file(&seen, task, call.argument, fast);
	key.state = (__u8)sleep_of(task, bits, &call, &seen);
	key.start_ns = thread->process_start_ns;
	key.tgid = thread->tgid;
	key.syscall = call.number;
	key.stack = -1;
	put_target(&key, &call, &seen);
	stacks_tell = blocked_stacks && (key.state == STATE_IO || key.state == STATE_BLOCK);
	if (stacks_tell && context)
		key.stack = (__s32)bpf_get_stackid(context, &stacks, 0);
	if (key.stack < 0)
		key.stack = -1;
	find_site(&local->sleep, &key, now);
	slot = site_at(local->sleep.ref.slot);
	if (local->sleep.ref.slot && slot && slot->site.filled < filled) {
		if (context && key.stack < 0)
			key.stack = (__s32)bpf_get_stackid(context, &stacks, 0);
		complete(local->sleep.ref, task, &call, &seen, key.stack, filled);
	}
	return key.state;
}

/* ---- A wait ends ----------------------------------------------------------------------------- */

/* The names of softirqs (include/linux/interrupt.h). */
static const char softirq_names[][TRACE_COMM] = {
	"hi",	    "timer",   "net_tx", "net_rx",  "block",
	"irq_poll", "tasklet", "sched",	 "hrtimer", "rcu",
};
#define SOFTIRQS (sizeof(softirq_names) / sizeof(softirq_names[0]))

/*
 * Puts who wakes: what handles an interrupt on this CPU, else the task that runs. What comes to a
 * socket from this machine is delivered in a softirq of who sent it.
 */
static __always_inline void put_waker(struct waker *waker, bool here)
{
	const struct trace_cpu *cpu = this_cpu();
	const struct task_struct *leader;
	__u32 vector;

	if (!cpu)
		return;
	if (cpu->interrupt) {
		bpf_probe_read_kernel_str(waker->name, sizeof(waker->name),
					  (const void *)cpu->interrupt);
	} else if (cpu->timer) {
		__builtin_memcpy(waker->name, "timer", sizeof("timer"));
	} else if (cpu->ipi) {
		__builtin_memcpy(waker->name, "ipi", sizeof("ipi"));
	} else if (cpu->softirq && !here) {
		vector = cpu->softirq - 1;
		if (vector < SOFTIRQS)
			__builtin_memcpy(waker->name, softirq_names[vector], TRACE_COMM);
	} else {
		leader = bpf_get_current_task_btf()->group_leader;
		waker->tgid = pid_of(leader);
		waker->words[0] = ((const __u64 *)leader->comm)[0];
		waker->words[1] = ((const __u64 *)leader->comm)[1];
	}
}

/* Ends the wait of a sleeping thread, in its site. seen: by the wake-up, of who runs now. */
static __always_inline void leave_site(struct local *local, const struct trace_thread *thread,
				       __u64 now, bool seen)
{
	struct site_ref ref = { thread->site, thread->generation };
	struct trace_site_slot *slot = site_at(ref.slot);
	__u64 ns = now > thread->since_ns ? now - thread->since_ns : 0;
	struct waker waker = {};
	bool io = thread->state == STATE_IO;

	if (seen)
		put_waker(&waker, slot && slot->site.here);
	if (!add_wait_at(ref, now, ns, io ? 0 : ns, seen ? &waker : NULL)) {
		/* The site was given back while it was waited in. */
		ref = find_site(&local->sleep, &local->sleep.key, now);
		if (!add_wait_at(ref, now, ns, io ? 0 : ns, seen ? &waker : NULL)) {
			count_lost_wait();
			ref.slot = 0;
		}
	}
	if (io) {
		local->io = ref;
		local->io_ns = ns;
	}
}

/* Whether a thread in that state has neither a CPU nor waits for one. */
static __always_inline bool sleeps(__u32 state)
{
	return state != STATE_RUN && state != STATE_CPU;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
	struct local *local = local_of(task, 0);
	struct trace_thread_slot *slot;
	struct site_ref none = {};
	__u64 now;

	if (!local || !local->slot || local->slot == SLOT_TAKEN)
		return 0;
	slot = thread_at(local->slot);
	/* Odd: it is being switched out at this moment, see above. */
	if (!slot || *(volatile __u32 *)&slot->version & 1 || !sleeps(slot->thread.state))
		return 0;
	now = bpf_ktime_get_ns();
	leave_site(local, &slot->thread, now, true);
	local->throttled = is_throttled(task, true);
	set_state(slot, local->slot, STATE_CPU, now, none);
	return 0;
}

/* ---- A CPU is given -------------------------------------------------------------------------- */

/*
 * Books what the kernel counted of the wait of io that ended (kernel/delayacct.c at wake-up). Its
 * stamp of the start may be stale: a wait cannot have begun before the thread ran last.
 */
static __always_inline void book_io(struct local *local, const struct task_struct *task, __u64 now)
{
	__u64 ns = local->io_ns;

	if (task->delays) {
		__u64 booked = task->delays->blkio_delay - local->blkio_ns;

		if (booked <= now - local->arrived_ns)
			ns = booked;
	}
	add_booked(local->io, ns);
	local->io.slot = 0;
}

/* The clock of the queue that a task is in, as the scheduler read it last; 0: not known. */
static __always_inline __u64 queue_clock(const struct task_struct *task)
{
	const struct cfs_rq *queue;

	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(task->sched_info.run_delay))
		return 0;
	queue = task->se.cfs_rq;
	return queue ? queue->rq->clock : 0;
}

/*
 * What the kernel books for the queue that a task leaves now (kernel/sched/stats.h:
 * sched_info_arrive runs after the tracepoint, by the same reading of the queue's clock).
 */
static __always_inline __u64 booked_queue(const struct local *local, const struct task_struct *task,
					  __u64 unknown)
{
	__u64 booked, clock = queue_clock(task);

	if (!clock)
		return unknown;
	booked = task->sched_info.run_delay - local->run_delay_ns;
	if (task->sched_info.last_queued && clock > task->sched_info.last_queued)
		booked += clock - task->sched_info.last_queued;
	return booked;
}

/*
 * Finds who ran on this CPU for most of the time since then, among the latest runs. Who came last
 * may have run for a moment only.
 */
static __always_inline const struct trace_run *who_ran(struct trace_cpu *cpu, __u64 since,
						       __u64 now)
{
	const struct trace_run *most = NULL;
	__u64 longest = 0, end = now;

	for (__u32 i = 0; i < TRACE_RUNS; i++) {
		const struct trace_run *run = &cpu->runs[(cpu->run - i) & (TRACE_RUNS - 1)];
		__u64 start = run->since_ns, from = start > since ? start : since;

		if (!start)
			break;
		if (end > from && end - from > longest) {
			longest = end - from;
			most = run;
		}
		if (start <= since)
			break;
		end = start;
	}
	return most && most->tgid ? most : NULL;
}

/* Keeps who runs on this CPU from now on. */
static __always_inline void note_run(struct trace_cpu *cpu, const struct task_struct *task,
				     __u64 now)
{
	const struct task_struct *leader = task->group_leader;
	__u32 at = (cpu->run + 1) & (TRACE_RUNS - 1);
	struct trace_run *run = &cpu->runs[at];

	run->since_ns = now;
	run->tgid = task->pid ? pid_of(leader) : 0;
	((__u64 *)run->name)[0] = ((const __u64 *)leader->comm)[0];
	((__u64 *)run->name)[1] = ((const __u64 *)leader->comm)[1];
	cpu->run = at;
}

/* Adds a wait in the queue, by who ran instead. */
static __always_inline void leave_queue(struct local *local, const struct trace_thread *thread,
					const struct task_struct *task, __u64 now, __u64 ns)
{
	struct trace_cpu *cpu = this_cpu();
	const struct trace_run *run = cpu ? who_ran(cpu, now - ns, now) : NULL;
	struct trace_key key = {};
	struct trace_site_slot *slot;
	struct site_ref ref;

	key.start_ns = thread->process_start_ns;
	key.tgid = thread->tgid;
	key.syscall = key.stack = -1;
	key.state = STATE_CPU;
	if (local->throttled) {
		key.target = TRACE_THROTTLED;
	} else if (run) {
		key.target = TRACE_TASK;
		key.ino = (__u64)run->tgid;
	}
	ref = find_site(&local->queue, &key, now);
	slot = site_at(ref.slot);
	if (ref.slot && slot && !slot->site.filled && lock_site(ref.slot)) {
		slot->site.filled = FILLED;
		bpf_probe_read_kernel(slot->site.comm, sizeof(slot->site.comm),
				      task->group_leader->comm);
		if (key.target == TRACE_TASK && run)
			__builtin_memcpy(slot->site.name, run->name, TRACE_COMM);
		end_write(&slot->version);
	}
	/* One that had begun before tracing did is booked as a whole. */
	if (!add_wait_at(ref, now, ns, local->arrived_ns ? booked_queue(local, task, ns) : ns,
			 NULL))
		count_lost_wait();
}

/*
 * Makes good what went unseen before a task gets a CPU: that it was switched out, as far as its run
 * time tells, or woken, as its time in the queue tells.
 */
static __always_inline void make_good(struct local *local, struct trace_thread_slot *slot,
				      const struct task_struct *task, __u64 now)
{
	struct site_ref none = {};
	__u64 passed = now > slot->thread.since_ns ? now - slot->thread.since_ns : 0, part;

	if (slot->thread.state == STATE_RUN) {
		part = task->se.sum_exec_runtime - local->run_ns;
		if (part > passed)
			part = passed;
		set_state(slot, local->slot, STATE_OTHER, slot->thread.since_ns + part, none);
		passed -= part;
	}
	part = booked_queue(local, task, passed);
	if (part > passed)
		part = passed;
	if (slot->thread.site)
		leave_site(local, &slot->thread, now - part, false);
	set_state(slot, local->slot, STATE_CPU, now - part, none);
}

/* A task gets a CPU. */
static __always_inline void switch_in(struct local *local, struct trace_thread_slot *slot,
				      const struct task_struct *task, __u64 now)
{
	struct site_ref none = {};
	__u64 ns;

	if (slot->thread.state != STATE_CPU)
		make_good(local, slot, task, now);
	if (local->io.slot)
		book_io(local, task, now);
	ns = now > slot->thread.since_ns ? now - slot->thread.since_ns : 0;
	leave_queue(local, &slot->thread, task, now, ns);
	local->arrived_ns = now;
	local->run_ns = task->se.sum_exec_runtime;
	local->throttled = 0;
	set_state(slot, local->slot, STATE_RUN, now, none);
}

/* When a task came to the CPU that it runs on, where that went unseen. */
static __always_inline __u64 arrival(const struct task_struct *task, __u64 since_ns, __u64 now)
{
	__u64 clock = queue_clock(task), ran;

	if (!clock || clock < task->sched_info.last_arrival)
		return now;
	ran = clock - task->sched_info.last_arrival;
	return now > ran && now - ran > since_ns ? now - ran : since_ns;
}

/* A task leaves its CPU. */
static __always_inline void switch_out(void *context, struct task_struct *task, bool preempted,
				       __u32 bits, __u64 now, bool fast)
{
	struct local *local;
	struct trace_thread_slot *slot;
	struct site_ref none = {};
	__u32 state = STATE_CPU;

	if (bits & TASK_DEAD && !preempted) {
		local = local_of(task, 0);
		if (!local || !local->slot || local->slot == SLOT_TAKEN)
			return;
		slot = thread_at(local->slot);
		if (slot)
			set_state(slot, local->slot, WAIT_STATES, now, none);
		local->slot = 0;
		local->gone = 1;
		return;
	}
	local = know(task, STATE_RUN, now);
	slot = local ? thread_at(local->slot) : NULL;
	if (!slot)
		return;
	if (slot->thread.state != STATE_RUN)
		switch_in(local, slot, task, arrival(task, slot->thread.since_ns, now));
	if (bpf_core_field_exists(task->sched_info.run_delay))
		local->run_delay_ns = task->sched_info.run_delay;
	if (preempted || !bits) {
		local->throttled = is_throttled(task, false);
		set_state(slot, local->slot, STATE_CPU, now, none);
		return;
	}
	local->throttled = 0;
	state = enter_site(context, task, local, &slot->thread, bits, now, fast);
	if (state == STATE_IO)
		local->blkio_ns = task->delays ? task->delays->blkio_delay : 0;
	set_state(slot, local->slot, state, now, local->sleep.ref);
}

static __always_inline int switched(void *context, bool preempted, struct task_struct *before,
				    struct task_struct *task, __u32 bits, bool fast)
{
	struct trace_cpu *cpu = this_cpu();
	struct trace_thread_slot *slot;
	struct local *local;
	__u64 now = bpf_ktime_get_ns();

	if (cpu)
		cpu->switches++;
	/* The idle tasks have no number. */
	if (before->pid)
		switch_out(context, before, preempted, bits, now, fast);
	if (task->pid) {
		local = know(task, STATE_CPU, now);
		slot = local ? thread_at(local->slot) : NULL;
		if (slot)
			switch_in(local, slot, task, now);
	}
	if (cpu)
		note_run(cpu, task, now);
	return 0;
}

/* 5.18 and later */
SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_state, bool preempted, struct task_struct *before, struct task_struct *task,
	     unsigned int bits)
{
	return switched(ctx, preempted, before, task, bits, true);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(switched_plain, bool preempted, struct task_struct *before, struct task_struct *task)
{
	return switched(ctx, preempted, before, task, state_of(before), false);
}

/* ---- Births, changes of number --------------------------------------------------------------- */

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u64 now = bpf_ktime_get_ns();
	struct local *local = know(child, STATE_CPU, now);

	if (local)
		local->arrived_ns = now;
	return 0;
}

/* A thread that executes a program becomes the leader (fs/exec.c:de_thread). */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(executed, struct task_struct *task)
{
	struct local *local = local_of(task, 0);
	struct trace_thread_slot *slot;

	if (!local || !local->slot || local->slot == SLOT_TAKEN)
		return 0;
	slot = thread_at(local->slot);
	if (!slot)
		return 0;
	begin_write(&slot->version);
	identify(&slot->thread, task);
	LIST(thread, slot, local->slot);
	end_write(&slot->version);
	return 0;
}

/* ---- Times within others: reclaim and compaction --------------------------------------------- */

/* What the kernel has booked of a kind that lies within others. */
static __always_inline __u64 booked_within(const struct task_struct *task, __u32 kind)
{
	const struct task_delay_info *delays = task->delays;

	return delays && kind == DELAY_RECLAIM ? delays->freepages_delay : 0;
}

static __always_inline int enter_within(__u32 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct local *local = local_of(task, 0);

	if (!local || !local->slot || local->slot == SLOT_TAKEN)
		return 0;
	local->within_ns[kind == DELAY_COMPACT] = bpf_ktime_get_ns();
	if (kind == DELAY_RECLAIM)
		local->within_booked_ns = booked_within(task, kind);
	return 0;
}

/* The kernel books reclaim between the two tracepoints (mm/vmscan.c), compaction around them. */
static __always_inline int leave_within(void *context, __u32 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct local *local = local_of(task, 0);
	struct trace_thread_slot *thread;
	struct trace_site_slot *slot;
	struct trace_key key = {};
	struct seen_file seen = {};
	struct recent recent = {};
	__u64 now = bpf_ktime_get_ns(), ns, kind_ns;
	struct call call;

	if (!local || !local->slot || local->slot == SLOT_TAKEN ||
	    !local->within_ns[kind == DELAY_COMPACT])
		return 0;
	thread = thread_at(local->slot);
	if (!thread)
		return 0;
	ns = now - local->within_ns[kind == DELAY_COMPACT];
	local->within_ns[kind == DELAY_COMPACT] = 0;
	kind_ns = ns;
	if (kind == DELAY_RECLAIM && task->delays)
		kind_ns = booked_within(task, kind) - local->within_booked_ns;
	find_call(&call, task);
	if (call.class.target == CALL_FD)
		find_file(&seen, task, call.argument, false);
	key.start_ns = thread->thread.process_start_ns;
	key.tgid = thread->thread.tgid;
	key.syscall = call.number;
	key.stack = -1;
	key.state = STATE_RUN;
	key.within = (__u8)(1 + kind);
	put_target(&key, &call, &seen);
	find_site(&recent, &key, now);
	slot = site_at(recent.ref.slot);
	if (slot && slot->site.filled < FILLED)
		complete(recent.ref, task, &call, &seen,
			 (__s32)bpf_get_stackid(context, &stacks, 0), FILLED);
	if (!add_wait_at(recent.ref, now, ns, kind_ns, NULL))
		count_lost_wait();
	return 0;
}

/* Those that a kernel has are loaded. */
SEC("?tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(reclaim_begins)
{
	return enter_within(DELAY_RECLAIM);
}

SEC("?tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(reclaim_ends)
{
	return leave_within(ctx, DELAY_RECLAIM);
}

SEC("?tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(group_reclaim_begins)
{
	return enter_within(DELAY_RECLAIM);
}

SEC("?tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(group_reclaim_ends)
{
	return leave_within(ctx, DELAY_RECLAIM);
}

SEC("?tp_btf/mm_compaction_begin")
int BPF_PROG(compaction_begins)
{
	return enter_within(DELAY_COMPACT);
}

SEC("?tp_btf/mm_compaction_end")
int BPF_PROG(compaction_ends)
{
	return leave_within(ctx, DELAY_COMPACT);
}

/* ---- What interrupts a CPU ------------------------------------------------------------------- */

/* Sets what this CPU handles from now on; 0: no more. */
#define HANDLES(member, what) \
	do { \
		struct trace_cpu *cpu_ = this_cpu(); \
		if (cpu_) \
			cpu_->member = (what); \
		return 0; \
	} while (0)

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(interrupt_begins, int number, struct irqaction *action)
{
	HANDLES(interrupt, (__u64)action->name);
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(interrupt_ends)
{
	HANDLES(interrupt, 0);
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(softirq_begins, unsigned int vector)
{
	HANDLES(softirq, vector + 1);
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(softirq_ends)
{
	HANDLES(softirq, 0);
}

/* x86; other machines' timers are handled as any interrupt. */
SEC("?tp_btf/local_timer_entry")
int BPF_PROG(timer_begins)
{
	HANDLES(timer, 1);
}

SEC("?tp_btf/local_timer_exit")
int BPF_PROG(timer_ends)
{
	HANDLES(timer, 0);
}

/* What one CPU asks of another: x86's two, and arm64's. */
#define IPI(name) \
	SEC("?tp_btf/" #name "_entry") \
	int BPF_PROG(name##_begins) \
	{ \
		HANDLES(ipi, 1); \
	} \
	SEC("?tp_btf/" #name "_exit") \
	int BPF_PROG(name##_ends) \
	{ \
		HANDLES(ipi, 0); \
	}

IPI(call_function)
IPI(call_function_single)
IPI(ipi)

/* ---- The threads that there are when tracing begins ------------------------------------------ */

/* Adds a thread in the state that it is in. Hooks may do so at the same time: one of them does. */
static __always_inline void meet_thread(struct task_struct *task, __u64 now)
{
	struct local *local = local_of(task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct trace_thread_slot *slot;
	__u32 at, bits = state_of(task), state;
	struct site_ref ref = {};

	if (!local || local->gone || __sync_val_compare_and_swap(&local->slot, 0, SLOT_TAKEN) != 0)
		return;
	at = make_thread(local, task, now);
	slot = at ? thread_at(at) : NULL;
	if (slot) {
		if (!bits || task->on_cpu) {
			state = task->on_cpu ? STATE_RUN : STATE_CPU;
		} else {
			state = enter_site(NULL, task, local, &slot->thread, bits, now, false);
			ref = local->sleep.ref;
			if (state == STATE_IO)
				local->blkio_ns = task->delays ? task->delays->blkio_delay : 0;
		}
		local->run_delay_ns = task->sched_info.run_delay;
		local->run_ns = task->se.sum_exec_runtime;
		slot->thread.state = (__u8)state;
		set_state(slot, at, state, now, ref);
		slot->thread.attached = sleeps(state);
	}
	__sync_lock_test_and_set(&local->slot, at);
}

SEC("iter/task")
int each_thread(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (!task)
		return 0;
	if (!control.walking)
		meet_reader();
	else if (task->pid && !task->exit_state)
		meet_thread(task, bpf_ktime_get_ns());
	return 0;
}
