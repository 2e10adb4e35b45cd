"""ONNX files that answer with constants, written byte by byte: the `onnx` package is no dependency here."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

OPSET, IR_VERSION = 18, 9
ELEMENT_TYPES = {np.dtype(np.float32): 1, np.dtype(np.int64): 7}
"""As `TensorProto.DataType` numbers them."""


def write_net(
    file: Path,
    *,
    inputs: Mapping[str, Sequence[int]],
    outputs: Mapping[str, np.ndarray],
    integers: Sequence[str] = ("orig_target_sizes",),
) -> Path:
    """A net with these inputs, of which it reads nothing; inputs in `integers` are int64, others float32."""
    graph = _field(2, b"constants")
    for name, array in outputs.items():
        dims = b"".join(_field(1, side) for side in array.shape)
        tensor = dims + _field(2, ELEMENT_TYPES[array.dtype]) + _field(8, f"{name}_value".encode())
        graph += _field(5, tensor + _field(9, np.ascontiguousarray(array).tobytes()))
        graph += _field(1, _field(1, f"{name}_value".encode()) + _field(2, name.encode()) + _field(4, b"Identity"))
        graph += _field(12, _value(name, array.shape, ELEMENT_TYPES[array.dtype]))
    for name, shape in inputs.items():
        graph += _field(11, _value(name, shape, 7 if name in integers else 1))
    model = _field(1, IR_VERSION) + _field(7, graph) + _field(8, _field(1, b"") + _field(2, OPSET))
    file.write_bytes(model)
    return file


def _value(name: str, shape: Sequence[int], element_type: int) -> bytes:
    sides = b"".join(_field(1, _field(1, side)) for side in shape)
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, element_type) + _field(2, sides)))


def _field(number: int, content: int | bytes) -> bytes:
    """One field of a protocol buffer: a number, or bytes with their length."""
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
