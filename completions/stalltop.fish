# Completion of stalltop's command line for fish. Made of completions/stalltop.fish.in and the
# program's tables by: make manual

# True before a command (after --).
function __stalltop_own
	not contains -- -- (commandline -opc)
end

# Prints the elements of a list separated by commas: the text before the last comma of the
# word that is being typed, and each of the words of standard input.
function __stalltop_list
	set -l word (string replace -r '^(-[a-zA-Z]|--[a-z-]+=)' '' -- (commandline -ct))
	set -l before (string match -r '^.*,' -- $word)
	while read -l line
		echo -- $before$line
	end
end

function __stalltop_field
	__stalltop_words_field
	__stalltop_words_field | string replace -r '^' +
	__stalltop_words_field | string replace -r '^' -
end

function __stalltop_fields
	__stalltop_field | __stalltop_list
end

function __stalltop_site_field
	__stalltop_words_site_field
	__stalltop_words_site_field | string replace -r '^' +
	__stalltop_words_site_field | string replace -r '^' -
end

function __stalltop_site_fields
	__stalltop_site_field | __stalltop_list
end

function __stalltop_pids
	__fish_complete_pids | __stalltop_list
end

function __stalltop_users
	__fish_complete_users | __stalltop_list
end

function __stalltop_cgroup
	set -l mounts (string match -r '^\S+ \S+ cgroup2? ' </proc/self/mounts)
	set -l mount (string match -r '^\S+ \S+ cgroup2 ' -- $mounts)[1]
	test -n "$mount"; or set mount $mounts[1]
	test -n "$mount"; or return
	set -l root (string split ' ' -- $mount)[2]
	set -l word (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))
	test -n "$word"; or set word /
	set -l groups $root$word*/
	for group in $groups
		string replace -- $root '' (string trim -r -c / -- $group)
	end
end

function __stalltop_hierarchy
	echo v2
	string replace -r -f '^\d+:([^:]+):.*' '$1' </proc/self/cgroup
end

