"""Removing a stream with all that belongs to it."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from onlooker.console.streams.access import owned_stream
from onlooker.console.streams.forms import RemovalForm
from onlooker.console.streams.signed_in import PersonRequest, signed_in
from onlooker.streams.administration import remove_stream


@signed_in("GET", "HEAD", "POST")
def show_removal(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = owned_stream(request.user, client_id)
    form = RemovalForm(stream, request.POST or None)
    if not form.is_valid():
        return render(request, "streams/remove.html", {"stream": stream, "form": form})
    name = stream.name
    remove_stream(stream)
    messages.success(request, f"{name} is removed. Its visits and blobs are being deleted.")
    return redirect("streams")
