"""How well `sound_localization` tells the yaw of synthesised sources, in noise, in a room, and two at once."""

import io
import math
import wave
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.lib.figures import Figure
from onlooker_pipeline.service_call import Call
from onlooker_pipeline.services.sound_localization import compute

Signal: TypeAlias = NDArray[np.float64]
RATE_HZ = 48_000
SOUND_M_PER_S = 343.0
BASELINES_M = (0.14, 0.3, 0.6, 1.0)
SECONDS = 1.0
SEEDS = 4
"""For each kind of sound and each baseline."""


def measure() -> list[Figure]:
    figures = [figure for decibels in (20, 10, 0) for figure in _in_noise(decibels)]
    return [*figures, *_in_room(), _unrelated_noise(), _two_at_once()]


def _in_noise(decibels: int) -> list[Figure]:
    def record(rng: np.random.Generator, signal: Signal, yaw: float, baseline: float) -> Signal:
        return _with_noise(rng, _stereo(signal, yaw, baseline), decibels)

    target = 3.0 if decibels == 10 else None
    return _yaw_figures(f"sound_yaw_{decibels}db", record, at_most=target)


def _in_room() -> list[Figure]:
    def record(rng: np.random.Generator, signal: Signal, yaw: float, baseline: float) -> Signal:
        return _with_noise(rng, _with_echoes(rng, signal, yaw, baseline), 20)

    return _yaw_figures("sound_yaw_room", record, at_most=None)


Record: TypeAlias = Callable[[np.random.Generator, Signal, float, float], Signal]


def _yaw_figures(name: str, record: Record, *, at_most: float | None) -> list[Figure]:
    errors, lost, extra = [], 0, 0
    for kind, baseline, seed in ((k, b, s) for k in SIGNALS for b in BASELINES_M for s in range(SEEDS)):
        rng = np.random.default_rng([list(SIGNALS).index(kind), round(100 * baseline), seed])
        yaw = rng.uniform(-75, 75)
        signal = SIGNALS[kind](rng, int(SECONDS * RATE_HZ))
        sources = _sources(record(rng, signal, math.radians(yaw), baseline), baseline)
        if not sources:
            lost += 1
            continue
        extra += len(sources) - 1
        errors.append(abs(math.degrees(sources[0]["yaw"]) - yaw))
    note = f"degrees, {len(errors) + lost} clips, {lost} without a source, {extra} sources too many"
    found = len(errors) / (len(errors) + lost)
    least = 0.95 if at_most else None
    return [
        Figure(f"{name}_mean_absolute_error", float(np.mean(errors)), at_most=at_most, note=note),
        Figure(f"{name}_worst_error", max(errors), note="degrees"),
        Figure(f"{name}_found", found, at_least=least, note="share of clips"),
    ]


def _unrelated_noise() -> Figure:
    found = 0
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0, 1, (2 * RATE_HZ, 2))
        found += len(_sources(noise, BASELINES_M[seed % len(BASELINES_M)], sensitivity=1.0))
    return Figure("sound_sources_in_unrelated_noise", found, at_most=0, note="20 clips, sensitivity 1")


def _two_at_once() -> Figure:
    both, clips = 0, 24
    for seed in range(clips):
        rng = np.random.default_rng([2, seed])
        baseline = BASELINES_M[seed % len(BASELINES_M)]
        yaws = (rng.uniform(-70, -10), rng.uniform(10, 70))
        kinds = [("speech", "speech"), ("speech", "noise"), ("speech", "music")][seed % 3]
        parts = [SIGNALS[kind](rng, 2 * RATE_HZ) for kind in kinds]
        parts = [part / part.std() for part in parts]
        mixed = sum(_stereo(part, math.radians(yaw), baseline) for part, yaw in zip(parts, yaws, strict=True))
        sources = _sources(_with_noise(rng, np.asarray(mixed), 15), baseline)
        found = [math.degrees(source["yaw"]) for source in sources]
        both += all(min((abs(yaw - at) for at in found), default=99) < 5 for yaw in yaws)
    return Figure("sound_two_at_once", both / clips, note=f"share of {clips} clips in which both are within 5 degrees")


