"""A stream's page: what connects a camera, why frames were refused, and the certificate to trust."""

import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import msgspec
import pytest
from cryptography import x509
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.streams.condition import describe_frames, describe_reason
from onlooker.console.streams.connection import curl_line, setup_line
from onlooker.console.streams.status import FAULT_TEXTS, REFUSAL_TEXTS
from onlooker.streams.administration import create_stream
from onlooker.streams.condition import AgentState, DropReason
from onlooker.streams.coverage import Reason
from onlooker.streams.models import AgentCondition, Blindness, PictureCondition, Refusal, Stream, Usage
from onlooker.up.certificates import ensure_certificate
from onlooker_pipeline.service_call import PictureFault

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    return create_stream("Front door", owner=owner, kind="developer", time_zone="Europe/Paris").stream


def test_the_page_gives_what_a_device_needs_but_no_password(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    assert '<code id="login">' + str(stream.client_id) in page
    assert '<code id="input">https://gate.example.org' in page
    assert "&lt;ACCESS_TOKEN&gt;" in page
    assert "Shown only once" in page


def words_of(line: str) -> list[str]:
    """As a shell reads it, which goes on after a backslash at the end of a line."""
    return shlex.split(line.replace("\\\n", " "))


def test_the_line_is_one_command_whatever_the_values(stream: Stream, settings: Settings) -> None:
    assert words_of(curl_line(stream, "-a_b"))[:3] == ["curl", "--user", f"{stream.client_id}:-a_b"]
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, authority_file="/etc/ca.pem")
    assert words_of(curl_line(stream))[:3] == ["curl", "--cacert", "authority.pem"]
    assert "/etc/ca.pem" not in curl_line(stream)


def test_the_agent_comes_first_and_curl_in_a_detail(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    in_order = ["Install the agent", "onlooker-agent setup", "onlooker-agent run", "<details", 'id="curl"']
    places = [page.index(words) for words in in_order]
    assert places == sorted(places)
    labels = re.findall(r'aria-label="(Copy the command [^"]+)"', page)
    assert len(set(labels)) == len(labels) == 4


def test_the_line_that_sets_the_agent_up_names_server_and_stream_and_no_password(
    stream: Stream, settings: Settings
) -> None:
    words = ["onlooker-agent", "setup", "--url", "https://gate.example.org", "--client-id", str(stream.client_id)]
    assert words_of(setup_line(stream)) == words
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, authority_file="/etc/ca.pem")
    assert words_of(setup_line(stream)) == [*words, "--ca", "authority.pem"]


