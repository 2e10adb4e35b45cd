"""What a lying device could send: whatever is taken is plausible, whatever is plausible is taken."""

import json
import math
import uuid
import zlib
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import Code, Problem
from onlooker.gateway.bodies import inflate
from onlooker.gateway.stream_limits import NewVisits
from onlooker.gateway.visit_batch import (
    ITEMS_LIMIT,
    SUM_LIMIT_S,
    VALUES_LIMIT,
    BatchTimes,
    CoverageBody,
    QualityBody,
    VisitBody,
    check_slot,
    check_visit,
    decode_batch,
    take_slot,
    take_visit,
    visit_slot,
)
from onlooker.slots import SLOT_S
from onlooker.streams.coverage import Reason
from onlooker.streams.credentials import StreamRecord
from onlooker.streams.device_coverage import DeviceRefusal
from onlooker.visits.visit_columns import columns_of
from onlooker_pipeline.face_size import FACE_BINS
from onlooker_pipeline.service_call import PictureFault
from onlooker_pipeline.visits.visit import decode_visit, encode_visit

NOW_S = 1_800_000_123.0
NOW_MS = int(NOW_S * 1000)
DAYS = 30
TIMES = BatchTimes(NOW_S, DAYS)
SLOT = int(NOW_S // SLOT_S)
GOOD = VisitBody(
    id="0" * 32,
    revision=3,
    ended=True,
    present=[(NOW_MS - 60_000, NOW_MS - 40_000), (NOW_MS - 30_000, NOW_MS - 10_000)],
    still=[(NOW_MS - 50_000, NOW_MS - 45_000)],
    looking=[(NOW_MS - 60_000, NOW_MS - 59_000), (NOW_MS - 11_000, NOW_MS - 10_000)],
    age=33.0,
    age_confidence=0.5,
    gender="female",
    gender_confidence=1.0,
    expression=(0.2, 0.2, 0.2, 0.2, 0.2),
    confidence=0.9,
)
WATCHED = CoverageBody(
    slot=SLOT - 4,
    revision=1,
    watched_s=800.25,
    blind_s={"black": 60.5},
    refused={"compute_busy": 12},
    quality=[QualityBody(models="1.0", pipeline="2.0", frames=4000, video_s=800.25, faces=[3] + [0] * 15)],
)


def stream(**changes: Any) -> StreamRecord:
    values: dict[str, Any] = {"reads_age": True, "reads_gender": True, "reads_expression": True} | changes
    return StreamRecord(
        id=7,
        kind="enterprise",
        enabled=True,
        video_s=0.0,
        token_hashes=(),
        trial_hashes=(),
        logged_state=None,
        retention_days=DAYS,
        time_zone="UTC",
        **values,
    )


def changed(one: Any, **changes: Any) -> Any:
    return msgspec.structs.replace(one, **changes)


def code_of(fault: tuple[DeviceRefusal, str] | None) -> str:
    return fault[0].value if fault else ""


numbers = st.one_of(st.floats(), st.floats(-0.1, 1.1), st.integers(-2, 200).map(float))
moments = st.one_of(
    st.integers(NOW_MS - DAYS * 86_400_000 - 10**7, NOW_MS + 10**6),
    st.integers(NOW_MS - 10**5, NOW_MS + 10**3),
    st.sampled_from([0, -1, 2**53, -(2**53), NOW_MS + 300_000, NOW_MS + 300_001]),
)
pairs = st.lists(st.tuples(moments, moments), max_size=4) | st.lists(moments, max_size=8).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)
hostile_visits = st.builds(
    VisitBody,
    id=st.just("a" * 32),
    revision=st.sampled_from([0, -1, 1, 2**31 - 1, 2**31, 10**30]) | st.integers(1, 9),
    ended=st.booleans(),
    present=pairs,
    still=pairs,
    looking=pairs,
    age=st.none() | numbers,
    age_confidence=numbers,
    gender=st.sampled_from([None, "male", "female", "", "MALE", "x" * 1000, "\0"]),
    gender_confidence=numbers,
    expression=st.none() | st.tuples(*[numbers] * 5),
    confidence=numbers,
)


