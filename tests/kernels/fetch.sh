#!/bin/bash
# Fetches the newest kernel that a row of kernels.txt matches, and unpacks it:
#
#   fetch.sh CACHE NAME
#
# Leaves CACHE/NAME/tree with boot/ and lib/modules/ and CACHE/NAME/version; what is there already
# and is still the newest stays. A lock on CACHE/NAME/lock holds off others. Prints the version.
# Where it ends with status 1, it printed one line that says why. Lines that begin with "# " are
# remarks.
#
# The packages come by an apt of its own (tests/lib/apt.sh). No root.
set -u -o pipefail
here=$(dirname "$0")
cache=$1/$2
name=$2

fail() {
	echo "$*"
	exit 1
}

# shellcheck source=tests/lib/apt.sh
. "$here/../lib/apt.sh"
read -r _ apt_arch apt_suites pattern _ < <(awk -v name="$name" '!/^#/ && $1 == name' "$here/kernels.txt")
[ -n "${pattern:-}" ] || fail "kernels.txt has no row of that name"
for program in apt-get dpkg-deb flock; do
	command -v $program >/dev/null || fail "needs $program"
done
mkdir -p "$cache/apt" || fail "cannot make $cache"
cd "$cache" || exit 1
cache=$PWD
apt_folder=$cache
exec 9>lock
flock 9 || fail "cannot lock $cache"

# newest: name and version of the newest package that matches.
newest() {
	local packages
	mapfile -t packages < <(apt_ours apt-cache pkgnames linux-image- | grep -xE "$pattern")
	[ ${#packages[@]} -gt 0 ] || return 1
	apt_ours apt-cache show "${packages[@]}" |
		awk '$1 == "Package:" { name = $2 } $1 == "Version:" { print $2, name }' |
		sort -V | awk 'END { print $2, $1 }'
}

# unpack PACKAGE VERSION: it, and those that it is split into since 7.x, as a tree.
unpack() {
	local parts
	rm -rf new && mkdir -p new/tree || return 1
	mapfile -t parts < <(apt_ours apt-cache show "$1=$2" | sed -n 's/^Depends: //p' | tr ',' '\n' |
		sed -n 's/^ *\(linux-\(base\|binary\|modules\)-[^ ]*\) (= \(.*\))/\1=\3/p')
	(cd new && apt_ours apt-get download "$1=$2" "${parts[@]}") >fetch.log 2>&1 || return 1
	for package in new/*.deb; do
		dpkg-deb -x "$package" new/tree >>fetch.log 2>&1 || return 1
	done
	# Packages since 7.x have modules in usr/lib.
	[ -d new/tree/lib/modules ] || mv new/tree/usr/lib new/tree/lib || return 1
	depmod -b new/tree "$(ls new/tree/lib/modules)" >>fetch.log 2>&1 || return 1
	rm -rf tree version && mv new/tree tree && rm -rf new && echo "$2 $1" >version
}

trouble=
apt_lists >apt/log 2>&1 || trouble=$(sed -n 's/^[EW]: *//p' apt/log | head -n 1)
# Without all lists what was fetched before may be newer than what is found.
if [ -n "$trouble" ] && [ -e version ]; then
	echo "# $trouble; the one that was fetched before is taken"
	cut -d ' ' -f 1 version
	exit 0
fi
read -r package version < <(newest) ||
	fail "${trouble:-no package in $apt_suites ($apt_arch) is called $pattern}"
[ -z "$trouble" ] || echo "# $trouble; there may be a newer one"
if [ "$(cat version 2>/dev/null)" != "$version $package" ]; then
	unpack "$package" "$version" || fail "$package $version: $(tail -n 1 fetch.log)"
fi
echo "$version"
