#!/bin/bash
# What make install puts in place: the program runs, the manual page is whole, the units are valid and closed, completion
# completes, the example of nginx serves; and what make uninstall leaves.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

root=$(mktemp -d)
started=()
tidy() {
    [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null
    wait
    rm -rf "$root"
}
trap tidy EXIT
passed=0 failed=0

# check WHAT COMMAND...
check() {
    if "${@:2}" >"$root/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1"
        cat "$root/out"
    fi
}

program=$root/usr/bin/attentiond
unit=$root/usr/lib/systemd/system/attentiond.service
page=$root/usr/share/man/man8/attentiond.8
socket=$root/usr/lib/systemd/system/attentiond.socket
documents=$root/usr/share/doc/attentiond
settings=$root/etc/default/attentiond

page_is_clean() { [ -z "$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$page" 2>&1 >/dev/null)" ]; }
page_has_every_flag() {
    local text
    text=$(MANWIDTH=200 man -l "$page" | col -b)
    for flag in $("$program" --help | sed -nE 's/^  (--[a-z-]+).*/\1/p'); do
        grep -q -- "$flag" <<<"$text" || { echo "no $flag"; return 1; }
    done
}
page_tells_values_once() { ! MANWIDTH=200 man -l "$page" | col -b | grep -E "(ADDRESS:PORT.*){2}"; }
units_are_valid() {
    # the unit names the place where it will be, which is not here
    mkdir -p "$root/units/attentiond.service.d" && cp "$socket" "$root/units" &&
        cp "$documents/credentials.conf" "$root/units/attentiond.service.d" || return 1
    sed "s|/usr/bin/attentiond|$program|" "$unit" >"$root/units/attentiond.service"
    systemd-analyze verify --man=no "$root/units/attentiond.service" "$root/units/attentiond.socket" 2>&1 |
        grep -F attentiond && return 1
    return 0
}
credentials_are_settings() {
    local name
    while read -r name; do
        grep -q "^#$name=" "$settings" || { echo "no $name"; return 1; }
    done < <(grep -o 'ATTND_[A-Z_]*' "$documents/credentials.conf")
}
settings_set_nothing() { ! grep -v '^#' "$settings" | grep .; }
settings_are_good() {
    local pairs
    mapfile -t pairs < <(sed -n 's/^#\(ATTND_[A-Z_]*=.*\)/\1/p' "$settings")
    [ ${#pairs[@]} -eq "$("$program" --help | grep -c 'env: ATTND_')" ] && env "${pairs[@]}" "$program" --check-config
}
# The sockets lie in the folder of the test in place of /run and port 80.
nginx_serves() {
    "$program" --listen "unix:$root/attentiond.sock" --trusted-proxy unix >"$root/log" &
    started+=($!)
    mkdir -p "$root/nginx" &&
        sed -e "s|/run/attentiond.sock|$root/attentiond.sock|" -e "s|listen 80|listen unix:$root/nginx.sock|" \
            "$documents/nginx.conf" >"$root/nginx/site" || return 1
    printf '%s\n' "user root; daemon off; pid $root/nginx/pid; error_log stderr; events {}" \
        "http { access_log off; client_body_temp_path $root/nginx/body; proxy_temp_path $root/nginx/proxy;" \
        "fastcgi_temp_path $root/nginx/f; uwsgi_temp_path $root/nginx/u; scgi_temp_path $root/nginx/s; include $root/nginx/site; }" \
        >"$root/nginx/conf"
    nginx -c "$root/nginx/conf" &
    started+=($!)
    curl -fsS --retry 20 --retry-delay 1 --retry-all-errors --unix-socket "$root/nginx.sock" -X POST http://localhost/v1/attention \
        -d '{"q":[[1,0]],"k":[[1,0],[0,1]],"v":[[1,2],[3,4]]}' | grep '"output"'
}
uninstalls() {
    make uninstall DESTDIR="$root/second" PREFIX=/usr && [ -z "$(find "$root/second" -type f)" ]
}
changed_settings_stay() {
    make install DESTDIR="$root/second" PREFIX=/usr && echo ATTND_PORT=81 >>"$root/second/etc/default/attentiond" &&
        make install uninstall DESTDIR="$root/second" PREFIX=/usr &&
        [ "$(find "$root/second" -type f)" = "$root/second/etc/default/attentiond" ] &&
        grep -qx ATTND_PORT=81 "$root/second/etc/default/attentiond"
}
unit_is_closed() { systemd-analyze security --offline=yes --threshold=20 "$unit"; }
completion_completes() {
    bash -c '. "$1"; COMP_WORDS=("$2" --max-b); COMP_CWORD=1; _attentiond; [ "${COMPREPLY[*]}" = --max-body ]' \
        - "$root/usr/share/bash-completion/completions/attentiond" "$program"
}

check "make install" make install DESTDIR="$root" PREFIX=/usr
check "the program runs" "$program" --version
check "the unit starts it where it is" grep -qx 'ExecStart=/usr/bin/attentiond' "$unit"
check "the manual page has no warnings" page_is_clean
check "the manual page has every flag" page_has_every_flag
check "the manual page tells the form of a value once" page_tells_values_once
check "the units are valid, with credentials" units_are_valid
check "credentials are named by settings" credentials_are_settings
check "the example of settings sets nothing" settings_set_nothing
check "its settings are all there are, and good" settings_are_good
check "the unit's exposure is at most 2.0" unit_is_closed
check "completion completes" completion_completes

check "nginx serves by the socket" nginx_serves
check "make install once more" make install DESTDIR="$root/second" PREFIX=/usr
check "make uninstall leaves nothing" uninstalls
check "make uninstall leaves settings that were changed" changed_settings_stay

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
