"""Many crops in a few calls of a net: batches, but no larger than memory likes."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
BATCH = 16


def in_batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]
