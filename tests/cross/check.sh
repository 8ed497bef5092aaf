#!/bin/bash
# Builds stalltop for another architecture (build.sh) and runs its unit tests in QEMU's user
# emulation, TAP:
#
#   check.sh ARCH FOLDER
#
# Tests that ask the kernel for what that emulation does not have are in emulator.txt: one of these
# that fails is a skip with its reason.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd) || exit 1
arch=$1
mkdir -p "$2" && folder=$(cd "$2" && pwd) || exit 1
"$here/build.sh" "$arch" "$folder" >"$folder.log" 2>&1 || {
	tail -n 20 "$folder.log"
	echo "1..0 # not built for $arch: $folder.log"
	exit 1
}
case $arch in
amd64) machine=x86_64 ;;
arm64) machine=aarch64 ;;
*) machine=$arch ;;
esac
cd "$folder/build" || exit 1
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$PWD/tests/no-config
export TESTS_BUILDDIR=$PWD/tests TESTS_SRCDIR=${here%/cross} STALLTOP=$PWD/stalltop
# A locale is in the byte order of its architecture.
export LOCPATH=$folder/sysroot/usr/lib/locale

for program in tests/unit/test_*; do
	case $program in *.*) continue ;; esac
	timeout 300 "qemu-$machine-static" -L "$folder/sysroot" "$program" 2>&1 </dev/null
	echo "@ ${program##*/} $?"
done | awk -v list="$here/emulator.txt" '
	BEGIN {
		while ((getline line < list) > 0)
			if (line !~ /^#/ && split(line, word, " ") > 2)
				why[word[1] " " word[2]] = substr(line, length(word[1] " " word[2]) + 2)
	}
	/^(not )?ok / { results[++n] = $0; next }
	/^@ / {
		for (i = 1; i <= n; i++) {
			good = results[i] ~ /^ok/
			name = results[i]
			sub(/^(not )?ok [0-9]+ - /, "", name)
			split(name, word, " ")
			key = $2 " " word[1]
			if (good || !(key in why))
				print (good ? "ok " : "not ok ") ++total " - " $2 " " name
			else
				print "ok " ++total " - " key " # SKIP " why[key]
			failed += !good && !(key in why)
			bad += !good
		}
		# A program that ended before its last test, or without any.
		if (!n || $3 != bad) {
			print "not ok " ++total " - " $2 " ended with status " $3
			failed++
		}
		n = bad = 0
		next
	}
	!/^1\.\./ { print "# " $0 }
	END {
		print "1.." total
		exit failed > 0
	}'
