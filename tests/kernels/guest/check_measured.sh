# Waits that are measured, beside loads that know what they wait: also where the kernel books wrongly.
# Features: measured uncounted
. /guest/lib.sh

monitor measured --source bpf --measure yes -d 1 -m '^load_'
monitor booked --source taskstats -d 1 -m '^load_'
for name in measured booked; do
	await 120 has_samples $name 1
done
load hog taskset 2 load_own spin
# Readers that compute for so many us before each read.
computing="0 500 1000 3000"
readers=
for us in $computing; do
	load reader$us taskset 2 load_own -l $work/reader$us.log -c $us read /dev/scratch
	eval "reader$us=\$pid"
	readers="$readers reader$us"
done
load hang load_own -l $work/hang.log hang 40
hang=$pid
past 1 measured booked
for name in measured booked; do
	eval "from_$name=$(($(count $name) + 1))"
done
past 2 measured booked
for name in measured booked; do
	eval "to_$name=$(count $name)"
done
finish measured booked
clean_up
for name in measured booked; do
	keep $name.json
	eval "flatten $name \$from_$name \$to_$name"
	eval "figures $name \$from_$name \$to_$name"
done
owns $readers hang

# Between a wake-up and the queue passes what a switch takes: next to nothing but where each
# instruction is emulated for another architecture.
within=3
[ "$(uname -m)" = x86_64 ] || within=12

begin measured
same 'ends with' "$status_measured" 0
notes measured | while read -r text; do say "note: $text"; done
# What the kernel books is right up to 6.11; later it may be anything, but what is shown of it is no
# more than there was time for, or it is said that it cannot be.
for load in $readers; do
	eval "id=\$$load"
	own=$(own booked $load) shown=$(share booked $id waited.blkio)
	text="$load, booked $(share booked $id delta.blkio.ns)"
	case $(uname -r) in
	6.1[2-9]* | 6.[2-9][0-9]* | [7-9]*) in_bounds "$text" "$shown" "$own" booked ;;
	*) near "$text" "$shown" "$own" 3 ;;
	esac
done
refused=$(notes measured | grep 'not measured')
if [ -n "$refused" ]; then
	absent "$refused"
else
	for load in $readers; do
		eval "id=\$$load"
		near "$load, blkio, as it says" "$(share measured $id waited.blkio)" "$(own measured $load)" $within
	done
	# vfork() computes, too: the longer, the busier the host is.
	near "hangs, dwait, as it says" "$(share measured $hang waited.dwait)" "$(own measured hang)" $((within + 9))
fi
end

# A machine as it comes: nothing is counted but waits for a CPU, and no option is given. Before 5.14
# there is no switch, and all is counted.
begin uncounted
switch=/proc/sys/kernel/task_delayacct
if ! echo 0 2>/dev/null >$switch; then
	absent "the kernel counts the delays of all tasks"
	end
	exit
fi
load reader load_own -l $work/late.log -c 500 read /dev/scratch
reader=$pid
monitor off -d 1 -m '^load_'
await 120 has_samples off 1
past 1 off
from=$(($(count off) + 1))
past 2 off
to=$(count off)
finish off
clean_up
keep off.json
flatten off $from $to
figures off $from $to
owns late
echo 1 >$switch
notes off | while read -r text; do say "note: $text"; done
same source "$(value off $to source)" bpf
same measured "$(value off $to measured)" true
near "blkio, as it says" "$(share off $reader waited.blkio)" "$(own off late)" $within
end
