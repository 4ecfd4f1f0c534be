#!/bin/bash
# Tests docker/compose.yaml as it is: replicas behind nginx that come and go under load, Prometheus, the dashboard's queries.
# Usage: compose.sh IMAGE; set NGINX_IMAGE, PROMETHEUS_IMAGE and SERVICES as tests/docker/run.sh does.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/docker/check.sh
. tests/docker/check.sh

export ATTENTIOND_IMAGE=$1 COMPOSE_PROJECT_NAME=attentiond-test-$$ PORT=0 PROMETHEUS_PORT=0 GRAFANA_PORT=0 REPLICAS=2
scratch=$(mktemp -d)
load=
stub=

compose() {
    "${COMPOSE[@]}" --file docker/compose.yaml "$@"
}

tidy() {
    [ -z "$load" ] || kill "$load" 2>/dev/null
    [ -z "$stub" ] || docker rm --force "$stub" >/dev/null
    [ "$failed" -eq 0 ] || compose logs --no-color --tail 30 nginx
    compose down --volumes --timeout 10 >/dev/null 2>&1
    rm -rf "$scratch"
}
trap tidy EXIT
read -ra COMPOSE <<<"$(docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)"
read -ra SERVICES <<<"${SERVICES:-}"

replicas() {
    compose ps --quiet attentiond
}

# The host's address of port $2 of service $1.
address_of() {
    docker port "$(compose ps --quiet "$1")" "$2/tcp" | head -n 1
}

ask() {
    curl --silent --show-error --max-time 20 "$@"
}

has_replicas() { [ "$(replicas | wc -l)" -eq "$1" ]; }

answers_the_cat() {
    ask "http://$balancer/v1/examples/the-cat" | ask "http://$balancer/v1/attention" --data @- | grep -q '"weights":\[\[1,'
}

