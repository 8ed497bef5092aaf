# Completion of stalltop's command line for fish. Made of completions/stalltop.fish.in and the
# program's tables by: make manual

# Whether no command has begun, which comes after --.
function __stalltop_own
	not contains -- -- (commandline -opc)
end

# Prints the elements of a list separated by commas: what stands before the last comma of the
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
	printf '%s\t%s\n' exit 'exit status of a task that ended in the interval, 128 + number for a signal'
	printf '%s\t%s\n' run 'time on a CPU'
	printf '%s\t%s\n' usr 'time on a CPU in user mode, estimated from clock ticks'
	printf '%s\t%s\n' sys 'time on a CPU in the kernel, estimated from clock ticks'
	printf '%s\t%s\n' total 'all waiting: every kind except thrash, which is booked as blkio or swapin too'
	printf '%s\t%s\n' lost 'traced: all time but running and waits with nothing to do (timers, servers without requests)'
	printf '%s\t%s\n' mem 'waiting for memory: reclaim, compact, wpcopy and the larger of swapin and thrash'
	printf '%s\t%s\n' cpu 'waiting for a CPU while runnable'
	printf '%s\t%s\n' blkio 'waiting for block I/O to complete'
	printf '%s\t%s\n' swapin 'waiting for pages to be swapped in'
	printf '%s\t%s\n' reclaim 'reclaiming memory before an allocation succeeds'
	printf '%s\t%s\n' thrash 'waiting for pages that were evicted a short time ago'
	printf '%s\t%s\n' compact 'compacting memory for a large allocation'
	printf '%s\t%s\n' wpcopy 'copying write-protected pages'
	printf '%s\t%s\n' irq 'held up by interrupts'
	printf '%s\t%s\n' dwait 'in uninterruptible sleep without I/O wait: kernel locks, frozen or remote file systems'
	printf '%s\t%s\n' trend 'all waiting in each of the last 10 intervals, on a scale up to the highest of them (at least 10 %)'
	printf '%s\t%s\n' states 'traced: how it spends its time, a letter for each tenth: r runs, c waits for a CPU, i for I/O, b for other than I/O, l for a lock, n for a socket, p for a pipe, . for any of several events, t for a time, w for a child'
	printf '%s\t%s\n' s-run 'traced: time it runs on a CPU'
	printf '%s\t%s\n' s-cpu 'traced: time it is ready to run: queued for a CPU, or throttled'
	printf '%s\t%s\n' s-io 'traced: time it waits for block I/O'
	printf '%s\t%s\n' s-dwait 'traced: time it sleeps uninterruptibly, not for I/O: locks of the kernel, frozen file systems'
	printf '%s\t%s\n' s-lock 'traced: time it waits for a lock that is held: a futex, or a file by flock() or fcntl()'
	printf '%s\t%s\n' s-net 'traced: time it waits for a socket'
	printf '%s\t%s\n' s-pipe 'traced: time it waits for a pipe'
	printf '%s\t%s\n' s-poll 'traced: time it waits for any of several files or events'
	printf '%s\t%s\n' s-timer 'traced: time it sleeps for a given time'
	printf '%s\t%s\n' s-child 'traced: time it waits for a child to end'
	printf '%s\t%s\n' s-stop 'traced: time it is stopped, or traced by a debugger'
	printf '%s\t%s\n' s-other 'traced: time it sleeps for other reasons: terminals, signals, idle kernel threads'
	printf '%s\t%s\n' s-park 'traced: time it waits for a futex that is not a held lock, as idle threads do'
	printf '%s\t%s\n' waker 'traced: the waker that ended most of its waiting time, a process or an interrupt'
	printf '%s\t%s\n' elap 'time since the task'\''s start'
	printf '%s\t%s\n' wait 'how long it has been waiting so far (a process: its thread that waits longest)'
	printf '%s\t%s\n' syscall 'system call that it waits in (a process: its thread that is in state D longest, else the first)'
	printf '%s\t%s\n' on 'what it waits on: a file, tcp and unix sockets by their peer, a pipe and the process at its other end, a child, a futex'
	printf '%s\t%s\n' where 'function of the kernel that it waits in, without the scheduler'\''s own'
	printf '%s\t%s\n' cpu-nr 'number of the CPU that it ran on last (a process: its first thread)'
	printf '%s\t%s\n' time 'time on a CPU since the task'\''s start'
	printf '%s\t%s\n' cuser 'user time of children that ended and were reaped in the interval, over their whole lives'
	printf '%s\t%s\n' csys 'system time of children that ended and were reaped in the interval, over their whole lives'
	printf '%s\t%s\n' read 'bytes read from storage'
	printf '%s\t%s\n' write 'bytes written to storage'
	printf '%s\t%s\n' cancel 'bytes written that were truncated before they reached storage'
	printf '%s\t%s\n' running 'tasks that run or wait for a CPU'
	printf '%s\t%s\n' sleeping 'tasks that sleep'
	printf '%s\t%s\n' stopped 'tasks that were stopped, by a signal or a tracer'
	printf '%s\t%s\n' uninterruptible 'tasks that sleep uninterruptibly'
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
	printf '%s\t%s\n' hiwater_rss 'most resident memory so far'
	printf '%s\t%s\n' hiwater_vm 'most virtual memory so far'
	printf '%s\t%s\n' read_char 'bytes read by system calls, in steps of 1024'
	printf '%s\t%s\n' write_char 'bytes written by system calls, in steps of 1024'
	printf '%s\t%s\n' read_syscalls 'read system calls, in steps of 1024'
	printf '%s\t%s\n' write_syscalls 'write system calls, in steps of 1024'
	printf '%s\t%s\n' read_bytes 'bytes read from storage, in steps of 1024'
	printf '%s\t%s\n' write_bytes 'bytes written to storage, in steps of 1024'
	printf '%s\t%s\n' cancelled_write_bytes 'bytes written that were truncated before they reached storage'
	printf '%s\t%s\n' nvcsw 'voluntary context switches'
	printf '%s\t%s\n' nivcsw 'involuntary context switches'
	printf '%s\t%s\n' ac_utimescaled 'user time scaled by CPU frequency, where the machine can'
	printf '%s\t%s\n' ac_stimescaled 'system time scaled by CPU frequency, where the machine can'
	printf '%s\t%s\n' cpu_scaled_run_real_total 'time on a CPU scaled by its frequency, where the machine can'
	printf '%s\t%s\n' ac_btime64 'start, seconds since 1970, past 2106 too'
	printf '%s\t%s\n' ac_tgid 'thread group id'
	printf '%s\t%s\n' ac_tgetime 'time since the start of the thread group'
	printf '%s\t%s\n' ac_exe_dev 'device of the executable'
	printf '%s\t%s\n' ac_exe_inode 'inode of the executable'
	printf '%s\t%s\n' members 'number of tasks in the row'
	printf '%s\t%s\n' psi-cpu 'CPU pressure of the control group: some avg10'
	printf '%s\t%s\n' psi-mem 'memory pressure of the control group: some avg10'
	printf '%s\t%s\n' psi-io 'I/O pressure of the control group: some avg10'
	printf '%s\t%s\n' throttled 'time for which the control group was throttled by its CPU limit, or by one above'
	printf '%s\t%s\n' mem-high 'how often the control group was throttled for exceeding memory.high'
	printf '%s\t%s\n' mem-max 'how often it was about to exceed memory.max'
	printf '%s\t%s\n' mem-oom 'how often an allocation was about to fail at its memory limit'
	printf '%s\t%s\n' worst 'the member of the group that waited most'
	printf '%s\t%s\n' cgroup 'path of the control group'
	printf '%s\t%s\n' pod 'namespace and name of the Kubernetes pod'
	printf '%s\t%s\n' container 'name of the container, as its manager has it'
	printf '%s\t%s\n' group 'the group: a user, a command, a control group'
	printf '%s\t%s\n' comm 'name of the task'
	printf '%s\t%s\n' command 'command line of the process'
