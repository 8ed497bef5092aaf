#!/bin/sh
# The source archive, as it is released: it has all files of the repository, is the same twice,
# and builds, installs and removes from a folder that may not be written to. The tests are
# `make check`'s, not of this. TAP.
#   .ci/package.sh BUILD
set -u
build=$1
n=0
failed=0

# report WHAT STATUS: a line of TAP.
report() {
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		failed=1
	fi
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
echo 1..3

make -s -C "$build" dist >"$work/log" 2>&1 || cat "$work/log"
archive=$(ls "$build"/stalltop-*.tar.gz) && cp "$archive" "$work/first" &&
	make -s -C "$build" dist >"$work/log" 2>&1
cmp "$work/first" "$archive"
report 'the archive is the same twice' $?

tar -tzf "$archive" | sed 's|^[^/]*/||' | sort >"$work/packed"
git ls-files | grep -vE '^(\.ci/|\.gitignore$)' | sort >"$work/there"
comm -13 "$work/packed" "$work/there" >"$work/missing"
sed 's/^/# missing: /' "$work/missing"
[ ! -s "$work/missing" ]
report 'the archive has all files' $?

make -s -C "$build" distcheck TESTS= check_PROGRAMS= check_LIBRARIES= \
	DISTCHECK_CONFIGURE_FLAGS=--with-bpf=yes >"$work/log" 2>&1
status=$?
[ $status -eq 0 ] || tail -n 40 "$work/log" | sed 's/^/# /'
report 'make distcheck' $status
exit $failed
