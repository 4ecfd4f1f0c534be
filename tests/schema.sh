#!/bin/bash
# The service's description of itself, judged by others: a validator of OpenAPI, and a fuzzer that believes it.
# Usage: schema.sh PROGRAM
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

program=$1
venv=build/venv
folder=$(mktemp -d)
passed=0 failed=0
service=
trap 'if [ -n "$service" ]; then kill "$service"; wait "$service"; fi; rm -rf "$folder"' EXIT

# check WHAT COMMAND...
check() {
    echo "-- $1"
    if "${@:2}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1"
    fi
}

if ! [ -e $venv/made ]; then
    python3 -m venv $venv &&
        $venv/bin/pip install -q --disable-pip-version-check openapi-spec-validator==0.9.0 schemathesis==4.32.5 &&
        touch $venv/made || exit 1
fi

"$program" --print-openapi >"$folder/openapi.json" || exit 1
"$program" --listen 127.0.0.1 --port 0 --port-file "$folder/port" --log-level error &
service=$!
until [ -s "$folder/port" ]; do
    kill -0 $service || exit 1
    sleep 0.1
done
address=http://127.0.0.1:$(<"$folder/port")

# A request that is wrong in more than one way may be refused for its size first.
cat >"$folder/schemathesis.toml" <<'END'
[checks.negative_data_rejection]
expected-statuses = [400, 401, 404, 405, 406, 413, 415, 422, 429, 503]
END

check "OpenAPI 3.1 is valid" $venv/bin/openapi-spec-validator "$folder/openapi.json"
# A schema cannot say that shapes fit each other, so a request that fits it may still be refused.
check "replies are as described, whatever is sent" $venv/bin/schemathesis --config-file "$folder/schemathesis.toml" run "$address/openapi.json" --seed 1 \
    --max-examples 30 --workers 1 --exclude-checks positive_data_acceptance --request-timeout 60
check "the service is still ready" curl -sf -o /dev/null "$address/readyz"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
