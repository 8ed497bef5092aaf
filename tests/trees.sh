#!/bin/sh
# Builds stalltop in Debian's releases, each in a tree of its own: what ./bootstrap installs there,
# warnings as errors, unit tests; a table at the end. Root only; not part of `make check`:
#   tests/trees.sh [SUITE...]        (bullseye bookworm trixie)
# TREES is a folder in which the trees, TREES/SUITE, are taken if they are there, and kept; without
# it they are made below a temporary folder, and removed. A tree takes 2 GB, and 3 to 10 minutes.
set -u
source=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tests/lib/debian.sh
. "$source/tests/lib/debian.sh"
debian_require || exit 1

[ $# -gt 0 ] || set -- bullseye bookworm trixie
if [ -n "${TREES:-}" ]; then
	trees=$(mkdir -p "$TREES" && cd "$TREES" && pwd) || exit 1
else
	trees=$(mktemp -d) || exit 1
	trap 'rm -rf --one-file-system "$trees"' EXIT
	trap 'exit 1' HUP INT TERM
fi

# prepare SUITE: makes the tree, if it is missing, and puts the files of this work tree there.
prepare() {
	if [ ! -d "$trees/$1" ]; then
		rm -rf --one-file-system "$trees/$1.new"
		debian_make "$1" "$trees/$1.new" "$trees/$1.log" || return 1
		# Pages of manuals would take a good part of the time.
		printf 'path-exclude=/usr/share/%s/*\n' man doc locale \
			>"$trees/$1.new/etc/dpkg/dpkg.cfg.d/90small" || return 1
		mv "$trees/$1.new" "$trees/$1" || return 1
	fi
	mkdir -p "$trees/$1/stalltop" || return 1
	# What the work tree has no more must not stay; what was built there may.
	find "$trees/$1/stalltop" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	debian_put "$source" "$trees/$1"
}

# count PATTERN FILE...: in how many lines it is.
count() {
	pattern=$1
	shift
	cat /dev/null "$@" 2>/dev/null | grep -c -- "$pattern"
}

# row SUITE: what was seen in that tree, as the cells of a table's row.
row() {
	build=$trees/$1/stalltop/build
	# shellcheck disable=SC2046 # one word a file
	set -- $(find "$build/tests" -name '*.trs' 2>/dev/null)
	passed=$(count '^:test-result: PASS' "$@")
	failed=$(count '^:test-result: \(FAIL\|ERROR\|XPASS\)' "$@")
	skipped=$(count '^:test-result: SKIP' "$@")
	absent=$(sed -n 's/^configure:[0-9]*: \(.*\): not built in: /\1: /p' "$build/config.log" |
		paste -sd '|' | sed 's/|/; /g')
	echo "| ${absent:-nothing} | $(count 'warning:' "$trees/$suite.out" "$build/bootstrap.log") |" \
		"$passed passed, $failed failed, $skipped skipped |"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

failures=0
table=
for suite; do
	echo "== $suite"
	start=$(date +%s)
	status=1
	# Results of an earlier run must not count.
	find "$trees/$suite/stalltop/build/tests" \( -name '*.trs' -o -name '*.log' \) -delete 2>/dev/null
	rm -f "$trees/$suite/stalltop/build/.bootstrap"
	if prepare "$suite"; then
		in_debian "$trees/$suite" 'export BOOTSTRAP_CONFIGURE=--enable-werror
			./bootstrap deps check && ./bootstrap make check-programs &&
			VERBOSE=1 ./bootstrap make -s script_tests= check-unit' >"$trees/$suite.out" 2>&1
		status=$?
	fi
	[ $status -eq 0 ] || tail -n 40 "$trees/$suite.out"
	cells=$(row "$suite") || status=1
	[ $status -eq 0 ] || failures=$((failures + 1))
	table="$table| $suite $cells
"
	echo "== $suite: status $status, $(($(date +%s) - start)) s"
done
printf '\n| suite | not built in | warnings | unit tests |\n| --- | --- | --- | --- |\n%s' "$table"
[ $failures -eq 0 ]
