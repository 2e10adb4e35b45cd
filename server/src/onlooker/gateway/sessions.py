"""Sessions: ending one at once."""

import uuid

from starlette.requests import Request
from starlette.responses import Response

from onlooker.bus.connection import publish_kept
from onlooker.bus.session_store import SessionState, decode_state, encode_state
from onlooker.bus.subjects import ended_subject
from onlooker.errors import not_found
from onlooker.gateway.context import context_of, id_of, service_of, stream_of
from onlooker.gateway.requests import session_key


async def end_session(request: Request) -> Response:
    """Remove the state and results; the worker that holds it in memory notices at its next compare-and-set."""
    session_id: uuid.UUID = id_of(request, "session")
    context, stream = context_of(request), stream_of(request)
    key = session_key(stream, service_of(request), session_id)
    async with context.turns.take(key):
        entry = await context.sessions.get(key)
        if entry is None or not entry.value:
            await context.sessions.destroy(key)  # what is left of it: results, or a try to end it that failed half-way
            raise not_found("session")
        last = _last_state(entry.value)
        if last:
            # First, so that visits that are still open are closed whatever happens to us.
            await publish_kept(context.bus, ended_subject(stream.id), encode_state(last))
        await context.sessions.remove(key)
    return Response(status_code=204)


def _last_state(value: bytes) -> SessionState | None:
    """What a recorder needs of the state to close its visits; None where there are none."""
    state = decode_state(value)
    if state is None or (state.visits is None and not state.outbox):
        return None
    return SessionState(state.last_seen, visits=state.visits, outbox=state.outbox)
