"""Which time a session's frames are stamped with after a start: it never goes back, and jumps only where nobody was."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import Optional

from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.journal import Journal, JournalUnwritable
from onlooker_client.device.journal_rows import Epoch, SavedState

REBASED_MS = 60_000
"""Stamps that are off by more are set right at the next start of the agent at which nobody is there."""
PAUSE_MS = 60_000
"""After a restart at an unknown time, stamps go on so long after the last one: nobody was followed meanwhile."""
Begun = tuple[Epoch, Optional[SavedState]]


def choose_epoch(journal: Journal, clock: DeviceClock) -> Begun:
    """The epoch of this start, and the state that the session goes on with; the clock is set to it."""
    try:
        epoch, state = _choose(journal, clock)
    except JournalUnwritable:
        epoch, state = journal.continue_epoch(_new(clock, clock.session_ms, clock.true_ms)), None
        with suppress(JournalUnwritable):  # it was damaged, and has begun again
            epoch = journal.begin_epoch(epoch)
    clock.begin(epoch.session_ms, known_ms=epoch.true_ms)
    return epoch, state


def _choose(journal: Journal, clock: DeviceClock) -> Begun:
    last, state = journal.last_epoch(), journal.read_state()
    if last is not None and last.boot == clock.boot:
        return _go_on(journal, clock, last, state)
    session_ms = clock.wall_ms() if clock.true_ms is None else clock.true_ms
    if state is not None and clock.boot_now_ms() + session_ms <= state.at_ms:
        if clock.true_ms is None:
            session_ms = state.at_ms + PAUSE_MS - clock.boot_now_ms()
        else:  # the clock was ahead then; its state says nothing about now
            journal.forget_state()
            state = None
    return journal.begin_epoch(_new(clock, session_ms, clock.true_ms)), state


def _go_on(journal: Journal, clock: DeviceClock, last: Epoch, state: SavedState | None) -> Begun:
    """The machine has been running since: its time is what it was."""
    true_ms = clock.true_ms if clock.true_ms is not None else last.true_ms
    is_off = true_ms is not None and abs(true_ms - last.session_ms) > REBASED_MS
    if true_ms is None or not is_off or journal.open_visits():
        return journal.continue_epoch(last), state
    journal.forget_state()
    return journal.begin_epoch(_new(clock, true_ms, true_ms)), None


def _new(clock: DeviceClock, session_ms: int, true_ms: int | None) -> Epoch:
    """Its number is a guess that is kept only where the journal can't give one now."""
    number = (1 << 40) + secrets.randbelow(1 << 40)
    began_ms = clock.boot_now_ms() + session_ms
    return Epoch(number, clock.boot, began_ms, session_ms, clock.battery_ms(), true_ms)
