"""The options of `onlooker-agent run` for a device that computes, and how they become those of a run."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from onlooker_client.agent.business_hours import ALWAYS_OPEN, OpeningTimes
from onlooker_client.agent.stream_answer import StreamAnswer, ask_stream
from onlooker_client.command.options import whole
from onlooker_client.config import Config
from onlooker_client.device.compute_options import DEVICE, SERVER, ComputeOptions


def add_device_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("computing")
    group.add_argument(
        "--compute",
        choices=[DEVICE, SERVER],
        help="where frames are computed; device: here, and only visits are sent (default: as the stream is set)",
    )
    group.add_argument("--compute-threads", type=whole(1, 16), default=1, metavar="N", help="threads of each net (1)")
    group.add_argument(
        "--confinement",
        choices=["on", "off"],
        default="on",
        help="off: compute even where Linux can't take files and network away from what looks at pictures (on)",
    )
    group.add_argument(
        "--journal", type=Path, metavar="FOLDER", help="where visits wait for the server, where this device computes"
    )
    group.add_argument(
        "--journal-limit", type=whole(10, 100_000), default=200, metavar="MB", help="how large it may get (200)"
    )


@dataclass(frozen=True)
class ComputePlan:
    """Where frames are computed, and what is known of the stream."""

    computes_here: bool
    compute: ComputeOptions
    folder: Path
    stream: StreamAnswer
    is_stream_known: bool = False
    """Whether the server accepted these credentials before."""
    opening: OpeningTimes = ALWAYS_OPEN
    is_grouped: bool = True
    """Whether the stream tells about people in groups alone, as long as nobody has said otherwise."""


def plan_computing(arguments: argparse.Namespace, config: Config, *, configured: str | None = None) -> ComputePlan:
    """As the option says; else as the device is configured, or the stream is set, or was when last heard of it."""
    from onlooker_client.client import Client
    from onlooker_client.device.journal_file import default_folder
    from onlooker_client.device.stream_settings import StreamSettings, recall_settings

    with Client(config=config) as client:
        stream = ask_stream(client.transport)
    folder = arguments.journal or default_folder(config.client_id or "")
    settings = recall_settings(folder) if stream.error else StreamSettings.of(stream.said)
    known = settings or StreamSettings()
    options = ComputeOptions(
        reads_age=known.reads_age,
        reads_gender=known.reads_gender,
        reads_expression=known.reads_expression,
        reads_faces=known.reads_faces,
        camera_position=arguments.camera_position,
        is_confined=arguments.confinement == "on",
        threads=arguments.compute_threads,
    )
    here = (arguments.compute or configured or known.compute) == DEVICE
    is_known = here and settings is not None
    return ComputePlan(
        here,
        options,
        folder,
        stream,
        is_stream_known=is_known,
        opening=known.opening,
        is_grouped=known.is_grouped or settings is None,
    )
