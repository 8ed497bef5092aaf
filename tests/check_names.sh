#!/bin/sh
# Holds that a struct's tag stands for one thing: it is defined once. TAP.
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

echo 1..1
found "$shared" 'a struct is defined in one file'
exit $failed
