# Recordings to a folder.
# Features: record_folder replay_other names when
. /guest/lib.sh

load hang load_own hang 150
load sleepers load_sleepers 3
# Escape sequence, line feed, invalid and other than ASCII, quotes, comma, backslash, formula, delete.
load names load_names 1b5b324a78 0a61 fe66 e280ae6f 226171 2c63 5c62 3d31 7f64
names=$(sed -n 's/^ready //p' $work/names.said)
load spin_a taskset 1 load_own spin
load spin_b taskset 1 load_own spin

begin record_folder
stalltop -b -o json -n 3 -d 0.5 --keep 1h,10M -w $work/folder >$work/folder.json 2>$work/folder.err
same "ends with" $? 0
same "segments" "$(ls $work/folder | grep -c .)" 1
stalltop -b -o json -R $work/folder >$work/folder.replayed 2>&1
same "a replay ends with" $? 0
check "a replay is what was shown" cmp $work/folder.json $work/folder.replayed
check "three samples" [ "$(lines $work/folder.json)" = 3 ]
end

begin replay_other
# Made on other machines, with what was shown there.
for recording in /others/*.recording; do
	stalltop -b -o json -R $recording >$work/other.json 2>&1
	same "a replay of one made on ${recording##*/} ends with" $? 0
	check "a replay is what was shown there" cmp $work/other.json ${recording%.recording}.json
done
# One for others.
rm -f $out/recording
stalltop -b -o json -n 2 -d 0.5 -w $out/recording >$out/recording.json
same "ends with" $? 0
end

begin names
# As JSON has them, where a backslash is two.
cat >$work/want <<'END'
\\x1b[2Jx
\\x0aa
\\xfef
\\u{202e}o
\"aq
,c
\\\\b
=1
\\x7fd
END
stalltop -b -o json -n 1 -d 0.2 -p "$(echo $names | tr ' ' ,)" >$work/names.json
same "ends with" $? 0
flatten names
awk -F'\t' '$2 ~ /^tasks.*comm$/ { print $3 }' $work/names.flat >$work/seen
check "names are escaped: $(tr '\n' ' ' <$work/seen)" cmp -s $work/want $work/seen
for format in json csv text; do
	stalltop -b -o $format -n 1 -d 0.2 -p "$(echo $names | tr ' ' ,)" >$work/names.$format
	same "as $format, bytes that are no text" "$(tr -d '\n\r\040-\176' <$work/names.$format | wc -c)" 0
	check "as $format, an escape sequence is told" grep -q '\\x1b\[2Jx' $work/names.$format
done
end

begin when
stalltop -b -o json -n 1 -d 0.5 -r 0 --when 'cpu some 50ms/1s' >$work/when.json 2>$work/when.err
same "ends with" $? 0
flatten when
same "fired" "$(value when 1 triggers.0.fired)" true
same "what" "$(value when 1 triggers.0.when)" 'cpu some 50ms/1s'
[ ! -s $work/when.err ] || fault "$(cat $work/when.err)"
end
clean_up