def _sources(stereo: Signal, baseline: float, *, sensitivity: float = 0.5) -> list[dict[str, Any]]:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(2)
        out.setsampwidth(2)
        out.setframerate(RATE_HZ)
        out.writeframes(np.rint(stereo / np.abs(stereo).max() * 20_000).astype("<i2").tobytes())
    call = Call({"baseline": baseline, "sensitivity": sensitivity}, {"sound": file.getvalue()}, in_session=False)
    sources: list[dict[str, Any]] = compute(call, None)[0]["sources"]
    return sources


def _stereo(signal: Signal, yaw: float, baseline: float) -> Signal:
    """A far source at the right reaches the right microphone first; the delay is exact to any fraction."""
    delay = baseline * math.sin(yaw) / SOUND_M_PER_S * RATE_HZ
    return np.stack([_delayed(signal, 200 + delay / 2), _delayed(signal, 200 - delay / 2)], axis=1)[200:]


def _delayed(signal: Signal, samples: float) -> Signal:
    count = 2 * len(signal)
    turned = np.fft.rfft(signal, count) * np.exp(-2j * math.pi * np.fft.rfftfreq(count) * samples)
    return np.asarray(np.fft.irfft(turned, count)[: len(signal)])


def _with_noise(rng: np.random.Generator, stereo: Signal, decibels: float) -> Signal:
    power = float(np.mean(np.square(stereo)))
    return np.asarray(stereo + rng.normal(0, math.sqrt(power / 10 ** (decibels / 10)), stereo.shape))


def _with_echoes(rng: np.random.Generator, signal: Signal, yaw: float, baseline: float) -> Signal:
    """Twelve echoes from anywhere within 50 ms, together 5 dB below the direct sound: a furnished room."""
    direct = _stereo(signal, yaw, baseline)
    echoes = np.zeros_like(direct)
    for _ in range(12):
        late_s = rng.uniform(0.003, 0.05)
        echo = _stereo(signal, rng.uniform(-1.5, 1.5), baseline)
        echoes += 10 ** (-15 * late_s) * rng.uniform(0.3, 0.8) * np.roll(echo, int(late_s * RATE_HZ), axis=0)
    share = math.sqrt(float(np.mean(np.square(direct)) / np.mean(np.square(echoes))) / 10**0.5)
    return np.asarray(direct + share * echoes)


def _noise(rng: np.random.Generator, count: int) -> Signal:
    return rng.normal(0, 1, count)


def _speech(rng: np.random.Generator, count: int) -> Signal:
    """A gliding voice of forty harmonics and some breath, in syllables."""
    seconds = np.arange(count) / RATE_HZ
    pitch = rng.uniform(90, 220) * (1 + 0.08 * np.sin(2 * math.pi * rng.uniform(2, 5) * seconds))
    phase = 2 * math.pi * np.cumsum(pitch) / RATE_HZ
    voice = np.sum([np.sin(k * phase + rng.uniform(0, 6)) / k for k in range(1, 40)], axis=0)
    breath = np.convolve(rng.normal(0, 1, count), np.ones(3) / 3, "same")
    syllables = np.clip(np.sin(2 * math.pi * rng.uniform(2.5, 4.5) * seconds), 0, 1)
    return np.asarray((voice + 0.4 * breath) * syllables)


def _music(rng: np.random.Generator, count: int) -> Signal:
    """Plucked chords, four a second."""
    music = np.zeros(count)
    for start in range(0, count, RATE_HZ // 4):
        length = min(int(0.6 * RATE_HZ), count - start)
        seconds = np.arange(length) / RATE_HZ
        for pitch in 220 * 2 ** (rng.integers(0, 24, 3) / 12):
            for k in range(1, 9):
                tone = np.sin(2 * math.pi * k * pitch * seconds + rng.uniform(0, 6))
                music[start : start + length] += tone * np.exp(-seconds * (3 + k)) / k
        pluck = rng.normal(0, 0.5, length) * np.exp(-np.arange(length) / 60)
        music[start : start + length] += pluck
    return music


def _clicks(rng: np.random.Generator, count: int) -> Signal:
    clicks = np.zeros(count)
    for start in rng.integers(0, count - 200, max(3, count // 12_000)):
        clicks[start : start + 100] += rng.normal(0, 1, 100) * np.exp(-np.arange(100) / 15)
    return clicks


SIGNALS = {"noise": _noise, "speech": _speech, "music": _music, "clicks": _clicks}
