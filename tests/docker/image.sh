#!/bin/bash
# Tests an image as it is meant to run: read-only, without capabilities, with little memory, on a port of its own, cut off.
# Usage: image.sh IMAGE
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/docker/check.sh
. tests/docker/check.sh

image=$1
port=9000
closed=(--read-only --cap-drop ALL --security-opt no-new-privileges --memory 512m --pids-limit 64)
containers=()
scratch=$(mktemp -d)
network=

tidy() {
    rm -rf "$scratch"
    [ "$failed" -eq 0 ] || docker logs --tail 30 "${containers[0]}"
    [ ${#containers[@]} -eq 0 ] || docker rm --force --volumes "${containers[@]}" >/dev/null
    [ -z "$network" ] || docker network rm "$network" >/dev/null
}
trap tidy EXIT

# start RUN-ARGUMENTS...: sets `container`
start() {
    container=$(docker run --detach "${closed[@]}" "$@" "$image") || return 1
    containers+=("$container")
}

state() {
    docker inspect --format "{{.State.$1}}" "$container"
}

is_healthy() { [ "$(state Health.Status)" = healthy ]; }

# The published weights and output of the worked example.
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
    docker stop -t 10 "$container" >/dev/null
    local milliseconds=$((($(date +%s%N) - start) / 1000000))
    echo "stopped after $milliseconds ms"
    [ "$milliseconds" -lt 2000 ]
}

ended_well() {
    [ "$(state ExitCode)" -eq 0 ] && [ "$(state OOMKilled)" = false ]
}

# A process that is the first of its container does not get a signal before it has said what to do with it.
catches_sigterm() {
    local caught
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$(state Pid)/status" 2>/dev/null)
    (((0x${caught:-0} >> 14) & 1))
}

stops_while_starting() {
    for _ in 1 2 3 4 5; do
        start && within 5 catches_sigterm && docker stop -t 10 "$container" >/dev/null && ended_well || return 1
    done
}

# Any user will do, and no way leads out: only this machine reaches the container.
works_cut_off() {
    network=$(docker network create --internal "attentiond-test-$$")
    start --user 12345:12345 --network "$network" --env ATTND_PORT=$port --health-interval 1s || return 1
    address=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$container"):$port
    within 15 is_healthy && answers_the_cat &&
        curl -sf --max-time 5 "http://$address/openapi.json" | jq -e '.openapi | startswith("3.1")' >/dev/null
}

# The largest bodies there can be, more of them at once than there is memory for: some are refused, and nothing is killed.
survives_a_flood() {
    start --env ATTND_WORKERS=2 --env ATTND_MEMORY=256M --env ATTND_REQUEST_MEMORY=320M --memory 960m --memory-swap 960m \
        --publish 127.0.0.1::8080 || return 1
    timeout 120 python3 tests/docker/flood.py "$(docker port "$container" 8080/tcp | head -n 1)" 8 &&
        [ "$(state Running)" = true ] && [ "$(state OOMKilled)" = false ]
}

# The same with nothing but a limit of the container: the program's limits follow it.
survives_a_flood_unset() {
    start --memory 256m --memory-swap 256m --publish 127.0.0.1::8080 || return 1
    timeout 120 python3 tests/docker/flood.py "$(docker port "$container" 8080/tcp | head -n 1)" 10 none &&
        [ "$(state Running)" = true ] && [ "$(state OOMKilled)" = false ]
}

has_workers() { [ "$(curl -sf --max-time 5 "http://$address/v1/info" | jq .workers)" -eq "$1" ]; }

# A quota is fewer processors, whichever version of control groups the engine has.
keeps_to_its_quota() {
    start --cpus 0.5 --publish 127.0.0.1::8080 || return 1
    address=$(docker port "$container" 8080/tcp | head -n 1)
    within 15 has_workers 1
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

has_labels() {
    local labels
    labels=$(docker image inspect --format '{{json .Config.Labels}}' "$image")
    for name in title description licenses version revision created; do
        jq -e --arg name "org.opencontainers.image.$name" '.[$name] | length > 0 and . != "unknown"' <<<"$labels" >/dev/null ||
            { echo "no $name"; return 1; }
    done
}

# No shell, no tools: the program, what it loads, and the records and licences of the packages that this is from.
holds_only_what_it_loads() {
    local files
    files=$(docker export "$container" | tar -t | grep -vE '/$|^(dev|etc|proc|sys)/|^\.dockerenv$')
    grep -qx 'usr/bin/attentiond' <<<"$files" &&
        ! grep -vE '^usr/bin/attentiond$|^lib(64)?/([a-z0-9_]+-linux-gnu/)?[^/]*\.so(\.[0-9.]+)?$' <<<"$files" |
            grep -vE '^var/lib/dpkg/status\.d/|^usr/share/doc/[^/]*/(copyright|LICENSE)$'
}

# Every library is from a package whose version is recorded, and libmicrohttpd is new enough.
records_its_packages() {
    docker cp "$container:/var/lib/dpkg/status.d" - | tar -xO | grep -E '^(Package|Version):' | paste - - >"$scratch/packages"
    grep -qE 'Package: libc6[[:space:]]' "$scratch/packages" &&
        grep -qE 'Package: libopenblas0-pthread[[:space:]]' "$scratch/packages" &&
        dpkg --compare-versions "$(sed -nE 's/^Package: libmicrohttpd12t64\s+Version: //p' "$scratch/packages")" ge 1.0.10
}

check "a container starts" start --health-interval 1s --env ATTND_PORT=$port --publish "127.0.0.1::$port"
address=$(docker port "$container" $port/tcp | head -n 1)
check "healthy on port $port" within 15 is_healthy
check "the cat: the published weights and output" answers_the_cat
check "the requests that crash old libmicrohttpd" survives_long_urls
check "the cat once more" answers_the_cat
check "stops within two seconds" stops_in_time
check "exit code 0" ended_well
check "exit code 0 when stopped while it starts" stops_while_starting
check "another user, an internal network" works_cut_off
check "more large bodies than memory" survives_a_flood
check "limits follow the memory of the container" survives_a_flood_unset
check "as many workers as processors" keeps_to_its_quota
check "at most 60 MB" is_small
check "a numeric user that is not root" runs_as_nobody
check "labels" has_labels
check "nothing but the program and what it loads" holds_only_what_it_loads
check "the versions of what it loads" records_its_packages
summary
