"""Making a stream, and showing its Password this once."""

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
from onlooker.streams.administration import NewStream, RefusedError, create_stream
from onlooker.streams.kinds import describe_kinds
from onlooker.streams.models import Stream


@signed_in("GET", "HEAD", "POST")
def make_stream(request: PersonRequest) -> HttpResponse:
    """With billing, an enterprise stream begins as a developer stream and becomes one when there is a card."""
    form = NewStreamForm(request.user, request.POST or None)
    made = _create(form, request.user) if form.is_valid() else None
    if isinstance(made, Stream):
        messages.warning(request, f"{made.name} was made already. If you did not see its Password, rotate it.")
        return redirect("stream", made.client_id)
    if made:
        return show_password(request, made.stream, made.access_token, needs_card=form.needs_card)
    return render(request, "streams/new.html", {"form": form, "kinds": describe_kinds(settings.ONLOOKER)})


def _create(form: NewStreamForm, owner: Account) -> NewStream | Stream | None:
    """The bare stream where a click before this one has made it."""
    try:
        return _create_once(form, owner)
    except RefusedError as error:
        form.add_error(None, str(error))
        return None


@transaction.atomic
def _create_once(form: NewStreamForm, owner: Account) -> NewStream | Stream:
    given = form.cleaned_data
    Account.objects.select_for_update(no_key=True).get(pk=owner.pk)  # the second click waits for the first
    key: UUID | None = given["form_key"]
    known = find_click(owner, key) if key else None
    if known and known.name == given["name"]:
        return known
    made = create_stream(
        given["name"],
        owner=owner,
        kind=form.kind,
        time_zone=given["time_zone"],
        reads_expression=given["reads_expression"],
        at_most=settings.ONLOOKER.streams_per_account,
    )
    if key:
        remember_click(owner, key, made.stream)
    return made
