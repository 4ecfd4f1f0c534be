#!/bin/bash
# The service's description of itself, judged by others: validators and linters of OpenAPI, a fuzzer that believes it,
# a client that is generated from it; and the code that api/README.md shows.
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

generate_python() {
    PATH=$PWD/$venv/bin:$PATH $venv/bin/openapi-python-client generate --path "$folder/openapi.json" \
        --output-path "$folder/generated" --meta none --fail-on-warning
}

wanted=(openapi-spec-validator==0.9.0 schemathesis==4.32.5 openapi-python-client==0.29.1 requests==2.34.2 numpy==2.4.6 ipython==9.18.1)
if [ "$(cat $venv/wanted 2>/dev/null)" != "${wanted[*]}" ]; then
    python3 -m venv $venv && $venv/bin/pip install -q --disable-pip-version-check "${wanted[@]}" &&
        echo "${wanted[*]}" >$venv/wanted || exit 1
fi
modules=$PWD/build/schema/node_modules
wanted=(@redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3)
if [ "$(cat "$modules/wanted" 2>/dev/null)" != "${wanted[*]}" ]; then
    npm install --silent --no-audit --no-fund --prefix build/schema "${wanted[@]}" &&
        echo "${wanted[*]}" >"$modules/wanted" || exit 1
fi
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

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
expected-statuses = [400, 401, 404, 405, 406, 413, 414, 415, 422, 429, 503]
END

check "OpenAPI 3.1 is valid" $venv/bin/openapi-spec-validator "$folder/openapi.json"
# A schema cannot say that shapes fit each other, so a request that fits it may still be refused.
check "replies are as described, whatever is sent" $venv/bin/schemathesis --config-file "$folder/schemathesis.toml" run "$address/openapi.json" --seed 1 \
    --max-examples 30 --workers 1 --exclude-checks positive_data_acceptance --suppress-health-check data_too_large \
    --request-timeout 60
check "redocly has no objection" node "$modules/@redocly/cli/bin/cli.js" lint "$folder/openapi.json"
echo 'extends: ["spectral:oas"]' >"$folder/spectral.yaml"
check "spectral finds no error" node "$modules/.bin/spectral" lint --fail-severity error -r "$folder/spectral.yaml" "$folder/openapi.json"
check "a client in Python is generated" generate_python
check "it calls the service" env PYTHONPATH="$folder" $venv/bin/python tests/schema/call.py "$address"
check "the Python of api/README.md prints what it says" tests/schema/snippet.sh python "$address" $venv/bin/python -
check "the notebook of api/README.md shows a picture" tests/schema/snippet.sh py "$address" $venv/bin/python -
check "the JavaScript of api/README.md prints what it says" tests/schema/snippet.sh js "$address" node --input-type=module -
check "the service is still ready" curl -sf -o /dev/null "$address/readyz"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
