#!/bin/sh
# Prints a hand-written text with what the program knows of itself in its places: a line that
# is a word between two @, such as @FIELDS@, stands for that table (--dump-doc fields).
#   doc/make_manual.sh PROGRAM doc/stalltop.1.in >doc/stalltop.1
set -u

if [ $# -ne 2 ]; then
	echo "usage: make_manual.sh PROGRAM PAGE.in" >&2
	exit 2
fi
program=$1
page=$2
LC_ALL=C.UTF-8
export LC_ALL

while IFS= read -r line; do
	case $line in
	@*[!A-Z]*@) printf '%s\n' "$line" ;;
	@?*@)
		table=${line#@}
		"$program" --dump-doc "$(printf '%s' "${table%@}" | tr A-Z a-z)" || exit 1
		;;
	*) printf '%s\n' "$line" ;;
	esac
done <"$page"
