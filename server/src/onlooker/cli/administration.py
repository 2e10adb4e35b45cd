"""`onlooker stream`, `onlooker account` and `onlooker keys`: administering streams, accounts and signing keys."""

import json
import os
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from onlooker.settings import Settings, read_settings
from onlooker.streams.business_hours import check_hours
from onlooker.streams.options import (
    LARGEST_GROUPS,
    READING_NOTICE,
    EnterpriseAccess,
    check_alert_minutes,
    check_first_hours,
    check_name,
    check_time_zone,
    enterprise_access,
)
from onlooker.streams.presets import (
    EXPRESSION_FORBIDDEN,
    NOTICE_SENTENCE,
    NOTICE_TICK,
    PRESETS,
    CameraPlace,
    Preset,
    check_preset,
    preset_settings,
)

if TYPE_CHECKING:
    from onlooker.streams.models import Stream


def open_django() -> Settings:
    """Only for the commands that need it: Django takes a second to load."""
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "onlooker.console.web.settings"
    django.setup()
    return read_settings()


_KIND = click.Choice(["developer", "enterprise"])
_KINDS = (
    "Developer: for non-commercial use only, and stops after 3 hours of video each month (ONLOOKER_DEVELOPER_QUOTA_S). "
    "Enterprise: no monthly limit."
)
_COMPUTE = (
    "Where its agent computes: on the server, which gets frames, or on the device, which sends visits alone. The agent "
    "reads it when it starts."
)
_GROUPS = (
    f"Tell age, gender, expression and times only of at least so many people together, 1 to {LARGEST_GROUPS}; 1: of "
    "each slot. Raising it from 1 erases for good what was kept of each slot."
)
_SITE = "Number of the site that it stands at; `onlooker organisation sites` lists them."
_GRID = "Whether ranges are rounded to slots of 15 minutes, and nobody is told who is in view now."
_MOMENT = click.DateTime(["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M%z", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"])
_MOMENT_HELP = "Such as 2026-11-01T09:00; in the stream's time zone, unless it has an offset."
_EXPRESSION = f"Whether people's expression is read. {READING_NOTICE}"


@click.group()
def stream() -> None:
    """Create, list, change and remove streams."""


def _check(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Check a stream's name, time zone or opening hours."""
    checks = {"name": check_name, "time_zone": check_time_zone, "hours": check_hours}
    try:
        return value if value is None else checks[parameter.name or ""](value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_time_zone = click.option("--time-zone", callback=_check, help="IANA name, such as Europe/Paris; UTC if not set.")
_hours = click.option(
    "--hours",
    callback=_check,
    help='Opening hours on its local clock, such as "mo-fr 09:00-18:30, sa 10:00-16:00"; "" for always. Outside them '
    "nothing is computed.",
)
_preset = click.option(
    "--preset",
    type=click.Choice([preset.value for preset in Preset if preset is not Preset.OWN]),
    help="What is computed: "
    + " ".join(f"{preset}: {choice.meaning}" for preset, choice in PRESETS.items() if preset is not Preset.OWN),
)
_place = click.option(
    "--place",
    type=click.Choice([place.value for place in CameraPlace if place]),
    help="Where its camera is. Reading expression is forbidden in a workplace and in a school.",
)
_notice = click.option(
    "--notice-given",
    is_flag=True,
    help=f"{NOTICE_TICK}. The presets audience and everything need it. {NOTICE_SENTENCE}",
)


def _take_preset(given: dict[str, Any], *, known_place: str = "") -> None:
    """Replace preset and notice by the settings that they stand for; refuses what the law forbids."""
    chosen, is_notice_given = given.pop("preset", None), given.pop("notice_given", False)
    place = CameraPlace(given.get("place") or known_place)
    if chosen:
        refusal = check_preset(Preset(chosen), place, is_notice_given=is_notice_given)
        if refusal:
            raise click.UsageError(refusal)
        given |= {name: value for name, value in preset_settings(Preset(chosen)).items() if given.get(name) is None}
    if given.get("reads_expression") and place.forbids_expression:
        raise click.UsageError(EXPRESSION_FORBIDDEN)
    if is_notice_given:
        given["notice_given_at"] = datetime.now(UTC)


@stream.command("create")
@click.argument("name", callback=_check)
@click.option(
    "--owner", default="owner@localhost", show_default=True, help="E-mail address of an account: its own organisation."
)
@click.option("--organisation", "organisation_id", type=int, help="Number of another organisation.")
@click.option("--site", "site_id", type=int, help=_SITE)
@click.option("--kind", type=_KIND, help=f"{_KINDS} Enterprise if not set; developer if there is billing.")
@_time_zone
@_preset
@_place
@_notice
@_hours
@click.option("--expression", "reads_expression", is_flag=True, help=f"Read people's expression. {READING_NOTICE}")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option("--env", "form", flag_value="env", help="Print CLIENT_ID= and ACCESS_TOKEN= lines for a shell's eval.")
def create(
    name: str, owner: str, form: str | None, *, organisation_id: int | None, site_id: int | None, **given: Any
) -> None:
    """Create a stream and print its credentials; the access_token is shown only once.

    Without --preset, age and gender are computed, single people are told of, and visits are kept for a year.
    """
    settings = open_django()
    given["reads_expression"] = given["reads_expression"] or None  # the preset may say it
    _take_preset(given)
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.streams.administration import account_of, create_stream
    from onlooker.streams.models import Stream
    from onlooker.streams.organisations import RefusedError

    short = check_first_hours(given["hours"] or "", alert_minutes=Stream().silence_alert_minutes)
    if short:
        raise click.UsageError(short)
    if not given["kind"]:  # anyone with access to this command line counts as staff
        given["kind"] = (
            "enterprise" if enterprise_access(settings, is_staff=True) is EnterpriseAccess.CHOICE else "developer"
        )
    chosen = {key: value for key, value in given.items() if value is not None}
    chosen |= find_place(organisation_id, site_id)
    try:
        with acting_as(command_actor()):
            made = create_stream(name, owner=None if organisation_id or site_id else account_of(owner), **chosen)
    except RefusedError as error:
        raise click.ClickException(str(error)) from None
    members = {"client_id": str(made.stream.client_id), "access_token": made.access_token}
    if form == "json":
        click.echo(json.dumps(members))
        return
    if form == "env":
        click.echo("\n".join(f"{key.upper()}={value}" for key, value in members.items()))
        return
    click.echo(f"Stream {name!r} ({made.stream.kind}) of {made.stream.organisation}.\n")
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

    click.echo(
        f"{'number':>6}  {'client_id':36}  {'kind':10}  {'state':8}  {'days':>4}  {'reads':21}  "
        "organisation, site, name"
    )
    for one in list_streams():
        state = "enabled" if one.enabled else "disabled"
        reads = [name for name in ("age", "gender", "expression") if one.reads_faces and getattr(one, f"reads_{name}")]
        click.echo(
            f"{one.id:6}  {one.client_id}  {one.kind:10}  {state:8}  {one.retention_days:4}  "
            f"{','.join(reads) or 'nothing':21}  {one.organisation}, {one.site or '-'}, {one.name}"
        )


@stream.command("set")
@click.argument("client_id")
@click.option("--name", callback=_check, help="Its name.")
@click.option("--organisation", "organisation_id", type=int, help="Number of the organisation that it moves to.")
@click.option("--site", "site_id", type=int, help=f"{_SITE} 0: none.")
@click.option("--kind", type=_KIND, help=_KINDS)
@click.option("--enabled/--disabled", default=None, help="Whether it may compute and store.")
@_preset
@_place
@_notice
@_hours
@click.option("--faces/--no-faces", "reads_faces", default=None, help="Whether faces are looked for at all.")
@click.option("--age/--no-age", "reads_age", default=None, help="Whether people's age is computed.")
@click.option("--gender/--no-gender", "reads_gender", default=None, help="Whether people's gender is computed.")
@click.option("--expression/--no-expression", "reads_expression", default=None, help=_EXPRESSION)
@click.option("--compute", type=click.Choice(["server", "device"]), help=_COMPUTE)
@click.option("--retention-days", type=click.IntRange(1, 3650), help="How long visits are kept.")
@click.option(
    "--audit-days", type=click.IntRange(1, 3650), help="How long entries of its audit log are kept; 365 if not set."
)
@_time_zone
@click.option("--groups-of", type=click.IntRange(1, LARGEST_GROUPS), help=_GROUPS)
@click.option("--grid/--no-grid", default=None, help=_GRID)
@click.option(
    "--silence-alert-minutes",
    type=click.IntRange(0, 10_080),
    help="Silence before owners and managers get an e-mail; 0: never.",
)
@click.option(
    "--blind-alert-minutes",
    type=click.IntRange(0, 10_080),
    help="How long its camera sees nothing before owners and managers get an e-mail; 0: never.",
)
@click.option(
    "--unusual-alert/--no-unusual-alert",
    default=None,
    help="Whether owners and managers get an e-mail when far fewer or far more people come than usual.",
)
def change(client_id: str, organisation_id: int | None, site_id: int | None, **given: Any) -> None:
    """Change a stream; gateways see it within ONLOOKER_CREDENTIAL_CACHE_S (20 seconds)."""
    settings = open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.streams.administration import set_stream

    found = find_stream(client_id)
    _take_preset(given, known_place=found.place)
    changes = {key: value for key, value in given.items() if value is not None}
    changes |= find_place(organisation_id, site_id, known=found.organisation_id)
    if not changes:
        raise click.UsageError("Nothing to change. `onlooker stream set --help` lists what can be set.")
    _check_place(found, changes)
    _check_alerts(found, changes)
    with acting_as(command_actor()):
        set_stream(str(found.client_id), changes, quota_s=settings.developer_quota_s)
    click.echo(", ".join(f"{key} = {value}" for key, value in changes.items()))


def _check_place(found: "Stream", changes: dict[str, Any]) -> None:
    """A place that is only told now may forbid what is on already."""
    place, is_read = (changes.get(name, getattr(found, name)) for name in ("place", "reads_expression"))
    if is_read and CameraPlace(place).forbids_expression:
        raise click.UsageError(EXPRESSION_FORBIDDEN)


def _check_alerts(found: "Stream", changes: dict[str, Any]) -> None:
    """Where they, or the hours, are changed: what was chosen before stays."""
    for option in ("--silence-alert-minutes", "--blind-alert-minutes"):
        name = option.removeprefix("--").replace("-", "_")
        minutes, hours = (changes.get(one, getattr(found, one)) for one in (name, "hours"))
        refusal = check_alert_minutes(minutes, hours)
        if refusal and {name, "hours"} & changes.keys():
            raise click.UsageError(f"{option} {minutes}: {refusal}")


@stream.command("rotate")
@click.argument("client_id")
@click.option(
    "--grace-hours",
    type=click.FloatRange(0, 24),
    default=1,
    show_default=True,
    help="How long the old one still works.",
)
def rotate_stream(client_id: str, grace_hours: float) -> None:
    """Give a stream a new access_token and print it; it is shown only once."""
    open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.streams.administration import rotate_access_token
    from onlooker.streams.organisations import RefusedError

    try:
        with acting_as(command_actor()):
            access_token = rotate_access_token(find_stream(client_id), grace=timedelta(hours=grace_hours))
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

    found = find_stream(client_id)
    name = found.name
    if not yes:
        click.confirm(f"Remove {name!r} of {found.organisation} with all its visits and blobs?", abort=True)
    remove_stream(found)
    click.echo(f"{name!r} is removed. The console deletes its data in the background.")


@stream.command("forget")
@click.argument("client_id")
@click.option("--from", "from_at", required=True, type=_MOMENT, help=f"Where the range begins. {_MOMENT_HELP}")
@click.option("--to", "to_at", required=True, type=_MOMENT, help=f"Where it ends. {_MOMENT_HELP}")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(client_id: str, from_at: datetime, to_at: datetime, yes: bool) -> None:
    """Erase the visits of a range: somebody asked for it.

    Every visit that reaches into the range goes whole, with its share in all totals. Where visits are past their
    retention, the totals of the whole quarters of an hour go. Visits of the range that arrive later are not stored.
    Of a stream on the grid, all quarters of an hour that the range touches are erased.
    """
    open_django()
    from onlooker.audit.actor import command_actor
    from onlooker.metrics.erasure import count_range, erasable_range, erase_range

    found = find_stream(client_id)
    begins, ends = min(as_moments(from_at, found.time_zone)), max(as_moments(to_at, found.time_zone))
    try:
        begins, ends = erasable_range(begins, ends, grid=found.grid)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if not yes:
        counted = count_range(found.pk, begins, ends)
        click.confirm(
            f"Erase {counted.visits} visits and the totals of {counted.slots} quarters of an hour of {found.name!r}, "
            f"from {begins.isoformat()} to {ends.isoformat()}?",
            abort=True,
        )
    erased = erase_range(found.pk, begins, ends, actor=command_actor())
    click.echo(
        f"Erased: visits {erased.visits}, totals of quarters of an hour {erased.slots}, put aside {erased.put_aside}."
    )


def as_moments(at: datetime, time_zone: str) -> list[datetime]:
    """A time without an offset is in the stream's time zone, whose clock may show it twice."""
    zone = at.tzinfo or ZoneInfo(time_zone)
    return [at.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]


def find_place(organisation_id: int | None, site_id: int | None, *, known: int | None = None) -> dict[str, Any]:
    """The organisation and site that were named, as settings of a stream; what moves to an organisation has no site."""
    from onlooker.streams.models import Organisation, Site

    named: dict[str, Any] = {}
    if organisation_id is not None:
        named = {"organisation": Organisation.objects.filter(pk=organisation_id).first(), "site": None}
        if named["organisation"] is None:
            raise click.ClickException(f"There is no organisation {organisation_id}. See `onlooker organisation list`.")
    if site_id is not None:
        site = Site.objects.select_related("organisation").filter(pk=site_id).first()
        of = organisation_id or known
        if site_id and (site is None or (of and site.organisation_id != of)):
            raise click.ClickException(f"The organisation has no site {site_id}. See `onlooker organisation sites`.")
        named["site"] = site
        if site and not known:
            named["organisation"] = site.organisation
    return named


def find_stream(client_id: str) -> "Stream":
    from onlooker.streams.models import Stream

    try:
        return Stream.objects.get(client_id=uuid.UUID(client_id), removed_at=None)
    except (Stream.DoesNotExist, ValueError):
        raise click.ClickException(
            f"There is no stream with the client_id {client_id!r}. `onlooker stream list` shows all."
        ) from None


@click.group()
def account() -> None:
    """Create, list and delete accounts of the console."""


@account.command("create")
@click.argument("email")
@click.option("--staff", is_flag=True, help="Give it access to the staff pages.")
def create_account(email: str, staff: bool) -> None:
    """Create an account; its password is asked for, or read as one line from standard input."""
    open_django()
    from onlooker.console.accounts import commands

    click.echo(commands.create_account(email, is_staff=staff))


@account.command("set")
@click.argument("email")
@click.option("--staff/--no-staff", "is_staff", default=None, help="Whether it has access to the staff pages.")
@click.option("--active/--inactive", "is_active", default=None, help="Whether it can be used at all.")
def change_account(email: str, **given: Any) -> None:
    """Change what an account may do; streams whose organisation has no active owner refuse all frames."""
    changes = {key: value for key, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("Nothing to change. `onlooker account set --help` lists what can be set.")
    open_django()
    from onlooker.console.accounts import commands

    click.echo(commands.set_account(email, changes))


@account.command("password")
@click.argument("email")
@click.option("--remove-second-factor", is_flag=True, help="For somebody who lost it and the recovery codes.")
def change_password(email: str, remove_second_factor: bool) -> None:
    """Set an account's password and end its sessions."""
    open_django()
    from onlooker.console.accounts import commands

    click.echo(commands.change_password(email, removes_second_factor=remove_second_factor))


@account.command("list")
def list_accounts() -> None:
    """List all accounts."""
    open_django()
    from onlooker.console.accounts import commands

    click.echo("\n".join(commands.list_accounts()))


@account.command("delete")
@click.argument("email")
@click.option("--yes", is_flag=True, help="Really delete it.")
def delete_account(email: str, yes: bool) -> None:
    """Delete an account, and the organisations that it alone owns with their streams and data."""
    if not yes:
        raise click.UsageError(
            "This also deletes the streams of organisations that the account alone owns. Add --yes to confirm."
        )
    open_django()
    from onlooker.console.accounts import commands

    click.echo(commands.delete_account(email))


@click.group()
def keys() -> None:
    """List and replace the keys that sign tokens."""


@keys.command("list")
def list_keys() -> None:
    """List the keys that verify tokens; the first one signs."""
    open_django()
    from onlooker.console.tokens.commands import list_keys

    list_keys()


@keys.command("rotate")
@click.option("--now", is_flag=True, help="Retire the current keys at once, and every token with them.")
def rotate(now: bool) -> None:
    """Sign with a new key from now on; the previous one verifies until its last token has expired (5 hours)."""
    settings = open_django()
    from onlooker.console.tokens.commands import replace_key
    from onlooker.console.web.secret_key import require_secret_key

    require_secret_key(settings)
    replace_key(now=now)
