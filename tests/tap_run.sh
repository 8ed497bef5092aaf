#!/bin/sh
# Runs one test program for `make check` and makes its TAP fit for automake's
# tap-driver.sh, which wants one plan, numbers in order and skips that are ok:
#   tests/tap_run.sh PROGRAM [ARGUMENT...]
#
# cmocka prints a plan for each group, numbers each group from 1, and says "not
# ok N # SKIP NAME" (1.1.5; "ok" later) without a reason. A test that skips
# prints "# skip: NAME: REASON" first, NAME * for any; the two become "ok N - NAME # SKIP
# REASON". cmocka's exit status counts the failed tests, which would fail a
# second time as an error of the program: it is passed on only when it says more
# than the lines do.
#
# Tests run side by side, as many as make has jobs. Those that CALM_TESTS names run
# when all these have ended, one for each CPU at a time. Those that ALONE_TESTS names need
# the machine for themselves: each runs while no other test of this build does. A test
# that takes longer than TEST_TIMEOUT seconds is ended. How long it took, without the
# wait for the others, is left in NAME.time for `make times`.
set -u

if [ $# -eq 0 ]; then
	echo "usage: tap_run.sh PROGRAM [ARGUMENT...]" >&2
	exit 2
fi

# The name of what is run, for the few lines that are not the program's own: the
# last argument, as a script is run by its interpreter.
for name; do :; done
name=${name##*/}

name=${name%.sh}
build=${TESTS_BUILDDIR:-.}

case " ${ALONE_TESTS:-} " in
*"/$name "*) sort=alone ;;
*)
	case " ${CALM_TESTS:-} " in
	*"/$name "*) sort=calm ;;
	*) sort=beside ;;
	esac
	# What tests/lib/guard.c goes by.
	TEST_BESIDE=yes
	export TEST_BESIDE
	;;
esac

# Waits until this test may run. The locks lie with the build: .lock is shared by those beside
# each other, and taken by who is alone. .calm1 and so on are the places of calm ones, each of
# which has .lock until it has found one: make starts none of those beside each other any more.
wait_for_others() {
	if [ $sort = beside ]; then
		flock --shared 9
		return
	fi
	flock --exclusive 9
	places=$(seq "$(nproc)")
	if [ $sort = alone ]; then
		for place in $places; do
			flock --exclusive "$build/.calm$place" true
		done
		return
	fi
	while :; do
		for place in $places; do
			exec 8>"$build/.calm$place"
			if flock --nonblock 8; then
				flock --unlock 9
				return
			fi
		done
		sleep 0.1
	done
}

# Hundredths of a second since boot.
now() {
	read -r uptime _ </proc/uptime
	echo "${uptime%.*}${uptime#*.}"
}

# shellcheck disable=SC2016 # $0 is awk's
{
	# The test does not have the locks open, or else what it leaves behind in the background
	# would hold them.
	exec 9>"$build/.lock"
	wait_for_others
	rm -f "$build/$name.time"
	begun=$(now)
	timeout --kill-after=10 "${TEST_TIMEOUT:-600}" "$@" 9>&- 8>&-
	status=$?
	echo "$(($(now) - begun)) $name" >"$build/$name.time"
	[ $status -ne 124 ] || echo "tap_run.sh: $name took longer than TEST_TIMEOUT" >&2
	# On a line of its own, also when the program was cut off in a line.
	printf '\nexit status %d\n' $status
} | LC_ALL=C ${AM_TAP_AWK:-awk} -v name="$name" '
function result(ok, text)
{
	if (!ok)
		failed++
	print (ok ? "ok " : "not ok ") ++n text
}

# The last line is the exit status that was added: each is looked at only when
# the next one is there.
NR > 1 { look(line) }
{ line = $0 }

function look(line,    rest, colon)
{
	if (line ~ /^1\.\.0+[ \t]*#/) {
		# A program skipped as a whole counts as one test.
		sub(/^[^#]*#[ \t]*([sS][kK][iI][pP])?[ \t:]*/, "", line)
		planned++
		result(1, " - " name " # SKIP " line)
	} else if (line ~ /^1\.\.[0-9]+[ \t]*$/) {
		planned += substr(line, 4)
	} else if (line ~ /^# skip: [^:]*: /) {
		print line
		rest = substr(line, 9)
		colon = index(rest, ": ")
		reason[substr(rest, 1, colon - 1)] = substr(rest, colon + 2)
	} else if (line ~ /^(not )?ok [0-9]+ # SKIP /) {
		rest = line
		sub(/^(not )?ok [0-9]+ # SKIP /, "", rest)
		result(1, " - " rest " # SKIP " (rest in reason ? reason[rest] : "*" in reason ? reason["*"] : "no reason given"))
	} else if (line ~ /^(not )?ok([^a-zA-Z0-9_]|$)/) {
		rest = line
		sub(/^(not )?ok[ \t]*[0-9]*/, "", rest)
		result(line ~ /^ok/, rest)
	} else {
		print line
	}
}

END {
	status = substr(line, length("exit status ") + 1) + 0
	# cut short: tap-driver.sh says so
	if (planned || n)
		print "1.." planned
	else if (!status) {
		print "not ok 1 - " name " ran no test"
		print "1..1"
	}
	exit status >= 124 || !failed ? status : 0
}'
