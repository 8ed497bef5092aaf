# Writes the table of kernels into the README, between the two comments that are its marks:
#
#   awk -f readme.awk kernels.txt words.txt features.txt README.md      (table.sh)
#
# A kernel is a column, what users call a feature is a row; several features in one row all work, or
# it is "partly". Notes are numbered, and follow below.

FNR == 1 { file++ }
file < 4 && (/^#/ || NF == 0) { next }
file == 1 { kernel[++n_kernels] = $1; next }
file == 2 {
	row = rest(2)
	if (!(row in features))
		rows[++n_rows] = row
	features[row] = features[row] " " $1
	next
}
file == 3 && $2 == "is" {
	version[$1] = $3
	next
}
file == 3 {
	how[$1, $2] = $3
	why[$1, $2] = rest(4)
	next
}
/^<!-- kernels: / { print; table(); skip = 1; next }
/^<!-- end of kernels -->/ { skip = 0 }
!skip { print }

# rest(N): the line from its word N on.
function rest(n,    i, text) {
	for (i = n; i <= NF; i++)
		text = text (text == "" ? "" : " ") $i
	return text
}

# number(TEXT): of a note, the same for the same text.
function number(text) {
	if (!(text in note)) {
		note[text] = ++n_notes
		notes[n_notes] = text
	}
	return note[text]
}

# cell(KERNEL, ROW): yes, partly or no, with the numbers of its notes, or "-" where none was tried.
function cell(name, row,    part, n, i, tried, works, absent, seen, numbers) {
	n = split(features[row], part, " ")
	for (i = 1; i <= n; i++) {
		if (!((name, part[i]) in how))
			continue
		tried++
		works += how[name, part[i]] == "works"
		absent += how[name, part[i]] == "absent"
		if (why[name, part[i]] != "" && !seen[why[name, part[i]]]++)
			numbers = numbers (numbers == "" ? "" : ", ") number(why[name, part[i]])
	}
	if (!tried)
		return "-"
	return (works == tried ? "yes" : absent == tried ? "no" : "partly") (numbers == "" ? "" : " (" numbers ")")
}

function table(    i, k, head, line, name, seen_on) {
	head = "| |"
	line = "| --- |"
	for (k = 1; k <= n_kernels; k++) {
		name = kernel[k]
		if (!(name in version))
			continue
		sub(/-/, " ", name)
		head = head " " name " |"
		line = line " --- |"
		seen_on = seen_on (seen_on == "" ? "" : ", ") name " as " version[kernel[k]]
	}
	print head
	print line
	for (i = 1; i <= n_rows; i++) {
		line = "| " rows[i] " |"
		for (k = 1; k <= n_kernels; k++)
			if (kernel[k] in version)
				line = line " " cell(kernel[k], rows[i]) " |"
		print line
	}
	print ""
	for (i = 1; i <= n_notes; i++) {
		line = notes[i]
		gsub(/</, "\\&lt;", line)
		print i ". " line
	}
	if (n_notes)
		print ""
	print "Seen on Debian's packages: " seen_on "."
}
