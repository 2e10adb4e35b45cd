"""A recording computed on this device, as fast as it can; its visits go through a journal of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Callable

from onlooker_client.agent.business_hours import ALWAYS_OPEN, OpeningTimes, read_opening
from onlooker_client.agent.sending.backoff import STREAM_CLOSED
from onlooker_client.bulk.frames import VideoFrame
from onlooker_client.bulk.plan import VideoPlan
from onlooker_client.bulk.uploader import Answered, Stopped
from onlooker_client.client import Client
from onlooker_client.device.computation import COMPUTING_S, Computation
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.device_recorder import DeviceRecorder
from onlooker_client.device.journal import Journal
from onlooker_client.device.journal_file import default_folder
from onlooker_client.device.local_delivery import NOT_COMPUTED
from onlooker_client.errors import LinkError, OnlookerError

FOLDER = "films"
"""Beside the journal of the camera, which a running agent has open."""
PAUSE_S = 2.0
OUTSIDE_HOURS = {"error": "It was taken outside the stream's opening hours.", "error_code": STREAM_CLOSED}
POLL_S = 0.005


class FilmComputation:
    """Takes the place of an upload of frames; `finish` sends the visits."""

    def __init__(
        self,
        client: Client,
        plan: VideoPlan,
        options: ComputeOptions,
        *,
        opening: OpeningTimes = ALWAYS_OPEN,
        folder: Path | None = None,
    ) -> None:
        self.overtaken, self.longest_wait_s = 0, 0.0
        self.on_wait: Callable[[OnlookerError, float], None] = lambda error, waited_s: None
        self._plan = plan
        self._opening = opening
        self._answers: Queue[ComputedFrame] = Queue()
        self._is_stopped = threading.Event()
        journal = Journal(folder or default_folder(client.config.client_id or "") / FOLDER)
        self._recorder = DeviceRecorder(journal, client.transport, DeviceClock())
        self._computation = Computation(options, on_frame=self._answers.put)

    def answers(self, frames: Iterable[VideoFrame]) -> Iterator[Answered]:
        """Each frame with its answer, in order."""
        self._computation.start()
        for frame in frames:
            if self._is_stopped.is_set():
                break
            at_s = self._plan.moment(frame.seconds).timestamp()
            if self._opening.knows(at_s) and not self._opening.is_open(at_s):  # the server judges the others
                yield frame, OUTSIDE_HOURS
                continue
            computed = self._compute(frame)
            self._recorder.add(computed)
            yield frame, computed.result if not computed.refused else NOT_COMPUTED
        if self._is_stopped.is_set():
            raise Stopped("Stopped.")

    def stop(self) -> None:
        """From another thread or a signal."""
        self._is_stopped.set()

    def finish(self, patience_s: float) -> None:
        """Close the visits and send all; raises the reason where the server does not take them in time."""
        for frame in self._computation.close(source_ended=True):
            self._recorder.add(frame)
        began = time.monotonic()
        while not self._recorder.upload():
            waited_s = time.monotonic() - began
            error = self._recorder.upload_error
            if waited_s >= patience_s or self._is_stopped.is_set():
                raise error if isinstance(error, OnlookerError) else LinkError("The visits could not be sent.")
            self._is_stopped.wait(PAUSE_S)

    def close(self) -> None:
        self._computation.close()
        self._recorder.close()

    def _compute(self, frame: VideoFrame) -> ComputedFrame:
        while self._computation.refusal(time.monotonic()) is not None:
            time.sleep(POLL_S)
        self._computation.compute(frame.pixels, self._plan.moment(frame.seconds).timestamp())
        try:
            return self._answers.get(timeout=2 * COMPUTING_S)
        except Empty:
            raise OnlookerError("The computing process does not answer.") from None


def compute_film(client: Client, plan: VideoPlan, arguments: Any, stream: dict[str, Any]) -> FilmComputation:
    """As the stream is set."""
    options = read_compute_options(arguments, stream)
    return FilmComputation(client, plan, options, opening=read_opening(stream.get("opening")))


def read_compute_options(arguments: Any, stream: dict[str, Any]) -> ComputeOptions:
    """What the stream allows, and what the command says."""
    from onlooker_client.device.stream_settings import StreamSettings

    allowed = StreamSettings.of(stream)
    return ComputeOptions(
        reads_age=allowed.reads_age,
        reads_gender=allowed.reads_gender,
        reads_expression=allowed.reads_expression,
        reads_faces=allowed.reads_faces,
        camera_position=arguments.camera_position,
        is_confined=arguments.confinement == "on",
    )
