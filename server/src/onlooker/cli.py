"""The command line: composes the stages into processes, and administers streams."""

import asyncio
import json
import os
import sys
import uuid
from collections.abc import Coroutine
from typing import Any

import click

from onlooker import logs
from onlooker.settings import Settings, SettingsError, describe_settings, read_settings


class Onlooker(click.Group):
    """Turns what its user can mend into one line and exit code 2."""

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
    """A sentence with the remedy, or None where the traceback says more."""
    if isinstance(error, ExceptionGroup):
        explained = [_explain(one) for one in error.exceptions if isinstance(one, Exception)]
        return next((one for one in explained if one), None)
    if isinstance(error, SettingsError):
        return str(error)
    if type(error).__module__ == "django.db.utils":
        if type(error).__name__ == "ProgrammingError":
            return "The database has no tables yet. Run `onlooker migrate`, or `onlooker up`, first."
        reason = str(error).strip().splitlines()[0]
        return f"The database can't be used: {reason}. ONLOOKER_DATABASE_URL names it."
    return None


@click.group(cls=Onlooker)
@click.version_option(package_name="onlooker")
def main() -> None:
    """Audience analytics you host yourself."""


@main.command()
def up() -> None:
    """Start everything on this machine: bus, gateway, dispatcher, recorder, workers."""
    from onlooker.up.machine import Machine

    settings = read_settings()
    logs.write_logs("up", level=settings.log_level)
    click.echo("Onlooker")
    asyncio.run(Machine(settings, click.echo).run())


@main.command()
def gateway() -> None:
    """Run a gateway."""
    from onlooker.gateway.app import run_gateway

    _run("gateway", run_gateway)


@main.command()
def dispatcher() -> None:
    """Run a dispatcher of accepted jobs."""
    from onlooker.gateway.accepted.dispatcher import run_dispatcher

    _run("dispatcher", run_dispatcher)


@main.command()
def recorder() -> None:
    """Run a recorder of visits."""
    from onlooker.visits.recorder import run_recorder

    _run("recorder", run_recorder)


@main.command()
def worker() -> None:
    """Run a worker."""
    from onlooker.compute.worker import run_worker
    from onlooker.visits.sink import VisitSink

    _run("worker", lambda settings: run_worker(settings, VisitSink()))


def _run(process: str, start: Any) -> None:
    import uvloop

    settings = read_settings()
    logs.write_logs(settings.worker_name if process == "worker" else process, level=settings.log_level)
    running: Coroutine[Any, Any, None] = start(settings)
    uvloop.run(running)


@main.command()
def migrate() -> None:
    """Bring the database's tables up to date."""
    _open_django()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


@main.command()
def settings() -> None:
    """List every setting with its default."""
    for name, meta, default in describe_settings():
        click.echo(f"{name}={default}\n    {meta.description}")


@main.group()
def stream() -> None:
    """Make, list and change streams."""


@stream.command("create")
@click.argument("name")
@click.option("--owner", default="owner@localhost", show_default=True, help="E-mail address of the account.")
@click.option("--kind", type=click.Choice(["developer", "enterprise"]), default="developer", show_default=True)
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option("--env", "form", flag_value="env", help="Print CLIENT_ID= and ACCESS_TOKEN= lines for a shell's eval.")
def create(name: str, owner: str, kind: str, form: str | None) -> None:
    """Make a stream and print its credentials; the access_token is shown this once."""
    if not name.strip():
        raise click.UsageError("A stream needs a name, such as where its camera hangs.")
    _open_django()
    from onlooker.streams.administration import create_stream

    made = create_stream(name, owner_email=owner, kind=kind)
    members = {"client_id": str(made.stream.client_id), "access_token": made.access_token}
    if form == "json":
        click.echo(json.dumps(members))
        return
    if form == "env":
        click.echo("\n".join(f"{key.upper()}={value}" for key, value in members.items()))
        return
    click.echo(f"Stream {name!r} ({kind}), owned by {owner}.\n")
    for key, value in members.items():
        click.echo(f"{key:13} {value}")
    click.echo("\nThe access_token is not shown again. Keep it like a password.")


@stream.command("list")
def list_all() -> None:
    """List all streams; log lines name a stream by its number.

    `days` is how long visits are kept, `reads` what is computed of people besides where they are and look.
    """
    _open_django()
    from onlooker.streams.administration import list_streams

    click.echo(f"{'number':>6}  {'client_id':36}  {'kind':10}  {'state':8}  {'days':>4}  {'reads':21}  owner, name")
    for one in list_streams():
        state = "enabled" if one.enabled else "disabled"
        reads = [name for name in ("age", "gender", "expression") if getattr(one, f"reads_{name}")]
        click.echo(
            f"{one.id:6}  {one.client_id}  {one.kind:10}  {state:8}  {one.retention_days:4}  "
            f"{','.join(reads) or 'nothing':21}  {one.owner.email}, {one.name}"
        )


@stream.command("set")
@click.argument("client_id")
@click.option("--name", help="What people call it.")
@click.option("--kind", type=click.Choice(["developer", "enterprise"]), help="Developer streams have a monthly quota.")
@click.option("--enabled/--disabled", default=None, help="Whether it may compute and store.")
@click.option("--age/--no-age", "reads_age", default=None, help="Whether people's age is computed.")
@click.option("--gender/--no-gender", "reads_gender", default=None, help="Whether people's gender is computed.")
@click.option("--expression/--no-expression", "reads_expression", default=None, help="Whether their mood is computed.")
@click.option("--retention-days", type=click.IntRange(1, 3650), help="How long visits are kept.")
def change(client_id: str, **given: Any) -> None:
    """Change a stream; gateways see it within ONLOOKER_CREDENTIAL_CACHE_S (20 seconds)."""
    settings = _open_django()
    from onlooker.streams.administration import set_stream
    from onlooker.streams.models import Stream

    changes = {key: value for key, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("Nothing to change. `onlooker stream set --help` lists what can be set.")
    try:
        set_stream(str(uuid.UUID(client_id)), changes, quota_s=settings.developer_quota_s)
    except (Stream.DoesNotExist, ValueError):
        raise click.ClickException(
            f"There is no stream with the client_id {client_id!r}. `onlooker stream list` shows all."
        ) from None
    click.echo(", ".join(f"{key} = {value}" for key, value in changes.items()))


def _open_django() -> Settings:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "onlooker.console.settings")
    django.setup()
    return read_settings()
