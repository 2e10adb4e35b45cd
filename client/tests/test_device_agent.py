"""The whole agent on a device that computes, against the real product: only visits travel, and none is lost."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from agent_thread import await_true, config_of, running_agent
from testkit import Stack, TestStream
from testkit.ports import free_ports

from onlooker_client.agent.business_hours import WEEK_S, OpeningTimes
from onlooker_client.agent.options import AgentOptions, JournalOptions
from onlooker_client.command import exit_codes
from onlooker_client.device.compute_options import ComputeOptions

pytest.importorskip("onlooker_models")

ROOT = Path(__file__).resolve().parents[2]
FRESH_S = 60.0
VISITS = """
SELECT extract(epoch FROM upper(range_merge(present)) - lower(range_merge(present)))::float, age, gender, ended,
    (SELECT coalesce(sum(extract(epoch FROM upper(one) - lower(one))), 0)::float FROM unnest(looking) AS one)
FROM visits_visit WHERE stream_id = %s
"""


@pytest.fixture(scope="session")
def passing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Ten seconds of somebody who comes, looks and goes."""
    path = tmp_path_factory.mktemp("clips") / "passing.mp4"
    subprocess.run([sys.executable, str(ROOT / "docs" / "make_passing.py"), str(path)], check=True)
    return str(path)


@pytest.fixture
def computing(passing: str, tmp_path: Path) -> Callable[..., AgentOptions]:
    """Options of a run that computes here."""

    def make(**more: Any) -> AgentOptions:
        return AgentOptions(
            passing,
            fps=5.0,
            computes_here=True,
            is_compute_fixed=True,
            compute=ComputeOptions(reads_expression=True),  # as the stream: otherwise the agent starts itself again
            journal=JournalOptions(tmp_path / "journal"),
            **more,
        )

    return make


def read_visits(product: Stack, stream: TestStream) -> list[Any]:
    return list(product.execute(VISITS, stream.id))


def has_one_ended_visit(product: Stack, stream: TestStream) -> bool:
    """A visit is there, and becomes longer, while somebody is in view."""
    return [ended for *_, ended, _ in read_visits(product, stream)] == [True]


@pytest.mark.alone
def test_a_film_that_is_computed_here_is_counted_as_the_server_counts_it(
    product: Stack, stream: TestStream, passing: str, computing: Callable[..., AgentOptions]
) -> None:
    with running_agent(computing(), lambda: config_of(product, stream)) as run:
        assert run.ended.wait(60)
    assert run.exit_code == exit_codes.OK
    assert run.counts.adds_up
    assert run.counts.answered >= 10
    assert run.counts.sent_bytes == 0
    await_true(lambda: has_one_ended_visit(product, stream), FRESH_S, "the visit")
    other = product.create_stream()
    with running_agent(AgentOptions(passing, fps=5.0), lambda: config_of(product, other)) as run:
        assert run.ended.wait(60)
    await_true(lambda: has_one_ended_visit(product, other), FRESH_S, "the visit by the server")
    (here,), (there,) = read_visits(product, stream), read_visits(product, other)
    assert here[0] == pytest.approx(there[0], abs=0.5)
    assert here[1] == pytest.approx(there[1], abs=3)
    assert here[2:4] == there[2:4]
    assert here[4] == pytest.approx(there[4], abs=0.5)


def test_what_was_watched_is_in_coverage(
    product: Stack, stream: TestStream, computing: Callable[..., AgentOptions]
) -> None:
    with running_agent(computing(), lambda: config_of(product, stream)) as run:
        assert run.ended.wait(60)
    watched = "SELECT coalesce(sum(video_s), 0)::float FROM streams_coverage WHERE stream_id = %s"
    await_true(lambda: product.execute(watched, stream.id)[0][0] > 5, FRESH_S, "the coverage")
    assert product.execute(watched, stream.id)[0][0] <= 11


