# A command run to its end: what it waited for, as it says itself, with and without tracing.
# Features: command command_traced command_status
. /guest/lib.sh

cat >$work/job <<'END'
load_own -n 40 read /dev/scratch
load_own -n 4 hang 100
exit 7
END
for name in command traced; do
	option=
	[ $name = traced ] && option=--trace
	# shellcheck disable=SC2086 # none, or one
	stalltop -o json --output $work/$name.json $option -- sh $work/job >$work/$name.said 2>$work/$name.err
	echo $? >$work/$name.status
	flatten $name
done

# done_of NAME N: how long the Nth load waited, in ms.
done_of() {
	awk -v n="$2" '$1 == "done" && ++i == n { printf "%.1f\n", $3 / 1000 }' $work/$1.said
}
ms() {
	value $1 1 $2 | awk '{ printf "%.1f\n", $1 / 1e6 }'
}

# report_of NAME: what both have. sh, two loads, and four children of vfork().
report_of() {
	same "its status, and the program's" "$(value $1 1 exit_code) $(cat $work/$1.status)" "7 7"
	same "what it says" "$(cat $work/$1.err)" ""
	if [ "$(value $1 1 processes)" = null ]; then
		# Exit records before version 12 do not tell threads from processes.
		same "tasks" "$(value $1 1 tasks)" 7
		lacks 'how many processes there were is unknown'
	else
		same "processes and tasks" "$(value $1 1 processes) $(value $1 1 tasks)" "7 7"
	fi
	# Since 6.12 the kernel books more than the wait; what it may book is measured's.
	case $1.$(uname -r) in
	traced.6.1[2-9]* | traced.6.[2-9][0-9]* | traced.[7-9]*)
		check "blkio, ms: $(ms $1 delays.blkio.ns), not less than the $(done_of $1 1) that it says" \
			awk -v blkio="$(ms $1 delays.blkio.ns)" -v own="$(done_of $1 1)" 'BEGIN { exit blkio < own * 0.85 }'
		;;
	*) near "blkio, ms, as it says" "$(ms $1 delays.blkio.ns)" "$(done_of $1 1)" "$(done_of $1 1 | awk '{ print $1 * 0.15 }')" ;;
	esac
	near "waits for the disk" "$(value $1 1 delays.blkio.count)" 28 12
	text=$(notes $1)
	[ -z "$text" ] || say "note: $text"
}

begin command
report_of command
end

begin command_traced
text=$(awk -F'\t' '$2 ~ /^notes.*id$/ { id = $3 } $2 ~ /^notes.*text$/ && id ~ /^trace-/ { print $3; exit }' $work/traced.flat)
if [ -n "$text" ]; then
	absent "$text"
else
	report_of traced
	near "io, ms, as it says" "$(ms traced states.io_ns)" "$(done_of traced 1)" "$(done_of traced 1 | awk '{ print $1 * 0.15 }')"
	near "uninterruptible, ms, as it says" "$(ms traced states.dwait_ns)" "$(done_of traced 2)" 60
	near "states add up to the time alive, ms" "$(awk -F'\t' '$2 ~ /^states\./ { n += $3 } END { printf "%.1f", n / 1e6 }' $work/traced.flat)" "$(ms traced alive_ns)" 1
fi
end

begin command_status
stalltop -- /no/such/program >$work/status.said 2>&1
same "not found" $? 127
stalltop -- /etc >$work/status.said 2>&1
same "cannot be run" $? 126
stalltop -- sh -c 'kill -TERM $$' >$work/status.said 2>&1
same "ended by SIGTERM" $? 143
like "as text" "$(tail -n 1 $work/status.said)" '^processes (1|-)  tasks 1  signal 15'
end
