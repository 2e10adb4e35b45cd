"""A form sent twice has one result: the second click on a button finds what the first one created."""

from uuid import UUID

from django.core.cache import cache

from onlooker.console.accounts.models import Account
from onlooker.console.streams.access import visible_streams
from onlooker.streams.models import Stream

REMEMBER_S = 600


def remember_result(account: Account, key: UUID, stream: Stream) -> None:
    """The cache is a table, so it is written with the transaction that created the stream."""
    cache.set(_cache_key(account, key), str(stream.client_id), REMEMBER_S)


def find_result(account: Account, key: UUID) -> Stream | None:
    """The stream that an earlier click created, if it still exists."""
    client_id = cache.get(_cache_key(account, key))
    return visible_streams(account).filter(client_id=client_id).first() if client_id else None


def _cache_key(account: Account, key: UUID) -> str:
    return f"click:{account.pk}:{key}"
