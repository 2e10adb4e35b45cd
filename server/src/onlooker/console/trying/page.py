"""The page that opens the browser's camera, and the token that it sends frames with."""

from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render

from onlooker.console.headers import allow
from onlooker.console.streams.access import owned_stream
from onlooker.console.streams.enterprise import way_of
from onlooker.console.streams.signed_in import PersonRequest, signed_in
from onlooker.console.streams.standing import read_standing
from onlooker.streams.administration import TRIAL_TIME, add_trial_token
from onlooker.streams.models import Stream


@signed_in("GET", "HEAD")
def show_trial(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = owned_stream(request.user, client_id)
    gateway_url = settings.ONLOOKER.public_url
    context = {
        "stream": stream,
        "is_own": True,
        "way": way_of(request.user),
        "standing": read_standing(stream),
        "gateway_url": gateway_url,
    }
    response = render(request, "trying/try.html", context)
    sources = {"connect-src": gateway_url, "media-src": "blob:"}  # a video file is played from memory
    return allow(response, sources=sources, permissions=("camera",))


@signed_in("POST")
def give_trial_token(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = owned_stream(request.user, client_id)
    try:
        token = add_trial_token(stream)
    except Stream.DoesNotExist:
        raise Http404 from None  # removed this very moment
    members = {
        "url": settings.ONLOOKER.public_url,
        "client_id": str(stream.client_id),
        "access_token": token.access_token,
        "expires_at": token.expires_at.isoformat(timespec="seconds"),
        "expires_in_s": TRIAL_TIME.total_seconds(),  # for a browser whose clock is wrong
    }
    return JsonResponse(members)
