"""Trying out a stream with the browser's own camera: the page, and the token that it sends frames with."""

from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.streams.access import managed_stream, rights_context
from onlooker.console.streams.status import read_status
from onlooker.console.web.security import allow_sources
from onlooker.streams.administration import TRIAL_TIME, add_trial_token
from onlooker.streams.models import Stream


@signed_in("GET", "HEAD")
def show_trial(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    gateway_url = settings.ONLOOKER.public_url
    context = {
        "stream": stream,
        **rights_context(request.user, stream),
        "status": read_status(stream),
        "gateway_url": gateway_url,
    }
    response = render(request, "streams/try.html", context)
    sources = {"connect-src": gateway_url, "media-src": "blob:"}  # a video file is played from memory
    return allow_sources(response, sources=sources, permissions=("camera",))


@signed_in("POST")
def give_trial_token(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = managed_stream(request.user, client_id)
    try:
        with acting_as(account_actor(request.user.pk)):
            token = add_trial_token(stream)
    except Stream.DoesNotExist:
        raise Http404 from None  # removed in the meantime
    members = {
        "url": settings.ONLOOKER.public_url,
        "client_id": str(stream.client_id),
        "access_token": token.access_token,
        "expires_at": token.expires_at.isoformat(timespec="seconds"),
        "expires_in_s": TRIAL_TIME.total_seconds(),  # for a browser whose clock is wrong
    }
    return JsonResponse(members)
