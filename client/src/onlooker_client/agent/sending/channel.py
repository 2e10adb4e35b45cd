"""One connection in a thread of its own, which sends one frame at a time."""

from __future__ import annotations

import json
import secrets
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Callable

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.agent.sending.link import DEADLINE_S
from onlooker_client.errors import LinkError, Refused
from onlooker_client.wire.connection import Connection
from onlooker_client.wire.transport import Transport, read_json, read_refusal

SERVICE = "/services/scene_analysis/1"


@dataclass(frozen=True)
class Uplink:
    """Where frames go, and with which credentials."""

    transport: Transport
    request: FrameRequest


@dataclass
class PendingFrame:
    """A frame in flight."""

    number: int
    body: bytes
    uplink: Uplink
    taken_at: float
    """Seconds of the monotonic clock."""
    is_fresh_needed: bool = False
    """Whether connections that were open before are not to be trusted: a router may have forgotten them."""
    shown: Any = None
    """Its pixels, where somebody wants to see them."""
    given_up: Drop | None = None
    """Why nobody waits for it any more."""
    answer: dict[str, Any] = field(default_factory=dict)
    error: LinkError | Refused | None = None


class Channel:
    """Takes one frame after another; each ends with a call of `finished`, from the channel's thread."""

    def __init__(self, finished: Callable[[Channel, PendingFrame], None]) -> None:
        self._finished = finished
        self._frames: SimpleQueue[PendingFrame | None] = SimpleQueue()
        self._connection: Connection | None = None
        self._uplink: Uplink | None = None
        threading.Thread(target=self._work, name="channel", daemon=True).start()

    def take(self, frame: PendingFrame) -> None:
        self._frames.put(frame)

    def cancel(self) -> None:
        """End what is in flight. The next frame opens another connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.cancel()

    def close(self) -> None:
        """After the frame that is in flight."""
        self._frames.put(None)

    def _work(self) -> None:
        while True:
            frame = self._frames.get()
            if frame is None:
                break
            self._exchange(frame)
            try:
                self._finished(self, frame)
            except Exception:  # noqa: BLE001 - the edge of a thread: a fault of ours must not cost the channel
                traceback.print_exc()
            del frame  # its pixels and bytes, while this waits for the next
        self._drop_connection()

    def _exchange(self, frame: PendingFrame) -> None:
        request = frame.uplink.request
        connection = self._connect(frame.uplink, is_fresh_needed=frame.is_fresh_needed)
        try:
            answer = connection.exchange("POST", request.path, request.headers, frame.body, timeout_s=DEADLINE_S)
            if answer.status >= 300:
                frame.error = read_refusal(answer)
            else:
                frame.answer = read_json(answer)
        except LinkError as error:
            frame.error = type(error)(*error.args)  # without its traceback, which would hold the frame in memory
        except Exception as error:  # noqa: BLE001 - the edge of a thread: whatever it was, the next frame goes on
            frame.error = LinkError(f"{type(error).__name__}: {error}")
        finally:
            if self._connection is not connection:
                connection.close()  # cancelled: it is of no use any more

    def _connect(self, uplink: Uplink, *, is_fresh_needed: bool) -> Connection:
        if self._uplink is not uplink or is_fresh_needed:
            self._drop_connection()
        connection = self._connection
        if connection is None:
            connection = self._connection = uplink.transport.open_connection()
            self._uplink = uplink
        return connection

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


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
