#!/bin/bash
# The long check of a fresh clone on a Debian machine, as root. Its parts, in this order; those that
# are named, or all but the first:
#   quick       what ./bootstrap check runs, with warnings as errors
#   long        all other tests: storms, power cuts, programs of the field, engines, measurements
#   sanitizers  the quick ones again under the address and undefined sanitizers, but for scripts
#   package     the source archive (.ci/package.sh)
#   bare        the quick check in a bare Debian (tests/bare_debian.sh); BARE_SUITE says which
#   kernels     the program on other kernels (tests/kernels/run.sh)
#   fuzz        each fuzzer for FUZZ_SECONDS (30) of a CPU
# The time of each test program is printed, the slowest first. A test program that failed
# beside others runs once more by itself: what passes then counts as passed, and is named
# at the end as unsteady. The last line is "N passed, N failed, N skipped"; the exit status
# is 0 only when nothing failed and every skip has a reason that .ci/skips allows.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1
parts=${*:-long sanitizers package bare kernels fuzz}
exec </dev/null

# The build lies in a folder that no other user can enter, as a home is: tests that give privileges up
# run copies.
main=build-private/ci
mkdir -p -m 0700 build-private

# No part may hang: each has its time, in seconds.
build_and_test_time=2400
again_time=900
kernels_time=1500
fuzz_seconds=${FUZZ_SECONDS:-30}

# tests/ui/ui_monkey: a minute. Another seed is another minute.
export MONKEY_SECONDS=${MONKEY_SECONDS:-60} MONKEY_SEED=${MONKEY_SEED:-1}

passed=0
failed=0
skipped=0
# What went wrong, and what only did at first, one line each, for the end of the output.
troubles=()
unsteady=()

# What parts that write TAP by themselves wrote last, and their status.
tap=$(mktemp) || exit 1
status=0
trap 'rm -f "$tap"' EXIT

# An end of this script from outside ends what it started, too.
child=
trap '[ -z "$child" ] || kill "$child" 2>/dev/null; exit 1' HUP INT TERM

# limited SECONDS COMMAND...: runs it, for so long at most.
limited() {
	local status seconds=$1
	shift
	timeout --kill-after=30 "$seconds" "$@" 2>&1 &
	child=$!
	wait $child
	status=$?
	child=
	return $status
}

headline() {
	printf '\n=== %s\n' "$*"
}

trouble() {
	failed=$((failed + 1))
	troubles+=("$*")
}

# failing BUILD: the tests that failed, one a line.
failing() {
	find "$1/tests" -name '*.log' -exec grep -hE '^(FAIL|ERROR|XPASS): tests/' {} + | sort
}

# again NAME BUILD: runs the programs that failed once more, one after the other. These tests
# have real loads on real CPUs: one that fails by what ran beside it is told apart from one
# that fails by itself.
again() {
	local name=$1 build=$2 line status first
	first=$(failing "$build")
	[ -n "$first" ] || return 1
	headline "$name: what failed, once more"
	limited $again_time make -s -C "$build" --no-print-directory VERBOSE=1 recheck
	status=$?
	while IFS= read -r line; do
		unsteady+=("$name: $line")
	done < <(comm -23 <(echo "$first") <(failing "$build"))
	return $status
}

# count NAME BUILD STATUS: adds the results of a finished `make check`. They lie
# in a .trs file a test program, skips with their reasons in its .log.
count() {
	local name=$1 build=$2 status=$3 good bad line reason
	local before=$failed
	good=$(find "$build/tests" -name '*.trs' -exec sed -n 's/^:test-result: //p' {} + |
		grep -cE '^(PASS|XFAIL)') || true
	passed=$((passed + good))

	while IFS= read -r line; do
		trouble "$name: $line"
	done < <(failing "$build")

	while IFS= read -r line; do
		reason=${line#*# SKIP }
		if grep -qxE -f <(grep -vE '^(#|[[:space:]]*$)' .ci/skips) <<<"$reason"; then
			skipped=$((skipped + 1))
			echo "skipped, as .ci/skips allows: $line"
		else
			trouble "$name: the reason is not in .ci/skips: $line"
		fi
	done < <(find "$build/tests" -name '*.log' -exec grep -hE '^SKIP: tests/' {} +)

	bad=$((failed - before))
	# A build that broke, or a run that ended without a word.
	if [ "$status" -ne 0 ] && [ $bad -eq 0 ]; then
		trouble "$name: ended with status $status"
	elif [ "$good" -eq 0 ]; then
		trouble "$name: no test passed"
	fi
}

# check NAME BUILD CONFIGURE COMMAND...: builds and runs tests in a build directory.
check() {
	local name=$1 build=$2 configure=$3 status
	shift 3
	headline "$name"
	# Results of an earlier run must not count.
	find "$build/tests" \( -name '*.trs' -o -name '*.log' \) -delete 2>/dev/null
	BOOTSTRAP_BUILD=$build BOOTSTRAP_CONFIGURE=$configure \
		limited $build_and_test_time "$@"
	status=$?
	if [ $status -ne 0 ] && [ $status -ne 124 ]; then
		again "$name" "$build"
		status=$?
	fi
	count "$name" "$build" $status
}

# tap SECONDS COMMAND...: runs what writes TAP by itself, shows it, and leaves it in $tap.
tap() {
	limited "$@" >"$tap"
	status=$?
	cat "$tap"
}

# count_tap NAME [WANTED]: adds the results in $tap: as many as are WANTED, or as it has planned.
count_tap() {
	local line good=0 bad=0 wanted=${2:-}
	[ -n "$wanted" ] || wanted=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$tap" | tail -n 1)
	while IFS= read -r line; do
		case $line in
		'ok '*) good=$((good + 1)) ;;
		'not ok '*)
			bad=$((bad + 1))
			trouble "$1: $line"
			;;
		esac
	done <"$tap"
	passed=$((passed + good))
	if [ "$status" -ne 0 ] && [ $bad -eq 0 ]; then
		trouble "$1: ended with status $status"
	elif [ $((good + bad)) -ne "${wanted:-0}" ] || [ $((good + bad)) -eq 0 ]; then
		trouble "$1: $((good + bad)) of ${wanted:-0} ran"
	fi
}

