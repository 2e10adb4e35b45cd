"""Thrift's compact protocol, as much of it as the footer of a Parquet file needs.

Numbers, texts, structs, and lists of one of these: https://github.com/apache/thrift/blob/master/doc/specs.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Long:
    """A number of 64 bits; a plain `int` has 32."""

    value: int


Struct = dict[int, Any]
"""The fields of a struct by their number, in rising order."""
_TRUE, _FALSE, _I32, _I64, _BINARY, _LIST, _STRUCT = 1, 2, 5, 6, 8, 9, 12
_LONG_LIST = 15


def encode_struct(fields: Struct) -> bytes:
    """A field begins with the distance to the one before and its type."""
    pieces, before = [], 0
    for number, value in fields.items():
        pieces.append(bytes([number - before << 4 | _type_of(value)]) + _encode_value(value))
        before = number
    return b"".join(pieces) + b"\0"


def _type_of(value: Any) -> int:
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    types = {int: _I32, Long: _I64, str: _BINARY, list: _LIST, dict: _STRUCT}
    return types[type(value)]


def _encode_value(value: Any) -> bytes:
    match value:
        case bool():
            return b""  # its type says it
        case int():
            return varint(_zigzag(value))
        case Long(number):
            return varint(_zigzag(number))
        case str():
            text = value.encode()
            return varint(len(text)) + text
        case dict():
            return encode_struct(value)
    return _encode_list(value)


def _encode_list(values: list[Any]) -> bytes:
    kind = _type_of(values[0]) if values else _STRUCT
    count = len(values)
    head = bytes([count << 4 | kind]) if count < _LONG_LIST else bytes([_LONG_LIST << 4 | kind]) + varint(count)
    return head + b"".join(map(_encode_value, values))


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else (-number << 1) - 1


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])
