"""A stream that tells about people in groups, or is on the grid: its settings, and what its dashboard says of it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from django.test import Client

from dashboard_numbers import cover, seen, show, with_numbers, write
from onlooker.cli import main
from onlooker.console.accounts.models import Account
from onlooker.console.checks.comparison import settle_checks
from onlooker.console.checks.models import CameraCheck
from onlooker.console.dashboard.live import find_snapshot, read_strip
from onlooker.console.streams.status import StatusLabel
from onlooker.metrics.block_release import release_blocks
from onlooker.streams.administration import create_stream, set_stream
from onlooker.streams.models import Stream, Usage

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
MONDAY = datetime(2026, 11, 1, 23, tzinfo=UTC)  # midnight in Paris
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MONDAY_ALONE = "from=2026-11-02&to=2026-11-02"


@pytest.fixture
def stream(owner: Account) -> Stream:
    """In groups of at least 5; 26 people were interested on a Monday, in 13 hours."""
    made = create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY - 30 * DAY, retention_days=3650, reads_expression=True)
    Usage.objects.create(stream=made, month="2026-11-01", video_s=1, last_frame_at=MONDAY + 8 * DAY)
    changed = set_stream(str(made.client_id), {"groups_of": 5}, quota_s=1.0)
    cover(changed, MONDAY, MONDAY + DAY)
    write(*(seen(changed, MONDAY + (8 + number // 2) * HOUR, looks=True) for number in range(26)))
    return changed


def release(now: datetime) -> None:
    async def act(pool: Any) -> None:
        await release_blocks(pool, now)

    with_numbers(act)


def test_a_dash_says_how_many_people_are_not_told_yet(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    before = show(browser, stream, MONDAY_ALONE)
    assert (before.numbers["interested"], before.numbers["stop_time"]) == ("26", "")
    assert before.page.count("in groups of at least 5: 26 people are not told yet") == 3  # both times and satisfaction
    assert "In groups of at least 5: 26 people are not told yet." in before.page
    release(MONDAY + 20 * HOUR)
    during = show(browser, stream, MONDAY_ALONE)
    assert during.numbers["stop_time"] == "5.0"
    assert "In groups of at least 5: 8 people are not told yet." in during.page
    assert "could be read" not in during.page  # who is not told about is not hard to read
    release(MONDAY + 2 * DAY)
    after = show(browser, stream, MONDAY_ALONE)
    assert "not told" not in after.page
    assert after.data["gender"] == {"?": 0, "female": 26, "male": 0}


def test_means_have_an_interval_of_blocks(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    release(MONDAY + 2 * DAY)
    assert "<td>5.0 to 5.0 s</td>" in show(sign_in(owner), stream, MONDAY_ALONE).page


def test_both_are_settings_of_a_stream(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser, path = sign_in(owner), f"/streams/{stream.client_id}/settings/"
    given = {"name": "Front door", "enabled": "on", "retention_days": "3650", "time_zone": "Europe/Paris"}
    given |= {"silence_alert_minutes": "15", "blind_alert_minutes": "15", "groups_of": "7", "grid": "on"}
    assert browser.post(path, given).status_code == 302
    stream.refresh_from_db()
    assert (stream.groups_of, stream.grid) == (7, True)
    page = browser.get(f"/streams/{stream.client_id}/").content.decode()
    assert "in groups of at least 7; ranges are rounded to quarters of an hour" in page
    for wrong in ("0", "51", "many"):
        assert browser.post(path, given | {"groups_of": wrong}).status_code == 200
    stream.refresh_from_db()
    assert stream.groups_of == 7


def test_both_can_be_set_on_the_command_line(stream: Stream) -> None:
    runner, words = CliRunner(), ["stream", "set", str(stream.client_id)]
    assert runner.invoke(main, [*words, "--groups-of", "9", "--grid"]).output == "groups_of = 9, grid = True\n"
    stream.refresh_from_db()
    assert (stream.groups_of, stream.grid) == (9, True)
    assert runner.invoke(main, [*words, "--groups-of", "51"]).exit_code == 2


def test_the_live_strip_says_how_many_are_in_view_and_nothing_about_them(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    write(seen(stream, datetime.now(UTC), looks=True, ended=False))
    request = sign_in(owner).get(f"/streams/{stream.client_id}/").wsgi_request
    snapshot = find_snapshot(request, stream.client_id)
    live = replace(snapshot, status=replace(snapshot.status, label=StatusLabel.LIVE))
    strip = with_numbers(partial(read_strip, snapshot=live))
    assert msgspec.structs.asdict(strip) == {
        "in_view": 1, "looking": None, "sign": "live", "label": "Live", "words": "1 in view",
    }  # fmt: skip


def test_on_the_grid_a_page_says_so_and_nobody_is_in_view(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    set_stream(str(stream.client_id), {"grid": True}, quota_s=1.0)
    browser = sign_in(owner)
    page = show(browser, stream, "from=2026-11-02T08:10&to=2026-11-02T09:01")
    assert "This stream is on the grid" in page.page
    assert page.numbers["interested"] == "4"  # those of 09:00, too: the range ends with their quarter of an hour
    request = browser.get(f"/streams/{stream.client_id}/").wsgi_request
    snapshot = find_snapshot(request, stream.client_id)
    live = replace(snapshot, status=replace(snapshot.status, label=StatusLabel.LIVE))
    pool: Any = None
    strip = asyncio.run(read_strip(pool, live))
    assert (strip.in_view, strip.looking, strip.words) == (
        None,
        None,
        "who is in view is not told: this stream is on the grid",
    )


def test_on_the_grid_a_check_of_the_camera_has_no_count(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    set_stream(str(stream.client_id), {"grid": True}, quota_s=1.0)
    stream.refresh_from_db()
    check = CameraCheck.objects.create(
        stream=stream, began_at=MONDAY + 8 * HOUR, ended_at=MONDAY + 9 * HOUR, passed=2, stopped=2
    )
    request = sign_in(owner).get(f"/streams/{stream.client_id}/").wsgi_request
    settle_checks(request, stream, now=MONDAY + DAY)
    check.refresh_from_db()
    assert check.passing_by is None
