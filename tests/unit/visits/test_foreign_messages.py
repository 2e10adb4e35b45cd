"""Bytes that no worker of ours wrote: put aside, and nobody else waits for them."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.bus.session_store import SessionState, encode_state
from onlooker.visits.recorder import read_message
from onlooker_pipeline.visits.fold import Folded, encode_folded
from onlooker_pipeline.visits.sightings import Estimate
from onlooker_pipeline.visits.visitor import new_visitor
from recorder_process import visit


@dataclass
class Message:
    """As much of a message of the bus as is read."""

    subject: str
    data: bytes


def read(subject: str, data: bytes) -> Any:
    return read_message(Message(subject, data))  # type: ignore[arg-type]


def test_a_visit_is_read() -> None:
    assert read("visits.1", msgspec.msgpack.encode(visit(1))) is not None


@pytest.mark.parametrize("subject", ["visits.1", "ended.1"])
@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_visit_or_none(subject: str, data: bytes) -> None:
    read(subject, data)


def test_text_that_is_not_utf8_is_no_visit() -> None:
    one = visit(1)
    session = one.session.encode()
    spoilt = msgspec.msgpack.encode(one).replace(session, b"\xff" * len(session))
    assert read("visits.1", spoilt) is None


def test_a_session_of_a_name_too_long_is_no_visit() -> None:
    assert read("visits.1", msgspec.msgpack.encode(msgspec.structs.replace(visit(1), session="x" * 12_000))) is None


def test_a_state_that_contradicts_itself_is_no_ended_session() -> None:
    person = new_visitor(b"0" * 16, at_ms=1_790_000_000_000, estimate=Estimate(0.9))
    person.unsettled = [73]
    folded = Folded(1, "session", unsettled_ms=[1_790_000_000_000], people=[person])
    state = SessionState(last_seen=0.0, visits=encode_folded(folded))
    assert read("ended.1", encode_state(state)) is None
