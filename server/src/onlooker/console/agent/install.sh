#!/bin/sh
# Installs Onlooker's agent into a Python environment of its own: as root for the whole machine, with a systemd service;
# otherwise for you alone. Every package must have the checksum that the console names. Run it again to upgrade.
#   --ca FILE   the certificate of the console's own authority, if it has one
set -eu; umask 022

console=@CONSOLE_URL@ server=@SERVER_URL@
agent=@AGENT@
requirements=@REQUIREMENTS@ minor=@OLDEST_MINOR@ megabytes=@MEGABYTES@
dependencies_from=@DEPENDENCIES_FROM@ # console, or public: the index that this device's pip uses

fail() { echo "$1" >&2; exit 1; }

install_packages() {
    "$folder/bin/python" -m pip --quiet --disable-pip-version-check install --require-hashes --only-binary :all: "$@"
}

main() {
    authority=''
    if [ "${1:-}" = --ca ]; then
        [ -r "${2:-}" ] || fail "There is no file ${2:-} to read. Save $console/authority.pem, and name it after --ca."
        authority=$(realpath "$2")
    fi
    command -v python3 >/dev/null || fail 'Python is missing. On Debian: apt install python3-venv'
    python3 -c "import sys; sys.exit(sys.version_info < (3, $minor))" || fail "Python must be 3.$minor or later."
    python3 -c 'import ensurepip, venv' 2>/dev/null || fail 'Python has no venv. On Debian: apt install python3-venv'

    folder=${HOME:-}/.local/share/onlooker-agent commands=${HOME:-}/.local/bin
    [ "$(id -u)" != 0 ] || folder=/opt/onlooker-agent commands=/usr/local/bin
    echo "Installing into $folder. The first time, it downloads about $megabytes MB."
    python3 -m venv "$folder"
    curl -fsS ${authority:+--cacert "$authority"} -o "$folder/requirements.txt" "$console/agent/$requirements"
    printf '%s\n' "$agent" | tr ';' '\n' >"$folder/agent.txt"
    printf '%s\n' "$console" "$authority" >"$folder/console.txt" # where `onlooker-agent enrol CODE` asks
    set -- --index-url "$console/agent/simple/" ${authority:+--cert "$authority"}
    install_packages --no-deps "$@" -r "$folder/agent.txt"
    [ "$dependencies_from" = console ] || set --
    install_packages "$@" -r "$folder/requirements.txt"
    mkdir -p "$commands"
    ln -sf "$folder/bin/onlooker-agent" "$folder/bin/onlooker-client" "$commands"

    if [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ]; then
        installed=$("$folder/bin/python" -c 'from onlooker_client import agent; print(agent.__path__[0])')
        install -m 644 "$installed/"onlooker-agent*.service /etc/systemd/system/
        install -d -m 755 /etc/onlooker
        kept=/etc/onlooker/authority.pem # the service can't read home folders
        [ -z "$authority" ] || cmp -s "$authority" "$kept" || install -m 644 "$authority" "$kept"
        systemctl daemon-reload
        systemctl try-restart onlooker-agent
        echo 'Installed, with a service. Next:'
        echo "  onlooker-agent setup --config /etc/onlooker/client.json --url $server${authority:+ --ca $kept}"
        echo '  systemctl enable --now onlooker-agent'
    else
        echo 'Installed. Next:'
        case ":$PATH:" in *":$commands:"*) ;; *) echo "  export PATH=\"$commands:\$PATH\"" ;; esac
        echo "  onlooker-agent setup --url $server${authority:+ --ca $authority}"
    fi
}

main "$@"
