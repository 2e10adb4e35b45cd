"""A chore: deleting access tokens that have been dead for a while."""

from datetime import datetime, timedelta

from django.utils import timezone

from onlooker.streams.models import AccessToken

TOKEN_KEPT = timedelta(days=1)
"""How long an access token is kept after its end, so that somebody who looks into a complaint can still see it."""
AT_ONCE = 5000


def remove_dead_tokens(now: datetime | None = None) -> int:
    limit = (now or timezone.now()) - TOKEN_KEPT
    dead = AccessToken.objects.filter(expires_at__lt=limit).values("pk")[:AT_ONCE]
    return AccessToken.objects.filter(pk__in=dead).delete()[0]
