# What tasks do with all their time, and what they wait on: traced, and as read right now.
# Features: waits_on trace_states trace_sum trace_own trace_sites trace_wakers trace_finding trace_stacks replay
. /guest/lib.sh

dd if=/dev/zero of=/tmp/disk bs=1M count=16 2>/dev/null
mke2fs -F /tmp/disk >/dev/null
mkdir -p /tmp/fs /tmp/fuse
mount -o loop /tmp/disk /tmp/fs

rm -f $out/trace.db
monitor trace -d 1 --trace -m '^(load_|wait_)' -w $out/trace.db
await 120 has_samples trace 1

load fuse load_wait fuse /tmp/fuse
for mode in pipe talk polled epolled child net unix futex poll; do
	# The servers compute: one CPU is for all others.
	case $mode in net | unix) load $mode taskset 1 load_wait $mode ;; *) load $mode load_wait $mode ;; esac
	eval "$mode=$pid"
done
load frozen load_wait write /tmp/fs
frozen=$pid
fsfreeze --freeze /tmp/fs
load stopped load_sleepers 1
stopped=$pid
kill -STOP $stopped
load reader taskset 2 load_own -l $work/reader.log read /dev/scratch
reader=$pid
load hang load_own -l $work/hang.log hang 40
hang=$pid
load spin_a taskset 1 load_own -l $work/spin_a.log spin
spin_a=$pid
past 1 trace
from=$(($(count trace) + 1))
monitor now -n 1 -d 0.2 --source taskstats -F pid,syscall,on,where -m '^(load_|wait_)'
past 2 trace
to=$(count trace)
wait $monitor_now
finish trace
fsfreeze --unfreeze /tmp/fs
clean_up
umount /tmp/fs
# A quick disk, or a CPU that others want, too, leaves little to find: its reader is alone for that.
load alone taskset 2 load_own -l $work/alone.log read /dev/scratch
alone=$pid
monitor disk -n 3 -d 1 --trace -m '^load_own'
wait $monitor_disk
clean_up
load stack load_stack 1000000
stack=$pid
monitor stacks -n 4 -d 1 --stacks load_stack -p $stack
wait $monitor_stacks
clean_up
flatten stacks 4
keep trace.json reader.log hang.log spin_a.log
flatten now
say "seen all at $(cut -d. -f1 /proc/uptime) s"
flatten trace $from $to
flatten disk 3
figures trace $from $to
owns reader hang spin_a
keep trace.window

# note_of: what is said where waits are not traced.
note_of() {
	awk -F'\t' '$2 ~ /^notes.*id$/ { id = $3 } $2 ~ /^notes.*text$/ && id ~ /^trace-/ { print $3; exit }' $work/trace.flat
}

missing=$(note_of)

# waits LOAD PID STATE SYSCALL ON WHERE: what it waits on right now. A state other than the one it
# has where calls are known goes into $others.
waits() {
	local at="tasks.$2.waiting"
	seen="$(value now 1 $at.state) $(value now 1 $at.syscall) $(value now 1 $at.on) $(value now 1 $at.where)"
	like "$1" "$seen" "^$3 ($4) ($5) ($6)\$"
}
begin waits_on
text=$(notes now)
[ -z "$text" ] || lacks "$text"
waits pipe $pipe pipe read "pipe of $(said pipe 2) wait_writer" '(anon_)?pipe_read'
waits 'who writes nothing' "$(said pipe 2)" '(other|poll)' 'pause|ppoll' null '__[a-z0-9]+_sys_pause|do_sys_poll|null'
waits child $child child wait4 "child $(said child 1) wait_child" do_wait
waits poll $poll poll 'poll|ppoll' '2 files' do_sys_poll
waits fuse "$(said fuse 1)" other read "/tmp/fuse/silent-file .fuse.silent silent.*" request_wait_answer
waits frozen $frozen dwait pwrite64 /tmp/fs/written percpu_rwsem_wait
waits stopped $stopped stop '[a-z]+' null do_signal_stop
# One of those that want it has it, and may run.
waits lock $futex '(lock|timer|)' 'futex|clock_nanosleep|' 'futex 0x[0-9a-f]+.*|null|' 'futex_wait|hrtimer_nanosleep|'
end

