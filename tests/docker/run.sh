#!/bin/bash
# All tests that need containers: the image alone, behind the balancer, on another architecture, and what docker/README.md says of it.
# Usage: run.sh IMAGE, where an engine answers (tests/docker/engine.sh). nginx and Prometheus are the images of docker/.env
# or, where these cannot be pulled, made from Debian packages. Grafana is not run: what it is to show is asked of Prometheus.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

image=$1
passed=0 failed=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

install_missing() {
    local missing=()
    for tool in curl jq python3; do command -v "$tool" >/dev/null || missing+=("$tool"); done
    docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null || missing+=(docker-compose)
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "Installing with apt-get: ${missing[*]}"
    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# provide VARIABLE TARGET: the image that docker/.env names, or a stand-in
provide() {
    local pinned
    pinned=$(sed -n "s/^$1=//p" docker/.env)
    if docker image inspect "$pinned" >/dev/null 2>&1 || docker pull -q "$pinned" 2>/dev/null; then
        export "$1=$pinned"
        return
    fi
    echo "$pinned cannot be pulled: Debian packages take its place"
    docker build -q --network=host --build-arg "ALLOW_EXPIRED_RELEASE=${ALLOW_EXPIRED_RELEASE:-no}" --target "$2" \
        --tag "attentiond-test/$2" - <tests/docker/stand-ins.Dockerfile 2>&1 || exit 1
    export "$1=attentiond-test/$2"
}

# part COMMAND...: counts what its last "N passed, M failed" says
part() {
    local good=0 bad=0
    printf '\n== %s\n' "$*"
    timeout 300 "$@" </dev/null 2>&1 | tee "$output"
    read -r good bad < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$output" | tail -n 1) || bad=1
    passed=$((passed + good)) failed=$((failed + bad))
}

install_missing || exit 1
make docker || exit 1
part tests/docker/image.sh "$image"
provide NGINX_IMAGE nginx
provide PROMETHEUS_IMAGE prometheus
export SERVICES="attentiond nginx prometheus"
part tests/docker/compose.sh "$image"
part python3 tests/docker/readme.py "$(docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)" "$SERVICES"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
