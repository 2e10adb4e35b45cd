"""The pages of those who manage a stream: the documents, of now or of an earlier moment, and what they need."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.notices.assessment import write_assessment
from onlooker.console.notices.conformity import sheets_of
from onlooker.console.notices.facts import (
    ControllerFacts,
    NoticeFacts,
    controller_facts,
    current_facts,
    earlier_facts,
    find_details,
)
from onlooker.console.notices.forms import DetailsForm
from onlooker.console.notices.history import read_history
from onlooker.console.notices.languages import active_language, base_language, named_language
from onlooker.console.notices.models import NoticeDetails
from onlooker.console.notices.notice_text import NoticeForm, write_notice
from onlooker.console.notices.public_address import draw_code, public_url, switch_public_page
from onlooker.console.notices.record import write_record
from onlooker.console.notices.sentences import say
from onlooker.console.streams.access import managed_stream
from onlooker.streams.models import Stream

SIGN_SIZES = (NoticeForm.A4, NoticeForm.A6)
DENSE_FROM = {NoticeForm.A4: 2300, NoticeForm.A6: 1800}
"""Characters from which on a sheet is set smaller, so that it stays one sheet."""


@signed_in("GET", "HEAD")
def show_notices(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    details = find_details(stream)
    entered, url = controller_facts(details), public_url(details)
    context = {
        "stream": stream,
        "is_own": True,
        "missing": _missing(entered),
        "public_url": url,
        "code": draw_code(url) if url else "",
        "history": read_history(stream),
    }
    return render(request, "notices/notices.html", context)


def _missing(entered: ControllerFacts) -> list[str]:
    """Labels of what a notice in the reader's language has blanks for."""
    needed = ("controller", "address", "contact", f"purpose_{base_language()}", "legal_basis")
    return [str(DetailsForm.base_fields[name].label) for name in needed if not getattr(entered, name)]


@signed_in("GET", "HEAD", "POST")
def edit_details(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    details = find_details(stream)
    entered = controller_facts(details)
    is_copy = entered == ControllerFacts()
    form = DetailsForm(_entered_before(stream) if is_copy else entered, request.POST or None)
    if not form.is_valid():
        return render(request, "notices/details.html", {"stream": stream, "form": form})
    NoticeDetails.objects.update_or_create(stream=stream, defaults=form.cleaned_data)
    messages.success(request, _("Details saved. Notices that you printed before still say what held then."))
    return redirect("notices", client_id)


def _entered_before(stream: Stream) -> ControllerFacts:
    """For another stream of the organisation: it is entered once, then confirmed. The place is another one."""
    others = NoticeDetails.objects.filter(stream__organisation=stream.organisation_id, stream__removed_at=None)
    newest = others.exclude(controller="")
    facts = controller_facts(newest.order_by("-stream_id").first())
    return ControllerFacts(**{name: "" if name == "place" else value for name, value in vars(facts).items()})


@signed_in("POST")
def switch_page(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    is_on = request.POST.get("is_public") == "on"
    switch_public_page(stream, is_on=is_on)
    messages.success(request, _("The public page is on.") if is_on else _("The public page is off."))
    return redirect("notices", client_id)


@signed_in("GET", "HEAD")
def show_sign(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    details, facts = _facts_of(request, stream)
    size, language = request.GET.get("size", NoticeForm.A4), named_language(request, otherwise=active_language())
    if size not in SIGN_SIZES:
        raise Http404
    url = public_url(details)
    with translation.override(language):
        paper = write_notice(facts, NoticeForm(size))
        more = say("more_by_code" if url else "more_by_contact")
    context = _context(request, stream, facts) | {
        "paper": paper,
        "size": size,
        "is_dense": paper.characters > DENSE_FROM[NoticeForm(size)],
        "sizes": [(one.value, one.name, one.value == size) for one in SIGN_SIZES],
        "language": language,
        "public_url": url,
        "code": draw_code(url) if url else "",
        "more": more,
    }
    return render(request, "notices/sign.html", context)


@signed_in("GET", "HEAD")
def show_record(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    facts = _facts_of(request, stream)[1]
    paper = write_record(facts, stream.name, is_https=_uses_https())
    return render(request, "notices/paper.html", _context(request, stream, facts) | {"paper": paper})


@signed_in("GET", "HEAD")
def show_assessment(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    details, facts = _facts_of(request, stream)
    has_page = bool(details and details.is_public)
    paper = write_assessment(facts, stream.name, is_https=_uses_https(), has_public_page=has_page)
    return render(request, "notices/paper.html", _context(request, stream, facts) | {"paper": paper})


@signed_in("GET", "HEAD")
def show_models(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    facts = _facts_of(request, stream)[1]
    context = _context(request, stream, facts) | {"sheets": sheets_of(facts.computed)}
    return render(request, "notices/models.html", context)


def _facts_of(request: PersonRequest, stream: Stream) -> tuple[NoticeDetails | None, NoticeFacts]:
    """As they hold now, or as they held from the version on that the address names."""
    details, version = find_details(stream), request.GET.get("version")
    if version is None:
        return details, current_facts(stream, details)
    if not (version.isascii() and version.isdecimal() and len(version) <= 18):
        raise Http404
    return details, earlier_facts(stream, int(version))


def _context(request: PersonRequest, stream: Stream, facts: NoticeFacts) -> dict[str, Any]:
    version = request.GET.get("version", "")
    return {"stream": stream, "is_own": True, "since": facts.since, "version": version}


def _uses_https() -> bool:
    return bool(settings.ONLOOKER.public_url.startswith("https://"))
