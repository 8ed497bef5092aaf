#!/bin/sh
# The manual pages and the completions in the tree are what the program's tables make of
# them. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
program=${STALLTOP:-stalltop}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

set -- doc/stalltop.1 doc/stalltop-recording.5 completions/stalltop.bash completions/_stalltop completions/stalltop.fish
echo "1..$#"
for page; do
	# Where it is stale, make manual writes it anew.
	sh "$srcdir/doc/make_manual.sh" "$program" "$srcdir/$page.in" >"$work/page" 2>"$work/out" &&
		diff -u "$srcdir/$page" "$work/page" >"$work/out"
	result $? "$page is current (make manual)"
done
exit $failed
