# Control groups of version 2 with their controllers: limits of each kind, and what is said of them.
# Features: cgroup_cpu cgroup_memory cgroup_high cgroup_io cgroup_pressure cgroup_freeze cgroup_task cgroup_only metrics
. /guest/lib.sh

top=/sys/fs/cgroup
echo '+cpu +memory +io' >$top/cgroup.subtree_control
for name in quota full high slow cold; do mkdir $top/$name; done
dd if=/dev/zero of=/tmp/disk bs=1M count=16 2>/dev/null
mke2fs -F -b 4096 /tmp/disk >/dev/null
mkdir -p /tmp/fs
mount -o loop /tmp/disk /tmp/fs
dd if=/dev/zero of=/tmp/swap bs=1M count=96 2>/dev/null
mkswap /tmp/swap >/dev/null
losetup /dev/loop7 /tmp/swap
swapon /dev/loop7 || say "no swap"
echo '20000 100000' >$top/quota/cpu.max
echo 16777216 >$top/full/memory.max
echo 16777216 >$top/high/memory.high
echo "$(cat /sys/class/block/"$(readlink /dev/scratch)"/dev) riops=20" >$top/slow/io.max

monitor groups -d 1 -g cgroup -F group,members,throttled,psi-cpu,psi-mem,psi-io,mem-high,mem-max,mem-oom,worst
monitor traced -d 1 --trace -m load_
stalltop --listen 127.0.0.1:9779 -d 1 >$work/listen.said 2>&1 &
monitors="$monitors $!"
listener=$!
await 120 has_samples groups 1
await 120 has_samples traced 1
load quota in_group quota taskset 2 load_own -l $work/quota.log spin
quota=$pid
start full in_group full taskset 1 load_kind swapin
start high in_group high taskset 1 load_kind -d /tmp/fs reclaim
load slow in_group slow load_own -l $work/slow.log read /dev/scratch
slow=$pid
load cold in_group cold load_own spin
cold=$pid
echo 1 >$top/cold/cgroup.freeze
await 10 grep -q 'frozen 1' $top/cold/cgroup.events || say "not frozen: $(cat $top/cold/cgroup.events)"
await 30 grep -q 'max [1-9]' $top/full/memory.events || say "never at its limit"
# read_files N: what the kernel says now. The first and the last are outside the samples that are
# judged, the second and the third within.
read_files() {
	cp $top/quota/cpu.stat $work/stat.$1
	cp $top/full/memory.events $work/full.$1
	cp $top/high/memory.events $work/high.$1
}
# read_metrics WHEN: what the listener says now.
read_metrics() {
	wget -q --header 'Accept: application/openmetrics-text; version=1.0.0' -O $work/metrics.$1 http://127.0.0.1:9779/metrics
	cat /proc/uptime >$work/uptime.$1
}
# read_pressure WHEN: likewise.
read_pressure() {
	for group in quota slow full; do
		for what in cpu io memory; do
			sed -n "s/^some avg10=\([0-9.]*\).*/$group $what \1/p" $top/$group/$what.pressure
		done
	done >$work/pressure.$1
}
read_files 1
past 1 groups traced
from=$(($(count groups) + 1)) from_traced=$(($(count traced) + 1))
read_files 2
read_metrics before
past 1 groups
read_pressure before
past 1 groups
read_pressure after
read_metrics after
read_files 3
past 1 groups traced
to=$(count groups) to_traced=$(count traced)
read_files 4
monitor only -n 1 -d 0.5 --cgroup /quota
wait $monitor_only
echo $? >$work/only.status
finish groups traced
kill -TERM $listener
wait $listener
status_listen=$?
echo 0 >$top/cold/cgroup.freeze
clean_up
swapoff /dev/loop7
losetup -d /dev/loop7
umount /tmp/fs || say "$(ps | grep load)"
for name in quota full high slow cold; do rmdir $top/$name; done
keep groups.json
keep traced.json
keep metrics.after
flatten only
flatten groups $from $to
flatten traced $from_traced $to_traced
say "seen all at $(cut -d. -f1 /proc/uptime) s"
figures groups $from $to
figures traced $from_traced $to_traced
owns quota slow

