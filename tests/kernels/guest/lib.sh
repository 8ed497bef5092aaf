# What the checks share (the shell is busybox'). A check says `begin FEATURE`, what it saw and
# wanted, and `end`. Lines for run.sh begin with @, all others are for whoever reads the log.
work=/tmp/guest
out=/out
rm -rf $work
mkdir -p $work $out
loads= monitors=

say() { echo "# $*"; }

begin() {
	feature=$1 faults=0 note='' why=''
}

# fault WHAT...: something is not as it should be.
fault() {
	faults=$((faults + 1))
	say "$feature: WRONG: $*"
}

# lacks NOTE: it works but for what the program itself says that it lacks.
lacks() {
	note=$*
}

# absent WHY: it is not there, and the program says so.
absent() {
	why=$*
}

end() {
	if [ $faults -gt 0 ]; then
		echo "@not $feature"
	elif [ -n "$why" ]; then
		echo "@ok $feature # absent $why"
	elif [ -n "$note" ]; then
		echo "@ok $feature # degraded $note"
	else
		echo "@ok $feature"
	fi
}

# check WHAT COMMAND...: a fault where the command fails.
check() {
	local what=$1
	shift
	"$@" && return
	fault "$what"
	return 1
}

# tenths NUMBER: sets $tenths to it as a whole number of tenths, "" where it is no number. The shell
# does it: another process costs an emulated machine more than all else here.
tenths() {
	local whole=${1%%.*} part=0 sign=
	case $1 in '' | - | *[!0-9.-]* | *.*.* | ?*-*) tenths= && return ;; *.*) part=${1#*.} ;; esac
	case $whole in -*) sign=- whole=${whole#-} ;; esac
	while [ "${whole#0}" != "$whole" ]; do whole=${whole#0}; done
	part=${part%"${part#?}"}
	tenths=$sign$((${whole:-0} * 10 + ${part:-0}))
}

# in_bounds WHAT SEEN OWN NAME: what the kernel may have booked wrongly is a share of the time, in
# percent, or unknown, and a note of NAME's says so.
in_bounds() {
	say "$feature: $1: shown $2 (own $3)"
	if [ "$2" = - ]; then
		like "$1: why it is unknown" "$(notes "$4" | grep 'more waiting')" .
	else
		tenths "$2"
		check "$1: shown $2, at most 100" [ "${tenths:-9999}" -le 1000 ]
	fi
}

# near WHAT SEEN WANTED TOLERANCE: numbers that may differ by so much.
near() {
	local seen wanted off
	tenths "$2" && seen=$tenths
	tenths "$3" && wanted=$tenths
	tenths "$4"
	off=$((${seen:-0} - ${wanted:-0}))
	if [ -n "$seen" ] && [ -n "$wanted" ] && [ ${off#-} -le ${tenths:-0} ]; then
		say "$feature: $1: $2 (wanted $3, within $4)"
	else
		fault "$1: ${2:-nothing}, wanted ${3:-something} within $4"
	fi
}

# same WHAT SEEN WANTED, like WHAT SEEN EXPRESSION: texts.
same() {
	if [ "$2" = "$3" ]; then
		say "$feature: $1: $2"
	else
		fault "$1: '$2', wanted '$3'"
	fi
}

like() {
	if echo "$2" | grep -qE -e "$3"; then
		say "$feature: $1: $2"
	else
		fault "$1: '$2', wanted /$3/"
	fi
}

# await SECONDS COMMAND...: until it succeeds, for so long at least. Each look costs an emulated
# machine some ms, and its end is news for whoever listens for ends.
await() {
	local left=$(($1 * 4))
	shift
	until "$@"; do
		[ $left -gt 0 ] || return 1
		left=$((left - 1))
		usleep 250000
	done
}

# load NAME COMMAND...: starts a load that says "ready"; its pid is in $pid.
load() {
	local name=$1
	start "$@"
	await 30 grep -q '^ready' $work/$name.said || say "load $name is not ready: $(cat $work/$name.said)"
}

# start NAME COMMAND...: the same of one that is not waited for.
start() {
	local name=$1
	shift
	"$@" >$work/$name.said 2>&1 </dev/null &
	pid=$!
	loads="$loads $pid"
}

# said NAME N: the Nth word after "ready".
said() {
	sed -n 's/^ready //p' $work/$1.said | cut -d' ' -f"$2"
}

# in_group GROUP COMMAND...: runs it there.
in_group() {
	local group=$1
	shift
	exec sh -c 'echo $$ >/sys/fs/cgroup/'"$group"'/cgroup.procs && exec "$@"' sh "$@"
}

# monitor NAME OPTION...: starts stalltop, with JSON in NAME.json and what it says in NAME.err.
monitor() {
	local name=$1
	shift
	: >$work/$name.json
	stalltop -b -o json "$@" >$work/$name.json 2>$work/$name.err </dev/null &
	pid=$!
	eval "monitor_$name=$pid"
	monitors="$monitors $pid"
}

lines() { wc -l <"$1"; }

# alive PID: neither gone nor a zombie.
alive() {
	local line=
	read -r line 2>/dev/null </proc/"$1"/stat
	case $line in
	'' | *') Z '*) return 1 ;;
	esac
}

# has_samples NAME N: so many are there, or it has ended.
has_samples() {
	local id
	eval "id=\$monitor_$1"
	[ "$(lines $work/$1.json)" -ge "$2" ] || ! alive "$id"
}

# count NAME: how many samples there are; past N NAME...: awaits N more that were taken after now, of
# all of them. One may have been taken before, and be on its way.
count() { lines $work/$1.json; }
past() {
	local n=$1 name
	shift
	for name; do
		eval "wanted_$name=$(($(count $name) + n + 1))"
	done
	for name; do
		eval "await 120 has_samples $name \$wanted_$name" || fault "$name: no more samples"
	done
}

# finish NAME...: ends them.
finish() {
	local id name
	for name; do
		eval "id=\$monitor_$name"
		kill -TERM "$id" 2>/dev/null
	done
	for name; do
		eval "id=\$monitor_$name"
		wait "$id"
		eval "status_$name=$?"
	done
}

# flatten NAME [FROM [TO]]: makes NAME.flat of these samples, which keep their numbers.
flatten() {
	sed -n "${2:-1},${3:-\$}p" $work/$1.json | awk -v sample="${2:-1}" -f /guest/json.awk >$work/$1.flat
}

# value NAME SAMPLE PATH: of a flat file.
value() {
	awk -F'\t' -v s="$2" -v p="$3" '$1 == s && $2 == p { print $3; exit }' $work/$1.flat
}

# texts NAME PATTERN: the values of all paths that match it, of all samples, each once.
texts() {
	awk -F'\t' -v p="$2" '$2 ~ p && !seen[$3]++ { print $3 }' $work/$1.flat
}

# notes NAME: its notes but for those that a slow machine has, figures left out.
notes() {
	awk -F'\t' '$2 ~ /^notes.*id$/ { id = $3 }
		$2 ~ /^notes.*text$/ && id != "late" && !seen[$3]++ { print $3 }' $work/$1.flat |
		sed 's/[0-9][0-9]* \(tasks\?\)/N \1/' | sort -u
}

# figures NAME FROM TO: takes sums of ns over these samples of NAME.flat, in percent of their
# intervals, "-" where one is unknown, for share; and when they began and ended, for own.
figures() {
	awk -F'\t' -v from="$2" -v to="$3" -v name="$1" '
		$1 < from || $1 > to { next }
		$2 == "time" { time = $3 }
		$2 == "interval" { if ($1 == from) begin = time - $3; end = time }
		$2 !~ /^tasks\./ { next }
		{ n = split($2, part, "."); id = part[2]; path = part[3]; if (n > 3) path = path "_" part[4]; if (n > 4) path = path "_" part[5] }
		path == "interval" { passed[id] += $3 }
		path ~ /^(run_ns|alive_ns|waited|states|delta_blkio_ns)/ {
			sum[id "_" path] += $3
			of[id "_" path] = id
			if ($3 == "null") unknown[id "_" path] = 1
		}
		END {
			for (what in sum) {
				figure = "-"
				if (!unknown[what] && passed[of[what]]) figure = sprintf("%.1f", sum[what] / passed[of[what]] / 1e7)
				gsub(/[^A-Za-z0-9_]/, "_", what)
				print "f_" name "_" what "=" figure
			}
			printf "%s %.6f %.6f\n", name, begin, end >"'$work/$1.window'"
		}' $work/$1.flat >$work/$1.figures
	. $work/$1.figures
}

# share NAME PID PATH: one of them.
share() {
	local path=$3 id=$2
	while :; do case $path in *.*) path=${path%%.*}_${path#*.} ;; *) break ;; esac; done
	case $id in /*) id=_${id#/} ;; esac
	eval "echo \"\$f_$1_${id}_$path\""
}

# owns LOG...: takes what loads say that they have waited themselves in the windows of all, in
# percent, for own NAME LOG.
owns() {
	local log
	for log; do
		cat $work/*.window $work/$log.log | awk -v load="$log" '
			NF == 3 { n++; name[n] = $1; from[n] = $2 * 1e6; to[n] = $3 * 1e6; next }
			function between(time) { return $1 > at ? waited + ($2 - waited) * (time - at) / ($1 - at) : $2 }
			{
				for (i = 1; at && i <= n; i++) {
					if (at <= from[i] && $1 >= from[i]) begun[i] = between(from[i])
					if (at <= to[i] && $1 >= to[i]) ended[i] = between(to[i])
				}
				at = $1
				waited = $2
			}
			END {
				for (i = 1; i <= n; i++)
					if (begun[i] != "" && ended[i] != "")
						printf "own_%s_%s=%.1f\n", name[i], load, (ended[i] - begun[i]) / (to[i] - from[i]) * 100
			}' >$work/$log.owns
		. $work/$log.owns
	done
}
own() {
	eval "echo \"\$own_$1_$2\""
}

# half NUMBER: of tenths.
half() {
	tenths "$1"
	[ -z "$tenths" ] || echo "$((tenths / 20)).$((tenths / 2 % 10))"
}

# refusal NAME: what stalltop said at its end, without its own name and what changes from run to run.
refusal() {
	sed -n 's/^stalltop: //p' $work/$1.err | head -n 1
}

# keep NAME...: files that whoever looks for a fault wants to see.
keep() {
	local name
	for name; do
		cp "$work/$name" $out/
	done
}

# clean_up: ends all that the check started.
clean_up() {
	[ -z "$loads$monitors" ] || kill -KILL $loads $monitors 2>/dev/null
	wait 2>/dev/null
	loads= monitors=
}
