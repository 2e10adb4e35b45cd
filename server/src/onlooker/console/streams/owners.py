"""What becomes of streams when their owner's account is disabled, or enabled again."""

from django.conf import settings
from django.db import transaction

from onlooker.console.accounts.models import Account
from onlooker.streams.administration import log_state
from onlooker.streams.models import Stream


@transaction.atomic
def log_states(owner: Account) -> None:
    """Write down that they stop or go on; in one order, each under its lock, as everybody does."""
    streams = Stream.objects.filter(owner=owner, removed_at=None).order_by("id")
    for stream in streams.select_for_update(no_key=True):
        log_state(stream.pk, quota_s=settings.ONLOOKER.developer_quota_s)
