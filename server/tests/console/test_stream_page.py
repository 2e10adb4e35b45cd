"""A stream's page: what connects a camera, why frames were refused, and the certificate to trust."""

import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from cryptography import x509
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from onlooker.console.accounts.models import Account
from onlooker.console.streams.connection import curl_line, setup_line
from onlooker.console.streams.status import REFUSAL_TEXTS
from onlooker.streams.administration import create_stream
from onlooker.streams.coverage import Reason
from onlooker.streams.models import Refusal, Stream, Usage
from onlooker.up.certificates import ensure_certificate

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
    in_order = ["onlooker-client[camera]", "onlooker-agent setup", "onlooker-agent run", "<details", "curl"]
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


def test_the_panel_waits_in_silence_and_turns_green_with_the_first_frame(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    browser = sign_in(owner)
    path = f"/streams/{stream.client_id}/connection/"
    asks = f'hx-get="{path}" hx-trigger="every 2s"'
    assert asks in browser.get(f"/streams/{stream.client_id}/").content.decode()
    assert browser.get(path, headers={"hx-request": "true"}).status_code == 204
    Usage.objects.create(
        stream=stream, month="2026-03-01", video_s=0.1, last_frame_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    )
    answer = browser.get(path, headers={"hx-request": "true"})
    assert "First frame received at" in answer.content.decode()
    assert "1 Mar 2026, 10:30:00" in answer.content.decode()
    assert "hx-get" not in answer.content.decode()
    assert "frame-received" in answer["HX-Trigger"]
    assert asks not in browser.get(f"/streams/{stream.client_id}/").content.decode()


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
