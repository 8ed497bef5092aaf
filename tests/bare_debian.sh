#!/bin/sh
# Proves the README's two commands in a Debian that has nothing: debootstrap
# (minbase) into a temporary folder, a clone of this repository into it, chroot,
# ./bootstrap run and ./bootstrap check. Root only; not part of `make check`:
#   tests/bare_debian.sh [--work-tree] [--ci]
# --work-tree takes the files as they are in place of the last commit, --ci runs
# .ci/run as well. The suite is BARE_SUITE (bookworm), from the mirror that this
# host's apt is set to.
#
# All mounts are made in a mount namespace of its own: they are gone with its
# last process, so that removing the folder can't reach through them.
set -u
suite=${BARE_SUITE:-bookworm}
source=$(cd "$(dirname "$0")/.." && pwd) || exit 1

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
[ "$(id -u)" = 0 ] || fail "needs root"
for program in debootstrap apt-get git unshare; do
	command -v $program >/dev/null || fail "needs $program"
done

# shellcheck disable=SC2016 # the variables are apt's
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
	awk -v suite="$suite" '$2 == suite { print $1; exit }')
[ -n "$mirror" ] || fail "this host's apt knows no mirror of $suite"

top=$(mktemp -d) || exit 1
trap 'rm -rf --one-file-system "$top"' EXIT
trap 'exit 1' HUP INT TERM
debian=$top/debian

echo "== debootstrap $suite"
debootstrap --variant=minbase "$suite" "$debian" "$mirror" >"$top/log" 2>&1 || {
	tail -n 20 "$top/log" >&2
	fail "debootstrap failed"
}
# How the host reaches its mirror (proxy, dates it does not check) goes along.
apt-config dump Acquire >"$debian/etc/apt/apt.conf.d/90host" || exit 1
cp -L /etc/resolv.conf "$debian/etc/resolv.conf" 2>/dev/null

if [ -n "$work_tree" ]; then
	mkdir "$debian/stalltop" || exit 1
	(cd "$source" && git ls-files -z --cached --others --exclude-standard |
		tar --null --ignore-failed-read -c -f - -T -) | tar -x -f - -C "$debian/stalltop" || exit 1
else
	git clone -q --no-local "$source" "$debian/stalltop" || fail "git clone failed"
fi

# in_debian COMMAND: runs a shell command in the Debian, in the clone, with an
# environment as bare as the rest.
in_debian() {
	# shellcheck disable=SC2016 # the inner shells' variables
	unshare --mount --propagation private sh -c '
		mount -t proc proc "$1/proc" &&
		mount --rbind /sys "$1/sys" &&
		mount --rbind /dev "$1/dev" || exit 1
		exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=xterm \
			sh -c "cd /stalltop && $2"' sh "$debian" "$1" </dev/null
}

# try WORDS COMMAND: runs it and reports.
failures=0
try() {
	echo "== $1"
	start=$(date +%s)
	in_debian "$2"
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
