# The sources side by side, beside loads that know what they wait. Programs in the kernel are loaded
# before there is any load, which is much faster.
# Features: taskstats bpf procfs unprivileged sources_agree kinds io_own exits_taskstats exits_bpf hang
. /guest/lib.sh

all="taskstats bpf procfs nobody"
set -- -d 1 -m '^load_'
for source in taskstats bpf procfs; do
	monitor $source --source $source --debug-log $work/log.$source "$@"
done
: >$work/nobody.json
su nobody -s /bin/sh -c "exec stalltop -b -o json -d 1 -m ^load_" >$work/nobody.json 2>$work/nobody.err &
monitor_nobody=$!
monitors="$monitors $!"
for name in $all; do
	await 120 has_samples $name 1
done
alive $monitor_bpf || all="taskstats procfs nobody"

load spin_a taskset 1 load_own -l $work/spin_a.log spin
spin_a=$pid
load spin_b taskset 1 load_own -l $work/spin_b.log spin
spin_b=$pid
load reader taskset 2 load_own -l $work/reader.log read /dev/scratch
reader=$pid
load beside taskset 1 load_own -l $work/beside.log read /dev/scratch
beside=$pid
load hang load_own -l $work/hang.log hang 40
hang=$pid
load hold load_hang hold
hold=$pid
load storm load_storm fork 200
storm=$pid

past 1 $all
for name in $all; do
	eval "from_$name=$(($(count $name) + 1))"
done
past 2 $all
for name in $all; do
	eval "to_$name=$(count $name)"
done
kill -USR1 $storm
await 60 grep -q done $work/storm.said
# What sleeps for ever books nothing more: then all sources have the same, to the ns.
kill -STOP $spin_a $spin_b $reader $beside $hang
past 1 $all
cp /proc/uptime $work/uptime
finish $all
clean_up
say "seen all at $(cut -d. -f1 /proc/uptime) s"
for name in $all; do
	keep $name.json
done
for name in $all; do
	eval "flatten $name \$from_$name \$to_$name"
	# The last one by itself.
	last=$(count $name)
	sed -n "${last}p" $work/$name.json | awk -v sample="$last" -f /guest/json.awk >$work/$name.last
done

for name in $all; do
	eval "figures $name \$from_$name \$to_$name"
done
owns spin_a spin_b reader beside hang

# figures_of SOURCE: what all of them know.
figures_of() {
	local to
	begin $1
	eval "to=\$to_$1"
	eval "same 'ends with' \"\$status_$1\" 0"
	say "window $(cat $work/$1.window)"
	notes $1 | while read -r text; do say "note: $text"; done
	for load in spin_a spin_b; do
		eval "id=\$$load"
		near "$load, cpu, as it says" "$(share $1 $id waited.cpu)" "$(own $1 $load)" 4
		tenths "$(share $1 $id run_ns)"
		run=$tenths
		tenths "$(share $1 $id waited.cpu)"
		near "$load, run + cpu" $(((run + tenths) / 10)) 100 5
	done
	near "held, dwait" "$(share $1 $hold waited.dwait)" 100 1
	same "held, state" "$(value $1 $to tasks.$hold.state)" D
	same "spins, state" "$(value $1 $to tasks.$spin_a.state)" R
	# What begins and ends between two samples is not seen, but never more than there was.
	near "hangs now and then, dwait" "$(share $1 $hang waited.dwait)" "$(half "$(own $1 hang)")" "$(half "$(own $1 hang)")"
}

figures_of taskstats
same source "$(texts taskstats '^source$')" taskstats
end

if [ -s $work/bpf.json ]; then
	figures_of bpf
	same source "$(texts bpf '^source$')" bpf
else
	begin bpf
	absent "$(refusal bpf)"
fi
end

figures_of procfs
same source "$(texts procfs '^source$')" procfs
end

figures_of nobody
feature=unprivileged
same source "$(texts nobody '^source$')" procfs
# What the kernel booked too much of depends on what else ran.
lacks "$(notes nobody | grep -v 'more waiting than time passed')"
end

# What was booked to the loads that were stopped, since their starts.
for name in $all; do
	awk -F'\t' -v pids=" $spin_a $spin_b $reader $beside $hang $hold " '
		$2 ~ /^tasks.*cumulative.*(count|ns)$/ && $2 !~ /_ns$/ {
			split($2, part, ".")
			if (index(pids, " " part[2] " ")) print $2, $3
		}' $work/$name.last >$work/$name.totals
