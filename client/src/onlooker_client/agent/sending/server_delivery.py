"""Frames to the server: grey, small, JPEG, within the bandwidth, in one session."""

from __future__ import annotations

import time
import uuid
from typing import Any, Callable

from onlooker_client.agent.capture.timestamps import Timestamps, format_timestamp
from onlooker_client.agent.delivery import DeliveryObserver, PreparedFrame
from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.sending.channel import FrameRequest, Uplink
from onlooker_client.agent.sending.link import Bandwidth
from onlooker_client.agent.sending.sender import Sender
from onlooker_client.agent.sending.stream_watch import StreamWatch
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.client import Client
from onlooker_client.device.journal_file import default_folder
from onlooker_client.device.journal_remains import JournalRemains, open_remains
from onlooker_client.errors import OnlookerError
from onlooker_client.jpeg import JpegEncoder
from onlooker_client.sources.source import Picture

IN_FLIGHT_LIMIT_S = 2.0
END_LIMIT_S = 3.0


class ServerDelivery:
    """The server computes."""

    def __init__(
        self,
        options: AgentOptions,
        client: Client,
        tally: Tally,
        observer: DeliveryObserver,
        *,
        log: AgentLog,
        keeps_pixels: bool,
    ) -> None:
        self._options = options
        self._client = client
        self._tally = tally
        self._log = log
        self._keeps_pixels = keeps_pixels
        self._session_id = str(uuid.uuid4())
        self._encoder = JpegEncoder(options.width_px, options.height_px, options.quality, options.is_grey)
        self._bandwidth = Bandwidth(options.max_kbytes * 1000)
        self._timestamps = Timestamps()
        self._sender = Sender(self._uplink(), tally, observer)
        self._watch: StreamWatch | None = None
        """None where the command says where frames are computed."""
        self._remains: JournalRemains | None = None
        self.stale = ""

    def start(self, is_over: Callable[[], bool]) -> None:
        """Connections are opened with the first frame."""
        options, transport = self._options, self._client.transport
        if not options.is_compute_fixed:
            self._watch = StreamWatch(transport, options.compute, self._log)
        if options.is_stored:
            folder = options.journal.folder or default_folder(self._client.config.client_id or "")
            limit_bytes = options.journal.limit_bytes
            self._remains = open_remains(folder, transport, limit_bytes=limit_bytes, warn=self._log.warn_once)
        if self._remains:
            self._log.info("journal", "Visits that this device computed before are sent beside the frames.")

    def refusal(self, now: float) -> Drop | None:
        reason = self._sender.refusal(now)
        if reason is None and not self._bandwidth.has_room(now):
            return Drop.BANDWIDTH_CAP
        return reason

    def prepare(self, pixels: Any) -> PreparedFrame:
        scaled = self._encoder.scaled(pixels)
        return PreparedFrame(scaled, self._encoder.encode_scaled(scaled))

    def take(self, picture: Picture, frame: PreparedFrame, now: float) -> None:
        # Both clocks are read together, and the picture is a little older than that.
        age_s = max(0.0, time.time() - picture.taken_at)  # the clock may have been set back in between
        stamp = self._timestamps.stamp(picture.taken_at, time.monotonic() - age_s)
        self._bandwidth.spend(len(frame.image))
        self._sender.send(now, format_timestamp(stamp), frame.image, frame.scaled if self._keeps_pixels else None)

    def tick(self, now: float) -> None:
        self._sender.end_overdue(now)
        if self._watch:
            self._watch.tick(now)
            self.stale = self._watch.stale
        if self._remains:
            self._remains.tick(now)
            if self._remains.is_erased:
                self._remains = None
                self._log.info("journal", "The server has all visits of before. The journal is erased.")

    def use(self, client: Client) -> None:
        self._client = client
        self._sender.use(self._uplink())
        if self._watch:
            self._watch.use(client.transport)
        if self._remains:
            self._remains.use(client.transport)

    def limit_bandwidth(self, max_kbytes: float) -> None:
        self._bandwidth.bytes_per_second = max_kbytes * 1000

    def try_again(self) -> None:
        self._sender.try_again()

    def unix_s(self) -> float | None:
        return time.time()

    def health(self) -> dict[str, Any]:
        remains = self._remains
        return {"device": {"where": "computed on the server", "journal": remains.status()}} if remains else {}

    def close(self, *, source_ended: bool) -> None:
        self._sender.close(IN_FLIGHT_LIMIT_S)
        self.abandon()

    def abandon(self) -> None:
        self._end_session()
        remains, self._remains = self._remains, None
        if remains:
            remains.close()

    def _uplink(self) -> Uplink:
        transport = self._client.transport
        return Uplink(transport, FrameRequest(transport, self._session_id, self._options.fields))

    def _end_session(self) -> None:
        if not self._tally.read().answered:
            return
        path = self._uplink().request.session_path
        transport = self._client.transport
        connection = transport.open_connection()  # one from before may be dead, and there is no time to find out
        try:
            connection.exchange("DELETE", path, transport.headers(None), timeout_s=END_LIMIT_S)
        except OnlookerError as error:
            self._log.debug("session", f"The session ends by itself in a minute: {error}")
        finally:
            connection.close()
