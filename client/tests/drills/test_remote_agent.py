"""An enrolled agent, its made camera, and a small real server: reports, configurations, trials, and what goes wrong."""

import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_thread import await_true
from made_camera import BLIND, BROKEN, MadeCamera
from small_console import DEVICE_KEY, SmallConsole, small_console
from testkit.ports import free_ports

from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.remote import control
from onlooker_client.agent.remote.in_process import InProcessDevice
from onlooker_client.agent.remote.options import RemoteOptions
from onlooker_client.agent.remote.state_file import NAME, StateFile
from onlooker_client.agent.sending.server_delivery import ServerDelivery
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.config import Config
from onlooker_client.terminal import Terminal
from onlooker_client.version import VERSION

BASE = AgentOptions("0", fps=10.0, idle_fps=10.0)
QUICK = RemoteOptions(trial_s=3.0, every_s=1.0, first_s=0.5)


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallConsole]:
    monkeypatch.setattr(control, "SOON_S", 0.1)
    monkeypatch.setattr("onlooker_client.agent.agent.TICK_S", 0.2)
    with small_console() as made:
        made.every_s = 1
        monkeypatch.setattr("onlooker_client.agent.remote.console_link.SHORTEST_S", 0.5)
        yield made


class RunningDevice:
    """A device in a thread, with its log."""

    def __init__(self, read: Callable[[], Config], folder: Path, options: RemoteOptions, base: AgentOptions) -> None:
        self.out = io.StringIO()
        log = AgentLog(Terminal.of(self.out), as_json=True)
        remote = RemoteOptions(folder, options.trial_s, options.every_s, options.first_s, options.fixed)
        self.device = InProcessDevice(read, base, log, remote=remote, open_source=MadeCamera)
        self.code: int | None = None
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._go)

    def _go(self) -> None:
        try:
            self.code = self.device.run()
        except BaseException as error:  # noqa: BLE001 - it is looked at by the test
            self.error = error

    @property
    def answered(self) -> int:
        agent = self.device.agent
        return agent.tally.read().answered if agent else 0

    def await_answers(self, count: int) -> None:
        wanted = self.answered + count
        await_true(lambda: self.answered >= wanted, 15, self.out.getvalue())

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in map(json.loads, self.out.getvalue().splitlines()) if line["event"] == name]


@contextmanager
def running(
    console: SmallConsole,
    folder: Path,
    *,
    options: RemoteOptions = QUICK,
    base: AgentOptions = BASE,
    **config: Any,
) -> Iterator[RunningDevice]:
    run = RunningDevice(lambda: console.config(**config), folder, options, base)
    run.thread.start()
    try:
        yield run
    finally:
        run.device.stop()
        run.thread.join(20)
        assert not run.thread.is_alive()


def test_a_device_reports_all_of_its_health(console: SmallConsole, tmp_path: Path) -> None:
    with running(console, tmp_path):
        await_true(lambda: len(console.reports) >= 3, 15, "reports")
    said = console.reports[-1]
    assert (said["version"], said["state"], said["condition"]) == (VERSION, "running", "fine")
    assert (said["camera"]["name"], said["camera"]["state"]) == ("camera 0", "open")
    assert said["frames"]["grabbed"] >= said["frames"]["answered"] > 0
    assert 100 < said["light"] < 160
    assert said["disk_total_mb"] > said["disk_free_mb"] > 0
    assert said["memory_mb"] > 5
    assert abs(said["clock_off_s"]) < 2
    assert said["line"]["latency_ms"] >= 0
    assert said["line"]["kbytes_s"] > 0
    assert said["journal"] is None
    assert said["machine"]
    assert said["configuration"]["state"] == "applied"
    assert console.authorizations == {f"Bearer {DEVICE_KEY}"}
    assert len(json.dumps(said)) < 8000


def test_without_a_key_nothing_is_sent_to_a_console(console: SmallConsole, tmp_path: Path) -> None:
    with running(console, tmp_path, device_key=None) as run:
        run.await_answers(20)
    assert not [path for path in console.paths if path.startswith("/devices/")]
    assert not (tmp_path / NAME).exists()


def test_a_document_that_changes_nothing_is_applied_at_once(console: SmallConsole, tmp_path: Path) -> None:
    etag = console.set(compute="server", fps=10, log_level="info")
    with running(console, tmp_path) as run:
        console.await_state(etag, "applied", 10)
        assert run.device.restarts == 0
        asked = len(console.asked_with)
        await_true(lambda: len(console.reports) >= 4, 15, "reports")
        assert len(console.asked_with) == asked == 1, "it is not asked for again"
    assert [etag for etag, _ in console.states()] == ["", etag]


