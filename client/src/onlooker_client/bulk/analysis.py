"""The steps of `onlooker-agent analyse`: check, send, report."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

from onlooker_client.bulk.frames import FramesAhead
from onlooker_client.bulk.outcome import FilmSender, Outcome, send_all, stop_on_signals
from onlooker_client.bulk.plan import (
    VideoPlan,
    check_empty,
    check_stream,
    clock,
    place_in_time,
    read_stream,
    shown,
)
from onlooker_client.bulk.progress import Progress
from onlooker_client.bulk.report import Report, read_report
from onlooker_client.bulk.uploader import FrameUploader
from onlooker_client.client import Client
from onlooker_client.command import exit_codes
from onlooker_client.command.options import read_config
from onlooker_client.device.compute_options import DEVICE
from onlooker_client.errors import BadArgument, OnlookerError
from onlooker_client.jpeg import JpegEncoder
from onlooker_client.preview import open_preview
from onlooker_client.preview.output import check_video_name
from onlooker_client.session import Session
from onlooker_client.sources.video import Recording, open_recording
from onlooker_client.terminal import Terminal

if TYPE_CHECKING:
    from onlooker_client.device.film_computation import FilmComputation

SESSION_ENDS_S = 60.0
SECONDS_A_MINUTE = 60.0


def analyse(arguments: argparse.Namespace) -> int:
    """The exit code. What people watch goes to standard error, the summary to standard output."""
    screen = Terminal.of(sys.stderr)
    check_video_name(arguments.save)
    with Client(config=read_config(arguments)) as client, _open(arguments) as video:
        plan = _plan(arguments, video)
        notes = [*check_stream(client, plan), *check_empty(client, plan, add=arguments.add)]
        _introduce(client, plan, notes, screen)
        film = _open_film(arguments, client, plan, screen)
        try:
            with stop_on_signals(film.sender) as signals:
                outcome = _send(arguments, plan, video, film.sender, screen)
            if not outcome.frames and outcome.stopped_by is not None and not signals:
                raise outcome.stopped_by
            film.end()
        finally:
            film.sender.close()
        screen.replace_line("  Counting ...")
        report = read_report(client, plan, outcome, fps=arguments.fps, told=notes)
        screen.replace_line("")
    _show(report, screen, as_json=arguments.json)
    return 128 + signals[0] if signals else _exit(outcome)


def _introduce(client: Client, plan: VideoPlan, notes: list[str], screen: Terminal) -> None:
    length = clock(plan.duration_s) if plan.duration_s else "of unknown length"
    place = f", from {clock(plan.from_s)} on" if plan.from_s else ""
    screen.say(f"  Video    {plan.video.name}, {length}{place}")
    screen.say(f"  Filmed   {shown(plan.start)}")
    screen.say(f"  Server   {client.transport.address}")
    for note in notes:
        screen.warn(note)


def _open(arguments: argparse.Namespace) -> Recording:
    return open_recording(arguments.video, fps=arguments.fps, start_s=arguments.from_s)


def _plan(arguments: argparse.Namespace, video: Recording) -> VideoPlan:
    start = place_in_time(video.duration_s, start=arguments.start, end=arguments.end)
    if 0 < video.duration_s <= arguments.from_s:
        raise BadArgument(f"--from is past the end of the video, which is {clock(video.duration_s)} long.")
    return VideoPlan(arguments.video, start, video.duration_s, arguments.from_s)


@dataclass(frozen=True)
class SentFilm:
    """What takes the frames, and what is done after the last one."""

    sender: FilmSender
    end: Callable[[], None]


def _open_film(arguments: argparse.Namespace, client: Client, plan: VideoPlan, screen: Terminal) -> SentFilm:
    patience_s = arguments.patience * SECONDS_A_MINUTE
    if arguments.compute == DEVICE:
        from onlooker_client.device.film_computation import compute_film

        computed = compute_film(client, plan, arguments, read_stream(client))
        return SentFilm(computed, lambda: _send_visits(computed, patience_s, screen))
    session = client.service("scene_analysis", 1).session()
    sender = FrameUploader(session, plan, _fields(arguments), patience_s=patience_s)
    return SentFilm(sender, lambda: _end(session, sender, screen))


def _send_visits(computed: FilmComputation, patience_s: float, screen: Terminal) -> None:
    try:
        computed.finish(patience_s)
    except OnlookerError as error:
        screen.warn(f"The visits could not be sent: {error} They wait on this device, and go with its next film.")


def _fields(arguments: argparse.Namespace) -> dict[str, str]:
    return {"camera_position": arguments.camera_position} if arguments.camera_position != "facing" else {}


def _send(
    arguments: argparse.Namespace, plan: VideoPlan, video: Recording, sender: FilmSender, screen: Terminal
) -> Outcome:
    encoder = JpegEncoder(arguments.width, arguments.height, arguments.quality, not arguments.color)
    preview = open_preview(show=arguments.show, save=arguments.save, fps=arguments.fps, warn=screen.warn)
    progress = Progress(screen, from_s=plan.from_s, to_s=plan.duration_s)
    sender.on_wait = lambda error, waited_s: progress.note(f"No answer for {clock(waited_s)}, trying again. {error}")
    computes_here = arguments.compute == DEVICE
    frames = FramesAhead(video, encoder, keep=preview is not None or computes_here, encodes=not computes_here)
    try:
        return send_all(frames, sender, progress, preview)
    finally:
        frames.close()
        if preview is not None:
            preview.close()


def _end(session: Session, sender: FrameUploader, screen: Terminal) -> None:
    """Closes the visits of who is still in view."""
    try:
        session.end()
    except OnlookerError as error:
        screen.warn(f"The session could not be ended: {error} It ends by itself within a minute.")
    if sender.longest_wait_s > SESSION_ENDS_S:
        screen.warn(
            f"The server was unavailable for {clock(sender.longest_wait_s)}. Anyone in view then is counted twice."
        )


def _show(report: Report, screen: Terminal, *, as_json: bool) -> None:
    report.print_end(screen)
    if as_json:
        report.print_json(sys.stdout)
    else:
        report.print_summary(Terminal.of(sys.stdout))


def _exit(outcome: Outcome) -> int:
    return exit_codes.FAULTS_FOUND if outcome.stopped_by or outcome.failed else exit_codes.OK
