"""One version of a service: jobs that answer at once, jobs for later, and sessions."""

from __future__ import annotations

import threading
from datetime import datetime, timezone
from typing import Any, Union
from urllib.parse import quote

from onlooker_client.blob import Blob, Content
from onlooker_client.errors import BadArgument
from onlooker_client.job import Job, checked_result
from onlooker_client.session import Session
from onlooker_client.wire.attachments import Body, media_body
from onlooker_client.wire.transport import Repeat, Transport

Timestamp = Union[datetime, str]
Media = Union[Content, Blob]
WITH_TIMESTAMPS = ("scene_analysis",)
"""Services that follow people through time: without a timestamp, the moment of sending counts."""


class Service:
    """Made by `Client.service`."""

    def __init__(self, transport: Transport, name: str, version: int) -> None:
        self.transport = transport
        self.name = name
        self.version = version
        self.path = f"/services/{quote(name, safe='')}/{int(version)}"
        self._said: dict[str, Any] | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Service({self.name!r}, {self.version})"

    def describe(self) -> dict[str, Any]:
        """What the server says of it; asked once."""
        with self._lock:
            if self._said is None:
                self._said = self.transport.request_json("GET", self.path, repeat=Repeat.IF_LOST)
            return self._said

    @property
    def description(self) -> str:
        return str(self.describe().get("description", ""))

    @property
    def jobs_path(self) -> str:
        """Where jobs are created: as the server says, or below this service."""
        below = f"{self.path}/jobs"
        return self.transport.path_of(str(self.describe().get("jobs") or below), otherwise=below)

    def process(
        self,
        image: Media | None = None,
        timestamp: Timestamp | None = None,
        *,
        raise_errors: bool = True,
        timeout_s: float | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """Compute now, and give the result.

        `image` (and `sound`) are bytes, a path, an open file, a Blob or the URL of one. Other fields go to the service
        as they are: `store=True`, `echo="..."`. A result with `error` raises ComputationFailed, unless told otherwise.
        """
        answer = self._create(fields, image, timestamp, is_async=False, timeout_s=timeout_s)
        return checked_result(answer) if raise_errors else answer

    def submit(
        self,
        image: Media | None = None,
        timestamp: Timestamp | None = None,
        *,
        timeout_s: float | None = None,
        **fields: Any,
    ) -> Job:
        """Have it computed later; `Job.wait` gives the result."""
        answer = self._create(fields, image, timestamp, is_async=True, timeout_s=timeout_s)
        return Job(self.transport, answer, jobs_path=f"{self.path}/jobs")

    def session(self, session_id: str | None = None) -> Session:
        """Requests that belong together, such as the frames of one camera."""
        return Session(self, session_id)

    def _create(
        self,
        fields: dict[str, Any],
        image: Media | None,
        timestamp: Timestamp | None,
        *,
        is_async: bool,
        timeout_s: float | None,
    ) -> dict[str, Any]:
        body = self.body(fields, image, timestamp, is_async=is_async)
        how = {"repeat": Repeat.IF_REFUSED, "timeout_s": timeout_s}
        return self.transport.request_json("POST", self.jobs_path, body, **how)

    def body(
        self,
        fields: dict[str, Any],
        image: Media | None = None,
        timestamp: Timestamp | None = None,
        *,
        is_async: bool = False,
    ) -> Body:
        """A job as it is sent."""
        said = {**fields, "async": is_async}
        if image is not None:
            said["image"] = image
        if timestamp is None and self.name in WITH_TIMESTAMPS:
            timestamp = datetime.now(timezone.utc)
        if timestamp is not None:
            said["timestamp"] = timestamp_text(timestamp)
        return media_body({name: value.url if isinstance(value, Blob) else value for name, value in said.items()})


def timestamp_text(timestamp: Timestamp) -> str:
    """As the server takes it: ISO 8601, with a UTC offset."""
    if isinstance(timestamp, str):
        return timestamp
    if timestamp.utcoffset() is None:
        raise BadArgument(
            "The timestamp has no time zone. Use datetime.now(timezone.utc), or timestamp.astimezone() for local time."
        )
    return timestamp.isoformat()
