"""`onlooker-agent run`: its options."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from onlooker_client.agent.options import DEVICE_FPS, SERVER_FPS, AgentOptions, JournalOptions
from onlooker_client.agent.process import replace_process
from onlooker_client.command import exit_codes
from onlooker_client.command.options import add_picture_options, add_server_options, number, read_config, whole
from onlooker_client.config import Config, from_environment
from onlooker_client.device.command_options import ComputePlan, add_device_options, plan_computing
from onlooker_client.device.compute_options import SERVER
from onlooker_client.device.feed_options import add_feed_options, read_feed_options
from onlooker_client.errors import ConfigError

if TYPE_CHECKING:
    from onlooker_client.agent.remote.control import RemoteControl
    from onlooker_client.agent.status.log import AgentLog

SUMMARY = "Count a camera's people, until it is stopped: send its frames to the server, or compute them here."
EPILOG = """\
SOURCE is one of:
  0, usb:0, /dev/video0      a camera on this machine
  rtsp://...  http://...     a network camera
  film.mp4                   a video, played in real time as if it were a camera
  folder/                    pictures, one after another
  -                          JPEG pictures on standard input

It stops cleanly on Ctrl-C and SIGTERM. Exit codes: 0 stopped or the video ended, 66 the source can't be
opened, 78 the server rejects Login and Password, or a setting is missing.
"""

CONFIGURABLE = ("fps", "idle_fps", "width", "height", "quality", "max_kbytes", "compute")
"""Options that the console may set where they are not given."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("source", nargs="?", metavar="SOURCE", help="the camera, if not the one that setup saved")
    pictures = add_picture_options(parser, fps=None, fps_said="10; 5 where this device computes")
    pictures.add_argument("--loop", action="store_true", help="repeat a video or folder")
    _add_sending_options(parser)
    add_device_options(parser)
    add_feed_options(parser)
    _add_watching_options(parser)
    add_server_options(parser)
    parser.set_defaults(**dict.fromkeys(CONFIGURABLE))  # what is not given may be configured from the console


def _add_sending_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sending")
    group.add_argument(
        "--idle-fps",
        type=number(0.2, 60),
        metavar="N",
        help="frames a second while nobody is there and nothing moves (1)",
    )
    group.add_argument("--max-kbytes", type=number(0, 1e6), metavar="N", help="limit in KB a second; 0: no limit (400)")
    group.add_argument("--no-store", action="store_true", help="analyse only: nothing is stored in the metrics")


def _add_watching_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("watching")
    group.add_argument("--show", action="store_true", help="open a window with what the server sees")
    group.add_argument("--save", type=Path, metavar="FILE.mp4", help="write the same as a video")
    group.add_argument("--json", action="store_true", help="log as JSON, one object a line")
    group.add_argument("--health-file", type=Path, metavar="FILE", help="keep a report there, as JSON")
    group.add_argument("--health-port", type=whole(1, 65535), metavar="N", help="answer http://127.0.0.1:N/healthz")
    loudness = group.add_mutually_exclusive_group()
    loudness.add_argument("-v", "--verbose", action="store_true", help="log more")
    loudness.add_argument("-q", "--quiet", action="store_true", help="log warnings and errors only")


def run(arguments: argparse.Namespace) -> int:
    from onlooker_client.agent.remote.control import begin_remote
    from onlooker_client.agent.remote.options import RemoteOptions, read_trial_s
    from onlooker_client.agent.status.log import AgentLog, LogLevel
    from onlooker_client.terminal import Terminal

    level = LogLevel.DEBUG if arguments.verbose else LogLevel.WARNING if arguments.quiet else LogLevel.INFO
    agent_log = AgentLog(Terminal.of(sys.stderr), least=level, as_json=arguments.json)

    config = read_config(arguments)
    remote = begin_remote(config, agent_log, RemoteOptions(trial_s=read_trial_s(), fixed=find_fixed(arguments)))
    try:
        code = _run_agent(arguments, config, agent_log, remote)
    except Exception as error:
        if remote is None or not remote.fail(str(error)):
            raise
        replace_process()
    if code != exit_codes.OK and remote is not None and remote.fail("The agent ended with it."):
        replace_process()
    return code


