#!/bin/bash
# What make install puts in place: the program runs, the manual page is whole, the unit is valid and closed, completion completes.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
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

page_is_clean() { [ -z "$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$page" 2>&1 >/dev/null)" ]; }
page_has_every_flag() {
    local text
    text=$(MANWIDTH=200 man -l "$page" | col -b)
    for flag in $("$program" --help | sed -nE 's/^  (--[a-z-]+).*/\1/p'); do
        grep -q -- "$flag" <<<"$text" || { echo "no $flag"; return 1; }
    done
}
unit_is_valid() {
    # the unit names the place where it will be, which is not here
    sed "s|/usr/bin/attentiond|$program|" "$unit" >"$root/attentiond.service"
    systemd-analyze verify --man=no "$root/attentiond.service" 2>&1 | grep -F attentiond.service && return 1
    return 0
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
check "the unit is valid" unit_is_valid
check "the unit's exposure is at most 2.0" unit_is_closed
check "completion completes" completion_completes

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
