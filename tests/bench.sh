#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a sample costs, by CPU time (user + system) and by system calls, of stalltop
# and of `top -b` in one run, with all rows printed, among sleeping tasks:
#
#   tests/bench.sh [TASKS...]        (1000 and 10000)
#
# Start-up is subtracted: of a run of N1 and one of N2 samples the difference is
# divided by N2 - N1, and the median of several pairs is taken. The samples are a
# second apart, as caches are cold by then in real use, too.
#
# STALLTOP is the program, TESTS_BUILDDIR has load_sleepers. BENCH_DELAY (1),
# BENCH_N1 (1), BENCH_N2 (6) and BENCH_PAIRS (3) say how it is measured.
# The times of other shells are in hundredths of a second, too coarse for a sample.
[ -n "${BASH_VERSION-}" ] || exec bash "$0" "$@"
set -u

stalltop=${STALLTOP:-./stalltop}
sleepers=${TESTS_BUILDDIR:-tests}/load_sleepers
delay=${BENCH_DELAY:-1}
n1=${BENCH_N1:-1}
n2=${BENCH_N2:-6}
pairs=${BENCH_PAIRS:-3}
pid_max_file=/proc/sys/kernel/pid_max
pid_max=$(cat $pid_max_file)
load=
tmp=$(mktemp -d) || exit 1
export LC_ALL=C

say() {
	echo "bench.sh: $*" >&2
}

# Whatever happens, the sleepers end and the limit is what it was.
finish() {
	stop_sleepers
	[ "$(cat $pid_max_file)" = "$pid_max" ] || echo "$pid_max" >$pid_max_file
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# start_sleepers N: returns when all are there.
start_sleepers() {
	local tasks
	tasks=$(find /proc -maxdepth 1 -name '[0-9]*' | wc -l)
	if [ $((tasks + $1 + 2000)) -gt "$(cat $pid_max_file)" ]; then
		echo $((tasks + $1 + 32768)) >$pid_max_file ||
			say "cannot raise $pid_max_file"
	fi
	mkfifo "$tmp/ready"
	"$sleepers" "$1" >"$tmp/ready" &
	load=$!
	if ! read -r -t 120 line <"$tmp/ready" || [ "$line" != ready ]; then
		say "cannot start $1 sleepers"
		exit 1
	fi
	rm -f "$tmp/ready"
}

stop_sleepers() {
	[ -n "$load" ] || return 0
	kill "$load" 2>/dev/null
	wait "$load" 2>/dev/null
	load=
}

# cpu_ms COMMAND...: user and system time of a run, in ms.
cpu_ms() {
	local TIMEFORMAT='%3U %3S'
	{ time "$@" >/dev/null 2>"$tmp/errors"; } 2>&1 |
		awk '{ printf "%.0f\n", ($1 + $2) * 1000 }'
	if [ -s "$tmp/errors" ]; then
		say "$(head -1 "$tmp/errors")"
	fi
}

# calls COMMAND...: system calls of a run.
calls() {
	strace -f -c -U calls,name -o "$tmp/strace" "$@" >/dev/null 2>&1
	awk '$2 == "total" { print $1 }' "$tmp/strace"
}

# per_sample A B: of the figures of n1 and n2 samples.
per_sample() {
	awk -v a="$1" -v b="$2" -v n=$((n2 - n1)) 'BEGIN { printf "%.2f\n", (b - a) / n }'
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# cost LABEL COMMAND...: a line of the table; -n and -d are added to the command.
cost() {
	local label=$1 ms syscalls=- i
	shift
	ms=$(for ((i = 0; i < pairs; i++)); do
		per_sample "$(cpu_ms "$@" -d "$delay" -n "$n1")" \
			"$(cpu_ms "$@" -d "$delay" -n "$n2")"
	done | median)
	if command -v strace >/dev/null && [ "$(type -t "$1")" != function ]; then
		syscalls=$(per_sample "$(calls "$@" -d "$delay" -n "$n1")" \
			"$(calls "$@" -d "$delay" -n "$n2")")
	fi
	printf '%-28s %12s %16s\n' "$label" "$ms" "$syscalls"
	last_ms=$ms
}

# compare: top's figure with the last one.
compare() {
	awk -v a="$top_ms" -v b="$last_ms" \
		'BEGIN { if (b > 0) printf "top takes %.1f times as much CPU\n", a / b }'
}

# on_screen COMMAND...: runs it on a terminal of 120x40 whose keyboard stays silent. What
# script(1) itself takes is in the figure, for all alike.
on_screen() {
	TERM=xterm-256color script -qec "stty rows 40 cols 120; exec $*" /dev/null <&9
}
mkfifo "$tmp/keyboard"
exec 9<>"$tmp/keyboard"

[ "$(id -u)" = 0 ] || say "not root: stalltop will use procfs"
command -v strace >/dev/null || say "no strace: system calls are not counted"
[ $# -gt 0 ] || set -- 1000 10000

for tasks; do
	start_sleepers "$tasks"
	printf '%s sleeping tasks, %s s between samples, median of %s\n' \
		"$tasks" "$delay" "$pairs"
	printf '%-28s %12s %16s\n' '' 'ms CPU/sample' 'calls/sample'
	cost 'top -b' top -b
	top_ms=$last_ms
	cost 'stalltop -b' "$stalltop" -b
	compare
	cost 'stalltop -b -H' "$stalltop" -b -H
	cost 'stalltop -b -o csv' "$stalltop" -b -o csv
	cost 'stalltop -b -o json' "$stalltop" -b -o json
	cost 'stalltop -b --source procfs' "$stalltop" -b --source procfs
	cost 'top, screen of 120x40' on_screen top
	top_ms=$last_ms
	cost 'stalltop, screen of 120x40' on_screen "$stalltop"
	compare
	stop_sleepers
	echo
done
