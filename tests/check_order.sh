#!/bin/sh
# Holds the house as doc/HACKING.md tells it: which folder may include which. The
# order is in order.txt. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir" || exit 1

# Prints what breaks a rule, as "RULE FILE:LINE: words".
find_breaks() {
	# shellcheck disable=SC2046 # one word a file
	LC_ALL=C awk '
function exists(path,    line, there)
{
	there = (getline line < path) >= 0
	close(path)
	return there
}

function folder_of(path)
{
	sub(/\/[^\/]*$/, "", path)
	return path
}

# The file that an include names, "" for a header of the system.
function resolve(file)
{
	if (exists("src/" file))
		return "src/" file
	return exists(file) ? file : ""
}

# Looks for a way from a module back to one that it was come by. Whether there was one.
function find_cycle(module, way,    n, i, next_ones)
{
	if (state[module] == "done")
		return 0
	if (state[module] == "on the way") {
		print "cycle", where " includes, by way of others, itself:" way " " module
		return 1
	}
	state[module] = "on the way"
	n = split(includes_of[module], next_ones, " ")
	for (i = 1; i <= n; i++) {
		where = at_of[module, next_ones[i]]
		if (find_cycle(next_ones[i], way " " module))
			return 1
	}
	state[module] = "done"
	return 0
}

# Looks for a way from a header to a folder that the file may do without. The words for it, or "".
function find_kept_out(header, folder,    n, i, next_ones, found)
{
	if ((folder_of(header), folder) in without)
		return header
	if (seen[header]++)
		return ""
	n = split(headers_of[header], next_ones, " ")
	for (i = 1; i <= n; i++)
		if ((found = find_kept_out(next_ones[i], folder)) != "")
			return header " -> " found
	return ""
}

# The name that a line at the margin declares or defines as a function, "" for none.
function function_name(line)
{
	if (line !~ /^[a-z_][A-Za-z0-9_ *]*\(/ || line ~ /^(static|typedef|extern|return|else)/)
		return ""
	sub(/\(.*/, "", line)
	sub(/.*[ *]/, "", line)
	return line
}

FILENAME == "tests/order.txt" {
	sub(/#.*/, "")
	if (NF > 1 && $2 != "without")
		print "folder", FILENAME ":" FNR ": a line is one folder, and those it does without"
	else if (NF)
		rank[$1] = ++folders
	for (i = 3; i <= NF; i++) {
		without[$i, $1]
		strict[$1]
		if (!($i in rank))
			print "folder", FILENAME ":" FNR ": no earlier folder " $i
	}
	next
}

FNR == 1 {
	last_line = -1
	module = FILENAME
	sub(/\.[ch]$/, "", module)
	folder = folder_of(FILENAME)
	modules[++files] = module
	if (!(folder in rank))
		print "folder", FILENAME ":1: " folder " is not in tests/order.txt"
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	system_header = /include[ \t]*</
	file = $0
	sub(/^[^<"]*[<"]/, "", file)
	sub(/[>"].*/, "", file)
	at = FILENAME ":" FNR ": includes " file
	if (!system_header && FNR == last_line + 1 && file < last_file)
		print "sorted", at " behind " last_file
	last_line = system_header ? -1 : FNR
	last_file = file

	if (folder ~ /^src/ && file ~ /(^|\/)(n?curses|panel|term|menu|form)\.h$/)
		print "curses", at
	if (folder ~ /^(ui(\/.*)?|src\/view|src\/out)$/ &&
	    file ~ /^(netlink\/|linux\/(netlink|genetlink|rtnetlink|taskstats|cgroupstats))/)
		print "netlink", at

	if (system_header)
		next
	path = resolve(file)
	other = folder_of(path)
	if (path == "") {
		print "order", at ", which is no file of a folder"
		next
	}
	headers_of[FILENAME] = headers_of[FILENAME] " " path
	line_of[FILENAME, path] = FNR
	if (other ~ /^ui/ && folder !~ /^ui/ && module != "src/app/main")
		print "ui", at
	if (rank[other] > rank[folder])
		print "order", at " of a later folder"
	sub(/\.h$/, "", path)
	if (other == folder && path != module && !((module, path) in at_of)) {
		includes_of[module] = includes_of[module] " " path
		at_of[module, path] = FILENAME ":" FNR
	}
	next
}

function_name($0) != "" {
	if (FILENAME ~ /\.h$/)
		declared[function_name($0)] = FILENAME ":" FNR
	else if ($0 !~ /;[ \t]*$/)
		defined[function_name($0)] = folder
}

END {
	for (i = 1; i <= files && !find_cycle(modules[i], ""); i++)
		;
	for (file in headers_of) {
		n = split(headers_of[file], direct, " ")
		split("", seen)
		for (i = 1; i <= n; i++)
			# What does without itself is told of where it breaks that.
			if (!(folder_of(direct[i]) in strict) &&
			    (found = find_kept_out(direct[i], folder_of(file))) != "")
				print "without", file ":" line_of[file, direct[i]] ": includes " found
	}
	for (name in declared)
		if (name in defined &&
		    rank[defined[name]] > rank[folder_of(declared[name])])
			print "declare", declared[name] ": " name "() is defined in " defined[name]
}' tests/order.txt $(find src ui -name '*.[ch]')
}

# Breaks that rule in a tree made for it: a screen that knows the kernel by way of frames.
find_planted() {
	planted=$(mktemp -d) || return
	(
		cd "$planted" || exit
		mkdir -p tests src/kernel src/frame ui
		printf '%s\n' src/kernel src/frame 'ui without src/kernel' >tests/order.txt
		echo 'int read_it(void);' >src/kernel/file.h
		echo '#include "kernel/file.h"' >src/frame/frame.h
		echo '#include "frame/frame.h"' >ui/view.c
		find_breaks
	)
	rm -r "$planted"
}

breaks=$(find_breaks) || {
	echo "Bail out! awk could not read the sources"
	exit 1
}

echo 1..10
while read -r rule words; do
	found "$(echo "$breaks" | sed -n "s/^$rule //p")" "$words"
done <<END
folder every file is in a folder of tests/order.txt
order a file includes its own folder and earlier ones
cycle no file of a folder includes itself by way of others
declare no header declares what a later folder defines
sorted includes of ours that stand together are in the order of letters
curses src includes no curses
netlink what presents includes no netlink
ui of src only main.c includes ui
without nothing is included that a folder does without, nor by way of headers
END
find_planted >"$work/out"
[ "$(cat "$work/out")" = "without ui/view.c:1: includes src/frame/frame.h -> src/kernel/file.h" ]
result $? 'what is included by way of headers is seen'
exit $failed
