"""How far the product's count is off a person's, and what chance could have to do with it. Pure."""

from dataclasses import dataclass

from onlooker.metrics.intervals import Interval, share_interval


@dataclass(frozen=True)
class CountError:
    """As a share of the person's count; positive: the product counted more."""

    error: float
    size: Interval
    """Of the error, without its sign."""


def judge_count(counted: int, truth: int) -> CountError | None:
    """None where the person saw nobody.

    Each person is missed, or counted once more, independently of the others; misses and doubles that cancel each other
    out can't be seen.
    """
    if not truth:
        return None
    if counted <= truth:
        return CountError((counted - truth) / truth, share_interval(truth - counted, truth))
    surplus = share_interval(counted - truth, counted)
    return CountError((counted - truth) / truth, Interval(_of_truth(surplus.low), _of_truth(surplus.high)))


def _of_truth(share_of_counted: float) -> float:
    """A share of surplus people among those counted, as a share of those who were there; Wilson's never reaches 1."""
    return share_of_counted / (1 - share_of_counted)
