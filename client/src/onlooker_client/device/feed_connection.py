"""One connection to the local feed: a request, then one answer or a stream of messages."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Callable

from onlooker_client.device.feed_request import (
    FeedRefusal,
    FeedRequest,
    parse_request,
    write_answer,
    write_head,
    write_refusal,
)
from onlooker_client.device.feed_trust import FeedTrust
from onlooker_client.device.feed_updates import FeedCounts, FeedLimits, FeedUpdates
from onlooker_client.device.web_socket import (
    CLOSE,
    GOING_AWAY,
    NORMAL,
    PING,
    PONG,
    TEXT,
    WebSocketClosed,
    accept_web_socket,
    read_frame,
    write_close,
    write_frame,
)

RETRY_MS = 1000
"""After which a browser opens the events again."""


@dataclass
class FeedConnection:
    """What one reader has to do with the feed; belongs to the feed's event loop."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    trust: FeedTrust
    updates: FeedUpdates
    limits: FeedLimits
    counts: FeedCounts

    async def serve(self) -> None:
        """Until either side ends it."""
        try:
            request = await self._read_request()
            await self._answer(request)
        except FeedRefusal as refusal:
            self.counts.refused[refusal.reason] += 1
            await self._write(write_refusal(refusal))

    async def _read_request(self) -> FeedRequest:
        try:
            head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), self.limits.head_s)
        except asyncio.LimitOverrunError:
            text = f"A request has at most {self.limits.head_bytes} bytes."
            raise FeedRefusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "malformed", text) from None
        except asyncio.TimeoutError:
            raise FeedRefusal(HTTPStatus.REQUEST_TIMEOUT, "malformed", "The request took too long.") from None
        return parse_request(head)

    async def _answer(self, request: FeedRequest) -> None:
        serve = {"/now": self._serve_now, "/events": self._serve_events, "/socket": self._serve_socket}
        peer, local = (self.writer.get_extra_info(name) for name in ("peername", "sockname"))
        if not peer:
            raise ConnectionResetError("hung up at once")
        addresses = {"peer": peer[0], "local": local[0]}
        if request.method == "OPTIONS":
            headers = self.trust.answer_preflight(request, **addresses)
            await self._write(write_answer(HTTPStatus.NO_CONTENT, headers=headers))
            return
        headers = self.trust.admit(request, **addresses)
        if request.path not in serve:
            raise FeedRefusal(HTTPStatus.NOT_FOUND, "unknown", "There are only /now, /events and /socket here.")
        if request.method != "GET":
            text = "The feed can only be read: send GET."
            raise FeedRefusal(HTTPStatus.METHOD_NOT_ALLOWED, "unknown", text, Allow="GET, OPTIONS")
        await serve[request.path](request, headers)

    async def _serve_now(self, _: FeedRequest, headers: dict[str, str]) -> None:
        told = {"Content-Type": "application/json", **headers}
        await self._write(write_answer(HTTPStatus.OK, self.updates.newest.text + b"\n", told))

    async def _serve_events(self, _: FeedRequest, headers: dict[str, str]) -> None:
        told = {"Content-Type": "text/event-stream", "Connection": "close", **headers}
        with self._place():
            await self._write(write_head(HTTPStatus.OK, told) + b"retry: %d\n\n" % RETRY_MS)
            # The other side has nothing more to say: whatever it says, and its end, is the end.
            await self._until_either(self._push(_as_event), self.reader.read(1))

    async def _serve_socket(self, request: FeedRequest, _: dict[str, str]) -> None:
        answered = asyncio.Event()
        code = GOING_AWAY
        with self._place():
            await self._write(accept_web_socket(request))
            try:
                await self._until_either(self._push(_as_frames, answered), self._listen(answered))
            except WebSocketClosed as closed:
                code = closed.code
            await self._write(write_close(code))

    async def _push(self, encode: Callable[[int, bytes], bytes], answered: asyncio.Event | None = None) -> None:
        """The newest message each time; the next one once the reader has this one.

        Over a WebSocket the reader answers a ping behind each message. What was merely sent may wait for minutes in
        the buffers of the other side.
        """
        sent = 0
        while (update := await self.updates.after(sent)) is not None:
            self.counts.skipped += update.number - sent - 1 if sent else 0
            sent = update.number
            try:
                await self._write(encode(sent, update.text))
                if answered is not None:
                    await asyncio.wait_for(answered.wait(), self.limits.stall_s)
                    answered.clear()
            except asyncio.TimeoutError:
                self.counts.stalled += 1
                self.counts.skipped += self.updates.newest.number - sent
                raise

    async def _listen(self, answered: asyncio.Event) -> None:
        """Always ends with WebSocketClosed."""
        while True:
            frame = await read_frame(self.reader)
            if frame.kind == CLOSE:
                raise WebSocketClosed(NORMAL)
            if frame.kind == PONG:
                answered.set()
            elif not self.writer.transport.get_write_buffer_size():  # one that takes nothing gets no answers either
                self.writer.write(write_frame(PONG, frame.payload))

    @staticmethod
    async def _until_either(*work: Coroutine[Any, Any, Any]) -> None:
        """Until one of them ends; raises what it raised."""
        tasks = [asyncio.ensure_future(one) for one in work]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """One of the places for readers; raises FeedRefusal if all are taken."""
        if self.counts.readers >= self.limits.readers:
            text = f"The feed has {self.limits.readers} readers already."
            raise FeedRefusal(HTTPStatus.SERVICE_UNAVAILABLE, "busy", text, Retry_After="5")
        self.counts.readers += 1
        try:
            yield
        finally:
            self.counts.readers -= 1

    async def _write(self, content: bytes) -> None:
        """Until the system has taken all of it."""
        self.writer.write(content)
        await asyncio.wait_for(self.writer.drain(), self.limits.stall_s)


def _as_event(_: int, text: bytes) -> bytes:
    return b"data: " + text + b"\n\n"


def _as_frames(number: int, text: bytes) -> bytes:
    return write_frame(TEXT, text) + write_frame(PING, b"%d" % number)
