#!/bin/bash
# The README is short, its links lead somewhere, and each of its commands runs; what contributors read
# names files that are there. TAP.
set -u
srcdir=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
program=${STALLTOP:-stalltop}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
readme=$srcdir/README.md
most_lines=200
widest=130

echo '1..6'

{
	[ "$(wc -l <"$readme")" -le $most_lines ] || echo "more than $most_lines lines"
	awk -v widest=$widest 'length > widest { print "too wide: " $0 }' "$readme"
} >"$work/out"
[ ! -s "$work/out" ]
result $? "it has at most $most_lines lines, none too wide"

grep -oE '\]\([^)#]+\)' "$readme" "$srcdir"/doc/*.md | sed 's/:](/ /; s/)$//' |
	while read -r from to; do
		case $to in http*) continue ;; esac
		[ -e "$(dirname "$from")/$to" ] || echo "$from: $to"
	done >"$work/out"
[ ! -s "$work/out" ]
result $? 'each link leads somewhere'

# `src/read/source`, `tests/lib/golden.c`, `ui/term`: a file, or a folder, with or without its ending.
# shellcheck disable=SC2016 # no expansions
{
	most=450
	[ "$(wc -l <"$srcdir/doc/HACKING.md")" -le $most ] || echo "doc/HACKING.md has more than $most lines"
	grep -oE '`(src|ui|tests|doc|packaging)/[A-Za-z0-9_/.-]+`' "$srcdir"/doc/{HACKING,testing}.md "$srcdir/CONTRIBUTING.md" |
		sed 's/:`/ /; s/`$//' | while read -r from name; do
		case $name in *NAME* | *VIEW* | *.found | */) continue ;; esac
		ls -d "$srcdir/$name" "$srcdir/$name".{c,h,sh} >"$work/names" 2>/dev/null
		[ -s "$work/names" ] || echo "$from: $name"
	done
} >"$work/out"
[ ! -s "$work/out" ]
result $? 'what contributors read is short, and its files are there'

# What is in blocks and begins with the program, without sudo and comments.
commands() {
	sed -n '/^```$/,/^```$/p' "$readme" | sed -nE 's/^(sudo )?(stalltop )/\2/p' | sed -E 's/ +#.*//'
}

# Each in a folder of its own, with what a fresh user has: no recordings, a short run.
run_all() {
	local command rest status
	folder=$work/log
	"$program" -b -d 0.1 -n 4 --output /dev/null -w "$folder" --keep 1h || return
	while IFS= read -r command; do
		rest=${command#stalltop}
		rest=${rest//\/var\/log\/stalltop/$folder}
		rest=${rest// day.db/ $work/day.db}
		case $command in
		# It waits for what may never happen, or goes on until it is ended.
		*--listen* | *--when* | 'stalltop -w '*)
			rest=${rest/$folder/$folder.new}
			timeout --preserve-status -s TERM 2 bash -c "exec '$program' $rest" </dev/null
			status=$?
			;;
		# On a screen: the same options without it.
		stalltop | 'stalltop -R '*)
			bash -c "'$program' $rest -b -n 1 -d 0.1" </dev/null
			status=$?
			;;
		*--diff*)
			bash -c "'$program' ${rest//@[0-9:.]*([^ ])/}" </dev/null
			status=$?
			;;
		*)
			bash -c "set -o pipefail; '$program' $rest" </dev/null
			status=$?
			# Something suffers.
			[[ $command == *--why* && $status = 3 ]] && status=0
			;;
		esac >"$work/said" 2>&1
		[ $status = 0 ] || { echo "$command: status $status" && cat "$work/said"; }
		ran=$((ran + 1))
	done < <(commands)
}
ran=0
shopt -s extglob
run_all >"$work/out"
[ ! -s "$work/out" ] && [ $ran -ge 12 ]
result $? 'each of its commands runs'

# What is built by ./bootstrap is only looked up: a word that it knows, a target of the Makefile.
grep -ohE '\./bootstrap [a-z-]+( [a-z]+)?' "$readme" "$srcdir"/doc/*.md | sort -u |
	while read -r _ word target; do
		grep -qE "^($word|$word \|.*)\)" "$srcdir/bootstrap" || echo "./bootstrap $word"
		[ "$word" != make ] || grep -qE "^(\.PHONY:.* )?$target( |:|\$)" "$srcdir/Makefile.am" "$srcdir/bootstrap" ||
			case $target in install | uninstall | clean) ;; *) echo "./bootstrap make $target" ;; esac
	done >"$work/out"
[ ! -s "$work/out" ] && grep -q '\./bootstrap run' "$readme"
result $? 'each command of ./bootstrap is there'

# The demo is for everybody: small, without privileges, with the answers that the README promises.
{
	size=$(stat -c %s "$srcdir/doc/demo.db")
	[ "$size" -le 300000 ] || echo "the demo has $size bytes"
	as=
	[ "$(id -u)" != 0 ] || as='setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs'
	cp "$program" "$srcdir/doc/demo.db" "$work" && chmod 755 "$work" "$work"/stalltop && chmod 644 "$work/demo.db"
	for word in 'frozen' 'quota' 'ended by|held by' 'backup'; do
		$as "$work/stalltop" -R demo -b -o json | jq -r '.findings[].text' | grep -qE "$word" ||
			echo "no finding with $word"
	done
	$as "$work/stalltop" --why -R demo >"$work/said" 2>&1
	[ $? = 3 ] || cat "$work/said"
} >"$work/out" 2>&1
[ ! -s "$work/out" ]
result $? 'the demo shows its incidents to everybody'
exit $failed
