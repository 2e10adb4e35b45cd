"""The pages of notes: the list of an organisation's, a new one, and one to change or remove."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.languages.locale_text import translate
from onlooker.console.notes.forms import NewNoteForm, NoteForm
from onlooker.console.notes.marks import describe_days, list_notes
from onlooker.console.streams.access import own_membership, roles_of, visible_stream
from onlooker.streams import notes
from onlooker.streams.business_hours import zone_of
from onlooker.streams.models import Note, Organisation, Site, Stream
from onlooker.streams.organisations import RefusedError

ROWS = 100
LARGEST_NUMBER = 2**63 - 1


def _organisation(request: PersonRequest, organisation_id: int) -> Organisation:
    """One in which the account may write notes, or Http404."""
    return own_membership(request.user, min(organisation_id, LARGEST_NUMBER), *notes.WRITERS).organisation


def _note(request: PersonRequest, organisation_id: int, note_id: int) -> Note:
    rows = Note.objects.select_related("organisation", "site", "stream")
    organisation = _organisation(request, organisation_id)
    return get_object_or_404(rows, organisation=organisation, pk=min(note_id, LARGEST_NUMBER))


def _way_back(request: PersonRequest, usual: str) -> str:
    """Where somebody came from, on this console alone."""
    asked = request.POST.get("next") or request.GET.get("next", "")
    return asked if asked.startswith("/") and url_has_allowed_host_and_scheme(asked, None) else usual


@signed_in("GET", "HEAD")
def show_notes(request: PersonRequest, organisation_id: int) -> HttpResponse:
    """All of the organisation's, the latest days first, some at a time."""
    organisation = _organisation(request, organisation_id)
    page = request.GET.get("page", "1")
    number = int(page) if page.isascii() and page.isdecimal() and len(page) < 4 else 1
    rows = organisation.notes.select_related("organisation", "site", "stream", "created_by")
    first = ROWS * max(number - 1, 0)
    found = list(rows.order_by("-first_day", "-pk")[first : first + ROWS + 1])
    context = {
        "organisation": organisation,
        "notes": list_notes(found[:ROWS], roles_of(request.user)),
        "here": request.get_full_path(),
        "next_page": number + 1 if len(found) > ROWS else None,
    }
    return render(request, "notes/list.html", context)


@signed_in("GET", "HEAD", "POST")
def create_stream_note(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """About a stream that the account sees, its site, or its organisation."""
    stream = visible_stream(request.user, client_id)
    if stream.organisation_id is None:
        raise Http404
    organisation = _organisation(request, stream.organisation_id)
    return _create(request, organisation, stream, stream.site, usual=resolve_url("dashboard", client_id))


@signed_in("GET", "HEAD", "POST")
def create_site_note(request: PersonRequest, organisation_id: int, site_id: int) -> HttpResponse:
    organisation = _organisation(request, organisation_id)
    site = get_object_or_404(Site, organisation=organisation, pk=min(site_id, LARGEST_NUMBER))
    return _create(request, organisation, site, usual=f"{resolve_url('fleet-numbers')}?site={site.pk}")


@signed_in("GET", "HEAD", "POST")
def create_organisation_note(request: PersonRequest, organisation_id: int) -> HttpResponse:
    organisation = _organisation(request, organisation_id)
    return _create(request, organisation, usual=resolve_url("notes", organisation.pk))


def _create(
    request: PersonRequest, organisation: Organisation, *nearer: Site | Stream | None, usual: str
) -> HttpResponse:
    form = _new_form(organisation, *nearer, data=request.POST or None)
    back = _way_back(request, usual)
    if form.is_valid():
        given = form.cleaned_data
        try:
            with acting_as(account_actor(request.user.pk)):
                notes.create_note(
                    organisation,
                    given["text"],
                    given["first_day"],
                    given["last_day"],
                    about=form.about_what,
                    by=request.user,
                )
        except RefusedError as refusal:
            form.add_error(None, translate(refusal))
        else:
            messages.success(request, _("Note added."))
            return redirect(back)
    return render(request, "notes/note.html", {"organisation": organisation, "form": form, "back": back})


def _new_form(organisation: Organisation, *nearer: Site | Stream | None, data: Any = None) -> NewNoteForm:
    """The day is today by the clock there."""
    zone = zone_of(nearer[0].time_zone if nearer and nearer[0] else "UTC")
    return NewNoteForm(organisation, *nearer, data=data, today=timezone.now().astimezone(zone).date())


def notes_context(request: PersonRequest, found: list[Note], stream: Stream, role: str | None) -> dict[str, Any]:
    """What a stream's dashboard shows: the period's notes, and a form for another."""
    organisation = stream.organisation
    shown = {"notes": list_notes(found, {stream.organisation_id or 0: role or ""}, own=stream)}
    form = _new_form(organisation, stream, stream.site) if organisation and role in notes.WRITERS else None
    return shown | {"note_count": len(found), "note_form": form, "here": request.get_full_path()}


def group_notes_context(request: PersonRequest, found: list[Note], site: Site | None) -> dict[str, Any]:
    """The same for the numbers of a site. Without one, of the one organisation that the account may write in."""
    roles = roles_of(request.user)
    context: dict[str, Any] = {"notes": list_notes(found, roles), "note_count": len(found)}
    context["here"] = request.get_full_path()
    writable = [number for number, role in roles.items() if role in notes.WRITERS]
    if site:
        if site.organisation_id in writable:
            address = resolve_url("site-note-new", site.organisation_id, site.pk)
            context |= {"note_form": _new_form(site.organisation, site), "note_address": address}
    elif len(writable) == 1:
        address = resolve_url("note-new", writable[0])
        form = _new_form(Organisation.objects.get(pk=writable[0]))
        context |= {"note_form": form, "note_address": address}
    return context


@signed_in("GET", "HEAD", "POST")
def change_note(request: PersonRequest, organisation_id: int, note_id: int) -> HttpResponse:
    note = _note(request, organisation_id, note_id)
    form = NoteForm(request.POST or None, note=note)
    back = _way_back(request, resolve_url("notes", note.organisation_id))
    if form.is_valid():
        with acting_as(account_actor(request.user.pk)):
            notes.change_note(note, form.cleaned_data)
        messages.success(request, _("Note saved."))
        return redirect(back)
    context = {"organisation": note.organisation, "note": note, "days": describe_days(note), "form": form, "back": back}
    return render(request, "notes/note.html", context)


@signed_in("POST")
def remove_note(request: PersonRequest, organisation_id: int, note_id: int) -> HttpResponse:
    note = _note(request, organisation_id, note_id)
    with acting_as(account_actor(request.user.pk)):
        notes.remove_note(note)
    messages.success(request, _("Note removed."))
    return redirect(_way_back(request, resolve_url("notes", note.organisation_id)))
