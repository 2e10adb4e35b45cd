"""What every run of abuse shares: senders, memory, restarts, and how it ends."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import psutil

from bench.lib.product import conclude, say
from onlooker.proof.questions.tally import AnswerTally
from testkit import Stack

MEMORY_GROWTH_TARGET_MB = 50
SENDERS = 6
SETTLE_S = 4.0


def run_at_once(actions: Iterable[Callable[[], None]]) -> None:
    """All of them, several at a time; the first that fails ends the run."""
    with ThreadPoolExecutor(SENDERS) as senders:
        list(senders.map(lambda act: act(), actions))


def resting_mb(pids: Iterable[int], *, settle_s: float = SETTLE_S) -> float:
    """Memory that the processes hold together, once they are at rest."""
    time.sleep(settle_s)
    return float(sum(psutil.Process(pid).memory_info().rss for pid in pids)) / 1024**2


def peak_mb(pids: Iterable[int]) -> float:
    """The most that any one of the processes ever held."""
    statuses = [Path(f"/proc/{pid}/status").read_text() for pid in pids]
    return max(int(status.partition("VmHWM:")[2].split()[0]) for status in statuses) / 1024


def memory_figures(before_mb: float, after_mb: float) -> dict[str, float]:
    return {
        "memory_growth_mb": round(after_mb - before_mb, 1),
        "memory_growth_target_mb": MEMORY_GROWTH_TARGET_MB,
        "memory_mb": round(after_mb, 1),
    }


def tally_figures(tally: AnswerTally, *, target: int, warm_up_requests: int = 0) -> dict[str, int]:
    return {
        "requests": tally.requests - warm_up_requests,
        "requests_target": target,
        "server_errors": tally.server_errors,
        "hung": tally.hung,
        "unexpected_answers": tally.unexpected,
    }


def statuses_of(tally: AnswerTally) -> dict[str, int]:
    return {str(status): count for status, count in sorted(tally.statuses.items())}


def count_restarts(stack: Stack, children: dict[str, int]) -> int:
    """How many of the children are no longer the processes that they were."""
    now = stack.children()
    return sum(now.get(name) != pid for name, pid in children.items())


def is_unharmed(figures: dict[str, Any], failures: Sequence[str]) -> bool:
    """Whether enough was sent, nothing failed, and memory, where it was measured, did not grow too far."""
    return (
        figures["requests"] >= figures["requests_target"]
        and not any(figures[name] for name in failures)
        and figures.get("memory_growth_mb", 0) < figures.get("memory_growth_target_mb", 1)
    )


def failure_reasons(stack: Stack) -> list[str]:
    """The last line of each kind of traceback in the product's log, with how often it came."""
    traces = re.findall(r'"exception":("(?:[^"\\]|\\.)*")', stack.output.read_text(errors="replace"))
    last_lines = Counter(" <- ".join(json.loads(trace).strip().splitlines()[:-4:-1]) for trace in traces)
    return [f"{count} x {line}" for line, count in last_lines.most_common()]


def conclude_run(figures: dict[str, Any], *samples: Iterable[str]) -> NoReturn:
    """Say what went wrong, then end with the figures."""
    for lines in samples:
        for line in lines:
            say(line)
    conclude(figures)
