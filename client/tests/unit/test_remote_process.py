"""The agent as a process, with a small real server: it replaces itself to try a configuration, and survives crashes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agent_thread import await_true
from doctor_scenes import shop, write_video
from small_console import DEVICE_KEY, SmallConsole, small_console

from onlooker_client.agent.remote.state_file import CRASHED, StateFile
from onlooker_client.command import exit_codes
from onlooker_client.config import write_file

QUICK = """
import functools, sys
from onlooker_client.agent.remote import console_link, control, options
control.SOON_S, console_link.SHORTEST_S = 0.3, 0.5
options.RemoteOptions = functools.partial(options.RemoteOptions, every_s=1.0, first_s=0.5)
"""
"""Nobody waits a minute for a test's report."""
CRASHING = """
import os
from onlooker_client.agent.agent import Agent
run = Agent.run
Agent.run = lambda self: os._exit(9) if self._options.width_px == 333 else run(self)
"""
FAILING = """
from onlooker_client.agent.agent import Agent
from onlooker_client.errors import ConfigError
run = Agent.run
def fail(self):
    if self._options.width_px == 333:
        raise ConfigError("No room for such pictures.")
    return run(self)
Agent.run = fail
"""
MAIN = """
from onlooker_client.command.agent import main
sys.argv = ["onlooker-agent", "run", *sys.argv[1:]]
main()
"""


@pytest.fixture
def console() -> Iterator[SmallConsole]:
    with small_console() as made:
        made.every_s = 1
        yield made


@contextmanager
def started(
    console: SmallConsole, folder: Path, *options: str, more: str = "", trial_s: str = "3"
) -> Iterator[subprocess.Popen[str]]:
    """`onlooker-agent run` of an enrolled device, over in any case."""
    video = folder / "camera.mp4"
    if not video.exists():
        write_video(video, [shop(seed=number) for number in range(20)])
        write_file(folder / "client.json", console.config(source=str(video)))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    ours = {"STATE_DIRECTORY": str(folder / "state"), "ONLOOKER_CONFIG": str(folder / "client.json")}
    with (folder / "log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", QUICK + more + MAIN, "--loop", "--json", *options],
            env={**kept, **ours, "ONLOOKER_TRIAL_S": trial_s},
            stderr=log,
            text=True,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def events(folder: Path, name: str) -> list[dict[str, object]]:
    return [one for one in map(json.loads, (folder / "log").read_text().splitlines()) if one["event"] == name]


def test_it_replaces_itself_under_the_same_id_and_keeps_what_works(console: SmallConsole, tmp_path: Path) -> None:
    with started(console, tmp_path) as process:
        await_true(lambda: console.frames > 10, 40, "frames")
        etag = console.set(width=320, height=240)
        console.await_state(etag, "trying", 60)
        console.await_state(etag, "applied", 60)
        assert process.poll() is None
        assert len(events(tmp_path, "start")) == 2
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == exit_codes.OK
    kept = StateFile(DEVICE_KEY, tmp_path / "state").read().kept
    assert kept is not None
    assert kept.etag == etag


def test_a_crash_in_the_trial_rolls_back_at_the_second_start(console: SmallConsole, tmp_path: Path) -> None:
    with started(console, tmp_path, more=CRASHING) as process:
        await_true(lambda: console.frames > 10, 40, "frames")
        etag = console.set(width=333)
        assert process.wait(60) == 9
    before = console.frames
    with started(console, tmp_path, more=CRASHING) as process:
        said = console.await_state(etag, "rolled_back", 60)
        assert said["configuration"]["reason"] == CRASHED
        await_true(lambda: console.frames > before + 10, 40, "it counts people again")
        assert process.poll() is None


def test_a_configuration_that_ends_the_agent_is_rolled_back_by_itself(console: SmallConsole, tmp_path: Path) -> None:
    with started(console, tmp_path, more=FAILING) as process:
        await_true(lambda: console.frames > 10, 40, "frames")
        etag = console.set(width=333)
        said = console.await_state(etag, "rolled_back", 60)
        assert "No room for such pictures." in said["configuration"]["reason"]
        assert process.poll() is None


def test_a_kill_in_the_trial_counts_as_a_crash_and_a_stop_does_not(console: SmallConsole, tmp_path: Path) -> None:
    with started(console, tmp_path, trial_s="30") as process:
        await_true(lambda: console.frames > 10, 40, "frames")
        etag = console.set(width=320)
        console.await_state(etag, "trying", 60)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == exit_codes.OK
    console.reports.clear()
    with started(console, tmp_path, trial_s="30") as process:
        console.await_state(etag, "trying", 60)
        process.kill()
        process.wait()
    with started(console, tmp_path, trial_s="30"):
        console.await_state(etag, "rolled_back", 60)


def test_the_options_of_the_unit_win(console: SmallConsole, tmp_path: Path) -> None:
    etag = console.set(fps=2, source="/dev/video97", log_level="debug")
    with started(console, tmp_path, "--fps", "5", "--quiet", str(tmp_path / "camera.mp4")):
        said = console.await_state(etag, "applied", 60)
        named, _, words = said["configuration"]["reason"].partition(": ")
        assert (named, words) == ("source, fps, log_level", "set by the device's command line, which wins.")
