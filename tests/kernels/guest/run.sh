#!/bin/sh
# Checks what stalltop does on this kernel, as root in a machine of its own (see the host's side).
# run.sh [CHECK...]: all, or check_CHECK.sh. What they say comes as TAP, a line for each feature:
# it works, "# degraded" and "# absent" with what the program says of it, or not ok.
cd /guest || exit 1
export PATH=/bin:/sbin:/usr/bin TERM=linux LC_ALL=C TZ=UTC
[ $# -gt 0 ] || set -- $(cat checks)
begun=$(date +%s)
results=/tmp/results

# features CHECK: what it tells of.
features() {
	sed -n 's/^# Features: //p' check_$1.sh
}

# run CHECK: its results in a file, all else as comments, as they come.
run() {
	echo "# === $1, at $(($(date +%s) - begun)) s$2"
	: >$results
	sh check_$1.sh 2>&1 </dev/null | awk -v results=$results '
		/^@/ { print >results; next }
		!/^#/ { $0 = "# " $0 }
		{ print; fflush() }'
}

all=
for check; do
	all="$all $(features $check)"
done
echo "1..$(echo $all | wc -w)"
for check; do
	run $check
	# An emulated machine that gets no time has wrong figures: what passes now passed.
	! grep -q '^@not ' $results || run $check ', once more'
	cat $results
	for feature in $(features $check); do
		echo "@end $feature"
	done
done | awk '
	/^@end / { if (!told[$2]) tell("not ok", $2, " (the check ended without it)"); next }
	/^@ok / { rest = $0; sub(/^@ok [^ ]*/, "", rest); tell("ok", $2, rest); next }
	/^@not / { tell("not ok", $2, ""); next }
	{ print; fflush() }
	function tell(result, feature, rest) {
		told[feature] = 1
		failed += result != "ok"
		print result " " ++n " - " feature rest
		fflush()
	}
	END { exit failed > 0 }'
status=$?
echo "# all took $(($(date +%s) - begun)) s"
exit $status
