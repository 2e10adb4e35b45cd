"""A stream's Password: the one page that shows it, its rotation, and the deletion of expired ones."""

from datetime import datetime, timedelta
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.languages.locale_text import translate
from onlooker.console.streams.access import managed_stream
from onlooker.console.streams.connection import connection_context
from onlooker.console.streams.forms import RotationForm
from onlooker.console.streams.status import read_status
from onlooker.streams.administration import rotate_access_token
from onlooker.streams.models import AccessToken, Stream
from onlooker.streams.organisations import RefusedError

TOKEN_KEPT = timedelta(days=1)
"""How long an access token is kept after its end, so that somebody who looks into a complaint can still see it."""
AT_ONCE = 5000


def show_password(
    request: PersonRequest,
    stream: Stream,
    access_token: str,
    *,
    needs_card: bool = False,
    old_ends_at: datetime | None = None,
) -> HttpResponse:
    """The answer to the POST that created it. A reload leads to the stream's page, and no cache keeps this one."""
    context = connection_context(stream, access_token) | {
        "access_token": access_token,
        "old_ends_at": old_ends_at,
        "needs_card": needs_card,
        "status": read_status(stream),
    }
    answer = render(request, "streams/password.html", context)
    answer["Cache-Control"] = "no-store"
    return answer


@signed_in("GET", "HEAD", "POST")
def rotate_password(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """A new Password; the old one keeps working for a grace time."""
    stream = managed_stream(request.user, client_id)
    form = RotationForm(request.POST or None)
    if form.is_valid():
        grace = timedelta(hours=form.hours)
        try:
            with acting_as(account_actor(request.user.pk)):
                access_token = rotate_access_token(stream, grace=grace)
        except RefusedError as error:
            form.add_error(None, translate(error))
        except Stream.DoesNotExist:
            raise Http404 from None  # removed in the meantime
        else:
            return show_password(request, stream, access_token, old_ends_at=timezone.now() + grace)
    return render(request, "streams/rotate.html", {"stream": stream, "form": form})


def delete_expired_tokens(now: datetime | None = None) -> int:
    """A chore."""
    limit = (now or timezone.now()) - TOKEN_KEPT
    expired = AccessToken.objects.filter(expires_at__lt=limit).values("pk")[:AT_ONCE]
    return AccessToken.objects.filter(pk__in=expired).delete()[0]