end

function __stalltop_words_site_field
	printf '%s\t%s\n' state 'the state in which it waited, or the kind of delay'
	printf '%s\t%s\n' class 'what the wait means: served, contended, rationed or parked'
	printf '%s\t%s\n' time 'time waited in the interval'
	printf '%s\t%s\n' share 'the same as a share of the interval, of one CPU'\''s time'
	printf '%s\t%s\n' count 'waits that ended in the interval'
	printf '%s\t%s\n' avg 'time waited for each wait that ended'
	printf '%s\t%s\n' max 'the longest wait since tracing began, or the one in progress'
	printf '%s\t%s\n' waiting 'how long the longest wait in progress has lasted'
	printf '%s\t%s\n' pid 'the process'
	printf '%s\t%s\n' comm 'the name of the process'
	printf '%s\t%s\n' syscall 'the system call in which it waited'
	printf '%s\t%s\n' on 'what it waited on: a file, socket, lock ...'
	printf '%s\t%s\n' where 'the function of the kernel in which it waited'
	printf '%s\t%s\n' waker 'the waker that ended most of the time'
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
	printf '%s\t%s\n' cgroup 'one row per control group'
end

function __stalltop_format
	printf '%s\t%s\n' text ''
	printf '%s\t%s\n' csv ''
	printf '%s\t%s\n' json ''
	printf '%s\t%s\n' sqlite ''
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
complete -c stalltop -n __stalltop_own -s s -l sort -x -a '(__stalltop_field)' -d 'sort field: -FIELD descending, +FIELD ascending'
complete -c stalltop -n __stalltop_own -s F -l fields -x -a '(__stalltop_fields)' -d 'field ids separated by commas'
complete -c stalltop -n __stalltop_own -s U -l unit -x -a '(__stalltop_unit)' -d 'what delay columns show: percent, ms (in the interval), count (waits in it), avg (ms per wait), max (longest wait since the task'\''s start, ms), total (ms since its start)'
complete -c stalltop -n __stalltop_own -l booked -d 'delay columns show what the kernel booked in the interval, not the time waited'
complete -c stalltop -n __stalltop_own -s H -l threads -d 'one row per thread, as -g thread'
complete -c stalltop -n __stalltop_own -s g -l group-by -x -a '(__stalltop_grouping)' -d 'one row per process, thread, user, command or cgroup'
complete -c stalltop -n __stalltop_own -l cgroup -x -a '(__stalltop_cgroup)' -d 'only tasks of this control group and those below it'
complete -c stalltop -n __stalltop_own -s p -l pid -x -a '(__stalltop_pids)' -d 'only these processes (with -H their threads)'
complete -c stalltop -n __stalltop_own -s u -l user -x -a '(__stalltop_users)' -d 'only these users, by name or number'
complete -c stalltop -n __stalltop_own -s m -l match -x -d 'rows whose name or command line matches (POSIX extended)'
complete -c stalltop -n __stalltop_own -l over -x -d 'rows with more than MS of total delay in the interval'
complete -c stalltop -n __stalltop_own -s i -l active -d 'hide rows with no delay, no run time and no exit in the interval'
complete -c stalltop -n __stalltop_own -s r -l rows -x -d 'at most N rows per sample'
complete -c stalltop -n __stalltop_own -s x -l no-exits -d 'do not listen for exiting tasks'
complete -c stalltop -n __stalltop_own -l exit-buffer -x -d 'receive buffer of each listener for exiting tasks (there is one per CPU)'
complete -c stalltop -n __stalltop_own -s o -l format -x -a '(__stalltop_format)' -d 'text, csv, json, sqlite, openmetrics, why (with -b)'
complete -c stalltop -n __stalltop_own -l output -r -F -d 'write to FILE, which is emptied first: with -b the samples, in place of standard output'
complete -c stalltop -n __stalltop_own -l listen -x -d 'no screen: answer with metrics (OpenMetrics over HTTP, /metrics) at [ADDRESS]:PORT, without ADDRESS for this machine alone and at all addresses of a name, or at the path of a Unix socket'
complete -c stalltop -n __stalltop_own -l listen-names -x -d 'further names by which clients may call, parted by commas, such as that of a proxy'
complete -c stalltop -n __stalltop_own -l max-series -x -d 'for metrics: at most N groups have series of their own, the rest add to one named other'
complete -c stalltop -n __stalltop_own -s w -l record -r -F -d 'record the samples: to a new file, or with --keep to a folder'
complete -c stalltop -n __stalltop_own -l keep -x -d 'record to a folder of segments, and remove old ones: those that ended longer ago, or are beyond the size of all together'
complete -c stalltop -n __stalltop_own -l before -x -d 'keep the last samples in memory, for this time (s, m, h), and record them to a folder of segments when something happens: the pressure of --when, or SIGUSR1'
complete -c stalltop -n __stalltop_own -s R -l replay -r -F -d 'show a recording, a file or a folder, in place of the machine'
complete -c stalltop -n __stalltop_own -l from -x -d 'use a recording from this time on: 14:02, "2026-11-21 14:02:30", the same with Z or +02:00 behind it, seconds since 1970 as JSON has them, or -3m before its end'
complete -c stalltop -n __stalltop_own -l to -x -d 'use a recording up to this time'
complete -c stalltop -n __stalltop_own -l history -x -d 'how much of the past the screen keeps in memory ([ goes back): a time (in at most 20M), a size, both as in 1h,128M, or 0 for nothing'
complete -c stalltop -n __stalltop_own -l theme -x -a '(__stalltop_theme)' -d 'colours of the screen: dark, light, any (for dark and light backgrounds), mono (without colours)'
complete -c stalltop -n __stalltop_own -l no-mouse -d 'leave the mouse to the terminal, as to select and copy what is shown'
complete -c stalltop -n __stalltop_own -l diff -r -F -d 'compare two recordings, or spans of one (PATH@FROM..TO, times as of --from): what waits more in B than in A, by command and kind'
complete -c stalltop -n __stalltop_own -l since-start -d 'cumulative figures since each task'\''s start, from the first reading on'
complete -c stalltop -n __stalltop_own -l when -x -a '(__stalltop_condition)' -d 'take samples only while there is such pressure, for example "memory some 300ms/2s" or "cgroup:PATH io full 1s/4s"'
complete -c stalltop -n __stalltop_own -l linger -x -d 'with --when: go on for this long after the pressure has ended'
complete -c stalltop -n __stalltop_own -l bell -d 'with --when: ring the terminal'\''s bell too'
complete -c stalltop -n __stalltop_own -l source -x -a '(__stalltop_source)' -d 'where counters come from: taskstats'
complete -c stalltop -n __stalltop_own -l measure -x -a '(__stalltop_measure)' -d 'measure waits for disks and memory and in state D by small programs at the kernel'\''s context switches (with the bpf source, which auto then prefers): yes, no, or auto: unless the kernel counts the delays of all tasks (boot parameter delayacct)'
complete -c stalltop -n __stalltop_own -l exact-io -d 'the same as --measure=yes, of older versions'
complete -c stalltop -n __stalltop_own -l enable-delayacct -d 'switch kernel.task_delayacct on while stalltop runs'
complete -c stalltop -n __stalltop_own -l trace -d 'watch every wait by eBPF (needs CAP_BPF and CAP_PERFMON): how threads spend all their time, the targets of their waits, and their wakers'
complete -c stalltop -n __stalltop_own -l trace-sites -x -d 'with --trace: room for so many sites of waits, to 1048576'
complete -c stalltop -n __stalltop_own -l site-fields -x -a '(__stalltop_site_fields)' -d 'the same as -F for tables of sites of waits'
complete -c stalltop -n __stalltop_own -l site-sort -x -a '(__stalltop_site_field)' -d 'the same as -s for tables of sites of waits'
complete -c stalltop -n __stalltop_own -l cgroup-hierarchy -x -a '(__stalltop_hierarchy)' -d 'the cgroup hierarchy to show: v2, or a controller or name=NAME of a v1 hierarchy'
complete -c stalltop -n __stalltop_own -l readonly -d 'the screen only shows: no signal, nice value, switch or written file'
complete -c stalltop -n __stalltop_own -l debug-log -r -F -d 'append a log of what the program does to FILE'
complete -c stalltop -n __stalltop_own -s h -l help -d 'print the usual options, a line each, and exit'
complete -c stalltop -n __stalltop_own -l help-all -d 'print all options, with all that is to be said of them'
complete -c stalltop -n __stalltop_own -l why -d 'look for 3 s, and print in at most 25 lines the tasks that suffer most, the root causes, and the cures (with -o json as JSON)'
complete -c stalltop -n __stalltop_own -l doctor -d 'print what stalltop can show here, what it cannot because of this kernel, its settings or this user, and the cures (with -o json as JSON)'
complete -c stalltop -n __stalltop_own -s V -l version -d 'print version, sources built in, kernel and taskstats version, and exit'
complete -c stalltop -f
complete -c stalltop -n 'not __stalltop_own' -x -a '(__fish_complete_subcommand)'
