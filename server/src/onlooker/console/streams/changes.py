"""Changing what a stream is set to."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from onlooker.console.streams.access import owned_stream
from onlooker.console.streams.forms import SettingsForm
from onlooker.console.streams.signed_in import PersonRequest, signed_in
from onlooker.streams.administration import set_stream
from onlooker.streams.models import Stream


@signed_in("GET", "HEAD", "POST")
def change_stream(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = owned_stream(request.user, client_id)
    form = SettingsForm(stream, request.POST or None)
    if not form.is_valid():
        return render(request, "streams/settings.html", {"stream": stream, "form": form})
    try:
        set_stream(str(client_id), form.changes, quota_s=settings.ONLOOKER.developer_quota_s)
    except Stream.DoesNotExist:
        raise Http404 from None  # removed this very moment
    messages.success(request, f"Saved. Cameras notice within {settings.ONLOOKER.credential_cache_s:g} seconds.")
    return redirect("stream", client_id)
