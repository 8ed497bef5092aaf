#!/bin/sh
# Makes a Debian package of a source archive, in the present folder, and looks at it with
# lintian if that is there.
#   make_deb.sh ARCHIVE FOLDER_DEBIAN
# The maintainer is who builds: DEBFULLNAME and DEBEMAIL, as devscripts take them; DEBHOMEPAGE is
# where the package is to be found. What is not set is said, and no machine's name takes its place.
set -eu
archive=$(readlink -f "$1")
debian=$(readlink -f "$2")
name=$(basename "$archive" .tar.gz)
version=${name#stalltop-}
here=$PWD

work=$(mktemp -d "$here/deb.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$archive" "$work/stalltop_$version.orig.tar.gz"
tar -xzf "$archive" -C "$work"
cp -r "$debian" "$work/$name/debian"
cd "$work/$name"
[ -n "${DEBEMAIL:-}" ] && [ -n "${DEBHOMEPAGE:-}" ] ||
	echo "make_deb.sh: to publish the package, set DEBEMAIL, DEBFULLNAME (its maintainer) and DEBHOMEPAGE" >&2
maintainer="${DEBFULLNAME:-stalltop} <${DEBEMAIL:-maintainer@stalltop.invalid}>"
sed -i "s|@MAINTAINER@|$maintainer|" debian/control debian/changelog
[ -z "${DEBHOMEPAGE:-}" ] || sed -i "s|^Rules-Requires-Root: no|&\nHomepage: $DEBHOMEPAGE|" debian/control
# Those who package without being of Debian have no key.
# shellcheck disable=SC2086 # one word an argument
dpkg-buildpackage -us -uc ${DEB_FLAGS:-}
cd ..
mv stalltop*"$version"*.* "$here/"
if command -v lintian >/dev/null; then
	tags=initial-upload-closes-no-bugs
	# A maintainer who is not named is no fault of the package.
	[ -n "${DEBEMAIL:-}" ] ||
		tags=$tags,bogus-mail-host,bogus-mail-host-in-debian-changelog,mail-contact,malformed-contact
	lintian --fail-on error,warning --suppress-tags $tags "$here"/stalltop_"$version"*.changes
fi
