"""Creating a stream, changing its settings, removing it, and what follows when an owner's account is disabled."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.languages.locale_text import translate
from onlooker.console.streams.access import managed_stream
from onlooker.console.streams.forms import NewStreamForm, RemovalForm, SettingsForm
from onlooker.console.streams.idempotency import find_result, remember_result
from onlooker.console.streams.passwords import show_password
from onlooker.streams.administration import NewStream, create_stream, log_state, remove_stream, set_stream
from onlooker.streams.models import MemberRole, Membership, Stream
from onlooker.streams.options import describe_kinds
from onlooker.streams.organisations import RefusedError


@signed_in("GET", "HEAD", "POST")
def show_creation(request: PersonRequest) -> HttpResponse:
    """With billing, an enterprise stream starts as a developer stream until there is a payment card."""
    form = NewStreamForm(request.user, request.POST or None)
    created = _create(form, request.user) if form.is_valid() else None
    if isinstance(created, Stream):
        said = _("{stream} already exists. If you did not see its Password, rotate it.")
        messages.warning(request, said.format(stream=created.name))
        return redirect("stream", created.client_id)
    if created:
        return show_password(request, created.stream, created.access_token, needs_card=form.needs_card)
    developer = translate(describe_kinds(settings.ONLOOKER)["developer"])
    return render(request, "streams/new.html", {"form": form, "developer": developer})


def _create(form: NewStreamForm, owner: Account) -> NewStream | Stream | None:
    """Only the stream where an earlier click on the same form has created it."""
    try:
        return _create_once(form, owner)
    except RefusedError as error:
        form.add_error(None, translate(error))
        return None


def _create_once(form: NewStreamForm, owner: Account) -> NewStream | Stream:
    with acting_as(account_actor(owner.pk)):
        return _find_or_create(form, owner)


def _find_or_create(form: NewStreamForm, owner: Account) -> NewStream | Stream:
    given = form.cleaned_data
    Account.objects.select_for_update(no_key=True).get(pk=owner.pk)  # the second click waits for the first
    key: UUID | None = given["form_key"]
    known = find_result(owner, key) if key else None
    if known and known.name == given["name"]:
        return known
    created = create_stream(
        given["name"],
        owner=owner,
        kind=form.kind,
        organisation=form.organisation,
        at_most=settings.ONLOOKER.streams_per_account,
        **form.chosen,
    )
    if key:
        remember_result(owner, key, created.stream)
    return created


@signed_in("GET", "HEAD", "POST")
def show_settings(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    form = SettingsForm(request.user, stream, request.POST or None)
    if not form.is_valid():
        return render(request, "streams/settings.html", {"stream": stream, "form": form})
    try:
        with acting_as(account_actor(request.user.pk)):
            set_stream(str(client_id), form.changes, quota_s=settings.ONLOOKER.developer_quota_s)
    except Stream.DoesNotExist:
        raise Http404 from None  # removed in the meantime
    seconds = f"{settings.ONLOOKER.credential_cache_s:g}"
    messages.success(request, _("Settings saved. They take effect within {seconds} seconds.").format(seconds=seconds))
    return redirect("stream", client_id)


@signed_in("GET", "HEAD", "POST")
def show_removal(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    form = RemovalForm(stream, request.POST or None)
    if not form.is_valid():
        return render(request, "streams/remove.html", {"stream": stream, "form": form})
    name = stream.name
    remove_stream(stream)
    said = _("{stream} was deleted. Its visits and blobs are being deleted now.")
    messages.success(request, said.format(stream=name))
    return redirect("streams")


@transaction.atomic
def log_stream_states(owner: Account) -> None:
    """Record that streams of an owner stop or resume: always in the same order, each under its lock."""
    owned = Membership.objects.filter(account=owner, role=MemberRole.OWNER).values("organisation")
    streams = Stream.objects.filter(organisation__in=owned, removed_at=None).order_by("id")
    for stream in streams.select_for_update(no_key=True):
        log_state(stream.pk, quota_s=settings.ONLOOKER.developer_quota_s)
