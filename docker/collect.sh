#!/bin/sh
# Copies what a program loads, for any architecture: its loader, and the libraries that it and they name, without running it.
# Usage: collect.sh PROGRAM FOLDER TRIPLET; prints the files that were copied, as they are named here.
set -eu

program=$1 folder=$2 triplet=$3

# copy FILE NAME: unless it is there already
copy() {
    [ ! -e "$folder$2" ] || return 0
    readlink -f "$1"
    install -D -m 755 "$(readlink -f "$1")" "$folder$2"
    collect "$1"
}

collect() {
    for name in $("$triplet-readelf" -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        [ "/lib/$name" = "$loader" ] || copy "/usr/lib/$triplet/$name" "/lib/$triplet/$name"
    done
}

loader=$("$triplet-readelf" -l "$program" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
copy "$loader" "$loader"
collect "$program"
