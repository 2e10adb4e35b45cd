"""Reading a feed's parts: the same whatever pieces the body comes in, and whatever bytes a part has."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import Problem
from onlooker.gateway.feeds.multipart_reader import MultipartPart, MultipartReader

LIMIT_BYTES = 1000


def write(parts: list[bytes]) -> bytes:
    """A body as the historic client writes it."""
    heads = [f"--b\r\nContent-Length: {len(data)}\r\nX-Angus-DataField: image\r\n\r\n".encode() for data in parts]
    return b"".join(head + data + b"\r\n" for head, data in zip(heads, parts, strict=True)) + b"--b--"


def cut(body: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[start:end] for start, end in itertools.pairwise(edges)]


awkward = st.binary(max_size=60) | st.just(b"\r\n--b\r\n") | st.just(b"\r\n--b--") | st.just(b"\r\n\r\n")


@given(st.lists(awkward, max_size=6), st.lists(st.integers(0, 10_000), max_size=12))
def test_parts_come_out_as_they_went_in_however_the_body_is_cut(parts: list[bytes], places: list[int]) -> None:
    reader = MultipartReader("b", limit_bytes=LIMIT_BYTES)
    read = [part for piece in cut(write(parts), places) for part in reader.feed(piece)]
    assert [part.data for part in read] == parts
    assert all(part.headers["x-angus-datafield"] == "image" for part in read)
    assert reader.ended


def test_a_part_is_there_with_its_last_byte() -> None:
    reader = MultipartReader("b", limit_bytes=LIMIT_BYTES)
    assert list(reader.feed(b"--b\r\nContent-Length: 3\r\n\r\nab")) == []
    assert list(reader.feed(b"c")) == [MultipartPart({"content-length": "3"}, b"abc")]
    assert reader.is_between_parts


def test_what_comes_after_the_closing_boundary_is_nobodys() -> None:
    reader = MultipartReader("b", limit_bytes=LIMIT_BYTES)
    assert [part.data for part in reader.feed(write([b"x"]) + b"\r\nanything")] == [b"x"]
    assert list(reader.feed(b"more")) == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"nonsense", 400),
        (b"--b\r\nno colon\r\n\r\n", 400),
        (b"--b\r\nX: 1\r\n\r\n", 400),
        (b"--b\r\nContent-Length: -1\r\n\r\n", 400),
        (b"--b\r\nContent-Length: 1001\r\n\r\n", 413),
        (b"--b\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        (b"--b\r\nX: \xff\r\n\r\n", 400),
        (b"--b\r\nX: " + b"y" * 30_000, 400),
        (b"--b\r\nContent-Length: 1\r\n\r\nab", 400),
    ],
)
def test_a_malformed_body_is_refused(body: bytes, status: int) -> None:
    reader = MultipartReader("b", limit_bytes=LIMIT_BYTES)
    with pytest.raises(Problem) as refused:
        list(reader.feed(body + b"--x"))
    assert refused.value.status == status
