#!/bin/sh
# Runs fuzzers side by side, until each has had FUZZ_SECONDS (60) of a CPU, from its corpus:
#   make fuzz (in a build with --enable-fuzzers), or
#   TESTS_BUILDDIR=... TESTS_SRCDIR=... tests/fuzz/run_fuzzers.sh tests/fuzz_NAME...
# Output is TAP, one test a fuzzer. What is found stays below tests/fuzz.found of
# the build; an input worth keeping goes to tests/fuzz/corpus/NAME in the tree.
set -u
: "${TESTS_BUILDDIR:?}" "${TESTS_SRCDIR:?}"
cpus=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# More of them than there are CPUs share these.
seconds=$((${FUZZ_SECONDS:-60} * ($# > cpus ? $# : cpus) / cpus))
found=$TESTS_BUILDDIR/fuzz.found

# Inputs that make new ways in the code go to the first corpus named.
run_one() {
	name=${1##*/fuzz_}
	mkdir -p "$found/$name/corpus" || return 1
	rm -f "$found/$name"/*-*
	set -- "$found/$name/corpus"
	[ ! -d "$TESTS_BUILDDIR/fuzz/corpus.made/$name" ] || set -- "$@" "$TESTS_BUILDDIR/fuzz/corpus.made/$name"
	[ ! -d "$TESTS_SRCDIR/fuzz/corpus/$name" ] || set -- "$@" "$TESTS_SRCDIR/fuzz/corpus/$name"
	# libFuzzer ends by itself; timeout is for a harness that it can't interrupt.
	timeout --kill-after=10 $((seconds + 120)) "$TESTS_BUILDDIR/fuzz/fuzz_$name" \
		-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$found/$name/" "$@" >"$found/$name.log" 2>&1 </dev/null
	echo $? >"$found/$name.status"
}

mkdir -p "$found" || exit 1
rm -f "$found"/*.status

for program; do
	if [ ! -x "$TESTS_BUILDDIR/fuzz/fuzz_${program##*/fuzz_}" ]; then
		echo "Bail out! $program is not built"
		exit 1
	fi
done

echo "1..$#"
for program; do
	run_one "$program" &
done
wait

number=0
failed=0
for program; do
	number=$((number + 1))
	name=${program##*/fuzz_}
	status=$(cat "$found/$name.status" 2>/dev/null)
	# How many inputs were tried, for the one who reads the log.
	units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$found/$name.log")
	if [ "$status" = 0 ] && [ "${units:-0}" -gt 0 ]; then
		echo "ok $number - fuzz_$name, $units inputs in $seconds s"
	else
		failed=1
		echo "not ok $number - fuzz_$name"
		tail -n 60 "$found/$name.log" | sed 's/^/# /'
		for input in "$found/$name"/*-*; do
			[ -f "$input" ] || continue
			echo "# ${input##*/}, up to 2,048 bytes:"
			od -A x -t x1z -N 2048 "$input" | sed 's/^/# /'
		done
	fi
done
exit $failed