# The reply has the problem's members, and those that attentiond itself would give for the code.
is_problem() {
    local code=$1
    jq -e --arg code "$code" '.code == $code and (.request_id | length > 0) and (.detail | length > 0)' \
        "$scratch/body" >/dev/null || return 1
    grep -qi '^content-type: application/problem+json' "$scratch/head" || return 1
    grep -qi '^access-control-allow-origin: \*' "$scratch/head" || return 1
    [ "$(jq -r .type "$scratch/body")" = about:blank ] ||
        [ "$(jq -c '[.type, .title, .status, .code]' "$scratch/body")" = \
            "$(ask "http://$balancer$(jq -r .type "$scratch/body")" | jq -c '[.type, .title, .status, .code]')" ]
}

refuses() { # STATUS CODE CURL-ARGUMENTS...
    ask -D "$scratch/head" -o "$scratch/body" "${@:3}"
    grep -q "^HTTP/1.1 $1" "$scratch/head" && is_problem "$2"
}

refuses_a_body_over_64_mb() {
    head -c $((64 * 1024 * 1024 + 1)) /dev/zero |
        refuses 413 body-too-large --data-binary @- "http://$balancer/v1/attention" &&
        jq -e '.limit_bytes == 67108864' "$scratch/body" >/dev/null
}

# The largest body that nginx lets through is one that attentiond reads.
passes_a_body_of_64_mb() {
    { printf '['; head -c $((64 * 1024 * 1024 - 2)) /dev/zero | tr '\0' ' '; printf ']'; } |
        ask --data-binary @- "http://$balancer/v1/attention" | grep -q '"status":422'
}

# logs PATTERN SERVICE: a line of a container of the service
logs() {
    local container
    for container in $(compose ps --quiet "$2"); do docker logs "$container"; done >"$scratch/log" 2>&1
    grep -q "$1" "$scratch/log"
}

# A name given to a request comes back and is in the log of a replica, with the trace that it belongs to.
passes_names_on() {
    local trace=4bf92f3577b34da6a3ce929d0e0e4736
    ask -D "$scratch/head" -o /dev/null -H 'X-Request-Id: my.request-1' \
        -H "traceparent: 00-$trace-00f067aa0ba902b7-01" "http://$balancer/v1/info"
    grep -qi '^x-request-id: my.request-1' "$scratch/head" && within 5 logs "my.request-1.*$trace" attentiond
}

makes_a_name() {
    ask -D "$scratch/head" -o /dev/null -H 'X-Request-Id: not/a/name' "http://$balancer/v1/info"
    grep -qiE '^x-request-id: [0-9a-f]{32}' "$scratch/head"
}

# A client cannot say that it is another one.
names_clients_itself() {
    ask -o /dev/null -H 'X-Request-Id: a-mask' -H 'X-Forwarded-For: 203.0.113.9' "http://$balancer/v1/info"
    within 5 logs '"request_id":"a-mask"' attentiond && ! grep '"request_id":"a-mask"' "$scratch/log" | grep -F 203.0.113.9
}

big_request() {
    python3 -c 'import json, random
draw = random.Random(1)
rows = [[draw.random() for _ in range(4)] for _ in range(3500)]
print(json.dumps({"q": rows, "k": rows, "v": rows, "include": ["weights"]}))'
}

address_of_replica() {
    docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$1"
}

in_flight() {
    local replica
    for replica in $(replicas); do
        ask "http://$(address_of_replica "$replica"):8080/metrics" | sed -n 's/^attnd_http_requests_in_flight //p'
    done | awk '{ sum += $1 - 1 } END { print sum }' # each counts the question itself
}

# Nothing is lost on the way; says in `taken` how many seconds the reply takes when nobody holds it up.
streams_the_same_bytes() {
    local replica whole
    replica=$(address_of_replica "$(replicas | head -n 1)"):8080
    big_request >"$scratch/big"
    whole=$(ask --max-time 60 --data-binary "@$scratch/big" "http://$replica/v1/attention" | sha256sum)
    taken=$SECONDS
    [ "$(ask --max-time 60 --data-binary "@$scratch/big" "http://$balancer/v1/attention" | sha256sum)" = "$whole" ] || return 1
    taken=$((SECONDS - taken + 1))
}

# With a reader that takes its time the replica is still at work when a fast one would have had all: nginx did not take the
# reply in. The sockets on the way may, and each holds up to 36 MB here and there, so the reply is larger than all of them.
streams() {
    curl --silent --limit-rate 1M -D "$scratch/head" -o "$scratch/slow" --data-binary "@$scratch/big" "http://$balancer/v1/attention" &
    local reader=$! running
    within 10 test -s "$scratch/slow" || return 1
    sleep $((taken + 2))
    running=$(in_flight)
    kill "$reader"
    wait "$reader" 2>/dev/null
    grep -qi '^transfer-encoding: chunked' "$scratch/head" && [ "$running" -ge 1 ]
}

start_load() {
    : >"$scratch/load"
    python3 tests/docker/load.py "http://$balancer" 4 120 >"$scratch/load" 2>&1 &
    load=$!
    within 20 grep -q started "$scratch/load"
}

end_load() {
    kill "$load"
    wait "$load"
    local status=$?
    load=
    tail -n 21 "$scratch/load"
    return $status
}

# A replica that refuses everything: half of the requests meet it, none of the clients does.
retries_a_503_elsewhere() {
    cat >"$scratch/full.conf" <<'END'
pid /tmp/pid;
events {}
http { access_log off; client_max_body_size 0; server { listen 8080; location / { return 503 "full"; } } }
END
    stub=$(docker run --detach --network "${COMPOSE_PROJECT_NAME}_inside" --network-alias attentiond \
        --volume "$scratch/full.conf:/full.conf:ro" "$NGINX_IMAGE" nginx -c /full.conf -g 'daemon off;')
    start_load || return 1
    within 20 logs '"replica_status":"503, 200"' nginx
    local met=$?
    end_load && [ $met -eq 0 ]
    local status=$?
    docker rm --force "$stub" >/dev/null
    stub=
    return $status
}

kills_one_unnoticed() {
    local victim
    victim=$(replicas | head -n 1)
    start_load || return 1
    docker kill "$victim" >/dev/null
    sleep 3 # requests go on while it is away
    docker start "$victim" >/dev/null
    within 20 is_healthy "$victim"
    end_load
}

is_healthy() { [ "$(docker inspect --format '{{.State.Health.Status}}' "$1")" = healthy ]; }

# Takes the place of a replica, and is never healthy.
put_a_sick_one() {
    docker rm --force "$(replicas | head -n 1)" >/dev/null
    docker run --detach --stop-signal KILL --health-cmd false --health-interval 1s --health-retries 1 \
        --label "com.docker.compose.project=$COMPOSE_PROJECT_NAME" --label com.docker.compose.service=attentiond \
        --label com.docker.compose.oneoff=False --label com.docker.compose.container-number=9 \
        "$NGINX_IMAGE" sleep 600 >/dev/null && has_replicas 2
}

replaces_all_unnoticed() {
    local before
    put_a_sick_one || return 1
    before=$(replicas)
    start_load || return 1
    docker/roll.sh >"$scratch/roll" 2>&1 || cat "$scratch/roll"
    end_load || return 1
    has_replicas 2 && ! replicas | grep -qF "$before"
}

up_targets() {
    ask "http://$prometheus/api/v1/targets?state=active" |
        jq '[.data.activeTargets[] | select(.labels.job == "attentiond" and .health == "up")] | length'
}
sees_replicas() { [ "$(up_targets)" -eq "$1" ]; }

sees_one_more() {
    compose up --detach --no-deps --no-recreate --scale attentiond=3 attentiond >/dev/null 2>&1
    has_replicas 3 && within 30 sees_replicas 3
}

promtool() {
    docker run --rm --volume "$PWD/docker/prometheus:/etc/prometheus:ro" --workdir /etc/prometheus --entrypoint promtool \
        "$PROMETHEUS_IMAGE" "$@"
}

# counted COMMAND...: adds what its last line "N passed, M failed" says.
counted() {
    local good=0 bad=1
    "$@" | tee "$scratch/counted"
    read -r good bad < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$scratch/counted" | tail -n 1)
    passed=$((passed + ${good:-0})) failed=$((failed + ${bad:-1}))
}

listens_here_only() {
    ! docker ps --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --format '{{.Ports}}' | grep -E '0\.0\.0\.0:|:::'
}

# Told in the form of all refusals, and logged as what they were: here nginx has no path, there not even a method.
refuses_what_it_cannot_read() {
    refuses 414 target-too-long "http://$balancer/$(head -c 40000 /dev/zero | tr '\0' a)" &&
        refuses 400 bad-request -X OPTIONS --request-target '*' "http://$balancer/" &&
        refuses 400 bad-request -X post --data '{}' "http://$balancer/v1/attention" &&
        refuses 405 method-not-allowed -X TRACE -H 'X-Request-Id: a-trace' "http://$balancer/" &&
        within 5 logs '"request_id":"a-trace","method":"TRACE","path":"/","status":405' nginx
}

answers_http_1_0_without_a_host() {
    ask --fail --http1.0 -H 'Host:' "http://$balancer/livez" | grep -q '"status":"ok"'
}

tells_that_none_is_left() {
    compose stop attentiond >/dev/null 2>&1
    refuses 502 bad-gateway "http://$balancer/v1/info" && grep -qi '^retry-after:' "$scratch/head"
}

check "alerts: each when it should, and not before" promtool test rules alerts_test.yml
check "Prometheus takes its configuration" promtool check config prometheus.yml
check "compose up" compose up --detach "${SERVICES[@]}"
balancer=$(address_of nginx 8080)
prometheus=$(address_of prometheus 9090)
check "every port is on 127.0.0.1" listens_here_only
check "two replicas" has_replicas 2
check "nginx answers" within 20 ask --fail -o /dev/null "http://$balancer/readyz"
check "the cat" answers_the_cat
check "the name of a request and its trace pass nginx" passes_names_on
check "a request without a name gets one" makes_a_name
check "a client does not choose its address" names_clients_itself
check "a body over the limit" refuses_a_body_over_64_mb
check "a body of the limit" passes_a_body_of_64_mb
check "a request that nginx cannot read" refuses_what_it_cannot_read
check "HTTP/1.0 without Host" answers_http_1_0_without_a_host
check "metrics are not those of one replica" refuses 404 not-found "http://$balancer/metrics"
check "large replies are the same through nginx" streams_the_same_bytes
check "large replies are not held back" streams
check "one replica refuses: no client sees it" retries_a_503_elsewhere
check "one replica is killed: no client sees it" kills_one_unnoticed
check "all replicas are replaced: no client sees it" replaces_all_unnoticed
check "Prometheus sees every replica" within 30 sees_replicas 2
check "Prometheus sees a replica that is added" sees_one_more
counted python3 tests/docker/split.py "http://$balancer"
counted python3 tests/docker/dashboard.py "http://$prometheus"
check "no replica is left: told so" tells_that_none_is_left
summary