def test_rates_and_log_level_are_applied_without_a_restart(console: SmallConsole, tmp_path: Path) -> None:
    with running(console, tmp_path) as run:
        run.await_answers(10)
        etag = console.set(fps=4, log_level="debug")
        console.await_state(etag, "trying")
        console.await_state(etag, "applied")
        assert run.device.restarts == 0
        before, began = run.answered, time.monotonic()
        time.sleep(2)
        assert 0 < (run.answered - before) / (time.monotonic() - began) < 6
        assert run.device.agent is not None
        assert run.device.agent._log.least == 10


def test_another_size_restarts_the_agent_and_is_kept_across_starts(console: SmallConsole, tmp_path: Path) -> None:
    with running(console, tmp_path) as run:
        run.await_answers(20)
        etag = console.set(width=160, height=120, quality=50)
        console.await_state(etag, "trying")
        console.await_state(etag, "applied")
        assert run.device.restarts == 1
    assert console.states() == [
        ("", "applied"),
        (console.etag.replace("2-", "1-"), "applied"),
        (etag, "trying"),
        (etag, "applied"),
    ]
    with running(console, tmp_path) as run:
        run.await_answers(3)
        assert run.device.agent is not None
        assert run.device.agent._options.width_px == 160
        assert run.device.restarts == 0


