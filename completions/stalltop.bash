# Completion of stalltop's command line for bash. Made of completions/stalltop.bash.in and the
# program's tables by: make manual

_stalltop_options='-b --batch -n --iterations -d --delay -s --sort -F --fields -U --unit --booked -H --threads -g --group-by --cgroup -p --pid -u --user -m --match --over -i --active -r --rows -x --no-exits --exit-buffer -o --format --output --listen --listen-names --max-series -w --record --keep --before -R --replay --from --to --history --theme --no-mouse --diff --since-start --when --linger --bell --source --measure --exact-io --enable-delayacct --trace --trace-sites --stacks --stacks-over --debuginfod --site-fields --site-sort --cgroup-hierarchy --readonly --debug-log -h --help --help-all --why --doctor --schema -V --version'

# What the value of an option is; nothing where it takes none.
_stalltop_value()
{
	case $1 in
	-n | --iterations) echo none ;;
	-d | --delay) echo none ;;
	-s | --sort) echo field ;;
	-F | --fields) echo fields ;;
	-U | --unit) echo unit ;;
	-g | --group-by) echo grouping ;;
	--cgroup) echo cgroup ;;
	-p | --pid) echo pids ;;
	-u | --user) echo users ;;
	-m | --match) echo none ;;
	--over) echo none ;;
	-r | --rows) echo none ;;
	--exit-buffer) echo none ;;
	-o | --format) echo format ;;
	--output) echo file ;;
	--listen) echo none ;;
	--listen-names) echo none ;;
	--max-series) echo none ;;
	-w | --record) echo file ;;
	--keep) echo none ;;
	--before) echo none ;;
	-R | --replay) echo file ;;
	--from) echo none ;;
	--to) echo none ;;
	--history) echo none ;;
	--theme) echo theme ;;
	--diff) echo file ;;
	--when) echo condition ;;
	--linger) echo none ;;
	--source) echo source ;;
	--measure) echo measure ;;
	--trace-sites) echo none ;;
	--stacks) echo none ;;
	--stacks-over) echo none ;;
	--site-fields) echo site_fields ;;
	--site-sort) echo site_field ;;
	--cgroup-hierarchy) echo hierarchy ;;
	--debug-log) echo file ;;
	esac
}

# The words that such a value can be.
_stalltop_words()
{
	case $1 in
	field) echo 'pid tgid ppid user uid state exit run usr sys total lost mem cpu blkio swapin reclaim thrash compact wpcopy irq dwait trend states bar s-run s-cpu s-io s-dwait s-lock s-net s-pipe s-poll s-timer s-child s-stop s-other s-park waker elap wait syscall on where cpu-nr time cuser csys read write cancel running sleeping stopped uninterruptible iowait ac_exitcode ac_flag ac_nice ac_sched ac_uid ac_gid ac_pid ac_ppid ac_btime ac_etime ac_utime ac_stime ac_minflt ac_majflt cpu_run_real_total cpu_run_virtual_total coremem virtmem hiwater_rss hiwater_vm read_char write_char read_syscalls write_syscalls read_bytes write_bytes cancelled_write_bytes nvcsw nivcsw ac_utimescaled ac_stimescaled cpu_scaled_run_real_total ac_btime64 ac_tgid ac_tgetime ac_exe_dev ac_exe_inode members psi-cpu psi-mem psi-io throttled mem-high mem-max mem-oom worst cgroup pod container group comm command' ;;
	site_field) echo 'state class time share count avg max waiting pid comm syscall on where at waker' ;;
	unit) echo 'percent ms count avg max total' ;;
	grouping) echo 'process thread user command cgroup' ;;
	format) echo 'text csv json sqlite folded pprof openmetrics why' ;;
	source) echo 'auto taskstats bpf procfs' ;;
	measure) echo 'auto yes no' ;;
	theme) echo 'auto dark light any mono' ;;
	condition) echo 'cpu memory io irq hang oom' ;;
	esac
}
# The mount point of the cgroup hierarchy that is shown by default.
_stalltop_cgroups()
{
	local device folder type rest first=
	while read -r device folder type rest; do
		case $type in
		cgroup2)
			echo "$folder"
			return
			;;
		cgroup) first=${first:-$folder} ;;
		esac
	done 2>/dev/null </proc/self/mounts
	echo "$first"
}

# Sets COMPREPLY to those of the words that go on from the text $1, each with $2 before it.
_stalltop_propose()
{
	local IFS=$' \t\n'
	mapfile -t COMPREPLY < <(compgen -P "$2" -W "$3" -- "$1")
}

# Proposes the group's subgroups, a level at a time, as paths.
_stalltop_groups()
{
	local root folder
	root=$(_stalltop_cgroups)
	[[ -n $root ]] || return
	[[ -n $1 ]] || set -- /
	# A typed backslash stands for two, as names of units have some.
	set -- "${1//\\\\/\\}"
	for folder in "$root$1"*/; do
		[[ -d $folder ]] || continue
		folder=${folder#"$root"}
		COMPREPLY+=("$(printf %q "${folder%/}")")
	done
	compopt -o nospace 2>/dev/null
}

# Proposes values of the kind $1 for the text $2.
_stalltop_complete()
{
	local text=$2 before= sign=
	case $1 in
	# The last one of a list.
	fields | site_fields | pids | users)
		before=${text%"${text##*,}"}
		text=${text##*,}
		;;
	esac
	case $1 in
	field | fields | site_field | site_fields)
		case $text in
		[+-]*)
			sign=${text:0:1}
			text=${text:1}
			;;
		esac
		_stalltop_propose "$text" "$before$sign" "$(_stalltop_words "${1%s}")"
		;;
	pids) _stalltop_propose "$text" "$before" "$(cd /proc && echo [0-9]*)" ;;
	users) mapfile -t COMPREPLY < <(compgen -P "$before" -u -- "$text") ;;
	cgroup) _stalltop_groups "$text" ;;
	hierarchy)
		_stalltop_propose "$text" "" "v2 $(sed -n 's/^[0-9]*:\([^:]\{1,\}\):.*/\1/p' \
			/proc/self/cgroup 2>/dev/null)"
		;;
	file)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$text")
		;;
	none) ;;
	*) _stalltop_propose "$text" "" "$(_stalltop_words "$1")" ;;
	esac
}

_stalltop()
{
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} value i
	COMPREPLY=()

	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			# The command, as after sudo.
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			else
				mapfile -t COMPREPLY < <(compgen -c -- "$current")
			fi
			return
		fi
	done
	# --option=value comes as three words.
	if [[ $current == = ]]; then
		current=
	elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	value=$(_stalltop_value "$before")
	if [[ -n $value ]]; then
		_stalltop_complete "$value" "$current"
	else
		_stalltop_propose "$current" "" "$_stalltop_options"
	fi
}

complete -F _stalltop stalltop
