#!/bin/sh
# Holds that a name stands for one thing: a struct's tag is defined once, and so is a static function's
# name (of src and ui). TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir" || exit 1

# shellcheck disable=SC2046 # one word a file
shared=$(awk '
/^(static|const|typedef|extern| )*struct [a-z_0-9]+ \{/ {
	sub(/ \{.*/, "")
	sub(/.*struct /, "")
	if (files[$0] !~ " " FILENAME "$")
		files[$0] = files[$0] " " FILENAME
}
END {
	for (name in files)
		if (split(files[name], all, " ") > 1)
			print name ":" files[name]
}' $(find src ui -name '*.[ch]') | sort)

# shellcheck disable=SC2046 # one word a file
twice=$(awk '
# A definition may go on for lines: it is one where a brace comes before a semicolon.
/^static .*[a-z_0-9]+\(/ {
	name = $0
	sub(/__attribute__\(\(.*\)\) */, "", name)
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	rest = $0
	while (rest !~ /[;{]/ && (getline line) > 0)
		rest = rest line
	if (rest !~ /^[^;{]*\{/ && (getline line) > 0)
		rest = rest line
	if (rest !~ /^[^;]*\{/ || files[name] ~ " " FILENAME "$")
		next
	files[name] = files[name] " " FILENAME
}
END {
	for (name in files)
		if (split(files[name], all, " ") > 1)
			print name ":" files[name]
}' $(find src ui -name '*.c') | sort)

echo 1..2
found "$shared" 'a struct is defined in one file'
found "$twice" 'a static function has a name of its own'
exit $failed