def test_a_stream_without_frames_opens_on_how_to_connect_it(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    path = f"/streams/{stream.client_id}/"
    page = browser.get(path).content.decode()
    in_order = ["Connect your camera", "Waiting for the first frame", "Other ways to connect", 'id="summary"']
    places = [page.index(words) for words in in_order]
    assert places == sorted(places)
    assert f'data-events="{path}dashboard/live/"' in page
    assert f'<noscript> <a href="{path}">Check again</a></noscript>' in page
    at = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    Usage.objects.create(stream=stream, month="2026-03-01", video_s=0.1, last_frame_at=at)
    page = browser.get(path).content.decode()
    assert page.index('id="summary"') < page.index("Connect your camera")
    assert "Last frame received at" in page
    assert "1 Mar 2026, 10:30:00" in page
    assert f'<a href="{path}dashboard/">Open the dashboard</a>' in page
    assert "data-events" not in page


def test_other_ways_are_the_trial_the_other_place_to_compute_and_many_devices(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    browser = sign_in(owner)
    path = f"/streams/{stream.client_id}/"
    page = browser.get(path).content.decode()
    ways = page[page.index("Other ways to connect") :]
    assert f'href="{path}try/"' in ways
    assert 'href="/devices/"' in ways
    assert "Let the device compute" in ways
    Stream.objects.filter(pk=stream.pk).update(compute="device")
    assert "Let the server compute" in browser.get(path).content.decode()


def test_the_summary_refreshes_alone(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    part = sign_in(owner).get(f"/streams/{stream.client_id}/", headers={"hx-request": "true"}).content.decode()
    assert part.strip().startswith('<dl id="summary"')
    assert "Password" not in part


def test_every_reason_for_a_refusal_has_words() -> None:
    assert set(REFUSAL_TEXTS) == set(Reason)


def test_refusals_of_a_day_are_added_up_by_reason(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    now = timezone.now()
    rows = [(1, "bad_image", 1000), (3, "bad_image", 234), (2, "out_of_order", 7), (30, "failed", 99)]
    for hours, reason, frames in rows:
        Refusal.objects.create(stream=stream, slot_at=now - timedelta(hours=hours), reason=reason, frames=frames)
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    assert "1,234" in page
    assert page.index("Send JPEG or PNG") < page.index("not newer than the frame before")
    assert "The server failed" not in page


def test_every_fault_of_a_camera_has_words() -> None:
    assert set(FAULT_TEXTS) == set(PictureFault)


def test_blind_times_of_a_day_are_added_up_by_fault(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    now = timezone.now()
    rows = [
        (1, "covered", 900.0),
        (3, "covered", 600.0),
        (2, "dark", 70.0),
        (4, "not_known_yet", 5),
        (30, "frozen", 99),
    ]
    for hours, fault, video_s in rows:
        Blindness.objects.create(stream=stream, slot_at=now - timedelta(hours=hours), fault=fault, video_s=video_s)
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    assert page.index("Something covered the lens") < page.index("25 min") < page.index("too dark")
    assert "1 min 10 s" in page
    assert "not_known_yet" in page
    assert "did not change at all" not in page


def test_a_reason_of_a_newer_version_does_not_break_the_page(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    Refusal.objects.create(stream=stream, slot_at=timezone.now(), reason="not_known_yet", frames=3)
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    assert "not_known_yet" in page


def test_the_authority_is_served_to_everybody_and_nothing_but_it(
    sign_in: SignIn, settings: Settings, tmp_path: Path
) -> None:
    _, key = ensure_certificate(tmp_path / "tls", ["localhost"])
    both = tmp_path / "both.pem"
    both.write_bytes(Path(key).read_bytes() + (tmp_path / "tls" / "ca.pem").read_bytes())
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, authority_file=str(both))
    answer = sign_in(None).get("/authority.pem")
    assert answer.status_code == 200
    assert b"PRIVATE" not in answer.content
    served = x509.load_pem_x509_certificate(answer.content)
    assert served == x509.load_pem_x509_certificate((tmp_path / "tls" / "ca.pem").read_bytes())
    assert 'filename="authority.pem"' in answer["Content-Disposition"]


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_authority_that_can_not_be_read_is_not_there(
    sign_in: SignIn, settings: Settings, tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "ca.pem"
    if content:
        file.write_text(content)
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, authority_file=str(file))
    assert sign_in(None).get("/authority.pem").status_code == 404


def test_where_no_authority_is_needed_none_is_offered(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    assert sign_in(None).get("/authority.pem").status_code == 404
    page = sign_in(owner).get(f"/streams/{stream.client_id}/").content.decode()
    assert "--cacert" not in page


def part_of(sign_in: SignIn, account: Account, stream: Stream) -> str:
    """The part of the page that refreshes itself, as text."""
    part = sign_in(account).get(f"/streams/{stream.client_id}/", headers={"hx-request": "true"}).content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", part)).split())


def report(stream: Stream, state: str, **told: object) -> None:
    now = timezone.now()
    given: dict[str, object] = {
        "since_at": datetime(2026, 3, 1, 13, 5, 7, tzinfo=UTC),
        "over_s": 60.0,
        "sent": 582,
        "dropped": {},
        "received_at": now,
    }
    AgentCondition.objects.update_or_create(stream=stream, defaults=given | {"state": state} | told)


def judge(stream: Stream, fault: str, *, seen_at: datetime | None = None) -> None:
    since_at = datetime(2026, 3, 1, 13, 2, 3, tzinfo=UTC)
    given = {"fault": fault, "since_at": since_at, "seen_at": seen_at or timezone.now()}
    PictureCondition.objects.update_or_create(stream=stream, defaults=given)


def test_a_stream_without_a_report_has_no_condition(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    part = part_of(sign_in, owner, stream)
    assert "Camera" not in part
    assert "Picture" not in part


def test_the_agents_condition_is_a_sentence_with_since_when(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    report(stream, "seeing", dropped={"busy": 17, "timed_out": 1})
    said = "Camera Connected since 1 Mar 2026, 14:05:07 9.7 frames a second; 3 % dropped: "
    assert said + "the line or the server is too slow, answers took too long" in part_of(sign_in, owner, stream)
    report(stream, "seeing", dropped={"busy": 1})
    assert "less than 1 % dropped" in part_of(sign_in, owner, stream)
    report(stream, "seeing", over_s=0.0)
    assert "Connected since 1 Mar 2026, 14:05:07 Kind" in part_of(sign_in, owner, stream)


def test_a_lost_camera_is_named_with_what_to_do(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    report(stream, "camera_lost", sent=0)
    judge(stream, "")
    part = part_of(sign_in, owner, stream)
    assert "Camera lost since 1 Mar 2026, 14:05:07 The device can't open its camera." in part
    assert "Picture" not in part, "without pictures there are none to judge"


def test_an_agent_that_fell_silent_is_not_believed(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    report(stream, "seeing", received_at=datetime(2026, 3, 1, 14, 0, tzinfo=UTC))
    judge(stream, "covered", seen_at=datetime(2026, 3, 1, 14, 0, tzinfo=UTC))
    part = part_of(sign_in, owner, stream)
    assert "Not known now. The agent's last report: 1 Mar 2026, 15:00:00" in part
    assert "Not known now: there are no frames to judge. The last one: 1 Mar 2026, 15:00:00" in part


def test_what_the_frames_show_now_is_said_to_viewers_too(
    sign_in: SignIn, owner: Account, viewer: Account, stream: Stream
) -> None:
    share_stream(stream, viewer)
    judge(stream, "")
    assert "Picture Sees since 1 Mar 2026, 14:02:03" in part_of(sign_in, viewer, stream)
    judge(stream, "covered")
    said = "Picture Covered since 1 Mar 2026, 14:02:03 Something covers the lens. Remove it."
    assert said in part_of(sign_in, viewer, stream)
    assert said in part_of(sign_in, owner, stream)


def test_every_condition_has_words() -> None:
    blind = {*PictureFault, *AgentState} - {PictureFault.MOVED, AgentState.SEEING}
    assert all(describe_reason(reason) for reason in blind)
    told = AgentCondition(over_s=1.0, sent=0)
    for reason in DropReason:
        told.dropped = {reason.value: 1}
        assert f"dropped: {reason}" not in describe_frames(told)
