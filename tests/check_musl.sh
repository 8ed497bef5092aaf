#!/bin/sh
# All of src and ui is C of which another libc has the headers, too: musl's (musl-tools), with those of
# the libraries. Nothing is compiled. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
build=${TESTS_BUILDDIR:-build/tests}/..

if ! command -v musl-gcc >/dev/null; then
	echo '1..0 # SKIP no musl-gcc'
	exit 0
fi
echo 1..1
multiarch=$(cc -print-multiarch 2>/dev/null)
# shellcheck disable=SC2046 # one word an argument
find "$srcdir/src" "$srcdir/ui" -name '*.c' ! -name '*.bpf.c' | LC_ALL=C sort | while IFS= read -r file; do
	musl-gcc -fsyntax-only -w -std=gnu11 -include "$build/config.h" -I"$srcdir/src" -I"$srcdir" \
		-isystem "$build/src" -DPKGDATADIR='"."' \
		$(pkg-config --cflags libnl-genl-3.0 ncursesw) -idirafter /usr/include \
		-idirafter "/usr/include/$multiarch" "$file" 2>&1 | grep -E 'error' | head -n 3
done >"$work/errors"
found "$(cat "$work/errors")" 'src and ui compile with the headers of musl'
exit $failed
