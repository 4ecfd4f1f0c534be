#!/bin/bash
# Runs the first block of one language (its fence: python, py, js) in api/README.md against a service. Usage: snippet.sh LANGUAGE ADDRESS COMMAND...
# It must print what its last line, a comment, says after "prints".
set -euo pipefail

code=$(awk -v fence='```'"$1" '$0 == fence { on = 1; next } on && /^```/ { exit } on' api/README.md)
wanted=$(sed -nE '$s/^.*prints (.*)$/\1/p' <<<"$code")
found=$("${@:3}" <<<"${code//http:\/\/localhost:8080/$2}")
if [ -z "$wanted" ] || [ "$found" != "$wanted" ]; then
    printf 'prints %s, not %s\n' "$found" "$wanted"
    exit 1
fi
