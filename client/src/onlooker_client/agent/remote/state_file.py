"""Which configuration is kept, which one is tried, and which ones failed: in a file that survives power cuts."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onlooker_client.agent.remote.settings import RemoteSettings, SettingsRefused, read_settings
from onlooker_client.credential_file import fingerprint, state_folders, write_private

NAME = "configuration.json"
LARGEST_BYTES = 64 * 1024
APPLIED, REFUSED, ROLLED_BACK, TRYING = "applied", "refused", "rolled_back", "trying"
BAD_AT_MOST = 20
REASON_AT_MOST = 300
REBOOTS_FORGIVEN = 1
CRASHED = "The agent crashed while it tried this configuration."


@dataclass(frozen=True)
class Document:
    """A configuration as the console gave it."""

    etag: str
    settings: RemoteSettings


@dataclass(frozen=True)
class TrialOutcome:
    """What became of a document."""

    etag: str
    state: str
    reason: str = ""

    def said(self) -> dict[str, str]:
        return {"etag": self.etag, "state": self.state, "reason": self.reason[:REASON_AT_MOST]}


@dataclass(frozen=True)
class Baseline:
    """How the device was before a trial."""

    served_per_s: float = 0.0
    """Frames that were answered, or not needed; 0: not known."""
    fps: float = 0.0
    had_pictures: bool = False


@dataclass(frozen=True)
class TrialRecord:
    """A document that is tried."""

    document: Document
    before: Baseline
    starts: int = 0
    """Of the agent with it."""
    reboots: int = 0
    machine_up_s: float = 0.0
    """For how long the machine had been up at the last start: less at the next one means that it was restarted."""


@dataclass(frozen=True)
class RemoteState:
    """All that is remembered. Each change is a new one, and is written before it takes effect."""

    kept: Document | None = None
    """None: the agent's own settings."""
    trial: TrialRecord | None = None
    bad: tuple[TrialOutcome, ...] = ()
    """Refused and rolled back, the newest last: they are not tried again."""
    last: TrialOutcome | None = None
    """What the console is told, while nothing is tried."""

    @property
    def in_force(self) -> RemoteSettings:
        document = self.trial.document if self.trial else self.kept
        return document.settings if document else RemoteSettings()

    @property
    def outcome(self) -> TrialOutcome:
        if self.trial:
            return TrialOutcome(self.trial.document.etag, TRYING)
        return self.last or TrialOutcome("", APPLIED)

    def find_bad(self, etag: str) -> TrialOutcome | None:
        return next((one for one in self.bad if one.etag == etag), None)

    def start(self, machine_up_s: float) -> RemoteState:
        """The agent starts: the second time in a trial it has crashed, unless the machine was restarted."""
        trial = self.trial
        if trial is None:
            return self
        is_first = trial.starts == 0
        is_reboot = not is_first and machine_up_s < trial.machine_up_s
        reboots = trial.reboots + is_reboot
        if not is_first and (not is_reboot or reboots > REBOOTS_FORGIVEN):
            return self.roll_back(CRASHED)
        return replace(self, trial=replace(trial, starts=1, reboots=reboots, machine_up_s=machine_up_s))

    def stop(self) -> RemoteState:
        """The agent was told to stop: its next start is no crash."""
        return replace(self, trial=replace(self.trial, starts=0)) if self.trial else self

    def attempt(self, document: Document, before: Baseline, *, machine_up_s: float | None = None) -> RemoteState:
        """Try it: after a restart; or at once, where it is said for how long the machine has been up."""
        starts, up_s = (0, 0.0) if machine_up_s is None else (1, machine_up_s)
        return replace(self, trial=TrialRecord(document, before, starts=starts, machine_up_s=up_s))

    def keep(self, document: Document, reason: str = "") -> RemoteState:
        return replace(self, kept=document, trial=None, last=TrialOutcome(document.etag, APPLIED, reason))

    def roll_back(self, reason: str) -> RemoteState:
        if self.trial is None:
            return self
        return replace(self, trial=None).fail(TrialOutcome(self.trial.document.etag, ROLLED_BACK, reason))

    def fail(self, outcome: TrialOutcome) -> RemoteState:
        others = [one for one in self.bad if one.etag != outcome.etag]
        return replace(self, bad=tuple([*others, outcome][-BAD_AT_MOST:]), last=outcome)

    def report(self, outcome: TrialOutcome) -> RemoteState:
        """The console names a document of before."""
        return self if self.last == outcome else replace(self, last=outcome)


class StateFile:
    """Of one device: a file of another key counts as none."""

    def __init__(self, device_key: str, folder: Path | None = None) -> None:
        self.path = (folder or state_folders()[0]) / NAME
        self._device = fingerprint(device_key)

    def read(self) -> RemoteState:
        """What can't be read is nothing: then the agent's own settings hold."""
        try:
            with self.path.open(encoding="utf-8") as file:
                said = json.loads(file.read(LARGEST_BYTES))
        except (OSError, ValueError, RecursionError):
            return RemoteState()
        is_ours = isinstance(said, dict) and said.get("device") == self._device
        return decode_state(said) if is_ours else RemoteState()

    def write(self, state: RemoteState) -> None:
        """All at once. Raises OSError."""
        write_private(self.path, {"device": self._device, **encode_state(state)})


def machine_up_s() -> float:
    """Since the machine was started, sleep included where the system tells that."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def encode_state(state: RemoteState) -> dict[str, Any]:
    trial = state.trial
    return {
        "kept": _encode_document(state.kept) if state.kept else None,
        "trial": {
            **_encode_document(trial.document),
            "before": dict(trial.before.__dict__),
            "starts": trial.starts,
            "reboots": trial.reboots,
            "machine_up_s": trial.machine_up_s,
        }
        if trial
        else None,
        "bad": [one.said() for one in state.bad],
        "last": state.last.said() if state.last else None,
    }


def decode_state(said: dict[str, Any]) -> RemoteState:
    """Each part by itself: a trial that can't be read is none."""
    bad = said.get("bad")
    found = [_decode_outcome(one) for one in bad[-BAD_AT_MOST:]] if isinstance(bad, list) else []
    return RemoteState(
        kept=_decode_document(said.get("kept")),
        trial=_decode_trial(said.get("trial")),
        bad=tuple(one for one in found if one),
        last=_decode_outcome(said.get("last")),
    )


def _encode_document(document: Document) -> dict[str, Any]:
    return {"etag": document.etag, "settings": document.settings.named()}


def _decode_document(said: Any) -> Document | None:
    try:
        return Document(_text(said["etag"]), read_settings(said["settings"]))
    except (SettingsRefused, KeyError, TypeError):
        return None


def _decode_trial(said: Any) -> TrialRecord | None:
    document = _decode_document(said)
    if document is None:
        return None
    try:
        known = said["before"]
        before = Baseline(float(known["served_per_s"]), float(known["fps"]), known["had_pictures"] is True)
        return TrialRecord(document, before, int(said["starts"]), int(said["reboots"]), float(said["machine_up_s"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _decode_outcome(said: Any) -> TrialOutcome | None:
    try:
        return TrialOutcome(_text(said["etag"]), _text(said["state"]), _text(said["reason"]))
    except (KeyError, TypeError):
        return None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
