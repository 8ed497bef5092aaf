#!/bin/sh
# Holds the house as doc/HACKING.md tells it: which file may include which. The
# ranks are in ranks.txt. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
cd "$srcdir" || exit 1

# Prints what breaks a rule, as "RULE FILE:LINE: words".
find_breaks() {
	# shellcheck disable=SC2046 # one word a file
	awk '
# The rank of src/NAME or ui/NAME, "" when it has none.
function rank(stem,    i, start)
{
	for (i = 1; i <= patterns; i++) {
		start = pattern[i]
		if (start == stem || (sub(/\*$/, "", start) && index(stem, start) == 1))
			return rank_of[i]
	}
	return ""
}

function exists(path,    line, there)
{
	there = (getline line < path) >= 0
	close(path)
	return there
}

FILENAME == "tests/ranks.txt" {
	sub(/#.*/, "")
	if (NF == 2) {
		pattern[++patterns] = $1
		rank_of[patterns] = $2
	} else if (NF) {
		print "rank", FILENAME ":" FNR ": a line is FILE RANK"
	}
	next
}

FNR == 1 {
	stem = FILENAME
	sub(/\.[ch]$/, "", stem)
	room = stem
	sub(/\/.*/, "", room)
	mine = rank(stem)
	includes = 0
	if (mine == "")
		print "rank", FILENAME ":1: " stem " has no rank in tests/ranks.txt"
	if (stem == "src/config")
		print "config", FILENAME ":1: hides the config.h that configure makes"
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	system_header = /include[ \t]*</
	file = $0
	sub(/^[^<"]*[<"]/, "", file)
	sub(/[>"].*/, "", file)
	at = FILENAME ":" FNR ": includes " file

	# It says which functions the system headers declare.
	if (!includes++ && FILENAME ~ /\.c$/ && FILENAME !~ /\.bpf\.c$/ && file != "config.h")
		print "config", at " before config.h"

	if (room == "src" && file ~ /(^|\/)(n?curses|panel|term|menu|form)\.h$/)
		print "curses", at
	if (room == "ui" &&
	    file ~ /^(netlink\/|linux\/(netlink|genetlink|rtnetlink|taskstats|cgroupstats))/)
		print "netlink", at

	if (system_header || file == "config.h")
		next
	sub(/\.h$/, "", file)
	if (file ~ /^(src|ui)\//)
		other = file
	else
		other = (exists(room "/" file ".h") ? room : "src") "/" file
	if (room == "src" && stem != "src/main" && other ~ /^ui\//)
		print "ui", at
	if (other == stem)
		next
	theirs = rank(other)
	if (theirs == "")
		print "order", at ", which has no rank"
	else if (mine != "" && theirs + 0 >= mine + 0)
		print "order", at " of rank " theirs ", and is itself of rank " mine
}' tests/ranks.txt $(ls src/*.[ch] ui/*.[ch] 2>/dev/null)
}

breaks=$(find_breaks) || {
	echo "Bail out! awk could not read the sources"
	exit 1
}

echo 1..6
number=0
while read -r rule words; do
	number=$((number + 1))
	found=$(echo "$breaks" | sed -n "s/^$rule /# /p")
	if [ -n "$found" ]; then
		echo "not ok $number - $words"
		echo "$found"
	else
		echo "ok $number - $words"
	fi
done <<EOF
rank every file of src and ui has a rank
order a file includes its own header and lower ranks
config config.h comes first, and is the one that configure makes
curses src includes no curses
netlink ui includes no netlink
ui of src only main.c includes ui
EOF
