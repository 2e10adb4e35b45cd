"""How many synchronous jobs one gateway has under way at most."""

from types import TracebackType

from onlooker.errors import overloaded


class Places:
    """`with places:` takes one, or refuses."""

    def __init__(self, limit: int) -> None:
        self._free = limit

    def __enter__(self) -> None:
        if self._free <= 0:
            raise overloaded("This gateway has as many jobs under way as it may. Send less, or add workers.")
        self._free -= 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._free += 1
