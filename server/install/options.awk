# The options of --help as a list for the manual page: a line "  --flag VALUE   meaning", then perhaps "[default: x] [env: Y]".
function quoted(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); return text }
/^  --/ {
    flag = $0; sub(/^ +/, "", flag); sub(/   *.*$/, "", flag)
    meaning = $0; sub(/^ +--[^ ]+( [A-Z:]+)? +/, "", meaning)
    print ".TP\n.B " quoted(flag) "\n" quoted(meaning)
}
/^ +\[default/ { sub(/^ +/, ""); print ".br\n" quoted($0) }
