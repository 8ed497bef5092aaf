#!/bin/sh
# Prints all pages of the manual and the pictures as one page of HTML.
#   doc/make_html.sh FOLDER PAGE... >stalltop.html
set -u

if [ $# -lt 2 ]; then
	echo "usage: make_html.sh FOLDER PAGE..." >&2
	exit 2
fi
folder=$1
shift

cat <<'EOF'
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>stalltop</title>
<style>
body { max-width: 60em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.4 }
pre, code, .Nm, .Fl, .Cm { font-family: monospace }
dt { font-weight: bold }
dd { margin-left: 2em }
table.head, table.foot { display: none }
figure { margin: 1em 0 }
svg { max-width: 100%; height: auto }
</style>
</head>
<body>
<h1>stalltop</h1>
<p>Shows what every task of a Linux machine waits for, and who makes it wait.</p>
EOF
echo '<ul>'
for page; do
	name=${page##*/}
	echo "<li><a href=\"#$name\">${name%.*}(${name##*.})</a></li>"
done
echo '</ul>'
for picture in main-120x40 sites-80x24 detail-120x40 groups-120x40 past-120x40; do
	echo '<figure>'
	cat "$folder/screen-$picture.svg" || exit 1
	echo '</figure>'
done
for page; do
	name=${page##*/}
	echo "<h1 id=\"$name\">${name%.*}(${name##*.})</h1>"
	# The ids of sections are those of one page only.
	mandoc -Thtml -O fragment "$page" | sed "s/\\(id=\"\\|href=\"#\\)/&${name%.*}-/g" || exit 1
done
echo '</body>'
echo '</html>'
