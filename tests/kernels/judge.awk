# Compares what a machine printed (boot.sh) with what features.txt says of its kernel:
#
#   TROUBLE=WHY awk -v kernel=NAME -v version=VERSION -v some=1 -v seen=FILE -f judge.awk features.txt console
#
# Prints TAP without numbers: a line for the kernel itself, and one for each feature. What is not as
# the table says fails, better or worse, more or less; what the machine said before goes before
# it. With TROUBLE it did not come to its end. With some not all checks were asked for, and the
# others are not missed. FILE gets the kernel's lines for the table, unless something failed.

BEGIN { trouble = ENVIRON["TROUBLE"] }
FNR == 1 { file++ }
file == 1 && $1 == kernel && $2 != "is" {
	table[$2] = rest(3)
	order[++n_table] = $2
}
file == 1 { next }

{ last[++n_last] = $0 }
/Kernel panic - / { sub(/^.*Kernel panic - /, "kernel panic - "); trouble = $0 }
/^machine: ready / { ready = $3 }
/^machine: ended / { status = $3; ended = $4 }
/^machine: kernel: / { complaint = complaint "# " $0 "\n" }
/^machine: not loaded: / { remarks = remarks "# " $0 "\n" }
/^1\.\.[0-9]+/ { plan = substr($1, 4) + 0; said = ""; next }
/^ok [0-9]+ - / { note(4, "works") ; next }
/^not ok [0-9]+ - / { note(5, "fails"); next }
{ said = said (/^#/ ? "" : "# ") $0 "\n" }

# rest(N): the line from its word N on.
function rest(n,    i, text) {
	for (i = n; i <= NF; i++)
		text = text (text == "" ? "" : " ") $i
	return text
}

# note(N, HOW): a feature, whose name is the word N of the line; "# degraded NOTE" or "# absent WHY".
function note(n, how,    words) {
	words = rest(n + 1)
	if (words ~ /^# (degraded|absent) ./)
		how = substr(words, 3)
	else if (words != "" && how != "fails")
		how = "fails (not understood: " words ")"
	feature[++n_features] = $n
	is[$n] = how
	before[$n] = said
	said = ""
}

function result(good, words) {
	print (good ? "ok - " : "not ok - ") kernel ": " words
	failed += !good
}

END {
	if (trouble == "" && ready != "" && complaint == "" && plan == n_features) {
		printf "%s", remarks
		result(1, version " boots in " ready " s, the checks took " sprintf("%.0f", ended - ready) " s")
	} else {
		if (trouble != "" || ready == "")
			for (i = n_last > 40 ? n_last - 39 : 1; i <= n_last; i++)
				print "# | " last[i]
		printf "%s%s", remarks, complaint
		if (trouble == "" && complaint != "")
			trouble = "the kernel complained of something"
		else if (trouble == "")
			trouble = "told " n_features + 0 " of " plan + 0 " features"
		result(0, (version == "" ? "" : version " ") trouble)
	}
	for (i = 1; i <= n_features; i++) {
		name = feature[i]
		if (name in table && is[name] == table[name]) {
			result(1, name ": " is[name])
		} else {
			printf "%s", before[name]
			result(0, name ": " is[name] (name in table ? "; the table says: " table[name] : "; the table has no such line"))
		}
		if (is[name] ~ /^fails/)
			broken++
	}
	for (i = 1; i <= n_table; i++)
		if (!(order[i] in is) && !some)
			result(0, order[i] ": was not told; the table says: " table[order[i]])
	if (trouble == "" && !broken && !some && seen != "") {
		print kernel, "is", version >seen
		for (i = 1; i <= n_features; i++)
			print kernel, feature[i], is[feature[i]] >seen
	}
}
