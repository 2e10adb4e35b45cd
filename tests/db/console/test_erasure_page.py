"""The page on which an owner erases a range: it says what goes, and only then does it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from dashboard_numbers import seen, write
from forms import fields_of
from onlooker.audit.models import AuditEntry
from onlooker.console.accounts.models import Account
from onlooker.metrics.erasure import erasable_range
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Stream
from onlooker.visits.models import ErasedRange, VisitRow

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=2)
RANGE = {"from_at": f"{NOON:%Y-%m-%dT}13:00", "to_at": f"{NOON:%Y-%m-%dT}14:00"}
"""As somebody types it in a zone where noon in UTC is one o'clock."""


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Lobby", owner=owner, kind="developer", time_zone="Africa/Lagos").stream
    write(*(seen(made, NOON + timedelta(minutes=minutes)) for minutes in (-20, 10, 20, 70)))
    return made


def address_of(stream: Stream) -> str:
    return f"/streams/{stream.client_id}/erase/"


def test_a_range_is_erased_after_it_was_confirmed(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    asked = browser.post(address_of(stream), RANGE)
    text = asked.content.decode()
    assert "This erases 2 visits." in text
    assert VisitRow.objects.count() == 4, "nothing yet"
    done = browser.post(address_of(stream), fields_of(asked), follow=True)
    assert "2 visits erased." in done.content.decode()
    left = list(VisitRow.objects.order_by("began_at").values_list("began_at", flat=True))
    assert left == [NOON - timedelta(minutes=20), NOON + timedelta(minutes=70)]
    erased = ErasedRange.objects.get()
    assert (erased.from_at, erased.to_at) == (NOON, NOON + timedelta(hours=1)), "in the stream's time zone"
    entry = AuditEntry.objects.filter(stream=stream).latest("number")
    assert (entry.actor, entry.action) == (f"account:{owner.pk}", "visits.erased")


def test_a_range_that_was_edited_afterwards_is_asked_about_again(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    browser = sign_in(owner)
    confirmed = fields_of(browser.post(address_of(stream), RANGE))
    again = browser.post(address_of(stream), confirmed | {"to_at": f"{NOON:%Y-%m-%dT}14:30"})
    assert "This erases 3 visits." in again.content.decode()
    assert VisitRow.objects.count() == 4


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"to_at": RANGE["from_at"]}, "must end after it begins"),
        ({"to_at": "2199-01-01T00:00"}, "must not reach into the future"),
        ({"to_at": ""}, "This field is required"),
        ({"from_at": "yesterday"}, "Enter a valid date/time"),
        ({"from_at": "2026-02-30T09:00"}, "Enter a valid date/time"),
        ({"from_at": "2026-02-03 09:00"}, "Enter a valid date/time"),
        ({"from_at": "2026-02-03T09:00+05:00"}, "Enter a valid date/time"),
    ],
)
def test_a_range_that_makes_no_sense_is_refused(
    sign_in: SignIn, owner: Account, stream: Stream, changes: dict[str, str], fault: str
) -> None:
    assert fault in sign_in(owner).post(address_of(stream), RANGE | changes).content.decode()
    assert VisitRow.objects.count() == 4


def test_on_the_grid_no_range_tells_of_a_moment_inside_a_quarter_of_an_hour(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    """Somebody came ten minutes past: each minute of that quarter is answered alike, and erases as much."""
    Stream.objects.filter(pk=stream.pk).update(grid=True)
    browser = sign_in(owner)
    for begins, ends in (("13:01", "13:02"), ("13:10", "13:11"), ("13:00", "13:15")):
        given = {"from_at": f"{NOON:%Y-%m-%dT}{begins}", "to_at": f"{NOON:%Y-%m-%dT}{ends}"}
        asked = browser.post(address_of(stream), given)
        text = asked.content.decode()
        assert "This erases 1 visit." in text
        assert f"from {NOON:%-d %b %Y}, 13:00 to {NOON:%-d %b %Y}, 13:15." in text
    assert "1 visit erased." in browser.post(address_of(stream), fields_of(asked), follow=True).content.decode()
    erased = ErasedRange.objects.get()
    assert (erased.from_at, erased.to_at) == (NOON, NOON + timedelta(minutes=15))


@pytest.mark.parametrize(("over_s", "is_refused"), [(-60, True), (60, True), (119, True), (120, False)])
def test_on_the_grid_a_quarter_of_an_hour_is_erased_when_all_of_it_has_arrived(over_s: int, is_refused: bool) -> None:
    """Otherwise the count would change when somebody comes."""
    begins, now = NOON + timedelta(minutes=1), NOON + timedelta(minutes=15, seconds=over_s)
    if is_refused:
        with pytest.raises(ValueError, match="Wait, or choose an earlier end"):
            erasable_range(begins, begins + timedelta(minutes=1), grid=True, now=now)
    else:
        erased = erasable_range(begins, begins + timedelta(minutes=1), grid=True, now=now)
        assert erased == (NOON, NOON + timedelta(minutes=15))
    assert erasable_range(begins, begins + timedelta(minutes=1), grid=False, now=now)[0] == begins
