#!/bin/sh
# Prints the manual page: the hand-written text with the tables that the program
# knows of itself in the places marked @FIELDS@, @OPTIONS@, @KEYS@, @UNITS@ and
# @NOTES@ (each alone on its line).
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
	@FIELDS@) "$program" --dump-doc fields || exit 1 ;;
	@OPTIONS@) "$program" --dump-doc options || exit 1 ;;
	@KEYS@) "$program" --dump-doc keys || exit 1 ;;
	@UNITS@) "$program" --dump-doc units || exit 1 ;;
	@NOTES@) "$program" --dump-doc notes || exit 1 ;;
	*) printf '%s\n' "$line" ;;
	esac
done <"$page"
