#!/bin/bash
# Builds stalltop and its tests for another architecture, as dpkg names it, warnings as errors:
#
#   build.sh ARCH FOLDER
#
# FOLDER/sysroot gets Debian's libraries of that architecture, and what a machine of it needs
# (busybox, script, a locale); FOLDER/build the build. Both stay, and are taken up by the next run.
# Needs the compiler for that architecture, qemu-user-static (bpftool must be of the byte order of
# its objects) and what a build for this one needs. No root. CONFIGURE: more arguments of configure.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd) || exit 1
source=$(cd "$here/../.." && pwd) || exit 1
arch=$1
mkdir -p "$2" || exit 1
folder=$(cd "$2" && pwd) || exit 1
sysroot=$folder/sysroot
# The first of Debian that has all these architectures.
apt_folder=$folder apt_arch=$arch apt_suites=trixie
# shellcheck source=tests/lib/apt.sh disable=SC2034 # used there
. "$here/../lib/apt.sh"

fail() {
	echo "build.sh: $*" >&2
	exit 1
}

case $arch in
amd64) machine=x86_64 ;;
arm64) machine=aarch64 ;;
*) machine=$arch ;;
esac
triplet=$machine-linux-gnu
emulator=qemu-$machine-static
for program in "$triplet-gcc" "$emulator" clang pkg-config apt-get dpkg-deb autoreconf; do
	command -v "$program" >/dev/null ||
		fail "needs $program (Debian: gcc-$triplet qemu-user-static; ./bootstrap deps check)"
done

# Libraries that the program and its tests are made with, and programs of a machine.
packages=(libc6-dev linux-libc-dev libncurses-dev libnl-genl-3-dev libproc2-dev libutf8proc-dev
	libseccomp-dev libpcre2-dev libsqlite3-dev libmicrohttpd-dev libzstd-dev libcap-ng-dev libbpf-dev
	libcmocka-dev libvterm-dev libjansson-dev bpftool busybox-static bsdutils libc-bin)

if [ ! -e "$sysroot/complete" ]; then
	apt_lists || fail "no lists of Debian's $apt_suites for $arch"
	# Nothing is installed there, so all that these need comes along.
	apt_ours apt-get install --download-only --yes --no-install-recommends "${packages[@]}" ||
		fail "the libraries for $arch cannot be had"
	rm -rf "$sysroot"
	mkdir -p "$sysroot"/usr/{bin,sbin,lib} || fail "no room in $folder"
	for name in bin sbin lib; do
		ln -s usr/$name "$sysroot/$name" || exit 1
	done
	for package in "$apt_folder"/apt/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" |
			tar -x --no-same-owner --keep-directory-symlink -C "$sysroot" || fail "cannot unpack $package"
	done
	# Links of the packages that name the root mean this one.
	find "$sysroot" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
		ln -sfn "$sysroot$target" "$link"
	done
	rm -rf "$apt_folder/apt/archives"
	: >"$sysroot/complete"
fi

mkdir -p "$folder/build" "$folder/bin" || exit 1
printf '#!/bin/sh\nexec %s -L %s %s/usr/sbin/bpftool "$@"\n' "$emulator" "$sysroot" "$sysroot" \
	>"$folder/bin/bpftool" && chmod +x "$folder/bin/bpftool" || exit 1
export PKG_CONFIG_SYSROOT_DIR=$sysroot
export PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$triplet/pkgconfig:$sysroot/usr/share/pkgconfig
[ -x "$source/configure" ] || (cd "$source" && autoreconf -fi) || exit 1
cd "$folder/build" || exit 1
[ -e Makefile ] || "$source/configure" --host="$triplet" --enable-werror --with-bpf=yes \
	CC="$triplet-gcc --sysroot=$sysroot" BPFTOOL="$folder/bin/bpftool" ${CONFIGURE:+$CONFIGURE} || exit 1
make -s -j"$(nproc)" all && make -s -j"$(nproc)" check-programs