def _run_agent(arguments: argparse.Namespace, config: Config, agent_log: AgentLog, remote: RemoteControl | None) -> int:
    from onlooker_client.agent.remote.settings import RemoteSettings
    from onlooker_client.enrolment.renewal import CredentialKeeper

    configured = remote.settings if remote is not None else RemoteSettings()
    check_source(configured.source or config.source)
    keeper = CredentialKeeper(config, agent_log) if config.device_key else None
    if keeper is not None:
        config = keeper.check()
    plan = plan_computing(arguments, config, configured=configured.compute)
    options = read_options(arguments, plan, source=configured.source)
    if remote is not None:
        options = remote.merge(options)
    if arguments.feed_port is not None and options.feed is None:
        agent_log.warning("feed", "The server computes this stream: there is no local feed until this device does.")

    # OpenCV is behind these.
    from onlooker_client.agent.agent import Agent
    from onlooker_client.preview.output import open_preview

    def warn(text: str) -> None:
        agent_log.warning("preview", text)

    preview = open_preview(show=arguments.show, save=arguments.save, fps=options.fps, warn=warn)

    def read() -> Config:
        return keeper.apply(read_config(arguments)) if keeper is not None else read_config(arguments)

    agent = Agent(options, read, agent_log, preview=preview, stream=plan.stream, keeper=keeper, remote=remote)
    _stop_on_signals(agent.stop)
    return agent.run()


def find_fixed(arguments: argparse.Namespace) -> frozenset[str]:
    """Names of the settings that the command line, or ONLOOKER_SOURCE, sets: a configuration does not change them."""
    fixed = {name for name in CONFIGURABLE if getattr(arguments, name) is not None}
    if arguments.source or from_environment().source:
        fixed.add("source")
    if arguments.verbose or arguments.quiet:
        fixed.add("log_level")
    return frozenset(fixed)


def check_source(source: str | None) -> str:
    if not source:
        raise ConfigError(
            "No camera is set. Name one (onlooker-agent run 0), set ONLOOKER_SOURCE, or run: onlooker-agent setup"
        )
    return source


def read_options(arguments: argparse.Namespace, plan: ComputePlan, *, source: str | None = None) -> AgentOptions:
    """`source` is the configured one; the command line's is already part of the settings."""
    usual = AgentOptions(source="")

    def given(name: str, otherwise: Any) -> Any:
        value = getattr(arguments, name)
        return otherwise if value is None else value

    fps = given("fps", DEVICE_FPS if plan.computes_here else SERVER_FPS)
    feed = read_feed_options(arguments)
    if feed is not None and arguments.compute == SERVER:
        raise ConfigError("--feed-port needs --compute device: the feed says what this device computes.")
    return AgentOptions(
        source=check_source(read_config(arguments).source or source),
        fps=fps,
        idle_fps=min(given("idle_fps", usual.idle_fps), fps),
        width_px=given("width", usual.width_px),
        height_px=given("height", usual.height_px),
        quality=given("quality", usual.quality),
        is_grey=not arguments.color,
        max_kbytes=given("max_kbytes", usual.max_kbytes),
        is_stored=not arguments.no_store,
        camera_position=arguments.camera_position,
        is_looped=arguments.loop,
        health_file=arguments.health_file,
        health_port=arguments.health_port,
        computes_here=plan.computes_here,
        compute=plan.compute,
        journal=JournalOptions(plan.folder, arguments.journal_limit * 1_000_000),
        is_compute_fixed=arguments.compute is not None,
        is_stream_known=plan.is_stream_known,
        opening=plan.opening,
        is_grouped=plan.is_grouped,
        feed=feed if plan.computes_here else None,
    )


def _stop_on_signals(stop: Callable[[], None]) -> None:
    """The first one stops cleanly, a second one at once."""
    ending = [signal.SIGINT, signal.SIGTERM]

    def handle(_number: int, _frame: object) -> None:
        for ends in ending:
            signal.signal(ends, signal.SIG_DFL)
        stop()

    for ends in ending:
        signal.signal(ends, handle)
