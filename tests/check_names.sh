#!/bin/sh
# Holds that a name stands for one thing: struct tags are defined once, and few
# names of static functions are used in several files. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir" || exit 1
limit=25

# shellcheck disable=SC2046 # one word a file
names=$(awk '
/^(static|const|typedef|extern| )*struct [a-z_0-9]+ \{/ {
	sub(/ \{.*/, "")
	sub(/.*struct /, "")
	print "struct", $0, FILENAME
}
/^static .*[ *][a-z_0-9]+\(/ && !/;[ \t]*$/ && !/=/ {
	gsub(/__attribute__ *\(\([^)]*\)+ */, "")
	sub(/\(.*/, "")
	sub(/.*[ *]/, "")
	print "function", $0, FILENAME
}' $(find src ui -name '*.[ch]') | sort -u)

# Prints those of a kind that several files have, with their files.
find_shared() {
	echo "$names" | awk -v kind="$1" '
$1 == kind { files[$2] = files[$2] " " $3; n[$2]++ }
END { for (name in n) if (n[name] > 1) print name ":" files[name] }' | sort
}

echo 1..2
found "$(find_shared struct)" 'a struct is defined in one file'
find_shared function >"$work/out"
count=$(grep -c . "$work/out")
[ "$count" -le $limit ]
result $? "$count names of static functions are in several files, $limit at most"
exit $failed
