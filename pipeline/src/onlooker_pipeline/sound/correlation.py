"""How much later a sound reaches the left microphone than the right one, window by window."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.sound.wav import RATE_HZ, Samples

WINDOW = 4096
"""In frames: 85 ms, in which a speaker does not move."""
HOP = WINDOW // 2
LEAST_FRAMES = 256
BAND_HZ = (150, 16_000)
"""Below is mains hum in both channels, above mostly noise."""
WHITENING = 0.8
"""1 would be the full phase transform, in which bands of pure noise count as much as the source's."""
FINENESS = 4
"""Delays are computed at quarter samples and interpolated in between."""
LEAST_HEIGHT = 5.5
SECOND_SHARE = 0.25
"""A lower peak beside the highest is an echo of it."""
SAME_PHASE = 0.7
WINDOWS_AT_ONCE = 32

Spectra: TypeAlias = NDArray[np.complex64]
"""One row per window, one column per frequency."""


@dataclass(frozen=True)
class Peak:
    """One delay at which the channels of one window agree."""

    window: int
    delay: float
    """Samples by which the left channel lags; positive for a source at the right."""
    height: float
    """In standard deviations of what unrelated channels give."""


@dataclass(frozen=True)
class Correlation:
    """The peaks of a whole clip."""

    peaks: list[Peak]
    windows: int


def correlate(samples: Samples, longest_delay: float) -> Correlation:
    """Generalised cross-correlation with phase transform; delays up to `longest_delay` samples either way."""
    if len(samples) < LEAST_FRAMES:
        return Correlation([], 0)
    starts = _window_starts(len(samples))
    length = min(WINDOW, len(samples))
    taper = np.hanning(length + 2)[1:-1].astype(np.float32)
    peaks: list[Peak] = []
    for first in range(0, len(starts), WINDOWS_AT_ONCE):
        block = starts[first : first + WINDOWS_AT_ONCE]
        windows = np.stack([samples[start : start + length] for start in block]).astype(np.float32)
        cross = _whitened_cross_spectra(windows * taper[:, None])
        peaks += _peaks_of_block(cross, first, longest_delay)
    return Correlation(peaks, len(starts))


def _window_starts(frames: int) -> list[int]:
    """The last window ends with the clip."""
    last = max(frames - WINDOW, 0)
    return sorted({*range(0, last, HOP), last})


def _whitened_cross_spectra(windows: NDArray[np.float32]) -> Spectra:
    spectra = np.fft.rfft(windows, WINDOW, axis=1)
    cross = spectra[:, :, 0] * np.conj(spectra[:, :, 1])
    frequencies = np.fft.rfftfreq(WINDOW, 1 / RATE_HZ)
    cross[:, (frequencies < BAND_HZ[0]) | (frequencies > BAND_HZ[1])] = 0
    return np.asarray(cross * np.maximum(np.abs(cross), 1e-9) ** -WHITENING, np.complex64)


def _peaks_of_block(cross: Spectra, first_window: int, longest_delay: float) -> list[Peak]:
    """The highest peak of each window, then the highest in what that one leaves unexplained."""
    delays, heights = _highest_peaks(cross, longest_delay)
    heard = np.flatnonzero(heights >= LEAST_HEIGHT)
    peaks = [Peak(first_window + at, float(delays[at]), float(heights[at])) for at in heard.tolist()]
    if not peaks:
        return []
    rest = _without(cross[heard], delays[heard])
    rest_delays, rest_heights = _highest_peaks(rest, longest_delay)
    for at, delay, height in zip(heard.tolist(), rest_delays.tolist(), rest_heights.tolist(), strict=True):
        if height >= max(LEAST_HEIGHT, SECOND_SHARE * float(heights[at])):
            peaks.append(Peak(first_window + at, delay, height))
    return peaks


def _highest_peaks(cross: Spectra, longest_delay: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each window: the delay, and the height in standard deviations of unrelated channels."""
    reach = int(np.ceil(longest_delay * FINENESS)) + 1
    curves = np.fft.irfft(cross, WINDOW * FINENESS, axis=1) * (WINDOW * FINENESS / 2)
    around = np.concatenate([curves[:, -reach - 1 :], curves[:, : reach + 2]], axis=1)
    tops = around[:, 1:-1].argmax(axis=1) + 1
    rows = np.arange(len(around))
    before, top, after = (around[rows, tops + step].astype(np.float64) for step in (-1, 0, 1))
    bend = before - 2 * top + after
    inner = np.where(bend < 0, 0.5 * (before - after) / np.minimum(bend, -1e-12), 0.0).clip(-1, 1)
    spread = np.sqrt(np.square(np.abs(cross)).sum(axis=1) / 2)
    return (tops - reach - 1 + inner) / FINENESS, top / np.maximum(spread, 1e-6)


def _without(cross: Spectra, delays: NDArray[np.float64]) -> Spectra:
    """The same without the frequencies whose phase the delay explains."""
    turns = np.arange(cross.shape[1]) / WINDOW
    steering = np.exp(2j * np.pi * delays[:, None] * turns[None]).astype(np.complex64)
    explained = (cross * steering).real > SAME_PHASE * np.abs(cross)
    return np.where(explained, np.complex64(0), cross)
