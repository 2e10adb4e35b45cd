"""`onlooker prove` reads the log: a secret, a frame or an address in it breaks a promise."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from onlooker.proof import log_lines
from onlooker.proof.check import Unchecked
from onlooker.proof.installation import HttpAnswer, Installation, ProofStream
from onlooker.proof.log_lines import CHECK, check_logs, judge_log
from onlooker.proof.places import StoragePlace
from onlooker.settings import Settings

STREAM = ProofStream(7, "b6b7c0de-0000-4000-8000-000000000007", "access-token-of-the-proof", 9, "proof-9@localhost")
LINE = {"time": "2026-11-18T08:00:00.000+00:00", "level": "info", "process": "gateway", "event": "request", "stream": 7}


class LoggedInstallation(Installation):
    """One whose requests go nowhere, and whose log says what a test wants."""

    lines: list[dict[str, Any]]
    leaks_bodies = False

    def call(self, url: str, *, method: str = "GET", headers: Any = None, body: bytes | None = None) -> HttpAnswer:
        sent = dict(headers or {})
        line = LINE | {"status": 404, "route": "blob"}
        if request_id := sent.get("X-Request-Id"):
            line["request_id"] = request_id
        if self.leaks_bodies and body:
            line["error"] = body.decode()
        self.lines.append(line)
        return HttpAnswer(404, {}, b"")

    def bearer_token(self, stream: ProofStream) -> str:
        return "token"

    def places(self) -> list[StoragePlace]:
        content = "\n".join(json.dumps(line) for line in self.lines).encode()
        return [
            StoragePlace("logs", lambda _: iter([("up.log", content)] if content else [])),
            StoragePlace("home", self._unread),
        ]

    def _unread(self, _: list[str]) -> Any:
        raise AssertionError("only logs are read")


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoggedInstallation:
    monkeypatch.setattr(log_lines, "WRITTEN_WITHIN_S", 0.2)
    made = LoggedInstallation(Settings(home=str(tmp_path)), tmp_path, print, streams=[STREAM])
    made.lines = []
    vars(made)["storage"], vars(made)["stream"] = made, STREAM
    return made


def test_log_with_ids_alone_is_as_promised(installation: LoggedInstallation) -> None:
    installation.lines += [LINE, LINE | {"event": "token refused", "address": "198.51.100.7"}]
    finding = check_logs(installation)
    assert finding.ok, finding.found
    assert finding.figures["line_seen"]
    assert finding.limits == ()


@pytest.mark.parametrize(
    ("said", "what", "broken"),
    [
        ({"error": STREAM.access_token}, "a stream's Password", {"kept-logs"}),
        ({"url": f"/streams/{STREAM.client_id}/"}, "a stream's Login", {"kept-logs"}),
        ({"error": f"Bearer eyJ{'a' * 20}.eyJ{'b' * 20}.{'c' * 40}"}, "a token", {"kept-logs"}),
        ({"account": STREAM.owner}, "the address of an account", {"account-logs", "little-known-of-holders"}),
        ({"address": "198.51.100.7"}, "the network address", {"account-logs", "little-known-of-holders"}),
        (
            {"error": base64.b64encode(b"\xff\xd8\xff\xe0" + bytes(60)).decode()},
            "an encoded picture",
            {"kept-logs", "no-frame-in-log"},
        ),
    ],
)
def test_line_that_says_too_much_breaks_its_promise(
    installation: LoggedInstallation, said: dict[str, str], what: str, broken: set[str]
) -> None:
    installation.lines.append(LINE | said)
    finding = check_logs(installation)
    assert not finding.ok
    assert what in finding.found
    assert set(finding.broken) == broken
    assert broken <= set(CHECK.promises)


def test_bodies_in_the_log_break_the_promise(installation: LoggedInstallation) -> None:
    installation.leaks_bodies = True
    finding = check_logs(installation)
    assert "The log holds what a client sent" in finding.found
    assert "kept-logs" in finding.broken


def test_bytes_of_a_picture_are_found() -> None:
    assert list(judge_log(b"frame: \xff\xd8\xff\xe0" + bytes(20), {})) == ["a picture"]


def test_passwords_of_the_bus_and_the_database_are_looked_for(installation: LoggedInstallation, tmp_path: Path) -> None:
    (tmp_path / "nats").mkdir()
    (tmp_path / "nats" / "passwords.json").write_text(json.dumps({"gateway": "password-of-the-bus"}))
    installation.settings = Settings(home=str(tmp_path), database_url="postgresql://me:of-the-database@localhost/one")
    installation.lines.append(LINE | {"error": "password-of-the-bus of-the-database"})
    found = check_logs(installation).found
    assert "a password of the bus" in found
    assert "the database's password" in found


def test_log_without_the_proofs_own_line_is_said_to_be_another(
    installation: LoggedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.lines.append(LINE)
    monkeypatch.setattr(LoggedInstallation, "call", lambda *given, **named: HttpAnswer(404, {}, b""))
    finding = check_logs(installation)
    assert finding.ok
    assert "not the whole log" in finding.limits[0]


def test_without_a_log_it_can_not_be_checked(installation: LoggedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoggedInstallation, "call", lambda *given, **named: HttpAnswer(404, {}, b""))
    with pytest.raises(Unchecked, match="can't be read"):
        check_logs(installation)
