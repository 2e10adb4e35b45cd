"""From an untrusted WAV file to samples: PCM 16 bit, 48 kHz, stereo, and nothing else."""

import struct
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.service_call import ComputeError

Samples: TypeAlias = NDArray[np.int16]
"""One row per stereo frame: left, right."""

RATE_HZ = 48_000
CHANNELS, BITS = 2, 16
FRAME_BYTES = CHANNELS * BITS // 8
CHUNK_LIMIT = 64
"""Files have about three chunks; a million empty ones would only cost time."""

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_UNKNOWN_SIZE = 0xFFFFFFFF
"""Written by recorders that do not know the length in advance."""
_PCM_SUBFORMAT = bytes.fromhex("0100000000001000800000aa00389b71")
_ENCODINGS = {_PCM: "PCM", _FLOAT: "floating point", 6: "A-law", 7: "mu-law", 0x55: "MP3"}


@dataclass(frozen=True)
class Format:
    """What the `fmt ` chunk says."""

    encoding: int
    channels: int
    rate_hz: int
    bits: int

    def __str__(self) -> str:
        encoding = _ENCODINGS.get(self.encoding, f"encoding {self.encoding}")
        return f"{encoding}, {self.bits} bit, {self.rate_hz} Hz, {self.channels} channel(s)"


NEEDED = Format(_PCM, CHANNELS, RATE_HZ, BITS)


def read_wav(data: bytes) -> Samples:
    """All stereo frames of a WAV file."""
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise _bad("is no WAV file")
    found: Format | None = None
    position = 12
    for _ in range(CHUNK_LIMIT):
        if position + 8 > len(data):
            break
        name, size = data[position : position + 4], int.from_bytes(data[position + 4 : position + 8], "little")
        position += 8
        if name == b"fmt ":
            found = _read_format(data[position : position + min(size, 40)])
        elif name == b"data":
            if found is None:
                raise _bad("has samples before their format is told")
            return _read_samples(data, position, size)
        position += size + size % 2
    raise _bad("has no samples: its `data` chunk is missing")


def _read_format(chunk: bytes) -> Format:
    if len(chunk) < 16:
        raise _bad("has a damaged header")
    encoding, channels, rate_hz, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if encoding == _EXTENSIBLE and chunk[24:40] == _PCM_SUBFORMAT:
        encoding = _PCM
    found = Format(encoding, channels, rate_hz, bits)
    if found != NEEDED:
        raise _bad(f"is {found}")
    return found


def _read_samples(data: bytes, position: int, size: int) -> Samples:
    present = len(data) - position
    if size == _UNKNOWN_SIZE:
        size = present - present % FRAME_BYTES
    if size > present:
        raise _bad(f"is cut off: {size} bytes of samples are promised and {present} are there")
    if size % FRAME_BYTES:
        raise _bad("is cut off inside a stereo frame")
    return np.frombuffer(data, "<i2", count=size // 2, offset=position).reshape(-1, CHANNELS)


def _bad(complaint: str) -> ComputeError:
    return ComputeError("bad_sound", f"The sound {complaint}. Send a whole WAV file: PCM, 16 bit, 48000 Hz, stereo.")
