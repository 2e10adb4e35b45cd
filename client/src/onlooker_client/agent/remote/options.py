"""The options of remote configuration and health."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from onlooker_client.errors import ConfigError

TRIAL_S = 180.0
"""A new configuration has so long to show that the device is no worse with it."""
EVERY_S = 60.0
FIRST_S = 15.0
_TRIAL = "ONLOOKER_TRIAL_S"


@dataclass(frozen=True)
class RemoteOptions:
    """How often, for how long, and where the state is kept."""

    folder: Path | None = None
    """None: the usual state folder."""
    trial_s: float = TRIAL_S
    every_s: float = EVERY_S
    """Between two reports, until the console asks for another pause."""
    first_s: float = FIRST_S
    """The first report comes after so long at most."""
    fixed: frozenset[str] = frozenset()
    """Names of the settings that the command line sets: a document does not change them."""


def read_trial_s(environment: Mapping[str, str] = os.environ) -> float:
    """ONLOOKER_TRIAL_S, in seconds; for tests."""
    given = environment.get(_TRIAL, "")
    try:
        trial_s = float(given) if given else TRIAL_S
    except ValueError:
        trial_s = 0.0
    if not 1.0 <= trial_s <= 3600.0:
        raise ConfigError(f"{_TRIAL} must be between 1 and 3600 seconds, or not set.")
    return trial_s
