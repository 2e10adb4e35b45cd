"""The camera: which ones there are, and whether the one that was named gives good pictures."""

from __future__ import annotations

import time
from pathlib import Path

from onlooker_client.config import Config
from onlooker_client.doctor.camera import check_camera, check_focus, check_frame_rate, check_light
from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.finding import Finding, Level, good, named
from onlooker_client.errors import SourceError
from onlooker_client.sources.cameras import list_cameras
from onlooker_client.sources.naming import Kind, recognise


def absolute_source(text: str) -> str:
    """The same from whatever folder the agent is started in."""
    text = text.strip()
    if text and recognise(text) in (Kind.VIDEO, Kind.FOLDER):
        return str(Path(text).expanduser().absolute())
    return text


def list_choices() -> list[str]:
    """A line for each camera of this machine."""
    refused = "  (not for you: sudo usermod -aG video $USER, then log in anew)"
    return [f"{camera.number}  {camera.name}{'' if camera.is_allowed else refused}" for camera in list_cameras()]


def try_camera(source: str) -> list[Finding]:
    """What is to be said of its pictures, what is good in one line; raises where it gives none."""
    if source == "-":
        raise SourceError("Standard input is no camera that lasts. Pipe it into: onlooker-agent run -")
    examination = Examination(Config(source=source), clock=time.time)
    try:
        opened = check_camera(examination)
        if opened.level is Level.BAD:
            raise SourceError(f"{opened.figure}. {opened.remedy}")
        return _together(examination, opened)
    finally:
        examination.close()


def _together(examination: Examination, opened: Finding) -> list[Finding]:
    rate, light, focus = (check(examination) for check in (check_frame_rate, check_light, check_focus))
    well = [opened.figure, rate.figure, "light fine", "focus fine"]
    kept = [words for words, finding in zip(well, (opened, rate, light, focus)) if finding.level is Level.GOOD]
    others = [named("Frame rate", rate), named("Light", light), named("Focus", focus)]
    return [good(", ".join(kept)), *(finding for finding in others if finding.level in (Level.WARN, Level.BAD))]
