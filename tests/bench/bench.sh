#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a sample costs among sleeping tasks: CPU time (user + system), system calls and peak
# memory of stalltop, of the monitors that are installed beside it, and the floor below
# which no way to the counters can go; then, how stalltop's aims are met.
#
#   tests/bench/bench.sh [TASKS...]      as 1000 (processes) or 2000x5 (of 5 threads each);
#                                        busy: 1000, and others that work (see BUSY_LOAD)
#
# One thing runs at a time. Start-up is subtracted: the figure is the difference between two
# lengths of a run, divided by the samples between; tests/bench/meter.c takes both in the
# rests of one run, as start-up differs from run to run by more than a sample takes. What
# never rests because it is too slow is run at both lengths. All tools have their turn
# before the first has its next one, each time from another one on, so that what else the
# machine does hits all alike; medians are taken. The samples are a second apart, as caches
# are cold by then in real use, too.
#
# STALLTOP is the program, TESTS_BUILDDIR has the programs of tests/. How it is measured:
#
#   BENCH_ROWS    only rows whose ID (see rows.sh) matches this ERE
#   BENCH_FULL    tasks among which all rows are measured, not only the main ones (10000)
#   BENCH_RUNS    of each row, at most (3); from the second on no more than it takes until
#                 two differ by a tenth at most
#   BENCH_N1, BENCH_N2   samples of a short and of a long run (1, 5)
#   BENCH_DELAY   whole seconds between two samples (1)
#   BENCH_LIMIT   seconds a run may take; a tool that needs more is left out (30)
#   BENCH_RAW     file that keeps every run, for: awk -f report.awk -v aims=1 FILE
#
# Times of other shells are in hundredths of a second, and arrays are bash's.
[ -n "${BASH_VERSION-}" ] || exec bash "$0" "$@"
set -u

here=$(dirname "$(readlink -f "$0")")
stalltop=${STALLTOP:-./stalltop}
programs=${TESTS_BUILDDIR:-tests}
rows_wanted=${BENCH_ROWS:-.}
full=${BENCH_FULL-10000}
runs=${BENCH_RUNS:-3}
n1=${BENCH_N1:-1}
n2=${BENCH_N2:-5}
delay=${BENCH_DELAY:-1}
limit=${BENCH_LIMIT:-30}
# System calls are the same however fast they follow; rows must have been seen before.
calls_delay=0.25
calls_n1=2
calls_n2=3
floor_rounds=4

# The busy machine: sleepers; processes, threads of each, wakes of each a second, forks a second.
BUSY_SLEEPERS=1000
BUSY_LOAD='8 32 50 500'

pid_max_file=/proc/sys/kernel/pid_max
pid_max=$(cat $pid_max_file)
load=
busy=
job=
recordings=0
# Rows, by ID, among the tasks at hand: no more to be had of it; measured well enough; the
# lowest and the highest figure so far.
declare -A dropped settled lowest highest
tmp=$(mktemp -d) || exit 1
raw=${BENCH_RAW:-$tmp/raw}
export LC_ALL=C.UTF-8 HOME=$tmp XDG_CONFIG_HOME=$tmp

# shellcheck source-path=SCRIPTDIR
. "$here/rows.sh"

say() {
	echo "bench.sh: $*" >&2
}

# record FIELD...: a line of the raw figures.
record() {
	local IFS=$'\t'
	echo "$*" >>"$raw"
}

# --- What is changed on the machine, and put back ------------------------------