# field GROUP NAME SUM: a column of a group: the mean of its samples, or SUM of them.
field() {
	awk -F'\t' -v p="tasks.$1.fields.$2" -v from=$from -v to=$to -v sum="$3" '
		$1 >= from && $1 <= to && $2 == p { if ($3 == "null") unknown = 1; total += $3; n++ }
		END { if (n && !unknown) printf "%.1f\n", sum ? total : total / n; else print "-" }' $work/groups.flat
}
# found NAME ID PATTERN: whether a finding of it says so, in any of the samples.
found() {
	like "a finding" "$(awk -F'\t' -v id="$2" '$2 ~ /^findings.*id$/ { ours = $3 ~ "^(" id ")$" }
		ours && $2 ~ /^findings.*text$/ { print $3 }' $work/$1.flat | grep -E "$3" | head -n 1)" "$3"
}
# word FILE NAME: what follows on it.
word() {
	awk -v name="$2" '$1 == name { print $2 }' $work/$1
}
# grown NAME: of the two readings of metrics, in units a second of the time between.
grown() {
	cat $work/uptime.before $work/uptime.after | awk -v a="$(word metrics.before "$1")" -v b="$(word metrics.after "$1")" '
		{ at[NR] = $1 } END { printf "%.1f\n", (b - a) / (at[2] - at[1]) }'
}
# counted GROUP FIELD FILE NAME [UNITS]: the samples have together what the file's count grew by
# between readings outside and readings within. UNITS is what 1 % of a second is of a share.
counted() {
	set -- "$1" $2 "${5:-}" $(word $3.1 "$4") $(word $3.2 "$4") $(word $3.3 "$4") $(word $3.4 "$4")
	set -- $2 $(awk -F'\t' -v f="tasks.$1.fields.$2" -v i="tasks.$1.interval" -v from=$from -v to=$to -v units="$3" '
		$1 < from || $1 > to { next }
		$2 == i { seconds[$1] = $3 }
		$2 == f { value[$1] = $3; if ($3 == "null") unknown = 1 }
		END {
			for (n in value) {
				sum += units ? value[n] * seconds[n] * units : value[n]
				off += units ? 0.05 * seconds[n] * units : 0
			}
			print unknown ? "-" : sum, off + 0
		}' $work/groups.flat) $(($7 - $4)) $(($6 - $5))
	say "$feature: $1: $2, within $3; by the kernel at most $4, at least $5"
	check "$1: $2 is what the kernel counted" awk -v sum="$2" -v off="$3" -v most="$4" -v least="$5" '
		BEGIN { exit sum == "-" || sum > most + off || sum < least - off }'
}

begin cgroup_cpu
same "ends with" $status_groups 0
counted /quota throttled stat throttled_usec 10000
near "waits for a CPU, as its task says" "$(share groups /quota waited.cpu)" "$(own groups quota)" 5
near "runs, by its quota" "$(share groups /quota run_ns)" 20 4
found groups 'throttled(-idle)?' '^cpu: /quota throttled [0-9]+ % of the time by a quota'
same "groups without a quota are not" "$(field /slow throttled)" 0.0
end

begin cgroup_memory
check "memory.max was hit" [ "$(field /full mem-max sum | cut -d. -f1)" -gt 0 ]
counted /full mem-max full max
same "killed" "$(field /full mem-oom sum)" 0.0
found groups memory-limit '^memory: /full waits [0-9]+ % of the time for memory, at its limit [0-9]+ times?'
end

begin cgroup_high
check "memory.high was hit" [ "$(field /high mem-high sum | cut -d. -f1)" -gt 0 ]
counted /high mem-high high high
same "of others" "$(field /slow mem-high sum)" 0.0
say "waits for pages: swapin $(share groups /high waited.swapin), reclaim $(share groups /high waited.reclaim), psi $(field /high psi-mem)"
end

begin cgroup_io
near "waits for its disk, as its task says" "$(share groups /slow waited.blkio)" "$(own groups slow)" 5
check "for most of the time" [ "$(share groups /slow waited.blkio | cut -d. -f1)" -gt 50 ]
found groups io "^io: load_own $slow waits [0-9]+ % of the time"
end

# avg10 moves every 2 s, so both are as of some time around the sample.
begin cgroup_pressure
for what in "quota cpu" "slow io" "full memory"; do
	set -- $what
	name=$2
	[ $name = memory ] && name=mem
	set -- $1 $2 $(cat $work/pressure.before $work/pressure.after | awk -v of="$what" '$1 " " $2 == of { print $3 }' | sort -n)
	near "$2 of /$1" "$(value groups $to tasks./$1.fields.psi-$name)" "$(echo "$3 $4" | awk '{ print ($1 + $2) / 2 }')" "$(echo "$3 $4" | awk '{ print ($2 - $1) / 2 + 20 }')"
	check "there is some" [ "${4%.*}" -gt 0 ]
done
same "io of who reads nothing" "$(field /quota psi-io)" 0.0
end

# Who is frozen neither waits nor hangs.
begin cgroup_freeze
same "members" "$(value groups $to tasks./cold.members)" 1
same "waits for a CPU" "$(share groups /cold waited.cpu)" 0.0
same "in state D" "$(share groups /cold waited.dwait)" 0.0
for name in groups traced; do
	same "findings of it ($name)" "$(awk -F'\t' '$2 ~ /^findings.*(text|group)$/ { print $3 }' $work/$name.flat | grep -cE "cold|load_own $cold ")" 0
	say "hangs of others ($name): $(awk -F'\t' '$2 ~ /^findings.*id$/ { hang = $3 == "hang" } hang && $2 ~ /^findings.*text$/ { print $3 }' $work/$name.flat | sort -u | tr '\n' ';')"
done
say "traced as: $(grep "^f_traced_${cold}_states" $work/traced.figures | grep -v '=0.0$' | tr '\n' ' ')"
end

begin cgroup_task
text=$(awk -F'\t' '$2 ~ /^notes.*id$/ { id = $3 } $2 ~ /^notes.*text$/ && id ~ /^trace-/ { print $3; exit }' $work/traced.flat)
if [ -n "$text" ]; then
	absent "$text"
else
	near "ready to run, of all its life" "$(share traced $quota states.cpu_ns)" "$(own traced quota)" 5
	found traced 'throttled(-idle)?' "^cpu: load_own $quota throttled [0-9]+ % of the time by its cgroup's quota"
fi
end

begin cgroup_only
same "ends with" "$(cat $work/only.status)" 0
same group "$(value only 1 cgroup)" /quota
same "its tasks" "$(awk -F'\t' '$2 ~ /^tasks.*comm$/ { print $3 }' $work/only.flat | tr '\n' ' ')" "load_own "
near "its pressure, of the CPU" "$(value only 1 psi.cpu.some.avg10)" "$(value groups $to tasks./quota.fields.psi-cpu)" 15
end

begin metrics
same "ends with" $status_listen 0
same "lines that are none" "$(grep -vcE '^(# (TYPE|UNIT|HELP) stalltop_[a-z_]+ .+|# EOF|stalltop_[a-z_]+(\{([a-z_]+="([^"\\]|\\.)*",?)+\})? -?[0-9.]+(e[-+]?[0-9]+)?)$' $work/metrics.after)" 0
same "the last line" "$(tail -n 1 $work/metrics.after)" '# EOF'
check "all have a type" awk '/^# TYPE/ { type[$3] = 1; next } /^#/ { next }
	{ sub(/[{ ].*/, ""); sub(/_total$/, ""); if (!type[$0]) { print "no type: " $0; exit 1 } }' $work/metrics.after
for what in "throttled_seconds_total{group=\"/quota\"} throttled" "run_seconds_total{group=\"/quota\"} -" 'delay_seconds_total{kind="blkio",group="/slow"} -'; do
	set -- $what
	rate=$(grown "stalltop_$1" | awk '{ print $1 * 100 }')
	case $1 in
	throttled*) near "$1" "$rate" "$(field /quota throttled)" 20 ;;
	run*) near "$1" "$rate" "$(share groups /quota run_ns)" 12 ;;
	delay*) near "$1" "$rate" "$(share groups /slow waited.blkio)" 25 ;;
	esac
done
end
