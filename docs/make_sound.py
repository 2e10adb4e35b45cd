"""Generates a sound as two microphones hear it: noise from one direction, delayed at the farther microphone."""

import argparse
import array
import io
import math
import random
import sys
import wave
from pathlib import Path

RATE_HZ = 48_000
SPEED_OF_SOUND_M_S = 343.0
LOUDNESS = 6_000
QUIET = 600
"""Each microphone's own noise: 20 dB below the sound."""


def make_sound(*, yaw_degrees: float, baseline_m: float, seconds: float = 1.0) -> bytes:
    """A WAV file: 16-bit PCM, left before right; a positive yaw is towards the right microphone."""
    # The sound must be the same every time.
    dice = random.Random(1)  # noqa: S311
    delay = RATE_HZ * baseline_m * math.sin(math.radians(yaw_degrees)) / SPEED_OF_SOUND_M_S
    length = round(RATE_HZ * seconds)
    margin = math.ceil(abs(delay)) + 1
    source = [dice.gauss(0, LOUDNESS) for _ in range(length + 2 * margin)]
    frames = array.array("h")
    for moment in range(length):
        frames.append(_sample(source, moment + margin - delay / 2, dice))
        frames.append(_sample(source, moment + margin + delay / 2, dice))
    if sys.byteorder == "big":
        frames.byteswap()
    return as_wav(frames.tobytes())


def _sample(source: list[float], moment: float, dice: random.Random) -> int:
    """The source, interpolated between two samples, plus the microphone's own noise."""
    before = math.floor(moment)
    share = moment - before
    value = source[before] * (1 - share) + source[before + 1] * share + dice.gauss(0, QUIET)
    return round(max(-32_768, min(32_767, value)))


def as_wav(frames: bytes) -> bytes:
    held = io.BytesIO()
    with wave.open(held, "wb") as file:
        file.setparams((2, 2, RATE_HZ, 0, "NONE", ""))
        file.writeframes(frames)
    return held.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--yaw-degrees", type=float, default=30.0)
    parser.add_argument("--baseline", type=float, default=0.2, help="metres between the microphones")
    chosen = parser.parse_args()
    chosen.file.write_bytes(make_sound(yaw_degrees=chosen.yaw_degrees, baseline_m=chosen.baseline))


if __name__ == "__main__":
    main()
