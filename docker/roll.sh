#!/bin/bash
# Replaces the replicas that run by new ones, of the image and the settings that there are now, and loses no request:
# one more is started and becomes healthy, then one of the old ones ends, until all are new.
set -euo pipefail
cd "$(dirname "$0")"

compose() {
    if docker compose version >/dev/null 2>&1; then
        docker compose --file compose.yaml "$@"
    else
        docker-compose --file compose.yaml "$@"
    fi
}

# Of those that run, what is not old.
new_ones() {
    compose ps --quiet attentiond | grep -vxF "$(printf '%s\n' "${old[@]}")" || true
}

# An old one that is not is no reason to wait: it may be why they are replaced.
new_ones_are_healthy() {
    local replica
    for replica in $(new_ones); do
        [ "$(docker inspect --format '{{.State.Health.Status}}' "$replica")" = healthy ] || return 1
    done
}

start_another() {
    compose up --detach --no-deps --no-recreate --scale "attentiond=$(($1 + 1))" attentiond
    for _ in $(seq 120); do
        ! new_ones_are_healthy || return 0
        sleep 0.5
    done
    echo "The new replica does not become healthy; the old ones go on." >&2
    exit 1
}

mapfile -t old < <(compose ps --quiet attentiond)
[ ${#old[@]} -gt 0 ] || { echo "No replica runs." >&2; exit 1; }
for replica in "${old[@]}"; do
    start_another ${#old[@]}
    sleep 2 # nginx asks once a second which replicas there are
    docker stop -t 40 "$replica"
    docker rm "$replica"
done
