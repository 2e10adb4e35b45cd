"""GET /stream: what a device may know of its own stream."""

from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from clients import client_of
from testkit import Stack, TestStream
from wire import assert_problem, measure, wait_for

QUOTA_S = 10_800
MONTH = "date_trunc('month', now() AT TIME ZONE 'UTC')"


def use(stack: Stack, stream: TestStream, video_s: float) -> None:
    stack.execute(f"INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, {MONTH}, %s)", stream.id, video_s)


def said_of(stack: Stack, stream: TestStream) -> dict[str, object]:
    with client_of(stack, stream) as client:
        answer = client.get("/stream")
        assert answer.status_code == 200
        return dict(answer.json())


def test_an_enterprise_stream_is_ready_and_has_no_limit(stack: Stack, stream: TestStream) -> None:
    said = said_of(stack, stream)
    assert (said["client_id"], said["kind"], said["enabled"], said["state"]) == (
        stream.client_id,
        "enterprise",
        True,
        "ready",
    )
    assert said["month"]["quota_s"] is None  # type: ignore[index]
    assert said["reads"] == {"age": True, "gender": True, "expression": True, "faces": True}
    assert (said["retention_days"], said["groups_of"]) == (365, 1)


def test_it_says_where_console_and_numbers_are(stack: Stack, stream: TestStream) -> None:
    said = said_of(stack, stream)
    assert (said["console_url"], said["data_url"]) == (stack.console_url, stack.data_url)


def test_a_developer_stream_is_told_what_is_left_of_its_month(stack: Stack) -> None:
    stream = stack.create_stream(kind="developer")
    use(stack, stream, 600.5)
    said = said_of(stack, stream)
    assert said["state"] == "ready"
    assert (said["month"]["used_s"], said["month"]["quota_s"]) == (600.5, QUOTA_S)  # type: ignore[index]
    assert said["month"]["nearly_used_up"] is False  # type: ignore[index]


@pytest.mark.parametrize(("used_s", "is_warned"), [(8639, False), (8640, True), (10_800, False)])
def test_a_month_is_nearly_used_up_from_80_percent_on(stack: Stack, used_s: float, is_warned: bool) -> None:
    developer, enterprise = stack.create_stream(kind="developer"), stack.create_stream()
    for stream in (developer, enterprise):
        use(stack, stream, used_s)
    assert said_of(stack, developer)["month"]["nearly_used_up"] is is_warned  # type: ignore[index]
    assert said_of(stack, enterprise)["month"]["nearly_used_up"] is False  # type: ignore[index]


def test_what_was_computed_a_moment_ago_counts_already(stack: Stack) -> None:
    stream = stack.create_stream(kind="developer")
    with client_of(stack, stream) as client:
        assert measure(client).status_code == 201
        assert client.get("/stream").json()["month"]["used_s"] == pytest.approx(0.1)


def test_a_used_up_month_says_when_it_begins_anew(stack: Stack) -> None:
    stream = stack.create_stream(kind="developer")
    use(stack, stream, QUOTA_S)
    said = said_of(stack, stream)
    assert (said["state"], said["enabled"]) == ("month_used_up", True)
    resets_at = datetime.fromisoformat(said["month"]["resets_at"])  # type: ignore[index]
    assert resets_at.day == 1
    assert timedelta(0) < resets_at - datetime.now(UTC) <= timedelta(days=31)


def test_a_disabled_stream_is_told_so_and_is_still_answered(stack: Stack) -> None:
    said = said_of(stack, stack.create_stream(enabled=False))
    assert (said["state"], said["enabled"]) == ("disabled", False)


def test_switches_of_the_stream_are_told(stack: Stack, stream: TestStream) -> None:
    stack.execute(
        "UPDATE streams_stream SET reads_age = false, reads_expression = false, retention_days = 30, groups_of = 5 "
        "WHERE id = %s",
        stream.id,
    )
    with client_of(stack, stream) as client:
        said = wait_for(lambda: client.get("/stream").json(), lambda said: not said["reads"]["age"], limit_s=3)
    assert said["reads"] == {"age": False, "gender": True, "expression": False, "faces": True}
    assert (said["retention_days"], said["groups_of"]) == (30, 5)


def test_the_clock_of_the_server_is_told(stack: Stack, stream: TestStream) -> None:
    now = datetime.fromisoformat(str(said_of(stack, stream)["now"]))
    assert now.utcoffset() == timedelta(0)
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=10)


def test_without_credentials_it_says_nothing(stack: Stack, client: httpx2.Client) -> None:
    with client_of(stack, None) as nobody:
        assert_problem(nobody.get("/stream"), 401, "bad_credentials")
    assert client.get("/stream/").status_code == 200


def test_nothing_secret_is_in_it(stack: Stack, stream: TestStream) -> None:
    assert stream.access_token not in str(said_of(stack, stream))


def test_a_login_in_capitals_is_answered_as_it_is_kept(stack: Stack, stream: TestStream) -> None:
    shouted = TestStream(stream.id, stream.client_id.upper(), stream.access_token)
    assert said_of(stack, shouted)["client_id"] == stream.client_id
