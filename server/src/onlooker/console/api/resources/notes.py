"""Notes on days: of streams, of sites, of the organisation."""

from datetime import date
from typing import Annotated
from uuid import UUID

from django.db.models import Q, QuerySet
from msgspec import Meta

from onlooker.audit.actor import acting_as
from onlooker.console.api.caller import ApiCaller, require_number
from onlooker.console.api.fields import UNSET, Input, Number, Output, UnsetType, said_in
from onlooker.console.api.operation import ApiCall, Nothing, Time, write_moment
from onlooker.console.api.pages import Page, PageQuery, read_page
from onlooker.errors import Code, Problem, bad_request, not_found
from onlooker.streams import notes
from onlooker.streams.models import LONGEST_NOTE, Note, Site, Stream
from onlooker.streams.organisations import RefusedError

NoteText = Annotated[str, Meta(min_length=1, max_length=LONGEST_NOTE, description="One line")]
LocalDay = Annotated[date, Meta(description="Of each stream's own clock")]


class NoteBody(Output, frozen=True):
    """What somebody wrote about days."""

    id: int
    text: str
    first_day: LocalDay
    last_day: LocalDay
    stream: Annotated[str | None, Meta(description="Its client_id; null: not about one stream")]
    site: Annotated[int | None, Meta(description="null: not about one site")]
    created_at: Time


class NewNoteBody(Input, frozen=True):
    """A note that does not exist yet: about a stream, a site, or neither, which is the whole organisation."""

    text: NoteText
    first_day: LocalDay
    last_day: LocalDay | UnsetType = UNSET
    stream: UUID | UnsetType = UNSET
    site: Number | UnsetType = UNSET


class NoteChange(Input, frozen=True):
    """What changes; what is not named stays."""

    text: NoteText | UnsetType = UNSET
    first_day: LocalDay | UnsetType = UNSET
    last_day: LocalDay | UnsetType = UNSET


class NoteQuery(PageQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which notes."""

    stream: Annotated[UUID, Meta(description="Those that concern it, also of its site and of all")] | UnsetType = UNSET
    site: Annotated[Number, Meta(description="Those about this site")] | UnsetType = UNSET
    from_date: Annotated[date, Meta(description="Those that touch this day or a later one")] | UnsetType = UNSET
    to_date: Annotated[date, Meta(description="Those that touch this day or an earlier one")] | UnsetType = UNSET


def _notes(caller: ApiCaller) -> QuerySet[Note]:
    """All of the organisation; with a key for some streams, those that concern them."""
    if caller.key.reaches_all:
        return Note.objects.filter(organisation=caller.organisation)
    at_sites = Note.objects.filter(site__in=caller.sites().values("pk")).values("pk")
    concern = notes.notes_about(caller.streams()).values("pk")
    return Note.objects.filter(Q(pk__in=concern) | Q(pk__in=at_sites), organisation=caller.organisation)


def _find_note(caller: ApiCaller, note_id: int) -> Note:
    rows = _notes(caller).select_related("stream").filter(pk=require_number(note_id, "note"))
    found = rows.first()
    if found is None:
        raise not_found("note")
    return found


def _find_own(caller: ApiCaller, note_id: int) -> Note:
    """One that the key may change: what is about more than it reaches, it can only read."""
    note = _find_note(caller, note_id)
    if caller.key.reaches_all:
        return note
    is_reached = note.site_id is not None and caller.sites().filter(pk=note.site_id).exists()
    if is_reached or (note.stream_id is not None and caller.streams().filter(pk=note.stream_id).exists()):
        return note
    raise Problem(Code.FORBIDDEN, "This note is about more than this key reaches. Use a key for all streams.")


def write_note(note: Note) -> NoteBody:
    return NoteBody(
        id=note.pk,
        text=note.text,
        first_day=note.first_day,
        last_day=note.last_day,
        stream=str(note.stream.client_id) if note.stream else None,
        site=note.site_id,
        created_at=write_moment(note.created_at),
    )


def list_notes(call: ApiCall[Nothing, NoteQuery]) -> Page[NoteBody]:
    asked, caller = call.query, call.caller
    rows = _notes(caller).select_related("stream")
    if not isinstance(asked.stream, UnsetType):
        rows = rows.filter(pk__in=notes.notes_of_stream(_stream(caller, asked.stream)).values("pk"))
    if not isinstance(asked.site, UnsetType):
        rows = rows.filter(site=asked.site)
    if not isinstance(asked.from_date, UnsetType):
        rows = rows.filter(last_day__gte=asked.from_date)
    if not isinstance(asked.to_date, UnsetType):
        rows = rows.filter(first_day__lte=asked.to_date)
    return read_page(rows, asked, write_note, list_name="notes")


def read_note(call: ApiCall[Nothing, Nothing]) -> NoteBody:
    return write_note(_find_note(call.caller, call.path["note_id"]))


def create_note(call: ApiCall[NewNoteBody, Nothing]) -> NoteBody:
    caller, body = call.caller, call.body
    about = _find_about(caller, body)
    last = body.first_day if isinstance(body.last_day, UnsetType) else body.last_day
    with acting_as(caller.actor):
        try:
            made = notes.create_note(caller.organisation, body.text, body.first_day, last, about=about)
        except RefusedError:
            raise
        except ValueError as error:
            raise bad_request(str(error)) from None
    return write_note(_find_note(caller, made.pk))


def change_note(call: ApiCall[NoteChange, Nothing]) -> NoteBody:
    note = _find_own(call.caller, call.path["note_id"])
    with acting_as(call.caller.actor):
        try:
            notes.change_note(note, said_in(call.body))
        except ValueError as error:
            raise bad_request(str(error)) from None
    return write_note(_find_note(call.caller, note.pk))


def remove_note(call: ApiCall[Nothing, Nothing]) -> None:
    note = _find_own(call.caller, call.path["note_id"])
    with acting_as(call.caller.actor):
        notes.remove_note(note)


def _find_about(caller: ApiCaller, body: NewNoteBody) -> Site | Stream | None:
    """A key for some streams must name one, or one of its sites."""
    if not isinstance(body.stream, UnsetType):
        if not isinstance(body.site, UnsetType):
            raise bad_request("A note is about a stream or about a site. Name one of them.")
        return _stream(caller, body.stream)
    return caller.chosen_site(None if isinstance(body.site, UnsetType) else body.site)


def _stream(caller: ApiCaller, client_id: UUID) -> Stream:
    found = caller.streams().filter(client_id=client_id).first()
    if found is None:
        raise bad_request(f"There is no stream {client_id} that this key reaches.")
    return found
