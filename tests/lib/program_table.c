// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs as they run on machines, which have nothing to do. */
#include "base/util.h"
#include "tests/lib/program.h"

/* What Debian has not in everybody's path. */
#define SBIN "PATH=$PATH:/usr/sbin:/sbin "
#define POSTGRES "PATH=$(echo /usr/lib/postgresql/*/bin | sed 's/.* //'):$PATH "

/* A program that says that it is ready. */
#define SAID "grep -q ready log"

/* clang-format off */
const struct program program_table[] = {
	{ "nginx", "nginx", SBIN "exec nginx -p $D -c $S/nginx.conf -g 'daemon off;'",
	  "test -S http.sock", NULL, BOX_NONE },
	{ "redis", "redis-server",
	  "exec redis-server --port 0 --unixsocket $D/redis.sock --save '' --dir $D",
	  "redis-cli -s redis.sock ping", NULL, BOX_NONE },
	{ "redis client", "redis-server redis-cli",
	  "redis-server --port 0 --unixsocket $D/redis.sock --save '' --dir $D & "
	  "until test -S redis.sock; do sleep 0.1; done; redis-cli -s redis.sock subscribe news",
	  "grep -q subscribe log", "^(net|child|kept): ", BOX_NONE },
	{ "memcached", "memcached", "exec $U memcached -s $D/memcached.sock -t 4",
	  "test -S memcached.sock", NULL, BOX_NONE },
	{ "PostgreSQL", "pg_ctl|pg_ctlcluster setpriv",
	  POSTGRES "$U initdb -D data -A trust -N && " POSTGRES
	  "exec $U postgres -D data -k $D -c listen_addresses=",
	  POSTGRES "pg_isready -h $D", NULL, BOX_NONE },
	{ "PostgreSQL session", "pg_ctl|pg_ctlcluster setpriv",
	  POSTGRES "$U initdb -D data -A trust -N && " POSTGRES
	  "$U postgres -D data -k $D -c listen_addresses= & "
	  POSTGRES "; until pg_isready -h $D; do sleep 0.2; done; "
	  "{ echo 'begin; select 1 as ready;'; exec sleep 100000; } | $U psql -h $D postgres",
	  SAID, "^(net|pipe|child): ", BOX_NONE },
	{ "node", "node", "exec node $S/server.js $D/node.sock", SAID, NULL, BOX_NONE },
	{ "java", "java javac|ecj",
	  "if command -v javac; then javac -d . $S/Pool.java; else ecj -17 -d . $S/Pool.java; fi && "
	  "exec java -cp . Pool", SAID, NULL, BOX_NONE },
	{ "Go", "prometheus",
	  ": >empty.yml; exec prometheus --config.file=empty.yml --storage.tsdb.path=data "
	  "--web.listen-address=$A:9090", "grep -q 'ready to receive' log", NULL, BOX_NONE },
	{ "python queue", "python3", "exec python3 $S/pool_queue.py wait", SAID, NULL, BOX_NONE },
	{ "python executor", "python3", "exec python3 $S/pool_executor.py", SAID, NULL, BOX_NONE },
	{ "python processes", "python3", "exec python3 $S/pool_processes.py", SAID, "^pipe: ", BOX_NONE },
	{ "asyncio", "python3", "exec python3 $S/asyncio_server.py $D/asyncio.sock", SAID, NULL, BOX_NONE },
	{ "sshd", "sshd ssh-keygen unshare",
	  "ssh-keygen -q -N '' -f $D/key && exec unshare -m sh -c 'mount -t tmpfs none /run && "
	  "mkdir /run/sshd && exec /usr/sbin/sshd -D -e -f /dev/null -h $D/key -p 2222 "
	  "-o ListenAddress=$A -o PidFile=none'", "grep -q 'Server listening' log", NULL, BOX_NONE },
	{ "dbus", "dbus-daemon",
	  "exec dbus-daemon --session --nofork --nopidfile --address=unix:path=$D/bus",
	  "test -S bus", NULL, BOX_NONE },
	{ "io_uring", NULL, "exec $L/load_program uring", SAID, NULL, BOX_NONE },
	{ "libaio", NULL, "exec $L/load_program aio", SAID, NULL, BOX_NONE },
	{ "fio", "fio",
	  "echo ready; exec fio --name=late --ioengine=io_uring --filename=$D/file --size=4m "
	  "--startdelay=100000", SAID, NULL, BOX_NONE },
	{ "FUSE", "unshare",
	  "mkdir mnt; exec unshare -m $L/load_program fuse $D/mnt", SAID, NULL, BOX_NONE },
	{ "gdb", "gdb",
	  "sleep 100000 & sleep 100000 | exec gdb -q -p $! ",
	  "test $(cat /proc/[0-9]*/status 2>/dev/null | grep -c 'TracerPid:.[1-9]') -gt 0",
	  "stopped|traced|debug|^(pipe|child): ", BOX_NONE },
	{ "systemd", NULL, "exec $L/load_program daemon", SAID, NULL, BOX_NONE },
	{ "cron", "cron unshare",
	  "echo ready; exec unshare -m sh -c 'mount -t tmpfs none /run && "
	  "mount -t tmpfs none /var/spool/cron && mount -t tmpfs none /etc/cron.d && "
	  "mkdir /var/spool/cron/crontabs && "
	  "mount --bind /dev/null /etc/crontab && exec /usr/sbin/cron -f'", SAID, NULL, BOX_NONE },
	{ "rsyslog", "rsyslogd",
	  "printf 'module(load=\"imuxsock\" SysSock.Use=\"off\")\\n"
	  "input(type=\"imuxsock\" Socket=\"%s/log.sock\")\\n*.* %s/messages\\n' $D ${B:-$D} "
	  ">rsyslog.conf; " SBIN "exec rsyslogd -n -f $D/rsyslog.conf -i $D/pid",
	  "test -S log.sock", NULL, BOX_NONE },
	{ "pipeline", NULL, "sleep 100000 | cat | wc -l & echo ready; wait", SAID,
	  "^(pipe|child): ", BOX_NONE },
	{ "tail", NULL, ": >messages; echo ready; exec tail -f messages", SAID, NULL, BOX_NONE },
	{ "sleep loop", NULL, "echo ready; while :; do sleep 1; done", SAID, "^child: ", BOX_NONE },
	{ "spawn", NULL, "exec $L/load_program spawn", SAID, "^child: ", BOX_NONE },
	{ "flock", "flock", "echo ready; exec flock lock sleep 100000", SAID, "^child: ", BOX_NONE },
	{ "pool", NULL, "exec $L/load_program pool 20", SAID, NULL, BOX_NONE },
	{ "semaphores", NULL, "exec $L/load_program semaphores 20", SAID, NULL, BOX_NONE },
	{ "make", "make", "printf 'all: a b\\na b:\\n\\tsleep 100000\\n' >Makefile; echo ready; "
	  "exec make -j2", SAID, "^(child|pipe): ", BOX_NONE },
	{ "terminal", "script", "echo ready; sleep 100000 | exec script -qc 'sh -i' /dev/null", SAID,
	  "^child: ", BOX_NONE },
	{ "netcat", "nc", "echo ready; exec nc -l $A 2223", SAID, "^net: ", BOX_NONE },
	{ "frozen v1", NULL,
	  "echo $$ >$B/cgroup.procs; echo ready; while :; do sleep 1; done",
	  SAID " && echo FROZEN >$B/freezer.state", "frozen|paused", BOX_FREEZER },
	{ "frozen v2", NULL, "echo ready; while :; do sleep 1; done",
	  SAID " && echo 1 >$G/cgroup.freeze", "frozen|paused", BOX_NONE },
};
/* clang-format on */

const size_t program_table_n = ARRAY_SIZE(program_table);
