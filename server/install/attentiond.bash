# Completion for bash: the flags are those that the program itself lists.
_attentiond() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} flags
    case $before in
    --log-format) flags="json text" ;;
    --compression) flags="all gzip none" ;;
    --log-level) flags="debug info warn error" ;;
    --port-file | --*-file | --tls-*) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    *) flags=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -nE 's/^  (--[a-z-]+).*/\1/p') ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
}
complete -F _attentiond attentiond
