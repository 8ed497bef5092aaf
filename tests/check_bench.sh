#!/bin/sh
# The parts of the benchmark that reckon: what report.awk makes of raw figures, and what
# meter takes for a run, a refresh and a failure. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
report=$srcdir/tests/bench/report.awk
meter=${TESTS_BUILDDIR:-tests}/bench/meter
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

# has NAME LINE: the last report has the line, however it is spaced.
has() {
	tr -s ' ' <"$work/out" | sed 's/ $//' | grep -Fqx -e "$2"
	result $? "$1"
}

# run TURN ID SAMPLE: a run with what a sample took, CPU time in us, that held the interval.
run() {
	printf 'run\t1000\t%s\t%s\t5\t90000\t5000\t5100\t5\t%s\t1000\t3\n' "$2" "$1" "$3"
}

echo 1..20

{
	printf 'setting\tn1\t1\nsetting\tn2\t5\nsetting\tdelay\t1\n'
	printf 'setting\tcalls_n1\t2\nsetting\tcalls_n2\t4\n'
	printf 'tasks\t1000\t1080\t1090\t7000\t9000\ntasks\t1000\t1081\t1091\t7003\t9100\n'
	printf 'row\t1000\tstalltop:bpf:screen\tstalltop bpf (screen)\n'
	printf 'row\t1000\ttop:screen\ttop (screen) 4.0.2\n'
	printf 'row\t1000\tpidstat:batch\tpidstat 12\n'
	run 1 stalltop:bpf:screen 500
	run 2 stalltop:bpf:screen 700
	run 3 stalltop:bpf:screen 400
	run 1 top:screen 22000
	run 2 top:screen 20000
	run 3 top:screen 30000
	# slow, and its second turn was cut short
	printf 'run\t1000\tpidstat:batch\t1\t5\t8001000\t90000\t11000\t0\t-\t-\t-\n'
	printf 'run\t1000\tpidstat:batch\t1\t1\t1000\t90000\t3000\t0\t-\t-\t-\n'
	printf 'run\t1000\tpidstat:batch\t2\t5\t9000\t90000\t3000\t0\t-\t-\t-\n'
	printf 'calls\t1000\tstalltop:bpf:screen\t2\t100\ncalls\t1000\tstalltop:bpf:screen\t4\t142\n'
	printf 'calls\t1000\ttop:screen\t2\t10000\ncalls\t1000\ttop:screen\t4\t25000\n'
	printf 'missing\t1000\tatop:batch\tatop: because\n'
	printf 'floor\t1000\tlist\t900\t1000\nfloor\t1000\tlist\t500\t1000\n'
	printf 'floor\t1000\tbpf_walk\t-\tnot built in\n'
	printf 'absent\t30000\ttoo little memory\n'
} >"$work/raw"

awk -f "$report" -v tasks=1000 "$work/raw" >"$work/out" 2>&1
has 'how many tasks there are' \
	'1,000 processes sleeping (1,090 tasks in 1,080 processes with all others)'
has 'the median is taken' 'stalltop bpf (screen) 0.50 0.40 - 0.70 21 5.1 1.00'
has 'calls of other samples' 'top (screen) 4.0.2 22.0 20.0 - 30.0 7,500 5.1 1.00'
has 'two runs where one does not do; the interval is not held' \
	'pidstat 12 2000 2000 - 2000 - 92.2 2.00 does not hold the interval'
has 'why a row is missing' 'left out: atop: because'
has 'the floor, of an even number of rounds' \
	'floor: listing /proc 0.70 0.50 - 0.90 0.70 us each of 1,000'
has 'why a floor is missing' 'left out: floor:bpf_walk: not built in'
has 'ratios' 'top (screen) 4.0.2 44.0'
! grep -q disturbed "$work/out"
result $? 'a machine left in peace'

printf 'tasks\t1000\t1080\t2090\t7010\t9100\n' >>"$work/raw"
awk -f "$report" -v tasks=1000 "$work/raw" >"$work/out" 2>&1
has 'a machine that was not' 'disturbed: 1,090 to 2,090 tasks, 10 % of the CPUs had other work'

awk -f "$report" -v tasks=30000 "$work/raw" >"$work/out" 2>&1
has 'tasks that could not be had' '30,000 processes sleeping: left out: too little memory'

awk -f "$report" -v aims=1 "$work/raw" >"$work/out" 2>&1
has 'an aim that is met' 'top / stalltop bpf, screen, 1,000 >= 41.0 44.0 met'
has 'one that is not' 'system calls a sample, stalltop bpf screen, 1,000 <= 20.0 21.0 not met'
has 'one without figures' 'top / stalltop bpf, screen, 10,000 >= 50.0 - not measured'

# The terminal, and three refreshes of which the last only comes for a key.
# shellcheck disable=SC2016 # for the inner shell
"$meter" -t -q 2 -l 20 sh -c '[ "$(stty size)" = "40 120" ] && stty -icanon -echo &&
	echo 1 && sleep 0.8 && echo 2 && [ "$(head -c 1)" = q ] && sleep 0.5 && echo 3' \
	>"$work/out" 2>&1 && [ "$(cut -f 4 "$work/out")" = 3 ]
result $? 'a terminal of 120x40 and the key at its end'

# shellcheck disable=SC2016
"$meter" -t -k w -l 20 sh -c 'stty -icanon -echo && echo 1 && [ "$(head -c 1)" = w ] &&
	sleep 0.5 && echo 2' >"$work/out" 2>&1 && [ "$(cut -f 4 "$work/out")" = 2 ]
result $? 'keys are typed after the first refresh'

# shellcheck disable=SC2016
"$meter" -a sh -c 'for n in 1 2 3 4 5; do sleep 0.4; done' >"$work/out" 2>&1 &&
	[ "$(cut -f 5- "$work/out" | tr '\t' ' ')" = '- - -' ]
result $? 'where children count there are no samples'

# shellcheck disable=SC2016
"$meter" sh -c 'sh -c "i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done"; :' \
	>"$work/out" 2>&1 &&
	[ "$(cut -f 1 "$work/out")" -gt 5000 ]
result $? "a child's time is in the figure"

# Work, and rests of half a second: four of the six are from the second on to the last. On
# a busy machine they may come out uneven, which the meter tells by having no figure.
for _ in 1 2 3 4 5; do
	# shellcheck disable=SC2016
	"$meter" sh -c 'for n in 1 2 3 4 5 6; do
		i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.5; done' \
		>"$work/out" 2>&1
	[ "$(cut -f 5 "$work/out")" = - ] || break
done
awk -F '\t' '{ exit !($7 == 4 && $6 > 450 && $6 < 1000 && $5 > 1000 && $5 * 5 < $1) }' "$work/out"
result $? 'samples are what lies between rests'

"$meter" -l 1 sleep 20 >"$work/out" 2>&1
[ $? = 3 ] && ! "$meter" false >>"$work/out" 2>&1 && grep -q 'false: exit status 1' "$work/out"
result $? 'what takes too long or fails is told apart'

exit $failed
