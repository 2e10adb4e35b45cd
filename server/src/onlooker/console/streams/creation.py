"""Making a stream, and showing its Password this once."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render

from onlooker.console.accounts.models import Account
from onlooker.console.streams.clicks import find_click, remember_click
from onlooker.console.streams.forms import NewStreamForm
from onlooker.console.streams.password import show_password
from onlooker.console.streams.signed_in import PersonRequest, signed_in
from onlooker.console.streams.standing import as_duration
from onlooker.streams.administration import NewStream, RefusedError, create_stream
from onlooker.streams.models import Stream


@signed_in("GET", "HEAD", "POST")
def make_stream(request: PersonRequest) -> HttpResponse:
    """An enterprise stream begins as a developer stream and becomes one when there is a card."""
    form = NewStreamForm(request.POST or None)
    made = _create(form, request.user) if form.is_valid() else None
    if isinstance(made, Stream):
        messages.warning(request, f"{made.name} was made already. If you did not see its Password, rotate it.")
        return redirect("stream", made.client_id)
    if made:
        return show_password(request, made.stream, made.access_token, wants_enterprise=form.wants_enterprise)
    quota = as_duration(settings.ONLOOKER.developer_quota_s)
    return render(request, "streams/new.html", {"form": form, "quota": quota})


def _create(form: NewStreamForm, owner: Account) -> NewStream | Stream | None:
    """The bare stream where a click before this one has made it."""
    try:
        return _create_once(form.cleaned_data, owner)
    except RefusedError as error:
        form.add_error(None, str(error))
        return None


@transaction.atomic
def _create_once(given: dict[str, Any], owner: Account) -> NewStream | Stream:
    Account.objects.select_for_update(no_key=True).get(pk=owner.pk)  # the second click waits for the first
    key: UUID | None = given["form_key"]
    known = find_click(owner, key) if key else None
    if known and known.name == given["name"]:
        return known
    made = create_stream(
        given["name"],
        owner=owner,
        kind=Stream.Kind.DEVELOPER,
        time_zone=given["time_zone"],
        at_most=settings.ONLOOKER.streams_per_account,
    )
    if key:
        remember_click(owner, key, made.stream)
    return made
