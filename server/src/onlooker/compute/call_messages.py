"""What a worker and its computing process say to each other; an answer is a stranger's word, so it is bounded."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from onlooker_pipeline.frame_time import FrameTime
from onlooker_pipeline.service_call import FrameQuality, PictureFault, Sender, SkipReason
from onlooker_pipeline.visits.sightings import Seen

RESULT_LIMIT_BYTES = 1024**2
ANSWER_LIMIT_BYTES = 4 * 1024**2
FAULT_LIMIT_CHARACTERS = 8_000
FRAMES_AT_MOST, PEOPLE_AT_MOST = 1_000, 200
"""Of one answer; a scene has at most 100 people, and judges the frames of two seconds."""
SEEN_BACK_MS = 10_000
"""How far before its frame, and before the session's last one, an answer may tell of people."""
LENGTH_BYTES = 4
"""Of the number before each message that says how long it is."""


class CallMessage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call on its way to the computing process."""

    number: int
    service: str
    version: int
    params: dict[str, Any]
    attachments: dict[str, bytes]
    in_session: bool
    memory: int
    """Which memory of the computing process belongs to the session; 0: none."""
    arrived_at: float
    sender: Sender
    time: FrameTime
    previous_ms: int
    """Unix time of the session's last frame, or of this one."""
    state: Any = None
    idle_state: Any = None


class CallAnswer(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the computing process makes of a call."""

    number: int
    result: Annotated[bytes, Meta(max_length=RESULT_LIMIT_BYTES)]
    """The JSON object that the client gets."""
    error_code: Annotated[str, Meta(max_length=60, pattern="^[a-z0-9_]+$")] | None = None
    state: Any = None
    seen: Annotated[list[Seen], Meta(max_length=3)] = []
    skipped: SkipReason | None = None
    compute_s: Annotated[float, Meta(ge=0)] = 0.0
    cpu_s: Annotated[float, Meta(ge=0)] = 0.0
    """What it took of a core, which does not depend on who else is busy."""
    fault: Annotated[str, Meta(max_length=FAULT_LIMIT_CHARACTERS)] = ""
    """For the log: why the service failed as it should not."""
    blind: PictureFault | None = None
    """Why the camera sees nothing."""
    quality: FrameQuality | None = None
    """How well the frame could be looked at; None where a service does not say."""


class Ready(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The first message of a computing process: its models are loaded, and it has given everything up."""

    confined: bool


class Untrue(Exception):
    """An answer that can't be true."""


_encode = msgspec.msgpack.Encoder().encode
decode_call = msgspec.msgpack.Decoder(CallMessage).decode
decode_ready = msgspec.msgpack.Decoder(Ready).decode
_decode_answer = msgspec.msgpack.Decoder(CallAnswer).decode
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def encode_message(message: CallMessage | CallAnswer | Ready) -> bytes:
    body = _encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def decode_answer(body: bytes, call: CallMessage) -> CallAnswer:
    """The answer to this call; raises Untrue where it can't be one."""
    try:
        answer = _decode_answer(body)
        answer.result.decode()  # valid UTF-8: the decoder does not look into the members
        _decode_object(answer.result)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Untrue(str(error)) from None
    if answer.number != call.number:
        raise Untrue("an answer to another call")
    for seen in answer.seen:
        _check_seen(seen, call)
    return answer


def _check_seen(seen: Seen, call: CallMessage) -> None:
    frames = [*seen.settled, *seen.unsettled]
    if len(frames) > FRAMES_AT_MOST or max(len(seen.estimates), len(seen.ended)) > PEOPLE_AT_MOST:
        raise Untrue("too many frames or people")
    people = {*seen.estimates, *seen.ended, *(one.person for frame in frames for one in frame.sightings)}
    if any(len(person) != 16 for person in people):
        raise Untrue("an id of a person is not a UUID")
    if any(len(frame.sightings) > PEOPLE_AT_MOST for frame in frames):
        raise Untrue("too many people in a frame")
    first_ms, last_ms = sorted((call.time.at_ms, call.previous_ms))
    if any(not first_ms - SEEN_BACK_MS <= frame.at_ms <= last_ms for frame in frames):
        raise Untrue("a frame of another time")
