"""What a person did a moment ago: a second click on the same button finds what the first one did."""

from uuid import UUID

from django.core.cache import cache

from onlooker.console.accounts.models import Account
from onlooker.console.streams.access import visible_streams
from onlooker.streams.models import Stream

REMEMBER_S = 600


def remember_click(account: Account, key: UUID, stream: Stream) -> None:
    """In the database, with the transaction that did it."""
    cache.set(_place(account, key), str(stream.client_id), REMEMBER_S)


def find_click(account: Account, key: UUID) -> Stream | None:
    """What came of it, if it is still there."""
    client_id = cache.get(_place(account, key))
    return visible_streams(account).filter(client_id=client_id).first() if client_id else None


def _place(account: Account, key: UUID) -> str:
    return f"click:{account.pk}:{key}"
