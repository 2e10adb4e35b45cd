"""`onlooker stream`: making, listing, changing and removing streams."""

import json
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from onlooker.cli.opening import open_django
from onlooker.streams.choices import READING_NOTICE, check_name, check_time_zone
from onlooker.streams.kinds import Way, way_to_enterprise

if TYPE_CHECKING:
    from onlooker.streams.models import Stream

_KIND = click.Choice(["developer", "enterprise"])
_KINDS = (
    "Developer: for non-commercial use only, and stops after 3 hours of video each month (ONLOOKER_DEVELOPER_QUOTA_S). "
    "Enterprise: no monthly limit."
)
_EXPRESSION = f"Whether people's expression is read. {READING_NOTICE}"


@click.group()
def stream() -> None:
    """Make, list, change and remove streams."""


def _check(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A name or a time zone that a stream can have."""
    try:
        return value if value is None else (check_name if parameter.name == "name" else check_time_zone)(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_time_zone = click.option("--time-zone", callback=_check, help="IANA name, such as Europe/Paris; UTC when not set.")


@stream.command("create")
@click.argument("name", callback=_check)
@click.option("--owner", default="owner@localhost", show_default=True, help="E-mail address of the account.")
@click.option("--kind", type=_KIND, help=f"{_KINDS} Enterprise when not set; developer where there is billing.")
@_time_zone
@click.option("--expression", "reads_expression", is_flag=True, help=f"Read people's expression. {READING_NOTICE}")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option("--env", "form", flag_value="env", help="Print CLIENT_ID= and ACCESS_TOKEN= lines for a shell's eval.")
def create(name: str, owner: str, form: str | None, **given: Any) -> None:
    """Make a stream and print its credentials; the access_token is shown this once."""
    settings = open_django()
    from onlooker.streams.administration import RefusedError, account_of, create_stream

    if not given["kind"]:  # anyone who may use this command line counts as staff
        given["kind"] = "enterprise" if way_to_enterprise(settings, is_staff=True) is Way.CHOICE else "developer"
    chosen = {key: value for key, value in given.items() if value is not None}
    try:
        made = create_stream(name, owner=account_of(owner), **chosen)
    except RefusedError as error:
        raise click.ClickException(str(error)) from None
    members = {"client_id": str(made.stream.client_id), "access_token": made.access_token}
    if form == "json":
        click.echo(json.dumps(members))
        return
    if form == "env":
        click.echo("\n".join(f"{key.upper()}={value}" for key, value in members.items()))
        return
    click.echo(f"Stream {name!r} ({made.stream.kind}), owned by {owner}.\n")
    _show_credentials(members)


def _show_credentials(members: dict[str, str]) -> None:
    for key, value in members.items():
        click.echo(f"{key:13} {value}")
    click.echo("\nThe access_token is not shown again. Keep it like a password.")


@stream.command("list")
def list_all() -> None:
    """List all streams; log lines name a stream by its number.

    `days` is how long visits are kept, `reads` what is computed of people besides where they are and look.
    """
    open_django()
    from onlooker.streams.administration import list_streams

    click.echo(f"{'number':>6}  {'client_id':36}  {'kind':10}  {'state':8}  {'days':>4}  {'reads':21}  owner, name")
    for one in list_streams():
        state = "enabled" if one.enabled else "disabled"
        reads = [name for name in ("age", "gender", "expression") if getattr(one, f"reads_{name}")]
        click.echo(
            f"{one.id:6}  {one.client_id}  {one.kind:10}  {state:8}  {one.retention_days:4}  "
            f"{','.join(reads) or 'nothing':21}  {one.owner}, {one.name}"
        )


@stream.command("set")
@click.argument("client_id")
@click.option("--name", callback=_check, help="What people call it.")
@click.option("--kind", type=_KIND, help=_KINDS)
@click.option("--enabled/--disabled", default=None, help="Whether it may compute and store.")
@click.option("--age/--no-age", "reads_age", default=None, help="Whether people's age is computed.")
@click.option("--gender/--no-gender", "reads_gender", default=None, help="Whether people's gender is computed.")
@click.option("--expression/--no-expression", "reads_expression", default=None, help=_EXPRESSION)
@click.option("--retention-days", type=click.IntRange(1, 3650), help="How long visits are kept.")
@_time_zone
@click.option(
    "--silence-alert-minutes", type=click.IntRange(0, 10_080), help="Silence before its owner gets an e-mail; 0: never."
)
def change(client_id: str, **given: Any) -> None:
    """Change a stream; gateways see it within ONLOOKER_CREDENTIAL_CACHE_S (20 seconds)."""
    settings = open_django()
    from onlooker.streams.administration import set_stream

    changes = {key: value for key, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("Nothing to change. `onlooker stream set --help` lists what can be set.")
    set_stream(str(_find_stream(client_id).client_id), changes, quota_s=settings.developer_quota_s)
    click.echo(", ".join(f"{key} = {value}" for key, value in changes.items()))


@stream.command("rotate")
@click.argument("client_id")
@click.option(
    "--grace-hours", type=click.FloatRange(0, 24), default=1, show_default=True, help="How long the old one works on."
)
def rotate_stream(client_id: str, grace_hours: float) -> None:
    """Give a stream a new access_token and print it this once."""
    open_django()
    from onlooker.streams.administration import RefusedError, rotate_access_token

    try:
        access_token = rotate_access_token(_find_stream(client_id), grace=timedelta(hours=grace_hours))
    except RefusedError as error:
        raise click.ClickException(str(error)) from None
    _show_credentials({"client_id": client_id, "access_token": access_token})


@stream.command("remove")
@click.argument("client_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(client_id: str, yes: bool) -> None:
    """Remove a stream with its visits and blobs; gateways see it within ONLOOKER_CREDENTIAL_CACHE_S (20 seconds)."""
    open_django()
    from onlooker.streams.administration import remove_stream

    found = _find_stream(client_id)
    name = found.name
    if not yes:
        click.confirm(f"Remove {name!r} of {found.owner} with all its visits and blobs?", abort=True)
    remove_stream(found)
    click.echo(f"{name!r} is removed. What belongs to it is deleted by the console's chores.")


def _find_stream(client_id: str) -> "Stream":
    from onlooker.streams.models import Stream

    try:
        return Stream.objects.get(client_id=uuid.UUID(client_id), removed_at=None)
    except (Stream.DoesNotExist, ValueError):
        raise click.ClickException(
            f"There is no stream with the client_id {client_id!r}. `onlooker stream list` shows all."
        ) from None
