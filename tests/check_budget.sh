#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a refresh may cost: instructions of the program and its libraries, by callgrind, and system
# calls, of each line of budget.txt, beside what it takes now. Both hardly depend on what else
# runs: the processes are in a namespace of their own. What costs more than its line allows is
# paid for elsewhere, or changes the line, and the commit says why. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
TESTS_BUILDDIR=${TESTS_BUILDDIR:-tests}
STALLTOP=${STALLTOP:-./stalltop}
budget=$srcdir/tests/budget.txt

# What other compilers and libraries of the same release may add, in percent; and to the calls,
# what tasks add that end elsewhere meanwhile.
slack=30
calls_slack=50
# Refreshes of the two runs: what starting costs is in both.
few=6
many=26

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

# In the namespace: runs the command for each of its lines, of so many samples.
if [ "${1-}" = inside ]; then
	work=$2
	"$TESTS_BUILDDIR/load/load_sleepers" 500 >"$work/ready" &
	until grep -qs ready "$work/ready"; do sleep 0.1; done
	while read -r name _ _ how options; do
		case $name in '' | '#'*) continue ;; esac
		terminal=
		[ "$how" = batch ] || terminal="$TESTS_BUILDDIR/bench/meter -t -l 120"
		for samples in $few $many; do
			# shellcheck disable=SC2086 # words
			$terminal valgrind --tool=callgrind --callgrind-out-file="$work/$name.$samples" \
				--trace-syscalls=yes --log-file="$work/$name.$samples.log" \
				"$STALLTOP" -n $samples -d 0.1 $options >/dev/null 2>"$work/error" </dev/null ||
				sed 's/^/# /' "$work/error"
		done
	done <"$budget"
	exit
fi

[ "$(uname -m)" = x86_64 ] || skip_all 'the budget is that of amd64'
[ "$(id -u)" = 0 ] || skip_all 'only root has the sources that are measured'
command -v valgrind >/dev/null || skip_all 'valgrind is not installed'
case ${CFLAGS-} in *-O2*) ;; *) skip_all 'the budget is that of -O2' ;; esac

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TESTS_BUILDDIR STALLTOP
unshare --pid --fork --mount-proc sh "$0" inside "$work"

# instructions FILE, calls FILE: of a run.
instructions() {
	awk '/^(summary|totals):/ { n = $2 } END { print n + 0 }' "$1"
}

# The program's own, not its helper's: SYSCALL[PID,...](...) sys_NAME. A clock is read without a call
# where valgrind is not in the way.
calls() {
	awk -F '[][,]' '/^SYSCALL/ { own = own ? own : $2 }
		$2 == own && /\) sys_/ && !/sys_clock_gettime/ { n++ }
		END { print n + 0 }' "$1.log"
}

echo "1..$(grep -vc '^#' "$budget")"
failed=0 number=0
while read -r name thousands allowed _; do
	case $name in '' | '#'*) continue ;; esac
	number=$((number + 1))
	takes=$((($(instructions "$work/$name.$many") - $(instructions "$work/$name.$few")) / (many - few) / 1000))
	asks=$((($(calls "$work/$name.$many") - $(calls "$work/$name.$few") + (many - few) / 2) / (many - few)))
	not=
	if [ $takes -le 0 ] || [ $takes -gt $((thousands + thousands * slack / 100)) ] ||
		[ $asks -gt $((allowed + allowed * calls_slack / 100 + 5)) ]; then
		not='not '
		failed=1
	fi
	echo "${not}ok $number - $name: $takes thousand instructions of $thousands, $asks calls of $allowed"
done <"$budget"
exit $failed
