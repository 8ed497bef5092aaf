# Makes C of the prose of a manual page: a line for each paragraph, with its section.
#   awk -f manual_text.awk PAGE.in > manual_text.h

function plain(text)
{
	gsub(/\\f[BIRP]/, "", text)
	gsub(/\\-/, "-", text)
	gsub(/\\(e|\(rs)/, "\\", text)
	gsub(/\\(\(aq|')/, "'", text)
	gsub(/\\(\(ga|`)/, "`", text)
	gsub(/\\[&|^]/, "", text)
	gsub(/\\ /, " ", text)
	return text
}

# The arguments of a macro: with blanks between them, or joined where fonts alternate.
function arguments(line, between,    out, word)
{
	sub(/^\.[A-Z]+ */, "", line)
	while (line != "") {
		if (match(line, /^"[^"]*"/)) {
			word = substr(line, 2, RLENGTH - 2)
		} else {
			match(line, /^(\\.|[^ \\])+/)
			word = substr(line, 1, RLENGTH)
		}
		line = substr(line, RLENGTH + 1)
		sub(/^ +/, "", line)
		out = out (out == "" ? "" : between) word
	}
	return out
}

function flush()
{
	if (text != "" && section != "" && section != "NAME" && section != "SYNOPSIS" &&
	    section != "SEE ALSO") {
		gsub(/[\\"]/, "\\\\&", text)
		printf "\t{ \"%s\", \"%s\" },\n", section, text
	}
	text = ""
	tag = 0
}

function add(more)
{
	if (tag == 1) {
		text = more ":"
		tag = 2
	} else {
		text = text (text == "" ? "" : " ") more
	}
}

BEGIN { print "/* Made by doc/manual_text.awk. */" }
/^'/ || /^@/ || /^\.\\"/ { next }
/^\.TS/ { flush(); table = 1 }
/^\.TE/ { table = 0; next }
table { next }
/^\.SH/ { flush(); section = plain(arguments($0, " ")); next }
/^\.(SS|PP|P|LP|RS|RE|EX|EE|nf|fi|IP)/ { flush(); next }
/^\.TP/ { flush(); tag = 1; next }
/^\.(B|I|SM) / { add(plain(arguments($0, " "))); next }
/^\.(BR|RB|IR|RI|BI|IB) / { add(plain(arguments($0, ""))); next }
/^\./ { next }
/^$/ { next }
{ add(plain($0)) }
END { flush() }