function __stalltop_words_field
	printf '%s\t%s\n' pid 'process id'
	printf '%s\t%s\n' tgid 'id of the process a thread belongs to'
	printf '%s\t%s\n' ppid 'id of the parent process'
	printf '%s\t%s\n' user 'name of the real user'
	printf '%s\t%s\n' uid 'id of the real user'
	printf '%s\t%s\n' state 'state: R running, S sleeping, D uninterruptible sleep, T stopped, Z zombie, I idle'
	printf '%s\t%s\n' exit 'exit status of a task that exited in the interval, 128 + number for a signal'
	printf '%s\t%s\n' run 'time on a CPU'
	printf '%s\t%s\n' usr 'time on a CPU in user mode, estimated from clock ticks'
	printf '%s\t%s\n' sys 'time on a CPU in the kernel, estimated from clock ticks'
	printf '%s\t%s\n' total 'total wait: all kinds but thrash, which is in blkio or swapin'
	printf '%s\t%s\n' lost 'traced: all time but running and idle waits (idle pools, timers, servers without requests)'
	printf '%s\t%s\n' mem 'waiting for memory: reclaim, compact, wpcopy and the larger of swapin and thrash'
	printf '%s\t%s\n' cpu 'waiting for a CPU while runnable'
	printf '%s\t%s\n' blkio 'waiting for block I/O to complete'
	printf '%s\t%s\n' swapin 'waiting for pages to be swapped in'
	printf '%s\t%s\n' reclaim 'direct reclaim during an allocation'
	printf '%s\t%s\n' thrash 'waiting for recently evicted pages (refaults)'
	printf '%s\t%s\n' compact 'compacting memory for a large allocation'
	printf '%s\t%s\n' wpcopy 'copy-on-write faults'
	printf '%s\t%s\n' irq 'delayed by interrupts'
	printf '%s\t%s\n' dwait 'in uninterruptible sleep without I/O wait: kernel locks, frozen or remote file systems'
	printf '%s\t%s\n' trend 'total wait in each of the last 10 intervals, scaled to their maximum (10 % or more), as far as --history reaches'
	printf '%s\t%s\n' states 'traced: how it spends its time, a letter for each tenth: r runs, c waits for a CPU, i for I/O, b for other than I/O, l for a lock, n for a socket, p for a pipe, . for any of several events, t for a time, w for a child'
	printf '%s\t%s\n' bar 'how it spends its time, a letter for each tenth: r runs, c waits for a CPU, i for I/O, m for memory, b in uninterruptible sleep'
	printf '%s\t%s\n' s-run 'traced: time it is on CPU'
	printf '%s\t%s\n' s-cpu 'traced: time it is runnable: queued for a CPU, or throttled'
	printf '%s\t%s\n' s-io 'traced: time it waits for block I/O'
	printf '%s\t%s\n' s-dwait 'traced: time it is in uninterruptible sleep, not for I/O: kernel locks, frozen file systems'
	printf '%s\t%s\n' s-lock 'traced: time it waits for a lock that is held: a futex, or a file by flock() or fcntl()'
	printf '%s\t%s\n' s-net 'traced: time it waits for a socket'
	printf '%s\t%s\n' s-pipe 'traced: time it waits for a pipe'
	printf '%s\t%s\n' s-poll 'traced: time it waits for signals, or any of several files or events'
	printf '%s\t%s\n' s-timer 'traced: time it sleeps for a given time'
	printf '%s\t%s\n' s-child 'traced: time it waits for a child to end'
	printf '%s\t%s\n' s-stop 'traced: time it is stopped, or traced by a debugger'
	printf '%s\t%s\n' s-other 'traced: time it sleeps for other reasons: terminals, idle kernel threads'
	printf '%s\t%s\n' s-park 'traced: time it waits for a futex that is not a held lock, as idle threads do'
	printf '%s\t%s\n' waker 'traced: the waker of most of its wait time, a process or an interrupt'
	printf '%s\t%s\n' elap 'time since the task'\''s start'
	printf '%s\t%s\n' wait 'age of the wait in progress (of a process: of its longest-waiting thread)'
	printf '%s\t%s\n' syscall 'system call it is blocked in (of a process: in its longest state D, else in the main thread)'
	printf '%s\t%s\n' on 'what it waits on: a file, tcp and unix sockets by their peer, a pipe and the process at its other end, a child, a futex'
	printf '%s\t%s\n' where 'kernel function it sleeps in, scheduler skipped'
	printf '%s\t%s\n' cpu-nr 'CPU it last ran on (of a process: its main thread)'
	printf '%s\t%s\n' time 'time on a CPU since the task'\''s start'
	printf '%s\t%s\n' cuser 'user time of children reaped in the interval, over their whole lives'
	printf '%s\t%s\n' csys 'system time of children reaped in the interval, over their whole lives'
	printf '%s\t%s\n' read 'bytes read from storage'
	printf '%s\t%s\n' write 'bytes written to storage'
	printf '%s\t%s\n' cancel 'dirtied bytes that were truncated before they reached storage'
	printf '%s\t%s\n' running 'tasks that run or are runnable'
	printf '%s\t%s\n' sleeping 'tasks that sleep'
	printf '%s\t%s\n' stopped 'tasks stopped by a signal or a tracer'
	printf '%s\t%s\n' uninterruptible 'tasks in uninterruptible sleep'
	printf '%s\t%s\n' iowait 'tasks that wait for block I/O'
	printf '%s\t%s\n' ac_exitcode 'exit code, as wait(2) gives it'
	printf '%s\t%s\n' ac_flag 'flags of linux/acct.h: 1 fork without exec, 2 privileges, 8 core, 16 signal, 32 last of its group'
	printf '%s\t%s\n' ac_nice 'nice value'
	printf '%s\t%s\n' ac_sched 'scheduling policy: 0 other, 1 fifo, 2 rr, 3 batch, 5 idle, 6 deadline'
	printf '%s\t%s\n' ac_uid 'real user id'
	printf '%s\t%s\n' ac_gid 'real group id'
	printf '%s\t%s\n' ac_pid 'task id'
	printf '%s\t%s\n' ac_ppid 'parent'\''s id'
	printf '%s\t%s\n' ac_btime 'start, seconds since 1970'
	printf '%s\t%s\n' ac_etime 'time since the start'
	printf '%s\t%s\n' ac_utime 'user CPU time, counted in ticks'
	printf '%s\t%s\n' ac_stime 'system CPU time, counted in ticks'
	printf '%s\t%s\n' ac_minflt 'minor page faults'
	printf '%s\t%s\n' ac_majflt 'major page faults'
	printf '%s\t%s\n' cpu_run_real_total 'time on a CPU, counted in ticks'
	printf '%s\t%s\n' cpu_run_virtual_total 'time on a CPU, exact'
	printf '%s\t%s\n' coremem 'resident memory times system time'
	printf '%s\t%s\n' virtmem 'virtual memory times system time'
	printf '%s\t%s\n' hiwater_rss 'peak resident memory'
	printf '%s\t%s\n' hiwater_vm 'peak virtual memory'
	printf '%s\t%s\n' read_char 'bytes read by system calls, in units of 1024'
	printf '%s\t%s\n' write_char 'bytes written by system calls, in units of 1024'
	printf '%s\t%s\n' read_syscalls 'read system calls, in units of 1024'
	printf '%s\t%s\n' write_syscalls 'write system calls, in units of 1024'
	printf '%s\t%s\n' read_bytes 'bytes read from storage, in units of 1024'
	printf '%s\t%s\n' write_bytes 'bytes written to storage, in units of 1024'
	printf '%s\t%s\n' cancelled_write_bytes 'bytes written that were truncated before they reached storage'
	printf '%s\t%s\n' nvcsw 'voluntary context switches'
	printf '%s\t%s\n' nivcsw 'involuntary context switches'
	printf '%s\t%s\n' ac_utimescaled 'user time scaled by CPU frequency, if supported'
	printf '%s\t%s\n' ac_stimescaled 'system time scaled by CPU frequency, if supported'
	printf '%s\t%s\n' cpu_scaled_run_real_total 'time on a CPU scaled by its frequency, if supported'
	printf '%s\t%s\n' ac_btime64 'start, seconds since 1970, past 2106 too'
	printf '%s\t%s\n' ac_tgid 'thread group id'
	printf '%s\t%s\n' ac_tgetime 'time since the start of the thread group'
	printf '%s\t%s\n' ac_exe_dev 'device of the executable'
	printf '%s\t%s\n' ac_exe_inode 'inode of the executable'
	printf '%s\t%s\n' members 'number of tasks in the row'
	printf '%s\t%s\n' psi-cpu 'CPU pressure of the cgroup: some avg10'
	printf '%s\t%s\n' psi-mem 'memory pressure of the cgroup: some avg10'
	printf '%s\t%s\n' psi-io 'I/O pressure of the cgroup: some avg10'
	printf '%s\t%s\n' throttled 'time throttled by the CPU limit of the cgroup, or of one above'
	printf '%s\t%s\n' mem-high 'how often the cgroup was throttled for exceeding memory.high'
	printf '%s\t%s\n' mem-max 'how often it was about to exceed memory.max'
	printf '%s\t%s\n' mem-oom 'how often an allocation was about to fail at its memory limit'
	printf '%s\t%s\n' worst 'the member of the group that waited most'
	printf '%s\t%s\n' cgroup 'path of the cgroup'
	printf '%s\t%s\n' pod 'namespace and name of the Kubernetes pod'
	printf '%s\t%s\n' container 'name of the container, as its manager has it'
	printf '%s\t%s\n' group 'the group: a user, a command, a cgroup'
	printf '%s\t%s\n' comm 'name of the task'
	printf '%s\t%s\n' command 'command line of the process'
