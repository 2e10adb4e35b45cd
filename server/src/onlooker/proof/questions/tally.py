"""Counts answers, and tells a failure from an honest refusal."""

import json
import threading
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from onlooker.data.parquet_file import MEDIA_TYPE
from onlooker.proof.questions.marked_streams import Marked, judge_csv, judge_json, judge_parquet
from onlooker.proof.questions.wire import CLOSED, HUNG, DataReply, WireAnswer

SAMPLES_KEPT = 40
Expected = Mapping[int, tuple[str, ...]]
"""Statuses that are right, with the codes that may go with each."""

RIGHT: Expected = {200: ("",)}
REFUSED: Expected = {400: ("bad_request",)}
ANSWERED: Expected = {**RIGHT, **REFUSED}
TOO_LARGE: Expected = {**REFUSED, 413: ("too_large",)}
CUT_OFF: Expected = {CLOSED: ("",), 400: ("", "bad_request")}
"""What is no HTTP, or too much of it, may be answered in plain text or cut off."""
LATER = {503: "overloaded", 429: "rate_limited"}
"""Refusals for want of capacity; they say when to come back."""
_JUDGES = {"text/csv": judge_csv, MEDIA_TYPE: judge_parquet}
"""Of tables, by their media type."""


@dataclass
class AnswerTally:
    """Every request of a run; safe to share between threads."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    server_errors: int = 0
    hung: int = 0
    unexpected: int = 0
    samples: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    """Failures by family and status, without what was said."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, family: str, what: str, answer: WireAnswer, *, expected: Container[int]) -> None:
        """Count one request; `what` is enough of it to send it again."""
        with self._lock:
            self.requests += 1
            self.statuses[answer.status] += 1
            self.families[family] += 1
            if self._is_excused(what, answer):
                return
            if answer.status >= 500:
                self.server_errors += 1
            elif answer.status == HUNG:
                self.hung += 1
            elif answer.status not in expected or not _is_well_formed(answer):
                self.unexpected += 1
            else:
                return
            self._keep(family, what, answer)

    def _is_excused(self, what: str, answer: WireAnswer) -> bool:
        """Whether a failure is right here; called with the lock held."""
        return False

    def _keep(self, family: str, what: str, answer: WireAnswer) -> None:
        self.faults[f"{family}: {answer.status}"] += 1
        if len(self.samples) < SAMPLES_KEPT:
            self.samples.append(f"{family}: {what[:300]} -> {answer.status} {answer.body[:200]!r}")


def _is_well_formed(answer: WireAnswer) -> bool:
    """A refusal is a problem with a code; what is no HTTP at all is refused below, in plain text."""
    if answer.status < 400 or answer.content_type.startswith("text/plain"):
        return True
    return answer.content_type.startswith("application/problem+json") and bool(answer.code or not answer.body)


@dataclass(frozen=True)
class DataRequest:
    """A request, as far as its answer is judged by it."""

    family: str
    what: str
    """Enough of it to send it again."""
    expected: Expected
    marked: Marked | None = None
    """Whose token it carried."""
    method: str = "GET"


@dataclass
class DataTally(AnswerTally):
    """Every request of a run, and whether any number was another stream's."""

    data_url: str = ""
    codes: Counter[str] = field(default_factory=Counter)
    busy: Counter[str] = field(default_factory=Counter)
    """Refusals for want of capacity that say when to come back, by what they say."""
    telling: Counter[str] = field(default_factory=Counter)
    """Answers that counted somebody, by stream."""
    leaks: list[str] = field(default_factory=list)
    foreign_links: int = 0
    """Pages that are to be followed to anywhere but here."""
    slowest: tuple[float, str] = (0.0, "")
    """Seconds that an answer took, and to what."""

    def note_time(self, asked: DataRequest, seconds: float) -> None:
        with self._lock:
            self.slowest = max(self.slowest, (round(seconds, 2), f"{asked.family}: {asked.what[:200]}"))

    def judge(self, asked: DataRequest, reply: DataReply) -> None:
        if LATER.get(reply.status) == reply.code and reply.headers.get("retry-after", "").isdigit():
            self._note_busy(asked, reply)
            return
        codes = asked.expected.get(reply.status, ())
        is_right = asked.method == "HEAD" or reply.code in codes
        self.note(asked.family, asked.what, reply, expected=asked.expected if is_right else ())
        with self._lock:
            self.codes[f"{reply.status} {reply.code}".strip()] += 1
        if reply.status == 200 and asked.marked and reply.body:
            self._look_for_leaks(asked, reply, asked.marked)

    def _note_busy(self, asked: DataRequest, reply: DataReply) -> None:
        with self._lock:
            self.requests += 1
            self.statuses[reply.status] += 1
            self.families[asked.family] += 1
            self.busy[json.loads(reply.body)["detail"]] += 1

    def _look_for_leaks(self, asked: DataRequest, reply: DataReply, marked: Marked) -> None:
        judge = _JUDGES.get(reply.content_type.partition(";")[0], judge_json)
        counted, objections = judge(reply.body, marked)
        link = json.loads(reply.body)["next_page"] if judge is judge_json else ""
        with self._lock:
            self.telling[marked.signature.name] += counted
            self.leaks += [f"{asked.what[:300]}: {text}" for text in objections[:2]]
            self.foreign_links += bool(link) and not link.startswith(f"{self.data_url}/")
