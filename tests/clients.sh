#!/bin/bash
# Clients of others against the service, as they come from PyPI, in a virtual environment under build/.
# Usage: clients.sh PROGRAM
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

program=$1
venv=build/clients
folder=$(mktemp -d)
service=
trap 'if [ -n "$service" ]; then kill "$service"; wait "$service"; fi; rm -rf "$folder"' EXIT

wanted=(tritonclient==2.73.0 geventhttpclient==2.6.1 gevent==26.9.0 aiohttp==3.14.5 numpy==2.4.6 ml_dtypes==0.5.4 python-rapidjson==1.25)
if [ "$(cat $venv/wanted 2>/dev/null)" != "${wanted[*]}" ]; then
    python3 -m venv $venv && $venv/bin/pip install -q --disable-pip-version-check "${wanted[@]}" &&
        echo "${wanted[*]}" >$venv/wanted || exit 1
fi

"$program" --listen 127.0.0.1 --port 0 --port-file "$folder/port" --log-level error &
service=$!
until [ -s "$folder/port" ]; do
    kill -0 $service || exit 1
    sleep 0.1
done
address=http://127.0.0.1:$(<"$folder/port")

timeout 120 $venv/bin/python tests/clients/triton.py "$address" | tee "$folder/triton"
read -r passed _ failed _ < <(tail -n 1 "$folder/triton")
passed=${passed:-0} failed=${failed:-1}
if tests/schema/snippet.sh numpy "$address" $venv/bin/python -; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
