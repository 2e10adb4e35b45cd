"""Numbers of many streams by the management interface: the same as the console's own."""

from datetime import UTC, datetime, timedelta

import pytest
from test_group_page import count, watch

from api_programs import ApiProgram, program_of
from onlooker.console.accounts.models import Account
from onlooker.streams.administration import create_stream
from onlooker.streams.models import Site, Stream
from onlooker.streams.organisations import organisation_of

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def streams(owner: Account) -> list[Stream]:
    made = [create_stream(name, owner=owner, kind="enterprise").stream for name in ("One", "Two")]
    Stream.objects.update(created_at=datetime.now(UTC) - timedelta(days=300))
    for number, stream in enumerate(made, start=1):
        count(stream, 10 * number, days_ago=2)
        count(stream, 10 * number, days_ago=20)
        watch(stream, days=3)
    return made


@pytest.fixture
def reader(owner: Account) -> ApiProgram:
    return program_of(organisation_of(owner), "numbers", role="manager")


def day(days_ago: int) -> str:
    return (datetime.now(UTC).date() - timedelta(days=days_ago)).isoformat()


def test_the_sum_and_each_stream_over_the_days_that_are_asked_for(reader: ApiProgram, streams: list[Stream]) -> None:
    for query, people in (("", 60), (f"from_date={day(6)}", 30), (f"from_date={day(25)}&to_date={day(10)}", 30)):
        told = reader.do("GET", f"numbers?{query}")
        assert (told["total"]["metrics"]["passing_by"], told["streams"]) == ({"value": people}, 2), query
        each = reader.do("GET", f"numbers?by=stream&{query}")
        assert each["total"] is None
        assert sum(one["metrics"]["passing_by"]["value"] for one in each["items"]) == people
        assert sum(one["passing_by"] for one in told["by_day"]) == people


def test_coverage_ends_with_the_last_day(reader: ApiProgram, streams: list[Stream]) -> None:
    told = reader.do("GET", f"numbers?from_date={day(2)}&to_date={day(1)}")
    assert told["total"]["coverage"] == {"watched_s": 345_600, "open_s": 345_600, "blind_s": 0, "share": 1}
    assert (told["from_date"], told["to_date"], told["next"]) == (day(2), day(1), None)


def test_streams_are_paged_and_chosen(reader: ApiProgram, streams: list[Stream], owner: Account) -> None:
    first = reader.do("GET", "numbers?by=stream&limit=1")
    second = reader.do("GET", f"numbers?by=stream&limit=1&cursor={first['next']}")
    assert [first["items"][0]["name"], second["items"][0]["name"], second["next"]] == ["One", "Two", None]
    chosen = reader.do("GET", f"numbers?streams={streams[1].client_id}")
    assert (chosen["streams"], chosen["total"]["metrics"]["passing_by"]) == (1, {"value": 40})
    site = Site.objects.create(organisation=organisation_of(owner), name="Lyon")
    Stream.objects.filter(pk=streams[0].pk).update(site=site)
    limited = program_of(organisation_of(owner), "numbers", sites=[site])
    assert limited.do("GET", "numbers")["total"]["metrics"]["passing_by"] == {"value": 20}
    assert limited.refusal("GET", f"numbers?streams={streams[1].client_id}") == (400, "bad_request")


@pytest.mark.parametrize(
    "query",
    [
        "streams=x",
        "from_date=x",
        "from_date=2026-01-02&to_date=2026-01-01",
        "from_date=2020-01-01",
        "to_date=0001-01-01",
    ],
)
def test_days_and_streams_that_can_not_be_are_refused(reader: ApiProgram, query: str) -> None:
    assert reader.refusal("GET", f"numbers?{query}") == (400, "bad_request")
