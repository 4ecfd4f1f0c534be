#!/bin/bash
# The end of the service under load, again and again: no request on an accepted connection is lost, every end is clean.
# Usage: drain.sh PROGRAM [TIMES]
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

program=$1
times=${2:-50}
folder=$(mktemp -d)
passed=0 failed=0
service='' clients='' wrk=''
trap 'stop_all; rm -rf "$folder"' EXIT

stop_all() {
    local pid
    for pid in $service $clients $wrk; do kill -KILL "$pid" 2>/dev/null; done
}

# verdict GOOD WHAT: counts it, and tells what failed.
verdict() {
    if [ "$1" = yes ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $2"
    fi
}

# start FLAG...: the service, and its port.
start() {
    rm -f "$folder/port"
    "$program" --listen 127.0.0.1 --port 0 --port-file "$folder/port" "$@" >"$folder/log" 2>&1 &
    service=$!
}

await_port() {
    until [ -s "$folder/port" ]; do
        kill -0 "$service" || return 1
        sleep 0.01
    done
    port=$(<"$folder/port")
}

# Waits until the clients have had so many answers.
await_requests() {
    local end=$((SECONDS + 30))
    until [ "$(grep -c '"request_id":"drain"' "$folder/log")" -ge "$1" ] || [ $SECONDS -ge $end ]; do
        sleep 0.01
    done
}

# Catching SIGTERM is the first thing the program does; until then a signal ends it as it ends any program.
await_handlers() {
    local caught=0
    until [ "$(readlink "/proc/$service/exe")" = "$(readlink -f "$program")" ] && ((0x${caught:-0} >> 14 & 1)); do
        kill -0 "$service" || return 1
        caught=$(sed -n 's/^SigCgt:\t//p' "/proc/$service/status" 2>/dev/null)
    done
}

# under_load REQUESTS SIGNAL...: clients ask, signals come, the service ends.
under_load() {
    local enough=$1 ended=0 served=0
    shift
    start
    if ! await_port; then
        verdict no "$*: it did not start: $(tail -n 1 "$folder/log")"
        return
    fi
    python3 tests/drain.py "$port" 6 >"$folder/clients" 2>&1 &
    clients=$!
    if command -v wrk >/dev/null; then
        wrk -t1 -c8 -d60 "http://127.0.0.1:$port/v1/info" >/dev/null 2>&1 &
        wrk=$!
    fi
    await_requests "$enough"
    for signal in "$@"; do
        kill -"$signal" "$service"
    done
    wait "$service" || ended=$?
    wait "$clients" || served=$?
    if [ -n "$wrk" ]; then
        kill -KILL "$wrk"
        wait "$wrk" 2>/dev/null
    fi
    service='' clients='' wrk=''
    verdict "$([ $ended -eq 0 ] && echo yes)" "$*: exit status $ended"
    verdict "$([ $served -eq 0 ] && echo yes)" "$*: $(tr '\n' ';' <"$folder/clients")"
    verdict "$(grep -q aborted "$folder/log" || echo yes)" "$*: $(grep -m 1 aborted "$folder/log")"
}

for ((i = 0; i < times; i++)); do
    under_load $((20 + 37 * i % 400)) TERM
done
echo "SIGTERM under load: $(tail -n 1 "$folder/clients")"

for ((i = 0; i < 5; i++)); do
    under_load 100 HUP HUP HUP TERM
done
echo "SIGHUP and SIGTERM under load: $(tail -n 1 "$folder/clients")"

# Anywhere in its start: what begins at that moment is ended again, with 0.
for ((i = 0; i < 20; i++)); do
    status=0
    start
    await_handlers
    sleep "0.0$((i * 5 % 100))"
    kill -TERM "$service"
    wait "$service" || status=$?
    service=
    verdict "$([ $status -eq 0 ] && echo yes)" "SIGTERM while starting: exit status $status: $(tail -n 1 "$folder/log")"
done

# The second one does not wait, when it comes after a second or more.
status=0
start --shutdown-delay 600
await_port
kill -TERM "$service"
until grep -q draining "$folder/log"; do
    kill -0 "$service" || break
    sleep 0.01
done
sleep 1.1
kill -TERM "$service"
wait "$service" || status=$?
service=
verdict "$([ $status -eq 3 ] && echo yes)" "a second SIGTERM: exit status $status"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
