#!/bin/sh
# Proves the README's two commands in a Debian that has nothing: debootstrap
# (minbase) into a temporary folder, a clone of this repository into it, chroot,
# ./bootstrap run and ./bootstrap check. Root only; not part of `make check`:
#   tests/bare_debian.sh [--work-tree] [--ci]
# --work-tree takes the files as they are in place of the last commit, --ci runs
# .ci/run as well. The suite is BARE_SUITE (bookworm), from the mirror that this
# host's apt is set to.
set -u
suite=${BARE_SUITE:-bookworm}
source=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tests/lib/debian.sh
. "$source/tests/lib/debian.sh"

fail() {
	echo "bare_debian.sh: $*" >&2
	exit 1
}

work_tree=
ci=
for argument; do
	case $argument in
	--work-tree) work_tree=1 ;;
	--ci) ci=1 ;;
	*)
		echo "usage: tests/bare_debian.sh [--work-tree] [--ci]" >&2
		exit 2
		;;
	esac
done
debian_require || exit 1

top=$(mktemp -d) || exit 1
trap 'umount -l "$debian" 2>/dev/null; rm -rf --one-file-system "$top"' EXIT
trap 'exit 1' HUP INT TERM
debian=$top/debian
# A mount of its own: in it / is one, as tests with file systems of their own need it.
mkdir "$debian" && mount --bind "$debian" "$debian" && mount --make-private "$debian" ||
	fail "cannot mount $debian"

echo "== debootstrap $suite"
debian_make "$suite" "$debian" "$top/log" || fail "debootstrap failed"

if [ -n "$work_tree" ]; then
	debian_put "$source" "$debian" || exit 1
else
	git clone -q --no-local "$source" "$debian/stalltop" || fail "git clone failed"
fi

# try WORDS COMMAND: runs it and reports.
failures=0
try() {
	echo "== $1"
	start=$(date +%s)
	in_debian "$debian" "$2"
	status=$?
	echo "== $1: status $status, $(($(date +%s) - start)) s"
	[ $status -eq 0 ] || failures=$((failures + 1))
}

try './bootstrap run' './bootstrap run -b -n 1 -d 1'
try './bootstrap run, nothing due' './bootstrap run -b -n 1 -d 1'
try './bootstrap check' './bootstrap check'
if [ -n "$ci" ]; then
	try '.ci/run' "CI=true FUZZ_SECONDS=${FUZZ_SECONDS:-60} bash .ci/run"
fi

if [ $failures -ne 0 ]; then
	echo "$failures failed"
	exit 1
fi
echo "all passed"
