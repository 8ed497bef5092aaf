#!/bin/sh
# Makes an RPM package of a source archive, below rpm/ in the present folder.
#   make_rpm.sh ARCHIVE SPEC.in VERSION
set -eu
archive=$(readlink -f "$1")
spec=$(readlink -f "$2")
top=$PWD/rpm

mkdir -p "$top/SOURCES" "$top/SPECS"
cp "$archive" "$top/SOURCES/"
sed "s/@VERSION@/$3/" "$spec" >"$top/SPECS/stalltop.spec"
if command -v rpmlint >/dev/null; then
	rpmlint "$top/SPECS/stalltop.spec"
fi
# shellcheck disable=SC2086 # one word an argument
rpmbuild -ba --define "_topdir $top" ${RPM_FLAGS:-} "$top/SPECS/stalltop.spec"
