# The settings of --help as an environment file in which nothing is set: their meaning, then "#NAME=default".
BEGIN {
    print "# Settings of attentiond(8), read by its systemd unit. What is set here is a flag's environment variable; a name that"
    print "# there is not stops the start. After a change: systemctl restart attentiond"
}
/^  --/ { meaning = $0; sub(/^ +--[^ ]+( [A-Z:]+)? +/, "", meaning) }
/^ +\[default/ {
    initial = $0; sub(/^ +\[default: /, "", initial); sub(/\] \[env: .*$/, "", initial)
    name = $0; sub(/^.*\[env: /, "", name); sub(/\]$/, "", name)
    print "\n# " meaning "\n#" name "=" (initial == "none" ? "" : initial)
}
