# Makes JSON Lines flat: a line "SAMPLE<tab>PATH<tab>VALUE" for each value, in their order. In a path
# an element of an array has its number, but one of "tasks" its first member: a pid, or a group's name.
# Strings lose their quotes and keep their escapes. -v sample=N: the number of the first one.
BEGIN { RS = ","; sample = sample ? sample : 1; depth = 0 }

# A comma inside of a string ends no record.
{
	text = rest $0
	quotes = text
	gsub(/\\./, "", quotes)
	if (gsub(/"/, "", quotes) % 2) {
		rest = text ","
		next
	}
	rest = ""
	if (depth && in_array[depth])
		index_of[depth]++
	parse(text)
}

function parse(text,    c, n) {
	while (text != "") {
		c = substr(text, 1, 1)
		n = 1
		if (c == "{" || c == "[") {
			path[depth + 1] = depth ? path[depth] (in_array[depth] ? index_of[depth] : key[depth]) "." : ""
			depth++
			in_array[depth] = c == "["
			index_of[depth] = 0
			named = c == "{" && depth > 1 && in_array[depth - 1] && path[depth - 1] ~ /^tasks\.$/
		} else if (c == "}" || c == "]") {
			depth--
		} else if (c == "\n") {
			sample++
		} else if (match(text, /^"([^"\\]|\\.)*"/)) {
			n = RLENGTH
			c = substr(text, 2, n - 2)
			if (substr(text, n + 1, 1) == ":") {
				key[depth] = c
				n++
			} else
				value(c)
		} else if (match(text, /^[-+.0-9a-zA-Z]+/)) {
			n = RLENGTH
			value(substr(text, 1, n))
		}
		text = substr(text, n + 1)
	}
}

function value(text) {
	if (named) {
		path[depth] = path[depth - 1] text "."
		named = 0
	}
	print sample "\t" path[depth] (in_array[depth] ? index_of[depth] : key[depth]) "\t" text
}
