"""The stream's settings that matter to a device: asked for when it starts, remembered for a start without a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlooker_client.agent.business_hours import ALWAYS_OPEN, OpeningTimes, read_opening
from onlooker_client.device.compute_options import DEVICE, SERVER
from onlooker_client.device.device_recorder import remembered_settings
from onlooker_client.device.journal import Journal
from onlooker_client.device.journal_file import NAME
from onlooker_client.errors import ConfigError


@dataclass(frozen=True)
class StreamSettings:
    """As `GET /stream` has them; the defaults are those of a new stream."""

    compute: str = SERVER
    """Where frames are computed: `device` or `server`."""
    reads_age: bool = True
    reads_gender: bool = True
    reads_expression: bool = False
    reads_faces: bool = True
    opening: OpeningTimes = ALWAYS_OPEN
    is_grouped: bool = False
    """Whether what people are like is told of groups alone."""

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> StreamSettings:
        """Of an answer; an older server names no `compute` and no `groups_of`."""
        reads = said.get("reads")
        allowed = reads if isinstance(reads, dict) else {}
        return cls(
            compute=DEVICE if said.get("compute") == DEVICE else SERVER,
            reads_age=allowed.get("age", True) is True,
            reads_gender=allowed.get("gender", True) is True,
            reads_expression=allowed.get("expression", False) is True,
            reads_faces=allowed.get("faces", True) is True,
            opening=read_opening(said.get("opening")),
            is_grouped=said.get("groups_of", 1) != 1,
        )


def recall_settings(folder: Path) -> StreamSettings | None:
    """What the journal in this folder remembers of the stream; None where there is none, or nothing in it."""
    if not (folder / NAME).is_file():
        return None
    try:
        journal = Journal(folder)
    except ConfigError:  # another agent has it open, and is the one that counts
        return None
    try:
        said = remembered_settings(journal)
    finally:
        journal.close()
    return StreamSettings.of(said) if said else None
