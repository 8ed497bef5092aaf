#!/bin/sh
# The manual pages and the completions in the tree are what the program's tables make of
# them. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
program=${STALLTOP:-stalltop}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

# The most lines of stalltop(1), 100 columns wide.
most_lines=900

pages='doc/stalltop.1 doc/stalltop-figures.7 doc/stalltop-findings.7 doc/stalltop-formats.5
	doc/stalltop-metrics.7 doc/stalltop-recording.5'
# shellcheck disable=SC2086 # words
set -- $pages doc/stalltop.schema.json completions/stalltop.bash completions/_stalltop completions/stalltop.fish
echo "1..$(($# + 3))"
for page; do
	# Where it is stale, make manual writes it anew.
	sh "$srcdir/doc/make_manual.sh" "$program" "$srcdir/$page.in" >"$work/page" 2>"$work/out" &&
		diff -u "$srcdir/$page" "$work/page" >"$work/out"
	result $? "$page is current (make manual)"
done

(cd "$srcdir" && mandoc -Tlint $pages) >"$work/out" 2>&1
result $? 'mandoc has nothing against the pages'

lines=$(mandoc -Tascii -O width=100 "$srcdir/doc/stalltop.1" | wc -l)
echo "$lines lines" >"$work/out"
[ "$lines" -le $most_lines ]
result $? "stalltop(1) has at most $most_lines lines"

# What users look for, in their words, and the page that has it.
missing=0
while IFS='|' read -r page words; do
	mandoc -Tascii -O width=100 "$srcdir/doc/$page" | sed 's/.\x08//g' | tr -s '\n ' '  ' >"$work/text"
	grep -qi -e "$words" "$work/text" && continue
	missing=1
	echo "$page: $words" >>"$work/out"
done <<'END'
stalltop.1|sysctl kernel.task_delayacct=1
stalltop.1|what happened at 03:12
stalltop-figures.7|off-CPU
stalltop-findings.7|what to do
stalltop-figures.7|throttled
stalltop-metrics.7|Grafana
stalltop-recording.5|hang 30s
END
result $missing 'what users look for is found by their words'
exit $failed
