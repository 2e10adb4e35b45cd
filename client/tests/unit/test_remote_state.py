"""The state of a device's configuration: whatever is cut off where, a device ends with what works."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from onlooker_client import credential_file
from onlooker_client.agent.remote.settings import RemoteSettings
from onlooker_client.agent.remote.state_file import (
    APPLIED,
    BAD_AT_MOST,
    CRASHED,
    REFUSED,
    ROLLED_BACK,
    Baseline,
    Document,
    RemoteState,
    StateFile,
    TrialOutcome,
    decode_state,
    encode_state,
)

GOOD = Document("1-aaaaaaaa", RemoteSettings(fps=5.0))
NEXT = Document("2-bbbbbbbb", RemoteSettings(fps=7.0, width=320))
BEFORE = Baseline(9.5, 10.0, True)
TRYING = RemoteState().keep(GOOD).attempt(NEXT, BEFORE)


def test_a_trial_that_starts_once_goes_on_and_the_second_start_rolls_it_back() -> None:
    first = TRYING.start(1000.0)
    assert first.in_force == NEXT.settings
    second = first.start(1010.0)
    assert (second.in_force, second.trial) == (GOOD.settings, None)
    assert second.outcome == TrialOutcome(NEXT.etag, ROLLED_BACK, CRASHED)
    assert second.find_bad(NEXT.etag) is not None


def test_a_power_cut_in_a_trial_is_forgiven_once() -> None:
    cut = TRYING.start(1000.0).start(20.0)
    assert cut.in_force == NEXT.settings
    assert cut.start(15.0).in_force == GOOD.settings
    assert cut.start(30.0).in_force == GOOD.settings


def test_a_stop_on_purpose_is_no_crash() -> None:
    stopped = TRYING.start(1000.0).stop()
    assert stopped.start(1010.0).in_force == NEXT.settings
    assert RemoteState().stop() == RemoteState()


def test_a_trial_in_place_counts_as_started() -> None:
    trying = RemoteState().keep(GOOD).attempt(NEXT, BEFORE, machine_up_s=1000.0)
    assert trying.in_force == NEXT.settings
    assert trying.start(1001.0).in_force == GOOD.settings


def test_failures_are_remembered_up_to_a_bound() -> None:
    state = RemoteState()
    for number in range(BAD_AT_MOST + 5):
        state = state.fail(TrialOutcome(f"{number}-x", REFUSED, "why"))
    assert len(state.bad) == BAD_AT_MOST
    assert state.find_bad("0-x") is None
    assert state.outcome.etag == f"{BAD_AT_MOST + 4}-x"


def test_it_is_written_for_its_owner_alone_and_for_this_key(tmp_path: Path) -> None:
    file = StateFile("key", tmp_path / "state")
    file.write(TRYING)
    assert file.read() == TRYING
    assert file.path.stat().st_mode & 0o077 == 0
    assert "key" not in json.loads(file.path.read_text())["device"]
    assert StateFile("another", tmp_path / "state").read() == RemoteState()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@given(JSON, st.lists(st.sampled_from(["kept", "trial", "bad", "last", "etag", "settings", "before", "starts"])))
def test_a_file_that_somebody_damaged_is_read_as_far_as_it_goes(value: Any, path: list[str]) -> None:
    said: Any = encode_state(TRYING.fail(TrialOutcome("3-c", REFUSED, "why")))
    place = said
    for step in path:
        if isinstance(place, dict) and step in place:
            place[step], place = value, place[step]
    state = decode_state(said)
    assert isinstance(state.in_force, RemoteSettings)
    assert isinstance(state.start(5.0).outcome, TrialOutcome)
    assert decode_state(json.loads(json.dumps(encode_state(state)))) == decode_state(encode_state(state))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"device": 1}', b"[" * 100_000, b"0" * 100_000])
def test_a_file_that_is_none_gives_the_agents_own_settings(tmp_path: Path, content: bytes) -> None:
    file = StateFile("key", tmp_path)
    file.path.write_bytes(content)
    assert file.read() == RemoteState()


class PowerCut(Exception):
    """Nothing more happens on the device."""


@pytest.mark.parametrize("step", ["mkstemp", "fsync", "replace"])
def test_a_cut_in_the_middle_of_writing_leaves_the_state_of_before(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = StateFile("key", tmp_path)
    file.write(RemoteState().keep(GOOD))

    def cut(*_: Any, **__: Any) -> None:
        raise PowerCut

    place: Any = {"mkstemp": credential_file.tempfile, "fsync": credential_file.os, "replace": Path}[step]
    with monkeypatch.context() as broken:
        broken.setattr(place, step, cut)
        with pytest.raises(PowerCut):
            file.write(TRYING)
    assert file.read() == RemoteState().keep(GOOD)


class DeviceLife(RuleBasedStateMachine):
    """A device whose file is written before each step takes effect; cuts and crashes come at any moment."""

    @initialize()
    def begin(self) -> None:
        self.file = json.dumps(encode_state(RemoteState()))
        self.state = RemoteState()
        self.up_s = 100.0
        self.number = 0
        self.proven: list[RemoteSettings] = [RemoteSettings()]
        self.starts_in_trial: dict[str, int] = {}
        self.boots_in_trial: dict[str, int] = {}

    def write(self, state: RemoteState, *, is_cut: bool) -> None:
        """Cut before the file was replaced, or written and in effect."""
        if is_cut:
            self.power_cut()
            return
        self.file = json.dumps(encode_state(state))
        self.state = state

    def start(self) -> None:
        self.state = decode_state(json.loads(self.file)).start(self.up_s)
        self.file = json.dumps(encode_state(self.state))
        if self.state.trial:
            etag = self.state.trial.document.etag
            self.starts_in_trial[etag] = self.starts_in_trial.get(etag, 0) + 1

    @rule(is_cut=st.booleans(), is_in_place=st.booleans(), fps=st.integers(1, 30))
    def offer(self, is_cut: bool, is_in_place: bool, fps: int) -> None:
        if self.state.trial:
            return
        self.number += 1
        document = Document(f"{self.number}-x", RemoteSettings(fps=float(fps)))
        trying = self.state.attempt(document, BEFORE, machine_up_s=self.up_s if is_in_place else None)
        self.write(trying, is_cut=is_cut)
        if not is_in_place and not is_cut:
            self.up_s += 1
            self.start()

    @rule(is_cut=st.booleans())
    def refuse(self, is_cut: bool) -> None:
        self.number += 1
        if not self.state.trial:
            self.write(self.state.fail(TrialOutcome(f"{self.number}-x", REFUSED, "why")), is_cut=is_cut)

    @precondition(lambda self: self.state.trial is not None)
    @rule(is_cut=st.booleans())
    def pass_trial(self, is_cut: bool) -> None:
        assert self.state.trial is not None
        document = self.state.trial.document
        self.write(self.state.keep(document), is_cut=is_cut)
        if not is_cut:
            self.proven.append(document.settings)

    @precondition(lambda self: self.state.trial is not None)
    @rule(is_cut=st.booleans())
    def fail_trial(self, is_cut: bool) -> None:
        self.write(self.state.roll_back("worse"), is_cut=is_cut)

    @rule(seconds=st.floats(0.1, 5.0))
    def crash(self, seconds: float) -> None:
        was_trying = self.state.trial
        self.up_s += seconds
        self.start()
        if was_trying and was_trying.starts:
            assert self.state.trial is None, "a crash in a trial rolls back at the next start"

    @rule()
    def power_cut(self) -> None:
        self.up_s = min(self.up_s / 2, 30.0)
        self.start()

    @rule()
    def stop_and_start(self) -> None:
        self.file = json.dumps(encode_state(self.state.stop()))
        self.up_s += 60
        self.start()

    @invariant()
    def kept_is_proven(self) -> None:
        """Outside of a trial only what passed one is in force; what failed is not tried again."""
        state = decode_state(json.loads(self.file))
        assert state == self.state
        if state.trial is None:
            assert state.in_force in self.proven
        else:
            assert state.find_bad(state.trial.document.etag) is None
        outcome = state.outcome
        assert outcome.state in (APPLIED, REFUSED, ROLLED_BACK, "trying")
        if outcome.state == APPLIED and state.kept:
            assert outcome.etag == state.kept.etag


TestDeviceLife = DeviceLife.TestCase


def test_a_crash_loop_ends_after_two_starts() -> None:
    state, starts = TRYING, 0
    while state.in_force == NEXT.settings:
        state, starts = state.start(1000.0 + starts), starts + 1
    assert starts == 2
    state, starts = TRYING, 0
    while state.in_force == NEXT.settings:
        state, starts = state.start(100.0 / (starts + 1)), starts + 1
    assert starts == 3, "one restart of the machine is forgiven"
    assert replace(state, bad=()).kept == GOOD
