"""Which drill runs when: several side by side, some by themselves, and once more what failed beside others."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.drills.execution import FEW_FAILURES, GRACE_S, DrillVerdict, Execution, failed_tests
from bench.drills.place import Lack, find_lack
from bench.drills.recipes import DrillForm
from bench.lib.product import ROOT

SIDE_BY_SIDE = 3
LOGS = ROOT / "var" / "drills"
NOT_RUN = "not run: the run was ended before"


@dataclass
class Schedule:
    """Runs drills; every one of them has a verdict in the end."""

    side_by_side: int = SIDE_BY_SIDE
    logs: Path = LOGS
    command_of: Callable[[DrillForm], Sequence[str]] = lambda drill: drill.command
    lack_of: Callable[[DrillForm], Lack | None] = find_lack
    grace_s: float = GRACE_S
    tell: Callable[[DrillVerdict], None] = lambda verdict: None
    verdicts: dict[str, DrillVerdict] = field(default_factory=dict)
    _running: dict[str, Execution] = field(default_factory=dict)
    _beside: set[str] = field(default_factory=set)
    """Drills that had company."""
    _is_stopped: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def run_in_order(self, drills: Sequence[DrillForm]) -> None:
        """One after the other; one that fails does not stop the next."""
        for drill in drills:
            self._run(drill)

    def run(self, drills: Sequence[DrillForm]) -> None:
        """Side by side where that is fair, the longest first."""
        together = sorted((one for one in drills if not one.alone), key=lambda one: -one.limit_s)
        waiting = list(together)
        with ThreadPoolExecutor(self.side_by_side) as threads:
            list(threads.map(lambda _: self._work_off(waiting), range(self.side_by_side)))
        self.run_in_order([one for one in drills if one.alone])
        for drill in _in_sequence(together):
            verdict = self.verdicts[drill.name]
            if drill.name in self._beside and not (verdict.ok or verdict.is_left_out or self._is_stopped):
                self._run(drill, before=verdict)

    def stop(self) -> None:
        with self._changed:
            self._is_stopped = True
            for execution in self._running.values():
                execution.stop()
            self._changed.notify_all()

    def _work_off(self, waiting: list[DrillForm]) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not waiting or self._next(waiting))
                if not waiting:
                    return
                drill = self._next(waiting)
                assert drill
                waiting.remove(drill)
                execution = self._enter(drill)
            self._run(drill, execution)

    def _next(self, waiting: Sequence[DrillForm]) -> DrillForm | None:
        held = {one.drill.holds for one in self._running.values()}
        unfinished = {one.recipe for one in waiting} | {one.drill.recipe for one in self._running.values()}
        fits = (one for one in waiting if not (one.holds and one.holds in held) and one.after not in unfinished)
        return next(fits, None)

    def _enter(self, drill: DrillForm) -> Execution:
        execution = Execution(drill, self.logs / drill.log_name, self.command_of(drill), self.grace_s)
        self._running[drill.name] = execution
        if len(self._running) > 1:
            self._beside |= self._running.keys()
        return execution

    def _run(self, drill: DrillForm, execution: Execution | None = None, *, before: DrillVerdict | None = None) -> None:
        with self._changed:
            execution = execution or self._enter(drill)
        lack = self.lack_of(drill)
        if self._is_stopped:
            verdict = DrillVerdict(drill.name, 0, ok=False, words=NOT_RUN, is_left_out=True)
        elif lack:
            verdict = DrillVerdict(drill.name, 0, ok=not lack.is_fault, words=lack.reason, is_left_out=True)
        else:
            if before and before.log:
                before.log.replace(before.log.with_suffix(".beside.log"))
            verdict = execution.run()
            verdict = self._repeat_tests(drill, verdict) if drill.again and not verdict.ok else verdict
            if before:
                words = "ok, by itself" if verdict.ok else f"{verdict.words}, and beside others {before.words}"
                verdict = replace(verdict, words=words, by_itself=True)
        with self._changed:
            self.verdicts[drill.name] = verdict
            del self._running[drill.name]
            self._changed.notify_all()
        self.tell(verdict)

    def _repeat_tests(self, drill: DrillForm, verdict: DrillVerdict) -> DrillVerdict:
        """The tests that failed, by themselves, if they are few: a stop-gap until none needs it."""
        assert verdict.log
        names = failed_tests(verdict.log)
        if self._is_stopped or not 0 < len(names) <= FEW_FAILURES:
            return verdict
        log = verdict.log.with_suffix(".again.log")
        with self._changed:
            execution = Execution(drill, log, [*self.command_of(drill), *drill.again.split()], self.grace_s)
            self._running[drill.name] = execution
        again = execution.run()
        seconds = verdict.seconds + again.seconds
        if not again.ok:
            return replace(again, seconds=seconds)
        words = f"ok, {len(names)} by themselves: {', '.join(names)}"
        return replace(verdict, seconds=seconds, ok=True, words=words, by_itself=True)


def _in_sequence(drills: Sequence[DrillForm]) -> list[DrillForm]:
    """None before the one that it comes after."""
    return sorted(drills, key=lambda one: bool(one.after))


def seconds_since(began: float) -> int:
    return round(time.monotonic() - began)
