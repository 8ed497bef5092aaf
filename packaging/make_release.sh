#!/bin/sh
# Gathers a release in the folder release-VERSION below the present one: the source archive, the
# Debian package and the static binary, which lie here already, with their checksums. Who has a key
# of gpg's (GPG_KEY, or the default one) signs these.
#   make_release.sh ARCHIVE VERSION
set -eu
archive=$1
version=$2
folder=release-$version

rm -rf "$folder"
mkdir "$folder"
cp "$archive" stalltop_"$version"-*.deb stalltop-"$version"-linux-"$(uname -m)" "$folder/"
cd "$folder"
sha256sum -- * >SHA256SUMS
if gpg --list-secret-keys ${GPG_KEY:+"$GPG_KEY"} 2>/dev/null | grep -q .; then
	gpg --batch --yes ${GPG_KEY:+--local-user "$GPG_KEY"} --armor --detach-sign SHA256SUMS
else
	echo "make_release.sh: not signed, there is no key (GPG_KEY)" >&2
fi
ls -l
