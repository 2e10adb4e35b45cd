"""Room that all requests of a gateway share: bytes of bodies, jobs in progress, requests in progress."""

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.types import Scope

from onlooker.errors import Code, Problem, overloaded
from onlooker.settings import Settings


@dataclass(frozen=True)
class Holder:
    """For whom room is held."""

    stream_id: int
    address: str | None
    """None: not known, because a proxy is in between."""


class SharedRoom:
    """One stream may have a part of it, one address a larger part, all together no more than all."""

    def __init__(self, limit: int, what: str, *, settings: Settings) -> None:
        self._limit = limit
        self._what = what
        self._per_stream = max(1, math.floor(limit * settings.stream_share))
        self._per_address = max(1, math.floor(limit * settings.address_share))
        self._by_stream: Counter[int] = Counter()
        self._by_address: Counter[str] = Counter()
        self.held = 0

    def open(self, holder: Holder) -> "Holding":
        return Holding(self, holder)

    @contextmanager
    def holding(self, holder: Holder, amount: int = 1) -> Iterator[None]:
        self.change(holder, amount)
        try:
            yield
        finally:
            self.change(holder, -amount)

    def change(self, holder: Holder, by: int) -> None:
        """Refuses what would be too much; giving back always works."""
        if by > 0:
            self._check(holder, by)
        self.held += by
        _add(self._by_stream, holder.stream_id, by)
        if holder.address is not None:
            _add(self._by_address, holder.address, by)

    def _check(self, holder: Holder, by: int) -> None:
        if self.held + by > self._limit:
            raise overloaded(f"This gateway has as many {self._what} as it may. Send less, or again in a moment.")
        if self._by_stream[holder.stream_id] + by > self._per_stream:
            raise _over_share(f"This stream has as many {self._what} as it may")
        if holder.address is not None and self._by_address[holder.address] + by > self._per_address:
            raise _over_share(f"Your address has as many {self._what} as it may")


class Holding:
    """What one request holds now."""

    def __init__(self, room: SharedRoom, holder: Holder) -> None:
        self._room = room
        self._holder = holder
        self._amount = 0

    def hold(self, amount: int) -> None:
        """From now on this request holds so much; refused where that is too much."""
        self._room.change(self._holder, amount - self._amount)
        self._amount = amount


def _add(counter: Counter, key: object, by: int) -> None:  # type: ignore[type-arg]
    counter[key] += by
    if not counter[key]:
        del counter[key]


def _over_share(what: str) -> Problem:
    sentence = f"{what}, so that there is room for others. Send less, or again in a moment."
    return Problem(Code.RATE_LIMITED, sentence, headers={"Retry-After": "1"})


def address_of(scope: Scope) -> str | None:
    """The client's address; of a proxy on this machine that we were not told to trust it says nothing."""
    client = scope.get("client")
    if client is None or (scope["scheme"] == "http" and client[0].startswith(("127.", "::1"))):
        return None
    return str(client[0])
