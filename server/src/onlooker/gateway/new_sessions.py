"""How many sessions a stream may begin: each takes room on the bus, which all streams share."""

from collections import OrderedDict

from onlooker.streams.rate_limit import RateLimit

SESSIONS_REMEMBERED = 50_000


class NewSessions:
    """Remembers sessions, so that only the first request of one counts; one that was forgotten counts again."""

    def __init__(self, *, per_second: float, burst: int) -> None:
        self._rates = RateLimit(per_second=per_second, burst=burst, what="sessions")
        self._known: OrderedDict[str, None] = OrderedDict()

    def permit(self, stream_id: int, session: str) -> None:
        """Raises `rate_limited`."""
        if session not in self._known:
            self._rates.take(stream_id)
            self._known[session] = None
            if len(self._known) > SESSIONS_REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(session)
