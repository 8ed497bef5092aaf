#!/bin/sh
# What only the objects tell. The core has no curses: no symbol that libcore.a leaves to others is one
# that the curses libraries define. And no file calls itself by way of others: calls go one way, as
# includes do (check_order.sh). Tables of functions (commands, formats) are no calls. TAP.
set -u
builddir=${TESTS_BUILDDIR:-tests}/..

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"

echo 1..3

# end PROBLEMS: the last result.
end() {
	found "$1" 'no curses symbol in the core'
	exit $failed
}

# Prints each circle of calls between files.
find_circles() {
	# Objects of files that are there: a build tree may have older ones.
	(cd "$builddir" && find src ui -name '*.o') | while read -r object; do
		[ ! -e "$srcdir/${object%.o}.c" ] || echo "$object"
	done >"$work/objects"
	if [ ! -s "$work/objects" ]; then
		echo 'no objects were found'
		return
	fi
	(cd "$builddir" && xargs nm -A --defined-only && xargs objdump -r <"$work/objects") \
		<"$work/objects" 2>"$work/errors" | awk '
# Looks for a way from a file back to one that it was come by.
function follow(file, way,    n, i, called)
{
	if (state[file] == "done")
		return
	if (state[file] == "on the way") {
		print substr(way, index(way, " " file)) " " file
		return
	}
	state[file] = "on the way"
	n = split(calls[file], called, " ")
	for (i = 1; i <= n; i++)
		follow(called[i], way " " file)
	state[file] = "done"
}

/^[^ ]+\.o:[0-9a-f]+ [TW] / {
	split($1, part, ":")
	home[$3] = part[1]
	next
}
/file format/ { object = $1; sub(/:$/, "", object); next }
/^RELOCATION RECORDS/ { code = index($4, "[.text") == 1; next }
code && NF == 3 {
	name = $3
	sub(/[-+]0x.*/, "", name)
	if (home[name] != "" && home[name] != object && !seen[object, home[name]]++)
		calls[object] = calls[object] " " home[name]
	found++
}
END {
	for (file in calls)
		follow(file, "")
	if (!found)
		print "no calls were found"
}'
	cat "$work/errors"
}

found "$(find_circles)" 'no circle of calls between files'

# Prints functions that a build without an optional part lacks: those of the part that other objects
# call, and the file in its place does not define.
find_lacking() {
	while read -r absent part; do
		(cd "$builddir" && nm --defined-only $part | awk '$2 == "T" { print $3 }') |
			sort -u >"$work/part"
		[ -s "$work/part" ] || echo "no functions in: $part"
		(cd "$builddir" && find src ui -name '*.o' | grep -vxF "$(echo "$part" | tr ' ' '\n')" |
			xargs nm -u) | awk '$1 == "U" { print $2 }' | sort -u >"$work/others"
		comm -12 "$work/part" "$work/others" | while read -r name; do
			grep -q "[ *]$name(" "$srcdir/$absent" || echo "$absent lacks $name()"
		done
	done <<'END'
src/bpf/absent.c src/bpf/snapshot.o src/bpf/loading.o src/bpf/measure.o src/bpf/trace.o src/bpf/trace_load.o src/bpf/snapshot_counters.o src/read/source_bpf.o src/read/walk_index.o
src/app/http_absent.c src/app/http.o
src/kernel/program_file_absent.c src/kernel/program_file.o
END
}

# Of a build with all parts: others are what this is about.
if [ -e "$builddir/src/bpf/trace.o" ] && [ -e "$builddir/src/app/http.o" ] &&
	[ -e "$builddir/src/kernel/program_file.o" ]; then
	found "$(find_lacking)" 'what stands for an optional part has all that is called of it'
else
	n=$((n + 1))
	echo "ok $n # SKIP a build without an optional part"
fi

# Which files they are, a program tells that is linked with them for nothing else.
# shellcheck disable=SC2086 # one word a flag
echo 'int main(void) { return 0; }' |
	${CC:-cc} -x c - -x none -o "$work/program" -Wl,--no-as-needed ${NCURSESW_LIBS:--lncursesw} \
		>"$work/errors" 2>&1 || end "$(cat "$work/errors")"
libraries=$(ldd "$work/program" | awk '/lib(ncurses|tinfo)/ { print $3 }')

# shellcheck disable=SC2086 # one word a library
nm -D --defined-only $libraries 2>/dev/null |
	awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/curses"
nm -u "$builddir/libcore.a" | awk '$1 == "U" { print $2 }' | sort -u >"$work/core"
if ! grep -qx initscr "$work/curses" || [ ! -s "$work/core" ]; then
	end "nm gave no symbols of libcore.a or of: $libraries"
fi

end "$(comm -12 "$work/curses" "$work/core")"
