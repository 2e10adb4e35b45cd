"""`onlooker key`: restricted keys of an organisation, for programs."""

import json
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from onlooker.cli.administration import open_django

if TYPE_CHECKING:
    from onlooker.keys.models import OrganisationKey
    from onlooker.streams.models import Organisation, Site, Stream

SCOPES = ("numbers", "manage", "enrol", "frames")
_organisation = click.option("--organisation", "number", type=int, help="Its number; see `onlooker organisation list`.")


@click.group()
def key() -> None:
    """Create, list and revoke keys of organisations; for keys that sign tokens see `onlooker keys`."""


@key.command("create")
@click.argument("name")
@_organisation
@click.option(
    "--owner",
    default="owner@localhost",
    show_default=True,
    help="An owner of the organisation, by e-mail address, in the place of its number.",
)
@click.option(
    "--scope", "scopes", type=click.Choice(SCOPES), multiple=True, required=True, help="What it may do; repeatable."
)
@click.option("--site", "sites", type=int, multiple=True, help="Number of a site that it reaches; repeatable.")
@click.option("--stream", "streams", multiple=True, help="client_id of a stream that it reaches; repeatable.")
@click.option("--days", type=click.FloatRange(0.001, 3650), help="How long it works; without an end if not set.")
@click.option(
    "--role",
    type=click.Choice(["manager", "owner"]),
    default="manager",
    show_default=True,
    help="As what it acts where it manages.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def create(name: str, number: int | None, owner: str, as_json: bool, **given: Any) -> None:
    """Create a key and print it; it is shown only once. Without --site and --stream it reaches all streams."""
    open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.keys.keys import create_key
    from onlooker.streams.organisations import RefusedError

    organisation = _find_organisation(number, owner)
    sites, streams = _find_sites(organisation, given["sites"]), _find_streams(organisation, given["streams"])
    life = None if given["days"] is None else timedelta(days=given["days"])
    try:
        with acting_as(command_actor()):
            made = create_key(
                organisation, name, given["scopes"], sites=sites, streams=streams, life=life, role=given["role"]
            )
    except RefusedError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(_describe(made.key) | {"key": made.text}))
        return
    click.echo(made.text)
    click.echo(f"\nKey {made.key.pk}, {made.key.name!r}, of {organisation.name!r}. It is not shown again.", err=True)


@key.command("list")
@_organisation
@click.option("--ended", is_flag=True, help="Also those that were revoked or expired.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def list_keys(number: int | None, ended: bool, as_json: bool) -> None:
    """List keys: of one organisation, or of all."""
    open_django()
    from onlooker.keys.keys import live_keys
    from onlooker.keys.models import OrganisationKey

    rows = (OrganisationKey.objects.all() if ended else live_keys()).select_related("organisation").order_by("pk")
    if number is not None:
        rows = rows.filter(organisation=_find_organisation(number, ""))
    if not as_json:
        click.echo(
            f"{'number':>6}  {'key':13}  {'state':8}  {'used (UTC)':16}  {'ends':10}  scopes: name, organisation"
        )
    for one in rows.iterator():
        if as_json:
            click.echo(json.dumps(_describe(one)))
            continue
        used = f"{one.used_at:%Y-%m-%d %H:%M}" if one.used_at else "never"
        ends = f"{one.expires_at:%Y-%m-%d}" if one.expires_at else "never"
        click.echo(
            f"{one.pk:6}  {one.beginning}…  {_state(one):8}  {used:16}  {ends:10}  {','.join(one.scopes)}: "
            f"{one.name} ({one.organisation})"
        )


@key.command("revoke")
@click.argument("key_id", metavar="NUMBER", type=int)
def revoke(key_id: int) -> None:
    """Revoke a key by its number: gateways refuse it within a second, data endpoints within a minute."""
    open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.keys.keys import live_keys, revoke_key

    found = live_keys().filter(pk=key_id).first()
    if found is None:
        raise click.ClickException(f"There is no live key {key_id}. `onlooker key list` shows all.")
    with acting_as(command_actor()):
        revoke_key(found)
    click.echo(f"{found} is revoked.")


def _describe(one: "OrganisationKey") -> dict[str, Any]:
    moments = {name: getattr(one, name) for name in ("created_at", "expires_at", "used_at", "revoked_at")}
    return {
        "id": one.pk,
        "name": one.name,
        "beginning": one.beginning,
        "organisation": one.organisation_id,
        "scopes": one.scopes,
        "role": one.role,
        "reaches_all": one.reaches_all,
        "sites": list(one.site_links.values_list("site", flat=True)),
        "streams": [str(client_id) for client_id in one.stream_links.values_list("stream__client_id", flat=True)],
        **{name: at.isoformat() if at else None for name, at in moments.items()},
    }


def _state(one: "OrganisationKey") -> str:
    from onlooker.keys.keys import is_live

    if one.revoked_at:
        return "revoked"
    return "live" if is_live(one) else "expired"


def _find_organisation(number: int | None, owner: str) -> "Organisation":
    from onlooker.streams.administration import account_of
    from onlooker.streams.models import Organisation
    from onlooker.streams.organisations import organisation_of

    if number is None:
        return organisation_of(account_of(owner))
    found = Organisation.objects.filter(pk=number).first()
    if found is None:
        raise click.ClickException(f"There is no organisation {number}. `onlooker organisation list` shows all.")
    return found


def _find_sites(organisation: "Organisation", numbers: tuple[int, ...]) -> "list[Site]":
    found = list(organisation.sites.filter(pk__in=numbers))
    if len(found) < len(set(numbers)):
        raise click.ClickException(
            f"There is no such site. `onlooker organisation sites {organisation.pk}` lists them."
        )
    return found


def _find_streams(organisation: "Organisation", client_ids: tuple[str, ...]) -> "list[Stream]":
    try:
        wanted = {uuid.UUID(one) for one in client_ids}
    except ValueError:
        raise click.BadParameter("--stream is a client_id. `onlooker stream list` shows them.") from None
    found = list(organisation.streams.filter(client_id__in=wanted, removed_at=None))
    if len(found) < len(wanted):
        raise click.ClickException(f"{organisation.name!r} has no such stream. `onlooker stream list` shows all.")
    return found
