"""The computing process of a device: a camera's pixels into people and visits, with no network, file or program.

It needs onlooker-pipeline and onlooker-models, so Python 3.11 or later; the agent that starts it needs neither.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import traceback
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

import msgspec

from onlooker_client.device.compute_messages import (
    COMPUTED,
    FAILED,
    FINISH,
    FRAME,
    IDLE,
    LAST,
    LENGTH_BYTES,
    PIXELS_LIMIT_BYTES,
    READY,
    ComputeMessage,
    encode_head,
    read_message,
)
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.sources.camera_confinement import end_with_parent

STATE_EVERY_S = 1.0
"""The most that an open visit loses with this process, or with the power."""
QUIET_STATE_EVERY_S = 15.0
"""The same while nobody is there: a memory card is not written to for nothing."""
NICENESS = 5
"""Computing comes second to what is on the screen."""
FAULT_LIMIT_CHARACTERS = 2000
BEGAN_AT = datetime(1970, 1, 1, tzinfo=timezone.utc)


class ComputeProgram:
    """Answers one message after another, until the agent closes the socket."""

    def __init__(self, channel: int, options: ComputeOptions, state: bytes) -> None:
        from onlooker_pipeline.scene_session import SceneSession
        from onlooker_pipeline.versions import read_versions

        self._channel = channel
        self._read = partial(read_exactly, channel)
        self._options = options
        self._session = SceneSession(
            reads_age=options.reads_age,
            reads_gender=options.reads_gender,
            reads_expression=options.reads_expression,
            reads_faces=options.reads_faces,
            camera_position=options.camera_position,
            idle_s=options.idle_s,
            has_own_clock=True,
        )
        self.is_restored = bool(state) and self._session.restore_state(state)
        self._versions = read_versions()._asdict()
        self._at_ms = 0
        """Of the last frame."""
        self._is_idle = not self.is_restored
        self._sent_at = float("-inf")
        """When the state was last sent."""

    def serve(self) -> None:
        waiting = select.poll()
        waiting.register(self._channel, select.POLLIN)
        while True:
            if not waiting.poll(None if self._is_idle else self._options.idle_s * 1000):
                self._end_idle()
                continue
            message = read_message(self._read, attached_at_most=PIXELS_LIMIT_BYTES)
            if message.kind == FRAME:
                self._compute(message)
            else:
                self._end(message.kind)

    def _compute(self, message: ComputeMessage) -> None:
        import numpy
        from onlooker_pipeline.frame_time import as_milliseconds

        self._at_ms, self._is_idle = as_milliseconds(message.said["at_us"]), False
        said: dict[str, Any] = {"number": message.said["number"], "at_ms": self._at_ms}
        try:
            picture = numpy.frombuffer(message.attached, numpy.uint8).reshape(message.said["shape"])
            taken_at = BEGAN_AT + timedelta(microseconds=message.said["at_us"])
            frame = self._session.add_frame(picture, taken_at)
        except Exception:  # noqa: BLE001 - whatever a picture does, the next one is computed
            fault = traceback.format_exc()[-FAULT_LIMIT_CHARACTERS:]
            self._say(ComputeMessage(COMPUTED, {**said, "refused": "failed", "fault": fault}))
            return
        visits = [describe_visit(visit) for visit in frame.visits]
        said |= {"result": frame.result, "visits": visits, "video_s": frame.video_s}
        said |= {"blind": frame.blind or "", "refused": frame.skipped or ""}
        if frame.quality:
            said["quality"] = {"is_dark": frame.quality.is_dark, "face_bins": frame.quality.face_bins, **self._versions}
        self._say(ComputeMessage(COMPUTED, said, self._due_state(has_visits=bool(visits))))

    def _due_state(self, *, has_visits: bool) -> bytes:
        """With every visit, so that a revision which the server has taken is never given again with other content."""
        every_s = STATE_EVERY_S if self._session.has_people else QUIET_STATE_EVERY_S
        now = time.monotonic()
        if not has_visits and now - self._sent_at < every_s:
            return b""
        self._sent_at = now
        return bytes(self._session.export_state())

    def _end_idle(self) -> None:
        """No frame came for long: nobody knows any more who is there."""
        self._is_idle = True
        visits = [describe_visit(visit) for visit in self._session.end_idle()]
        self._say(ComputeMessage(IDLE, self._closed(visits), self._session.export_state()))

    def _end(self, kind: str) -> None:
        visits = [describe_visit(visit) for visit in self._session.close()] if kind == FINISH else []
        self._say(ComputeMessage(LAST, self._closed(visits), self._session.export_state()))

    def _closed(self, visits: list[dict[str, Any]]) -> dict[str, Any]:
        return {"number": 0, "at_ms": self._at_ms or _ended_ms(visits), "visits": visits}

    def _say(self, message: ComputeMessage) -> None:
        said = {**message.said, "kind": message.kind, "attached_bytes": len(message.attached)}
        body = msgspec.json.encode(said)
        write_all(self._channel, len(body).to_bytes(LENGTH_BYTES, "big") + body + message.attached)


def describe_visit(visit: Any) -> dict[str, Any]:
    """As the wire has it: what is unknown or empty is left out."""
    said: dict[str, Any] = {
        "id": visit.id.hex(),
        "revision": visit.revision,
        "ended": visit.ended,
        "present": [list(pair) for pair in visit.present],
        "still": [list(pair) for pair in visit.still],
        "looking": [list(pair) for pair in visit.looking],
        "age": visit.age,
        "age_confidence": visit.age_confidence,
        "gender": visit.gender,
        "gender_confidence": visit.gender_confidence,
        "expression": list(visit.expression) if visit.expression else None,
        "confidence": visit.confidence,
    }
    return {name: value for name, value in said.items() if value or name == "ended"}


def read_exactly(channel: int, length: int) -> bytes:
    got = bytearray()
    while len(got) < length:
        piece = os.read(channel, length - len(got))
        if not piece:
            os._exit(0)  # the agent is gone
        got += piece
    return bytes(got)


def write_all(channel: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(channel, rest) :]


def _ended_ms(visits: list[dict[str, Any]]) -> int:
    return max((visit["present"][-1][1] for visit in visits), default=0)


def start(channel: int, options: ComputeOptions, state: bytes) -> None:
    """Load, warm up, give everything up, and serve."""
    from onlooker_pipeline.catalogue import scene_analysis
    from onlooker_pipeline.confinement import forgo_calls, forgo_files, require_confinement
    from onlooker_pipeline.model_runtime import check_models, require_models
    from onlooker_pipeline.service_call import Sender
    from onlooker_pipeline.services.scene_analysis import compute
    from onlooker_pipeline.vision.networks import load_networks
    from onlooker_pipeline.warm_up import warm_up

    require_models([scene_analysis.SERVICE])
    check_models()
    models = scene_analysis.SERVICE.models if options.reads_faces else scene_analysis.BODY_MODELS
    load_networks(models, provider=options.provider, threads=options.threads)
    warm_up(scene_analysis.SERVICE, compute, Sender(reads_faces=options.reads_faces))
    program = ComputeProgram(channel, options, state)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # it ends with its agent
    if options.is_confined:
        require_confinement()
    _silence()
    with suppress(OSError):
        os.nice(NICENESS)
    if options.is_confined:
        forgo_files(keep=[channel], memory_bytes=options.memory_bytes)
        forgo_calls()
    ready = {"confined": options.is_confined, "restored": program.is_restored}
    write_all(channel, encode_head(ComputeMessage(READY, ready)))
    program.serve()


def _silence() -> None:
    """What libraries print would be in the agent's log."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)


def explain_failure(error: BaseException) -> str:
    """Why it does not start, and the remedy."""
    from onlooker_pipeline.landlock import ConfinementUnavailable
    from onlooker_pipeline.model_runtime import ModelsUnavailable

    if isinstance(error, ConfinementUnavailable):
        return (
            f"The computing process can't be confined here: {error}. Unconfined, it can do all that this user can. "
            "To run it all the same: --confinement off"
        )
    if isinstance(error, ModelsUnavailable):
        return f"The models can't be used: {error}"
    return f"The computing process does not start: {type(error).__name__}: {error}"


def main() -> None:
    end_with_parent()
    channel = int(sys.argv[1])
    order = read_message(partial(read_exactly, channel), attached_at_most=PIXELS_LIMIT_BYTES)
    try:
        start(channel, ComputeOptions.of(order.said), bytes(order.attached))
    except Exception as error:  # noqa: BLE001 - the edge of the process: the agent says what it was
        failed = {"why": explain_failure(error)[:FAULT_LIMIT_CHARACTERS]}
        with suppress(OSError):
            write_all(channel, encode_head(ComputeMessage(FAILED, failed)))
        sys.exit(1)


if __name__ == "__main__":
    main()
