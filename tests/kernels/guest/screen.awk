# Shows what a terminal of 80x24 (TERM=linux) shows after what is read: 24 lines.
BEGIN {
	RS = "\033"
	ORS = ""
	rows = 24
	columns = 80
	blank = sprintf("%" columns "s", "")
	erase(1, rows)
	row = column = top = 1
	bottom = rows
}

function erase(from, to,    r) {
	for (r = from; r <= to; r++)
		line[r] = blank
}

# Moves lines of the scrolling region from `at` on up by n, or down where n is below 0.
function shift(at, n,    r) {
	if (n > 0) {
		for (r = at; r <= bottom; r++)
			line[r] = r + n <= bottom ? line[r + n] : blank
	} else
		for (r = bottom; r >= at; r--)
			line[r] = r + n >= at ? line[r + n] : blank
}

function put(text) {
	if (column + length(text) - 1 > columns)
		text = substr(text, 1, columns - column + 1)
	line[row] = substr(line[row], 1, column - 1) text substr(line[row], column + length(text))
	column += length(text)
}

# Plain text with the control characters that move.
function plain(text,    at, c) {
	while (text != "") {
		at = match(text, /[\001-\037]/)
		if (!at) {
			put(text)
			return
		}
		put(substr(text, 1, at - 1))
		c = substr(text, at, 1)
		text = substr(text, at + 1)
		if (c == "\r")
			column = 1
		else if (c == "\b")
			column -= column > 1
		else if (c == "\n" && row == bottom)
			shift(top, 1)
		else if (c == "\n")
			row++
	}
}

# A control sequence's end and numbers.
function control(final, text,    n, p, first) {
	n = split(text, p, ";")
	first = p[1] == "" ? 1 : p[1] + 0
	if (final == "H" || final == "f") {
		row = first
		column = n > 1 && p[2] != "" ? p[2] + 0 : 1
	} else if (final == "A") row -= first
	else if (final == "B") row += first
	else if (final == "C") column += first
	else if (final == "D") column -= first
	else if (final == "G") column = first
	else if (final == "d") row = first
	else if (final == "J") {
		if (text == "2") erase(1, rows)
		else if (text == "" || text == "0") {
			line[row] = substr(substr(line[row], 1, column - 1) blank, 1, columns)
			erase(row + 1, rows)
		}
	} else if (final == "K") {
		if (text == "1") line[row] = substr(blank, 1, column) substr(line[row], column + 1)
		else if (text == "2") line[row] = blank
		else line[row] = substr(substr(line[row], 1, column - 1) blank, 1, columns)
	} else if (final == "X") {
		line[row] = substr(substr(line[row], 1, column - 1) substr(blank, 1, first) substr(line[row], column + first), 1, columns)
	} else if (final == "@")
		line[row] = substr(substr(line[row], 1, column - 1) substr(blank, 1, first) substr(line[row], column), 1, columns)
	else if (final == "P")
		line[row] = substr(substr(line[row], 1, column - 1) substr(line[row], column + first) blank, 1, columns)
	else if (final == "L") shift(row, -first)
	else if (final == "M") shift(row, first)
	else if (final == "r") {
		top = first
		bottom = n > 1 && p[2] != "" ? p[2] + 0 : rows
		row = column = 1
	}
}

NR == 1 { plain($0); next }
/^\[/ {
	match($0, /^\[[?>]?[0-9;]*/)
	control(substr($0, RLENGTH + 1, 1), substr($0, 2, RLENGTH - 1))
	plain(substr($0, RLENGTH + 2))
	next
}
/^[()]/ { plain(substr($0, 3)); next }
/^\]/ { next }
/^M/ { if (row == top) shift(top, -1); else row--; plain(substr($0, 2)); next }
{ plain(substr($0, 2)) }
END { for (r = 1; r <= rows; r++) print line[r] "\n" }
