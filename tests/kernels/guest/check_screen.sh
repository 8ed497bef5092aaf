# The screen, typed at as a person does, on the kernel's own terminal of 80x24.
# Features: screen screen_hangs screen_sites
. /guest/lib.sh

load hold load_hang hold
hold=$pid
load reader load_own read /dev/scratch
reader=$pid
mkfifo $work/keys
: >$work/typescript
script -q -f -e -c 'stty rows 24 cols 80; exec stalltop -d 1 --history 0' $work/typescript <$work/keys >/dev/null 2>&1 &
screen=$!
monitors=$screen
exec 3>$work/keys

# look: what is on the screen now; shows PATTERN: whether that is.
look() {
	# The first line is script's own.
	sed 1d $work/typescript | awk -f /guest/screen.awk >$work/look
}
shows() {
	look
	grep -qE -e "$1" $work/look
}
# on_screen WHAT PATTERN: awaits it.
on_screen() {
	if await 25 shows "$2"; then
		say "$feature: $1: $(grep -E -e "$2" $work/look | head -n 1)"
	else
		fault "$1: nothing like /$2/"
		sed 's/^/#   |/' $work/look
	fi
}
keys() { printf "$1" >&3; }

begin screen
on_screen "who waits for the disk" "^ *$reader root +[DRS] +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ .*load_own"
on_screen "the heads" '^ *PID USER +S +RUN .*TOTAL.*CPU.*BLKIO.*MEM COMMAND'
on_screen "the title" '^stalltop [0-9:]+ up [0-9:]+ load '
on_screen "a hang in words" "1 task hung: load_hang( $hold)?, (>= )?[0-9.]+ s"
same "its lines" "$(lines $work/look) $(awk 'length > 80' $work/look | wc -l)" "24 0"
keys '?'
on_screen "what RUN and TOTAL are" 'total wait|total: '
keys '\033'
on_screen "the rows again" '^ *PID USER +S'
end

begin screen_hangs
keys '\t'
on_screen "the preset" 'hangs'
on_screen "who hangs, in which call" "^ *$hold .*load_hang"
on_screen "its call" "vfork|clone"
text=$(sed -n 's/^ *note: //p' $work/look)
say "notes: $text"
end

begin screen_sites
keys 'w'
on_screen "its site, or why there are none" "not traced|^dwait +[0-9.]+ .*(vfork|clone) "
text=$(sed -n 's/.*\(waits are not traced.*\)/\1/p' $work/look | head -n 1)
if [ -n "$text" ]; then
	absent "waits are not traced"
	say "$text"
fi
keys '\033q'
await 30 eval '! alive $screen'
wait $screen
same "ends with" $? 0
exec 3>&-
end
clean_up
keep typescript
