#!/bin/sh
# Holds that what programs in the kernel load of its types are unsigned numbers: libbpf adjusts the
# size of a load only between those, and refuses the program where a signed one has another size in
# the kernel that runs (on_rq is a byte since 7.2). 8 bytes cannot grow, bytes of a name are no
# numbers. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

# signed_members FILE: lines of records with a signed number below 8 bytes.
signed_members() {
	awk '
/attribute push/ { inside = 1 }
/attribute pop/ { inside = 0 }
inside && /;/ && /^[\t ]*(const |volatile )*(signed |short|int|char|__s8|__s16|__s32)/ &&
	!/\*/ && !/\[/ { print FILENAME ":" FNR ": " $0 }' "$1"
}

echo 1..2
found "$(signed_members "$srcdir/src/bpf/kernel_types.h")" 'numbers of the kernel are unsigned'

sed 's/__u32 prio;/int prio;/' "$srcdir/src/bpf/kernel_types.h" >"$work/out"
signed_members "$work/out" | grep -q 'int prio;'
result $? 'a signed one would be found'


exit $failed
