#!/bin/sh
# Builds one file that needs no library of the machine it runs on, BPF programs inside, and its
# checksum, in the present folder. The same source gives the same bytes, wherever it is built.
#   make_static.sh SOURCE VERSION [ARGUMENT OF configure ...]
# Metrics over HTTP and libproc2 are left out: Debian has no static libgnutls, which the one needs, and
# the other is only another way to read /proc.
set -eu
source=$(cd "$1" && pwd)
version=$2
shift 2
here=$PWD
name=stalltop-$version-linux-$(uname -m)
work=$(mktemp -d "$here/static.XXXXXX")
trap 'rm -rf "$work"' EXIT

say() {
	echo "make_static.sh: $*" >&2
}

missing=
for library in ncursesw libnl-genl-3.0 libutf8proc libseccomp libpcre2-8 sqlite3 libzstd libcap-ng libbpf; do
	flags=$(pkg-config --static --libs "$library" 2>/dev/null) &&
		echo 'int main(void) { return 0; }' |
		${CC:-cc} -static -x c - -x none -o "$work/tried" $flags 2>/dev/null ||
		missing="$missing $library"
done
if [ -n "$missing" ]; then
	say "no static libraries of:$missing (./bootstrap deps run installs them)"
	exit 1
fi

mkdir "$work/build"
cd "$work/build"
"$source/configure" --quiet --with-bpf=yes --with-microhttpd=no --with-procps=no --with-libdw=no \
	CFLAGS="${CFLAGS:--O2} -ffile-prefix-map=$source=. -ffile-prefix-map=$work/build=." \
	LDFLAGS='-static -Wl,--build-id=none' PKG_CONFIG='pkg-config --static' "$@"
make -s -j"$(nproc)" stalltop
strip -o "$here/$name" stalltop
cd "$here"
sha256sum "$name" >"$name.sha256"
say "$name: $(wc -c <"$name") bytes, $(cut -c1-16 <"$name.sha256")..."
