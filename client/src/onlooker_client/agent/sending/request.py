"""The request that carries one frame: what never changes is built once."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from onlooker_client.wire.transport import Transport

SERVICE = "/services/scene_analysis/1"


class FrameRequest:
    """Requests of one session to one server."""

    def __init__(self, transport: Transport, session_id: str, fields: Mapping[str, Any]) -> None:
        boundary = secrets.token_hex(16)
        self.path = f"{SERVICE}/jobs"
        self.session_path = f"{SERVICE}/sessions/{session_id}"
        self.headers = transport.headers(f"multipart/form-data; boundary={boundary}")
        self.plain_headers = transport.headers(None)
        meta = {"image": "attachment://frame", "async": False, "state": {"session_id": session_id}, **fields}
        said = json.dumps(meta)
        self._head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="meta"\r\nContent-Type: application/json\r\n\r\n'
            f'{said[:-1]}, "timestamp": "'
        ).encode()
        self._middle = (
            f'"}}\r\n--{boundary}\r\nContent-Disposition: form-data; name="attachment://frame"; filename="frame"\r\n'
            "Content-Type: image/jpeg\r\n\r\n"
        ).encode()
        self._tail = f"\r\n--{boundary}--\r\n".encode()

    def body(self, timestamp: str, image: bytes) -> bytes:
        return b"".join((self._head, timestamp.encode("ascii"), self._middle, image, self._tail))
