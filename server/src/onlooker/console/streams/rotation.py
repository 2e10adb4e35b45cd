"""A new Password for a stream; the old one works on for a while."""

from datetime import timedelta
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from onlooker.console.streams.access import owned_stream
from onlooker.console.streams.forms import RotationForm
from onlooker.console.streams.password import show_password
from onlooker.console.streams.signed_in import PersonRequest, signed_in
from onlooker.streams.administration import RefusedError, rotate_access_token
from onlooker.streams.models import Stream


@signed_in("GET", "HEAD", "POST")
def rotate_password(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = owned_stream(request.user, client_id)
    form = RotationForm(request.POST or None)
    if form.is_valid():
        grace = timedelta(hours=form.hours)
        try:
            access_token = rotate_access_token(stream, grace=grace)
        except RefusedError as error:
            form.add_error(None, str(error))
        except Stream.DoesNotExist:
            raise Http404 from None  # removed this very moment
        else:
            return show_password(request, stream, access_token, old_ends_at=timezone.now() + grace)
    return render(request, "streams/rotate.html", {"stream": stream, "form": form})
