"""What a worker hands its sightings to, and what a recorder closes a session with."""

from collections.abc import Sequence

import msgspec

from onlooker.bus.session_state import SessionState
from onlooker.compute.sightings import Seen
from onlooker.visits.folding import Folded, close_all, decode_folded, encode_folded, fold
from onlooker.visits.visit import Visit, decode_visit, encode_visit

UNREADABLE = (msgspec.MsgspecError, TypeError, ValueError, LookupError, OverflowError)
"""What bytes that no worker of ours wrote may raise when they are read."""


class VisitSink:
    """Folds sightings to visits; what it remembers goes with the session's state."""

    def fold(
        self, remembered: bytes | None, seen: Sequence[Seen], *, stream_id: int, session: str
    ) -> tuple[bytes | None, list[bytes]]:
        """What to remember now, and the encoded visits that must be published."""
        if remembered is None and not any(one.settled or one.unsettled for one in seen):
            return None, []
        folded = decode_folded(remembered) or Folded(stream_id, session)
        newest: dict[bytes, Visit] = {}
        for one in seen:
            folded, visits = fold(folded, one)
            newest |= {visit.id: visit for visit in visits}
        return encode_folded(folded), [encode_visit(visit) for visit in newest.values()]

    def close(self, remembered: bytes | None) -> list[bytes]:
        """The encoded last visits of a session that is over."""
        folded = decode_folded(remembered)
        return [encode_visit(visit) for visit in close_all(folded)] if folded else []


def last_visits(state: SessionState) -> list[Visit]:
    """All that a session's last state still has to say once it is over: unpublished visits, then the closed ones."""
    folded = decode_folded(state.visits)
    return [*map(decode_visit, state.outbox), *(close_all(folded) if folded else [])]
