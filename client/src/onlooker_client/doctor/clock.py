"""Clock check: whether this machine's time matches the server's."""

from __future__ import annotations

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Callable

from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.findings import Finding, bad, finding_of_error, good, unchecked, warn
from onlooker_client.errors import LinkError, Refused
from onlooker_client.numbers.bucket import parse_moment
from onlooker_client.wire.connection import Answer
from onlooker_client.wire.transport import Repeat, read_json

OFF_S, FAR_OFF_S = 2.0, 60.0
ASKED = 3
DATE_ASKED, DATE_PAUSE_S = 8, 0.15
DATE_STALE_S = 2.0
"""A `Date` has no fractions of a second, and servers write a new one once a second: it may be old by the sum."""
REMEDY = "Let this machine set its clock automatically: sudo timedatectl set-ntp true"


@dataclass(frozen=True)
class Deviation:
    """How far this machine's clock is ahead of the server's, and how sure that is."""

    ahead_s: float
    within_s: float


def check_clock(examination: Examination) -> Finding:
    try:
        deviation = _by_stream(examination) if examination.stream.get("now") else _by_date(examination)
    except (LinkError, Refused) as error:
        return finding_of_error(error)
    return unchecked("the server does not say what time it is") if deviation is None else judge_clock(deviation)


def judge_clock(deviation: Deviation) -> Finding:
    off_s = abs(deviation.ahead_s)
    side = "ahead of" if deviation.ahead_s > 0 else "behind"
    if off_s <= deviation.within_s + 0.05:
        return good(f"accurate to {max(deviation.within_s, 0.1):.1f} s")
    figure = f"{_in_words(off_s)} {side} the server"
    if off_s > FAR_OFF_S:
        return bad(figure, f"Visits get the wrong time, or are refused. {REMEDY}")
    return warn(figure, REMEDY) if off_s > OFF_S else good(figure)


def deviation_by_dates(seen: list[tuple[float, float, float]]) -> Deviation:
    """From `Date` headers; each is seen between two moments of this clock: (before, after, date)."""
    least = max(before - date - DATE_STALE_S for before, _, date in seen)
    most = min(after - date for _, after, date in seen)
    return Deviation((least + most) / 2, abs(most - least) / 2)


def _by_stream(examination: Examination) -> Deviation | None:
    """The server says its time to the millisecond; the quickest answer counts."""

    def ask() -> Answer:
        return examination.connect().request("GET", "/stream", repeat=Repeat.IF_LOST)

    found = []
    for _ in range(ASKED):
        before, after, answer = _timed(examination.clock, ask)
        said = parse_moment(read_json(answer).get("now", "")).timestamp()
        found.append(Deviation((before + after) / 2 - said, (after - before) / 2))
    return min(found, key=lambda deviation: deviation.within_s)


def _by_date(examination: Examination) -> Deviation | None:
    transport = examination.connect()
    connection = transport.open_connection()

    def ask() -> Answer:
        return connection.exchange("GET", "/services", transport.headers(None), timeout_s=10.0)

    seen = []
    try:
        for _ in range(DATE_ASKED):
            before, after, answer = _timed(examination.clock, ask)
            try:
                seen.append((before, after, parsedate_to_datetime(answer.headers["date"]).timestamp()))
            except (KeyError, TypeError, ValueError):
                return None
            time.sleep(DATE_PAUSE_S)
    finally:
        connection.close()
    return deviation_by_dates(seen)


def _timed(clock: Callable[[], float], ask: Callable[[], Answer]) -> tuple[float, float, Answer]:
    before = clock()
    answer = ask()
    return before, clock(), answer


def _in_words(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.0f} h"
