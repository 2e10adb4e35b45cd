"""Ending a session at once."""

import uuid

from starlette.requests import Request
from starlette.responses import Response

from onlooker.errors import not_found
from onlooker.gateway.parts import id_of, parts_of, service_of, stream_of
from onlooker.gateway.requested import session_key


async def end_session(request: Request) -> Response:
    """Remove the state; the worker that holds it in memory notices at its next compare-and-set."""
    session_id: uuid.UUID = id_of(request, "session")
    parts = parts_of(request)
    key = session_key(stream_of(request), service_of(request), session_id)
    async with parts.turns.take(key):
        entry = await parts.sessions.get(key)
        if entry is None or not entry.value:
            raise not_found("session")
        await parts.sessions.remove(key)
    return Response(status_code=204)
