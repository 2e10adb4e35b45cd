"""Bytes that the server keeps for a while, for several jobs."""

from __future__ import annotations

from typing import Any

from onlooker_client.errors import LinkError
from onlooker_client.wire.attachments import Content, multipart_body, read_content
from onlooker_client.wire.transport import Repeat, Transport

__all__ = ["Blob", "Content", "create_blob"]


class Blob:
    """Made by `Client.create_blob`; give it to a job as its `image`."""

    def __init__(self, transport: Transport, url: str, *, expires_at: str | None = None) -> None:
        self._transport = transport
        self.url = url
        self.id = url.rstrip("/").rpartition("/")[2]
        self.expires_at = expires_at
        """Until when it is kept, as ISO 8601; None where the server does not say."""
        self._path = transport.path_of(url, otherwise=f"/blobs/{self.id}")

    def __repr__(self) -> str:
        return f"Blob({self.url!r})"

    def read(self) -> bytes:
        """Its bytes."""
        return self._transport.request("GET", self._path, repeat=Repeat.IF_LOST).body

    def delete(self) -> None:
        """Remove it from the server."""
        self._transport.request("DELETE", self._path, repeat=Repeat.IF_LOST)


def create_blob(transport: Transport, content: Content) -> Blob:
    body = multipart_body({"content": "attachment://content"}, {"content": read_content(content)})
    answer: dict[str, Any] = transport.request_json("POST", "/blobs", body, repeat=Repeat.IF_REFUSED)
    if not answer.get("url"):
        raise LinkError("The answer names no blob. Is this the address of an Onlooker server?")
    return Blob(transport, str(answer["url"]), expires_at=answer.get("expires_at"))
