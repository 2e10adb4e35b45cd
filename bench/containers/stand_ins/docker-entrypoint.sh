#!/bin/sh
# What the official image of PostgreSQL does with the variables that compose.yaml sets.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    # shellcheck disable=SC2086
    initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256 \
        --encoding=UTF8 --locale=C.UTF-8 ${POSTGRES_INITDB_ARGS:-} --pgdata="$PGDATA" >/dev/null
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    pg_ctl --pgdata="$PGDATA" --options="-c listen_addresses=''" --wait start >/dev/null
    createdb --username=postgres "$POSTGRES_DB"
    pg_ctl --pgdata="$PGDATA" --mode=fast --wait stop >/dev/null
fi
exec "$@" -c listen_addresses='*'
