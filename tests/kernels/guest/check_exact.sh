# Waits that are measured, beside loads that know what they wait: also where the kernel books wrongly.
# Features: exact_io
. /guest/lib.sh

monitor exact --source bpf --exact-io -d 1 -m '^load_'
await 120 has_samples exact 1
load hog taskset 2 load_own spin
load reader taskset 2 load_own -l $work/reader.log -c 1000 read /dev/scratch
reader=$pid
load hang load_own -l $work/hang.log hang 40
hang=$pid
past 1 exact
from=$(($(count exact) + 1))
past 3 exact
to=$(count exact)
finish exact
clean_up
keep exact.json
flatten exact $from $to
figures exact $from $to
owns reader hang

# Between a wake-up and the queue passes what a switch takes: next to nothing but where each
# instruction is emulated for another architecture.
within=3
[ "$(uname -m)" = x86_64 ] || within=12

begin exact_io
same 'ends with' "$status_exact" 0
notes exact | while read -r text; do say "note: $text"; done
refused=$(notes exact | grep 'not measured')
if [ -n "$refused" ]; then
	absent "$refused"
else
	near "reader, blkio, as it says" "$(share exact $reader waited.blkio)" "$(own exact reader)" $within
	near "hangs, dwait, as it says" "$(share exact $hang waited.dwait)" "$(own exact hang)" $within
fi
end
