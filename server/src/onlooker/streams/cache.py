"""A bounded cache of what was read from the database."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from onlooker.database import DATABASE_UNAVAILABLE

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True)
class _Remembered(Generic[Value]):
    value: Value
    read_at: float

    @property
    def age_s(self) -> float:
        return time.monotonic() - self.read_at


class BoundedCache(Generic[Key, Value]):
    """Reads a value again once it is old. While the database is away, a value may get somewhat older."""

    def __init__(self, *, size: int, remember_s: float, stale_limit_s: float) -> None:
        self._size = size
        self._remember_s = remember_s
        self._stale_limit_s = stale_limit_s
        self._known: OrderedDict[Key, _Remembered[Value]] = OrderedDict()
        self._reading: dict[Key, asyncio.Task[Value]] = {}
        self._outdated: set[Key] = set()
        """Dropped while they were read."""

    def __len__(self) -> int:
        return len(self._known)

    def age_s(self, key: Key) -> float:
        """The age of a cached value; 0 if there is none."""
        known = self._known.get(key)
        return known.age_s if known else 0.0

    def drop(self, key: Key) -> None:
        """It is read again when it is needed; what is being read now may be of before, and is not kept."""
        self._known.pop(key, None)
        if key in self._reading:
            self._outdated.add(key)

    def drop_where(self, is_dropped: Callable[[Value], bool]) -> None:
        """All of a kind. What is being read now may be of this kind and of before: none of it is kept."""
        for key in [key for key, known in self._known.items() if is_dropped(known.value)]:
            del self._known[key]
        self._outdated.update(self._reading)

    async def get(self, key: Key, read: Callable[[], Awaitable[Value]], *, remember_s: float | None = None) -> Value:
        known = self._known.get(key)
        if known and known.age_s < (self._remember_s if remember_s is None else remember_s):
            return known.value
        try:
            return await self._read_once(key, read)
        except DATABASE_UNAVAILABLE:
            if known and known.age_s < self._stale_limit_s:
                return known.value
            raise

    async def _read_once(self, key: Key, read: Callable[[], Awaitable[Value]]) -> Value:
        """Concurrent callers share one read."""
        task = self._reading.get(key)
        if task is None:
            task = self._reading[key] = asyncio.create_task(self._read(key, read))
            task.add_done_callback(lambda done: self._end(key, done))
        return await asyncio.shield(task)

    async def _read(self, key: Key, read: Callable[[], Awaitable[Value]]) -> Value:
        began_at = time.monotonic()
        value = await read()
        if key in self._outdated:
            return value
        self._known[key] = _Remembered(value, began_at)
        self._known.move_to_end(key)
        if len(self._known) > self._size:
            self._known.popitem(last=False)
        return value

    def _end(self, key: Key, task: asyncio.Task[Value]) -> None:
        del self._reading[key]
        self._outdated.discard(key)
        if not task.cancelled():
            task.exception()  # callers have it; retrieved here in case none is left
