#!/bin/sh
# The recipe of the manual for ClickHouse, as it stands there: what was recorded is in its table,
# names with all bytes that they may have too. TAP.
set -u
srcdir=${srcdir:-$(dirname "$0")/../..}
build=${TESTS_BUILDDIR:-tests}
# shellcheck source=tests/lib/tap.sh
. "$srcdir/tests/lib/tap.sh"
needs clickhouse-server clickhouse-client sqlite3

# --- A server of our own, at a port that is hardly anybody's ----------------

port=$((20000 + $$ % 10000))
cat >"$work/config.xml" <<END
<yandex>
	<logger><level>warning</level><console>1</console></logger>
	<http_port>$((port + 1))</http_port>
	<tcp_port>$port</tcp_port>
	<listen_host>127.0.0.1</listen_host>
	<path>$work/data/</path>
	<tmp_path>$work/tmp/</tmp_path>
	<users_config>users.xml</users_config>
	<default_profile>default</default_profile>
	<default_database>default</default_database>
	<mark_cache_size>67108864</mark_cache_size>
</yandex>
END
cat >"$work/users.xml" <<'END'
<yandex>
	<profiles><default></default></profiles>
	<users><default>
		<password></password>
		<networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile>
		<quota>default</quota>
	</default></users>
	<quotas><default></default></quotas>
</yandex>
END
(cd "$work" && exec clickhouse-server --config-file=config.xml) >"$work/server.log" 2>&1 &
pids="$pids $!"

# The client of the recipe knows of its port by its configuration.
mkdir "$work/bin"
cat >"$work/bin/clickhouse-client" <<END
#!/bin/sh
exec $(command -v clickhouse-client) --port $port "\$@"
END
chmod +x "$work/bin/clickhouse-client"
PATH=$work/bin:$(cd "$build/.." && pwd):$PATH

# --- What is recorded, and the recipe ---------------------------------------

echo 1..3
# A name that quotes would have to be right for.
name='a"b,c'\''d'
cat >"$work/$name" <<'END'
#!/bin/sh
while :; do :; done
END
chmod +x "$work/$name"
for _ in 1 2; do
	taskset -c 0 "$work/$name" &
	pids="$pids $!"
done
"$build/../stalltop" -b -n 5 -d 0.5 -w "$work/RECORDING" >"$work/out" 2>&1
result $? 'a recording'

await clickhouse-client -q 'SELECT 1'
sed -n '/^\.\\" recipe clickhouse$/,/^\.\\" end$/p' "$srcdir/doc/stalltop-metrics.7.in" |
	sed "/^\.\\\\\"/d; s/\\\\-/-/g; s/\\\\(aq/'/g" >"$work/recipe"
(cd "$work" && sh -eu recipe) >"$work/out" 2>&1 && [ -s "$work/recipe" ]
result $? 'the recipe runs'

# The same sum; each has another way to write a quote.
sum="SELECT sum(waited_ns) FROM TABLE WHERE kind = 'cpu' AND length(comm) = 7 AND comm LIKE 'a\"b,c_d'"
clickhouse-client -q "$(echo "$sum" | sed 's/TABLE/waits/')" >"$work/there" 2>"$work/out"
sqlite3 "$work/FILE" "$(echo "$sum" | sed 's/TABLE/wait/')" >"$work/here" 2>>"$work/out"
cat "$work/there" "$work/here" >>"$work/out"
cmp "$work/there" "$work/here" >>"$work/out" 2>&1 && [ "$(cat "$work/here")" -gt 100000000 ]
result $? 'what each task waited is the same there'
exit $failed
