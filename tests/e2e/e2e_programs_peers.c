// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that others keep waiting, by a lock, a pipe, a socket, or stopped: it is said who. */
#include "tests/lib/program.h"

#include "base/util.h"

#define SAID "grep -q ready log"
#define POSTGRES "PATH=$(echo /usr/lib/postgresql/*/bin | sed 's/.* //'):$PATH "

/* clang-format off */
static struct fault faults[] = {
	/* locks */
	{ .name = "flock", .program = "flock", .needs = "flock",
	  .start = "flock lock sh -c 'echo ready; exec sleep 100000' & "
		   "until " SAID "; do sleep 0.1; done; exec flock lock true",
	  .planted = "sleep 1", .args = "@",
	  .id = "^(lock|kept)", .subject = "flock", .cause = "held by [0-9]+ (flock|sleep)", .besides = "^(cpu|child)" },
	{ .name = "fcntl lock", .program = "flock", .needs = "python3",
	  .start = "python3 $S/lock.py file & until " SAID "; do sleep 0.1; done; "
		   "exec python3 $S/lock.py file",
	  .planted = "sleep 2", .args = "@",
	  .id = "^(lock|kept)", .subject = "python3?", .cause = "held by [0-9]+ python" },
	{ .name = "a descriptor's lock", .program = "flock", .needs = "flock",
	  .start = "(exec 9>lock; flock 9; echo ready; exec sleep 100000) & "
		   "until " SAID "; do sleep 0.1; done; exec flock lock true",
	  .planted = "sleep 1", .args = "@",
	  .id = "^(lock|kept)", .subject = "flock", .cause = "held by [0-9]+ sleep", .besides = "^(cpu|child)" },
	{ .name = "one mutex", .program = "pool", .start = "exec $L/load_program mutex 20",
	  .args = "@", .id = "^(lock|kept)", .subject = "load_program", .cause = "held by [0-9]+ lock-holder" },
	{ .name = "one mutex, of all tasks", .program = "pool", .start = "exec $L/load_program mutex 20",
	  .args = "", .id = "^kept", .subject = "load_program", .cause = "held by [0-9]+ lock-holder" },
	{ .name = "PostgreSQL's row lock", .program = "PostgreSQL", .needs = "psql",
	  .plant = POSTGRES "; export PGUSER=nobody; psql -h $D postgres -c 'create table t as select 1 as a'; "
		   "{ echo 'begin; update t set a = 2;'; exec sleep 100000; } | psql -h $D postgres & "
		   "sleep 2; echo waiting; exec psql -h $D postgres -c 'update t set a = 3'",
	  .planted = "grep -q waiting log && sleep 1", .args = "@ --trace",
	  .id = "^(net|lock|answer)", .subject = "psql|postgres", .cause = "postgres|/\\.s\\.PGSQL",
	  .besides = "^(cpu|child|pipe|net)" },
	/* peers that are stopped */
	{ .name = "redis is stopped", .program = "redis", .needs = "redis-cli",
	  .plant = "kill -STOP $(cat pid); redis-cli -s redis.sock get a",
	  .start = "redis-server --port 0 --unixsocket $D/redis.sock --save '' --dir $D --pidfile $D/pid "
		   "--daemonize yes; sleep 100000",
	  .ready = "redis-cli -s redis.sock ping && test -s pid",
	  .planted = "sleep 1", .args = "@ --trace",
	  .id = "^(net|poll|stop)", .subject = "redis-cli|redis-server", .cause = "redis-server",
	  .besides = "^(cpu|child)" },
	{ .name = "a stopped one is asked about", .program = "sleep loop",
	  .plant = "kill -STOP $(head -n 1 $G/cgroup.procs); sleep 100000",
	  .planted = "sleep 1", .args = "@", .id = ".", .subject = "sh", .cause = "stopped",
	  .besides = "^(cpu|child)" },
	{ .name = "asyncio is stopped", .program = "asyncio",
	  .start = "python3 $S/asyncio_server.py $D/asyncio.sock & echo $! >pid; wait",
	  .plant = "kill -STOP $(cat pid); exec python3 $S/ask.py asyncio.sock 'a\\n'",
	  .planted = "sleep 2", .args = "@ --trace",
	  .id = "^(net|stop)", .subject = "python", .cause = "python.*(python|stopped)|stopped",
	  .besides = "^(cpu|child)" },
	{ .name = "sshd is stopped", .program = "sshd", .needs = "nc",
	  .plant = "kill -STOP $(head -n 1 $G/cgroup.procs); exec sleep 100000 | nc $A 2222",
	  .planted = "sleep 2", .args = "@",
	  .id = ".", .subject = "sshd|nc", .cause = "sshd", .besides = "^(cpu|child|pipe)" },
	{ .name = "dbus is stopped", .program = "dbus", .needs = "dbus-send",
	  .plant = "kill -STOP $(head -n 1 $G/cgroup.procs); exec dbus-send --bus=unix:path=$D/bus "
		   "--print-reply --reply-timeout=100000 --dest=org.freedesktop.DBus / "
		   "org.freedesktop.DBus.GetId",
	  .planted = "sleep 2", .args = "@",
	  .id = ".", .subject = "dbus", .cause = "dbus-daemon", .besides = "^(cpu|child)" },
	{ .name = "a process of a pool is stopped", .program = "python processes",
	  .plant = "for p in $(cat $G/cgroup.procs); do grep -q python /proc/$p/comm && last=$p; "
		   "done; kill -STOP $last; sleep 100000", .planted = "sleep 1",
	  .args = "@", .id = ".", .subject = "python", .cause = "stopped", .besides = "^(cpu|pipe)" },
	/* paused, traced */
	{ .name = "paused by the freezer of v1", .program = "frozen v1", .box = BOX_FREEZER,
	  .args = "@", .id = ".", .subject = "sh|sleep", .cause = "frozen|paused",
	  .besides = "^(cpu|child)" },
	{ .name = "paused by the freezer of v2", .program = "frozen v2",
	  .args = "@", .id = ".", .subject = "sh|sleep", .cause = "frozen|paused",
	  .besides = "^(cpu|child)" },
	{ .name = "held by gdb", .program = "gdb",
	  .args = "@", .id = ".", .subject = "sleep", .cause = "gdb", .besides = "^(cpu|child|pipe)" },
	/* pipes and children */
	{ .name = "a slow reader", .program = "pipeline",
	  .start = "yes | $L/load_program read 100 & echo ready; wait", .args = "@ --trace",
	  .id = "^pipe", .subject = "yes", .cause = "slow-reader", .besides = "^(cpu|child)" },
	{ .name = "a slow child of vfork", .program = "spawn", .start = "exec $L/load_hang hold",
	  .args = "@ -F +on -d 1", .id = "^hang", .subject = "load_hang", .cause = "vfork" },
	{ .name = "make's child", .program = "make", .args = "@ --trace",
	  .id = "^child", .subject = "make|sh", .cause = "child|sleep", .besides = "^(cpu|child|pipe)" },
};
/* clang-format on */

int main(void)
{
	return fault_main(faults, ARRAY_SIZE(faults));
}