# Whatever happens, what was started ends and the limit is what it was.
finish() {
	trap '' HUP INT TERM
	if [ -n "$job" ]; then
		kill "$job" 2>/dev/null
		wait "$job" 2>/dev/null
	fi
	stop_sleepers
	[ "$(cat $pid_max_file)" = "$pid_max" ] || echo "$pid_max" >$pid_max_file
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# room_for PROCESSES THREADS: is there memory and are there numbers for so many? A process
# that sleeps takes some 100 kB, most of it page tables; another thread of it some 30.
room_for() {
	local need=$(($1 * 130 + ($2 - $1) * 40)) there now
	there=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
	if [ "$need" -gt $((there * 9 / 10)) ]; then
		why="need $((need / 1024)) MB of memory, $((there / 1024)) are available"
		return 1
	fi
	now=$(sed 's|.*/\([0-9]*\) .*|\1|' /proc/loadavg)
	[ $((now + $2 + 2000)) -gt "$(cat $pid_max_file)" ] || return 0
	echo $((now + $2 + 32768)) 2>/dev/null >$pid_max_file && return 0
	why="$pid_max_file cannot be raised"
	return 1
}

# start_load PROGRAM ARGUMENT...: returns when it is ready, with its id in `started`; 1 when it
# cannot be, and why.
start_load() {
	local program=$1 line
	shift
	rm -f "$tmp/ready"
	mkfifo "$tmp/ready"
	"$programs/load/$program" "$@" >"$tmp/ready" 2>"$tmp/errors" &
	started=$!
	read -r -t 120 line <"$tmp/ready" && [ "$line" = ready ] && return
	why=$(head -1 "$tmp/errors")
	return 1
}

# start_sleepers PROCESSES[xTHREADS]|busy: returns when all are there and at rest; 1 when they
# cannot be, and why.
start_sleepers() {
	local what=${1/busy/$BUSY_SLEEPERS} threads=1 there=0
	local processes=${what%x*}
	[ "$processes" = "$what" ] || threads=${what#*x}
	room_for "$processes" $((processes * threads)) || return 1
	start_load load_sleepers "$processes" "$threads" || there=1
	load=$started
	if [ $there = 0 ] && [ "$1" = busy ]; then
		# shellcheck disable=SC2086 # four words
		start_load load_busy $BUSY_LOAD || there=1
		busy=$started
	fi
	[ $there = 0 ] || stop_sleepers
	[ $there = 1 ] || sleep 2
	return $there
}

stop_sleepers() {
	[ -n "$load" ] || return 0
	# shellcheck disable=SC2086 # one or two
	kill $load $busy 2>/dev/null
	# shellcheck disable=SC2086
	wait $load $busy 2>/dev/null
	load=
	busy=
}

# --- One run -----------------------------------------------------------------

# meter ARGUMENT...: runs it so that a signal ends it and this script at once.
meter() {
	"$programs/bench/meter" -l "$limit" "$@" >"$tmp/meter" 2>"$tmp/errors" &
	job=$!
	wait "$job"
	local status=$?
	job=
	return $status
}

# command_of ID SAMPLES SECONDS: sets `options` for the meter and `command`.
command_of() {
	local text=${row_command[$1]}
	text=${text//%n/$2}
	text=${text//%d/$3}
	text=${text//%i/$delay}
	text=${text//%t/$((delay * 10))}
	text=${text//%f/$tmp/recording.$((++recordings))}
	read -ra command <<<"$text"
	[ "${command[0]}" != stalltop ] || command[0]=$stalltop
	options=()
	case ${row_how[$1]} in
	screen) options=(-t) ;;
	screen:Enter) options=(-t -k $'\r') ;;
	screen:*) options=(-t -k "${row_how[$1]#*:}") ;;
	all) options=(-a) ;;
	keys) options=(-t -q "$2") ;;
	esac
}

# drop ID STATUS: the row cannot be had among these tasks, and says why.
drop() {
	local reason
	if [ "$2" = 3 ]; then
		reason="a run of a few samples takes more than $limit s"
	else
		reason=$(tr -d '\033\t' <"$tmp/errors" | grep . | head -1)
	fi
	dropped[$1]=1
	record missing "$tasks" "$1" "${row_label[$1]}: ${reason:-failed without a word}"
}

# run ID TURN SAMPLES: one run to the raw figures.
run() {
	local figures options command status
	command_of "$1" "$3" "$delay"
	meter "${options[@]}" "${command[@]}"
	status=$?
	if [ $status != 0 ]; then
		drop "$1" $status
		return 1
	fi
	read -ra figures <"$tmp/meter"
	record run "$tasks" "$1" "$2" "$3" "${figures[@]}"
	wall=${figures[2]}
	rested=1
	[ "${figures[4]}" != - ] || rested=
	[ -z "$rested" ] || compare "$1" "$2" "${figures[4]}"
}

# compare ID TURN FIGURE: with those of the turns before.
compare() {
	[ "${lowest[$1]:-$3}" -ge "$3" ] && lowest[$1]=$3
	[ "${highest[$1]:-$3}" -le "$3" ] && highest[$1]=$3
	[ "$2" -lt 2 ] || [ $((highest[$1] * 10)) -gt $((lowest[$1] * 11)) ] || settled[$1]=1
}

# turn ID TURN: a run; two where one does not do, and no more of what is much too slow.
turn() {
	local wall rested long
	[ -z "${dropped[$1]-}${settled[$1]-}" ] || return
	run "$1" "$2" "$n2" || return
	[ -z "$rested" ] || return
	long=$wall
	run "$1" "$2" "$n1" || return
	[ $((long - wall)) -lt $((2000 * delay * (n2 - n1))) ] || dropped[$1]=1
}

# calls ID SAMPLES: system calls of a run of its own, for counting costs time. perf hardly
# disturbs what it counts, strace does.
calls() {
	local options command count
	command_of "$1" "$2" "$calls_delay"
	case $counter in
	perf)
		meter "${options[@]}" perf stat -x, -o "$tmp/calls" -e raw_syscalls:sys_enter -- \
			"${command[@]}" || return
		count=$(awk -F, '/sys_enter/ { print $1 }' "$tmp/calls")
		;;
	strace)
		meter "${options[@]}" strace -f -qq -c -U calls,name -o "$tmp/calls" \
			"${command[@]}" || return
		count=$(awk '$2 == "total" { print $1 }' "$tmp/calls")
		;;
	*)
		return
		;;
	esac
	record calls "$tasks" "$1" "$2" "$count"
}

# --- All runs among some tasks --------------------------------------------------

