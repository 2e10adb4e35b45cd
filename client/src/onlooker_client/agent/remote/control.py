"""An enrolled agent's link to its console: reports health, takes configurations, tries them, rolls them back."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Callable, Protocol

from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.remote.console_link import ConsoleLink, FetchedDocument, HealthAnswer
from onlooker_client.agent.remote.fitness import OpenSource, check_fitness
from onlooker_client.agent.remote.health_report import AgentFacts, LineHealth, build_report
from onlooker_client.agent.remote.merge import RATES, find_changes, find_remarks, merge_settings
from onlooker_client.agent.remote.options import RemoteOptions
from onlooker_client.agent.remote.settings import RemoteSettings, SettingsRefused, read_settings
from onlooker_client.agent.remote.state_file import (
    APPLIED,
    REFUSED,
    Document,
    RemoteState,
    StateFile,
    TrialOutcome,
    machine_up_s,
)
from onlooker_client.agent.remote.trial import Performance, Trial, TrialObservation, Verdict, count_served
from onlooker_client.agent.remote.week_hours import WeekHours, find_hours
from onlooker_client.agent.status.log import AgentLog, LogLevel
from onlooker_client.config import Config
from onlooker_client.errors import BadRequest, LinkError, NotNow, OnlookerError, Refused

SOON_S = 10.0
"""Between two reports, where there is news."""
REFUSED_PAUSE_S = 600.0
"""After a console that does not know the device, or is older than this."""
EVENT = "configuration"


class RunningAgent(Protocol):
    """What is asked of the agent, by its own main thread."""

    def facts(self, now: float) -> AgentFacts: ...

    def read_journal(self) -> dict[str, Any] | None: ...

    def adjust(self, options: AgentOptions) -> None:
        """Other rates, without a restart."""


class ReportCount:
    """What became of the reports of a run."""

    def __init__(self) -> None:
        self.delivered = 0
        self.failed = 0


class RemoteControl:
    """`tick` comes from the main thread, which alone changes the state; questions have a thread, one at a time."""

    def __init__(
        self,
        link: ConsoleLink,
        file: StateFile,
        log: AgentLog,
        options: RemoteOptions,
        *,
        state: RemoteState,
        open_source: OpenSource | None = None,
    ) -> None:
        self.counts = ReportCount()
        self.wants_restart = ""
        """Why, as a sentence; empty while it does not."""
        self.hours: WeekHours | None = None
        self._link = link
        self._file = file
        self._log = log
        self._options = options
        self._open_source = open_source
        self._state = state
        self._base: AgentOptions | None = None
        self._in_force: AgentOptions | None = None
        self._opened_fps = 0.0
        self._own_level = log.least
        self._agent: RunningAgent | None = None
        self._results: SimpleQueue[Callable[[float], None]] = SimpleQueue()
        self._is_asking = False
        self._every_s = options.every_s
        self._due_at = time.monotonic() + random.uniform(0.3, 1.0) * options.first_s  # noqa: S311 (no secret)
        self._asked_at = self._heard_at = float("-inf")
        self._line = LineHealth()
        self._sent: tuple[float, int] | None = None
        self._performance = Performance()
        self._trial: Trial | None = None
        self._is_in_place = False
        """Whether what is tried began without a restart."""
        self._use_light(state.in_force)

    @property
    def settings(self) -> RemoteSettings:
        """Those in force, without the ones that the command line sets."""
        given = self._state.in_force.named()
        return RemoteSettings(**{name: value for name, value in given.items() if name not in self._options.fixed})

    @property
    def state(self) -> dict[str, str]:
        """As it is reported."""
        return self._outcome().said()

    def merge(self, base: AgentOptions) -> AgentOptions:
        """The options of this run; `base` are those without a document."""
        self._base = base
        self._in_force = merge_settings(base, self._state.in_force, self._options.fixed)
        self._opened_fps = self._in_force.fps
        return self._in_force

    def tick(self, now: float, agent: RunningAgent) -> None:
        """Every second or so."""
        self._agent = agent
        while True:
            try:
                take = self._results.get_nowait()
            except Empty:
                break
            take(now)
        facts = agent.facts(now)
        seen = TrialObservation(now, count_served(facts.counts), facts.has_pictures)
        self._judge(seen)
        self._performance.see(seen)
        if not self._is_asking and now >= self._due_at and not self.wants_restart:
            self._ask(now, facts, agent)

    def fail(self, reason: str) -> bool:
        """The run failed. True where that was in a trial: it is rolled back, and the agent must start again."""
        if self._state.trial is None:
            return False
        self._log.warning(EVENT, f"The configuration is rolled back: {reason}", etag=self._state.trial.document.etag)
        self._write(self._state.roll_back(reason))
        return True

    def prepare_restart(self) -> None:
        """The agent is about to stop or to restart by itself: that is no crash."""
        if self._state.trial is not None and self._state.trial.starts:
            self._write(self._state.stop())

    def close(self) -> None:
        self._link.close()

    def _ask(self, now: float, facts: AgentFacts, agent: RunningAgent) -> None:
        self._is_asking, self._asked_at = True, now
        self._due_at = now + self._spread(self._every_s)
        facts = replace(facts, journal=agent.read_journal())
        kbytes_s = self._measure_line(now, facts)
        arguments = (facts, kbytes_s, self._outcome(), self._state)
        threading.Thread(target=self._talk, args=arguments, name="remote", daemon=True).start()

    def _talk(self, facts: AgentFacts, kbytes_s: float | None, outcome: TrialOutcome, state: RemoteState) -> None:
        """In a thread of its own: a console that is slow holds nobody up."""
        try:
            folder = self._file.path.parent
            report = build_report(facts, outcome, self._line, kbytes_s=kbytes_s, folder=folder)
            answer = self._link.report(report)
            self._results.put(partial(self._hear, answer))
            if answer.etag and state.trial is None and not _is_known(state, answer.etag):
                self._consider(self._link.fetch(outcome.etag), state)
        except OnlookerError as error:
            self._results.put(partial(self._miss, error))
        except Exception as error:  # noqa: BLE001 - the edge of a thread
            self._results.put(partial(self._miss, LinkError(f"{type(error).__name__}: {error}")))
        finally:
            self._is_asking = False

    def _consider(self, fetched: FetchedDocument | None, state: RemoteState) -> None:
        """Check a document, still in the thread: a camera may take seconds to open."""
        if fetched is None or _is_known(state, fetched.etag):
            return
        try:
            document = Document(fetched.etag, read_settings(fetched.settings))
            if self._base is not None and self._in_force is not None:
                wanted = merge_settings(self._base, document.settings, self._options.fixed)
                check_fitness(self._in_force, wanted, self._open_source or _reconnecting)
        except SettingsRefused as refusal:
            self._results.put(partial(self._refuse, TrialOutcome(fetched.etag, REFUSED, str(refusal))))
            return
        self._results.put(partial(self._take, document))

    def _hear(self, answer: HealthAnswer, now: float) -> None:
        self.counts.delivered += 1
        self._heard_at = now
        self._line = LineHealth(answer.clock_off_s, answer.took_s)
        if answer.every_s is not None and answer.every_s != self._every_s:
            self._every_s = answer.every_s
            self._due_at = self._asked_at + self._spread(self._every_s)
        state = self._state
        if state.trial is not None or answer.etag == state.outcome.etag:
            return
        bad = state.find_bad(answer.etag)
        if bad is not None:
            self._settle(state.report(bad), now)
        elif state.kept is not None and answer.etag == state.kept.etag:
            self._settle(state.report(TrialOutcome(answer.etag, APPLIED)), now)

    def _miss(self, error: OnlookerError, _now: float) -> None:
        self.counts.failed += 1
        self._log.debug("remote", f"The console took no report: {error}")
        if isinstance(error, NotNow) and error.retry_after_s:
            self._due_at = max(self._due_at, self._asked_at + error.retry_after_s)
        elif isinstance(error, Refused) and not isinstance(error, NotNow):
            is_old = isinstance(error, BadRequest) and error.status in (404, 405)
            said = "The console is older than this agent: it takes no health reports." if is_old else str(error)
            self._log.warn_once("remote", said, once="refused")
            self._due_at = self._asked_at + self._spread(REFUSED_PAUSE_S)

    def _refuse(self, outcome: TrialOutcome, now: float) -> None:
        self._log.warning(EVENT, f"The configuration is refused: {outcome.reason}", etag=outcome.etag)
        self._settle(self._state.fail(outcome), now)

    def _take(self, document: Document, now: float) -> None:
        if self._state.trial is not None or self._base is None or self._in_force is None or self._agent is None:
            return
        wanted = merge_settings(self._base, document.settings, self._options.fixed)
        changes = find_changes(self._in_force, wanted)
        is_in_place = changes <= RATES and wanted.fps <= self._opened_fps
        if not changes:
            state = self._state.keep(document)
        else:
            facts = self._agent.facts(now)
            seen = TrialObservation(now, count_served(facts.counts), facts.has_pictures)
            before = self._performance.baseline(seen, self._in_force.fps)
            state = self._state.attempt(document, before, machine_up_s=machine_up_s() if is_in_place else None)
        try:
            self._file.write(state)
        except OSError as error:
            why = f"{self._file.path.parent} can't be written ({error.strerror}), so it could not be rolled back."
            self._refuse(TrialOutcome(document.etag, REFUSED, why), now)
            return
        self._state = state
        self._soon(now)
        if changes and not is_in_place:
            self.wants_restart = "A new configuration is tried."
            return
        self._use_light(document.settings)
        if changes:
            self._is_in_place = True
            self._adjust(wanted)
        said = "A new configuration is tried, without a restart." if changes else "A new configuration is in use."
        self._log.info(EVENT, said, etag=document.etag)

    def _judge(self, seen: TrialObservation) -> None:
        record = self._state.trial
        if record is None or self.wants_restart or self._in_force is None:
            self._trial = None
            return
        if self._trial is None:
            kept = self._state.kept.settings.source if self._state.kept else None
            self._trial = Trial(
                record.before,
                self._options.trial_s,
                self._in_force.fps,
                seen,
                is_other_camera=record.document.settings.source != kept,
            )
        verdict, reason = self._trial.judge(seen, is_line_up=self._heard_at >= self._trial.began.at_s)
        if verdict is Verdict.KEEP:
            self._log.info(EVENT, "The new configuration is kept.", etag=record.document.etag)
            self._settle(self._state.keep(record.document), seen.at_s)
        elif verdict is Verdict.ROLL_BACK:
            self._roll_back(reason, seen.at_s)

    def _roll_back(self, reason: str, now: float) -> None:
        self.fail(reason)
        self._soon(now)
        if self._is_in_place and self._base is not None:
            self._use_light(self._state.in_force)
            self._adjust(merge_settings(self._base, self._state.in_force, self._options.fixed))
        else:
            self.wants_restart = "The configuration of before is used again."
        self._is_in_place = False

    def _adjust(self, options: AgentOptions) -> None:
        self._in_force = options
        if self._agent is not None:
            self._agent.adjust(options)

    def _use_light(self, settings: RemoteSettings) -> None:
        """What changes without a restart and without a trial."""
        fixed = self._options.fixed
        level = None if "log_level" in fixed else settings.log_level
        self._log.least = LogLevel[level.upper()] if level else self._own_level
        self.hours = find_hours(settings.hours, settings.time_zone)

    def _settle(self, state: RemoteState, now: float) -> None:
        self._write(state)
        self._soon(now)

    def _write(self, state: RemoteState) -> None:
        """What can't be written holds for this run."""
        if state == self._state:
            return
        self._state = state
        try:
            self._file.write(state)
        except OSError as error:
            self._log.warn_once(EVENT, f"{self._file.path} can't be written: {error.strerror}.", once="write")

    def _outcome(self) -> TrialOutcome:
        outcome, kept = self._state.outcome, self._state.kept
        if outcome.state == APPLIED and kept is not None and outcome.etag == kept.etag:
            return replace(outcome, reason=find_remarks(kept.settings, self._options.fixed))
        return outcome

    def _soon(self, now: float) -> None:
        self._due_at = min(self._due_at, max(now, self._asked_at + SOON_S))

    def _measure_line(self, now: float, facts: AgentFacts) -> float | None:
        before, self._sent = self._sent, (now, facts.counts.sent_bytes)
        if before is None or facts.is_computed_here or now <= before[0]:
            return None
        return (facts.counts.sent_bytes - before[1]) / (now - before[0]) / 1000

    @staticmethod
    def _spread(seconds: float) -> float:
        """So that devices that started together do not ask together."""
        return seconds * random.uniform(0.85, 1.0)  # noqa: S311 (no secret)


