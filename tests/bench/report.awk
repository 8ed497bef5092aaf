# SPDX-License-Identifier: GPL-2.0-or-later
# The benchmark's tables, from the raw figures of bench.sh:
#
#   awk -f report.awk -v tasks=1000 RAW      what was measured among these tasks
#   awk -f report.awk -v aims=1 RAW          how the aims are met
#
# Lines of the raw figures, with tabs between:
#   setting NAME VALUE
#   tasks   TASKS PROCESSES THREADS OTHERS ALL  what there was, not only the sleepers, and
#           ticks of CPU time so far, of others and in all; again and again
#   absent  TASKS WHY                          these sleepers could not be had
#   row     TASKS ID LABEL
#   missing TASKS ID WHY
#   run     TASKS ID TURN SAMPLES and what meter prints: CPU_US RSS_KB WALL_MS REFRESHES
#           SAMPLE_US SAMPLE_MS COUNT; without a figure of a sample ("-") there is a run of
#           other SAMPLES in the same turn
#   calls   TASKS ID SAMPLES CALLS
#   floor   TASKS WAY CPU_US MET               "-" and why, when it cannot be had

BEGIN {
	FS = "\t"
	# The part of the CPUs with which others are a nuisance.
	DISTURBING = 0.05
	floor_label["list"] = "listing /proc"
	floor_label["taskstats"] = "taskstats queries, packs of 64"
	floor_label["bpf_empty"] = "BPF task iterator, empty"
	floor_label["bpf_walk"] = "BPF task iterator, full records"
}

$1 == "setting" { setting[$2] = $3 }
$1 == "tasks" { keep_tasks($2, $3, $4, $5, $6) }
$1 == "absent" { absent[$2] = $3 }
$1 == "row" { label[$2, $3] = $4; rows[$2, ++n_rows[$2]] = $3 }
$1 == "missing" { missing[$2, ++n_missing[$2]] = $4 }
$1 == "run" { keep_run($2 SUBSEP $3, $4, $5) }
$1 == "calls" { calls[$2, $3, $4] = $5 }
$1 == "floor" { keep_floor($2, $3, $4, $5) }

END {
	if (aims)
		print_aims()
	else if (tasks in absent)
		printf "%s sleeping: left out: %s\n", spelled(tasks), absent[tasks]
	else
		print_tasks()
}

# The first ones count; the others say whether the machine was left in peace.
function keep_tasks(where, n_processes, n_threads, others, all)
{
	if (!(where in processes)) {
		order[++n_order] = where
		processes[where] = n_processes
		fewest[where] = most[where] = threads[where] = n_threads
		others_before[where] = others
		all_before[where] = all
	}
	if (n_threads < fewest[where])
		fewest[where] = n_threads
	if (n_threads > most[where])
		most[where] = n_threads
	if (all > all_before[where])
		others_share[where] = (others - others_before[where]) / (all - all_before[where])
}

function keep_run(key, turn, samples)
{
	if ($10 == "-") {
		cpu_us[key, turn, samples] = $6
		wall_ms[key, turn, samples] = $8
	} else {
		cpu_us[key, turn] = $10
		wall_ms[key, turn] = $11
	}
	if (turn > n_turns[key])
		n_turns[key] = turn
	if ($7 > peak[key])
		peak[key] = $7
}

# A way's figures are those of a row of its own, ready made.
function keep_floor(where, way, us, met,    key)
{
	key = where SUBSEP "floor:" way
	if (us == "-") {
		floor_missing[key] = met
		return
	}
	if (!(key in n_cost))
		floors[where, ++n_floors[where]] = way
	cost[key, ++n_cost[key]] = us / 1000
	floor_met[key] = met
}

# --- Arithmetic -----------------------------------------------------------------

# Sorts values[1..n].
function sort(values, n,    i, j, value)
{
	for (i = 2; i <= n; i++) {
		value = values[i]
		for (j = i - 1; j >= 1 && values[j] > value; j--)
			values[j + 1] = values[j]
		values[j + 1] = value
	}
}

