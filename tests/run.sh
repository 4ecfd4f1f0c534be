#!/bin/bash
# Runs test programs, each argument one with its own arguments, one after the other; the last line sums their "Checks: N, Failures: N, Errors: N" lines.
set -uo pipefail

passed=0 failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT
for program in "$@"; do
    echo "== ${program#build/*/}"
    read -ra command <<<"$program"
    "${command[@]}" 2>&1 | tee "$output"
    status=${PIPESTATUS[0]}
    read -r checks failures < <(sed -nE 's/^[0-9]+%: Checks: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+)$/\1 \2 \3/p' "$output" |
        awk '{ checks += $1; failures += $2 + $3; lines++ } END { print lines ? checks : "none", failures + 0 }')
    if [ "$checks" = none ]; then
        echo "$program: ended with status $status before it counted its checks"
        checks=1 failures=1
    elif [ "$status" -ne 0 ] && [ "$failures" -eq 0 ]; then
        echo "$program: every check passed, yet it ended with status $status"
        checks=$((checks + 1)) failures=1
    fi
    passed=$((passed + checks - failures)) failed=$((failed + failures))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