@given(hostile_visits)
def test_a_visit_that_is_taken_is_plausible_in_every_field(told: VisitBody) -> None:
    if check_visit(told, TIMES):
        return
    taken = take_visit(told, stream(), session="7.device.x", is_open=False)
    began_ms, end_ms = taken.present[0][0], taken.present[-1][1]
    assert began_ms / 1000 >= NOW_S - DAYS * 86_400 - SLOT_S
    assert end_ms <= NOW_MS + 300_000
    assert end_ms - began_ms <= 86_400_000
    for intervals in (taken.present, taken.still, taken.looking):
        edges = [edge for pair in intervals for edge in pair]
        assert all(one < other for one, other in pairwise(edges))
        assert not edges or began_ms <= edges[0] < edges[-1] <= end_ms
    assert taken.age is None or 0 <= taken.age <= 150
    shares = (taken.age_confidence, taken.gender_confidence, taken.confidence, *(taken.expression or ()))
    assert all(math.isfinite(share) and 0 <= share <= 1 for share in shares)
    assert taken.gender in (None, "male", "female")
    assert 1 <= taken.revision < 2**31
    columns_of([taken])  # what the recorder does with it
    assert decode_visit(encode_visit(taken)) == taken


@given(
    st.lists(st.integers(1, 10_000), min_size=2, max_size=100).filter(lambda steps: len(steps) % 2 == 0),
    st.floats(0, 150),
    st.floats(0, 1),
    st.integers(0, 86_400_000 * 29),
)
def test_a_visit_as_folding_makes_them_is_taken(steps: list[int], age: float, share: float, ago_ms: int) -> None:
    edges = [NOW_MS - ago_ms - sum(steps) + sum(steps[: number + 1]) for number in range(len(steps))]
    present = list(zip(edges[::2], edges[1::2], strict=True))
    told = changed(GOOD, present=present, still=present[:1], looking=present[-1:], age=age, confidence=share)
    assert check_visit(told, TIMES) is None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, ""),
        ({"revision": 0}, "bad_value"),
        ({"revision": 2**31}, "bad_value"),
        ({"age": math.nan}, "bad_value"),
        ({"age": math.inf}, "bad_value"),
        ({"age": 150.5}, "bad_value"),
        ({"age_confidence": math.nan}, "bad_value"),
        ({"gender": "other"}, "bad_value"),
        ({"expression": (0.1, 0.1, 0.1, 0.1, math.nan)}, "bad_value"),
        ({"present": []}, "bad_intervals"),
        ({"present": [(NOW_MS - 10, NOW_MS - 10)]}, "bad_intervals"),
        ({"present": [(NOW_MS - 10, NOW_MS - 20)]}, "bad_intervals"),
        ({"present": [(NOW_MS - 90_000, NOW_MS - 50), (NOW_MS - 50, NOW_MS)]}, "bad_intervals"),
        ({"present": [(NOW_MS - 90_000, NOW_MS - 50), (NOW_MS - 60, NOW_MS)]}, "bad_intervals"),
        ({"still": [(NOW_MS - 60_001, NOW_MS - 50_000)]}, "bad_intervals"),
        ({"looking": [(NOW_MS - 20_000, NOW_MS - 9_999)]}, "bad_intervals"),
        ({"present": [(NOW_MS + 2 * n - 900_000, NOW_MS + 2 * n - 899_999) for n in range(258)]}, "bad_intervals"),
        ({"present": [(NOW_MS - 86_400_001, NOW_MS)]}, "too_long"),
        ({"present": [(NOW_MS - 60_000, NOW_MS + 300_001)]}, "in_future"),
        ({"present": [(NOW_MS - 60_000, NOW_MS + 300_000)]}, ""),
    ],
)
def test_a_visit_is_refused_with_its_code(changes: dict[str, Any], code: str) -> None:
    assert code_of(check_visit(changed(GOOD, **changes), TIMES)) == code


