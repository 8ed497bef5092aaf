#!/bin/sh
# The manual page in the tree is what the program's tables make of it. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
program=${STALLTOP:-stalltop}
page=$srcdir/doc/stalltop.1

echo 1..1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

if ! sh "$srcdir/doc/make_manual.sh" "$program" "$page.in" >"$work/page" 2>"$work/errors"; then
	echo "not ok 1 - doc/stalltop.1 is current"
	sed 's/^/# /' "$work/errors"
	exit 1
fi
if ! diff -u "$page" "$work/page" >"$work/diff"; then
	echo "not ok 1 - doc/stalltop.1 is current"
	echo "# it is stale: make manual writes it anew"
	sed 's/^/# /' "$work/diff"
	exit 1
fi
echo "ok 1 - doc/stalltop.1 is current"
