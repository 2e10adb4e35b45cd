"""`onlooker note`: what organisations wrote about days."""

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from onlooker.cli.administration import open_django

if TYPE_CHECKING:
    from onlooker.streams.models import Note, Organisation, Site, Stream

_DAY = click.DateTime(["%Y-%m-%d"])


@click.group()
def note() -> None:
    """List, add and remove notes on days of streams."""


@note.command("list")
@click.argument("organisation", type=int)
def list_notes(organisation: int) -> None:
    """List the notes of ORGANISATION, by its number."""
    open_django()
    click.echo(f"{'number':>6}  {'first day':10}  {'last day':10}  about, text")
    for one in _organisation(organisation).notes.select_related("site", "stream").order_by("first_day", "pk"):
        about = f"stream {one.stream}" if one.stream else f"site {one.site}" if one.site else "all"
        click.echo(f"{one.pk:6}  {one.first_day}  {one.last_day}  {about}, {one.text}")


@note.command("add")
@click.argument("organisation", type=int)
@click.argument("first_day", type=_DAY)
@click.argument("text")
@click.option("--last-day", type=_DAY, help="If there are several days.")
@click.option("--stream", "client_id", type=click.UUID, help="About this stream, by its Login.")
@click.option("--site", "site_id", type=int, help="About this site, by its number.")
def add(organisation: int, first_day: datetime, text: str, last_day: datetime | None, **about: Any) -> None:
    """Add a note to ORGANISATION, by its number: about all of its streams, unless a stream or a site is named."""
    open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.streams.notes import create_note

    found = _organisation(organisation)
    last = last_day.date() if last_day else None
    try:
        with acting_as(command_actor()):
            made = create_note(found, text, first_day.date(), last, about=_about(found, **about))
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Note {made.pk} added.")


@note.command("remove")
@click.argument("number", type=int)
def remove(number: int) -> None:
    """Remove a note, by its number."""
    open_django()
    from onlooker.audit.actor import acting_as, command_actor
    from onlooker.streams.notes import remove_note

    found = _note(number)
    with acting_as(command_actor()):
        remove_note(found)
    click.echo(f"Note {number} removed.")


def _organisation(number: int) -> "Organisation":
    from onlooker.streams.models import Organisation

    found = Organisation.objects.filter(pk=number).first()
    if found is None:
        raise click.ClickException(f"There is no organisation {number}. `onlooker organisation list` shows all.")
    return found


def _about(organisation: "Organisation", client_id: UUID | None, site_id: int | None) -> "Site | Stream | None":
    if client_id and site_id is not None:
        raise click.ClickException("A note is about a stream or about a site. Name one of them.")
    if client_id:
        stream = organisation.streams.filter(client_id=client_id, removed_at=None).first()
        if stream is None:
            raise click.ClickException(f"The organisation has no stream {client_id}. `onlooker stream list` shows all.")
        return stream
    if site_id is None:
        return None
    site = organisation.sites.filter(pk=site_id).first()
    if site is None:
        raise click.ClickException(f"The organisation has no site {site_id}. Its page in the console shows all.")
    return site


def _note(number: int) -> "Note":
    from onlooker.streams.models import Note

    found = Note.objects.filter(pk=number).first()
    if found is None:
        raise click.ClickException(f"There is no note {number}. `onlooker note list` shows those of an organisation.")
    return found
