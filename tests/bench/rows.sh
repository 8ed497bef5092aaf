# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# The rows of the benchmark's table, sourced by bench.sh. A row is
#
#   row ID WHEN HOW COMMAND...
#
# ID is TOOL:KIND, for stalltop stalltop:SOURCE:KIND; report.awk knows them. WHEN it is
# measured: always; full (among the tasks that BENCH_FULL names); threads (there, and where
# processes have several threads); views (there, and on a busy machine). HOW it runs: null (output to /dev/null), screen (on a
# terminal of 120x40), screen:KEY (there, and a key is pressed), keys (there, and ended by q as it
# has no count of samples), all (output to /dev/null; its children work for it). In the
# command %n stands for the count of samples, %d for the seconds between two, %i for these
# where only whole ones go, %t for tenths, %f for a new file.

row_ids=()
declare -A row_when row_how row_command row_label

row() {
	local id=$1
	row_when[$id]=$2
	row_how[$id]=$3
	shift 3
	row_command[$id]=$*
	row_ids+=("$id")
	label "$id"
}

# version COMMAND: of the tool, as it says it.
version() {
	local option=-V
	[ "$1" != iotop-c ] || option=--version
	"$1" $option 2>&1 </dev/null | sed -n '1,2s/^[^0-9]*\([0-9][0-9.]*[0-9]\).*/\1/p' | head -1
}

# label ID: what the table calls it: the command without counts, and its version.
label() {
	local text=${row_command[$1]}
	text=${text//-[nd] %[ndt]/}
	text=${text//%f/FILE}
	text=${text//%i %n/}
	text=$(echo "$text" | tr -s ' ' | sed 's/ $//; s/--source //')
	case ${row_how[$1]} in
	null | all) ;;
	screen:*) text="$text (screen, ${row_how[$1]#*:})" ;;
	*) text="$text (screen)" ;;
	esac
	case $1 in
	stalltop:*) ;;
	*) text="$text $(version "${1%%:*}")" ;;
	esac
	row_label[$1]=$text
}

# stalltop_rows SOURCE: procfs is for who may not have the others, and measured less.
stalltop_rows() {
	local s=$1 base="stalltop --source $1 -n %n -d %d" often=always threads=threads
	if [ "$s" = procfs ]; then
		often=full
		threads=full
	fi
	row "stalltop:$s:batch" $often null "$base -b"
	row "stalltop:$s:active" full null "$base -b -i"
	row "stalltop:$s:threads" $threads null "$base -b -H"
	row "stalltop:$s:csv" full null "$base -b -o csv"
	row "stalltop:$s:json" full null "$base -b -o json"
	row "stalltop:$s:screen" $often screen "$base"
	[ "$s" = bpf ] || return 0
	row "stalltop:$s:screen-threads" views screen "$base -H"
	row "stalltop:$s:screen-groups" views screen "$base -g command"
	row "stalltop:$s:screen-detail" views screen:Enter "$base"
	row "stalltop:$s:screen-sites" views screen:w "$base"
	row "stalltop:$s:screen-past" views screen:[ "$base"
	row "stalltop:$s:trace" views null "$base -b --trace"
	row "stalltop:$s:record" views all "$base -w %f"
	row "stalltop:$s:listen" views all "$base --listen %f"
}

# peer_row ID WHEN HOW COMMAND...: a row if the tool is there.
peer_row() {
	if command -v "${1%%:*}" >/dev/null; then
		row "$@"
	else
		missing_peers="${missing_peers-} ${1%%:*}"
	fi
}

peer_rows() {
	peer_row top:batch always null top -b -n %n -d %d
	peer_row top:threads threads null top -b -H -n %n -d %d
	peer_row top:screen always screen top -n %n -d %d
	peer_row htop:screen always keys htop -d %t
	peer_row iotop-c:batch always null iotop-c -b -n %n -d %d
	peer_row atop:batch always null atop %i %n
	peer_row pidstat:batch always null pidstat -d -u %i %n
}
