"""`onlooker organisation`: administering organisations, their members and their sites."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from onlooker.cli.administration import open_django
from onlooker.streams.business_hours import check_hours
from onlooker.streams.options import check_name, check_time_zone

if TYPE_CHECKING:
    from onlooker.streams.models import Membership, Organisation

ROLES = ("owner", "manager", "analyst", "viewer")


@click.group()
def organisation() -> None:
    """Create, list and change organisations, their members and their sites."""


@contextmanager
def _changes() -> Iterator[None]:
    """Logged as done at the command line; a refusal is one line."""
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.streams.organisations import RefusedError

    try:
        with acting_as(command_actor()):
            yield
    except RefusedError as error:
        raise click.ClickException(str(error)) from None


def _find(number: int) -> "Organisation":
    from onlooker.streams.models import Organisation

    found = Organisation.objects.filter(pk=number).first()
    if found is None:
        raise click.ClickException(f"There is no organisation {number}. `onlooker organisation list` shows all.")
    return found


def _find_member(number: int, email: str) -> "Membership":
    from onlooker.streams.models import Membership

    found = Membership.objects.filter(organisation=_find(number), account__email=email.strip().lower()).first()
    if found is None:
        raise click.ClickException(f"{email} is no member. `onlooker organisation members {number}` lists them.")
    return found


def _clean(check: Any, value: str) -> str:
    try:
        return str(check(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@organisation.command("list")
def list_organisations() -> None:
    """List all organisations with their owners."""
    open_django()
    from django.db.models import Count, Q

    from onlooker.streams.models import Organisation

    counted = Organisation.objects.annotate(live=Count("streams", filter=Q(streams__removed_at=None))).order_by("id")
    click.echo(f"{'number':>6}  {'streams':>7}  name (owners)")
    for one in counted.iterator():
        owners = one.memberships.filter(role="owner").order_by("id").values_list("account__email", flat=True)
        click.echo(f"{one.pk:6}  {one.live:7}  {one.name} ({', '.join(owners)})")


@organisation.command("create")
@click.argument("name")
@click.option("--owner", required=True, help="E-mail address of an account; created if there is none.")
def create(name: str, owner: str) -> None:
    """Create an organisation and print its number."""
    open_django()
    from onlooker.streams.administration import account_of
    from onlooker.streams.organisations import create_organisation

    with _changes():
        made = create_organisation(_clean(check_name, name), account_of(owner))
    click.echo(f"Organisation {made.pk}, {made.name!r}, owned by {owner}.")


@organisation.command("set")
@click.argument("number", type=int)
@click.option("--name", help="Its name.")
@click.option(
    "--second-factor/--no-second-factor",
    "requires_second_factor",
    default=None,
    help="Whether its members need a second factor.",
)
def change(number: int, **given: Any) -> None:
    """Change an organisation."""
    changes = {key: value for key, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("Nothing to change. `onlooker organisation set --help` lists what can be set.")
    open_django()
    found = _find(number)
    if "name" in changes:
        changes["name"] = _clean(check_name, changes["name"])
    with _changes():
        for key, value in changes.items():
            setattr(found, key, value)
        found.save(update_fields=list(changes))
    click.echo(", ".join(f"{key} = {value}" for key, value in changes.items()))


@organisation.command("remove")
@click.argument("number", type=int)
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(number: int, yes: bool) -> None:
    """Remove an organisation with its streams, their visits and blobs. Its members' accounts stay."""
    open_django()
    from onlooker.streams.organisations import remove_organisation

    found = _find(number)
    if not yes:
        count = found.streams.filter(removed_at=None).count()
        click.confirm(f"Remove {found.name!r} with {count} streams and all their visits and blobs?", abort=True)
    with _changes():
        removed = remove_organisation(found)
    click.echo(f"{found.name!r} is removed, with {removed} streams. The console deletes their data in the background.")


@organisation.command("members")
@click.argument("number", type=int)
def list_members(number: int) -> None:
    """List the members of an organisation, and the sites that viewers see."""
    open_django()
    for one in _find(number).memberships.select_related("account").order_by("account__email"):
        sites = one.site_links.order_by("site__name").values_list("site__name", flat=True)
        click.echo(f"{one.role:8}  {one.account}" + (f"  {', '.join(sites)}" if sites else ""))


@organisation.command("member")
@click.argument("number", type=int)
@click.argument("email")
@click.option("--role", type=click.Choice(ROLES), required=True, help="What the member may do.")
@click.option("--site", "sites", type=int, multiple=True, help="Number of a site that a viewer sees; may be repeated.")
def put_member(number: int, email: str, role: str, sites: tuple[int, ...]) -> None:
    """Add a member without an invitation, or change the role and sites of one."""
    open_django()
    from onlooker.streams.administration import account_of
    from onlooker.streams.organisations import add_member, change_member

    found = _find(number)
    chosen = list(found.sites.filter(pk__in=sites))
    if len(chosen) < len(set(sites)):
        raise click.ClickException(f"There is no such site. `onlooker organisation sites {number}` lists them.")
    with _changes():
        change_member(add_member(found, account_of(email), role, chosen), role, chosen)
    click.echo(f"{email}: {role} of {found.name!r}.")


@organisation.command("remove-member")
@click.argument("number", type=int)
@click.argument("email")
def remove_from(number: int, email: str) -> None:
    """Remove a member; the account stays."""
    open_django()
    from onlooker.streams.organisations import remove_member

    member = _find_member(number, email)
    with _changes():
        remove_member(member)
    click.echo(f"{email} is no longer a member.")


@organisation.command("sites")
@click.argument("number", type=int)
def list_sites(number: int) -> None:
    """List the sites of an organisation."""
    open_django()
    click.echo(f"{'number':>6}  {'streams':>7}  {'time zone':24}  name")
    for site in _find(number).sites.order_by("name", "id"):
        click.echo(f"{site.pk:6}  {site.streams.count():7}  {site.time_zone:24}  {site.name}")


@organisation.command("site")
@click.argument("number", type=int)
@click.argument("name")
@click.option("--address", default="", help="Where it is.")
@click.option("--time-zone", default="UTC", show_default=True, help="IANA name, such as Europe/Paris.")
@click.option("--hours", default="", help='Opening hours, such as "mo-fr 09:00-18:30".')
def create_site(number: int, name: str, address: str, time_zone: str, hours: str) -> None:
    """Create a site and print its number."""
    open_django()
    from onlooker.streams.models import Site

    found = _find(number)
    checked = {
        "name": _clean(check_name, name),
        "time_zone": _clean(check_time_zone, time_zone),
        "hours": _clean(check_hours, hours),
    }
    with _changes():
        made = Site.objects.create(organisation=found, address=address, **checked)
    click.echo(f"Site {made.pk}, {made.name!r}.")
