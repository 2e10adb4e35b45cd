"""How many gateways there are, what they are called, and when they stop."""

from unittest.mock import patch

import pytest

from onlooker.settings import Settings
from onlooker.up.supervisor import gateway_names, stopping_rank


@pytest.mark.parametrize(("cores", "count"), [(1, 1), (2, 1), (4, 1), (7, 1), (8, 2), (16, 4), (64, 4)])
def test_by_default_there_is_one_gateway_for_every_four_cores(cores: int, count: int) -> None:
    with patch("onlooker.up.supervisor.os.sched_getaffinity", return_value=set(range(cores))):
        assert len(gateway_names(Settings())) == count
        assert gateway_names(Settings(gateways=3)) == ["gateway", "gateway-2", "gateway-3"]


def test_all_gateways_stop_at_the_same_time_and_before_workers() -> None:
    ranks = [stopping_rank(name) for name in ("gateway", "gateway-2", "dispatcher", "worker-1", "worker-12", "bus")]
    assert ranks[0] == ranks[1] < ranks[2] < ranks[3] == ranks[4] < ranks[5]
