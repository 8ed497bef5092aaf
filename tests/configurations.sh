#!/bin/sh
# Builds stalltop without each part that it can do without, warnings as errors, and runs the unit
# tests of each build; then looks whether the program says what it lacks, and is not linked with
# that. TAP; not part of `make check`, as each build takes a minute or two:
#   tests/configurations.sh [NAME...]
# With ccache installed, what is the same in several builds is compiled once.
set -u
source=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tests/lib/tap.sh
. "$source/tests/lib/tap.sh"

# name | arguments of configure | the line of --version | what it is then not linked with
rows="bpf|--with-bpf=no|bpf: unavailable (not built in: --with-bpf=no)|libbpf
microhttpd|--with-microhttpd=no|metrics over HTTP: not built in (--with-microhttpd=no)|libmicrohttpd
procps|--with-procps=no|libproc2 or libprocps: not built in (--with-procps=no)|libproc
libdw|--with-libdw=no|functions of programs: not built in (--with-libdw=no)|libdw
all|--with-bpf=no --with-microhttpd=no --with-procps=no --with-libdw=no|metrics over HTTP: not built in (--with-microhttpd=no)|libmicrohttpd"

names=$(echo "$rows" | cut -d'|' -f1)
for name; do
	echo "$names" | grep -qx -- "$name" || {
		echo "configurations.sh: no such configuration: $name (of: $(echo "$names" | paste -sd ' '))" >&2
		exit 2
	}
done
# shellcheck disable=SC2086 # one word a name
[ $# -gt 0 ] || set -- $names

CC=${CC:-gcc}
if command -v ccache >/dev/null; then
	CC="ccache $CC"
	# The builds lie side by side: their paths to the source are the same.
	export CCACHE_DIR="${CCACHE_DIR:-$work/ccache}" CCACHE_NOHASHDIR=1
fi
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# without NAME ARGUMENT...: configures, builds and tests, in a folder of its own.
without() {
	mkdir "$work/$1" && cd "$work/$1" || return 1
	shift
	"$source/configure" --enable-werror "CC=$CC" CFLAGS='-O1' "$@" &&
		make -s -j "$jobs" stalltop && make -s -j "$jobs" script_tests= check-unit
}

[ -x "$source/configure" ] || (cd "$source" && autoreconf -i) >"$work/out" 2>&1 || {
	cat "$work/out" >&2
	exit 1
}
echo "1..$(($# * 3))"
for name; do
	row=$(echo "$rows" | grep "^$name|")
	arguments=$(echo "$row" | cut -d'|' -f2)
	words=$(echo "$row" | cut -d'|' -f3)
	library=$(echo "$row" | cut -d'|' -f4)
	# shellcheck disable=SC2086 # several
	(without "$name" $arguments) >"$work/out" 2>&1
	result $? "$name: builds, and its unit tests pass ($arguments)"
	"$work/$name/stalltop" --version >"$work/out" 2>&1 && grep -qF -- "$words" "$work/out"
	result $? "$name: --version says so"
	readelf -d "$work/$name/stalltop" >"$work/out" 2>&1 &&
		! grep -q "NEEDED.*\[${library:-none}" "$work/out"
	result $? "$name: it is not linked with it"
	rm -rf "${work:?}/$name"
done
exit $failed
