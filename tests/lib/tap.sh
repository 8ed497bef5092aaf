# shellcheck shell=sh
# What tests that are shell scripts share, which source it: a folder of their own, $work, an end to
# all that they start in the background ($pids), and lines of TAP. They end with `exit $failed`.
n=0
failed=0
pids=

work=$(mktemp -d) || exit 1
finish() {
	# shellcheck disable=SC2086 # several
	[ -z "$pids" ] || kill $pids 2>/dev/null
	wait
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# result STATUS NAME [FILE]: a line, and where it failed the end of a file, $work/out by itself.
result() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		failed=1
		sed 's/^/# /' "${3:-$work/out}" 2>/dev/null | tail -20
	fi
}

# found PROBLEMS NAME: a line, and the problems; there should be none.
found() {
	printf '%s' "${1:+$1
}" >"$work/found"
	[ ! -s "$work/found" ]
	result $? "$2" "$work/found"
}

# needs PROGRAM...: skips all of the test where one is not installed.
needs() {
	for program; do
		if ! command -v "$program" >/dev/null 2>&1; then
			echo "1..0 # SKIP $program is not installed: ./bootstrap deps engines"
			exit 0
		fi
	done
}

# Waits for a command to succeed.
await() {
	for _ in $(seq 300); do
		"$@" >"$work/out" 2>&1 && return 0
		sleep 0.2
	done
	return 1
}
