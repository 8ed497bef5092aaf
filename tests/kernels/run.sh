#!/bin/bash
# Tries stalltop on kernels as Debian packages them, in machines of QEMU, and compares what works
# there with features.txt. TAP.
#
#   make check-kernels [KERNELS='NAME...'], or
#   TESTS_BUILDDIR=build/tests tests/kernels/run.sh [--write | --again] [NAME...]
#
# Names, or patterns of names, are those of kernels.txt; without any it is those that .ci/run runs.
# --write puts what was seen into features.txt, of kernels on which nothing failed, and into the
# README. --again has those of the last run that were not as the table says run once more, one at a
# time, and tells all results of that run. Programs for other architectures are built first
# (tests/cross/build.sh). Each kernel leaves `console`, all that it printed, and `out` in
# BUILD/kernels/NAME.
#
#   KERNELS_CACHE    where fetched kernels are kept (BUILD/kernels/cache)
#   KERNELS_BESIDE   how many run side by side (as many as there are CPUs)
#   KERNEL_CHECKS    only these of guest/checks: the others are not missed
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd) || exit 1
: "${TESTS_BUILDDIR:?}"
build=$(cd "$TESTS_BUILDDIR/.." && pwd) || exit 1
results=$build/kernels
cache=${KERNELS_CACHE:-$results/cache}
beside=${KERNELS_BESIDE:-$(nproc)}
table=$here/features.txt
read -ra checks <<<"${KERNEL_CHECKS:-}"
host=$(dpkg --print-architecture 2>/dev/null)

write=
again=
case ${1:-} in
--write) write=1 ;;
--again) again=1 beside=1 ;;
esac
[ -z "$write$again" ] || shift
rows() { sed '/^#/d; /^[[:space:]]*$/d' "$here/kernels.txt"; }
names=()
if [ -n "$again" ]; then
	mapfile -t names <"$results/names" || exit 2
elif [ $# -eq 0 ]; then
	mapfile -t names < <(rows | awk '$5 == "yes" { print $1 }')
fi
for wanted; do
	matched=
	while read -r name _; do
		# shellcheck disable=SC2053 # a pattern
		[[ $name = $wanted ]] && names+=("$name") && matched=1
	done < <(rows)
	if [ -z "$matched" ]; then
		echo "run.sh: kernels.txt has no $wanted; it has: $(rows | awk '{ printf "%s ", $1 }')" >&2
		exit 2
	fi
done

# Each in a group of its own, so that it can be ended with all that it started.
set -m
# shellcheck disable=SC2317 # called by the trap
finish() {
	local job
	for job in $(jobs -rp); do kill -- -"$job" 2>/dev/null; done
	wait
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# initrd ARCH: packs build/kernels/initrd.ARCH, or prints why it cannot.
initrd() {
	if [ "$1" = "$host" ]; then
		"$here/pack.sh" "$1" / "$build" "$results/others" "$results/initrd.$1"
		return
	fi
	if ! "$here/../cross/build.sh" "$1" "$results/cross/$1" >"$results/cross.$1.log" 2>&1; then
		echo "not built for $1: $(tail -n 1 "$results/cross.$1.log") ($results/cross.$1.log)"
		return 1
	fi
	"$here/pack.sh" "$1" "$results/cross/$1/sysroot" "$results/cross/$1/build" \
		"$results/others" "$results/initrd.$1"
}

# record: a recording of this machine, with what was shown, for others.
record() {
	rm -rf "$results/others" && mkdir "$results/others" &&
		"$build/stalltop" -b -o json -n 2 -d 0.5 -u root --source procfs \
			-w "$results/others/$host.recording" >"$results/others/$host.json"
}

# replay FOLDER: whether a recording of another machine is shown here as it was there.
replay() {
	"$build/stalltop" -b -o json -R "$1/recording" 2>&1 | cmp - "$1/recording.json" >&2
}

# try NAME ARCH SECONDS: fetches and boots it, and leaves what there is to say of it in its folder.
try() {
	local folder=$results/$1 begun=$SECONDS version='' trouble=''
	: >"$folder/console"
	if [ -s "$results/initrd.$2.trouble" ]; then
		trouble=$(cat "$results/initrd.$2.trouble")
	elif ! "$here/fetch.sh" "$cache" "$1" >"$folder/fetched" 2>&1; then
		trouble="cannot be had: $(tail -n 1 "$folder/fetched")"
	else
		version=$(tail -n 1 "$folder/fetched")
		trouble=$("$here/boot.sh" "$2" "$cache/$1/tree" "$results/initrd.$2" "$folder" "$3" \
			${checks[@]+"${checks[@]}"}) || trouble=${trouble:-boot.sh failed}
	fi
	# Its second line is of what was started here: "1m2.345s 0m1.234s", user and system.
	times >"$folder/times"
	{
		grep '^# ' "$folder/fetched" 2>/dev/null
		LC_ALL=C TROUBLE=$trouble awk -v kernel="$1" -v version="$version" -v some=${#checks[@]} \
			-v seen="$folder/seen" -f "$here/judge.awk" "$table" "$folder/console"
		# Where some checks were asked for it may have left none.
		if [ -e "$folder/out/recording" ] || [ -z "$trouble${checks[*]-}" ]; then
			if trouble=$(replay "$folder/out" 2>&1); then
				echo "ok - $1: a recording made there is shown here as it was there"
			else
				echo "not ok - $1: a recording made there is not shown here as it was there: $trouble"
			fi
		fi
		echo "# $1: $((SECONDS - begun)) s in all, $(awk -F '[ms ]+' 'NR == 2 {
			printf "%.0f", $1 * 60 + $2 + $3 * 60 + $4 }' "$folder/times") s of a CPU; the console: $folder/console"
	} >"$folder/tap.new"
	mv "$folder/tap.new" "$folder/tap"
}

n=0
failures=()
# report NAME...: numbers and prints what is ready of these.
report() {
	local name line
	for name; do
		[ -e "$results/$name/tap" ] || continue
		while IFS= read -r line; do
			case $line in
			'ok - '*) echo "ok $((++n)) ${line#ok }" ;;
			'not ok - '*)
				echo "not ok $((++n)) ${line#not ok }"
				failures+=("${line#not ok - }")
				;;
			*) printf '%s\n' "$line" ;;
			esac
		done <"$results/$name/tap"
		mv "$results/$name/tap" "$results/$name/told"
	done
}

