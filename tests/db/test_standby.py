"""Numbers are read from a standby as long as it is known to be up to date; its lag against an oracle."""

from hypothesis import given
from hypothesis import strategies as st

from onlooker.standby import StandbyLag

LOOKS = st.lists(
    st.tuples(st.integers(1, 5), st.none() | st.integers(0, 3), st.none() | st.integers(0, 9)), min_size=1, max_size=30
)


@given(looks=LOOKS)
def test_lag_is_the_age_of_the_newest_moment_that_the_standby_has_reached(
    looks: list[tuple[int, int | None, int | None]],
) -> None:
    lag, now, written = StandbyLag(0.0), 0.0, 0
    seen: list[tuple[float, int]] = []
    complete_at = 0.0
    for waited, grown, reached in looks:
        now += waited
        written += grown or 0
        if grown is not None:
            seen.append((now, written))
        if reached is not None:
            complete_at = max([complete_at, *(at for at, position in seen if position <= reached)])
        assert lag.note(now, primary=None if grown is None else written, standby=reached) == now - complete_at
