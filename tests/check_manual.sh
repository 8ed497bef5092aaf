#!/bin/sh
# The manual page and the completions in the tree are what the program's tables make of
# them. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
program=${STALLTOP:-stalltop}
failed=0

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

set -- doc/stalltop.1 completions/stalltop.bash completions/_stalltop completions/stalltop.fish
echo "1..$#"
n=0
for page in "$@"; do
	n=$((n + 1))
	if ! sh "$srcdir/doc/make_manual.sh" "$program" "$srcdir/$page.in" >"$work/page" \
		2>"$work/errors"; then
		echo "not ok $n - $page is current"
		sed 's/^/# /' "$work/errors"
		failed=1
	elif ! diff -u "$srcdir/$page" "$work/page" >"$work/diff"; then
		echo "not ok $n - $page is current"
		echo "# it is stale: make manual writes it anew"
		sed 's/^/# /' "$work/diff"
		failed=1
	else
		echo "ok $n - $page is current"
	fi
done
exit $failed
