#!/bin/bash
# Runs a command with a Docker Engine: the one that answers, or one started for it and stopped after it (as root).
# The base image is made by debootstrap where it cannot be pulled.
set -euo pipefail

base=debian:trixie-slim
state=
engine=

install_missing() {
    local package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && continue
        echo "Installing with apt-get: $package"
        DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$package" </dev/null
    done
}

# Everything it keeps lies in one folder, which goes away with it.
start_engine() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "No Docker Engine answers, and only root can start one." >&2
        exit 1
    fi
    if ! command -v dockerd >/dev/null || ! command -v docker >/dev/null; then
        apt-get update -q
        install_missing docker.io iptables
        command -v docker >/dev/null || install_missing docker-cli # a package of its own in Debian 13
    fi
    state=$(mktemp -d /var/tmp/attentiond-engine.XXXXXX)
    export DOCKER_HOST=unix://$state/docker.sock
    dockerd --host "$DOCKER_HOST" --data-root "$state/data" --exec-root "$state/exec" --pidfile "$state/pid" \
        </dev/null >"$state/log" 2>&1 &
    engine=$!
    for _ in $(seq 300); do
        docker info >/dev/null 2>&1 && return
        kill -0 "$engine" 2>/dev/null || break
        sleep 0.1
    done
    echo "The Docker Engine did not start:" >&2
    tail -n 20 "$state/log" >&2
    exit 1
}

stop_engine() {
    if [ -n "$engine" ]; then
        kill "$engine" 2>/dev/null || true
        wait "$engine" 2>/dev/null || true
    fi
    [ -z "$state" ] || umount "$state"/exec/netns/* 2>/dev/null || true
    [ -z "$state" ] || rm -rf --one-file-system "$state"
}

provide_base() {
    docker image inspect "$base" >/dev/null 2>&1 && return
    docker pull -q "$base" 2>/dev/null && return
    echo "$base cannot be pulled: debootstrap makes it"
    [ -f /usr/sbin/debootstrap ] || apt-get update -q
    install_missing debootstrap
    local root
    root=$(mktemp -d /var/tmp/attentiond-base.XXXXXX)
    debootstrap --variant=minbase trixie "$root" >"$root.log" 2>&1 || {
        tail "$root.log" >&2
        exit 1
    }
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
    tar -C "$root" -c . | docker import - "$base" >/dev/null
    rm -rf --one-file-system "$root" "$root.log"
}

trap stop_engine EXIT
docker info >/dev/null 2>&1 || start_engine
provide_base
"$@"
