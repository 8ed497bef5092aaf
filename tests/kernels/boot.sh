#!/bin/bash
# Boots a kernel in QEMU, without root and without KVM, and has it run /guest/run.sh:
#
#   boot.sh ARCH TREE INITRD FOLDER SECONDS [ARGUMENT...]
#
# TREE has the kernel and its modules (fetch.sh), INITRD all else (pack.sh). FOLDER gets `console`, all
# that the machine printed, and `out`, what was left in its /out. The modules of guest/modules are
# loaded, and what they need; one that the kernel does not have is named on the console as "machine:
# not loaded: NAME". The machine has two CPUs, 1 GiB, delay accounting, PSI, and a scratch disk,
# /dev/scratch, that is held to 60 requests a second; it may take so many SECONDS. The arguments are
# those of /guest/run.sh.
#
# Status 0: it ran to its end; that of /guest/run.sh is on the console ("machine: ended STATUS").
# Else one line was printed that says why not.
#
# One thread of QEMU runs both CPUs: with one for each, QEMU 7.2 may lose a race when the kernel
# patches its code ("Oops: int3" where BPF's statistics were switched).
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd) || exit 1
arch=$1 tree=$2 initrd=$3 folder=$4 seconds=$5
shift 5
PATH=$PATH:/usr/sbin:/sbin

fail() {
	echo "$*"
	exit 1
}

case $arch in
amd64) machine=(qemu-system-x86_64 -machine pc -cpu max) console=ttyS0 ;;
arm64) machine=(qemu-system-aarch64 -machine virt -cpu cortex-a72) console=ttyAMA0 ;;
s390x) machine=(qemu-system-s390x -machine s390-ccw-virtio -cpu max) console=ttysclp0 ;;
riscv64) machine=(qemu-system-riscv64 -machine virt) console=ttyS0 ;;
*) fail "no machine is known for $arch" ;;
esac
command -v "${machine[0]}" >/dev/null ||
	fail "needs ${machine[0]}: ./bootstrap deps kernels (other architectures: Debian's qemu-system-arm, qemu-system-misc)"
for program in cpio modprobe xz zstd; do
	command -v "$program" >/dev/null || fail "needs $program: ./bootstrap deps kernels"
done
image=$(find "$tree" -name 'vmlinu[xz]*' -type f | head -n 1)
version=$(ls "$tree/lib/modules")
[ -e "$image" ] || fail "no kernel in $tree"

top=$(mktemp -d) || exit 1
child=
# shellcheck disable=SC2317 # called by the trap
finish() {
	[ -z "$child" ] || kill "$child" 2>/dev/null
	wait
	rm -rf "$top"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$folder" "$top/more/modules" || exit 1

# Modules, each after those that it needs. busybox takes them as they come out of the package's files.
list=$top/more/modules/list
: >"$list"
while read -r module parameters; do
	modprobe -d "$tree" -S "$version" --show-depends "$module" >"$top/needs" 2>/dev/null ||
		echo "$module" >>"$list"
	while read -r kind path _; do
		[ "$kind" = insmod ] || continue
		file=${path##*/}
		file=${file%.[xzg]*}
		[ ! -e "$top/more/modules/$file" ] || continue
		case $path in
		*.xz) xz -dc "$path" ;;
		*.zst) zstd -qdc "$path" ;;
		*.gz) gzip -dc "$path" ;;
		*) cat "$path" ;;
		esac >"$top/more/modules/$file" || fail "cannot unpack $path"
		# Parameters are the wanted module's, which is the last.
		echo "$file" >>"$list"
	done <"$top/needs"
	[ -z "$parameters" ] || sed -i "\$s/\$/ $parameters/" "$list"
done < <(
	[ "$arch" = s390x ] || printf '%s\n' virtio_pci virtio_mmio
	echo virtio_blk
	sed '/^#/d; /^$/d' "$here/guest/modules"
)
[ $# -eq 0 ] || printf '%s\n' "$@" >"$top/more/arguments"
[ $# -gt 0 ] || : >"$top/more/arguments"
# What is appended to an archive is unpacked after it. Nothing is compressed: that starts sooner.
cp "$initrd" "$top/initrd" || fail "no room in $top"
(cd "$top/more" && find . | cpio -o -H newc --quiet -R 0:0) >>"$top/initrd" || fail "no room in $top"
truncate -s 256M "$top/out" || exit 1
truncate -s 96M "$top/scratch" || exit 1

: >"$folder/console"
timeout -k 5 "$seconds" "${machine[@]}" -accel tcg,thread=single -smp 2 -m 1024 -nodefaults -display none \
	-serial "file:$folder/console" -no-reboot \
	-drive "file=$top/out,if=virtio,format=raw,cache=unsafe" \
	-drive "file=$top/scratch,if=virtio,format=raw,throttling.iops-total=60" \
	-kernel "$image" -initrd "$top/initrd" \
	-append "console=$console quiet loglevel=3 panic=-1 mitigations=off rdinit=/init delayacct psi=1" \
	>"$top/errors" 2>&1 </dev/null &
child=$!
wait $child
status=$?
child=
sed -i 's/\r//g' "$folder/console"
rm -rf "$folder/out"
mkdir "$folder/out" && tar -x -f "$top/out" -C "$folder/out" --no-same-owner 2>/dev/null
grep -qa '^machine: ended ' "$folder/console" && exit 0
case $status in
124 | 137) fail "hung: it did not end within $seconds s" ;;
0) fail "the kernel ended before /guest/run.sh did" ;;
*) fail "QEMU ended with status $status: $(tail -n 1 "$top/errors")" ;;
esac
