#!/bin/bash
# Counting what holds; sourced by the scripts beside it, which end with `summary`.

passed=0 failed=0

# check WHAT COMMAND...
check() {
    if "${@:2}"; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1"
    fi
}

# within SECONDS COMMAND...: tries until the command succeeds.
within() {
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

summary() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
