"""Numbers: pages, tokens that are renewed by themselves, plain objects."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from faulty_server import answering, http, peer
from testkit import Stack, TestStream

from onlooker_client import BadArgument, BadCredentials, BadRequest, Bucket, Client, ConfigError, LinkError
from onlooker_client.config import Config
from onlooker_client.numbers.endpoint import UNKNOWN_LIFE_S, DataEndpoint, Tokens, life_s
from onlooker_client.numbers.metrics import Metrics, Query

OWNER = "owner@example.org"
HOURS = 120


@pytest.fixture
def reader(product: Stack, stream: TestStream) -> Iterator[Client]:
    with Client(product.url, stream.client_id, stream.access_token, ca_file=product.ca_file, username=OWNER) as made:
        yield made


def test_pages_follow_one_another_by_themselves(reader: Client) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    metrics = reader.metrics(["passing_by", "gender"], start, start + timedelta(hours=HOURS))
    assert len(metrics) == HOURS
    assert len(metrics._buckets) == 50, "the first page alone"
    buckets = metrics.buckets
    assert [bucket.start for bucket in buckets] == [start + timedelta(hours=hour) for hour in range(HOURS)]
    assert list(metrics) == buckets
    assert (metrics.from_date, metrics.to_date, metrics.is_exact) == (start, start + timedelta(hours=HOURS), True)


def test_buckets_are_plain_objects(reader: Client) -> None:
    names = ["passing_by", "interested", "stop_time", "category", "gender", "age", "emotion", "satisfaction"]
    (bucket,) = reader.metrics(names, "2026-03-01", "2026-03-02", time="by_day")
    assert (bucket.passing_by, bucket.interested, bucket.stop_time, bucket.satisfaction) == (0, 0, None, None)
    assert bucket.gender == {"?": 0, "female": 0, "male": 0}
    assert set(bucket.age) > {"0-14", "65+"}
    assert bucket["category"]["senior_female"] == 0
    with pytest.raises(BadArgument, match="attention_time was not requested"):
        bucket.attention_time  # noqa: B018


def test_the_whole_range_is_one_bucket_that_begins_with_it(reader: Client) -> None:
    (bucket,) = reader.metrics(["passing_by"], date(2026, 3, 1), date(2026, 3, 5), time="global", tz="Europe/Paris")
    assert bucket.start == datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=1)))


def test_what_the_server_refuses_is_said(reader: Client) -> None:
    with pytest.raises(BadRequest, match="happiness"):
        reader.metrics(["happiness"], "2026-03-01").buckets  # noqa: B018
    with pytest.raises(BadArgument, match="by_quarter_hour, by_hour, by_day, by_week, by_month, global"):
        reader.metrics(["passing_by"], "2026-03-01", time="by_minute")
    with pytest.raises(BadArgument, match="at least one"):
        reader.metrics([], "2026-03-01")


def test_a_token_is_got_once_and_anew_when_it_is_refused(reader: Client) -> None:
    ask = lambda: reader.metrics(["passing_by"], "2026-03-01", time="global").buckets  # noqa: E731
    ask()
    tokens, _ = reader._data._open()
    assert isinstance(tokens, Tokens)
    first = tokens.get()
    ask()
    assert tokens.get() == first
    head, claims, signature = first.split(".")
    tokens._token = forged = f"{head}.{claims}.{signature[::-1]}"
    ask()
    assert tokens.get() != forged


def test_a_token_is_renewed_before_it_ends(reader: Client) -> None:
    reader.metrics(["passing_by"], "2026-03-01", time="global").buckets  # noqa: B018
    tokens, _ = reader._data._open()
    assert isinstance(tokens, Tokens)
    assert life_s(tokens.get()) == 5 * 3600
    tokens._renew_at = 0.0
    tokens._token = "ended"
    reader.metrics(["passing_by"], "2026-03-01", time="global").buckets  # noqa: B018
    assert tokens.get() != "ended"


def test_a_stranger_gets_no_token(product: Stack, stream: TestStream) -> None:
    credentials = (product.url, stream.client_id, stream.access_token)
    with (
        Client(*credentials, ca_file=product.ca_file, username="stranger@example.org") as stranger,
        pytest.raises(BadCredentials) as caught,
    ):
        stranger.metrics(["passing_by"], "2026-03-01").buckets  # noqa: B018
    assert stream.access_token not in repr(caught.value)
    assert str(caught.value).startswith("No account stranger@example.org may see this stream")
    assert caught.value.status == 401


def test_a_datetime_without_a_zone_is_refused(reader: Client) -> None:
    with pytest.raises(BadArgument, match="need a time zone"):
        reader.metrics(["passing_by"], datetime(2026, 3, 1))


def test_threads_share_one_reader(reader: Client) -> None:
    found: list[int] = []
    metrics = reader.metrics(["passing_by"], datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 6, tzinfo=UTC))
    threads = [threading.Thread(target=lambda: found.append(len(metrics.buckets))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [HOURS] * 4


def token(claims: object) -> str:
    return f"e30.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.x"


def test_the_life_of_a_token_does_not_hang_on_this_devices_clock() -> None:
    assert life_s(token({"iat": 100, "exp": 400})) == 300
    for odd in ("", "a", "a.b", "a.b.c", token([]), token({"exp": 1}), token({"iat": "x", "exp": None})):
        assert life_s(odd) == UNKNOWN_LIFE_S


def test_a_token_goes_to_no_other_host_whatever_a_page_says() -> None:
    page = {
        "entities": {"2026-03-01T00:00:00+00:00": {"passing_by": {"value": 1}}},
        "from_date": "2026-03-01T00:00:00+00:00",
        "to_date": "2026-03-02T00:00:00+00:00",
        "next_page": "https://evil.example/api/1/entities?page=2",
    }
    last = page | {"next_page": "", "entities": {"2026-03-01T01:00:00Z": {"passing_by": {"value": 2}}}}

    def paged(taken, running) -> None:  # type: ignore[no-untyped-def]
        for said in (page, last):
            answering(http(json.dumps(said).encode()), times=1)(taken, running)

    said_token = json.dumps({"token": token({"iat": 0, "exp": 18_000})}).encode()
    with peer(answering(http(said_token))) as console, peer(paged) as data:
        places = {"console_url": console.url, "data_url": data.url}
        with Client("https://vision.example.org", "login", "hunter2", username="me", **places) as client:
            assert [bucket.passing_by for bucket in client.metrics(["passing_by"], "2026-03-01")] == [1, 2]
    assert [request.split(b" ")[1] for request in data.requests][1] == b"/api/1/entities?page=2"
    assert all(b"Authorization: Bearer e30." in request for request in data.requests)
    assert all(b"hunter2" not in request for request in data.requests)
    assert len(console.requests) == 1


@pytest.mark.parametrize("said", [{}, {"token": 1}, {"token": "a\r\nX: y"}, {"token": ""}])
def test_what_is_no_token_is_refused(said: dict[str, object]) -> None:
    with peer(answering(http(json.dumps(said).encode()))) as console:
        config = Config(
            client_id="login", access_token="hunter2", username="me", console_url=console.url, data_url=console.url
        )
        endpoint = DataEndpoint(config, dict, timeout_s=5)
        with pytest.raises(LinkError, match="gave no token"):
            endpoint.ask("metrics=passing_by")
        endpoint.close()


def test_a_server_that_does_not_say_where_its_numbers_are_needs_to_be_told() -> None:
    missing = http(b'{"code": "not_found", "detail": "No."}', status="404 Not Found")
    with (
        peer(answering(missing)) as old,
        Client(old.url, "login", "hunter2", username="me") as client,
        pytest.raises(ConfigError, match="ONLOOKER_CONSOLE_URL"),
    ):
        client.metrics(["passing_by"], "2026-03-01").buckets  # noqa: B018


def test_a_password_goes_to_no_console_without_encryption() -> None:
    said = http(b'{"console_url": "http://console.example", "data_url": "https://data.example"}')
    with (
        peer(answering(said)) as gateway,
        Client(gateway.url, "login", "hunter2", username="me") as client,
        pytest.raises(ConfigError, match="https://"),
    ):
        client.metrics(["passing_by"], "2026-03-01").buckets  # noqa: B018


@pytest.mark.parametrize(
    "page",
    [
        {},
        {"entities": []},
        {"entities": {"noon": {}}},
        {"entities": {}, "next_page": "https://data.example/api/1/entities?page=2"},
        {"entities": {}, "next_page": 7},
    ],
)
def test_what_are_no_numbers_is_refused(page: dict[str, object]) -> None:
    said_token = json.dumps({"token": token({"iat": 0, "exp": 18_000})}).encode()
    with peer(answering(http(said_token))) as console, peer(answering(http(json.dumps(page).encode()))) as data:
        places = {"console_url": console.url, "data_url": data.url}
        with (
            Client("https://vision.example.org", "login", "hunter2", username="me", **places) as client,
            pytest.raises(LinkError),
        ):
            client.metrics(["passing_by"], "2026-03-01").buckets  # noqa: B018


def test_a_row_is_flat() -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    bucket = Bucket(start, {"passing_by": {"value": 3}, "stop_time": {"value": None}, "gender": {"?": 0, "male": 3}})
    assert bucket.row() == {"start": start, "passing_by": 3, "stop_time": None, "gender_?": 0, "gender_male": 3}


GAPS = {"offline": 0.0, "disabled": 0.0, "unknown": 0.0}


def bucket_of(watched_s: float, share: float | None, **gaps: float) -> Bucket:
    said = {"passing_by": {"value": 0}, "watched": {"value": watched_s, "share": share}, "gaps": {**GAPS, **gaps}}
    return Bucket(datetime(2026, 3, 1, tzinfo=UTC), said)


def test_a_bucket_says_what_was_watched() -> None:
    half = bucket_of(1800.0, 0.5, offline=1800.0)
    assert (half.watched_s, half.watched_share, half.gaps["offline"], half.is_gap) == (1800.0, 0.5, 1800.0, False)
    assert list(half.row()) == ["start", "passing_by", "watched", "watched_share", *(f"gaps_{why}" for why in GAPS)]


def test_a_bucket_says_how_well_people_could_be_seen() -> None:
    said = {"fps": 9.5, "face_fps": None, "face_px": 80, "dark": 0.25, "models": "0.1.0,0.2.0", "of_a_later_server": 1}
    quality = Bucket(datetime(2026, 3, 1, tzinfo=UTC), {"quality": said}).quality
    assert (quality.fps, quality.face_fps, quality.face_px, quality.dark) == (9.5, None, 80, 0.25)
    assert (quality.models, quality.pipeline) == ("0.1.0,0.2.0", None)
    with pytest.raises(BadArgument, match="quality was not requested"):
        bucket_of(1800.0, 0.5).quality  # noqa: B018


@pytest.mark.parametrize(
    ("share", "gaps", "is_gap"), [(0.0, {"offline": 3600.0}, True), (None, {}, True), (None, {"unknown": 9.0}, False)]
)
def test_nobody_watched_where_it_is_known(share: float | None, gaps: dict[str, float], is_gap: bool) -> None:
    assert bucket_of(0.0, share, **gaps).is_gap is is_gap


def asked_of(answer: Callable[[str], dict[str, object]], *names: str) -> tuple[list[str], Metrics]:
    asked: list[str] = []

    def ask(query: str) -> dict[str, object]:
        asked.append(parse_qs(query)["metrics"][0])
        return answer(asked[-1])

    query = Query.of(names, "2026-03-01", None, time="global", tz=None)
    return asked, Metrics(ask, query)


def page_of(names: str) -> dict[str, object]:
    said = {"passing_by": {"value": 0}, "watched": {"value": 0.0, "share": 0.0}, "gaps": GAPS}
    values = {name: said[name] for name in names.split(",")}
    return {"entities": {"global": values}, "from_date": "2026-03-01T00:00:00Z", "to_date": "2026-03-02T00:00:00Z"}


def test_what_was_watched_is_asked_for_besides() -> None:
    asked, metrics = asked_of(page_of, "passing_by")
    assert (next(iter(metrics)).is_gap, asked) == (True, ["passing_by,watched,gaps"])
    asked, metrics = asked_of(page_of, "gaps", "passing_by")
    assert (next(iter(metrics)).is_gap, asked) == (True, ["gaps,passing_by,watched"])


def test_a_server_from_before_is_asked_without() -> None:
    def old(names: str) -> dict[str, object]:
        if "watched" in names:
            raise BadRequest(400, {"code": "bad_request", "detail": "There is no metric 'watched'. Ask for others."})
        return page_of(names)

    asked, metrics = asked_of(old, "passing_by")
    assert [bucket.passing_by for bucket in metrics] == [0]
    assert asked == ["passing_by,watched,gaps", "passing_by"]
    assert not next(iter(metrics)).is_gap


def broken_down(reader: Client, **asked: object) -> Metrics:
    return reader.metrics(["interested", "stop_time"], "2026-03-01", "2026-03-02", time="global", **asked)  # type: ignore[arg-type]


def test_numbers_are_broken_down_into_cells(reader: Client) -> None:
    metrics = broken_down(reader, by=["gender", "hour_of_day"], filter={"gender": "female", "age": ["25-34", "65+"]})
    (bucket,) = metrics
    assert (bucket.interested, len(bucket.cells)) == (0, 24)
    cell = bucket.cells[9]
    assert (cell.by, cell.interested, cell.stop_time) == ({"gender": "female", "hour_of_day": "09"}, 0, None)
    assert cell.start == bucket.start
    rows = metrics.rows()
    assert len(rows) == 24
    assert list(rows[9])[:5] == ["start", "gender", "hour_of_day", "interested", "stop_time"]
    assert rows[9]["hour_of_day"] == "09"


def test_a_filter_may_be_a_text_and_leaves_buckets_as_they_are(reader: Client) -> None:
    (bucket,) = broken_down(reader, filter="gender:female,weekday:sun")
    assert (bucket.cells, bucket.interested) == ([], 0)
    assert list(bucket.row())[:2] == ["start", "interested"]
    with pytest.raises(BadRequest, match="There is no dimension 'height'"):
        broken_down(reader, by="height").buckets  # noqa: B018


def test_a_file_of_a_breakdown_is_of_the_breakdown(reader: Client, tmp_path: Path) -> None:
    path = tmp_path / "numbers.parquet"
    broken_down(reader, by="age").save_parquet(path)
    assert b"onlooker.by" in path.read_bytes()


@pytest.mark.parametrize("asked", [{"by": "gender"}, {"filter": "gender:female"}])
def test_a_server_from_before_breakdowns_is_not_taken_for_one_that_filtered(asked: dict[str, str]) -> None:
    page = {"entities": {"global": {"passing_by": {"value": 3}}}, "from_date": "2026-03-01T00:00:00+00:00"}
    query = Query.of(["passing_by"], "2026-03-01", None, time="global", tz=None, **asked)  # type: ignore[arg-type]
    for metrics in (Metrics(lambda _: page, query), Metrics(lambda _: page, query, download=lambda _: b"PAR1PAR1")):
        with pytest.raises(ConfigError, match="from before breakdowns"):
            metrics.buckets  # noqa: B018
    with pytest.raises(ConfigError, match="from before breakdowns"):
        metrics.save_parquet("numbers.parquet")
