#!/bin/bash
# Packs what a machine that boot.sh starts has in its memory, but for the kernel's modules:
#
#   pack.sh ARCH ROOT BUILD OTHERS INITRD
#
# busybox, which begins as `init`; script, of util-linux; the program and the loads from the folder in
# which they were built, in /bin; the folder guest in /guest, the folder OTHERS in /others. Libraries come along, from ROOT, where
# those of the architecture are (as dpkg names it), busybox and script too. Where it ends with status
# 1, it printed one line that says why.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd) || exit 1
arch=$1 root=${2%/} build=$3 others=$4 initrd=$5

fail() {
	echo "$*"
	exit 1
}

for program in cpio readelf; do
	command -v $program >/dev/null || fail "needs $program: ./bootstrap deps kernels"
done
case $arch in
amd64) triplet=x86_64-linux-gnu ;;
arm64) triplet=aarch64-linux-gnu ;;
*) triplet=$arch-linux-gnu ;;
esac
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
mkdir -p "$top"/{bin,etc,lib/terminfo/l,usr/lib/locale}

# found NAME: the path of a library, below $root.
found() {
	local folder
	for folder in {,/usr}/lib/"$triplet" /usr/local/lib{/"$triplet",} {,/usr}/lib64 {,/usr}/lib; do
		[ ! -e "$root$folder/$1" ] || {
			echo "$folder/$1"
			return
		}
	done
	return 1
}

# libraries FILE: those that it needs, and its loader, where it expects them.
libraries() {
	local name path
	while read -r name; do
		case $name in
		/*) path=$name ;;
		*) path=$(found "$name") || fail "$1 needs $name, which is not in $root/" ;;
		esac
		[ ! -e "$top$path" ] || continue
		mkdir -p "$top${path%/*}"
		cp -L "$root$path" "$top$path" || fail "cannot copy $root$path"
		libraries "$root$path"
	done < <(readelf -d -l "$1" 2>/dev/null | sed -n \
		-e 's/.*(NEEDED).*\[\(.*\)\]/\1/p' -e 's/.*program interpreter: \(.*\)\]/\1/p')
}

# command_of NAME: a program of the architecture.
command_of() {
	local folder
	for folder in /usr/bin /bin /usr/local/bin; do
		[ ! -x "$root$folder/$1" ] || {
			echo "$root$folder/$1"
			return
		}
	done
	fail "no $1 in $root/"
}

busybox=$(command_of busybox) || fail "$busybox"
script=$(command_of script) || fail "$script"
if readelf -l "$busybox" | grep -q 'program interpreter'; then
	fail "$busybox is not static: ./bootstrap deps kernels"
fi
cp -L "$busybox" "$top/bin/busybox" || fail "cannot copy $busybox"
programs=("$build/stalltop")
for program in "$build"/tests/load/load_*; do
	[ ! -x "$program" ] || programs+=("$program")
done
[ ${#programs[@]} -gt 1 ] || fail "$build has no loads: make check-programs"
for program in "${programs[@]}" "$script"; do
	cp -L "$program" "$top/bin/" || fail "cannot copy $program"
	libraries "$program"
done

cp -R "$others" "$top/others" || fail "cannot copy $others"
cp -R "$here/guest" "$here/init" "$top/" || fail "cannot copy $here"
cp /lib/terminfo/l/linux "$top/lib/terminfo/l/" || fail "no terminfo of Linux' console"
# A locale is in the byte order of its architecture.
cp -R "$root"/usr/lib/locale/C.[uU]* "$top/usr/lib/locale/" || fail "no locale C.UTF-8 in $root/"
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$top/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$top/etc/group"
(cd "$top" && find . | cpio -o -H newc --quiet -R 0:0) >"$initrd" || fail "cannot write $initrd"
