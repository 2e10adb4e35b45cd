"""doctor's checks of server, credentials, quota, clock and network, against the real product."""

import time
from dataclasses import replace
from itertools import islice

import pytest
from onlooker.streams.options import WARNED_FROM
from testkit import Stack, TestStream

from onlooker_client.config import Config
from onlooker_client.doctor.checks import CHECKS, run_checks
from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.findings import Finding, Severity
from onlooker_client.doctor.server import judge_network
from onlooker_client.moments import in_hours


def settings(product: Stack, stream: TestStream) -> Config:
    return Config(
        url=product.url, client_id=stream.client_id, access_token=stream.access_token, ca_file=product.ca_file
    )


def examine(config: Config, *, clock_off_s: float = 0.0) -> dict[str, Finding]:
    """Without a camera, and without the last check, which computes for seconds: those are other files' matter."""
    assert CHECKS[-1].name == "computing"
    examination = Examination(config, clock=lambda: time.time() + clock_off_s)
    try:
        checked = islice(run_checks(examination, lambda _: None), len(CHECKS) - 1)
        return {check.name: finding for check, finding in checked}
    finally:
        examination.close()


def use_up(product: Stack, stream: TestStream, video_s: float) -> None:
    product.execute(
        "INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, date_trunc('month', now())::date, %s)",
        stream.id,
        video_s,
    )


def test_without_a_camera_what_needs_one_is_not_checked(product: Stack, stream: TestStream) -> None:
    found = examine(settings(product, stream))
    assert found["camera"].level is Severity.BAD
    assert "onlooker-agent setup" in found["camera"].remedy
    assert found["focus"].figure == "not checked: see camera"


def test_no_frame_of_a_stream_that_is_computed_on_its_device_is_sent(product: Stack, stream: TestStream) -> None:
    product.execute("UPDATE streams_stream SET compute = 'device' WHERE id = %s", stream.id)
    assert (
        examine(settings(product, stream))["analysis"].figure
        == "not checked: computed on this device: no frame is sent"
    )


def test_a_wrong_password_is_named_and_hides_what_follows(product: Stack, stream: TestStream) -> None:
    found = examine(replace(settings(product, stream), access_token="wrong"))
    assert (found["credentials"].level, found["credentials"].figure) == (Severity.BAD, "Login or Password is wrong")
    assert found["network"].figure == "not checked: see credentials"
    assert found["clock"].level is Severity.GOOD  # the Date header needs no credentials


def test_a_used_up_month_is_to_be_fixed(product: Stack) -> None:
    stream = product.create_stream(kind="developer")
    use_up(product, stream, 10_801)
    found = examine(settings(product, stream))
    assert found["quota"].level is Severity.BAD
    assert found["quota"].figure.startswith("used up: 3 h of 3 h used; resets on 1 ")
    assert found["analysis"].figure == "not checked: see quota"


def test_a_month_that_is_nearly_used_up_is_to_be_looked_at(product: Stack) -> None:
    stream = product.create_stream(kind="developer")
    use_up(product, stream, 9_000)
    quota = examine(settings(product, stream))["quota"]
    assert quota.level is Severity.WARN
    assert "2 h 30 min of 3 h" in quota.figure
    assert "30 min" in quota.remedy
    assert "nothing is computed until 1 " in quota.remedy
    assert "enterprise" in quota.remedy


def test_the_server_says_from_when_on_a_month_is_worth_a_warning(product: Stack) -> None:
    below, above = product.create_stream(kind="developer"), product.create_stream(kind="developer")
    use_up(product, below, WARNED_FROM * 10_800 - 1)
    use_up(product, above, WARNED_FROM * 10_800)
    levels = [examine(settings(product, stream))["quota"].level for stream in (below, above)]
    assert levels == [Severity.GOOD, Severity.WARN]


def test_a_fresh_developer_stream_is_good_with_a_note(product: Stack) -> None:
    quota = examine(settings(product, product.create_stream(kind="developer")))["quota"]
    assert (quota.level, "all day" in quota.remedy) == (Severity.GOOD, True)


def test_a_stream_that_is_switched_off_is_named(product: Stack) -> None:
    found = examine(settings(product, product.create_stream(enabled=False)))
    assert (found["stream"].level, found["stream"].figure) == (Severity.BAD, "enterprise stream, switched off")
    assert found["analysis"].figure == "not checked: see stream"


@pytest.mark.parametrize(
    ("url", "words", "remedy"),
    [
        ("https://localhost:1", "nothing is listening", "port"),
        ("https://nosuch.invalid", "name is unknown", "spelling"),
        ("localhost", "not the address", "looks like"),
        (None, "not set", "setup"),
    ],
)
def test_a_server_that_is_not_there_is_told_with_a_remedy(url: str | None, words: str, remedy: str) -> None:
    found = examine(Config(url=url, client_id="x", access_token="y"))
    assert found["server"].level is Severity.BAD
    assert words in found["server"].figure
    assert remedy in found["server"].remedy
    assert found["analysis"].figure == "not checked: see server"


def test_an_unknown_authority_is_told_with_its_file(product: Stack, stream: TestStream) -> None:
    found = examine(replace(settings(product, stream), ca_file=None))
    assert "not trusted" in found["server"].figure
    assert "authority.pem" in found["server"].remedy


def test_a_clock_that_is_ahead_is_told(product: Stack, stream: TestStream) -> None:
    clock = examine(settings(product, stream), clock_off_s=90.0)["clock"]
    assert clock.level is Severity.BAD
    assert abs(float(clock.figure.split()[0]) - 90.0) < 5


@pytest.mark.parametrize(
    ("round_trip_s", "rate", "level"),
    [
        (0.03, 1e6, Severity.GOOD),
        (0.5, 1e6, Severity.WARN),
        (3.0, 1e6, Severity.BAD),
        (0.03, 3e5, Severity.WARN),
        (0.03, 1e5, Severity.BAD),
    ],
)
def test_network_is_judged_by_what_the_frames_need(round_trip_s: float, rate: float, level: Severity) -> None:
    finding = judge_network(round_trip_s, rate, needed=4e5)
    assert finding.level is level
    assert bool(finding.remedy) == (level is not Severity.GOOD)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 min"), (0.4, "1 s"), (59.9, "60 s"), (720, "12 min"), (4320, "1 h 12 min"), (10800, "3 h")],
)
def test_times_are_said_as_people_do(seconds: float, words: str) -> None:
    assert in_hours(seconds) == words


def test_no_secret_is_in_what_is_found(product: Stack, stream: TestStream) -> None:
    for config in (settings(product, stream), replace(settings(product, stream), url="https://localhost:1")):
        assert stream.access_token not in str(examine(config))