mkdir -p "$results" || exit 1
printf '%s\n' "${names[@]}" >"$results/names"
todo=()
for name in "${names[@]}"; do
	if [ -n "$again" ] && ! grep -q '^not ok' "$results/$name/told"; then
		mv "$results/$name/told" "$results/$name/tap"
		continue
	fi
	todo+=("$name")
	rm -rf "${results:?}/$name"
	mkdir "$results/$name" || exit 1
done
[ ${#todo[@]} -eq 0 ] || record || exit 1
for arch in $(rows | awk -v names="${todo[*]}" 'index(" " names " ", " " $1 " ") && !n[$2]++ { print $2 }'); do
	initrd "$arch" >"$results/initrd.$arch.trouble" 2>&1 && : >"$results/initrd.$arch.trouble"
done
for name in ${todo[@]+"${todo[@]}"}; do
	while [ "$(jobs -rp | wc -l)" -ge "$beside" ]; do wait -n; done
	report "${names[@]}"
	read -r _ arch _ _ _ seconds < <(rows | awk -v name="$name" '$1 == name')
	try "$name" "$arch" "$seconds" &
done
while [ -n "$(jobs -rp)" ]; do
	wait -n
	report "${names[@]}"
done
report "${names[@]}"
echo "1..$n"

if [ -n "$write" ]; then
	for name in "${names[@]}"; do
		[ -e "$results/$name/seen" ] || continue
		{
			awk -v kernel="$name" '$1 != kernel' "$table"
			cat "$results/$name/seen"
		} >"$results/features.new"
		cat "$results/features.new" >"$table"
	done
	"$here/table.sh" "$here/../../doc/kernels.md" >"$results/kernels.new" &&
		cat "$results/kernels.new" >"$here/../../doc/kernels.md"
fi
echo "# ${#names[@]} kernels in $((SECONDS / 60)) min $((SECONDS % 60)) s: $n results, ${#failures[@]} not as they should be"
[ ${#failures[@]} -eq 0 ] || {
	printf '# %s\n' "${failures[@]}"
	exit 1
}
