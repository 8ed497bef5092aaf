// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs whose disk, file system, memory or CPUs fail them: it is said what, and by whom. */
#include "tests/lib/program.h"

#include "base/util.h"

#define SAID "grep -q ready log"
#define SBIN "PATH=$PATH:/usr/sbin:/sbin "
#define POSTGRES "PATH=$(echo /usr/lib/postgresql/*/bin | sed 's/.* //'):$PATH "

/* Writes much to the disk. */
#define BULK "exec $L/load_program bulk $D/bulk"
/* A moment after it is up, so that it has begun to write there. */
#define FREEZE "sleep 1; " SBIN "exec fsfreeze -f $B"
/* Waits until all that runs on the stage is in the box. */
#define BOXED "test $(wc -l <$B/cgroup.procs) -gt 0"

/* clang-format off */
static struct fault faults[] = {
	/* rationed */
	{ .name = "nginx over its quota", .program = "nginx", .needs = "python3", .box = BOX_QUOTA,
	  .start = "sh -c 'echo $$ >$B/cgroup.procs; " SBIN
		   "exec nginx -p $D -c $S/nginx.conf -g \"daemon off;\"' & "
		   "until test -S http.sock; do sleep 0.1; done; "
		   "exec python3 $S/ask.py http.sock 'GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'",
	  .ready = BOXED, .args = "@",
	  .id = "^throttled", .subject = "nginx", .cause = "quota|throttled", .besides = "^$" },
	{ .name = "java over its quota", .program = "java", .box = BOX_QUOTA,
	  .start = "if command -v javac; then javac -d . $S/Pool.java; else ecj -17 -d . $S/Pool.java; "
		   "fi && echo ready && echo $$ >$B/cgroup.procs && exec java -cp . Pool 4",
	  .ready = BOXED, .args = "@",
	  .id = "^throttled", .subject = "java", .cause = "quota|throttled", .besides = "^$" },
	{ .name = "a quota, by the group", .program = "java", .box = BOX_QUOTA,
	  .start = "echo $$ >$B/cgroup.procs; exec $L/load_program hog",
	  .ready = SAID, .args = "@",
	  .id = "^throttled", .subject = "batch-hog", .cause = "quota|throttled", .besides = "^$" },
	{ .name = "a limit of memory", .program = "tail", .box = BOX_MEMORY,
	  .start = "dd if=/dev/zero of=file bs=1M count=128 oflag=direct && "
		   "echo $$ >$B/cgroup.procs && exec $L/load_program cache file",
	  .ready = SAID, .args = "@",
	  .id = "^(memory|thrash|reclaim|swapin)", .subject = "load_program", .cause = "limit",
	  .besides = "^(cpu|io|memory|thrash|reclaim)" },
	{ .name = "a limit of the disk", .program = "tail", .box = BOX_DISK,
	  .start = "dd if=/dev/zero of=file bs=1M count=64 conv=fsync && echo $$ >$B/cgroup.procs && "
		   "echo ready && while :; do dd if=file of=/dev/null bs=64k iflag=direct; done",
	  .ready = SAID, .args = "@", .id = "^io", .subject = "dd", .cause = "limit|throttle" },
	/* contended */
	{ .name = "memcached beside a hog", .program = "memcached", .needs = "python3 taskset",
	  .start = "taskset -c 0 $U memcached -s $D/memcached.sock -t 1 & "
		   "until test -S memcached.sock; do sleep 0.1; done; "
		   "nice -n -10 taskset -c 0 $L/load_program hog & "
		   "exec python3 $S/ask.py memcached.sock 'get nothing\\r\\n'",
	  .ready = "grep -q ready log", .args = "@",
	  .id = "^cpu", .subject = "memcached", .cause = "batch-hog" },
	{ .name = "node beside a hog", .program = "node", .needs = "taskset",
	  .start = "nice -n -10 taskset -c 1 $L/load_program hog & "
		   "exec taskset -c 1 node -e 'for (;;) {}'",
	  .ready = SAID, .args = "@ --trace",
	  .id = "^cpu", .subject = "node", .cause = "batch-hog" },
	{ .name = "a storm of forks", .program = "sleep loop",
	  .start = "nice $L/load_program hog & for i in 1 2 3 4 5 6; do "
		   "(while :; do /bin/true; done) & done; echo ready; wait",
	  .args = "", .id = "^cpu", .subject = "batch-hog", .cause = "spawns [0-9]+ true/s",
	  .besides = "^(cpu|child)" },
	/* served: a disk that others use */
	{ .name = "redis beside a bulk writer", .program = "redis", .needs = "redis-benchmark",
	  .start = "redis-server --port 0 --unixsocket $D/redis.sock --save '' --dir $D "
		   "--appendonly yes --appendfsync always & "
		   "until test -S redis.sock; do sleep 0.1; done; "
		   "redis-benchmark -s redis.sock -t set -n 1000000000 -q & " BULK,
	  .args = "", .id = "^(io|dwait)", .subject = "redis-server", .cause = "bulk-writer",
	  .besides = "^(cpu|io|dwait)" },
	{ .name = "PostgreSQL beside a bulk writer", .program = "PostgreSQL", .needs = "pgbench",
	  .plant = POSTGRES "; export PGUSER=nobody; pgbench -h $D -i postgres && (pgbench -h $D -c 2 -T 1000 postgres & "
		   "echo running; " BULK ")",
	  .planted = "grep -q running log",
	  .args = "", .id = "^(io|dwait)", .subject = "postgres", .cause = "bulk-writer",
	  .besides = "^(cpu|io|dwait)" },
	{ .name = "redis copies on write", .program = "redis", .needs = "redis-cli redis-benchmark",
	  .plant = "redis-cli -s redis.sock debug populate 500000 key 400; "
		   "redis-benchmark -s redis.sock -t set -r 500000 -d 400 -P 16 -n 1000000000 -q & "
		   "while :; do redis-cli -s redis.sock bgsave; sleep 0.2; echo saving; done",
	  .planted = "grep -q saving log",
	  .args = "@", .id = "wpcopy", .subject = "redis-server", .cause = "cop(y|ies)",
	  .besides = "^(cpu|io|dwait): " },
	{ .name = "fio psync", .program = "fio",
	  .start = "exec fio --name=reads --ioengine=psync --direct=1 --rw=randread --bs=64k "
		   "--filename=$D/fio-file --size=64m --time_based --runtime=1000 --eta=never",
	  .ready = "test -s fio-file", .args = "@ --trace",
	  .id = "^io", .subject = "fio", .cause = "pread.*fio-file" },
	{ .name = "fio libaio", .program = "fio",
	  .start = "exec fio --name=reads --ioengine=libaio --iodepth=4 --direct=1 --rw=randread "
		   "--bs=64k --filename=$D/fio-file --size=64m --time_based --runtime=1000 --eta=never",
	  .ready = "test -s fio-file", .args = "@ --trace",
	  .id = "^io", .subject = "fio", .cause = "io_getevents|AIO|fio-file" },
	{ .name = "fio io_uring", .program = "fio",
	  .start = "exec fio --name=reads --ioengine=io_uring --iodepth=4 --direct=1 --rw=randread "
		   "--bs=64k --filename=$D/fio-file --size=64m --time_based --runtime=1000 --eta=never",
	  .ready = "test -s fio-file", .args = "@ --trace",
	  .id = "^io", .subject = "fio", .cause = "io_uring|fio-file" },
	/* a file system that does not answer */
	{ .name = "node on a frozen file system", .program = "node", .box = BOX_FROZEN,
	  .start = "exec node $S/server.js $D/node.sock $B/file", .plant = FREEZE,
	  .args = "@ -F +on", .id = "^hang", .subject = "node", .cause = "frozen",
	  .besides = "^(cpu|dwait)" },
	{ .name = "Go on a frozen file system", .program = "Go", .box = BOX_FROZEN,
	  .start = "printf 'global:\\n scrape_interval: 1s\\nscrape_configs:\\n- job_name: a\\n"
		   "  static_configs:\\n  - targets: [\"%s:9090\"]\\n' $A >own.yml; "
		   "exec prometheus --config.file=own.yml --storage.tsdb.path=$B/data "
		   "--web.listen-address=$A:9090",
	  .plant = "sleep 2; " FREEZE,
	  .args = "@ -F +on", .id = "^hang", .subject = "prometheus", .cause = "frozen",
	  .besides = "^(cpu|dwait)" },
	{ .name = "a python pool on a frozen file system", .program = "python executor",
	  .box = BOX_FROZEN, .start = "exec python3 $S/pool_executor.py $B/file", .plant = FREEZE,
	  .args = "@ -F +on", .id = "^hang", .subject = "python", .cause = "frozen",
	  .besides = "^(cpu|dwait)" },
	{ .name = "rsyslog on a frozen file system", .program = "rsyslog", .needs = "logger",
	  .box = BOX_FROZEN,
	  .plant = "(while :; do logger -u $D/log.sock line; sleep 0.2; done) & " FREEZE,
	  .args = "@ -F +on", .id = "^hang", .subject = "rsyslog", .cause = "frozen",
	  .besides = "^(cpu|dwait)" },
	{ .name = "ls on a silent FUSE", .program = "FUSE",
	  .start = "mkdir mnt; exec unshare -m sh -c '$L/load_program fuse $D/mnt & sleep 1; "
		   "ls mnt & wait'",
	  .planted = "sleep 2", .args = "@",
	  .id = "^(file-server|hang)", .subject = "ls", .cause = "mnt" },
	{ .name = "tail on a silent FUSE", .program = "FUSE",
	  .start = "mkdir mnt; exec unshare -m sh -c '$L/load_program fuse $D/mnt & sleep 1; "
		   "tail -f mnt/file & wait'",
	  .planted = "sleep 2", .args = "",
	  .id = "^(file-server|hang)", .subject = "tail", .cause = "file server|mnt" },
};
/* clang-format on */

int main(void)
{
	return fault_main(faults, ARRAY_SIZE(faults));
}
