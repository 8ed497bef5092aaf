#!/bin/sh
# Metrics in the engines that take them: a Prometheus scrapes stalltop by the configuration of
# packaging/prometheus, has its alerts, finds who waits, and writes on to a VictoriaMetrics; the
# dashboard's queries run. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/../..}
build=${TESTS_BUILDDIR:-tests}
packaging=$srcdir/packaging
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
needs prometheus promtool victoria-metrics curl jq

# The loads' groups are told apart by their name.
culprit=culprit$$

# ask QUERY: has the Prometheus answer.
ask() {
	curl -sfG "http://127.0.0.1:$port_prometheus/api/v1/query" --data-urlencode "query=$1"
}

# finds QUERY JQ: whether what it answers passes. jq -e by itself is content with no answer (-s is not).
finds() {
	ask "$1" | jq -es ".[0] | $2"
}

# Ports that are hardly anybody's.
port=$((20000 + $$ % 10000))
port_prometheus=$((port + 10000))
port_victoria=$((port + 20000))

echo 1..10

promtool check rules "$packaging/prometheus/stalltop.rules.yml" >"$work/out" 2>&1
result $? 'the alerts are well-formed'
(cd "$packaging/prometheus" && promtool test rules stalltop.rules.test.yml) >"$work/out" 2>&1
result $? 'each alert fires when it should, and not else'

# Two that want one CPU.
cat >"$work/$culprit" <<'EOF'
#!/bin/sh
while :; do :; done
EOF
chmod +x "$work/$culprit"
for _ in 1 2; do
	taskset -c 0 "$work/$culprit" &
	pids="$pids $!"
done

"$build/../stalltop" --listen "127.0.0.1:$port" -g command -d 1 2>"$work/stalltop" &
pids="$pids $!"
await curl -sf "http://127.0.0.1:$port/metrics"
result $? 'stalltop answers'
curl -sf -H 'Accept: text/plain' "http://127.0.0.1:$port/metrics" |
	promtool check metrics >"$work/out" 2>&1
result $? 'promtool finds nothing wrong with the metrics'
curl -sf "http://127.0.0.1:$port/metrics" | promtool check metrics >"$work/out" 2>&1
result $? 'nor with what comes without being asked for'

# By itself it answers with what is half a minute old.
victoria-metrics -storageDataPath="$work/victoria" -httpListenAddr="127.0.0.1:$port_victoria" \
	-search.latencyOffset=1s -search.disableCache \
	>"$work/victoria.log" 2>&1 &
pids="$pids $!"
sed -e "s/^#remote_write/remote_write/; s/^#  -/  -/; s/15s/1s/; s/localhost:9779/127.0.0.1:$port/; s/localhost:8428/127.0.0.1:$port_victoria/" \
	"$packaging/prometheus/prometheus.yml" >"$work/prometheus.yml"
cp "$packaging/prometheus/stalltop.rules.yml" "$work"
# At its end it would wait a minute for the VictoriaMetrics, which has ended by then.
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
	--storage.remote.flush-deadline=1s \
	--web.listen-address="127.0.0.1:$port_prometheus" >"$work/prometheus.log" 2>&1 &
pids="$pids $!"
await finds 'up{job="stalltop"}' '.data.result[0].value[1] == "1"'
result $? 'it is scraped'

# Each of the two waits for half of the time.
await finds "sum(rate(stalltop_delay_seconds_total{kind=\"cpu\",group=\"$culprit\"}[10s]))" \
	'.data.result[0].value[1] | tonumber > 0.5'
result $? 'who waits for a CPU is found, and how badly'
await finds "topk(3, sum by (group) (rate(stalltop_run_seconds_total[10s])))" \
	".data.result | map(.metric.group) | index(\"$culprit\") != null"
result $? 'and who runs'

jq -r '.. | .expr? // empty' "$packaging/grafana/stalltop.json" >"$work/queries"
bad=0
while IFS= read -r query; do
	query=$(printf '%s' "$query" | sed 's/\$__rate_interval/10s/g; s/\$instance/.*/g; s/\$group/.*/g')
	if ! finds "$query" '.status == "success"' >/dev/null; then
		bad=$((bad + 1))
		echo "$query" >"$work/out"
	fi
done <"$work/queries"
[ -s "$work/queries" ] && [ $bad -eq 0 ]
result $? "the dashboard's queries run"

written() {
	curl -sfG "http://127.0.0.1:$port_victoria/api/v1/query" \
		--data-urlencode "query=last_over_time(stalltop_run_seconds_total{group=\"$culprit\"}[1m])" |
		jq -es '.[0].data.result | length > 0'
}
await written
result $? 'VictoriaMetrics has it, by remote write'
exit $failed
