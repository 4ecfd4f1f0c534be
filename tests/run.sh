#!/bin/bash
# Runs test programs, each argument one with its own arguments; the last line sums their "Checks: N, Failures: N, Errors: N" lines.
# Those that only compute run side by side, one for each processor; those that talk to the service run after them, alone.
set -uo pipefail

passed=0 failed=0
outputs=$(mktemp -d)
trap 'rm -rf "$outputs"' EXIT

# run NUMBER PROGRAM: prints what the program prints, and keeps it, with its status
run() {
    local command
    read -ra command <<<"$2"
    echo "== ${2#build/*/}"
    "${command[@]}" 2>&1 | tee "$outputs/$1"
    echo "${PIPESTATUS[0]}" >"$outputs/$1.status"
}

# count NUMBER PROGRAM: adds up what a program that has ended counted
count() {
    local checks failures status
    status=$(<"$outputs/$1.status")
    read -r checks failures < <(sed -nE 's/^[0-9]+%: Checks: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+)$/\1 \2 \3/p' "$outputs/$1" |
        awk '{ checks += $1; failures += $2 + $3; lines++ } END { print lines ? checks : "none", failures + 0 }')
    if [ "$checks" = none ]; then
        echo "$2: ended with status $status before it counted its checks"
        checks=1 failures=1
    elif [ "$status" -ne 0 ] && [ "$failures" -eq 0 ]; then
        echo "$2: every check passed, yet it ended with status $status"
        checks=$((checks + 1)) failures=1
    fi
    passed=$((passed + checks - failures)) failed=$((failed + failures))
}

talking=() computing=()
number=0
for program in "$@"; do
    number=$((number + 1))
    case $program in
    */tests/http/* | */tests/server/*) talking+=("$number") ;;
    *) computing+=("$number") ;;
    esac
done
for number in "${computing[@]}"; do
    [ "$(jobs -pr | wc -l)" -lt "$(nproc)" ] || wait -n
    run "$number" "${!number}" >"$outputs/$number.told" &
done
wait
for number in "${computing[@]}"; do
    cat "$outputs/$number.told"
    count "$number" "${!number}"
done
for number in "${talking[@]}"; do
    run "$number" "${!number}"
    count "$number" "${!number}"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
