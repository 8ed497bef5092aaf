# How long tests took: from lines of hundredths of a second and a name, the slowest first,
# to one line for each that took long, and one for all others.
$1 >= 50 { printf "%7.1f s  %s\n", $1 / 100, $2 }
$1 < 50 { rest = rest " " $2; n++ }
{ sum += $1 }
END {
	if (n)
		printf "  < 0.5 s %s\n", rest
	if (NR)
		printf "%7.1f s  in all\n", sum / 100
}
