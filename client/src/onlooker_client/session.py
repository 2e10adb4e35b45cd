"""Requests that belong together: the server follows people through the frames of one session."""

from __future__ import annotations

import uuid
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from onlooker_client.errors import BadArgument, BadRequest, OnlookerError
from onlooker_client.wire.transport import Repeat

if TYPE_CHECKING:
    from onlooker_client.job import Job
    from onlooker_client.service import Media, Service, Timestamp

END_LIMIT_S = 5.0


class Session:
    """Made by `Service.session`; the server begins it with the first request, and ends it after 60 idle seconds."""

    def __init__(self, service: Service, session_id: str | None = None) -> None:
        self.service = service
        try:
            self.id = str(uuid.UUID(session_id)) if session_id else str(uuid.uuid4())
        except ValueError:
            raise BadArgument("The id of a session must be a UUID. Leave it out to have one created.") from None

    def __repr__(self) -> str:
        return f"Session({self.service!r}, {self.id!r})"

    @property
    def state(self) -> dict[str, str]:
        """What every request of the session carries."""
        return {"session_id": self.id}

    @property
    def path(self) -> str:
        return f"{self.service.path}/sessions/{self.id}"

    def process(
        self,
        image: Media | None = None,
        timestamp: Timestamp | None = None,
        *,
        raise_errors: bool = True,
        timeout_s: float | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """As `Service.process`, within this session."""
        how: dict[str, Any] = {"raise_errors": raise_errors, "timeout_s": timeout_s, "state": self.state}
        return self.service.process(image, timestamp, **how, **fields)

    def submit(
        self,
        image: Media | None = None,
        timestamp: Timestamp | None = None,
        *,
        timeout_s: float | None = None,
        **fields: Any,
    ) -> Job:
        """As `Service.submit`, within this session."""
        how: dict[str, Any] = {"timeout_s": timeout_s, "state": self.state}
        return self.service.submit(image, timestamp, **how, **fields)

    def end(self, *, timeout_s: float = END_LIMIT_S) -> None:
        """End it at once. One that has ended by itself is none to worry about."""
        try:
            self.service.transport.request("DELETE", self.path, repeat=Repeat.IF_LOST, timeout_s=timeout_s)
        except BadRequest as refused:
            if refused.status not in (404, 405):  # historic servers have no such method
                raise

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OnlookerError):  # it ends by itself in a minute, and what went wrong before matters more
            self.end()
