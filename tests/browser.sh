#!/bin/bash
# Real pages in a real browser against the running program. Usage: browser.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."

program=$1
modules=$PWD/build/browser/node_modules
folder=$(mktemp -d)
service=
trap 'if [ -n "$service" ]; then kill "$service"; wait "$service" || true; fi; rm -rf "$folder"' EXIT

[ -d "$modules/playwright-core" ] || npm install --silent --no-audit --no-fund --prefix build/browser playwright-core@1.55.0

key=a-key-for-this-test
echo "$key" >"$folder/keys"
"$program" --listen 127.0.0.1 --port 0 --port-file "$folder/port" --api-key-file "$folder/keys" --log-level error &
service=$!
until [ -s "$folder/port" ]; do
    kill -0 "$service"
    sleep 0.1
done
NODE_PATH=$modules node tests/browser/cors.mjs "http://127.0.0.1:$(<"$folder/port")" "$key"