@pytest.mark.parametrize(("early_s", "code"), [(0, ""), (1, "too_old")])
def test_visits_are_kept_as_long_as_the_recorder_keeps_them(early_s: int, code: str) -> None:
    oldest_ms = int((NOW_S // SLOT_S * SLOT_S - DAYS * 86_400 - early_s) * 1000)
    told = changed(GOOD, present=[(oldest_ms, oldest_ms + 5000)], still=[], looking=[])
    assert code_of(check_visit(told, TIMES)) == code


@pytest.mark.parametrize(
    ("off", "fields"),
    [
        ("reads_age", {"age": None, "age_confidence": 0.0}),
        ("reads_gender", {"gender": None, "gender_confidence": 0.0}),
        ("reads_expression", {"expression": None}),
    ],
)
def test_what_the_stream_has_switched_off_is_stripped(off: str, fields: dict[str, Any]) -> None:
    whole = take_visit(GOOD, stream(), session="s", is_open=False)
    stripped = take_visit(GOOD, stream(**{off: False}), session="s", is_open=False)
    assert stripped == msgspec.structs.replace(whole, **fields)


hostile_slots = st.builds(
    CoverageBody,
    slot=st.integers(SLOT - 2 * DAYS * 96, SLOT + 3) | st.sampled_from([-1, 0, 2**53, -(2**53)]),
    revision=st.sampled_from([0, 1, 2**31]) | st.integers(1, 9),
    watched_s=st.floats() | st.floats(-1, 2000),
    blind_s=st.dictionaries(st.sampled_from([*PictureFault, "", "night", "\0"]), st.floats() | st.floats(0, 1000)),
    refused=st.dictionaries(st.sampled_from([*Reason, "moonlight", "\0"]), st.integers(-1, 10**6)),
    quality=st.lists(
        st.builds(
            QualityBody,
            models=st.sampled_from(["", "1", "1.0\0", "x" * 41, "é"]),
            pipeline=st.sampled_from(["", "2"]),
            frames=st.integers(-1, 200_000),
            video_s=st.floats() | st.floats(0, 900),
            dark_frames=st.integers(-1, 100),
            face_frames=st.integers(-1, 100),
            face_video_s=st.floats(-1, 900),
            faces=st.lists(st.integers(-1, 100), max_size=17),
        ),
        max_size=6,
    ),
)


@given(hostile_slots)
def test_a_slot_that_is_taken_is_plausible_in_every_field(told: CoverageBody) -> None:
    if check_slot(told, TIMES):
        return
    taken = take_slot(told)
    begins_s = taken.number * SLOT_S
    assert NOW_S - (DAYS + 1) * 86_400 < begins_s <= NOW_S
    assert 0 <= taken.sums.watched_s <= taken.sums.video_s <= min(SLOT_S, NOW_S + 300 - begins_s) + 1e-9
    assert set(taken.sums.blind_s) <= set(PictureFault)
    assert all(blind_s > 0 for blind_s in taken.sums.blind_s.values())
    assert set(taken.sums.refused) <= set(Reason)
    assert all(0 < frames < 2**31 for frames in taken.sums.refused.values())
    assert len(taken.sums.versions) == len(taken.sums.quality) <= 4
    for one in taken.sums.quality:
        assert all(text.isascii() and "\0" not in text and len(text) <= 40 for text in one.versions)
        assert len(one.faces) == FACE_BINS
        assert 0 <= one.face_video_s <= one.video_s <= SLOT_S
        assert 0 <= one.dark_frames <= one.frames < 2**20
        assert all(0 <= faces < 2**27 for faces in one.faces)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, ""),
        ({"slot": SLOT}, "in_future"),  # it has not lasted so long
        ({"slot": SLOT, "watched_s": 100.0, "blind_s": {}}, ""),
        ({"slot": SLOT + 1, "watched_s": 0.0, "blind_s": {}}, "in_future"),
        ({"slot": SLOT - DAYS * 96}, ""),
        ({"slot": SLOT - DAYS * 96 - 1}, "too_old"),
        ({"watched_s": math.nan}, "bad_value"),
        ({"watched_s": math.inf}, "bad_value"),
        ({"watched_s": -0.001}, "bad_value"),
        ({"watched_s": SUM_LIMIT_S + 0.1}, "bad_value"),
        ({"watched_s": 901.0}, ""),
        ({"blind_s": {"night": 1.0}}, "bad_value"),
        ({"blind_s": {"dark": math.nan}}, "bad_value"),
        ({"refused": {"compute_busy": -1}}, "bad_value"),
        ({"refused": {f"reason{number}": 1 for number in range(33)}}, "bad_value"),
        ({"quality": [QualityBody(models="a\0b")]}, "bad_value"),
        ({"quality": [QualityBody(), QualityBody()]}, "bad_value"),
        ({"quality": [QualityBody(faces=[1] + [0] * 15)]}, "bad_value"),
        ({"quality": [QualityBody(frames=5, faces=[0] * 15)]}, "bad_value"),
    ],
)
def test_a_slot_is_refused_with_its_code(changes: dict[str, Any], code: str) -> None:
    assert code_of(check_slot(changed(WATCHED, **changes), TIMES)) == code


def test_what_is_longer_than_a_slot_is_cut_off_and_what_was_watched_comes_first() -> None:
    taken = take_slot(changed(WATCHED, watched_s=850.0, blind_s={"dark": 75.0, "black": 25.0}))
    assert taken.sums.watched_s == 850.0
    assert taken.sums.blind_s == {"dark": 37.5, "black": 12.5}
    assert take_slot(changed(WATCHED, watched_s=901.5)).sums.blind_s == {}


