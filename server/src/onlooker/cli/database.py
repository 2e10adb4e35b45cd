"""`onlooker database`: its tables, and the roles that the processes have in PostgreSQL."""

import sys

import click

from onlooker.child_process import hide_process
from onlooker.cli.administration import open_django
from onlooker.settings import SettingsError, read_settings, variable_name


@click.group()
def database() -> None:
    """Bring the tables up to date, and make the roles of the processes in PostgreSQL."""


@database.command("migrate")
@click.option("--check", is_flag=True, help="Change nothing; list what is not applied yet, and exit with 1 if any.")
def migrate(check: bool) -> None:
    """Bring the tables up to date, and the grants of the processes' roles where there are such roles.

    Run it before the processes of a new release start; those of the release before go on meanwhile. The user in
    ONLOOKER_DATABASE_URL must own the tables.
    """
    hide_process("migrate")
    if not check:
        apply_migrations()
        return
    unapplied = find_unapplied()
    for name in unapplied:
        click.echo(name)
    if unapplied:
        click.echo("Run `onlooker database migrate`.", err=True)
        sys.exit(1)
    click.echo("All migrations of this release are applied.")


def apply_migrations() -> None:
    """Tables first, then grants on them."""
    settings = open_django()
    if settings.database_direct_url:
        direct, usual = variable_name("database_direct_url"), variable_name("database_url")
        raise SettingsError(
            f"Migrations need the database itself, without a pooler: set {usual} to it, without {direct}."
        )
    import psycopg
    from django.core.management import call_command

    from onlooker.database_roles.creation import grant_all
    from onlooker.database_roles.logins import role_prefix

    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        grant_all(connection, role_prefix(settings, connection.info.dbname))


def find_unapplied() -> list[str]:
    """Migrations of this release that the database lacks, in the order in which they would be applied."""
    open_django()
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


@database.command("roles")
@click.option("--check", is_flag=True, help="Change nothing; say what is missing or too much, and exit with 1 if so.")
def roles(check: bool) -> None:
    """Make a role for each process, with the grants that it needs; its URL goes into a file of the home folder.

    The user in ONLOOKER_DATABASE_URL must be a superuser, or own the database and have CREATEROLE.
    """
    import psycopg

    from onlooker.database import direct_url
    from onlooker.database_roles.comparison import find_differences
    from onlooker.database_roles.creation import make_logins, may_create_roles
    from onlooker.database_roles.grants import ROLES
    from onlooker.database_roles.logins import login_file, role_prefix

    settings = read_settings()
    try:
        with psycopg.connect(direct_url(settings), autocommit=True, connect_timeout=5) as connection:
            prefix = role_prefix(settings, connection.info.dbname)
            refused: dict[str, str] = {}
            if not check:
                if not may_create_roles(connection):
                    raise SettingsError(
                        f"{connection.info.user} may not create roles in {connection.info.dbname}. "
                        f"Name a superuser in {variable_name('database_url')}, or the database's owner after "
                        f"`ALTER ROLE {connection.info.user} CREATEROLE`."
                    )
                _, refused = make_logins(connection, settings)
            differences = [f"{why}." for why in refused.values()] + find_differences(connection, prefix)
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise SettingsError(
            f"The database can't be used: {reason}. {variable_name('database_url')} names it."
        ) from None
    for sentence in differences:
        click.echo(sentence)
    if not check:
        for process in ROLES:
            click.echo(f"{prefix}_{process:<12}{login_file(settings, process)}")
    if differences:
        sys.exit(1)
    if check:
        click.echo(f"All {len(ROLES)} roles of {prefix} have what they need and nothing else.")


@database.command("days")
@click.option(
    "--check", is_flag=True, help="Change nothing; say which streams have wrong days, and exit with 1 if any."
)
def days(check: bool) -> None:
    """Add up the daily numbers of all streams again, from their quarters of an hour.

    The database keeps them equal by itself: this is for one that was changed by hand. The user in
    ONLOOKER_DATABASE_URL must own the tables. Processes may run meanwhile.
    """
    import psycopg

    from onlooker.database import direct_url
    from onlooker.metrics.days import fill_days, find_wrong_days

    with psycopg.connect(direct_url(read_settings()), autocommit=True, connect_timeout=5) as connection:
        if not check:
            click.echo(f"The days of {fill_days(connection)} streams are added up.")
            return
        wrong = list(find_wrong_days(connection))
    for stream_id, count in wrong:
        click.echo(f"Stream {stream_id}: {count} wrong days.")
    if wrong:
        click.echo("Run `onlooker database days`.", err=True)
        sys.exit(1)
    click.echo("All days are the sums of their quarters of an hour.")


@database.command("clean-up")
def clean_up_database() -> None:
    """After PostgreSQL was restored by other means: migrate, and delete what must not come back from that time.

    That is sessions of the console, accepted jobs, blobs, and visits that are past their retention by now. Stop all
    processes first. `onlooker restore` does it by itself.
    """
    from onlooker.backup.restoration import require_known_database

    hide_process("clean-up")
    require_known_database(read_settings())
    settle_database()


def settle_database() -> None:
    """Migrate a database that was restored, and delete what must not come back."""
    from onlooker.backup.restore_cleanup import clean_up

    apply_migrations()
    remark = clean_up(read_settings())
    click.echo("Sessions and accepted jobs of that time: deleted.")
    click.echo(remark or "Visits past their retention: deleted.")