end

function __stalltop_words_site_field
	printf '%s\t%s\n' state 'the state in which it waited, or the kind of delay'
	printf '%s\t%s\n' class 'class of the wait: served, contended, rationed or parked'
	printf '%s\t%s\n' time 'time waited in the interval'
	printf '%s\t%s\n' share 'time waited as a share of the interval'
	printf '%s\t%s\n' count 'waits that ended in the interval'
	printf '%s\t%s\n' avg 'time waited for each wait that ended'
	printf '%s\t%s\n' max 'the longest wait since tracing began, or the one in progress'
	printf '%s\t%s\n' waiting 'age of the longest wait in progress'
	printf '%s\t%s\n' pid 'the process'
	printf '%s\t%s\n' comm 'the name of the process'
	printf '%s\t%s\n' syscall 'the system call in which it waited'
	printf '%s\t%s\n' on 'what it waited on: a file, socket, lock ...'
	printf '%s\t%s\n' where 'the kernel function in which it waited'
	printf '%s\t%s\n' at 'the program'\''s function in which most of it waited: of processes of --stacks, and of the one that is open'
	printf '%s\t%s\n' waker 'the waker of most of the wait time'
end

function __stalltop_unit
	printf '%s\t%s\n' percent 'time waited as a share of the interval'
	printf '%s\t%s\n' ms 'milliseconds waited in the interval'
	printf '%s\t%s\n' count 'waits that ended in the interval'
	printf '%s\t%s\n' avg 'milliseconds per wait, of those in the interval'
	printf '%s\t%s\n' max 'longest wait since the task'\''s start, in milliseconds'
	printf '%s\t%s\n' total 'milliseconds waited since the task'\''s start'