function median(values, n)
{
	return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

# What a sample takes in each turn, by the table `of`, to values[1..n]; n.
function per_sample(of, key, values,    turn, n, a, b)
{
	a = setting["n1"]
	b = setting["n2"]
	for (turn = 1; turn <= n_turns[key]; turn++)
		if ((key, turn) in of)
			values[++n] = of[key, turn]
		else if ((key, turn, a) in of && (key, turn, b) in of)
			values[++n] = (of[key, turn, b] - of[key, turn, a]) / (b - a)
	return n + 0
}

# Sets mid, low, high, in ms a sample; 0 when it was not measured.
function cpu_of(key,    values, n, i)
{
	if (key in n_cost)
		for (n = n_cost[key]; i < n; i++)
			values[i + 1] = cost[key, i + 1]
	else {
		n = per_sample(cpu_us, key, values)
		for (i = 1; i <= n; i++)
			values[i] /= 1000
	}
	if (!n)
		return 0
	sort(values, n)
	mid = median(values, n)
	low = values[1]
	high = values[n]
	return n
}

# Seconds between two samples; "" when they were not measured.
function period_of(key,    values, n)
{
	n = per_sample(wall_ms, key, values)
	if (!n)
		return ""
	sort(values, n)
	return median(values, n) / 1000
}

# System calls a sample; "" when they were not counted.
function calls_of(key,    a, b)
{
	a = setting["calls_n1"]
	b = setting["calls_n2"]
	if (!((key, a) in calls && (key, b) in calls))
		return ""
	return (calls[key, b] - calls[key, a]) / (b - a)
}

# --- Tables ---------------------------------------------------------------------

# spelled(1000) is "1,000 processes", spelled("2000x5") "2,000 processes of 5 threads".
function spelled(where,    part)
{
	if (where == "busy")
		return "busy: 1,000 processes"
	split(where, part, "x")
	return grouped(part[1]) " processes" (part[2] ? " of " part[2] " threads" : "")
}

function grouped(n,    text)
{
	text = sprintf("%.0f", n)
	while (match(text, /[0-9][0-9][0-9][0-9]($|,)/))
		text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
	return text
}

# Three digits that say something.
function figure(x)
{
	return sprintf(x >= 99.95 ? "%.0f" : x >= 9.995 ? "%.1f" : "%.2f", x)
}

function print_tasks(    i)
{
	printf "%s sleeping (%s tasks in %s processes with all others)\n", spelled(tasks),
		grouped(threads[tasks]), grouped(processes[tasks])
	if (tasks != "busy" && (most[tasks] > 1.05 * fewest[tasks] || others_share[tasks] > DISTURBING))
		printf "disturbed: %s to %s tasks, %.0f %% of the CPUs had other work\n",
			grouped(fewest[tasks]), grouped(most[tasks]), others_share[tasks] * 100
	printf "%-36s %9s %17s %11s %8s %7s\n", "", "ms CPU", "", "calls", "peak", "period"
	printf "%-36s %9s %17s %11s %8s %7s\n", "", "a sample", "min - max", "a sample", "MB",
		"s"
	for (i = 1; i <= n_rows[tasks]; i++)
		print_row(tasks SUBSEP rows[tasks, i], label[tasks, rows[tasks, i]])
	for (i = 1; i <= n_missing[tasks]; i++)
		print "left out: " missing[tasks, i]
	print_floor()
	print_ratios()
}

function print_row(key, name,    n, period, count)
{
	n = cpu_of(key)
	if (!n)
		return
	period = period_of(key)
	count = calls_of(key)
	printf "%-36s %9s %17s %11s %8.1f %7.2f%s\n", name, figure(mid),
		figure(low) " - " figure(high), count == "" ? "-" : grouped(count),
		peak[key] * 1024 / 1e6, period,
		(period > 1.1 * setting["delay"] ? " does not hold the interval" : "")
}

function print_floor(    i, key)
{
	for (i = 1; i <= n_floors[tasks]; i++) {
		key = tasks SUBSEP "floor:" floors[tasks, i]
		cpu_of(key)
		printf "%-36s %9s %17s %s\n", "floor: " floor_label[floors[tasks, i]], figure(mid),
			figure(low) " - " figure(high),
			sprintf("  %.2f us each of %s", mid * 1000 / floor_met[key],
				grouped(floor_met[key]))
	}
	for (key in floor_missing)
		if (index(key, tasks SUBSEP) == 1)
			print "left out: " substr(key, length(tasks) + 2) ": " floor_missing[key]
}

# What the kinds that ratios are made with are called.
function kind_name(kind)
{
	return kind == "batch" ? "-b" : kind == "threads" ? "-b -H" : kind == "screen" ? kind : ""
}

# How many times as much CPU time each peer takes as stalltop does.
function print_ratios(    i, j, n, part, mine, of, name, line1, line2)
{
	for (i = 1; i <= n_rows[tasks]; i++) {
		split(rows[tasks, i], part, ":")
		if (part[1] != "stalltop" || kind_name(part[3]) == "" ||
		    !cpu_of(tasks SUBSEP rows[tasks, i]) || mid <= 0)
			continue
		of[++n] = mid
		line1 = line1 sprintf(" %9s", part[2])
		line2 = line2 sprintf(" %9s", kind_name(part[3]))
	}
	for (i = 1; n && i <= n_rows[tasks]; i++) {
		split(rows[tasks, i], part, ":")
		if (part[1] == "stalltop" || !cpu_of(tasks SUBSEP rows[tasks, i]))
			continue
		if (!mine++)
			printf "%-36s%s\n%-36s%s\n", "times the CPU of stalltop", line1, "", line2
		name = label[tasks, rows[tasks, i]]
		printf "%-36s", name
		for (j = 1; j <= n; j++)
			printf " %9s", figure(mid / of[j])
		print ""
	}
}

# --- Aims -----------------------------------------------------------------------

# aim(TEXT, MEASURED, SENSE, BOUND): a line; MEASURED is "" when there is no figure.
function aim(text, measured, sense, bound,    met)
{
	met = sense == ">=" ? measured >= bound : sense == "<=" ? measured <= bound : \
		measured < bound
	printf "%-58s %2s %8s %10s  %s\n", text, sense, figure(bound),
		measured == "" ? "-" : figure(measured),
		measured == "" ? "not measured" : met ? "met" : "not met"
}

# The ratio of what two rows take among some tasks, or "".
function ratio(where, over, under,    top)
{
	if (!cpu_of(where SUBSEP over))
		return ""
	top = mid
	return cpu_of(where SUBSEP under) && mid > 0 ? top / mid : ""
}

function aim_ratio(where, over, under, sense, bound, text)
{
	aim(text ", " (where == "busy" ? where : grouped(where)), ratio(where, over, under), sense, bound)
}

# Rows seen before: at most `share` of the tasks, and `more`.
function aim_calls(source, share, more,    i, k, kinds, where)
{
	split("batch screen", kinds, " ")
	for (k = 1; k <= 2; k++)
		for (i = 1; i <= n_order; i++) {
			where = order[i]
			if (where == "busy")
				continue
			aim("system calls a sample, stalltop " source " " kind_name(kinds[k]) ", " \
				(where ~ /x/ ? where : grouped(where)),
				calls_of(where SUBSEP "stalltop:" source ":" kinds[k]), "<=",
				threads[where] * share + more)
		}
}

# The cost per process among many, as a multiple of that among few.
function aim_linear(source, kind, few, many,    id, each)
{
	id = "stalltop:" source ":" kind
	each = ratio_between(id, few, many)
	if (each != "")
		each *= processes[few] / processes[many]
	aim("cost per task, stalltop " source " " kind_name(kind) ", " grouped(many) " / " \
		grouped(few), each, "<=", 1)
}

function ratio_between(id, few, many,    top)
{
	if (!cpu_of(many SUBSEP id))
		return ""
	top = mid
	return cpu_of(few SUBSEP id) && mid > 0 ? top / mid : ""
}

function aim_memory(source, kind, where, bound,    key)
{
	key = where SUBSEP "stalltop:" source ":" kind
	aim("peak MB, stalltop " source " " kind_name(kind) ", " grouped(where),
		key in peak ? peak[key] * 1024 / 1e6 : "", "<", bound)
}

function aims_of_speed(    peers, n, i, name)
{
	aim_ratio(1000, "top:screen", "stalltop:bpf:screen", ">=", 41, "top / stalltop bpf, screen")
	aim_ratio(10000, "top:screen", "stalltop:bpf:screen", ">=", 50, "top / stalltop bpf, screen")
	aim_ratio(1000, "top:batch", "stalltop:bpf:batch", ">=", 20, "top -b / stalltop bpf -b")
	aim_ratio(10000, "top:batch", "stalltop:bpf:batch", ">=", 20, "top -b / stalltop bpf -b")
	aim_ratio(10000, "top:batch", "stalltop:bpf:active", ">=", 60, "top -b / stalltop bpf -b -i")
	aim_ratio(10000, "top:batch", "stalltop:taskstats:batch", ">=", 5,
		"top -b / stalltop taskstats -b")
	aim_ratio("busy", "top:screen", "stalltop:bpf:screen", ">=", 15, "top / stalltop bpf, screen")
	n = split("htop:screen iotop-c:batch atop:batch pidstat:batch", peers, " ")
	for (i = 1; i <= n; i++) {
		name = peers[i]
		sub(/:.*/, "", name)
		aim_ratio(10000, peers[i], "stalltop:bpf:screen", ">=", 40,
			name " / stalltop bpf, screen")
	}
	aim_ratio(10000, "stalltop:bpf:screen", "floor:bpf_walk", "<=", 2,
		"stalltop bpf, screen / the walk alone")
}

function print_aims()
{
	printf "%-58s %11s %10s\n", "aims", "aim", "measured"
	aims_of_speed()
	aim_calls("bpf", 0, 20)
	aim_calls("taskstats", 1 / 32, 20)
	aim_linear("bpf", "batch", 1000, 30000)
	aim_linear("bpf", "screen", 1000, 30000)
	aim_linear("taskstats", "batch", 1000, 30000)
	aim_linear("taskstats", "screen", 1000, 30000)
	aim_memory("bpf", "batch", 10000, 20)
	aim_memory("bpf", "screen", 10000, 20)
	aim_memory("taskstats", "batch", 10000, 12)
	aim_memory("taskstats", "screen", 10000, 12)
	aim_memory("bpf", "screen", 100000, 64)
	aim_memory("taskstats", "screen", 100000, 64)
}
