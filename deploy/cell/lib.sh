# Shared by the scripts beside it: reads cell.env. Sourced, not run.

if [ ! -f "${1:-}" ]; then
    echo "$0: name the cell's file first, such as deploy/cell/cell.env" >&2
    exit 2
fi
set -a
# shellcheck source=cell.env
. "$1"
set +a
shift

host_names() {
    local pair
    for pair in $CELL_HOSTS; do echo "${pair%%=*}"; done
}

address_of() {
    local pair
    for pair in $CELL_HOSTS; do
        if [ "${pair%%=*}" = "$1" ]; then echo "${pair#*=}" && return; fi
    done
    echo "$0: no host '$1' in CELL_HOSTS ($CELL_HOSTS)" >&2
    return 1
}

# Whether the first word is among the others.
is_among() {
    local wanted=$1 word
    shift
    for word in "$@"; do [ "$word" = "$wanted" ] && return; done
    return 1
}

# joined PATTERN HOST...: the hosts with commas between them; in the pattern, NAME and ADDRESS are theirs.
joined() {
    local pattern=$1 name one text=""
    shift
    for name in "$@"; do
        one=${pattern//NAME/$name}
        text+="${text:+,}${one//ADDRESS/$(address_of "$name")}"
    done
    echo "$text"
}
