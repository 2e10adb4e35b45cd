"""How many bytes of request bodies one gateway holds in memory, over all its requests."""

from onlooker.errors import overloaded


class BodyMemory:
    """A budget that requests share; what would go over it is refused."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self.held_bytes = 0

    def open(self) -> "Holding":
        return Holding(self)

    def change(self, by_bytes: int) -> None:
        if by_bytes > 0 and self.held_bytes + by_bytes > self._limit_bytes:
            raise overloaded("This gateway holds as many bytes of requests as it may. Send again in a moment.")
        self.held_bytes += by_bytes


class Holding:
    """What one request holds now."""

    def __init__(self, memory: BodyMemory) -> None:
        self._memory = memory
        self._bytes = 0

    def hold(self, size_bytes: int) -> None:
        """From now on this request holds so much; refused when all together would hold too much."""
        self._memory.change(size_bytes - self._bytes)
        self._bytes = size_bytes
