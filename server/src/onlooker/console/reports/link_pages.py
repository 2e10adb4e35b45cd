"""The pages of those who share: an organisation's links, a new one, its address that is shown once, revoking."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.utils import timezone
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.languages.locale_text import translate
from onlooker.console.reports.link_forms import LinkForm
from onlooker.console.reports.links import (
    KEPT,
    NewLink,
    create_link,
    is_live,
    links_of,
    live_links,
    revoke_link,
)
from onlooker.console.reports.models import SharedLink
from onlooker.console.reports.saved_views import Subject, describe_period, find_group, subject_of
from onlooker.console.streams.access import managed_stream, own_membership
from onlooker.streams.models import Membership, Organisation
from onlooker.streams.organisations import MANAGERS, RefusedError

PAST_LISTED = 50
LARGEST_NUMBER = 2**63 - 1


@dataclass(frozen=True)
class ListedLink:
    """A link as the list shows it."""

    link: SharedLink
    subject: Subject
    zone: ZoneInfo
    """By whose clock it ends."""
    period: str
    is_live: bool
    has_creator_left: bool


def _organisation(request: PersonRequest, organisation_id: int) -> Organisation:
    return own_membership(request.user, min(organisation_id, LARGEST_NUMBER), *MANAGERS).organisation


@signed_in("GET", "HEAD")
def list_links(request: PersonRequest, organisation_id: int) -> HttpResponse:
    organisation = _organisation(request, organisation_id)
    known, live = links_of(organisation), live_links()
    context = {
        "organisation": organisation,
        "links": _describe(known.filter(pk__in=live), organisation),
        "past": _describe(known.exclude(pk__in=live)[:PAST_LISTED], organisation),
        "past_days": KEPT.days,
    }
    return render(request, "reports/links.html", context)


def _describe(links: Iterable[SharedLink], organisation: Organisation) -> list[ListedLink]:
    found, now = [(link, subject_of(link)) for link in links], timezone.now()
    zones = {subject: subject.zone for subject in {subject for _, subject in found}}
    creators = {link.created_by_id for link, _ in found if link.created_by_id}
    members = Membership.objects.filter(organisation=organisation, account__in=creators)
    present = set(members.values_list("account", flat=True))
    return [
        ListedLink(
            link,
            subject,
            zones[subject],
            describe_period(subject, link.period, link.days),
            is_live(link, now),
            bool(link.created_by_id) and link.created_by_id not in present,
        )
        for link, subject in found
    ]


@signed_in("GET", "HEAD", "POST")
def create_stream_link(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    if stream.organisation is None:
        raise Http404
    return _create(request, Subject(stream.organisation, stream=stream), resolve_url("dashboard", client_id))


@signed_in("GET", "HEAD", "POST")
def create_group_link(request: PersonRequest, organisation_id: int) -> HttpResponse:
    """For all streams of the organisation, or those of the site and the tag that the address names."""
    organisation = _organisation(request, organisation_id)
    subject = find_group(organisation, request.GET)
    named = {"site": subject.site and subject.site.pk, "tag": subject.tag and subject.tag.pk}
    query = urlencode({name: number for name, number in named.items() if number})
    return _create(request, subject, f"{resolve_url('fleet-numbers')}?{query}")


def _create(request: PersonRequest, subject: Subject, back: str) -> HttpResponse:
    form = LinkForm(subject, asked=request.GET.dict(), now=timezone.now(), data=request.POST or None)
    if form.is_valid():
        try:
            with acting_as(account_actor(request.user.pk)):
                made = create_link(subject, form.choices, by=request.user)
            return _show_address(request, made)
        except RefusedError as error:
            form.add_error(None, translate(error))
    context = {"organisation": subject.organisation, "subject": subject, "form": form, "back": back}
    return render(request, "reports/new_link.html", context)


def _show_address(request: PersonRequest, made: NewLink) -> HttpResponse:
    """The answer to the POST that created it. A reload leads to the list, and no cache keeps this one."""
    subject = subject_of(made.link)
    context = {
        "organisation": made.link.organisation,
        "link": made.link,
        "subject": subject,
        "zone": subject.zone,
        "address": made.address,
    }
    answer = render(request, "reports/new_address.html", context)
    answer["Cache-Control"] = "no-store"
    return answer


@signed_in("POST")
def revoke_shared_link(request: PersonRequest, organisation_id: int, link_id: int) -> HttpResponse:
    organisation = _organisation(request, organisation_id)
    link = get_object_or_404(SharedLink, organisation=organisation, pk=min(link_id, LARGEST_NUMBER))
    with acting_as(account_actor(request.user.pk)):
        revoke_link(link)
    said = _("Link {label} is revoked. It shows nothing any more.")
    messages.success(request, said.format(label=link.label))
    return redirect("shared-links", organisation_id)
