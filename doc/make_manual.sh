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

# Breaks long lines of text, as mandoc -Tlint wants them; not those of examples and macros.
fold_text() {
	awk '
/^\.(nf|EX|TS)/ { kept = 1 }
/^\.(fi|EE|TE)/ { kept = 0 }
kept || /^[.\047]/ || length($0) <= 80 { print; next }
{
	rest = $0
	while (length(rest) > 80) {
		at = 80
		while (at > 1 && !(substr(rest, at, 1) == " " && substr(rest, at + 1, 1) !~ /[.\047 ]/))
			at--
		if (at <= 1)
			break
		print substr(rest, 1, at - 1)
		rest = substr(rest, at + 1)
	}
	print rest
}'
}

# What is no page of the manual stays as it is.
case $page in
*.[1-9].in) filter=fold_text ;;
*) filter=cat ;;
esac

# Fills the tables in. Ends where one is unknown.
fill() {
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
}

text=$(fill) || exit 1
printf '%s\n' "$text" | $filter
