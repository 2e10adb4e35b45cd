"""Every service once on what it expects and on what it does not, before a process gives up the means to load code."""

import io
import math
import struct
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.resources import files
from typing import Any

from onlooker_pipeline.catalogue.service import Field, Service
from onlooker_pipeline.frame_time import time_frame
from onlooker_pipeline.service_call import Call, Compute, Sender, SessionMemory

SOUND_RATE, SOUND_S = 48_000, 0.2
SOUND = "sound"
BASELINE_M = 0.2


def warm_up(service: Service, compute: Compute, sender: Sender | None = None) -> None:
    """What the calls lead to does not matter. `sender` says what may be read; everything, if it is missing."""
    state, memory = None, SessionMemory()
    for number, attachments in enumerate(_inputs(service)):
        call = Call(
            {"store": True, "baseline": BASELINE_M},
            attachments,
            in_session=True,
            memory=memory,
            timed=time_frame(None, round((time.time() + number) * 1e6), None),
            sender=sender or Sender(),
        )
        with suppress(Exception):
            _, state = compute(call, state)


def _inputs(service: Service) -> Iterator[dict[str, bytes]]:
    examples: tuple[Callable[[Field], bytes], ...] = (_example, _example, lambda field: b"neither picture nor sound")
    for example in examples:
        yield {field.name: example(field) for field in service.media_fields}


def _example(field: Field) -> bytes:
    return make_recording() if field.name == SOUND else read_reference_picture()


def read_reference_picture() -> bytes:
    """A photograph of somebody."""
    return (files("onlooker_pipeline.vision") / "reference_person.jpg").read_bytes()


def make_recording() -> bytes:
    """A WAV file of two microphones: a chirp that reaches one of them later."""
    file: Any = io.BytesIO()
    with wave.open(file, "wb") as recording:
        recording.setnchannels(2)
        recording.setsampwidth(2)
        recording.setframerate(SOUND_RATE)
        samples = [round(20_000 * math.sin(place * place / 9_000)) for place in range(round(SOUND_RATE * SOUND_S))]
        for left, right in zip(samples[4:], samples, strict=False):
            recording.writeframesraw(struct.pack("<hh", left, right))
    return bytes(file.getvalue())