def test_outside_the_opening_hours_nothing_is_computed_also_without_a_line(
    product: Stack, stream: TestStream, computing: Callable[..., AgentOptions]
) -> None:
    (port,) = free_ports(1)
    nowhere = config_of(product, stream, url=f"https://localhost:{port}")
    closed = OpeningTimes(since_s=0.0, from_s=0.0, to_s=WEEK_S)
    with running_agent(computing(is_stream_known=True, opening=closed), lambda: nowhere) as run:
        assert run.ended.wait(60)
    counts = run.counts
    assert counts.adds_up
    assert (counts.answered, counts.idle) == (0, 0)
    assert counts.dropped["closed"] == counts.grabbed > 10


def test_without_a_line_visits_wait_and_arrive_later(
    product: Stack, stream: TestStream, computing: Callable[..., AgentOptions]
) -> None:
    (port,) = free_ports(1)
    nowhere = config_of(product, stream, url=f"https://localhost:{port}")
    with running_agent(computing(is_stream_known=True), lambda: nowhere) as run:
        assert run.ended.wait(60)
    assert run.exit_code == exit_codes.OK
    assert not read_visits(product, stream)
    with running_agent(computing(is_looped=True), lambda: config_of(product, stream)) as run:
        await_true(lambda: len(read_visits(product, stream)) >= 1, FRESH_S, "the visit of before")


def test_the_health_report_says_where_frames_are_computed(
    product: Stack, stream: TestStream, computing: Callable[..., AgentOptions]
) -> None:
    with running_agent(computing(is_looped=True), lambda: config_of(product, stream)) as run:
        run.await_answers(5, 60)
        said = run.agent.health()
        assert said["compute"] == "device"
        assert said["device"]["where"] == "computed here"
        assert said["device"]["confined"] is True
        assert said["device"]["journal"]["journal_bytes"] > 0
        assert said["state"] == "running"
        json.dumps(said)
    assert "computed here" in run.events("start")[0]["message"]
    assert "computed here" in run.events("stop")[0]["message"]


def test_what_is_computed_here_can_be_watched(
    product: Stack, stream: TestStream, computing: Callable[..., AgentOptions], tmp_path: Path
) -> None:
    from onlooker_client.preview.output import open_preview

    film = tmp_path / "seen.mp4"
    preview = open_preview(show=False, save=film, fps=5.0, warn=print)
    with running_agent(computing(), lambda: config_of(product, stream), preview=preview) as run:
        run.await_answers(10, 60)
    assert film.stat().st_size > 5_000


def test_a_wrong_password_ends_it_unless_it_was_right_before(
    product: Stack, stream: TestStream, computing: Callable[..., AgentOptions]
) -> None:
    wrong = replace(config_of(product, stream), access_token="wrong" * 8)
    with running_agent(computing(), lambda: wrong) as run:
        assert run.ended.wait(30)
    assert "onlooker-agent setup" in str(run.error)
    config = wrong
    with running_agent(computing(is_stream_known=True, is_looped=True), lambda: config) as run:
        run.await_answers(5, 60)
        config = config_of(product, stream)
        run.await_event("credentials")
        run.agent.stop()
        assert run.ended.wait(20)
    assert run.exit_code == exit_codes.OK


def test_a_recording_can_be_computed_here(product: Stack, stream: TestStream, passing: str, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ONLOOKER_")} | {
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": product.ca_file,
        "XDG_STATE_HOME": str(tmp_path),
    }
    filmed_at = (datetime.now(timezone.utc) - timedelta(hours=2)).isoformat(timespec="seconds")
    command = [str(Path(sys.executable).with_name("onlooker-agent")), "analyse", passing, "--start", filmed_at]
    done = subprocess.run(
        [*command, "--compute", "device"], env=environment, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stderr
    await_true(lambda: len(read_visits(product, stream)) == 1, FRESH_S, "the visit")
    (visit,) = read_visits(product, stream)
    assert visit[3] is True
    assert 7 < visit[0] < 10.5
