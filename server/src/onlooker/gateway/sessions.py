"""Ending a session at once."""

import uuid

from starlette.requests import Request
from starlette.responses import Response

from onlooker.bus.publishing import publish_kept
from onlooker.bus.session_state import decode_state
from onlooker.bus.subjects import ended_subject
from onlooker.errors import not_found
from onlooker.gateway.parts import id_of, parts_of, service_of, stream_of
from onlooker.gateway.requested import session_key


async def end_session(request: Request) -> Response:
    """Remove the state; the worker that holds it in memory notices at its next compare-and-set."""
    session_id: uuid.UUID = id_of(request, "session")
    parts, stream = parts_of(request), stream_of(request)
    key = session_key(stream, service_of(request), session_id)
    async with parts.turns.take(key):
        entry = await parts.sessions.get(key)
        if entry is None or not entry.value:
            raise not_found("session")
        if _has_visits(entry.value):
            # First, so that visits that are still open are closed whatever happens to us.
            await publish_kept(parts.bus, ended_subject(stream.id), entry.value)
        await parts.sessions.remove(key)
    return Response(status_code=204)


def _has_visits(value: bytes) -> bool:
    state = decode_state(value)
    return state is not None and (state.visits is not None or bool(state.outbox))
