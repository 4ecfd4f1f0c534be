#!/bin/bash
# Real pages in a real browser against the running program. Usage: browser.sh PROGRAM [PICTURES]
# With a folder for PICTURES only the README's pictures are taken.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$1
pictures=${2:-}
modules=$PWD/build/browser/node_modules
folder=$(mktemp -d)
services=()
finish() {
    for service in "${services[@]}"; do
        kill "$service"
        wait "$service" || true
    done
    rm -rf "$folder"
}
trap finish EXIT

wanted=(playwright-core@1.55.0 axe-core@4.10.3 typescript@5.9.2)
if [ "$(cat "$modules/wanted" 2>/dev/null)" != "${wanted[*]}" ]; then
    npm install --silent --no-audit --no-fund --prefix build/browser "${wanted[@]}"
    echo "${wanted[*]}" >"$modules/wanted"
fi
export NODE_PATH=$modules

# start NAME OPTION...: a service whose address is in $address
start() {
    "$program" --listen 127.0.0.1 --port 0 --port-file "$folder/$1" --log-level error "${@:2}" &
    local service=$!
    services+=("$service")
    until [ -s "$folder/$1" ]; do
        kill -0 "$service"
        sleep 0.1
    done
    address=http://127.0.0.1:$(<"$folder/$1")
}

passed=0 failed=0
# count COMMAND...: adds up what the command says it counted
count() {
    local counts status=0
    "$@" | tee "$folder/output" || status=1
    counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$folder/output" | tail -n 1)
    read -r good bad <<<"${counts:-0 1}"
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    passed=$((passed + good)) failed=$((failed + bad))
}

types() {
    if node "$modules/typescript/bin/tsc" --project tests/browser; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; fi
}

key=a-key-for-this-test
echo "$key" >"$folder/keys"
start open
open=$address
if [ -n "$pictures" ]; then
    node tests/browser/look.mjs "$open" "$pictures"
    exit
fi
start locked --api-key-file "$folder/keys"
count types
count node tests/browser/colours.mjs
count node tests/browser/cors.mjs "$address" "$key"
count node tests/browser/explorer.mjs "$open"
count node tests/browser/hostile.mjs "$open" "$program" "$address" "$key"
count node tests/browser/reference.mjs "$open"
count node tests/browser/lessons.mjs "$open"
count node tests/browser/look.mjs "$open"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
