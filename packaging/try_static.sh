#!/bin/sh
# Tries the file of make_static.sh, as root: in a folder with nothing else but /proc and /sys, and that
# a second build has the same bytes.
#   try_static.sh SOURCE VERSION
set -eu
source=$(cd "$1" && pwd)
version=$2
here=$(cd "$(dirname "$0")" && pwd)
name=stalltop-$version-linux-$(uname -m)
work=$(mktemp -d)
root=$work/root

end() {
	umount "$root/proc" "$root/sys" 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT

fail() {
	echo "try_static.sh: $*" >&2
	exit 1
}

test -f "$name" || sh "$here/make_static.sh" "$source" "$version"
mkdir -p "$work/again" "$root/proc" "$root/sys"
(cd "$work/again" && sh "$here/make_static.sh" "$source" "$version")
cmp "$name" "$work/again/$name" || fail "two builds differ"
test "$(wc -c <"$name")" -lt 8000000 || fail "$name is larger than 8 MB"

cp "$name" "$root/stalltop"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --make-rslave "$root/sys"
for arguments in '-V' '-b -n 1 -d 0.2' '-b -n 1 -d 0.2 -o json' '-b -n 1 -d 0.2 --trace' \
	'-b -n 1 -d 0.2 --source bpf'; do
	# shellcheck disable=SC2086 # one word an argument
	chroot "$root" /stalltop $arguments >"$work/out" || fail "stalltop $arguments fails"
	test -s "$work/out" || fail "stalltop $arguments prints nothing"
done
umount -R "$root/sys"
echo "try_static.sh: $name runs in an empty folder, and is the same when built again"
