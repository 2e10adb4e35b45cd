"""The input on which a built net is compared with the runtime that its source was made for."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK_PX = 8


@dataclass(frozen=True)
class Probe:
    """A made-up picture: blocks of eight pixels, with noise over them, between two values."""

    shape: tuple[int, ...]
    low: float
    high: float
    channels_first: bool = False

    def make(self, seed: int = 1) -> NDArray[np.float32]:
        """The same everywhere: whole numbers only, up to one multiplication and one addition."""
        height, width = self.shape[-2:] if self.channels_first else self.shape[-3:-1]
        channels = self.shape[1] if self.channels_first else self.shape[-1]
        rows, columns = np.arange(height) // BLOCK_PX, np.arange(width) // BLOCK_PX
        coarse = _scatter((rows[-1] + 1) * (columns[-1] + 1) * channels, seed).reshape(-1, columns[-1] + 1, channels)
        fine = _scatter(height * width * channels, seed + 1000).reshape(height, width, channels)
        unit = (3 * coarse[rows][:, columns] + fine) / 2**26
        picture = (self.low + unit * (self.high - self.low)).astype(np.float32)
        return np.ascontiguousarray(picture.transpose(2, 0, 1) if self.channels_first else picture)[None]


def _scatter(count: int, seed: int) -> NDArray[np.int64]:
    """Numbers below 2**24 by SplitMix64: plain arithmetic that no release of NumPy can change."""
    state = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((state ^ (state >> np.uint64(31))) >> np.uint64(40)).astype(np.int64)


def sha256_of_array(array: NDArray[np.float32]) -> str:
    return hashlib.sha256(array.astype("<f4").tobytes()).hexdigest()


PROBES = {
    "age.onnx": Probe((1, 112, 112, 3), 0.0, 255.0),
    "emotion_fa.onnx": Probe((1, 112, 112, 3), 0.0, 255.0),
    "emotion_mx.onnx": Probe((1, 64, 64, 1), -1.0, 1.0),
    "face_detect.onnx": Probe((1, 3, 640, 640), 0.0, 255.0, channels_first=True),
    "face_landmark.onnx": Probe((1, 192, 192, 3), 0.0, 1.0),
    "gender.onnx": Probe((1, 3, 32, 32), -0.45, 0.55, channels_first=True),
    "iris_landmark.onnx": Probe((1, 64, 64, 3), 0.0, 1.0),
    "person_detect.onnx": Probe((1, 3, 320, 416), -2.0, 2.5, channels_first=True),
}