def begin_remote(
    config: Config,
    log: AgentLog,
    options: RemoteOptions | None = None,
    *,
    open_source: OpenSource | None = None,
) -> RemoteControl | None:
    """At the start of a run: counts it, where a configuration is tried. None where the device is not enrolled."""
    if not config.device_key or not config.console_url:
        return None
    options = options or RemoteOptions()
    file = StateFile(config.device_key, options.folder)
    known = file.read()
    state = known.start(machine_up_s())
    if state != known:
        try:
            file.write(state)
        except OSError as error:  # a start that can't be counted could be the one that crashes each time
            state = known.roll_back(f"{file.path.parent} can't be written: {error.strerror}.")
    if known.trial and not state.trial and state.last:
        log.warning(EVENT, f"The configuration is rolled back: {state.last.reason}", etag=state.last.etag)
    link = ConsoleLink(config.console_url, config.device_key, ca_file=config.ca_file)
    return RemoteControl(link, file, log, options, state=state, open_source=open_source)


def _is_known(state: RemoteState, etag: str) -> bool:
    kept = state.kept.etag if state.kept else ""
    return etag in (kept, state.outcome.etag) or state.find_bad(etag) is not None


def _reconnecting(*arguments: Any, **how: Any) -> Any:
    from onlooker_client.sources.reconnection import ReconnectingSource  # OpenCV is behind it

    return ReconnectingSource(*arguments, **how)
