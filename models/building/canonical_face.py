"""The metric face that MediaPipe measures heads against: 468 points in centimetres, out of its protobuf."""

import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

POINTS = 468
NUMBERS_A_POINT = 5  # x, y, z and two places in a texture
VARINT, BYTES, FLOAT = 0, 2, 5  # protobuf's wire types


def read_canonical_face(content: bytes) -> NDArray[np.float32]:
    """x to the right, y up, z towards the viewer: [468, 3]."""
    meshes = [field for field in _fields(content) if isinstance(field, bytes) and len(field) > 4 * POINTS]
    numbers = [field for field in _fields(meshes[0]) if isinstance(field, float)]
    return np.array(numbers, np.float32).reshape(POINTS, NUMBERS_A_POINT)[:, :3].copy()


def _fields(content: bytes) -> Iterator[int | float | bytes]:
    """The fields of a message, without their numbers: this file has one of each kind that matters."""
    position = 0
    while position < len(content):
        key, position = _varint(content, position)
        wire_type = key & 7
        if wire_type == VARINT:
            value, position = _varint(content, position)
            yield value
        elif wire_type == BYTES:
            length, position = _varint(content, position)
            yield content[position : position + length]
            position += length
        elif wire_type == FLOAT:
            yield struct.unpack_from("<f", content, position)[0]
            position += 4
        else:
            raise ValueError(f"wire type {wire_type} in the face geometry")


def _varint(content: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, position
