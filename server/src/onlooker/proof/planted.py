"""Traces that are written on purpose: whether the search finds what it looks for."""

import base64
import zlib

import cv2
import numpy as np

from onlooker.proof.marked_pictures import encode_jpeg
from onlooker.proof.picture_traces import Grey, PictureMarks, find_traces
from onlooker.proof.vectors import LEAST_NUMBERS, find_vectors

CROP = (slice(120, 220), slice(200, 280))
_AROUND = b"SQLite format 3\0" + bytes(5_000)


def planted_pictures(frame: Grey) -> dict[str, bytes]:
    """A frame in each way in which somebody might write it."""
    small = np.asarray(cv2.resize(frame, (160, 120), interpolation=cv2.INTER_AREA), np.uint8)
    crop = np.ascontiguousarray(frame[CROP])
    return {
        "frame": frame.tobytes(),
        "crop": crop.tobytes(),
        "thumbnail": small.tobytes(),
        "jpeg": encode_jpeg(frame),
        "png_of_crop": bytes(cv2.imencode(".png", crop)[1]),
        "deflated": zlib.compress(small.tobytes()),
        "base64": base64.b64encode(crop.tobytes()),
        "hexadecimal": crop.tobytes().hex().encode(),
    }


def find_planted(frame: Grey, marks: PictureMarks, *, only_known: bool = False) -> dict[str, bool]:
    """Whether each of them is found, with other bytes before and after it."""
    return {
        name: any(find_traces(_AROUND + content + _AROUND, marks, only_known=only_known))
        for name, content in planted_pictures(frame).items()
    }


def find_planted_vectors() -> dict[str, bool]:
    """Whether an embedding would be found."""
    vector = np.random.default_rng(1).normal(0.0, 1.0, 4 * LEAST_NUMBERS)
    ways = {
        "float32": vector.astype("<f4").tobytes(),
        "float64": vector.astype("<f8").tobytes(),
        "text": ",".join(f"{value:.6f}" for value in vector).encode(),
    }
    return {name: any(find_vectors(_AROUND + content + _AROUND)) for name, content in ways.items()}
