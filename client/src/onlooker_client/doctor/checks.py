"""All checks in the order in which they run; checks that depend on a failed one are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable

from onlooker_client.doctor import camera, clock, compute_speed, server
from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.findings import Finding, Severity, finding_of_error, unchecked
from onlooker_client.errors import OnlookerError


@dataclass(frozen=True)
class Check:
    """One line of the report."""

    name: str
    title: str
    run: Callable[[Examination], Finding]
    needs: tuple[str, ...] = ()
    """Names of checks that must not be bad."""
    doing: str = ""
    """What is shown while it runs, where that takes a while."""


CHECKS = (
    Check("camera", "Camera", camera.check_camera, doing="watching it for 4 seconds"),
    Check("frame_rate", "Frame rate", camera.check_frame_rate, ("camera",)),
    Check("light", "Light", camera.check_light, ("camera",)),
    Check("focus", "Focus", camera.check_focus, ("camera",)),
    Check("noise", "Noise", camera.check_noise, ("camera",)),
    Check("distance", "Distance", camera.check_distance, ("camera",)),
    Check("picture", "Picture", camera.check_picture, ("camera",), doing="waiting for it to change"),
    Check("server", "Server", server.check_server, doing="connecting"),
    Check("credentials", "Credentials", server.check_credentials, ("server",)),
    Check("stream", "Stream", server.check_stream, ("credentials",)),
    Check("quota", "Quota", server.check_quota, ("credentials",)),
    Check("clock", "Clock", clock.check_clock, ("server",), doing="comparing"),
    Check("network", "Network", server.check_network, ("credentials",), doing="measuring"),
    Check("analysis", "Analysis", server.check_analysis, ("credentials", "stream", "quota"), doing="sending frames"),
    Check("computing", "Computing", compute_speed.check_compute_speed, doing="computing for some seconds"),
)


def run_checks(examination: Examination, announce: Callable[[Check], None]) -> Iterator[tuple[Check, Finding]]:
    """Each check with what it found, as soon as that is known."""
    culprits: dict[str, str] = {}
    """By the name of a check that can't be built upon: the title of the one to blame."""
    for check in CHECKS:
        culprit = next((culprits[name] for name in check.needs if name in culprits), None)
        if culprit:
            finding = unchecked(f"see {culprit.lower()}")
        else:
            announce(check)
            finding = _run(check, examination)
        if culprit or finding.level is Severity.BAD:
            culprits[check.name] = culprit or check.title
        yield check, finding


def _run(check: Check, examination: Examination) -> Finding:
    try:
        return check.run(examination)
    except OnlookerError as error:
        return finding_of_error(error)
