#!/bin/bash
# The service's description of itself, judged by others: validators and linters of OpenAPI, a fuzzer that believes it,
# clients that are generated from it; and the code that api/README.md shows.
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

# In the folder of the packages, where node looks for what a file imports.
generate_typescript() {
    rm -rf "$typescript" && mkdir "$typescript" &&
        node "$modules/openapi-typescript/bin/cli.js" "$folder/openapi.json" --output "$typescript/description.ts" &&
        cp tests/schema/call.ts tests/schema/tsconfig.json "$typescript" &&
        echo '{"type": "module"}' >"$typescript/package.json" &&
        node "$modules/typescript/bin/tsc" --project "$typescript"
}

wanted=(openapi-spec-validator==0.9.0 schemathesis==4.32.5 openapi-python-client==0.29.1 requests==2.34.2 numpy==2.4.6 ipython==9.18.1)
if [ "$(cat $venv/wanted 2>/dev/null)" != "${wanted[*]}" ]; then
    python3 -m venv $venv && $venv/bin/pip install -q --disable-pip-version-check "${wanted[@]}" &&
        echo "${wanted[*]}" >$venv/wanted || exit 1
fi
modules=$PWD/build/schema/node_modules
typescript=$PWD/build/schema/typescript
wanted=(@redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3 openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.2)
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

check "OpenAPI 3.1 is valid" $venv/bin/openapi-spec-validator "$folder/openapi.json"
check "replies are as described, whatever is sent" $venv/bin/schemathesis --config-file tests/schema/schemathesis.toml \
    run "$address/openapi.json"
check "redocly has no objection" node "$modules/@redocly/cli/bin/cli.js" lint "$folder/openapi.json"
echo 'extends: ["spectral:oas"]' >"$folder/spectral.yaml"
check "spectral finds no error" node "$modules/.bin/spectral" lint --fail-severity error -r "$folder/spectral.yaml" "$folder/openapi.json"
check "a client in Python is generated" generate_python
check "it calls the service" env PYTHONPATH="$folder" $venv/bin/python tests/schema/call.py "$address"
check "a client in TypeScript is generated, and compiled" generate_typescript
check "it calls the service too" node "$typescript/call.js" "$address"
check "the Python of api/README.md prints what it says" tests/schema/snippet.sh python "$address" $venv/bin/python -
check "the notebook of api/README.md shows a picture" tests/schema/snippet.sh py "$address" $venv/bin/python -
check "the JavaScript of api/README.md prints what it says" tests/schema/snippet.sh js "$address" node --input-type=module -
check "the service is still ready" curl -sf -o /dev/null "$address/readyz"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
