"""The memory that request bodies may fill: never more than the limit, and all of it given back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import Problem
from onlooker.gateway.stream_limits import Holder, SharedRoom
from onlooker.settings import Settings

LIMIT = 100


HOLDERS = [Holder(1, "a"), Holder(1, "b"), Holder(2, "b"), Holder(3, "b"), Holder(4, None)]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 70)), max_size=40),
    st.sampled_from([0.3, 0.5, 1.0]),
    st.sampled_from([0.5, 0.8, 1.0]),
)
def test_nobody_ever_holds_more_than_a_share_nor_all_more_than_all(
    changes: list[tuple[int, int]], stream_share: float, address_share: float
) -> None:
    """Oracle: a dictionary of what each request holds."""
    settings = Settings(stream_share=stream_share, address_share=address_share)
    room, held = SharedRoom(LIMIT, "bytes", settings=settings), dict.fromkeys(range(5), 0)
    holdings = [room.open(holder) for holder in HOLDERS]

    def held_by(**wanted: object) -> int:
        (name, value), *_ = wanted.items()
        return sum(held[number] for number, holder in enumerate(HOLDERS) if getattr(holder, name) == value)

    for number, size in changes:
        before, own = held[number], HOLDERS[number]
        held[number] = size
        fits = (
            held_by(stream_id=own.stream_id) <= LIMIT * stream_share
            and (own.address is None or held_by(address=own.address) <= LIMIT * address_share)
            and sum(held.values()) <= LIMIT
        )
        if fits or size <= before:
            holdings[number].hold(size)
        else:
            held[number] = before
            with pytest.raises(Problem):
                holdings[number].hold(size)
        assert room.held == sum(held.values())
    for holding in holdings:
        holding.hold(0)
    assert room.held == 0
