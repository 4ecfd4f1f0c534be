#!/bin/bash
# Tests an image as it is meant to run: read-only, without capabilities, with little memory, on a port of its own.
set -uo pipefail

image=${1:-attentiond:latest}
port=9000
passed=0 failed=0
container=$(docker run --detach --read-only --cap-drop ALL --security-opt no-new-privileges --memory 512m --pids-limit 64 \
    --health-interval 1s --env ATTND_PORT=$port --publish "127.0.0.1::$port" "$image") || {
    echo "0 passed, 1 failed"
    exit 1
}
trap 'docker rm --force --volumes "$container" >/dev/null' EXIT

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

state() {
    docker inspect --format "{{.State.$1}}" "$container"
}

becomes_healthy() {
    for _ in $(seq 150); do
        [ "$(state Health.Status)" != healthy ] || return 0
        [ "$(state Running)" = true ] || return 1
        sleep 0.1
    done
    return 1
}

answers_the_cat() {
    curl --silent --show-error --max-time 5 "http://$address/v1/attention" --data '{"tokens": ["the", "cat"], "decimals": 4,
        "q": [[0.3, -0.2, 0.5, 0.1], [1.1, -0.8, 0.2, 0.3]], "k": [[-0.4, -0.3, 0.2, 1.2], [1.6, -0.7, -0.4, -0.5]],
        "v": [[-0.5, -0.4, 0.1, 1.1], [1.2, -0.3, -0.2, -0.6]], "mask": "causal", "include": ["output", "weights"]}' |
        grep -E '0\.2799,[[:space:]]*0\.7201' | grep -qE '0\.7242,[[:space:]]*-0\.328,[[:space:]]*-0\.116,[[:space:]]*-0\.1242'
}

# The requests that end a process with libmicrohttpd 1.0.1; whatever the reply is, the process must stay.
survives_long_urls() {
    local length
    for length in 15000 18000 20000 22000 25000 28000 32000; do
        (
            exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
            printf 'GET /%s?b HTTP/1.0\r\n\r\n' "$(head -c "$length" /dev/zero | tr '\0' a)" >&3
            timeout 5 cat <&3 >/dev/null
        ) 2>/dev/null
        [ "$(state Running)" = true ] || return 1
    done
}

stops_in_time() {
    local start
    start=$(date +%s%N)
    docker stop --time 10 "$container" >/dev/null
    local milliseconds=$((($(date +%s%N) - start) / 1000000))
    echo "stopped after $milliseconds ms"
    [ "$milliseconds" -lt 2000 ]
}

ended_well() {
    [ "$(state ExitCode)" -eq 0 ] && [ "$(state OOMKilled)" = false ]
}

is_small() {
    local bytes
    bytes=$(docker image inspect --format '{{.Size}}' "$image")
    echo "$bytes bytes"
    [ "$bytes" -le 60000000 ]
}

runs_as_nobody() {
    [[ $(docker image inspect --format '{{.Config.User}}' "$image") =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]]
}

address=$(docker port "$container" $port/tcp | head -n 1)
check "healthy on port $port" becomes_healthy
check "the cat: the published weights and output" answers_the_cat
check "the requests that crash old libmicrohttpd" survives_long_urls
check "the cat once more" answers_the_cat
check "stops within two seconds" stops_in_time
check "exit code 0" ended_well
check "at most 60 MB" is_small
check "a numeric user that is not root" runs_as_nobody
[ "$failed" -eq 0 ] || docker logs --tail 30 "$container"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
