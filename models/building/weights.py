"""Reads the weights of TensorFlow.js: a manifest in JSON beside one file of plain numbers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from building.graph import Array

TYPES = {"float32": "<f4", "float16": "<f2", "int32": "<i4", "uint8": "u1"}


def read_weights(manifest: list[dict[str, Any]], content: bytes) -> dict[str, Array]:
    """Every array by name, as float32 or int32. Stored as float16 or in 256 steps, it is widened."""
    arrays: dict[str, Array] = {}
    offset = 0
    for entry in _entries(manifest):
        scale = entry.get("quantization")
        stored = np.dtype(TYPES[scale["dtype"] if scale else entry["dtype"]])
        count = int(np.prod(entry["shape"]))
        array = np.frombuffer(content, stored, count, offset).reshape(entry["shape"])
        offset += array.nbytes
        arrays[entry["name"]] = _widen(array, scale) if scale else array
    if offset != len(content):
        raise ValueError(f"the manifest tells of {offset} bytes, the file has {len(content)}")
    return arrays


def _entries(manifest: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for group in manifest:
        yield from group["weights"]


def _widen(array: Array, scale: dict[str, Any]) -> Array:
    wide = array.astype(np.float32)
    return wide if scale["dtype"] == "float16" else wide * np.float32(scale["scale"]) + np.float32(scale["min"])


def read_json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
