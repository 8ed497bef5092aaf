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
# The packages come by an apt that has its sources, lists and state here, so that those of the
# host are not touched, from the mirrors of Debian that the host's apt is set to. No root.
set -u -o pipefail
here=$(dirname "$0")
cache=$1/$2
name=$2

fail() {
	echo "$*"
	exit 1
}

read -r _ arch suites pattern _ < <(awk -v name="$name" '!/^#/ && $1 == name' "$here/kernels.txt")
[ -n "${pattern:-}" ] || fail "kernels.txt has no row of that name"
for program in apt-get dpkg-deb flock; do
	command -v $program >/dev/null || fail "needs $program"
done
mkdir -p "$cache/apt/partial" "$cache/apt/lists" || fail "cannot make $cache"
cd "$cache" || exit 1
cache=$PWD
exec 9>lock
flock 9 || fail "cannot lock $cache"

# ours COMMAND ARGUMENT...: one of apt's commands, for that architecture, with nothing of the
# host's but its configuration of how to reach a mirror.
ours() {
	local command=$1 user
	shift
	user=$(id -un)
	"$command" -q -o Dir::Etc::SourceList="$cache/apt/sources" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State="$cache/apt" -o Dir::State::Lists="$cache/apt/lists" \
		-o Dir::State::status="$cache/apt/status" -o Dir::Cache="$cache/apt" \
		-o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o APT::Sandbox::User="$user" -o Acquire::Retries=2 -o Acquire::Languages=none "$@"
}

# mirror_of SUITE: where the host's apt has Debian from, or its security updates.
mirror_of() {
	local label=Debian
	case $1 in *-security) label=Debian-Security ;; esac
	# shellcheck disable=SC2016 # the variables are apt's
	apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' 'Origin: Debian' |
		awk -v label="$label" '$2 == label { print $1; exit }'
}

# lists: the lists of the suites, as new as the mirror has them.
lists() {
	local suite mirror keys=/usr/share/keyrings/debian-archive-keyring.gpg
	: >>apt/status
	for suite in ${suites//,/ }; do
		mirror=$(mirror_of "$suite")
		if [ -z "$mirror" ]; then
			echo "E: the host's apt knows no mirror of Debian for $suite (apt-get update)" >&2
			return 1
		fi
		if [ -e $keys ]; then
			echo "deb [signed-by=$keys] $mirror $suite main"
		else
			echo "deb $mirror $suite main"
		fi
	done >apt/sources.new && mv apt/sources.new apt/sources &&
		ours apt-get update --error-on=any
}

# newest: name and version of the newest package that matches.
newest() {
	local packages
	mapfile -t packages < <(ours apt-cache pkgnames linux-image- | grep -xE "$pattern")
	[ ${#packages[@]} -gt 0 ] || return 1
	ours apt-cache show "${packages[@]}" |
		awk '$1 == "Package:" { name = $2 } $1 == "Version:" { print $2, name }' |
		sort -V | awk 'END { print $2, $1 }'
}

# unpack PACKAGE VERSION: it, and those that it is split into since 7.x, as a tree.
unpack() {
	local parts
	rm -rf new && mkdir -p new/tree || return 1
	mapfile -t parts < <(ours apt-cache show "$1=$2" | sed -n 's/^Depends: //p' | tr ',' '\n' |
		sed -n 's/^ *\(linux-\(base\|binary\|modules\)-[^ ]*\) (= \(.*\))/\1=\3/p')
	(cd new && ours apt-get download "$1=$2" "${parts[@]}") >fetch.log 2>&1 || return 1
	for package in new/*.deb; do
		dpkg-deb -x "$package" new/tree >>fetch.log 2>&1 || return 1
	done
	# Packages since 7.x have modules in usr/lib.
	[ -d new/tree/lib/modules ] || mv new/tree/usr/lib new/tree/lib || return 1
	depmod -b new/tree "$(ls new/tree/lib/modules)" >>fetch.log 2>&1 || return 1
	rm -rf tree version && mv new/tree tree && rm -rf new && echo "$2 $1" >version
}

trouble=
lists >apt/log 2>&1 || trouble=$(sed -n 's/^[EW]: *//p' apt/log | head -n 1)
# Without all lists what was fetched before may be newer than what is found.
if [ -n "$trouble" ] && [ -e version ]; then
	echo "# $trouble; the one that was fetched before is taken"
	cut -d ' ' -f 1 version
	exit 0
fi
read -r package version < <(newest) ||
	fail "${trouble:-no package in $suites ($arch) is called $pattern}"
[ -z "$trouble" ] || echo "# $trouble; there may be a newer one"
if [ "$(cat version 2>/dev/null)" != "$version $package" ]; then
	unpack "$package" "$version" || fail "$package $version: $(tail -n 1 fetch.log)"
fi
echo "$version"
