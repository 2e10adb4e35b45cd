"""Guessing at somebody's credentials: who is throttled, who is not, and what the time of an answer gives away."""

import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2

KNOWN, UNKNOWN = "known", "unknown"
THROTTLED = 429
RATIO_LOWEST, RATIO_HIGHEST = 0.9, 1.1
LOOKED_AT_PER_MINUTE = 10

Guess = Callable[[str, str], httpx2.Response]
"""Takes KNOWN or UNKNOWN and the address that it comes from."""


def addresses() -> Iterator[str]:
    """As many as anybody needs, none twice."""
    return (f"10.{high}.{middle}.{low}" for high in range(256) for middle in range(256) for low in range(1, 255))


@dataclass
class Timed:
    """Seconds of answers to guesses at a known and at an unknown account, and what they were."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {KNOWN: [], UNKNOWN: []})
    statuses: dict[str, Counter[int]] = field(default_factory=lambda: {KNOWN: Counter(), UNKNOWN: Counter()})

    def guess(self, guess: Guess, whose: str, address: str) -> httpx2.Response:
        started = time.perf_counter()
        answer = guess(whose, address)
        self.statuses[whose][answer.status_code] += 1
        self.seconds[whose].append(time.perf_counter() - started)
        return answer

    def median_ms(self, whose: str) -> float:
        return round(1000 * statistics.median(self.seconds[whose]), 2)

    @property
    def ratio(self) -> float:
        return round(statistics.median(self.seconds[KNOWN]) / statistics.median(self.seconds[UNKNOWN]), 3)

    def figures(self, name: str) -> dict[str, Any]:
        return {
            f"{name}_ratio": self.ratio,
            f"{name}_ratio_target": [RATIO_LOWEST, RATIO_HIGHEST],
            f"{name}_ms": {whose: self.median_ms(whose) for whose in (KNOWN, UNKNOWN)},
        }


def guess_unthrottled(guess: Guess, *, pairs: int, source: Iterator[str]) -> Timed:
    """Each try from an address of its own, known and unknown in turn, who is first by chance."""
    timed, chance = Timed(), random.Random("turns")
    for _ in range(pairs):
        for whose in chance.sample([KNOWN, UNKNOWN], 2):
            timed.guess(guess, whose, next(source))
    return timed


@dataclass
class Siege:
    """Very many guesses at one account from one address, and as many at an account that does not exist from another."""

    timed: Timed = field(default_factory=Timed)
    """Of the throttled ones only."""
    statuses: dict[str, Counter[int]] = field(default_factory=lambda: {KNOWN: Counter(), UNKNOWN: Counter()})
    elapsed_s: float = 0.0
    without_retry_after: int = 0
    owner_statuses: list[int] = field(default_factory=list)

    @property
    def looked_at(self) -> int:
        return max(self.statuses[whose].total() - self.statuses[whose][THROTTLED] for whose in self.statuses)

    @property
    def looked_at_limit(self) -> int:
        return LOOKED_AT_PER_MINUTE * (int(self.elapsed_s // 60) + 1)


def besiege(guess: Guess, come_in: Callable[[str], int], *, guesses: int, source: Iterator[str]) -> Siege:
    """In the middle and at the end of it the owner comes from elsewhere."""
    siege, chance = Siege(), random.Random("siege")
    places = {KNOWN: next(source), UNKNOWN: next(source)}
    started = time.perf_counter()
    for number in range(guesses):
        for whose in chance.sample([KNOWN, UNKNOWN], 2):
            before = time.perf_counter()
            answer = guess(whose, places[whose])
            seconds = time.perf_counter() - before
            siege.statuses[whose][answer.status_code] += 1
            if answer.status_code == THROTTLED:
                siege.timed.seconds[whose].append(seconds)
                siege.without_retry_after += "retry-after" not in answer.headers
        if number in (guesses // 2, guesses - 1):
            siege.owner_statuses.append(come_in(next(source)))
    siege.elapsed_s = time.perf_counter() - started
    return siege


class LoginPage:
    """The page that people sign in with."""

    def __init__(self, client: httpx2.Client, emails: dict[str, str]) -> None:
        self._client = client
        self._emails = emails

    def open(self) -> str:
        """The form's own secret; the cookie that goes with it stays in the client."""
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self._client.get("/accounts/login/").text)
        assert found, "the sign-in page has no form"
        return found[1]

    def guess(self, secret: str) -> Guess:
        return lambda whose, address: self.send(self._emails[whose], "wrong password here", secret, address)

    def send(self, email: str, password: str, secret: str, address: str) -> httpx2.Response:
        form = {"login": email, "password": password, "csrfmiddlewaretoken": secret}
        origin = str(self._client.base_url).rstrip("/")
        headers = {"X-Forwarded-For": address, "Origin": origin}
        return self._client.post("/accounts/login/", data=form, headers=headers, follow_redirects=False)