def test_a_reason_that_only_a_newer_device_knows_is_a_failure() -> None:
    assert take_slot(changed(WATCHED, refused={"moonlight": 2, "failed": 3})).sums.refused == {"failed": 5}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("device", "sent_at", "visits", "coverage", "id", "slot", "present", "revision")


@given(st.dictionaries(st.sampled_from(FIELDS), values) | values)
def test_any_json_is_a_batch_or_a_bad_request(body: Any) -> None:
    try:
        decode_batch(json.dumps(body).encode())
        code = Code.BAD_REQUEST
    except Problem as problem:
        code = problem.code
    assert code is Code.BAD_REQUEST


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"null",
        b'{"device": "x"}',
        b'{"device": "\\ud800"}',
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"device": "%s", "visits": [{"id": "%s", "revision": 1e999}]}' % (str(uuid.uuid4()).encode(), b"0" * 32),
        b'{"device": "%s", "visits": [{"id": "%s", "revision": NaN}]}' % (str(uuid.uuid4()).encode(), b"0" * 32),
        json.dumps({"device": str(uuid.uuid4()), "visits": [{"id": "z" * 32, "revision": 1}]}).encode(),
        json.dumps(
            {"device": str(uuid.uuid4()), "visits": [{"id": "0" * 32, "revision": 1}] * (ITEMS_LIMIT + 1)}
        ).encode(),
        json.dumps({"device": str(uuid.uuid4()), "x": [0] * (VALUES_LIMIT + 1)}).encode(),
    ],
)
def test_a_malformed_batch_is_a_bad_request(data: bytes) -> None:
    with pytest.raises(Problem) as raised:
        decode_batch(data)
    assert raised.value.code is Code.BAD_REQUEST


def test_fields_that_only_a_newer_device_knows_are_ignored() -> None:
    batch = decode_batch(json.dumps({"device": str(uuid.uuid4()), "mood": [1], "visits": [], "coverage": []}).encode())
    assert (batch.visits, batch.coverage) == ([], [])


@given(st.binary(max_size=3000), st.integers(0, 4000))
def test_inflating_gives_back_what_was_deflated_or_refuses_it(data: bytes, limit_bytes: int) -> None:
    sent = zlib.compress(data)
    if len(data) <= limit_bytes:
        assert inflate(sent, limit_bytes) == data
    else:
        with pytest.raises(Problem) as raised:
            inflate(sent, limit_bytes)
        assert raised.value.code is Code.TOO_LARGE


@pytest.mark.parametrize("damage", ["raw", "cut", "more", "noise", "twice"])
def test_what_is_not_deflated_as_it_should_be_is_a_bad_request(damage: str) -> None:
    whole = zlib.compress(b"{}" * 500)
    raw = zlib.compressobj(wbits=-15)
    sent = {
        "raw": raw.compress(b"{}") + raw.flush(),
        "cut": whole[:-5],
        "more": whole + b"x",
        "noise": b"\x00\x01\x02" * 50,
        "twice": whole + whole,
    }[damage]
    with pytest.raises(Problem) as raised:
        inflate(sent, 1024**2)
    assert raised.value.code is Code.BAD_REQUEST


def test_a_bomb_is_not_inflated_beyond_the_limit() -> None:
    bomb = zlib.compress(b"\0" * 100 * 1024**2, 9)
    assert len(bomb) < 128 * 1024
    with pytest.raises(Problem) as raised:
        inflate(bomb, 1024**2)
    assert raised.value.code is Code.TOO_LARGE


def test_a_slot_has_room_for_so_many_visits_of_a_stream() -> None:
    visits = NewVisits(per_slot=3)
    assert [visits.permit(7, 1, name) for name in "abcda"] == [True, True, True, False, True]
    assert visits.permit(7, 2, "d")
    assert visits.permit(8, 1, "d")


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(0, 20)), max_size=200))
def test_what_is_remembered_of_visits_is_bounded(told: list[tuple[int, int, int]]) -> None:
    visits = NewVisits(per_slot=5, remembered=12)
    for stream_id, slot, number in told:
        visits.permit(stream_id, slot, str(number))
        held = sum(map(len, visits._known.values()))
        assert held == visits._held <= 12


def test_a_visit_belongs_to_the_slot_in_which_it_began() -> None:
    assert visit_slot(GOOD) == (NOW_MS - 60_000) // 900_000