fuzz() {
	local count
	headline "fuzzers, $fuzz_seconds s of a CPU each"
	count=$(find tests -name 'fuzz_*.c' ! -name fuzz_replay.c | wc -l)
	if [ "$count" -eq 0 ]; then
		trouble "there are no fuzzers"
		return
	fi
	BOOTSTRAP_BUILD=build-ci-fuzz BOOTSTRAP_CONFIGURE='--enable-fuzzers --enable-werror --with-bpf=yes' \
		FUZZ_SECONDS=$fuzz_seconds \
		tap $((600 + 180 + fuzz_seconds * count)) ./bootstrap make -s fuzz
	count_tap fuzzers "$count"
}

# What is released.
package() {
	headline 'the source archive'
	tap 600 .ci/package.sh "$main"
	count_tap 'source archive'
}

# On kernels as Debian packages them. What was not as it should be runs again up to twice, one machine
# at a time: what a busy host spoils is told apart from what does not work.
kernels() {
	local line first wrong
	local -x BOOTSTRAP_BUILD=$main BOOTSTRAP_CONFIGURE='--enable-werror --with-bpf=yes'
	headline 'kernels'
	tap $kernels_time ./bootstrap make -s check-kernels
	first=$(wrong_kernels) wrong=$first
	for _ in 1 2; do
		[ -n "$wrong" ] || break
		headline 'kernels: what was not as it should be, again'
		tap $kernels_time ./bootstrap make -s check-kernels KERNELS=--again
		wrong=$(wrong_kernels)
	done
	while IFS= read -r line; do
		[ -z "$line" ] || unsteady+=("kernels: $line")
	done < <(comm -23 <(echo "$first") <(echo "$wrong"))
	count_tap kernels
}

# wrong_kernels: the results in $tap that were not as they should be, one a line.
wrong_kernels() {
	sed -n 's/^not ok [0-9]* - //p' "$tap" | sort
}

# The quick check in a Debian that has nothing.
bare() {
	headline "a bare Debian ${BARE_SUITE:-bookworm}"
	./bootstrap deps bare || trouble 'debootstrap cannot be installed'
	limited $build_and_test_time tests/bare_debian.sh
	status=$?
	[ $status -eq 0 ] && passed=$((passed + 1)) || trouble "bare Debian: ended with status $status"
}

long() {
	# What the tests with Prometheus, VictoriaMetrics and ClickHouse run, and programs whose waits
	# are judged. A skip for want of one fails.
	./bootstrap deps engines || trouble 'the engines for metrics cannot be installed'
	./bootstrap deps programs || trouble 'programs to look at cannot be installed'
	headline 'the Debian package'
	BOOTSTRAP_BUILD=$main BOOTSTRAP_CONFIGURE='--enable-werror --with-bpf=yes' DEB_LINT=1 \
		limited $build_and_test_time ./bootstrap make deb
	status=$?
	[ $status -eq 0 ] && passed=$((passed + 1)) || trouble "make deb: ended with status $status"
	check 'long tests' "$main" '--enable-werror --with-bpf=yes' ./bootstrap check-long
}

for part in $parts; do
	case $part in
	quick)
		check 'quick tests' "$main" '--enable-werror --with-bpf=yes' ./bootstrap check
		;;
	long) long ;;
	sanitizers)
		check 'tests under the sanitizers' build-ci-sanitizers \
			'--enable-werror --enable-sanitizers --with-bpf=yes' ./bootstrap check
		;;
	package) package ;;
	bare) bare ;;
	kernels)
		./bootstrap deps kernels || trouble 'what boots other kernels cannot be installed'
		kernels
		;;
	fuzz) fuzz ;;
	*) trouble "there is no part $part" ;;
	esac
done

if [ ${#unsteady[@]} -gt 0 ]; then
	headline 'what failed at first, and passed by itself'
	printf '%s\n' "${unsteady[@]}"
fi
if [ ${#troubles[@]} -gt 0 ]; then
	headline 'what failed (details above)'
	printf '%s\n' "${troubles[@]}"
fi
headline "$((SECONDS / 60)) min $((SECONDS % 60)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
