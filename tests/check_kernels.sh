#!/bin/sh
# Holds that the lists of tests/kernels agree with each other and with doc/kernels.md, that what was seen
# of a kernel is compared with the table, and that a kernel that is not to be had is told. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
folder=$srcdir/tests/kernels
echo 1..8

bash "$folder/table.sh" "$srcdir/doc/kernels.md" >"$work/readme" &&
	diff -u "$srcdir/doc/kernels.md" "$work/readme" >"$work/out"
result $? 'the table of doc/kernels.md is current (make kernels-table)'

# Without comments.
list() {
	sed '/^#/d; /^[[:space:]]*$/d' "$folder/$1"
}
list kernels.txt | awk '{ print $1 }' | sort >"$work/kernels"
list words.txt | awk '{ print $1 }' | sort >"$work/words"
list features.txt | awk '$2 != "is" { print $2 }' | sort -u >"$work/features"
sed -n 's/^# Features: //p' "$folder"/guest/check_*.sh | tr ' ' '\n' | sort >"$work/told"

found "$(list kernels.txt | awk 'NF != 6 || $5 !~ /^(yes|no)$/ || $6 !~ /^[0-9]+$/ || n[$1]++')" \
	'each row of kernels.txt is complete'
found "$(
	list features.txt | awk '{ print $1 }' | sort -u | comm -23 - "$work/kernels"
	list features.txt | awk '$3 !~ /^(works|degraded|absent)$/ && $2 != "is" || $3 ~ /^[da]/ && NF < 4 || n[$1, $2]++'
	list kernels.txt | awk '$5 == "yes" { print $1 }' | while read -r kernel; do
		grep -q "^$kernel is " "$folder/features.txt" || echo "$kernel was not seen"
	done
)" 'features.txt has each kernel that .ci/run runs, and no other than those of kernels.txt'
found "$(comm -3 "$work/words" "$work/told")" 'words.txt has words for each feature that is told, and no others'
found "$(comm -23 "$work/features" "$work/told")" 'features.txt has only features that are told'

# judge NAME: what is made of $work/console by $work/table; it must be $work/wanted.
judge() {
	awk -v kernel=6.1 -v version=6.1.2 -v some=0 -v seen="$work/seen" -f "$folder/judge.awk" \
		"$work/table" "$work/console" >"$work/is"
	diff -u "$work/wanted" "$work/is" >"$work/out"
	result $? "$1"
}
cat >"$work/table" <<'TABLE'
6.1 is 6.1.1
6.1 same works
6.1 alike degraded it is slow
6.1 worse works
6.1 better absent there is none
6.1 otherwise degraded it is slow
6.1 broken works
6.1 gone works
6.2 new works
TABLE
cat >"$work/console" <<'CONSOLE'
machine: not loaded: nbd
machine: ready 2.50
1..7
# as it was
ok 1 - same
ok 2 - alike # degraded it is slow
# now it lacks something
ok 3 - worse # degraded it is slow
ok 4 - better
ok 5 - otherwise # degraded it is wrong
# 3 is not 4
a word of a program
not ok 6 - broken
ok 7 - new

machine: ended 1 12.60
CONSOLE
cat >"$work/wanted" <<'WANTED'
# machine: not loaded: nbd
ok - 6.1: 6.1.2 boots in 2.50 s, the checks took 10 s
ok - 6.1: same: works
ok - 6.1: alike: degraded it is slow
# now it lacks something
not ok - 6.1: worse: degraded it is slow; the table says: works
not ok - 6.1: better: works; the table says: absent there is none
not ok - 6.1: otherwise: degraded it is wrong; the table says: degraded it is slow
# 3 is not 4
# a word of a program
not ok - 6.1: broken: fails; the table says: works
not ok - 6.1: new: works; the table has no such line
not ok - 6.1: gone: was not told; the table says: works
WANTED
judge 'what differs from features.txt fails, better or worse, more or less'
grep -v '^[^6]\|^6.1 [bgow]' "$work/table" >"$work/t" && mv "$work/t" "$work/table"
sed -i '/worse/,$d' "$work/console"
printf '[    9.1] Kernel panic - not syncing: sysrq\n' >>"$work/console"
cat >"$work/wanted" <<'WANTED'
# | machine: not loaded: nbd
# | machine: ready 2.50
# | 1..7
# | # as it was
# | ok 1 - same
# | ok 2 - alike # degraded it is slow
# | # now it lacks something
# | [    9.1] Kernel panic - not syncing: sysrq
# machine: not loaded: nbd
not ok - 6.1: 6.1.2 kernel panic - not syncing: sysrq
ok - 6.1: same: works
ok - 6.1: alike: degraded it is slow
WANTED
judge 'a kernel that ends by itself fails, with what it said last'

# A mirror that has nothing.
mkdir "$work/bin"
printf '#!/bin/sh\necho "E: no such mirror"\nexit 100\n' >"$work/bin/apt-get"
chmod +x "$work/bin/apt-get"
(
	PATH=$work/bin:$PATH
	export PATH
	bash "$folder/fetch.sh" "$work/cache" 6.1 && exit 1
	mkdir -p "$work/cache/7.2"
	echo '7.2.1 linux' >"$work/cache/7.2/version"
	bash "$folder/fetch.sh" "$work/cache" 7.2
) >"$work/is" 2>&1
[ $? = 0 ] && [ "$(sed '$!d' "$work/is")" = 7.2.1 ] && [ "$(grep -c 'mirror' "$work/is")" = 2 ]
result $? 'a kernel that cannot be had is told' "$work/is"
exit $failed