done
begin sources_agree
for name in $all; do
	# Where a booking cannot be (stale-stamp) it is left out of the row of the source that sees it,
	# so only what the kernel books right is compared: all but blkio, of those who read.
	out=
	for id in $reader $beside; do
		[ -z "$(notes $name | grep 'more waiting than time passed')" ] || out="$out|tasks.$id.*blkio"
	done
	others="$others$out"
done
for name in $all; do
	grep -vE "^(nothing$others)" $work/$name.totals >$work/$name.compared
done
check "taskstats has totals" [ "$(lines $work/taskstats.compared)" -gt 30 ]
say "left out:${others:- nothing}"
[ ! -s $work/bpf.json ] || check "taskstats and bpf have the same totals, to the ns" diff $work/taskstats.compared $work/bpf.compared
for name in procfs nobody; do
	# It has ticks of 10 ms of blkio.
	check "$name has totals" [ "$(grep -c 'ns [0-9]' $work/$name.compared)" -ge 8 ]
	check "taskstats and $name have the same totals, to the tick" awk '
		FNR == NR { total[$1] = $2; next }
		$1 !~ /ns$/ || $2 == "null" { next }
		{ off = total[$1] - $2; if (off < 0) off = -off }
		off > ($1 ~ /blkio/ ? 1e7 : 0) { print "# " $0 ", taskstats: " total[$1]; bad = 1 }
		END { exit bad }' $work/taskstats.compared $work/$name.compared
done
end

begin kinds
unknown=
for kind in cpu blkio swapin reclaim thrash compact wpcopy irq dwait; do
	case $(share taskstats $reader waited.$kind) in
	- | '') unknown="$unknown $kind" ;;
	esac
done
say "unknown:$unknown"
[ -z "$unknown" ] || lacks "no$unknown"
end

# What a reader of a disk waits, alone on its CPU and beside two that compute.
# Since 6.12 the kernel books what was not waited, beside whoever computes.
within=10 books=right
case $(uname -r) in 6.1[2-9]* | 6.[2-9][0-9]* | [7-9]*) within=25 books=wrongly ;; esac
begin io_own
for name in $all; do
	for load in reader beside; do
		eval "id=\$$load"
		own=$(own $name $load) shown=$(share $name $id waited.blkio)
		text="$name, $load, blkio, as it says (booked $(share $name $id delta.blkio.ns))"
		if [ $load = beside ] && [ $books = wrongly ]; then
			in_bounds "$text" "$shown" "$own" $name
		else
			near "$text" "$shown" "$own" $within
		fi
	done
done
end

# ended NAME: how many tasks of the storm ended, and how many records were lost.
ended() {
	awk '
		BEGIN { RS = "\\{\"pid\":" }
		match($0, /"exits_lost":[a-z0-9]+/) { lost += substr($0, RSTART + 13, RLENGTH - 13) }
		/"exits_lost":null/ { lost = "unknown" }
		/"comm":"load_storm"/ && /"exited":true/ {
			n += match($0, /"members":[0-9]+/) ? substr($0, RSTART + 10, RLENGTH - 10) : 1
		}
		END { print n + 0, lost }' $work/$1.json
}
for name in taskstats bpf; do
	begin exits_$name
	if [ $name = bpf ] && ! [ -s $work/bpf.json ]; then
		absent "$(refusal bpf)"
	else
		# Records before version 12 do not name the process: of those that began and ended within
		# one interval only a sum is known.
		if [ "$(grep -o '"taskstats_version":[0-9]*' $work/taskstats.json | head -n 1 | cut -d: -f2)" -lt 12 ]; then
			like "ended and lost" "$(ended $name)" '^[0-9]+ 0$'
			lacks 'exit records do not name the process'
		else
			same "ended and lost" "$(ended $name)" "200 0"
		fi
	fi
	end
done

begin hang
age=$(awk -v born="$(stat -c %Y $work/hold.said)" -v now="$(stat -c %Y $work/uptime)" 'BEGIN { print now - born }')
for name in $all; do
	text=$(awk -F'\t' '$2 ~ /^findings/ { sub(/.*\./, "", $2); if ($2 == "id") hang = $3 == "hang"; if (hang) print $2 "=" $3 }' $work/$name.last)
	say "$name:" $text
	like "$name, in words" "$(echo "$text" | sed -n 's/^text=//p')" "^1 task hung: load_hang $hold, (>= )?[0-9.]+ s (in state D|in (vfork|clone))"
	same "$name, severity" "$(echo "$text" | sed -n 's/^severity=//p')" critical
	near "$name, for how long, s" "$(echo "$text" | sed -n 's/^ns=//p' | awk '{ print $1 / 1e9 }')" "$age" 3
done
end
