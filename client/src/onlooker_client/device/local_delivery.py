"""Frames to this device's own computing process; visits go into the journal, and from there to the server."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable

from onlooker_client.agent.delivery import DeliveryObserver, PreparedFrame
from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.client import Client
from onlooker_client.device.computation import Computation
from onlooker_client.device.compute_options import SERVER
from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.device_recorder import DeviceRecorder, RecorderOptions
from onlooker_client.device.feed import open_feed
from onlooker_client.device.journal import Journal
from onlooker_client.device.journal_file import default_folder
from onlooker_client.device.stream_settings import StreamSettings
from onlooker_client.errors import LinkError, Refused
from onlooker_client.jpeg import JpegEncoder
from onlooker_client.sources.source import Picture

OLDEST_S = 2.0
"""A picture that seems older was taken before the wall clock was set."""
COVERED_S = 1.0
"""For so long a frame stands for what follows; computing that takes longer leaves a gap."""
COMPARE_EVERY_S = 30.0
"""How often the stream's settings, which uploads read, are compared with those in use."""
COMPUTE_BUSY = "compute_busy"
NOT_COMPUTED = {"error": "The computing process failed on it.", "error_code": "failed"}


@dataclass
class LocalFrame:
    """The frame that is being computed."""

    taken_at: float
    shown: Any = None
    answer: dict[str, Any] = field(default_factory=dict)
    error: LinkError | Refused | None = None


class LocalDelivery:
    """This device computes: nothing is encoded, and no picture leaves it."""

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
        self._observer = observer
        self._log = log
        self._keeps_pixels = keeps_pixels
        self._encoder = JpegEncoder(options.width_px, options.height_px, grey=options.is_grey)
        self._clock = DeviceClock()
        self._recorder: DeviceRecorder | None = None
        """None where nothing is stored."""
        self._pending: LocalFrame | None = None
        self._computation: Computation | None = None
        self._feed: Any = None
        self._journal_status: dict[str, Any] = {}
        self._compared_at = float("-inf")
        self.stale = ""

    def start(self, is_over: Callable[[], bool]) -> None:
        options = self._options
        if options.is_stored:
            self._recorder = self._open_recorder()
        self._feed = open_feed(options.feed, camera_position=options.camera_position, is_grouped=options.is_grouped)
        self._computation = Computation(
            options.compute,
            state=self._recorder.session_state() if self._recorder else None,
            on_frame=self._take_answer,
            tell=lambda text: self._log.warn_once("computation", text),
        )
        self._computation.start(is_over)
        # What a waiting journal says of the settings is older than what this run began with: uploads read them first.
        self._compared_at = time.monotonic()
        if self._recorder:
            self._recorder.start()
        confined = "" if self._computation.is_confined else ", not confined"
        self._log.info("computation", f"Frames are computed here{confined}. No picture leaves this device.")

    def refusal(self, now: float) -> Drop | None:
        assert self._computation
        reason = self._computation.refusal(now)
        if reason is not None and self._recorder and self._computation.busy_s(now) > COVERED_S:
            self._recorder.add_refused(COMPUTE_BUSY, self._clock.stamp(now))
        return reason

    def prepare(self, pixels: Any) -> PreparedFrame:
        return PreparedFrame(self._encoder.scaled(pixels))

    def take(self, picture: Picture, frame: PreparedFrame, now: float) -> None:
        assert self._computation
        age_s = time.time() - picture.taken_at
        taken_at = now - age_s if 0.0 <= age_s <= OLDEST_S else now
        self._tally.send(0)
        self._pending = LocalFrame(now, frame.scaled if self._keeps_pixels else None)
        self._computation.compute(frame.scaled, self._clock.stamp(taken_at))

    def tick(self, now: float) -> None:
        if self._recorder is None:
            return
        self._recorder.tick(now)
        if now - self._compared_at >= COMPARE_EVERY_S:
            self._compared_at = now
            self.stale = self._find_change(self._recorder.settings())

    def use(self, client: Client) -> None:
        self._client = client
        if self._recorder:
            self._recorder.use(client.transport)

    def limit_bandwidth(self, max_kbytes: float) -> None:
        """Visits are a few bytes."""

    def try_again(self) -> None:
        """Uploads try again by themselves."""

    def unix_s(self) -> float | None:
        if self._recorder is None:  # which looks by itself, and must notice the change
            self._clock.look()
        now_ms = self._clock.now_ms()
        return None if now_ms is None else now_ms / 1000

    def health(self) -> dict[str, Any]:
        computation = self._computation
        said: dict[str, Any] = {
            "where": "computed here",
            "confined": computation is not None and computation.is_confined,
            "restarts": computation.restarts if computation else 0,
        }
        if self._options.is_stored:
            said["journal"] = self._recorder.status() if self._recorder else self._journal_status
        if self._feed:
            said["feed"] = self._feed.status()
        return {"device": said}

    def close(self, *, source_ended: bool) -> None:
        last = self._computation.close(source_ended=source_ended) if self._computation else []
        for frame in last:
            self._store(frame)
        if self._recorder:
            self._journal_status = self._recorder.status()
            self._recorder.close()
            self._recorder = None  # the last health report must not open it again
        if self._feed:
            self._feed.close()

    def abandon(self) -> None:
        self.close(source_ended=False)

    def _take_answer(self, frame: ComputedFrame) -> None:
        """From the thread of the computation; what reacts to people comes first."""
        if self._feed:
            self._feed.publish(frame)
        self._store(frame)
        if not (frame.result or frame.refused):
            return  # unasked: no frame came for long, so nobody is in view any more
        pending, self._pending = self._pending, None
        if pending is None:
            return
        if frame.refused:
            pending.answer = NOT_COMPUTED
            self._tally.lose(Drop.COMPUTATION_FAILED)
            self._observer.lost(pending, Drop.COMPUTATION_FAILED)
            return
        pending.answer = frame.result
        self._tally.answer()
        self._observer.answered(pending, latency_s=time.monotonic() - pending.taken_at)

    def _open_recorder(self) -> DeviceRecorder:
        wanted = self._options.journal
        folder = wanted.folder or default_folder(self._client.config.client_id or "")
        journal = Journal(folder, limit_bytes=wanted.limit_bytes, warn=self._warn)
        return DeviceRecorder(journal, self._client.transport, self._clock, RecorderOptions(warn=self._warn))

    def _find_change(self, said: dict[str, Any]) -> str:
        """Why this run is out of date; empty where it is not."""
        if not said:
            return ""
        now, used = StreamSettings.of(said), self._options.compute
        reads = (now.reads_age, now.reads_gender, now.reads_expression, now.reads_faces)
        if reads != (used.reads_age, used.reads_gender, used.reads_expression, used.reads_faces):
            return "What may be read from faces has changed."
        if self._feed and now.is_grouped != self._options.is_grouped:
            return "What the local feed may tell of people has changed."
        is_moved = now.compute == SERVER and "compute" in said and not self._options.is_compute_fixed
        return "The stream is now computed on the server." if is_moved else ""

    def _warn(self, event: str, text: str) -> None:
        self._log.warn_once(event, text)

    def _store(self, frame: ComputedFrame) -> None:
        if self._recorder and frame.at_ms:  # without a time, nothing has happened yet
            self._recorder.add(frame)
