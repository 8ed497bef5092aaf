#!/bin/sh
# Makes a Debian package of a source archive, in the present folder, and looks at it with
# lintian if that is there.
#   make_deb.sh ARCHIVE FOLDER_DEBIAN
# The maintainer is who builds: DEBFULLNAME and DEBEMAIL, as devscripts take them.
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
maintainer="${DEBFULLNAME:-stalltop} <${DEBEMAIL:-root@$(hostname -f 2>/dev/null || hostname)}>"
sed -i "s/@MAINTAINER@/$maintainer/" debian/control debian/changelog
# Those who package without being of Debian have no key.
# shellcheck disable=SC2086 # one word an argument
dpkg-buildpackage -us -uc ${DEB_FLAGS:-}
cd ..
mv stalltop*"$version"*.* "$here/"
if command -v lintian >/dev/null; then
	# An address of a machine is no fault of the package.
	tags=initial-upload-closes-no-bugs
	[ -n "${DEBEMAIL:-}" ] || tags=bogus-mail-host,mail-contact,malformed-contact,root-in-contact
	lintian --fail-on error,warning --suppress-tags $tags "$here"/stalltop_"$version"*.changes
fi
