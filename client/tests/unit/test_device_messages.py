"""What a computing process may say: everything else is refused, and nothing of it is believed."""

import json
from typing import Any

import pytest

from onlooker_client.device.compute_messages import (
    COMPUTED,
    ComputeMessage,
    UntrueAnswer,
    encode_head,
    read_computed,
    read_message,
)

VISIT = {"id": "ab" * 16, "revision": 1, "ended": False, "present": [[1000, 2000], [2500, 3000]]}
FRAME: dict[str, Any] = {"number": 1, "at_ms": 5000, "result": {"entities": {}}, "visits": [VISIT], "video_s": 0.2}


def reading(data: bytes) -> Any:
    rest = bytearray(data)

    def read(length: int) -> bytes:
        got = bytes(rest[:length])
        del rest[:length]
        assert len(got) == length, "more was read than there is"
        return got

    return read


def test_a_message_comes_back_with_what_is_attached() -> None:
    sent = ComputeMessage(COMPUTED, FRAME, b"state")
    read = read_message(reading(encode_head(sent) + b"state"), attached_at_most=10)
    frame = read_computed(read)
    assert (frame.at_ms, frame.visits, frame.video_s, frame.state) == (5000, [VISIT], 0.2, b"state")


@pytest.mark.parametrize(
    "data",
    [
        (3 * 1024**2).to_bytes(4, "big"),
        (2).to_bytes(4, "big") + b"[]",
        (4).to_bytes(4, "big") + b"nope",
        (2).to_bytes(4, "big") + b"{}",
        (6).to_bytes(4, "big") + b'{"kin"',
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(UntrueAnswer):
        read_message(reading(data), attached_at_most=10)


@pytest.mark.parametrize("count", [11, -1, 1.5, True, "3"])
def test_only_so_much_may_be_attached(count: Any) -> None:
    body = json.dumps({"kind": COMPUTED, "attached_bytes": count}).encode()
    with pytest.raises(UntrueAnswer):
        read_message(reading(len(body).to_bytes(4, "big") + body + b"x" * 20), attached_at_most=10)


@pytest.mark.parametrize(
    "change",
    [
        {"at_ms": -1},
        {"at_ms": 1.5},
        {"at_ms": 2**60},
        {"result": []},
        {"video_s": 2.0},
        {"video_s": -0.1},
        {"video_s": float("nan")},
        {"blind": "no such thing!"},
        {"blind": 5},
        {"refused": "x" * 61},
        {"quality": 5},
        {"quality": {"face_bins": [1.5]}},
        {"quality": {"face_bins": [0] * 201}},
        {"visits": [VISIT] * 201},
        {"visits": [{}]},
        *(
            {"visits": [{**VISIT, **change}]}
            for change in (
                {"id": "AB" * 16},
                {"id": "ab"},
                {"revision": 0},
                {"ended": 1},
                {"present": []},
                {"present": [[2000, 1000]]},
                {"present": [[1000, 2000], [2000, 3000]]},
                {"present": [[1, 2, 3]]},
                {"still": [[1, "2"]]},
                {"looking": "always"},
                {"age": 200},
                {"age": "old"},
                {"gender": "robot"},
                {"confidence": 1.5},
                {"expression": [0.5] * 4},
                {"expression": [2.0] * 5},
            )
        ),
    ],
)
def test_an_answer_that_can_not_be_true_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UntrueAnswer):
        read_computed(ComputeMessage(COMPUTED, {**FRAME, **change}))