# is_due ID: is the row one for these tasks?
is_due() {
	[[ $1 =~ $rows_wanted ]] || return 1
	case " $full " in
	*" $tasks "*) return 0 ;;
	esac
	case ${row_when[$1]} in
	always) return 0 ;;
	threads | views) [[ $tasks = *x* || $tasks = busy ]] ;;
	*) return 1 ;;
	esac
}

# measure_rows ID...
measure_rows() {
	local -i i t
	local id
	dropped=()
	settled=()
	lowest=()
	highest=()
	for id; do
		record row "$tasks" "$id" "${row_label[$id]}"
	done
	for ((t = 1; t <= runs; t++)); do
		say "$tasks: run $t of $runs"
		for ((i = 0; i < $#; i++)); do
			id=${*:(i + (t - 1) * $# / runs) % $# + 1:1}
			turn "$id" $t
			record_tasks
		done
	done
	[ "$counter" = none ] || say "$tasks: system calls"
	for id; do
		[ -z "${dropped[$id]-}" ] || continue
		calls "$id" $calls_n1 && calls "$id" $calls_n2
	done
}

# The CPU time that others have had (that of the host's other machines, too), and all that
# there was, in ticks. What was measured is this script's child, reaped by now.
others_ticks() {
	awk -v OFS='\t' 'NR == 1 { own = $14 + $15 + $16 + $17; next }
		$1 == "cpu" {
			for (i = 2; i <= 9; i++)
				total += $i
			print total - $5 - $6 - own, total
		}' /proc/$$/stat /proc/stat
}

# Who else is there is looked at again and again: figures of a disturbed run are no good.
record_tasks() {
	# shellcheck disable=SC2010 # names of digits
	record tasks "$tasks" "$(ls /proc | grep -c '^[0-9]')" \
		"$(sed 's|.*/\([0-9]*\) .*|\1|' /proc/loadavg)" "$(others_ticks)"
}

measure_floor() {
	local name us met
	[[ floor =~ $rows_wanted ]] || return
	say "$tasks: floor"
	"$programs/bench/floor" $floor_rounds >"$tmp/floor" &
	job=$!
	wait "$job"
	job=
	while IFS=$'\t' read -r name us met; do
		record floor "$tasks" "$name" "$us" "$met"
	done <"$tmp/floor"
}

measure() {
	local due=() id
	if ! start_sleepers "$tasks"; then
		record absent "$tasks" "${why:-they could not be started}"
		return
	fi
	record_tasks
	for id in "${row_ids[@]}"; do
		! is_due "$id" || due+=("$id")
	done
	[ ${#due[@]} -eq 0 ] || measure_rows "${due[@]}"
	measure_floor
	stop_sleepers
}

# --- Beginning and end -----------------------------------------------------------

find_counter() {
	counter=none
	if perf stat -e raw_syscalls:sys_enter true >/dev/null 2>&1; then
		counter=perf
	elif strace -c -o /dev/null true 2>/dev/null; then
		counter=strace
	fi
}

# The sources that are built in and can be opened; why not, of the others.
find_sources() {
	local source
	for source in $("$stalltop" --version | sed -n 's/^sources: //p'); do
		if "$stalltop" -b --source "$source" -n 1 -d 0.1 >/dev/null 2>"$tmp/errors"; then
			stalltop_rows "$source"
		else
			echo "left out: source $source: $(head -1 "$tmp/errors")"
		fi
	done
}

headline() {
	echo "$("$stalltop" --version | head -1), $(date '+%Y-%m-%d %H:%M'), $(uname -sr)," \
		"$(nproc) CPUs ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1))," \
		"$(awk '$1 == "MemTotal:" { printf "%.1f", $2 / 1048576 }' /proc/meminfo) GB," \
		"load $(cut -d' ' -f1-3 /proc/loadavg)," \
		"delay accounting $(cat /proc/sys/kernel/task_delayacct 2>/dev/null || echo unknown)"
	[ "$(id -u)" = 0 ] || echo "not root: what needs privileges is left out or reads less"
	find_sources
	peer_rows
	[ -z "${missing_peers-}" ] ||
		echo "not installed: $(echo "$missing_peers" | tr ' ' '\n' | sort -u | xargs)"
	find_counter
	case $counter in
	none) echo "system calls are not counted: neither perf nor strace can" ;;
	*) echo "system calls: counted by $counter, in runs of their own" ;;
	esac
	echo "$delay s between samples, start-up subtracted, median of up to $runs runs," \
		"one thing at a time"
}

for tasks; do
	[[ $tasks =~ ^([1-9][0-9]*(x[1-9][0-9]*)?|busy)$ ]] || {
		say "usage: bench.sh [TASKS...], as: bench.sh 1000 2000x5 busy"
		exit 2
	}
done
[ $# -gt 0 ] || set -- 100 1000 10000 30000 2000x5 busy
: >"$raw"
record setting n1 "$n1"
record setting n2 "$n2"
record setting calls_n1 $calls_n1
record setting calls_n2 $calls_n2
record setting delay "$delay"
headline
for tasks; do
	measure
	echo
	awk -f "$here/report.awk" -v tasks="$tasks" "$raw"
done
echo
awk -f "$here/report.awk" -v aims=1 "$raw"
