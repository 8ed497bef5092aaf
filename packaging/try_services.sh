#!/bin/sh
# Boots a Debian that has nothing else but systemd and a Prometheus in a container, installs the
# package there, and has its services record and be scraped; upgrades, removes and purges it, and
# looks at what is left at each step. Root only; needs mmdebstrap and systemd-container.
#   try_services.sh PACKAGE.deb
# TRY_DEBIAN: a folder with such a Debian, in place of a new one below a temporary folder.
set -eu
package=$(readlink -f "$1")
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
container=
finish() {
	[ -z "$container" ] || kill "$container" 2>/dev/null || :
	wait
	rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
debian=${TRY_DEBIAN:-$work/debian}

if [ ! -d "$debian" ]; then
	mmdebstrap --variant=minbase --include="systemd-sysv dbus curl jq prometheus $(
		dpkg-deb -f "$package" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/,/ /g'
	)" "${BARE_SUITE:-bookworm}" "$debian"
fi

# The least of Debians has none, and does not know localhost then.
[ -e "$debian/etc/hosts" ] || echo '127.0.0.1 localhost' >"$debian/etc/hosts"

say() {
	echo "ok - $*"
}

# await COMMAND...: waits for it to succeed.
await() {
	for _ in $(seq 300); do
		"$@" >"$work/out" 2>&1 && return 0
		sleep 0.2
	done
	echo "in vain: $*"
	cat "$work/out"
	return 1
}

# What is left of packages and services, but for what they logged.
left() {
	find "$debian/usr" "$debian/etc" "$debian/lib" "$debian/var" -xdev |
		grep -vE '/var/(log/journal|tmp/systemd-private|cache/(man|debconf)|lib/(prometheus|dpkg|ucf|systemd/(timers|catalog|random-seed|linger)))' |
		sort
}

# --- Boot -------------------------------------------------------------------

# What the services need to read with is taken from containers by default.
systemd-nspawn --quiet --register=no --keep-unit --private-network --capability=all \
	--system-call-filter='bpf perf_event_open seccomp landlock_create_ruleset landlock_add_rule
	landlock_restrict_self' --console=pipe --boot -D "$debian" \
	</dev/null >"$work/console" 2>&1 &
container=$!

# inside COMMAND...: in the container.
inside() {
	# No newline ends that file.
	init=
	read -r init _ <"/proc/$container/task/$container/children" || [ -n "$init" ] || return 1
	nsenter -t "$init" -a env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

booted() {
	case $(inside systemctl is-system-running) in
	running | degraded) return 0 ;;
	esac
	return 1
}
await booted
say "systemd $(inside systemctl --version | awk 'NR == 1 { print $2 }') has booted"

# --- First version ----------------------------------------------------------

dpkg-deb -R "$package" "$work/next"
sed -i 's/^Version: .*/&+next/' "$work/next/DEBIAN/control"
dpkg-deb -b --root-owner-group "$work/next" "$debian/root/next.deb" >/dev/null
cp "$package" "$debian/root/first.deb"
left >"$work/before"

inside dpkg -i /root/first.deb >/dev/null
# No service starts by being installed.
for unit in stalltop-metrics stalltop-record; do
	[ "$(inside systemctl is-enabled $unit)" = disabled ]
	[ "$(inside systemctl is-active $unit)" = inactive ]
done
say 'installed, and nothing is started'

cp -r "$here/debian/tests" "$debian/root/tests"
for test in batch root services; do
	inside "/root/tests/$test" >"$work/out" 2>&1 || {
		cat "$work/out"
		exit 1
	}
	say "the package's own test $test"
done
rm -r "$debian/root/tests"

inside systemctl enable --quiet --now stalltop-metrics stalltop-record
cp "$debian"/usr/share/stalltop/prometheus/*.yml "$debian/etc/prometheus/"
await inside systemctl restart prometheus

# ask QUERY JQ: whether what the Prometheus answers passes. -s: no answer does not.
ask() {
	inside curl -sfG http://127.0.0.1:9090/api/v1/query --data-urlencode "query=$1" |
		jq -es ".[0].data.result[0].value[1] | tonumber | $2"
}
await ask 'up{job="stalltop"}' '. == 1'
await ask 'stalltop_run_seconds_total{group="/system.slice/stalltop-record.service"}' '. > 0'
inside curl -sf http://127.0.0.1:9090/api/v1/rules >"$work/rules"
jq -es '.[0].data.groups[] | select(.name == "stalltop") | .rules | length > 0' "$work/rules" >/dev/null
say 'recording, scraped by a Prometheus with the alerts'

for unit in stalltop-metrics stalltop-record; do
	inside systemd-analyze security --no-pager "$unit" >"$work/$unit.security"
	grep -E "✗|exposure level" "$work/$unit.security"
done

# --- Upgrade ----------------------------------------------------------------

# main_of UNIT
main_of() {
	inside systemctl show -p MainPID --value "$1"
}
metrics=$(main_of stalltop-metrics)
record=$(main_of stalltop-record)
inside dpkg -i /root/next.deb >/dev/null
[ "$(main_of stalltop-metrics)" != "$metrics" ] && [ "$(main_of stalltop-record)" != "$record" ]
await inside curl -sf http://127.0.0.1:9779/metrics
await inside sh -c '[ "$(ls /var/log/stalltop | wc -l)" -ge 2 ]'
inside systemctl is-active --quiet stalltop-metrics stalltop-record
inside systemctl is-enabled --quiet stalltop-metrics stalltop-record
inside stalltop -b -R /var/log/stalltop -o json >"$work/replayed"
jq -es 'length > 2' "$work/replayed" >/dev/null
say 'upgraded: the new version runs, and what the old one recorded is there'

# --- Removal ----------------------------------------------------------------

inside dpkg -r stalltop >/dev/null 2>&1
inside pgrep -x stalltop && exit 1
[ -z "$(inside systemctl list-units --no-legend --plain 'stalltop*' | grep -v 'not-found')" ]
inside dpkg -P stalltop >/dev/null 2>&1
rm "$debian/root/first.deb" "$debian/root/next.deb" "$debian/etc/prometheus/stalltop.rules.yml"
left >"$work/after"
diff "$work/before" "$work/after" | sed -n 's/^[<>] //p' >"$work/rest"
grep -E '/var/log/(private(/stalltop.*)?|stalltop)$' "$work/rest" >/dev/null
if grep -vE '/var/log/(private(/stalltop.*)?|stalltop)$' "$work/rest"; then
	exit 1
fi
say 'removed, and nothing is left but the recordings'