end

function __stalltop_grouping
	printf '%s\t%s\n' process 'one row per process'
	printf '%s\t%s\n' thread 'one row per thread'
	printf '%s\t%s\n' user 'one row per user'
	printf '%s\t%s\n' command 'one row for all tasks of a name'
	printf '%s\t%s\n' cgroup 'one row per cgroup'
end

function __stalltop_format
	printf '%s\t%s\n' text ''
	printf '%s\t%s\n' csv ''
	printf '%s\t%s\n' json ''
	printf '%s\t%s\n' sqlite ''
	printf '%s\t%s\n' folded ''
	printf '%s\t%s\n' pprof ''
	printf '%s\t%s\n' openmetrics ''
	printf '%s\t%s\n' why ''
end

function __stalltop_source
	printf '%s\t%s\n' auto ''
	printf '%s\t%s\n' taskstats ''
	printf '%s\t%s\n' bpf ''
	printf '%s\t%s\n' procfs ''
end

function __stalltop_measure
	printf '%s\t%s\n' auto ''
	printf '%s\t%s\n' yes ''
	printf '%s\t%s\n' no ''
end

function __stalltop_theme
	printf '%s\t%s\n' auto ''
	printf '%s\t%s\n' dark 'for dark backgrounds'
	printf '%s\t%s\n' light 'for light backgrounds'
	printf '%s\t%s\n' any 'for backgrounds that may be dark or light'
	printf '%s\t%s\n' mono 'without colours: by weight and marks'
end

function __stalltop_condition
	printf '%s\t%s\n' cpu ''
	printf '%s\t%s\n' memory ''
	printf '%s\t%s\n' io ''
	printf '%s\t%s\n' irq ''
	printf '%s\t%s\n' hang ''
	printf '%s\t%s\n' oom ''
end

