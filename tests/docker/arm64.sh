#!/bin/bash
# The image for arm64: compiled here, and run here by an emulator; with the tests of the numbers, which depend on the machine.
# Usage: arm64.sh, where an engine answers (tests/docker/engine.sh)
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/docker/check.sh
. tests/docker/check.sh

image=attentiond-test/arm64
scratch=$(mktemp -d)
root=$scratch/root
service=
trap '[ -z "$service" ] || kill "$service"; rm -rf "$scratch"' EXIT

# The first client that has BuildKit, which knows of platforms.
find_client() {
    local client
    for client in $(type -ap docker); do
        if "$client" buildx version >/dev/null 2>&1 || [[ $("$client" --version) =~ version\ (19|20)\. ]]; then
            echo "$client"
            return
        fi
    done
    echo "No Docker client here has BuildKit." >&2
    return 1
}

build() { # BUILD-ARGUMENTS...
    DOCKER_BUILDKIT=1 "$client" build --progress plain --network host --platform linux/arm64 \
        --build-arg "ALLOW_EXPIRED_RELEASE=${ALLOW_EXPIRED_RELEASE:-no}" "$@" . >"$scratch/build" 2>&1 ||
        { tail -n 30 "$scratch/build"; return 1; }
}

find_emulator() {
    command -v qemu-aarch64-static || command -v qemu-aarch64
}

install_emulator() {
    find_emulator >/dev/null && return
    apt-get update -q >"$scratch/install" 2>&1
    apt-get install -q -y --no-install-recommends qemu-user-static >>"$scratch/install" 2>&1 && return
    tail "$scratch/install"
    return 1
}

emulate() {
    "$(find_emulator)" -L "$root" "$root/usr/bin/attentiond" "$@"
}

is_for_arm64() {
    [ "$(docker image inspect --format '{{.Architecture}}' $image)" = arm64 ]
}

is_small() {
    local bytes
    bytes=$(docker image inspect --format '{{.Size}}' $image)
    echo "$bytes bytes"
    [ "$bytes" -le 60000000 ]
}

unpacks() {
    local container
    container=$(docker create --platform linux/arm64 $image) && mkdir "$root" && docker export "$container" | tar -x -C "$root"
    docker rm "$container" >/dev/null
}

holds_arm64_alone() {
    local files
    files=$(find "$root" -type f \( -name '*.so*' -o -name attentiond \))
    [ -n "$files" ] || return 1
    for file in $files; do # machine 183 is AArch64
        [ "$(od -An -tu2 -j18 -N2 "$file" | tr -d ' ')" = 183 ] || { echo "$file"; return 1; }
    done
}

starts() {
    "$(find_emulator)" -L "$root" "$root/usr/bin/attentiond" --listen 127.0.0.1 --port 0 --port-file "$scratch/port" \
        >"$scratch/log" 2>&1 &
    service=$!
    within 60 test -s "$scratch/port" || { cat "$scratch/log"; return 1; }
    port=$(cat "$scratch/port")
}

answers_the_cat() {
    curl -s "http://127.0.0.1:$port/v1/examples/the-cat" | jq '.decimals = 4' |
        curl -s "http://127.0.0.1:$port/v1/attention" --data @- |
        jq -e '.weights == [[1, 0], [0.2799, 0.7201]] and .output[1] == [0.7242, -0.328, -0.116, -0.1242]' >/dev/null
}

stops() {
    kill "$service"
    wait "$service"
    local status=$?
    service=
    [ $status -eq 0 ]
}

# The tests see the libraries that the image has. An emulator takes some thirty times as long, and longer still for the
# long vectors (SVE) of its default processor: so it plays one with NEON alone, and the suites that repeat one thing in
# many sizes stay with the machines that run them natively.
passes_the_tests_of_core() {
    docker run --rm --network host --volume "$PWD/tests:/source/tests:ro" $image-build sh -ec '. /target
        DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends check:$target qemu-user
        make -j2 CC=$triplet-gcc AR=$triplet-ar PKG_CONFIG=$triplet-pkg-config build/release/tests/core/suite
        for suite in arena blas flush format latent mask overflow properties quantize simd tensor; do
            echo "$suite, at $(cut -d " " -f 1 /proc/uptime) s"
            CK_RUN_SUITE=$suite CK_TIMEOUT_MULTIPLIER=30 qemu-aarch64 -cpu cortex-a72 build/release/tests/core/suite
        done' >"$scratch/core" 2>&1
    local status=$?
    grep -E '^[0-9]+%: Checks|, at ' "$scratch/core"
    [ $status -eq 0 ] || { tail -n 30 "$scratch/core"; return 1; }
}

client=$(find_client) || { echo "0 passed, 1 failed"; exit 1; }
check "builds" build --tag $image
check "is for arm64" is_for_arm64
check "at most 60 MB" is_small
check "an emulator" install_emulator
check "unpacks" unpacks
check "holds nothing for another machine" holds_arm64_alone
check "says its version" emulate --version
check "starts" starts
check "is healthy" emulate --healthcheck --port "${port:-1}"
check "the cat" answers_the_cat
check "stops with exit code 0" stops
check "builds its tests" build --target build --tag $image-build
check "the tests of core" passes_the_tests_of_core
summary
