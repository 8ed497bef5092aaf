#!/bin/sh
# The core has no curses: no symbol that libcore.a leaves to others is one that
# the curses libraries define. TAP.
set -u
builddir=${TESTS_BUILDDIR:-tests}/..

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

echo 1..1

# end PROBLEMS: the only result.
end() {
	found "$1" 'no curses symbol in the core'
	exit $failed
}

# Which files they are, a program tells that is linked with them for nothing else.
# shellcheck disable=SC2086 # one word a flag
echo 'int main(void) { return 0; }' |
	${CC:-cc} -x c - -x none -o "$work/program" -Wl,--no-as-needed ${NCURSESW_LIBS:--lncursesw} \
		>"$work/errors" 2>&1 || end "$(cat "$work/errors")"
libraries=$(ldd "$work/program" | awk '/lib(ncurses|tinfo)/ { print $3 }')

# shellcheck disable=SC2086 # one word a library
nm -D --defined-only $libraries 2>/dev/null |
	awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/curses"
nm -u "$builddir/libcore.a" | awk '$1 == "U" { print $2 }' | sort -u >"$work/core"
if ! grep -qx initscr "$work/curses" || [ ! -s "$work/core" ]; then
	end "nm gave no symbols of libcore.a or of: $libraries"
fi

end "$(comm -12 "$work/curses" "$work/core")"