def test_a_restart_is_no_end_of_the_film(
    console: SmallConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal goes on with the visits that are open, as after a restart of the process."""
    ended: list[bool] = []
    close = ServerDelivery.close

    def note(self: ServerDelivery, *, source_ended: bool) -> None:
        ended.append(source_ended)
        close(self, source_ended=source_ended)

    monkeypatch.setattr(ServerDelivery, "close", note)
    with running(console, tmp_path) as run:
        run.await_answers(5)
        console.await_state(console.set(width=160), "trying")
    assert ended == [False, False]


def test_what_can_not_be_is_refused_with_the_reason_and_the_agent_goes_on(
    console: SmallConsole, tmp_path: Path
) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"source": BROKEN}, "source: There is no camera 97."),
        ({"source": "/dev/nothing"}, "source: There is no such camera."),
        ({"fps": 99}, "fps: 99 is not a number between 0.2 and 30."),
        ({"shutter": 1, "fps": 5}, "'shutter': this version of the agent has no such setting"),
    ]
    with running(console, tmp_path) as run:
        run.await_answers(5)
        for settings, words in refused:
            said = console.await_state(console.set(**settings), "refused")
            assert words in said["configuration"]["reason"]
        asked = len(console.asked_with)
        run.await_answers(20)
        assert run.device.restarts == 0
        assert len(console.asked_with) == asked, "it is not asked for again"
        console.version = 1
        console.settings = {}
        console.await_state(console.etag, "applied")
    assert StateFile(DEVICE_KEY, tmp_path).read().trial is None


def test_computing_without_the_packages_is_refused(
    console: SmallConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onlooker_client.device.computation.PACKAGES", ("no_such_package",))
    with running(console, tmp_path):
        said = console.await_state(console.set(compute="device"), "refused")
    assert "compute: Computing on this device needs more packages" in said["configuration"]["reason"]
    assert "onlooker-client[device]" in said["configuration"]["reason"]


def test_a_camera_that_gives_no_pictures_is_rolled_back(console: SmallConsole, tmp_path: Path) -> None:
    options = RemoteOptions(trial_s=12.0, every_s=1.0, first_s=0.5)  # that it gives none is noticed after 5 s
    with running(console, tmp_path, options=options) as run:
        run.await_answers(5)
        etag = console.set(source=BLIND)
        console.await_state(etag, "trying")
        said = console.await_state(etag, "rolled_back")
        assert "no pictures" in said["configuration"]["reason"]
        run.await_answers(5)
        assert run.device.restarts == 2
        assert run.device.agent is not None
        assert run.device.agent._options.source == "0"


def test_too_little_bandwidth_is_rolled_back_without_a_restart(console: SmallConsole, tmp_path: Path) -> None:
    with running(console, tmp_path) as run:
        run.await_answers(60)
        etag = console.set(max_kbytes=1)
        console.await_state(etag, "trying")
        console.await_state(etag, "rolled_back")
        run.await_answers(40)
        assert run.device.restarts == 0


def test_the_command_line_wins_and_the_console_is_told(console: SmallConsole, tmp_path: Path) -> None:
    options = RemoteOptions(trial_s=2.0, every_s=1.0, first_s=0.5, fixed=frozenset({"fps"}))
    etag = console.set(fps=2, log_level="debug")
    with running(console, tmp_path, options=options) as run:
        said = console.await_state(etag, "applied")
        assert said["configuration"]["reason"] == "fps: set by the device's command line, which wins."
        assert run.device.agent is not None
        assert run.device.agent._options.fps == 10


def test_a_device_that_is_stopped_in_a_trial_goes_on_with_it(console: SmallConsole, tmp_path: Path) -> None:
    with running(console, tmp_path) as run:
        run.await_answers(5)
        etag = console.set(width=160)
        console.await_state(etag, "trying")
    with running(console, tmp_path):
        console.await_state(etag, "applied")
    assert ("", "rolled_back") not in console.states()


def test_a_folder_that_can_not_be_written_refuses_what_could_not_be_rolled_back(
    console: SmallConsole, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with running(console, tmp_path / "file" / "state") as run:
        etag = console.set(width=160)
        said = console.await_state(etag, "refused")
        assert "can't be written" in said["configuration"]["reason"]
        run.await_answers(10)


LIES = [
    b"nonsense",
    b'{"configuration": 5, "every_s": "often"}',
    b'{"configuration": "a\\r\\nX: y", "every_s": -1e999}',
    b"[" * 60_000,
    b'{"configuration": "' + b"x" * 100_000 + b'"}',
]


def test_a_console_that_lies_in_its_answers_changes_nothing(console: SmallConsole, tmp_path: Path) -> None:
    with running(console, tmp_path) as run:
        for lie in LIES:
            console.raw_health = lie
            told = len(console.reports)
            await_true(lambda told=told: len(console.reports) >= told + 2, 20, "reports go on")  # type: ignore[misc]
        run.await_answers(10)
        assert run.device.restarts == 0
    assert not (tmp_path / NAME).exists()


@pytest.mark.parametrize("lie", [b'{"settings": {"fps": 1e999}}', b"x" * 100_000])
def test_a_document_that_is_none_changes_nothing(console: SmallConsole, tmp_path: Path, lie: bytes) -> None:
    console.raw_document = lie
    with running(console, tmp_path) as run:
        await_true(lambda: len(console.asked_with) >= 1 and len(console.reports) >= 2, 20, "it was asked")
        run.await_answers(10)
        assert run.device.restarts == 0
    assert StateFile(DEVICE_KEY, tmp_path).read().kept is None


@pytest.mark.parametrize("status", [404, 401, 500])
def test_a_console_that_refuses_is_left_alone_for_a_while(console: SmallConsole, tmp_path: Path, status: int) -> None:
    console.health_status = status
    with running(console, tmp_path) as run:
        await_true(lambda: len(console.reports) >= 1, 10, "a report")
        run.await_answers(20)
        assert len(console.reports) <= 6
        if status in (401, 404):
            assert len(console.reports) == 1


def test_a_console_that_is_slow_or_away_does_not_hold_frames_up(console: SmallConsole, tmp_path: Path) -> None:
    console.delay_s = 8.0
    with running(console, tmp_path) as run:
        await_true(lambda: len(console.reports) >= 1, 10, "a report")
        before = run.answered
        await_true(lambda: run.answered >= before + 10, 0.9 * console.delay_s, "frames are answered")
        assert len(console.reports) == 1, "one question at a time"
    nobody = f"http://127.0.0.1:{free_ports(1)[0]}"
    with running(console, tmp_path / "away", console_url=nobody) as run:
        run.await_answers(20)
        await_true(lambda: run.device.remote is not None and run.device.remote.counts.failed >= 2, 10, "it tried")


def test_hours_close_the_device_and_open_it(console: SmallConsole, tmp_path: Path) -> None:
    with running(console, tmp_path) as run:
        run.await_answers(5)
        today = time.gmtime().tm_wday
        other = ("mo", "tu", "we", "th", "fr", "sa", "su")[(today + 3) % 7]
        etag = console.set(hours=f"{other} 09:00-10:00", time_zone="UTC")
        said = console.await_state(etag, "applied")
        await_true(lambda: console.reports[-1]["state"] == "closed", 10, f"closed: {said}")
        before = console.frames
        time.sleep(1)
        assert console.frames - before <= 1
        console.await_state(console.set(hours=""), "applied")
        run.await_answers(5)
