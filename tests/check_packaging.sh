#!/bin/sh
# Holds that the packages are made with all that the program can use, have all that is there for
# who installs it, and that their parts agree. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir" || exit 1

# The libraries that the build looks for: as pkg-config names them, and Debian's packages; a|b where
# one of them will do.
libraries=$(sed -n '/^need_for/,/case \$1 in/s/^.*need library \([^ ]*\) \([^ ]*\)$/\1 \2/p' bootstrap |
	tr -d "'")
[ -n "$libraries" ] || exit 1

echo 1..5

missing=$(echo "$libraries" | while read -r _ package; do
	grep -qE "(^Build-Depends:| )  *$(echo "$package" | sed 's/|/ \\| /g')( \(.*\))?(,|$)" \
		packaging/debian/control || echo "$package"
done)
found "$missing" 'the Debian package is built with all libraries'

missing=$(echo "$libraries" | sed 's/ .*//' | tr '|' '\n' | while read -r module; do
	grep -qF "pkgconfig($module)" packaging/rpm/stalltop.spec.in || echo "$module"
done)
found "$missing" 'the RPM is built with all libraries'

missing=$(sed -n 's/.*ST_\(LIBRARY_\)\{0,1\}PART(\[\([a-z0-9]*\)\].*/\2/p' configure.ac m4/*.m4 | while read -r part; do
	for file in packaging/debian/rules packaging/rpm/stalltop.spec.in; do
		grep -q -- "--with-$part=yes" "$file" || echo "$file: --with-$part=yes"
	done
done)
found "$missing" 'neither is built without a part because that is not found'

# Every example and the service are of one port.
ports=$(grep -ohE '(:|localhost:|127\.0\.0\.1:)9[0-9]{3}\b' README.md doc/*.in src/app/options.c \
	packaging/prometheus/prometheus.yml packaging/systemd/stalltop-metrics.service |
	sed 's/.*://' | sort -u | grep -v '^9090$')
[ "$(echo "$ports" | wc -l)" = 1 ] && ports=
found "$ports" 'metrics are at one port everywhere'

# What one service may not do, the other does not need either.
differ=$(for unit in packaging/systemd/*.service; do
	grep -E '^(Protect|Private|Restrict|NoNew|Lock|Memory|System|Capability|Ambient|LimitMEMLOCK)[A-Za-z]*=' "$unit" |
		grep -vE '^(MemoryMax|RestrictAddressFamilies)=' | sort | sed "s|\$| ($(basename "$unit"))|"
done | awk '{ file = $NF; sub(/ \([^)]*\)$/, ""); n[$0]++; of[$0] = file }
	END { for (line in n) if (n[line] == 1) print line, of[line] }')
found "$differ" 'the services are confined alike'
exit $failed
