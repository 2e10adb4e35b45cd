"""What a stream may have in bytes: an oracle that adds up, and nobody pays for another."""

from hypothesis import given
from hypothesis import strategies as st

from onlooker.gateway import stream_limits
from onlooker.gateway.stream_limits import ByteAllowance

PER_SECOND, BURST_S = 100.0, 2.0


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(0, 2), st.integers(0, 500)), max_size=50))
def test_a_stream_owes_what_it_had_above_its_allowance(charges: list[tuple[float, int, int]]) -> None:
    allowance = ByteAllowance(per_second=PER_SECOND, burst_s=BURST_S)
    now = 1000.0
    left = dict.fromkeys(range(3), PER_SECOND * BURST_S)
    clock = stream_limits.time
    try:
        for wait_s, stream, size in charges:
            now += wait_s
            stream_limits.time = type("Clock", (), {"monotonic": staticmethod(lambda moment=now: moment)})  # type: ignore[attr-defined]
            left = {one: min(PER_SECOND * BURST_S, had + wait_s * PER_SECOND) for one, had in left.items()}
            allowance.charge(stream, size)
            left[stream] -= size
            for one, had in left.items():
                assert abs(allowance.owing_s(one) - max(0.0, -had / PER_SECOND)) < 1e-6
    finally:
        stream_limits.time = clock  # type: ignore[attr-defined]
