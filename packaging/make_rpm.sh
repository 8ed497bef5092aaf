#!/bin/sh
# Makes an RPM package of a source archive, below rpm/ in the present folder, and looks at it with
# rpmlint if that is there.
#   make_rpm.sh ARCHIVE SPEC.in VERSION
set -eu
archive=$(readlink -f "$1")
spec=$(readlink -f "$2")
top=$PWD/rpm

mkdir -p "$top/SOURCES" "$top/SPECS"
# Only what is made now is looked at.
rm -rf "$top/RPMS" "$top/SRPMS"
cp "$archive" "$top/SOURCES/"
packager=${RPM_PACKAGER:-stalltop <root@$(hostname -f 2>/dev/null || hostname)>}
sed "s/@VERSION@/$3/; s/@PACKAGER@/$packager/" "$spec" >"$top/SPECS/stalltop.spec"
# Who builds is the packager.
# shellcheck disable=SC2086 # one word an argument
rpmbuild -ba --define "_topdir $top" \
	--define "packager $packager" \
	${RPM_FLAGS:-} "$top/SPECS/stalltop.spec"
if command -v rpmlint >/dev/null; then
	rpmlint -c "${spec%/*}/rpmlint.toml" "$top/SPECS/stalltop.spec" "$top"/RPMS/*/*.rpm \
		"$top"/SRPMS/*.rpm
fi