complete -c stalltop -n __stalltop_own -s b -l batch -d 'no screen: write samples to standard output'
complete -c stalltop -n __stalltop_own -s n -l iterations -x -d 'stop after N samples'
complete -c stalltop -n __stalltop_own -s d -l delay -x -d 'interval'
complete -c stalltop -n __stalltop_own -s s -l sort -x -a '(__stalltop_field)' -d 'sort by FIELD: -FIELD descending, +FIELD ascending'
complete -c stalltop -n __stalltop_own -s F -l fields -x -a '(__stalltop_fields)' -d 'comma-separated field ids'
complete -c stalltop -n __stalltop_own -s U -l unit -x -a '(__stalltop_unit)' -d 'what delay columns show: percent, ms (in the interval), count (waits in it), avg (ms per wait), max (longest wait since the task'\''s start, ms), total (ms since its start)'
complete -c stalltop -n __stalltop_own -l booked -d 'show delays as the kernel accounted them, when a wait ends, not as time waited in the interval'
complete -c stalltop -n __stalltop_own -s H -l threads -d 'one row per thread, as -g thread'
complete -c stalltop -n __stalltop_own -s g -l group-by -x -a '(__stalltop_grouping)' -d 'one row per process, thread, user, command or cgroup'
complete -c stalltop -n __stalltop_own -l cgroup -x -a '(__stalltop_cgroup)' -d 'only tasks of this cgroup and its descendants'
complete -c stalltop -n __stalltop_own -s p -l pid -x -a '(__stalltop_pids)' -d 'only these processes (with -H their threads)'
complete -c stalltop -n __stalltop_own -s u -l user -x -a '(__stalltop_users)' -d 'only these users, by name or number'
complete -c stalltop -n __stalltop_own -s m -l match -x -d 'rows whose name or command line matches (POSIX extended)'
complete -c stalltop -n __stalltop_own -l over -x -d 'rows with more than MS of total wait in the interval'
complete -c stalltop -n __stalltop_own -s i -l active -d 'hide rows that neither ran, waited nor exited in the interval'
complete -c stalltop -n __stalltop_own -s r -l rows -x -d 'at most N rows per sample'
complete -c stalltop -n __stalltop_own -s x -l no-exits -d 'do not receive exit records'
complete -c stalltop -n __stalltop_own -l exit-buffer -x -d 'receive buffer of each exit record listener (one per CPU)'
complete -c stalltop -n __stalltop_own -s o -l format -x -a '(__stalltop_format)' -d 'text, csv, json, sqlite, folded, pprof, openmetrics, why (with -b)'
complete -c stalltop -n __stalltop_own -l output -r -F -d 'write to FILE (truncated): with -b samples, with -- COMMAND the report'
complete -c stalltop -n __stalltop_own -l listen -x -d 'no screen: serve metrics (OpenMetrics over HTTP, /metrics) at [ADDRESS]:PORT, without ADDRESS for this machine alone and at all addresses of a name, or at the path of a Unix socket'
complete -c stalltop -n __stalltop_own -l listen-names -x -d 'comma-separated names by which clients may also call, such as that of a proxy'
complete -c stalltop -n __stalltop_own -l max-series -x -d 'metrics: at most N groups get their own series, the rest go to "other"'
complete -c stalltop -n __stalltop_own -s w -l record -r -F -d 'record samples to a new file, or with --keep to a directory'
complete -c stalltop -n __stalltop_own -l keep -x -d 'record to a directory of segments and delete those older than AGE or beyond the total SIZE'
complete -c stalltop -n __stalltop_own -l before -x -d 'flight recorder: keep this much (s, m, h) in memory'
complete -c stalltop -n __stalltop_own -s R -l replay -r -F -d 'replay a recording (file or directory)'
complete -c stalltop -n __stalltop_own -l from -x -d 'start at this time: 14:02, "2026-11-21 14:02:30", the same with Z or +02:00 behind it, seconds since 1970 as JSON has them, or -3m before its end'
complete -c stalltop -n __stalltop_own -l to -x -d 'stop at this time'
complete -c stalltop -n __stalltop_own -l history -x -d 'history that the screen keeps in memory ([ goes back): a time (20M at most), a size, both as 1h,128M, or 0 for none'
complete -c stalltop -n __stalltop_own -l theme -x -a '(__stalltop_theme)' -d 'colours of the screen: dark, light, any (for dark and light backgrounds), mono (without colours)'
complete -c stalltop -n __stalltop_own -l no-mouse -d 'leave the mouse to the terminal, as to select and copy what is shown'
complete -c stalltop -n __stalltop_own -l diff -r -F -d 'compare two recordings, or spans of one (PATH@FROM..TO, times as of --from): which waits grew from A to B, by command and kind'
complete -c stalltop -n __stalltop_own -l since-start -d 'totals since each task started, from the first sample on'
complete -c stalltop -n __stalltop_own -l when -x -a '(__stalltop_condition)' -d 'sample only under this pressure ("memory some 300ms/2s", "cgroup:PATH io full 1s/4s"). Screen: show a message. With --before: record then, also for "hang 30s" and oom. Repeatable (any)'
complete -c stalltop -n __stalltop_own -l linger -x -d 'with --when: continue for this long after the pressure has ended'
complete -c stalltop -n __stalltop_own -l bell -d 'with --when: ring the terminal'\''s bell too'
complete -c stalltop -n __stalltop_own -l source -x -a '(__stalltop_source)' -d 'counter source: taskstats'
complete -c stalltop -n __stalltop_own -l measure -x -a '(__stalltop_measure)' -d 'bpf source (auto then prefers it): measure disk, memory and state D waits at context switches: yes, no, or auto: unless the kernel counts the delays of all tasks (boot parameter delayacct)'
complete -c stalltop -n __stalltop_own -l exact-io -d 'the same as --measure=yes, of older versions'
complete -c stalltop -n __stalltop_own -l enable-delayacct -d 'set kernel.task_delayacct=1 while stalltop runs'
complete -c stalltop -n __stalltop_own -l trace -d 'trace every wait with eBPF (CAP_BPF, CAP_PERFMON): time per state, wait targets, wakers'
complete -c stalltop -n __stalltop_own -l trace-sites -x -d 'with --trace: room for N wait sites, up to 1048576'
complete -c stalltop -n __stalltop_own -l stacks -x -d 'trace, and tell from where in a program its waits begin: of the processes of these pids and commands, separated by commas'
complete -c stalltop -n __stalltop_own -l stacks-over -x -d 'with --stacks: only of waits that last MS or longer'
complete -c stalltop -n __stalltop_own -l debuginfod -d 'fetch symbols and source lines of programs that lack them from the servers in DEBUGINFOD_URLS (debuginfod-find(1)), which learn what runs here'
complete -c stalltop -n __stalltop_own -l site-fields -x -a '(__stalltop_site_fields)' -d 'the same as -F for tables of wait sites'
complete -c stalltop -n __stalltop_own -l site-sort -x -a '(__stalltop_site_field)' -d 'the same as -s for tables of wait sites'
complete -c stalltop -n __stalltop_own -l cgroup-hierarchy -x -a '(__stalltop_hierarchy)' -d 'the cgroup hierarchy to show: v2, or a controller or name=NAME of a v1 hierarchy'
complete -c stalltop -n __stalltop_own -l readonly -d 'read-only screen: no signals, renicing, sysctl or files'
complete -c stalltop -n __stalltop_own -l debug-log -r -F -d 'append a log of what the program does to FILE'
complete -c stalltop -n __stalltop_own -s h -l help -d 'print common options and exit'
complete -c stalltop -n __stalltop_own -l help-all -d 'print all options in full'
complete -c stalltop -n __stalltop_own -l why -d 'look for 3 s, and print in at most 25 lines the most delayed tasks, root causes and remedies (with -o json as JSON)'
complete -c stalltop -n __stalltop_own -l doctor -d 'show what works on this kernel for this user, what is missing, and remedies (-o json: JSON)'
complete -c stalltop -n __stalltop_own -l schema -d 'print the JSON Schema of all JSON that stalltop writes, and exit'
complete -c stalltop -n __stalltop_own -s V -l version -d 'print version, sources built in, kernel and taskstats version, and exit'
complete -c stalltop -f
complete -c stalltop -n 'not __stalltop_own' -x -a '(__fish_complete_subcommand)'