# spends LOAD PID STATE: of the time in which it neither runs nor wants to, nine tenths are of that state.
spends() {
	local sleeps state
	tenths "$(share trace $2 alive_ns)"
	sleeps=${tenths:-0}
	for state in run cpu; do
		tenths "$(share trace $2 states.${state}_ns)"
		sleeps=$((sleeps - ${tenths:-0}))
	done
	tenths "$(share trace $2 states.$3_ns)"
	if [ $sleeps -gt 20 ] && [ $((${tenths:-0} * 10)) -ge $((sleeps * 9)) ]; then
		say "$1: $3 $tenths of $sleeps"
		return
	fi
	tenths "$(share trace $2 states.other_ns)"
	if [ $((${tenths:-0} * 10)) -ge $((sleeps * 9)) ]; then
		others="$others $3"
	else
		fault "$1: wanted $3: $(grep "^f_trace_$2_states" $work/trace.figures | grep -v '=0.0$' | tr '\n' ' ')"
	fi
}
begin trace_states
if [ -n "$missing" ]; then
	absent "$missing"
else
	others=
	spends 'reader of a quiet pipe' $pipe pipe
	spends 'reader of a pipe' $talk pipe
	spends 'writer to a pipe' "$(said talk 2)" timer
	spends 'who polls a pipe' $polled poll
	spends 'who polls by epoll' $epolled poll
	spends 'who polls two' $poll poll
	spends 'who awaits a child' $child child
	spends 'client over TCP' $net net
	spends 'client over a Unix socket' $unix net
	spends 'who waits for a frozen file system' $frozen dwait
	spends 'who is stopped' $stopped stop
	spends 'who reads a disk' $reader io
	near 'who wants a lock, of 8 threads, lock' "$(share trace $futex states.lock_ns)" 650 150
	if [ -n "$others" ]; then
		text=$(notes trace)
		say "shown as other:$others"
		if [ -n "$text" ]; then lacks "$text"; else fault "shown as other without a word:$others"; fi
	fi
fi
end

# All states of a row add up to the time for which it was alive, to the ns.
begin trace_sum
if [ -n "$missing" ]; then
	absent "$missing"
