"""The command line: composes the stages into processes, and administers streams, keys and accounts."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import click

from onlooker import logs
from onlooker.bus.worker_announcement import name_of
from onlooker.child_process import allow_many_files, hide_process
from onlooker.cli.administration import account, keys, open_django, stream
from onlooker.cli.audit import audit
from onlooker.cli.backup import backup, restore
from onlooker.cli.bus import bus
from onlooker.cli.database import apply_migrations, database
from onlooker.cli.device import device
from onlooker.cli.key import key
from onlooker.cli.note import note
from onlooker.cli.organisations import organisation
from onlooker.cli.proof import prove
from onlooker.cli.secrets import secrets
from onlooker.cli.sign_in import sign_in
from onlooker.cli.webhook import webhook
from onlooker.settings import Settings, SettingsError, describe_settings, read_settings
from onlooker_pipeline.model_runtime import ModelsUnavailable

TRACED = ("gateway", "dispatcher", "worker")
"""Processes that a job passes through."""


class Onlooker(click.Group):
    """Turns errors that its user can fix into one line and exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except Exception as error:
            complaint = _explain(error)
            if complaint is None:
                raise
            click.echo(f"onlooker: {complaint}", err=True)
            sys.exit(2)


def _explain(error: Exception) -> str | None:
    """A sentence with the remedy, or None if the traceback says more."""
    if isinstance(error, ExceptionGroup):
        explained = [_explain(one) for one in error.exceptions if isinstance(one, Exception)]
        return next((one for one in explained if one), None)
    if isinstance(error, SettingsError | ModelsUnavailable):
        return str(error)
    if type(error).__module__ == "django.db.utils":
        if type(error).__name__ == "ProgrammingError":
            return "The database has no tables yet. Run `onlooker migrate`, or `onlooker up`, first."
        if type(error).__name__ == "OperationalError":
            reason = str(error).strip().splitlines()[0]
            return f"The database can't be used: {reason}. ONLOOKER_DATABASE_URL names it."
    return None


@click.group(cls=Onlooker)
@click.version_option(package_name="onlooker")
def main() -> None:
    """Audience analytics you host yourself."""
    allow_many_files()


@main.command()
def up() -> None:
    """Start everything on this machine: bus, gateways, dispatcher, recorder, console, data endpoint, workers."""
    from onlooker.up.supervisor import Supervisor

    hide_process("onlooker up")
    settings = read_settings()
    logs.write_logs("up", level=settings.log_level)
    click.echo("Onlooker")
    asyncio.run(Supervisor(settings, click.echo).run())


@main.command()
def gateway() -> None:
    """Run a gateway."""
    from onlooker.gateway.app import run_gateway

    _run("gateway", run_gateway)


@main.command()
def dispatcher() -> None:
    """Run a dispatcher of accepted jobs."""
    from onlooker.gateway.queue.dispatcher import run_dispatcher

    _run("dispatcher", run_dispatcher)


@main.command()
def recorder() -> None:
    """Run a recorder of visits, which fills their roll-up too."""
    from onlooker.metrics.rollup import keep_rollup_filled
    from onlooker.visits.recorder import run_recorder

    _run("recorder", lambda settings: run_recorder(settings, keep_rollup_filled))


@main.command()
def console() -> None:
    """Run a console."""
    from onlooker.console.web.app import run_console

    open_django()
    from django.apps import apps

    _run("console", run_console, {app.label: Path(app.path, "migrations") for app in apps.get_app_configs()})


@main.command()
def data() -> None:
    """Run a data endpoint."""
    from onlooker.data.app import run_data

    _run("data", run_data)


@main.command()
def worker() -> None:
    """Run a worker."""
    from onlooker.compute.worker_start import start_worker

    _run("worker", start_worker)


def _run(process: str, start: Any, migrations: dict[str, Path] | None = None) -> None:
    """A process with a database waits until that has the migrations it needs: ours, or those in the folders given."""
    import uvloop

    settings = read_settings()
    names = {"worker": name_of(settings), "gateway": settings.gateway_name}
    name = names.get(process, process)
    hide_process(name)
    logs.write_logs(name, level=settings.log_level)
    if settings.traces_url and process in TRACED:
        from onlooker.bus.traces import start_traces

        start_traces(settings, process, name)
    uvloop.run(start(settings) if process == "worker" else _start_migrated(settings, start, migrations))


async def _start_migrated(settings: Settings, start: Any, migrations: dict[str, Path] | None) -> None:
    from onlooker.migration_check import await_migrations, migrations_in, our_migrations

    await await_migrations(settings, migrations_in(migrations) if migrations else our_migrations())
    await start(settings)


@main.command()
def migrate() -> None:
    """Bring the database's tables up to date, and the grants of the processes' roles where there are such roles."""
    hide_process("migrate")
    apply_migrations()


@main.command()
def settings() -> None:
    """List every setting with its default."""
    for name, meta, default in describe_settings():
        click.echo(f"{name}={default}\n    {meta.description}")


for command in (
    stream,
    device,
    organisation,
    key,
    audit,
    keys,
    account,
    sign_in,
    note,
    webhook,
    secrets,
    bus,
    database,
    backup,
    restore,
    prove,
):
    main.add_command(command)
