"""Messages between a gateway or dispatcher and a worker."""

import enum
import time
from typing import Any

import msgspec

from onlooker_pipeline.service_call import FrameQuality, Sender
from onlooker_pipeline.versions import Versions


class Task(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One job on its way to a worker."""

    id: str
    service: str
    version: int
    params: dict[str, Any]
    attachments: dict[str, bytes]
    session: str | None
    """Key of the session's state, which also chooses the worker."""
    deadline: float
    """Unix time after which nobody waits for the answer, by the clock of the process that has the task."""
    request_id: str
    sent_at: float
    arrived_at: float = 0.0
    """When its request reached a gateway: a frame without a timestamp was taken then."""
    sender: Sender = Sender()
    left_s: float | None = None
    """Time until the deadline when it was sent, since clocks differ; none from a gateway of the release before."""
    trace: str = ""
    """Its place in a trace, as W3C's `traceparent`; empty where the job is not traced."""


class Outcome(enum.IntEnum):
    """How a worker answers a task."""

    DONE = 0
    BUSY = 1
    """Too many tasks wait here already."""
    LEAVING = 2
    """This worker is stopping; ask another."""
    NOT_KEPT = 3
    """The session's state, or visits in it, could not be stored; send the same task again."""
    KILLED = 4
    """The computing process ended while it had the task."""


class Reply(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A worker's answer; `result` is the JSON object the client gets."""

    outcome: Outcome
    result: bytes = b"{}"
    error_code: str | None = None
    video_s: float = 0.0
    """Computed video time that counts towards the stream's month."""
    queue_s: float = 0.0
    compute_s: float = 0.0
    revision: int = 0
    """Of the session's state that holds the result; 0 if none does."""
    kept_at: float = 0.0
    """When that was."""
    frame_at: float = 0.0
    """Unix time of the frame, by its timestamp or its arrival; 0 if the task had none."""
    skipped: str = ""
    """A `SkipReason` where the frame was not analysed."""
    blind: str = ""
    """A `PictureFault` where the camera saw nothing."""
    quality: FrameQuality | None = None
    """How well the frame could be looked at."""
    versions: Versions = Versions()
    """Of what computed it; only beside `quality`."""


encode_task = msgspec.msgpack.Encoder().encode
_decode_task = msgspec.msgpack.Decoder(Task).decode
encode_reply = msgspec.msgpack.Encoder().encode
decode_reply = msgspec.msgpack.Decoder(Reply).decode


def decode_task(payload: bytes) -> Task:
    """As it arrives; its deadline is by this process's clock."""
    task = _decode_task(payload)
    return msgspec.structs.replace(task, deadline=time.time() + task.left_s) if task.left_s is not None else task


def failure(code: str, sentence: str) -> bytes:
    """The result of a job that failed."""
    return msgspec.json.encode({"error": sentence, "error_code": code})
