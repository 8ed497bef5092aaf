# What the program says of itself and of the kernel.
# Features: version debug_log
. /guest/lib.sh

# said_of NAME: the line of that name, with those that go on with it.
said_of() {
	awk -v name="$1:" '
		/^[^ ]/ { mine = $1 == name }
		mine { sub(/^ +/, " "); text = text $0 }
		END { sub(/^[a-z-]+: /, "", text); print text }' $work/version
}

begin version
stalltop -V >$work/version 2>&1
same status $? 0
while read -r line; do say "$line"; done <$work/version
like "names itself" "$(head -n 1 $work/version)" '^stalltop [0-9]'
same kernel "$(sed -n 's/^kernel: //p' $work/version)" "$(uname -s) $(uname -r)"
for source in $(sed -n 's/^sources: //p' $work/version); do
	case $source in
	taskstats) like "$source" "$(grep '^taskstats: ' $work/version)" '^taskstats: version [0-9]+$' ;;
	bpf) text=$(said_of bpf) ;;
	esac
done
[ "$text" = 'loaded, reads all tasks in one run' ] || lacks "bpf: $text"
measure=$(said_of measure)
[ "$measure" = loaded ] || lacks "$note${note:+; }measure: $measure"
trace=$(said_of trace)
[ "$trace" = loaded ] || lacks "$note${note:+; }trace: $trace"
end

# Why a program is refused is in the log.
begin debug_log
stalltop -b -n 1 -d 0.1 -r 0 --source bpf --trace --debug-log $work/log >$work/shown 2>$work/said
say "status $?: $(cat $work/said)"
check "there is one" [ -s $work/log ]
tail -n 30 $work/log | cut -c1-200 | sed 's/^/#   /'
end
