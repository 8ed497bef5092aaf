#!/bin/sh
# Holds that the code is laid out as .clang-format says. Versions differ: it is
# that of clang-format 14. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir" || exit 1
version=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [ "$version" != 14 ]; then
	echo "1..0 # SKIP no clang-format 14"
	exit 0
fi
echo 1..1
# shellcheck disable=SC2046 # one word a file
unlike=$(clang-format --dry-run $(find src ui tests -name '*.[ch]') 2>&1 |
	sed -n 's/^\([^ ]*:[0-9]*\):[0-9]*: warning.*/\1/p' | sort -u)
found "$unlike" 'clang-format changes nothing'
exit $failed
