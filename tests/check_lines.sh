#!/bin/sh
# The ratchet: no folder has more lines than tests/lines.txt grants. What costs more is paid for
# elsewhere, or changes a line there, and the commit says why. LINES=write lowers what has become
# less. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir" || exit 1
budget=tests/lines.txt

# Prints "NAME FIGURE" of each folder of src and ui, of both, of their files and of headers below 40
# lines among them, and of tests.
count() {
	find src ui tests -type f \( -name '*.[ch]' -o -name '*.sh' \) ! -name '*.skel.h' \
		-exec wc -l {} + | LC_ALL=C awk '
$2 == "total" { next }
{ folder = $2; sub(/\/[^\/]*$/, "", folder) }
folder ~ /^tests/ { sum["tests"] += $1; next }
{
	sum[folder] += $1
	sum["src+ui"] += $1
	sum["files"]++
	sum["small-headers"] += $2 ~ /\.h$/ && $1 < 40
}
END { for (name in sum) print name, sum[name] }' | LC_ALL=C sort
}

count >"$work/now"
if [ "${LINES:-}" = write ]; then
	awk 'FILENAME == ARGV[1] { now[$1] = $2; next }
/^#/ || !NF { print; next }
{ print $1, now[$1] + 0 < $2 ? now[$1] + 0 : $2 }' "$work/now" "$budget" >"$work/lower" &&
		cat "$work/lower" >"$budget"
fi
echo 1..1
found "$(awk 'FILENAME == ARGV[1] { if (!/^#/ && NF) granted[$1] = $2; next }
!($1 in granted) { print $1 ": " $2 ", none are granted"; next }
$2 > granted[$1] { print $1 ": " $2 ", granted are " granted[$1] }' "$budget" "$work/now")" \
	"no folder has more lines than $budget grants"
exit $failed
