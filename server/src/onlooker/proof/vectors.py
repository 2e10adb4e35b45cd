"""Looks for embeddings in bytes: long runs of small numbers of both signs, as binary or as text."""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

LEAST_NUMBERS = 64
"""A shorter one distinguishes few people; what is stored of a visit has fewer."""
SMALLEST, LARGEST = 1e-4, 64.0
LEAST_SIGNED = 8
"""Of each sign: probabilities, times and histograms have none below zero."""
_NUMBER = rb"-?\d{1,2}\.\d+(?:[eE]-?\d+)?"
_LIST = re.compile(rb"(?:" + _NUMBER + rb"[,\s]+){%d,}" % (LEAST_NUMBERS - 1) + _NUMBER)


def find_vectors(content: bytes) -> Iterator[str]:
    """One sentence for each kind that is there."""
    for name, kind in (("float32", "<f4"), ("float64", "<f8")):
        if (at := _find_binary(content, kind)) is not None:
            yield f"{LEAST_NUMBERS} numbers ({name}) in a row at byte {at}"
    for found in _LIST.finditer(content):
        values = np.array([float(value) for value in re.findall(_NUMBER, found[0])])
        if _has_both_signs(values):
            yield f"a list of {len(values)} numbers at byte {found.start()}"
            return


def _find_binary(content: bytes, kind: str) -> int | None:
    size = np.dtype(kind).itemsize
    if len(content) < LEAST_NUMBERS * size:
        return None
    for shift in range(size):
        count = (len(content) - shift) // size
        values = np.frombuffer(content, kind, offset=shift, count=count)
        with np.errstate(all="ignore"):  # most bytes are no numbers
            small = (np.abs(values) >= SMALLEST) & (np.abs(values) <= LARGEST)
        edges = np.flatnonzero(np.diff(small, prepend=False, append=False))
        begins, ends = edges[::2], edges[1::2]
        for run in np.flatnonzero(ends - begins >= LEAST_NUMBERS):
            if _has_both_signs(values[begins[run] : ends[run]]):
                return shift + int(begins[run]) * size
    return None


def _has_both_signs(values: NDArray[np.floating]) -> bool:
    return bool((values > 0).sum() >= LEAST_SIGNED and (values < 0).sum() >= LEAST_SIGNED)