else
	set -- $(awk -F'\t' '
		$2 ~ /alive_ns$/ { if (n++) tell(); alive = $3; sum = 0; left = 13 }
		$2 ~ /^tasks.*states\..*_ns$/ { sum += $3; left-- }
		function tell(    off) {
			off = sum > alive ? sum - alive : alive - sum
			if (off > worst) worst = off
			if (left) wrong++
		}
		END { tell(); print n, worst + 0, wrong + 0 }' $work/trace.flat)
	check "there are rows" [ "${1:-0}" -gt 60 ]
	same "rows with a state missing" "$3" 0
	near "furthest from the time alive, ns, of $1 rows" "$2" 0 1000000
	near "lost waits" "$(texts trace '^trace.lost$' | tail -n 1)" 0 0
fi
end

begin trace_own
if [ -n "$missing" ]; then
	absent "$missing"
else
	# Of the time that was traced, which is not that of the samples to the ms.
	tenths "$(share trace $pipe alive_ns)"
	scale=$tenths
	for what in "reader io" "hang dwait" "spin_a cpu"; do
		set -- $what
		eval "id=\$$1"
		tenths "$(share trace $id states.$2_ns)"
		near "$1, $2, as it says" $((tenths * 1000 / scale / 10)).$((tenths * 1000 / scale % 10)) "$(own trace $1)" 20 # vfork() computes, too
	done
fi
end

# One line a site of the last sample: pid state call|on|where|the first one who ended waits|count.
awk -F'\t' -v to="$to" '
	function tell() { if (site) print pid, state, call "|" on "|" where "|" waker "|" count; waker = "" }
	$1 != to || $2 !~ /^sites\./ { next }
	{ split($2, part, "."); name = part[3] }
	part[2] "x" != last && last != "" { tell() }
	{ last = part[2] "x"; site = 1 }
	name == "pid" { pid = $3 }
	name == "state" { state = $3 }
	name == "syscall" { call = $3 }
	name == "on" { on = $3 }
	name == "where" { where = $3 }
	name == "count" { count = $3 }
	name == "wakers" && part[4] == 0 { if (part[5] == "pid") waker = $3; if (part[5] == "name") waker = waker " " $3 }
	END { tell() }' $work/trace.flat >$work/sites

# site LOAD PID STATE CALL ON WHERE WAKER: one of the process's sites.
site() {
	local seen
	seen=$(grep "^$2 $3 " $work/sites | cut -d' ' -f2- | head -n 1)
	like "$1" "$(echo "$seen" | cut -d'|' -f1-3)" "^$3 ($4)\|($5)\|($6)\$"
}
waker() {
	like "$1" "$(grep "^$2 $3 " $work/sites | head -n 1 | cut -d'|' -f4)" "^($4)\$"
}
begin trace_sites
if [ -n "$missing" ]; then
	absent "$missing"
else
	site 'quiet pipe' $pipe pipe read "pipe of $(said pipe 2) wait_writer" '(anon_)?pipe_read'
	site pipe $talk pipe read "pipe of $(said talk 2) wait_writer" '(anon_)?pipe_read'
	site polled $polled poll 'p?poll' "pipe of $(said polled 2) wait_writer" do_sys_poll
	site epolled $epolled poll 'epoll_p?wait' "eventpoll: pipe of $(said epolled 2) wait_writer" '(do_)?epoll_wait'
	site child $child child wait4 "child $(said child 1) wait_child" do_wait
	site tcp $net net recvfrom "tcp 127.0.0.1:$(said net 3) of $(said net 2) wait_server" 'tcp_recvmsg.*'
	site unix $unix net recvfrom "unix of $(said unix 2) wait_server" unix_stream_read_generic
	site lock $futex lock futex 'futex 0x[0-9a-f]+.*' 'futex_wait.*'
	site fuse "$(said fuse 1)" other read "/tmp/fuse/silent-file .fuse.silent silent.*" request_wait_answer
	site frozen $frozen dwait pwrite64 /tmp/fs/written percpu_rwsem_wait
	site disk $reader io pread64 '/dev/vd[a-z]' '[a-z_]*(direct_IO|dio)[a-z_]*'
	site vfork $hang dwait 'vfork|clone' '(child [0-9]+( .*)?|null)' kernel_clone
	site timer "$(said talk 2)" timer '(clock_)?nanosleep(_time64)?' null '(do_|hrtimer_)nanosleep'
	same "sites in the scheduler" "$(grep '|_*schedule|' $work/sites | cut -d" " -f2- | tr "\n" ";")" ""
fi
end

begin trace_wakers
if [ -n "$missing" ]; then
	absent "$missing"
else
	waker pipe $talk pipe "$(said talk 2) wait_writer"
	waker polled $polled poll "$(said polled 2) wait_writer"
	waker epolled $epolled poll "$(said epolled 2) wait_writer"
	waker tcp $net net "$(said net 2) wait_server"
	waker unix $unix net "$(said unix 2) wait_server"
	waker lock $futex lock "$futex load_wait"
	waker timer "$(said talk 2)" timer 'null (.*[-_])?timer'
	waker disk $reader io 'null [^|]+|[0-9]+ .*'
fi
end

# said_of NAME SAMPLE ID: the words of a finding.
said_of() {
	awk -F'\t' -v to="$2" -v id="$3" '$1 == to && $2 ~ /^findings.*id$/ { found = $3 == id }
		$1 == to && found && $2 ~ /^findings.*text$/ { print $3 }' $work/$1.flat
}
begin trace_finding
if [ -n "$missing" ]; then
	absent "$missing"
else
	like "frozen" "$(said_of trace $to hang)" "^1 task hung: load_wait $frozen, (>= )?[0-9.]+ s in pwrite64 on /tmp/fs/written \(frozen\)"
	like "file server" "$(said_of trace $to file-server)" "^file server not responding: wait_reader $(said fuse 1) waits [0-9.]+ s in read on /tmp/fuse/silent-file"
	like "disk" "$(said_of disk 3 io)" "^io: load_own $alone waits [0-9]+ % of the time, ([0-9]+ % )?in pread64 on /dev/vd"
fi
end

# stack_with FUNCTION: the functions of a stack that has it, the innermost first.
stack_with() {
	awk -F'\t' -v function_="$1" '
		$2 !~ /^sites.*user_stacks.*stack\./ { next }
		{ stack = $2; sub(/\.[0-9]+$/, "", stack); sub(/ .*/, "", $3); all[stack] = all[stack] " " $3 }
		$3 == function_ { found = stack }
		END { print all[found] }' $work/stacks.flat
}
begin trace_stacks
untaken=$(notes stacks | grep 'user stacks are not taken')
if [ -n "$missing" ]; then
	absent "$missing"
elif [ -n "$untaken" ]; then
	absent "$untaken"
else
	for function in wait_in_sleep wait_in_poll wait_in_condition wait_in_read; do
		like $function "$(stack_with $function)" " $function call_(odd|even) main .*_start\$"
	done
fi
end

# What was recorded is what was shown, to the byte.
begin replay
same "ends with" $status_trace 0
stalltop -b -R $out/trace.db -m '^(load_|wait_)' -o json >$work/replayed.json 2>$work/replayed.err
same "a replay ends with" $? 0
check "a replay in JSON is what was shown: $(cat $work/replayed.err)" cmp $work/trace.json $work/replayed.json
for format in text csv; do
	stalltop -b -R $out/trace.db -o $format >$work/replayed.$format 2>&1
	same "a replay as $format ends with" $? 0
	check "$format has the loads" [ "$(grep -c load_wait $work/replayed.$format)" -gt 20 ]
done
end
