"""A dashboard request passes through few modules and seldom returns to one, so that its code can be read in order.

The walk is what Python really calls, without the middleware and the page frame that all pages share.
`pytest -s` prints it.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from dashboard_numbers import cover, seen, write
from module_walk import followed
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
FOLLOWED = ("onlooker.console.dashboard.", "onlooker.console.streams.", "onlooker.console.numbers")
MOST_MODULES, MOST_RETURNS = 8, 4
OF_THE_CHART = ("onlooker.console.time_chart.", "onlooker.console.bucket_numbers")
MOST_MODULES_OF_THE_CHART = 7


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer").stream


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_dashboard_is_read_in_order(sign_in: SignIn, owner: Account, stream: Stream, is_watched: bool) -> None:
    if is_watched:
        begins = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=30)
        cover(stream, begins, begins + timedelta(hours=3))
        write(*(seen(stream, begins + timedelta(minutes=15 * number), looks=True) for number in range(8)))
    browser = sign_in(owner)
    address = f"/streams/{stream.client_id}/dashboard/"
    browser.get(address)  # what is done once per process is done now
    with followed(*FOLLOWED) as walk:
        page = browser.get(address)
    assert page.status_code == 200
    print(walk)
    assert len(walk.modules) <= MOST_MODULES
    assert walk.returns <= MOST_RETURNS


def test_what_the_chart_adds_is_read_in_one_folder(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    address = f"/streams/{stream.client_id}/dashboard/?metric=stop_time&beside=interested&ghost=before"
    browser.get(address)
    with followed(*OF_THE_CHART) as walk:
        page = browser.get(address)
    assert page.status_code == 200
    print(walk)
    assert len(walk.modules) <= MOST_MODULES_OF_THE_CHART
